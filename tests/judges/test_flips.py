"""How often repeats disagree: the chance that two of them do, whatever their number."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from whole_runs import flip_rates

from evals.judges.record import pairwise_disagreement
from evals.schemas import JudgeVerdict


def repeats(request: str, *replies: Any) -> list[JudgeVerdict]:
    return [JudgeVerdict(request=request, repeat=n, reply=reply) for n, reply in enumerate(replies)]


def labels(*given: str) -> list[JudgeVerdict]:
    return repeats("correctness", *({"verdict": label} for label in given))


@pytest.mark.parametrize(
    ("given", "rate"),
    [(["a", "a"], 0), (["a", "b"], 1), (["a", "a", "b"], 2 / 3), (["a", "a", "a", "b"], 1 / 2), (["a", "b", "c"], 1)],
)
def test_a_flip_is_a_pair_that_disagrees(given: Sequence[str], rate: float) -> None:
    """Of three verdicts of which one differs, two of the three pairs disagree."""
    assert flip_rates({"q1": labels(*given)}) == {"correctness": pytest.approx(rate)}


@pytest.mark.slow
def test_the_rate_does_not_grow_with_the_number_of_repeats() -> None:
    """A judge that says b one time in five: two verdicts differ with a chance of 0.32, of two or of six repeats."""
    drawn = random.Random(3)  # noqa: S311
    for count in (2, 6):
        verdicts = {f"q{n}": labels(*drawn.choices("ab", [4, 1], k=count)) for n in range(4000)}
        assert flip_rates(verdicts)["correctness"] == pytest.approx(0.32, abs=0.02)


def test_each_label_of_a_reply_counts() -> None:
    """One claim of four that differs is a quarter, not the whole reply."""
    first = {"claims": [{"id": n, "verdict": "supported"} for n in range(4)]}
    second = {"claims": [{"id": n, "verdict": "supported" if n else "unsupported"} for n in (3, 2, 1, 0)]}
    assert flip_rates({"q1": repeats("grounded", first, second)}) == {"grounded": 0.25}


def test_claims_that_each_repeat_finds_anew_are_compared_by_their_shares() -> None:
    """Two of four supported against three of four: a quarter."""
    first, second = (
        {"claims": [{"claim": f"{given}{n}", "verdict": label} for n, label in enumerate(given)]}
        for given in (["yes", "yes", "no", "no"], ["yes", "yes", "yes", "no"])
    )
    assert flip_rates({"q1": repeats("faithfulness", first, second)}) == {"faithfulness": 0.25}


def test_what_was_decided_once_says_nothing_of_flips() -> None:
    """Nor do failures, and replies that hold no label."""
    verdicts = [*labels("a"), *repeats("answer_claims", {"claims": [{"claim": "x"}]}, {"claims": []})]
    failed = JudgeVerdict(request="correctness", repeat=1, failure="refused")
    assert flip_rates({"q1": [*verdicts, failed]}) == {}
    assert pairwise_disagreement([1.0]) is None
    assert pairwise_disagreement([1.0, 1.0, 0.5]) == pytest.approx(2 / 3)
