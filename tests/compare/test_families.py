"""The levels at which the metrics of a comparison are tested."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.compare.statistics import ALPHA, Hypothesis, _tests, decide, least_p

deterministic = settings(derandomize=True, deadline=None, max_examples=300)
p_values = st.floats(1e-6, 1) | st.sampled_from([0.0001, 0.004, 0.02, 0.05])


@st.composite
def families(draw: st.DrawFn) -> list[Hypothesis]:
    """One to four groups of one to four hypotheses; the first of a group may be its primary one."""
    family = []
    for group in range(draw(st.integers(1, 4))):
        has_primary = draw(st.booleans())
        count = draw(st.integers(1, 4))
        family += [Hypothesis(f"g{group}", draw(p_values), has_primary and place == 0) for place in range(count)]
    return family


def test_a_primary_metric_has_nine_tenths_of_its_groups_level() -> None:
    """The adjusted p is p·G/0.9; that of the others is Holm's within a tenth, or over all of it once that is more."""
    family = [
        Hypothesis("retrieval", 0.03, primary=True),
        Hypothesis("retrieval", 0.02),
        Hypothesis("retrieval", 0.9),
        Hypothesis("citation", 0.5, primary=True),
        Hypothesis("citation", 0.6),
    ]
    primary, first, second, *_ = decide(family)
    assert (primary.level, primary.adjusted) == (pytest.approx(ALPHA * 0.9 / 2), pytest.approx(0.03 * 2 / 0.9))
    assert (first.level, first.adjusted) == (pytest.approx(ALPHA * 0.1 / 2 / 2), pytest.approx(0.08))
    assert second.adjusted >= first.adjusted


def test_the_others_of_a_group_get_its_whole_level_once_the_primary_is_decided() -> None:
    """And the loss of another metric alone is found in a tenth of it."""
    decided = decide([Hypothesis("a", 0.001, primary=True), Hypothesis("a", 0.03), Hypothesis("b", 0.9)])
    alone = decide([Hypothesis("a", 0.7, primary=True), Hypothesis("a", 0.0015), Hypothesis("b", 0.9)])
    assert decided[1].level == pytest.approx(ALPHA / 2)
    assert decided[1].adjusted == pytest.approx(0.06)
    assert alone[1].level == pytest.approx(ALPHA * 0.1 / 2)
    assert alone[1].adjusted == pytest.approx(0.03)


def test_what_a_decided_group_had_goes_to_the_others() -> None:
    """The last group that is left has all of it."""
    found = decide([Hypothesis("a", 0.001, primary=True), Hypothesis("a", 0.002), Hypothesis("b", 0.04)])
    assert [ruling.adjusted < ALPHA for ruling in found] == [True, True, True]
    assert found[2].level == pytest.approx(ALPHA)


def test_five_questions_that_differ_can_have_no_verdict() -> None:
    """Whatever a test supposes of their spread."""
    assert [least_p(count) < ALPHA for count in (0, 1, 5, 6)] == [False, False, False, True]


@deterministic
@given(families())
def test_a_metric_is_rejected_exactly_where_p_is_below_its_level(family: list[Hypothesis]) -> None:
    """What is adjusted and what is not never contradict each other."""
    for hypothesis, ruling in zip(family, decide(family), strict=True):
        assert (ruling.adjusted < ALPHA) == (hypothesis.p < ruling.level)
        assert ruling.adjusted >= min(1, hypothesis.p)


@deterministic
@given(families())
def test_no_adjusted_p_is_above_that_of_the_plain_rule(family: list[Hypothesis]) -> None:
    """Without passing on what decided groups had: p·G/0.9, and min(10·G·h, max(G·p/0.9, G·h)) with Holm's h."""
    groups = {one.group for one in family}
    rulings = dict(zip(map(id, family), decide(family), strict=True))
    for group in groups:
        primary = next((one for one in family if one.group == group and one.primary), None)
        others = sorted((one for one in family if one.group == group and not one.primary), key=lambda one: one.p)
        holm, least = {}, 0.0
        for rank, one in enumerate(others):
            least = max(least, (len(others) - rank) * one.p)
            holm[id(one)] = least
        if primary is None:
            continue
        assert rulings[id(primary)].adjusted <= min(1, primary.p * len(groups) / 0.9) + 1e-12
        for one in others:
            h = holm[id(one)]
            plain = min(10 * len(groups) * h, max(len(groups) * primary.p / 0.9, len(groups) * h))
            assert rulings[id(one)].adjusted <= min(1, plain) + 1e-12


@pytest.mark.slow
@deterministic
@given(families())
def test_weights_are_one_in_sum_and_grow_as_fewer_are_left(family: list[Hypothesis]) -> None:
    """Which is what keeps the chance of any false verdict at the level of the family."""

    def _weights(family: list[Hypothesis], left: set[int]) -> dict[int, float]:
        return {place: test.share / test.count for test in _tests(family, left) for place in test.places}

    everything = range(len(family))
    for size in range(1, min(len(family), 4) + 1):
        for left in combinations(everything, size):
            weights = _weights(family, set(left))
            assert sum(weights.values()) <= 1 + 1e-12
            for more in everything:
                wider = _weights(family, {*left, more})
                assert all(wider[place] <= weights[place] + 1e-12 for place in left)


@deterministic
@given(families(), st.integers(0, 2**32 - 1))
def test_draws_take_no_verdict_away(family: list[Hypothesis], seed: int) -> None:
    """However metrics move together, and whatever is drawn; the levels fit the verdicts."""
    rng = np.random.default_rng(seed)
    drawn = rng.random((500, 1)) ** rng.random((500, len(family))) * rng.choice([1.0, 0.01])
    for hypothesis, plain, found in zip(family, decide(family), decide(family, draw=lambda: drawn), strict=True):
        assert found.adjusted <= plain.adjusted
        assert (found.adjusted < ALPHA) == (hypothesis.p < found.level)


def test_metrics_that_move_together_share_a_level_that_is_hardly_divided() -> None:
    """Of four that are nearly one, p = 0.02 is enough, where Holm's procedure asks for 0.0125."""
    rng = np.random.default_rng(1)
    common = rng.random((10_000, 1))
    family = [Hypothesis("a", 0.02)] * 4
    together = decide(family, draw=lambda: np.repeat(common, 4, axis=1))
    apart = decide(family, draw=lambda: rng.random((10_000, 4)))
    assert [ruling.adjusted for ruling in decide(family)] == [pytest.approx(0.08)] * 4
    assert [ruling.adjusted < 0.03 for ruling in together] == [True] * 4
    assert [ruling.adjusted > 0.07 for ruling in apart] == [True] * 4


def test_one_hypothesis_has_one_test_wherever_it_stands() -> None:
    """The copy of a decided primary metric is decided with it, and takes no level from the others of its group."""
    family = [
        Hypothesis("a", 0.01, primary=True, same="x"),
        Hypothesis("a", 0.01, same="x"),
        Hypothesis("b", 0.01, same="x"),
        Hypothesis("b", 0.03),
        Hypothesis("a", 0.04),
    ]
    assert [ruling.adjusted < ALPHA for ruling in decide(family)] == [True, True, True, False, False]
    assert len(set(decide(family)[:3])) == 1
