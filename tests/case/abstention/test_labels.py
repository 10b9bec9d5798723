"""The detector on labelled answers: some to develop on, others held out to see how well it generalises.

The labels were written by hands that had not seen the rules, but for those with an id in c or d, which were written
by the hands that changed them; docs/abstention.md gives the figures.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.case.abstention.detector import is_abstention

LABELS = Path(__file__).with_name("answers.jsonl")


def _rows(split: str) -> Iterator[tuple[bool, bool]]:
    """Yield what the detector says of each answer of a split, and what the label says."""
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["split"] == split:
            yield is_abstention(row["answer"], row["question"]), row["abstained"]


@pytest.mark.parametrize(("split", "floor"), [("development", 0.92), ("held_out", 0.85)])
def test_the_detector_agrees_with_the_labels(split: str, floor: float) -> None:
    """Precision and recall stay above the floor of each split."""
    rows = list(_rows(split))
    right = sum(said and labelled for said, labelled in rows)
    assert len(rows) > 100
    assert right / sum(said for said, _ in rows) >= floor
    assert right / sum(labelled for _, labelled in rows) >= floor
