"""Differences between paired values: the interval, its p, and how often both are wrong."""

from collections.abc import Sequence
from itertools import pairwise
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.scoring.stats import mean_interval, paired_difference
from evals.scoring.stats.differences import tango
from evals.scoring.stats.intervals import Difference, Mark, mcnemar_p, normal_quantile

deterministic = settings(derandomize=True, deadline=None, max_examples=300)
pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40)
CONFIDENCES = (0.8, 0.9, 0.95, 0.99, 0.999)


def sides(values: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """The first and the last of each pair."""
    return [first for first, _ in values], [last for _, last in values]


def flips(fallen: int, risen: int, same: int) -> tuple[list[float], list[float]]:
    """Paired zeros and ones."""
    return sides([(1.0, 0.0)] * fallen + [(0.0, 1.0)] * risen + [(1.0, 1.0)] * same)


def compared(*arguments: Sequence[float], **options: object) -> Difference:
    """The difference, which must be there."""
    found = paired_difference(*arguments, **options)  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("fallen", "risen", "n", "low", "high"),
    [(7, 1, 21, -0.517, -0.026), (0, 0, 20, -0.1611, 0.1611), (0, 20, 20, 0.678, 1)],
)
def test_tangos_interval_is_the_published_one(fallen: int, risen: int, n: int, low: float, high: float) -> None:
    """The case of airway reactivity in Fagerland, Lydersen and Laake 2014; and it has a width where nothing differs."""
    assert tango(fallen, risen, n) == pytest.approx((low, high), abs=5e-4)


@pytest.mark.parametrize(("fallen", "risen", "n"), [(3, 9, 40), (1, 1, 10), (0, 4, 12), (30, 45, 300)])
def test_tangos_interval_ends_where_the_score_does(fallen: int, risen: int, n: int) -> None:
    """With the likeliest loss found by looking for it, the score at either end is the normal quantile."""
    for end in tango(fallen, risen, n):
        losses = np.linspace(max(0, -end), (1 - end) / 2, 2_000_001)[1:-1]
        same = 1 - 2 * losses - end
        likelihood = fallen * np.log(losses) + risen * np.log(losses + end) + (n - fallen - risen) * np.log(same)
        loss = losses[np.argmax(likelihood)]
        score = (risen - fallen - n * end) / np.sqrt(n * (2 * loss + end * (1 - end)))
        assert abs(score) == pytest.approx(normal_quantile(0.95), abs=2e-3)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_the_interval_of_a_rate_leaves_out_0_where_p_says_so(confidence: float) -> None:
    """Of all tables with up to twenty questions that differ."""
    for same in (0, 15, 200):
        for fallen in range(21):
            for risen in range(21 - fallen):
                if fallen + risen + same < 2:
                    continue
                found = compared(*flips(fallen, risen, same), low=0, high=1, confidence=confidence)
                low, high = found.estimate.interval or (0, 0)
                assert (found.p, found.test) == (mcnemar_p(fallen, risen), "exact McNemar")
                assert low < high
                assert (low > 0 or high < 0) == (found.p < 1 - confidence)
                assert low <= found.difference <= high


@deterministic
@given(pairs, st.sampled_from(CONFIDENCES), st.integers(1, 5))
def test_any_interval_has_a_width_and_fits_its_p(
    values: list[tuple[float, float]], confidence: float, per: int
) -> None:
    """Whatever the values and the clusters; first and last the other way round turn the sign."""
    labels = [str(place // per) for place in range(len(values))]
    first, last = sides(values)
    found = compared(first, last, labels, low=0, high=1, confidence=confidence)
    low, high = found.estimate.interval or (0, 0)
    assert -1 <= low < high <= 1
    assert low - 1e-12 <= found.difference <= high + 1e-12
    assert 0 <= found.p <= 1
    if abs(found.p - (1 - confidence)) > 1e-9:
        assert (low > 0 or high < 0) == (found.p < 1 - confidence)
    back = compared(last, first, labels, low=0, high=1, confidence=confidence)
    assert (back.difference, back.p) == pytest.approx((-found.difference, found.p))
    assert back.estimate.interval == pytest.approx((-high, -low))


def test_equal_runs_are_not_known_to_be_equal() -> None:
    """No question that differs, of few questions, leaves room for a difference."""
    scores = [0.3, 0.8, 1.0, 0.5] * 5
    found = compared(scores, scores, low=0, high=1)
    assert found.p == 1
    assert found.estimate.interval == pytest.approx((-0.137, 0.137), abs=1e-3)


def test_without_a_range_the_interval_is_that_of_students_t() -> None:
    """Costs have no greatest value."""
    rng = np.random.default_rng(1)
    first = rng.lognormal(0, 0.5, 60)
    last = first + rng.normal(0.05, 0.2, 60)
    found = compared(first.tolist(), last.tolist(), low=0)
    differences = (last - first).tolist()
    students = mean_interval(differences)
    assert found.bounds == pytest.approx(students.interval)
    assert found.test == "sign-flip"


@pytest.mark.parametrize(("step", "p"), [(0.0, 1.0), (0.25, 2.0**-4)])
def test_costs_that_all_change_alike_have_no_interval(step: float, p: float) -> None:
    """Their signs are tested, and the mark says why there is no interval."""
    found = compared([1.0] * 5, [1.0 + step] * 5, low=0)
    assert (found.estimate.interval, found.estimate.marks, found.p) == (None, (Mark.ALIKE,), p)


def test_one_pair_is_too_few() -> None:
    """Nothing is said of it."""
    assert paired_difference([0.0], [1.0], low=0, high=1) is None
    assert paired_difference([], [], low=0, high=1) is None


def test_questions_of_one_document_count_together() -> None:
    """Fifty questions of one document that all changed, among ten that did not, are one change."""
    labels = [str(place // 50) for place in range(500)]
    first, last = [1.0] * 500, [0.0] * 50 + [1.0] * 450
    assert compared(first, last, low=0, high=1).p < 1e-9
    found = compared(first, last, labels, low=0, high=1)
    assert found.p > 0.3
    assert found.estimate.clusters == 10


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.3])
@pytest.mark.parametrize(("clusters", "size"), [(None, 1), (20, 5), (20, 10)])
def test_two_runs_of_one_server_seldom_seem_to_differ(share: float, clusters: int | None, size: int) -> None:
    """Where a changed question changes its document's others the same way, too."""
    rng, documents, alarms = np.random.default_rng(3), clusters or 200, 0
    labels = [str(place // size) for place in range(documents * size)] if clusters else None
    for _ in range(400):
        changed = rng.random(documents * size) < rng.beta(share, 1 - share, documents).repeat(size)
        way = rng.integers(0, 2, documents).repeat(size)
        first = np.where(changed, way, 1.0)
        last = np.where(changed, 1.0 - way, 1.0)
        alarms += compared(first.tolist(), last.tolist(), labels, low=0, high=1).p < 0.05
    assert alarms / 400 <= 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5


def test_twenty_metrics_of_a_thousand_questions_take_no_time() -> None:
    """Intervals of each and of their differences, in clusters."""
    rng, labels = np.random.default_rng(7), [str(place // 7) for place in range(1000)]
    columns = rng.random((21, 1000)).tolist()
    start = process_time()
    for first, last in pairwise(columns):
        compared(first, last, labels, low=0, high=1)
    assert process_time() - start < 0.5
