"""The evidence that an answer declines, and what it weighs."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.refusals.detector import read_answer
from evals.text.refusals.evidence import SIGN_WEIGHTS, WEIGHTS, circumstances, score, signs

LABELS = Path(__file__).with_name("answers.jsonl")


@pytest.mark.slow
def test_every_weight_is_of_evidence_that_there_is() -> None:
    """A name that no answer gives would never weigh; a sign is a part or a sign of a word, or two."""
    for table in SIGN_WEIGHTS.values():
        for bits, weight in table.items():
            assert 1 <= bits.bit_count() <= 2
            assert math.isfinite(weight)
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()[::2]]
    read = [found for row in rows if not isinstance(found := read_answer(row["answer"], row["question"]), bool)]
    names = {name for answer in read for name in circumstances(answer)}
    assert names >= WEIGHTS["circumstances"].keys()
    assert names >= WEIGHTS["together"].keys() | {other for table in WEIGHTS["together"].values() for other in table}
    assert all(one < other for one, table in WEIGHTS["together"].items() for other in table)
    assert {place for answer in read for place, _ in signs(answer)} >= SIGN_WEIGHTS.keys()


@settings(derandomize=True, deadline=None, max_examples=100)
@given(answer=st.text(max_size=200), question=st.text(max_size=60))
def test_any_text_has_a_finite_score(answer: str, question: str) -> None:
    """Whatever the words."""
    found = read_answer(answer, question)
    assert isinstance(found, bool) or math.isfinite(score(found, circumstances(found)))


def test_a_long_answer_in_which_no_clause_declines_is_one() -> None:
    """It is not weighed, whatever it hints at."""
    answer = "Sorry, perhaps only this: " + "the ferry sails past the old harbour every day. " * 12
    assert read_answer(answer, "What does it cost?") is False
