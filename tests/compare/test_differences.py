"""Differences between two runs: their intervals, the test that fits the metric, and what is left out."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from evals.compare import SavedRun, compare_runs, paired_change
from evals.compare.models import MetricPair
from evals.compare.statistics import measure
from evals.metrics.registry import parse_metric
from evals.scoring.stats import mean_interval, paired_difference
from evals.scoring.stats.differences import agree
from evals.scoring.stats.intervals import mcnemar_p

Saved = Callable[..., SavedRun]
FIRST, LAST = [0.0] * 12 + [1.0] * 8, [1.0] * 9 + [0.0] * 11


@pytest.fixture
def pair_of(saved: Saved) -> Callable[..., MetricPair]:
    """Compare the values of one metric in two runs."""

    def pair(metric: str, first: list[float], last: list[float], **changes: Any) -> MetricPair:
        runs = [
            saved(name, {f"q{n}": {metric: value} for n, value in enumerate(values)}, **changes)
            for name, values in (("a", first), ("b", last))
        ]
        (found,) = compare_runs(runs).pairs
        return found

    return pair


def test_the_interval_of_a_sum_is_that_of_the_mean_for_all_questions(pair_of: Callable[..., MetricPair]) -> None:
    """Three answers more of twenty are three, give or take; the test is that of the questions which differ."""
    pair = pair_of("dont_know_answers_count", FIRST, LAST)
    mean = paired_difference(FIRST, LAST, low=0, high=1)
    assert mean is not None
    assert mean.estimate.interval is not None
    assert (pair.first, pair.last, pair.difference) == (8, 9, 1)
    assert pair.interval == pytest.approx(tuple(20 * end for end in mean.estimate.interval))
    assert (pair.test, pair.p) == ("mcnemar", mcnemar_p(8, 9))


def test_the_interval_of_a_bounded_mean_ends_where_the_metric_does(pair_of: Callable[..., MetricPair]) -> None:
    """No mean moves by more than the metric's range, however few questions there are."""
    interval = pair_of("mrr", [0.0, 0.5], [0.0, 1.0]).interval
    assert interval is not None
    assert interval[1] == 1.0
    assert interval[0] >= -1.0


def test_zeros_and_ones_of_a_metric_without_bounds_are_no_rate(pair_of: Callable[..., MetricPair]) -> None:
    """Dollars are compared as amounts, also where each question costs none or one."""
    pair = pair_of("cost_per_query", FIRST, LAST)
    differences = [b - a for a, b in zip(FIRST, LAST, strict=True)]
    assert (pair.test, pair.p) == ("sign-flip", mcnemar_p(8, 9))
    students = mean_interval(differences)
    assert students is not None
    assert students.interval is not None
    assert pair.interval == pytest.approx(agree(students.interval, 1 / 20, mcnemar_p(8, 9), 0.05))


@pytest.mark.parametrize(("first", "last"), [([0.0] * 30, [1.0] * 20 + [0.0] * 10), ([1.0] * 30, [0.0] * 30)])
def test_where_no_direction_is_better_a_metric_has_changed(
    pair_of: Callable[..., MetricPair], first: list[float], last: list[float]
) -> None:
    """Neither more nor fewer abstentions are a regression in themselves."""
    pair = pair_of("dont_know_answers_count", first, last)
    assert (pair.verdict, pair.is_regression) == ("changed", False)


def test_one_question_is_too_few(pair_of: Callable[..., MetricPair]) -> None:
    """It has a difference, no interval, no p and no verdict, and says why."""
    pair = pair_of("mrr", [0.0], [1.0])
    assert (pair.difference, pair.interval, pair.p, pair.q, pair.test) == (1.0, None, None, None, None)
    assert (pair.verdict, pair.reason) == ("not compared", "too few pairs")


def test_a_metric_without_a_common_question_is_not_compared(saved: Saved) -> None:
    """Both runs have values, but none of the same question; the row says so."""
    first = saved("a", {"q0": {"mrr": 1.0}, "q1": {"mrr": None}})
    last = saved("b", {"q0": {"mrr": None}, "q1": {"mrr": 1.0}})
    comparison = compare_runs([first, last])
    (row,) = comparison.metrics
    assert (row.n, row.values, row.reason) == (0, [None, None], "no question for which all runs have a value")
    assert comparison.pairs == []


