"""The sign-flip test: against all assignments of signs, against scipy, and how it bears on the interval."""

from collections.abc import Sequence
from itertools import product
from math import erfc, fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.scoring.stats import paired_difference
from evals.scoring.stats.differences import agree, drawn_p, sign_flip_p
from evals.scoring.stats.intervals import group, mcnemar_p

deterministic = settings(derandomize=True, deadline=None, max_examples=300)
steps = st.integers(-6, 6)
anything = st.floats(-1, 1).map(lambda value: round(value, 6)) | st.sampled_from([0.0, 0.2, -0.2, 1 / 3, 0.5, -1.0])


def by_hand(sums: Sequence[float]) -> float:
    """The share of all assignments of signs whose sum is as far from 0 as that seen."""
    seen = abs(fsum(sums)) - 1e-9
    signs = list(product((-1, 1), repeat=len(sums)))
    return sum(abs(fsum(s * d for s, d in zip(each, sums, strict=True))) >= seen for each in signs) / len(signs)


@deterministic
@given(st.lists(anything, min_size=1, max_size=9))
def test_p_is_the_share_of_all_assignments_of_signs(sums: list[float]) -> None:
    """Ties and zeros too."""
    assert sign_flip_p(sums) == pytest.approx(by_hand(sums), abs=1e-12)


