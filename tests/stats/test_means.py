"""Intervals of means: never without width, without a step where the last value changes, and wide enough."""

from collections.abc import Callable
from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.scoring.stats import mean_interval
from evals.scoring.stats.intervals import IntervalEstimate, Mark, wilson
from evals.scoring.stats.means import pseudo_weight

deterministic = settings(derandomize=True, deadline=None, max_examples=300)
shares = st.lists(st.floats(0, 1), min_size=1, max_size=40)
CONFIDENCES = (0.8, 0.9, 0.95, 0.99)


def ends(found: IntervalEstimate | None) -> tuple[float, float]:
    """The interval, which must be there."""
    assert found.interval is not None
    return found.interval


@deterministic
@given(shares, st.sampled_from(CONFIDENCES), st.integers(1, 9))
def test_a_bounded_mean_has_an_interval_with_width_around_it(values: list[float], confidence: float, per: int) -> None:
    """Within the range, whatever the values and the clusters."""
    labels = [str(place // per) for place in range(len(values))]
    low, high = ends(mean_interval(values, labels, low=0, high=1, confidence=confidence))
    assert 0 <= low < high <= 1
    assert low <= fmean(values) + 1e-12
    assert fmean(values) - 1e-12 <= high


@deterministic
@given(shares, st.floats(-50, 50), st.floats(0.01, 100))
def test_an_interval_moves_with_its_scale(values: list[float], offset: float, scale: float) -> None:
    """Percent are shares times a hundred, and so are their intervals."""
    low, high = ends(mean_interval(values, low=0, high=1))
    moved = [min(offset + scale, max(offset, offset + scale * value)) for value in values]
    assert ends(mean_interval(moved, low=offset, high=offset + scale)) == pytest.approx(
        (offset + scale * low, offset + scale * high), abs=1e-9 * (abs(offset) + scale)
    )


def test_the_last_value_makes_no_step() -> None:
    """Nineteen ones and a 0.99 are as uncertain as twenty ones."""
    steps = [ends(mean_interval([1.0] * 19 + [last / 100], low=0, high=1)) for last in range(101)]
    assert max(abs(a[0] - b[0]) for a, b in pairwise(steps)) < 0.005
    assert steps[100] == pytest.approx((0.859, 1), abs=1e-3)
    assert steps[99] == pytest.approx((0.858, 1), abs=1e-3)


def test_values_that_are_all_the_same_are_no_certainty() -> None:
    """Five times 0.2 may be five of a mean from 0 to 0.6."""
    assert ends(mean_interval([0.2] * 5, low=0, high=1)) == pytest.approx((0, 0.588), abs=1e-3)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_a_rate_without_a_case_reaches_as_far_as_the_exact_bound(confidence: float) -> None:
    """Of a thousand, 3 in a thousand at 95 %, as 0.997^1000 is 5 %."""
    high = ends(mean_interval([0.0] * 1000, low=0, high=1, confidence=confidence))[1]
    assert high == pytest.approx(1 - (1 - confidence) ** (1 / 1000), rel=0.01)
    assert pseudo_weight(0.95) == pytest.approx(1.012, abs=5e-4)


@pytest.mark.parametrize("n", [20, 50, 500])
def test_the_interval_of_a_rate_is_hardly_wider_than_wilsons(n: int) -> None:
    """At most 1.3 times at any rate."""
    for hits in range(n + 1):
        low, high = ends(mean_interval([1.0] * hits + [0.0] * (n - hits), low=0, high=1))
        theirs = wilson(hits, n) or (0, 0)
        assert high - low <= 1.3 * (theirs[1] - theirs[0])


@pytest.mark.parametrize("labels", [None, [str(number) for number in range(400)]])
def test_of_many_values_it_is_students(labels: list[str] | None) -> None:
    """Two more values change little among many."""
    values = np.random.default_rng(1).uniform(0.2, 0.9, 400).tolist()
    assert ends(mean_interval(values, labels, low=0, high=1)) == pytest.approx(ends(mean_interval(values)), abs=5e-3)


def test_values_of_one_document_count_for_less() -> None:
    """Ten documents of ten questions each that are all right or all wrong are ten cases, not a hundred."""
    values = [float(document % 2) for document in range(10) for _ in range(10)]
    labels = [str(document) for document in range(10) for _ in range(10)]
    alone, together = mean_interval(values, low=0, high=1), mean_interval(values, labels, low=0, high=1)
    assert (together.n, together.clusters) == (100, 10)
    widths = [high - low for low, high in (ends(alone), ends(together))]
    assert widths[1] > 2.5 * widths[0]
    ten = ends(mean_interval(values[::10], low=0, high=1))
    assert ends(together) == pytest.approx(ten, abs=0.03)


def test_one_bad_answer_makes_no_step_in_clusters_either() -> None:
    """Where all is right nobody knows whether errors come together; one error alone does not settle that."""
    labels = [str(document) for document in range(20) for _ in range(10)]
    found = [mean_interval([0.0] * bad + [1.0] * (200 - bad), labels, low=0, high=1) for bad in range(4)]
    lows = [ends(each)[0] for each in found]
    assert lows[0] == pytest.approx(0.86, abs=0.01)
    assert max(abs(after - before) for before, after in pairwise(lows)) < 0.04


def test_few_clusters_are_said() -> None:
    """The questions are the units then."""
    found = mean_interval([0.5, 1.0] * 5, list("abcde") * 2, low=0, high=1)
    assert (found.clusters, found.marks) == (5, (Mark.FEW_CLUSTERS,))
    assert found.interval == ends(mean_interval([0.5, 1.0] * 5, low=0, high=1))


def test_values_outside_the_range_are_not_forced_into_it() -> None:
    """A plug-in that breaks its own promise gets an interval without the range, and a mark."""
    values = [0.5, 0.7, 1.5, 0.9] * 5
    found = mean_interval(values, low=0, high=1)
    assert Mark.OUT_OF_RANGE in found.marks
    assert found.interval == ends(mean_interval(values))


@pytest.mark.parametrize("low", [None, 0.0])
def test_without_a_range_equal_values_have_no_interval(low: float | None) -> None:
    """Nothing bounds what was not seen; the mark says why there is none."""
    for values, mark in (([3.0] * 9, Mark.ALIKE), ([3.0], Mark.TOO_FEW), ([0.0] * 5, Mark.ALIKE)):
        found = mean_interval(values, low=low)
        assert (found.interval, found.marks) == (None, (mark,))
    assert mean_interval([], low=low) is None


def test_a_cost_is_never_below_nothing() -> None:
    """The interval of a mean cost lies above 0, however few and different the costs."""
    low, high = ends(mean_interval([0.001, 0.2], low=0))
    assert 0 < low < 0.1005 < high


def test_an_interval_that_says_nothing_is_none() -> None:
    """Of two values at a confidence of 0.9999, it would reach over a hundred powers of ten."""
    found = mean_interval([0.001, 0.2], low=0, confidence=0.9999)
    assert (found.interval, found.marks) == (None, (Mark.TOO_FEW,))


@pytest.mark.parametrize(("sigma", "n", "least", "most"), [(1.0, 20, 0.85, 1), (1.0, 60, 0.95, 1), (0.3, 50, 0, 0.1)])
def test_skewed_costs_are_marked(sigma: float, n: int, least: float, most: float) -> None:
    """Where a few great values decide the mean; hardly ever where costs are much alike."""
    rng = np.random.default_rng(4)
    found = [mean_interval(rng.lognormal(0, sigma, n).tolist(), low=0) for _ in range(200)]
    assert least <= fmean(each is not None and Mark.SKEWED in each.marks for each in found) <= most


def coverage(draw: Callable[[], tuple[list[float], list[str] | None]], truth: float, high: float | None) -> float:
    """How often the interval holds the true mean, in 500 samples."""
    held = 0
    for _ in range(500):
        values, labels = draw()
        low_end, high_end = ends(mean_interval(values, labels, low=0, high=high))
        held += low_end <= truth <= high_end
    return held / 500


@pytest.mark.parametrize("n", [5, 20, 100])
@pytest.mark.parametrize("rate", [0.02, 0.5, 0.98])
def test_the_interval_of_a_rate_holds_it_as_often_as_it_says(n: int, rate: float) -> None:
    """At the ends too; more in benchmarks/intervals.py."""
    rng = np.random.default_rng(5)
    assert coverage(lambda: ((rng.random(n) < rate).astype(float).tolist(), None), rate, 1) > 0.92


@pytest.mark.parametrize(("clusters", "size"), [(20, 10), (8, 5), (10, 50)])
def test_the_interval_of_clustered_values_holds_their_mean(clusters: int, size: int) -> None:
    """Where the rate differs between documents as a beta distribution with an intraclass correlation of 0.3."""
    rng, labels = np.random.default_rng(6), [str(place // size) for place in range(clusters * size)]

    def draw() -> tuple[list[float], list[str]]:
        rates = rng.beta(0.7 * 7 / 3, 0.3 * 7 / 3, clusters).repeat(size)
        return (rng.random(clusters * size) < rates).astype(float).tolist(), labels

    assert coverage(draw, 0.7, 1) > 0.91
