"""The detector on labelled answers: some to develop on, others held out to see how well it generalises.

The labels were written by hands that had not seen the rules, but for those with an id in c to g: those in c and d
were written by the hands that changed the rules, those in e before the rules that read them; f and g by the hand that
then changed the rules, before it did and half-way; the split "learnt" is of hands that had not seen them, and the
split "cases" is of the tests beside this one. docs/abstention.md gives the figures.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.refusals.detector import is_abstention

LABELS = Path(__file__).with_name("answers.jsonl")
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def shares(**fields: str) -> tuple[float, float]:
    """Precision and recall on the answers of these fields, decided as in a run."""
    rows = [row for row in ROWS if all(row.get(name) == value for name, value in fields.items())]
    assert len(rows) > 100
    pairs = [(_abstained(row), row["abstained"]) for row in rows]
    right = sum(said and labelled for said, labelled in pairs)
    return right / sum(said for said, _ in pairs), right / sum(labelled for _, labelled in pairs)


def _abstained(row: dict[str, Any]) -> bool:
    if not row["question"]:
        return is_abstention(row["answer"])
    question = EvalQuestion(question=row["question"], expected_answer=row.get("expected"))
    return Sample(question, EvalResponse(answer=row["answer"])).abstained


@pytest.mark.parametrize(
    ("split", "floor"),
    [
        ("cases", 0.95),
        ("held_out", 0.88),
        pytest.param("development", 0.93, marks=pytest.mark.slow),
        pytest.param("learnt", 0.95, marks=pytest.mark.slow),
    ],
)
def test_the_detector_agrees_with_the_labels(split: str, floor: float) -> None:
    """Precision and recall stay above the floor of each split."""
    assert min(shares(split=split)) >= floor


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "pt"])
def test_every_language_is_read_as_well(language: str) -> None:
    """Precision and recall of each language."""
    assert min(shares(split="development", language=language)) >= 0.93