@pytest.mark.parametrize(("on_error", "n"), [(("worst", "worst"), 4), (("worst", "exclude"), 3), ((None, "worst"), 3)])
def test_a_failure_counts_as_worst_only_where_every_run_was_told_so(
    saved: Saved, on_error: tuple[str | None, str | None], n: int
) -> None:
    """Else one run would be punished for what another was forgiven."""
    values: dict[str, Any] = {f"q{number}": {"mrr": 1.0} for number in range(4)}
    configs = [{"eval_config": {"on_error": told} if told else {}} for told in on_error]
    first, last = saved("a", values, **configs[0]), saved("b", {**values, "q0": "timeout"}, **configs[1])
    lost = first.records[0].scores[0].model_copy(update={"value": None, "missing": "transport", "reason": "no answer"})
    records = [last.records[0].model_copy(update={"scores": [lost]}), *last.records[1:]]
    pair = next(pair for pair in compare_runs([first, SavedRun(last.run, records)]).pairs if pair.name == "mrr")
    assert pair.n == n


@pytest.mark.parametrize("level", [0.05, 0.0125, 0.01, 0.0025, 0.00025, 1e-5])
@pytest.mark.parametrize("clustered", [False, True])
def test_an_interval_leaves_out_0_exactly_where_p_is_below_its_level(level: float, clustered: bool) -> None:
    """At every level that a family may give, for rates and other means, however many questions moved."""
    n = 60
    labels = [f"c{place % 20 if clustered else place}" for place in range(n)]
    seen = set()
    for risen, fallen, step in product(range(0, 40, 2), (0, 1, 5), (1.0, 0.5)):
        last = [step] * risen + [-step] * fallen + [0.0] * (n - risen - fallen)
        found = measure(parse_metric("mrr"), [max(0.0, -d) for d in last], [max(0.0, d) for d in last], labels)
        interval = found.interval(level)
        assert interval is not None
        assert found.p is not None
        assert (found.p < level) == (not interval[0] <= 0 <= interval[1]), (risen, fallen, step)
        seen.add(found.p < level)
    assert seen == {True, False}


def test_seventeen_that_fell_and_none_that_rose_are_a_loss(pair_of: Callable[..., MetricPair]) -> None:
    """However little each fell: p is 2^-16, and the interval, which cannot know how far from 0 it is, ends beside 0."""
    first = [0.5] * 100
    pair = pair_of("ndcg_at_10", first, [0.5 - 0.002 * place for place in range(1, 18)] + first[17:])
    assert (pair.p, pair.test, pair.verdict) == (2.0**-16, "sign-flip", "worse")
    assert pair.interval is not None
    assert pair.interval[0] < pair.difference < pair.interval[1] < 0
    assert pair.interval[1] == pytest.approx(0, abs=1e-300)


def test_a_bound_on_a_loss_is_not_narrowed_by_the_test_of_no_difference() -> None:
    """Many small gains do not show that nothing is lost altogether: who asks for a bound gets one that minds it."""
    first, last = [0.5] * 50, [0.51] * 20 + [0.5] * 30
    found = measure(parse_metric("mrr"), first, last, [str(place) for place in range(50)])
    assert found.p is not None
    assert found.p < 0.0001
    bounds, interval = found.bounds(0.05), found.interval(0.05)
    assert bounds is not None
    assert interval is not None
    assert bounds == found.bounds(0.05)
    assert bounds[0] < -0.03 < 0 < interval[0]
    assert bounds[1] == interval[1]


def test_one_metric_is_compared_for_whoever_asks(saved: Saved) -> None:
    """Its difference, p, and interval at any level; nothing where it was measured by other means."""
    first, last = ({f"q{n}": {"mrr": float(n < hits)} for n in range(60)} for hits in (50, 30))
    change = paired_change(saved("a", first), saved("b", last), "mrr")
    assert change is not None
    assert change.difference == pytest.approx(-1 / 3)
    low, high = change.interval(0.05) or (0.0, 0.0)
    assert low < change.difference < high < 0
    assert paired_change(saved("a", first), saved("b", last), "squad_em") is None
    other = saved("b", last, eval_config={"match": {"rule": "document"}})
    assert paired_change(saved("a", first), other, "mrr") is None
