"""The claim metrics on RAGChecker's own example, against the numbers that RAGChecker printed for it."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from evals.metrics import Sample, parse_metric
from evals.schemas import RetrievedChunk

pytestmark = pytest.mark.real_rows

OURS = {
    "precision": "claim_precision",
    "f1": "claim_f1",
    "claim_recall": "claim_recall",
    "context_utilization": "context_utilization",
    "hallucination": "hallucination",
    "faithfulness": "ragas_faithfulness",
}
PERCENT = {"faithfulness"}


@pytest.fixture(scope="module")
def example() -> Any:
    folder = os.environ.get("EVALS_REAL_DATA")
    if not folder:
        pytest.skip("EVALS_REAL_DATA names no folder")
    return json.loads((Path(folder) / "ragchecker" / "checking_outputs.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cases(example: Any, judged_case: Callable[..., Sample], claim_replies: Callable[..., Any]) -> list[Sample]:
    """The example's records, with replies that say what its labels of entailment say."""

    def make(row: Any) -> Sample:
        answer = zip(row["answer2response"], map(_chunks, row["retrieved2response"]), strict=True)
        expected = zip(row["response2answer"], map(_chunks, row["retrieved2answer"]), strict=True)
        replies = claim_replies(
            [("correct" if label == "Entailment" else "not_stated", chunks) for label, chunks in answer],
            [("conveyed" if label == "Entailment" else "missing", chunks, "vital") for label, chunks in expected],
        )
        return judged_case(
            replies,
            asked={"question": row["query"], "expected_answer": row["gt_answer"]},
            answer=row["response"],
            chunks=[RetrievedChunk(chunk_id=doc["doc_id"], text=doc["text"]) for doc in row["retrieved_context"]],
        )

    return [make(row) for row in example["results"]]


def _chunks(labels: Sequence[str]) -> set[int]:
    """The numbers of the chunks that entail a claim."""
    return {n for n, label in enumerate(labels, start=1) if label == "Entailment"}


def _value(case: Sample, name: str) -> float:
    value = parse_metric(OURS[name]).score(case).value
    assert value is not None
    return value / 100 if name in PERCENT else value


@pytest.mark.parametrize("name", OURS)
def test_each_question_has_the_value_that_ragchecker_gave_it(example: Any, cases: list[Sample], name: str) -> None:
    """The labels decide; no model is asked."""
    theirs = [row["metrics"][name] for row in example["results"]]
    assert [_value(case, name) for case in cases] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("precision", 76.4),
        ("f1", 68.3),
        ("claim_recall", 61.4),
        ("context_utilization", 87.5),
        ("hallucination", 4.5),
        ("faithfulness", 68.2),
    ],
)
def test_the_means_over_questions_are_those_that_ragchecker_printed(
    example: Any, cases: list[Sample], name: str, printed: float
) -> None:
    """Every question counts alike, however many claims it has."""
    assert round(100 * fmean(_value(case, name) for case in cases), 1) == printed
    assert printed in {group[name] for group in example["metrics"].values() if name in group}
