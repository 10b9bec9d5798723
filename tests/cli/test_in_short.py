"""What a server says of its stages and of its confidence stands below the scorecard of every run that was made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whole_runs import put_records

from evals.schemas import EvalRecord, EvalResponse, RetrievedChunk
from evals.store.runs import RunStore

Cli = Callable[..., Any]
GOLD = "Daily snapshots are kept for thirty days."
STAGES = [{"name": "dense", "texts": [GOLD, "Other words of it."]}, {"name": "rerank", "texts": ["Other words of it."]}]


@pytest.fixture
def rescored(build_run: Cli, evals_cli: Cli, tmp_path: Path) -> Callable[[dict[str, Any]], str]:
    """What `rescore` prints of a run whose server says this in its answers."""

    def make(said: dict[str, Any]) -> str:
        parts = {"gold_passages": [{"text": GOLD}], "expected_answer": "thirty days"}
        names = [f"q{n}" for n in range(4)]
        run, records = build_run("aaaa", {key: {"mrr": 1.0} for key in names}, questions=dict.fromkeys(names, parts))
        response = EvalResponse(answer="It is thirty days.", chunks=[RetrievedChunk(text="Other words of it.")], **said)
        store, finished = RunStore(tmp_path), run.model_copy(update={"completed_at": run.created_at})
        store.save(finished)
        put_records(store, finished, [EvalRecord(question=record.question, response=response) for record in records])
        result = evals_cli("rescore", "aaaa", "--no-judge", "--runs-dir", tmp_path)
        assert result.code == 0, result.err
        return " ".join(result.out.split())

    return make


def test_each_is_one_line(rescored: Callable[[dict[str, Any]], str]) -> None:
    """The whole of it is in `evals show`."""
    out = rescored({"stages": STAGES, "confidence": 0.7})
    assert "recall by stage of the retrieval: dense 1.000, rerank 0.000" in out
    assert "AURC 0.000 (chance 0.000, best possible 0.000) over 4 answers with a confidence" in out
