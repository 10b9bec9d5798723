"""Intervals and tests: known values, properties, and what is None."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.scoring.stats import (
    FEWEST,
    group_numbers,
    holm,
    jackknife,
    mcnemar_p,
    mean_interval,
    paired_test,
    percentile,
    percentile_interval,
    questions_needed,
    t_quantile,
    two_sided_p,
    wilson,
)

unit_values = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("p", "freedom", "expected"),
    [(0.975, 1, 12.7062), (0.975, 10, 2.2281), (0.975, 100, 1.9840), (0.95, 5, 2.0150), (0.9, 30, 1.3104)],
)
def test_quantiles_of_student_are_those_of_tables(p: float, freedom: float, expected: float) -> None:
    """To four decimals; the two-sided p of a quantile is what is left in both tails."""
    assert t_quantile(p, freedom) == pytest.approx(expected, abs=1e-4)
    assert two_sided_p(t_quantile(p, freedom), freedom) == pytest.approx(2 * (1 - p), abs=1e-9)


@pytest.mark.parametrize(
    ("only_first", "only_second", "expected"),
    [(3, 10, 0.09228515625), (0, 0, 1.0), (5, 5, 1.0), (0, 5, 0.0625), (0, 6, 0.03125), (10, 0, 0.001953125)],
)
def test_mcnemar_is_the_exact_binomial_test(only_first: int, only_second: int, expected: float) -> None:
    """2·P(X <= min(b, c)); it is symmetric, and 1 without a difference."""
    assert mcnemar_p(only_first, only_second) == pytest.approx(expected)
    assert mcnemar_p(only_second, only_first) == pytest.approx(expected)


def test_mcnemar_of_thousands_of_pairs_is_near_the_normal_approximation() -> None:
    """Beyond a thousand differing pairs logarithms are summed."""
    p = mcnemar_p(1000, 1100)
    z = (100 - 1) / math.sqrt(2100)
    assert p == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.02)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"), [(0, 20, 0.0, 0.161), (20, 20, 0.839, 1.0), (7, 20, 0.181, 0.567)]
)
def test_wilsons_interval_is_that_of_tables(successes: int, n: int, low: float, high: float) -> None:
    """To three decimals."""
    assert wilson(successes, n) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))


def test_wilson_of_nothing_is_none() -> None:
    """Without questions there is no rate."""
    assert wilson(0, 0) is None


def test_holm_multiplies_by_the_hypotheses_that_are_left() -> None:
    """Adjusted values never fall, and stay at most 1."""
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "c": 0.06, "b": 0.06}
    assert holm({"a": 0.9, "b": 0.8}) == {"b": 1.0, "a": 1.0}
    assert holm({}) == {}


@pytest.mark.parametrize(("q", "expected"), [(50, 2), (95, 4), (100, 4), (1, 1), (25, 1), (75, 3)])
def test_percentiles_are_values_that_did_occur(q: float, expected: float) -> None:
    """Nearest rank: p95 of four values is the greatest, not an interpolation."""
    assert percentile(np.array([4.0, 1.0, 3.0, 2.0]), q) == expected


@settings(derandomize=True, max_examples=60)
@given(values=unit_values)
def test_an_interval_lies_in_the_range_and_holds_the_mean(values: list[float]) -> None:
    """Also of a single value, and of values that are all the same."""
    found = mean_interval(np.array(values), 0.0, 1.0)
    assert found is not None
    assert found.interval is not None
    assert 0 <= found.interval[0] <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= found.interval[1] <= 1


@pytest.mark.parametrize("n", [10, 30, 100])
def test_a_rate_of_which_no_case_was_seen_reaches_the_exact_bound(n: int) -> None:
    """The upper end of 0 of n is near -ln(0.05)/n, and the lower one is 0."""
    found = mean_interval(np.zeros(n), 0.0, 1.0)
    assert found is not None
    assert found.interval is not None
    assert found.interval[0] == 0
    assert found.interval[1] == pytest.approx(3.0 / n, rel=0.35)


def test_groups_widen_an_interval_and_few_of_them_are_noted() -> None:
    """Ten questions on each of five documents that are all right or all wrong are five values, not fifty."""
    values = np.repeat([1.0, 1.0, 0.0, 1.0, 0.0], 10)
    groups = np.repeat(np.arange(5), 10)
    alone, grouped = mean_interval(values, 0.0, 1.0), mean_interval(values, 0.0, 1.0, groups=groups)
    assert alone is not None
    assert grouped is not None
    assert alone.interval is not None
    assert grouped.interval is not None
    assert grouped.interval[1] - grouped.interval[0] > 1.8 * (alone.interval[1] - alone.interval[0])
    assert (grouped.groups, grouped.note, alone.note) == (5, "few groups", None)


def test_groups_of_one_question_each_are_no_groups() -> None:
    """The interval is that of independent questions."""
    values = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    alone, grouped = mean_interval(values, 0.0, 1.0), mean_interval(values, 0.0, 1.0, groups=np.arange(7))
    assert alone is not None
    assert grouped is not None
    assert alone.interval == pytest.approx(grouped.interval)


@pytest.mark.parametrize("values", [[3.0], [2.0, 2.0, 2.0]])
def test_without_a_greatest_value_equal_values_have_no_interval(values: list[float]) -> None:
    """A cost that never varies says nothing of costs that were not seen."""
    found = mean_interval(np.array(values), 0.0, None)
    assert found is not None
    assert found.interval is None
    assert found.note is not None


def test_costs_have_an_interval_above_zero() -> None:
    """Student's t of the logarithm of the mean."""
    found = mean_interval(np.array([0.1, 0.2, 0.15, 0.9]), 0.0, None)
    assert found is not None
    assert found.interval is not None
    assert 0 < found.interval[0] < 0.3375 < found.interval[1]


