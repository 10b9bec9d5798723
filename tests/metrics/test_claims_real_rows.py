"""The claim metrics on RAGChecker's own example, against the numbers that RAGChecker printed for it."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from metrics.records import claim_replies, judged

from evals.metrics import Sample, parse_metric
from evals.schemas import RetrievedChunk

pytestmark = pytest.mark.real_rows


@pytest.fixture(scope="module")
def example(real_data: Path) -> Any:
    return json.loads((real_data / "ragchecker" / "checking_outputs.json").read_text(encoding="utf-8"))


def _case(row: Any) -> Sample:
    """A record with replies that say what the labels of entailment say."""
    answer = zip(row["answer2response"], map(_chunks, row["retrieved2response"]), strict=True)
    expected = zip(row["response2answer"], map(_chunks, row["retrieved2answer"]), strict=True)
    replies = claim_replies(
        [("correct" if label == "Entailment" else "not_stated", chunks) for label, chunks in answer],
        [("conveyed" if label == "Entailment" else "missing", chunks) for label, chunks in expected],
    )
    chunks = [RetrievedChunk(chunk_id=doc["doc_id"], text=doc["text"]) for doc in row["retrieved_context"]]
    asked = {"question": row["query"], "expected_answer": row["gt_answer"]}
    return judged(replies, answer=row["response"], chunks=chunks, **asked)


def _chunks(labels: Sequence[str]) -> set[int]:
    """The numbers of the chunks that entail a claim."""
    return {n for n, label in enumerate(labels, start=1) if label == "Entailment"}


@pytest.mark.parametrize(
    ("theirs", "name", "scale", "printed"),
    [
        ("precision", "claim_precision", 1, 76.4),
        ("f1", "claim_f1", 1, 68.3),
        ("claim_recall", "claim_recall", 1, 61.4),
        ("context_utilization", "context_utilization", 1, 87.5),
        ("hallucination", "hallucination", 1, 4.5),
        ("faithfulness", "ragas_faithfulness", 100, 68.2),
    ],
)
def test_each_question_and_their_mean_have_the_value_that_ragchecker_gave(
    example: Any, theirs: str, name: str, scale: int, printed: float
) -> None:
    """The labels decide; no model is asked. Every question counts alike, however many claims it has."""
    rows = example["results"]
    found = [(parse_metric(name).score(_case(row)).value or 0.0) / scale for row in rows]
    assert found == pytest.approx([row["metrics"][theirs] for row in rows], abs=1e-12)
    assert round(100 * fmean(found), 1) == printed
    assert printed in {group[theirs] for group in example["metrics"].values() if theirs in group}
