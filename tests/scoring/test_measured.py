"""A run at hand with its records."""

import asyncio

import pytest

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, ServerRecord
from evals.scoring.conclusion import Measured, measured

RUN = EvalRun.model_validate(
    {
        "id": "abc",
        "name": "run",
        "created_at": "2026-01-01T00:00:00Z",
        "datasets": ["own"],
        "question_count": 1,
        "server": ServerRecord(url="http://127.0.0.1", profile="rag"),
        "seed": 1,
        "concurrency": 1,
    }
)
RECORD = EvalRecord(question=EvalQuestion(id="q", question="Which?"), response=EvalResponse(answer="That."))


def test_its_end_writes_no_record_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asyncio asks for the name of a task, with its result, when the loop ends: many records take seconds."""
    written: list[str] = []

    def note(record: EvalRecord) -> str:
        written.append(record.question.id)
        return "record"

    monkeypatch.setattr(EvalRecord, "__repr__", note)

    async def work() -> Measured:
        return measured(RUN, [RECORD])

    assert list(asyncio.run(work()).records()) == [RECORD]
    assert "abc" in repr(measured(RUN, [RECORD]))
    assert written == []
