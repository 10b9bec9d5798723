"""A run at hand with its records."""

import asyncio

import pytest
from whole_runs import run_to_conclude

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse
from evals.scoring.conclusion import Measured, measured

RUN = run_to_conclude(1)
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