@pytest.mark.parametrize("denominator", [1, 3, 5, 6])
@pytest.mark.parametrize("zeros", [0, 5])
@pytest.mark.parametrize("count", [16, 17, 18])
def test_more_than_are_enumerated_are_counted_just_as_exactly(denominator: int, zeros: int, count: int) -> None:
    """Of values on a grid, as the share of a few passages is: on either side of the number that is enumerated."""
    numbers = np.random.default_rng(count).integers(-denominator, denominator + 1, count)
    numbers[:2] = denominator, 1
    ways = np.zeros(1, dtype=int)
    for number in numbers:
        ways = np.concatenate([ways + number, ways - number])
    expected = np.mean(np.abs(ways) >= abs(numbers.sum()))
    assert sign_flip_p([*(numbers / denominator), *[0.0] * zeros]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("count", [17, 40, 150, 1000])
@pytest.mark.parametrize("shift", [0.0, 0.1, 0.3])
def test_it_is_scipys_permutation_test_up_to_its_draws(count: int, shift: float) -> None:
    """Of values that lie on no grid, which are rounded to the 32768th part of their sum."""
    scipy_stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(count)
    sums = rng.normal(shift, 1, count) * rng.random(count)
    theirs = scipy_stats.permutation_test(
        (sums, np.zeros(count)), lambda a, b, axis: (a - b).sum(axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=20_000, batch=1000, rng=rng,
    )  # fmt: skip
    ours = sign_flip_p(sums.tolist())
    assert ours == pytest.approx(theirs.pvalue, abs=8 * (ours / 2 * (1 - ours / 2) / 20_000) ** 0.5 + 1e-3)


@pytest.mark.parametrize(("fallen", "risen"), [(3, 10), (0, 5), (12, 30), (0, 0), (400, 300), (5, 20_000)])
@pytest.mark.parametrize("size", [1.0, 0.2, 0.9 - 0.8])
def test_of_changes_of_one_size_it_is_mcnemars_test(fallen: int, risen: int, size: float) -> None:
    """Whatever the size, and however many did not change."""
    sums = [-size] * fallen + [size] * risen + [0.0] * 50
    assert sign_flip_p(sums) == pytest.approx(mcnemar_p(fallen, risen), rel=1e-9, abs=1e-300)


@deterministic
@given(st.lists(anything, min_size=1, max_size=60))
def test_p_is_a_probability_that_knows_no_side(sums: list[float]) -> None:
    """Above 0, at most 1, the same with all signs changed, in any order and at any scale."""
    p = sign_flip_p(sums)
    assert 0 < p <= 1
    assert p >= min(1, 2.0 ** (1 - sum(each != 0 for each in sums)))
    assert sign_flip_p([-each for each in sums]) == pytest.approx(p, rel=1e-9)
    assert sign_flip_p(sums[::-1]) == pytest.approx(p, rel=1e-9)


@given(st.lists(steps, min_size=1, max_size=60))
def test_the_scale_does_not_matter(numbers: list[int]) -> None:
    """Milliseconds or seconds."""
    assert sign_flip_p([number / 7 for number in numbers]) == pytest.approx(sign_flip_p(list(map(float, numbers))))


@pytest.mark.parametrize("count", [2040, 2060])
def test_thousands_on_no_grid_have_the_p_of_the_normal_limit(count: int) -> None:
    """Nearly so where they are counted, and at once where they are more."""
    sums = np.random.default_rng(count).normal(0.05, 1, count)
    limit = erfc(abs(sums.sum()) / (2 * (sums**2).sum()) ** 0.5)
    assert sign_flip_p(sums.tolist()) == pytest.approx(limit, rel=0.1 if count < 2048 else 1e-12)
    assert sign_flip_p([0.5] * 3000 + [-0.25] * 6000) == 1.0


def test_nothing_that_differs_is_no_evidence() -> None:
    """Nor are differences that come from rounding."""
    assert sign_flip_p([]) == sign_flip_p([0.0] * 9) == 1.0
    assert sign_flip_p([0.5, -0.5, *[1e-17] * 20]) == 1.0


def test_thousands_that_all_fall_are_not_impossible() -> None:
    """What is below the least number is not 0."""
    assert 0 < sign_flip_p([-1.0] * 5000) < 1e-300
    assert 0 < sign_flip_p((-np.linspace(0.1, 1, 5000)).tolist()) < 1e-300


def test_a_cluster_changes_its_sign_as_a_whole() -> None:
    """Thirty questions that fell in three documents are three, among three that rose."""
    labels = [str(place // 10) for place in range(60)]
    first, last = [0.5] * 60, [0.25] * 30 + [0.75] * 30
    found = paired_difference(first, last[:50] + [0.5] * 10, labels, low=0, high=1)
    assert found.p == by_hand([-2.5] * 3 + [2.5] * 2)
    alone = paired_difference(first, last[:50] + [0.5] * 10, low=0, high=1)
    assert alone.p == mcnemar_p(30, 20)


@pytest.mark.parametrize("clustered", [False, True])
def test_equal_servers_seem_to_differ_as_often_as_said(clustered: bool) -> None:
    """Also of values that move by little, in which a t test with pseudo-values sees nothing."""
    rng, alarms, rounds = np.random.default_rng(5), 0, 600
    labels = [str(place // 5) for place in range(100)] if clustered else None
    for _ in range(rounds):
        first, last = rng.uniform(0.4, 0.6, (2, 100))
        found = paired_difference(first.tolist(), last.tolist(), labels, low=0, high=1)
        alarms += found.p < 0.05
    assert abs(alarms / rounds - 0.05) <= 3 * (0.05 * 0.95 / rounds) ** 0.5


@deterministic
@given(
    st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1)).map(sorted),
    st.floats(1e-12, 1),
    st.sampled_from([0.2, 0.05, 0.01]),
)
def test_an_interval_that_agrees_is_moved_no_further_than_to_0(ends: list[float], p: float, level: float) -> None:
    """It leaves out 0 where p is below the level, and nowhere else; its end away from 0 is as it was."""
    low, difference, high = ends
    if difference == 0:
        return
    found = agree((low, high), difference, p, level)
    assert (not found[0] <= 0 <= found[1]) == (p < level)
    for before, after in zip((low, high), found, strict=True):
        assert before == after or abs(after) < 1e-300


@deterministic
@given(st.lists(st.tuples(anything.map(abs), anything.map(abs)), min_size=2, max_size=40), st.integers(1, 4))
def test_the_bounds_are_made_without_the_test(values: list[tuple[float, float]], per: int) -> None:
    """The interval is theirs but for the end near 0, and p is that of the sums of the units."""
    first, last = [before for before, _ in values], [after for _, after in values]
    labels = [str(place // per) for place in range(len(values))]
    found = paired_difference(first, last, labels, low=0, high=1)
    assert found.bounds is not None
    assert found.estimate.interval == agree(found.bounds, found.difference, found.p, 1 - 0.95)
    differences = [after - before for before, after in values]
    assert found.p == pytest.approx(sign_flip_p(group(differences, labels).sums))


@deterministic
@given(st.lists(anything.filter(bool), min_size=1, max_size=5))
def test_the_p_of_a_draw_is_that_of_its_signs(sums: list[float]) -> None:
    """Of every draw, as of what was seen; the least is drawn about as often as it says."""
    columns = [{f"q{place}": value for place, value in enumerate(sums)}, {"q0": 1.0, "other": -2.0}]
    drawn = drawn_p(columns, 400)
    possible = {
        round(by_hand([s * d for s, d in zip(each, sums, strict=True)]), 9)
        for each in product((-1, 1), repeat=len(sums))
    }
    assert {round(float(p), 9) for p in drawn[:, 0]} <= possible


@pytest.mark.parametrize("count", [12, 40, 300, 3000])
def test_draws_have_the_p_that_is_computed_for_them(count: int) -> None:
    """However they are added up: p <= x in a share of x of the draws; the same differences have the same p."""
    sums = np.random.default_rng(count).normal(size=count)
    column = {str(place): value for place, value in enumerate(sums.tolist())}
    drawn = drawn_p([column, {key: -100 * value for key, value in column.items()}], 4000)
    assert np.abs(drawn[:, 0] - drawn[:, 1]).max() < 1e-9
    for level in (0.05, 0.5):
        assert np.mean(drawn[:, 0] <= level) == pytest.approx(level, abs=4 * (level * (1 - level) / 4000) ** 0.5)
