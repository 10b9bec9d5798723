"""The detector on labelled answers: one half to develop on, the other held out to see how well it generalises."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from evals.metrics.abstention_detector import is_abstention

LABELS = Path(__file__).with_name("abstention_answers.jsonl")


def _rows(*, development: bool) -> Iterator[tuple[bool, bool]]:
    """Yield what the detector says of each answer of one half, and what the label says."""
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if (int(sha256(row["id"].encode()).hexdigest(), 16) % 2 == 0) is development:
            yield is_abstention(row["answer"], row["question"]), row["abstained"]


@pytest.mark.parametrize(
    ("development", "precision", "recall"),
    [pytest.param(True, 0.90, 0.90, id="development half"), pytest.param(False, 0.80, 0.60, id="held-out half")],
)
def test_the_detector_agrees_with_the_labels(development: bool, precision: float, recall: float) -> None:
    """Precision and recall stay above the floor of each half."""
    rows = list(_rows(development=development))
    right = sum(said and labelled for said, labelled in rows)
    assert len(rows) > 100
    assert right / sum(said for said, _ in rows) >= precision
    assert right / sum(labelled for _, labelled in rows) >= recall
