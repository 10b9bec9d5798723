"""A store in a temporary folder, and runs and records to put in it."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evals.schemas import EvalQuestion, EvalResponse, EvalRun, JudgeVerdict, ServerRecord
from evals.store.runs import RunStore


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """A store whose folder exists."""
    store = RunStore(tmp_path / "runs")
    store.prepare()
    return store


@pytest.fixture
def make_run() -> Callable[..., EvalRun]:
    """Build a run by id; keywords replace other parts."""

    def make(run_id: str = "abc12345", **changes: Any) -> EvalRun:
        values: dict[str, Any] = {
            "id": run_id,
            "name": "trial",
            "created_at": datetime(2026, 1, 15, 10, 0, tzinfo=UTC),
            "datasets": ["golden"],
            "question_count": 3,
            "server": ServerRecord(url="http://localhost:8001", profile="rag-server"),
            "seed": 42,
            "concurrency": 4,
        }
        return EvalRun(**{**values, **changes})

    return make


@pytest.fixture
def run(make_run: Callable[..., EvalRun]) -> EvalRun:
    """One run."""
    return make_run()


@pytest.fixture
def questions() -> list[EvalQuestion]:
    """Three questions, one with letters outside ASCII."""
    return [EvalQuestion(id=f"q{n}", question=f"Wo ist Zürich {n}?", dataset="golden") for n in range(3)]


@pytest.fixture
def full_log(store: RunStore, run: EvalRun, questions: list[EvalQuestion]) -> Path:
    """A log with events of every type, as a run that goes on leaves it."""
    with store.journal(run) as journal:
        journal.plan(questions)
        for question in questions[:2]:
            journal.answer(question.id, EvalResponse(answer=f"Bei “{question.id}”.", latency_ms=12.5))
        journal.verdict("q0", JudgeVerdict(request="faithfulness", reply={"claims": []}))
    return store.records_path(run)