def test_no_values_are_no_estimate() -> None:
    """Neither of a mean nor of a percentile."""
    assert mean_interval(np.empty(0), 0.0, 1.0) is None
    assert percentile_interval(np.empty(0), 50) is None


def test_the_interval_of_a_median_is_between_two_values_that_occurred() -> None:
    """For 1 … 100 the ranks 40 and 61 (Hahn & Meeker); too few values have none."""
    found = percentile_interval(np.arange(1.0, 101.0), 50)
    assert found is not None
    assert found.interval == (40.0, 61.0)
    few = percentile_interval(np.array([1.0, 2.0]), 95)
    assert few is not None
    assert few.interval is None


def test_ten_of_a_hundred_that_fell_are_worse() -> None:
    """The smallest case that must be seen: as yes/no by McNemar, and as graded values."""
    first = np.ones(100)
    for fall in (1.0, 0.5):
        last = first.copy()
        last[:10] -= fall
        test = paired_test(first, last, 1.0)
        assert test.p is not None
        assert test.p < 0.01
        assert test.interval is not None
        assert test.interval[1] < 0
        assert test.differing == 10


def test_eight_of_fifty_that_fell_are_worse_at_the_full_level() -> None:
    """P is below 0.05 without other metrics."""
    first, last = np.ones(50), np.ones(50)
    last[:8] = 0
    assert (paired_test(first, last, 1.0).p or 1) < 0.05


@pytest.mark.parametrize("changed", range(FEWEST))
def test_fewer_than_six_questions_that_differ_have_no_p(changed: int) -> None:
    """However large their differences are."""
    first, last = np.ones(100), np.ones(100)
    last[:changed] = 0
    test = paired_test(first, last, 1.0)
    assert (test.p, test.differing) == (None, changed)


@settings(derandomize=True, max_examples=40)
@given(pairs=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40))
def test_exchanging_the_runs_exchanges_the_signs(pairs: list[tuple[float, float]]) -> None:
    """P stays, and difference and interval change their sign."""
    first, last = (np.array(side) for side in zip(*pairs, strict=True))
    there, back = paired_test(first, last, 1.0), paired_test(last, first, 1.0)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p == pytest.approx(back.p) if there.p is not None else back.p is None
    if there.interval and back.interval:
        assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]), abs=1e-9)


