"""`ragas`: what its `EvaluationDataset.from_jsonl` reads."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whole_runs import kept_run

from evals.export import export_run
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, RetrievedChunk

LONG = "The Aster 2 runs for 96 hours on one charge, and charging takes 40 minutes."


def test_ragas_gets_its_fields(build_run: Callable[..., Any], tmp_path: Path) -> None:
    """Those of a `SingleTurnSample`, in each line; null where nothing came."""
    golds = [GoldPassage(text=LONG), GoldPassage(text="Ports: USB-C.")]
    chunks = [RetrievedChunk(chunk_id="c1", text=LONG), RetrievedChunk(chunk_id="c2", text="Ports: USB-C.")]
    asked = EvalQuestion(id="a b", question="How long?", expected_answer="96 hours", gold_passages=golds)
    none = EvalQuestion(id="q2", question="Who?", is_unanswerable=True)
    records = [
        EvalRecord(question=asked, response=EvalResponse(answer="It lasts 96 hours.", chunks=chunks)),
        EvalRecord(question=none, response=EvalResponse(answer="I don't know.", chunks=[])),
        EvalRecord(question=EvalQuestion(id="q3", question="When?", expected_answer="May")),
    ]
    saved = kept_run(tmp_path, build_run("a", {})[0], records)
    first, second, third = map(json.loads, export_run(saved.run, "ragas").splitlines())
    asked, answered, expected = (first[name] for name in ("user_input", "response", "reference"))
    assert (asked, answered, expected) == ("How long?", "It lasts 96 hours.", "96 hours")
    assert first["retrieved_contexts"] == first["reference_contexts"] == [LONG, "Ports: USB-C."]
    assert (second["retrieved_contexts"], second["is_unanswerable"]) == ([], True)
    assert (third["response"], third["retrieved_contexts"]) == (None, None)