def test_the_interval_excludes_zero_exactly_where_p_is_below_the_level() -> None:
    """Of yes/no metrics too, whose p is exact and whose interval is not."""
    generator = np.random.default_rng(4)
    for _ in range(200):
        n = int(generator.integers(12, 60))
        first = (generator.random(n) < 0.7).astype(float)
        last = np.where(generator.random(n) < 0.35, (generator.random(n) < 0.4).astype(float), first)
        test = paired_test(first, last, 1.0)
        if test.p is not None and test.interval is not None:
            assert (test.p < 0.05) == (not test.interval[0] <= 0 <= test.interval[1])


def test_questions_needed_follow_from_variance_and_effect() -> None:
    """(1.96 + 0.84)² · 0.25 / 0.01 = 197 for differences of ±0.5 and an effect of 0.1."""
    differences = np.tile([0.5, -0.5], 500)
    assert questions_needed(differences, 0.1) == pytest.approx(197, abs=1)
    assert questions_needed(differences, 0.0) is None
    assert questions_needed(np.zeros(10), 0.1) is None
    assert questions_needed(differences, 0.0045) == pytest.approx(97_000, rel=0.01)
    assert questions_needed(differences, 0.004) is None  # more than anybody will ask


def test_the_jackknife_of_a_mean_is_near_its_t_interval() -> None:
    """For the mean of 0 and 1 both say nearly the same."""
    values = np.array([1.0] * 30 + [0.0] * 10)
    without = (values.sum() - values) / (len(values) - 1)
    found, plain = jackknife(0.75, without, 0.95), mean_interval(values, 0.0, 1.0)
    assert found is not None
    assert plain is not None
    assert found.interval == pytest.approx(plain.interval, abs=0.02)
    assert jackknife(0.5, np.array([0.5]), 0.95) is None


def test_group_numbers_follow_the_order_of_labels() -> None:
    """Equal labels share a number."""
    assert group_numbers(["b", "a", "b"]).tolist() == [0, 1, 0]


@pytest.mark.parametrize(("n", "rate"), [(30, 0.05), (30, 0.5), (100, 0.95)])
def test_intervals_of_rates_hold_the_true_rate_as_often_as_they_say(n: int, rate: float) -> None:
    """Of 1,000 simulated runs at least 93 % (the range of a binomial 95 % ± 2 points)."""
    generator = np.random.default_rng(n)
    held = 0
    for _ in range(1000):
        found = mean_interval((generator.random(n) < rate).astype(float), 0.0, 1.0)
        assert found is not None
        assert found.interval is not None
        held += found.interval[0] <= rate <= found.interval[1]
    assert held >= 930


def test_equal_runs_are_called_different_in_at_most_one_of_twenty() -> None:
    """A fifth of the questions flips by chance, as with a model at some temperature."""
    generator = np.random.default_rng(2)
    false = 0
    for _ in range(600):
        first = (generator.random(60) < 0.7).astype(float)
        last = np.where(generator.random(60) < 0.3, (generator.random(60) < 0.7).astype(float), first)
        p = paired_test(first, last, 1.0).p
        false += p is not None and p < 0.05
    assert false <= 40


def test_the_interval_of_an_estimate_with_a_percentile_in_it_is_around_the_estimate() -> None:
    """Without a question a median jumps to its neighbour for half of them; the bias of that must not grow with n."""
    draw = np.random.default_rng(4)
    hits, times = (draw.random(20_000) < 0.6).astype(float), np.arange(20_000) // 400 * 1.0
    medians = np.where(times > np.median(times), 24.0, 25.0)
    estimate = 0.9 * hits.mean() + 0.1 * (1 - 24 / 100)
    without = 0.9 * (hits.sum() - hits) / (len(hits) - 1) + 0.1 * (1 - medians / 100)
    found = jackknife(estimate, without, 0.95)
    assert found is not None
    assert found.interval is not None
    low, high = found.interval
    assert estimate - low == pytest.approx(high - estimate, rel=0.05)
