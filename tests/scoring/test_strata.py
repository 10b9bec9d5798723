"""What lost verdicts make of the values of a run: those that are there stand for those that needed the same ones."""

import random
from collections.abc import Sequence
from functools import cache
from math import fsum, log, prod
from statistics import NormalDist, fmean
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from whole_runs import Count, Quality

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.generation import AnswerCorrectness
from evals.metrics.ragas import RagasFaithfulness
from evals.schemas import MetricResult, MetricSummary
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings

LOST = "judge unparsable: no JSON"


class Directionless(Quality):
    """The same, where neither way is better."""

    name = "directionless"
    higher_is_better: ClassVar[bool | None] = None


class Middle(Quality):
    """The same, of which the median counts."""

    name = "middle"
    aggregation = Aggregation.PERCENTILE
    percentile = 50.0


def judged(metric: BaseMetric, *values: float | str, verdict: str = "label") -> list[MetricResult]:
    """Results of a judge: a word is the kind of missing."""
    results = [
        metric.undefined(LOST, missing=value) if isinstance(value, str) else metric.result(value) for value in values
    ]
    return [metric.judged(result, [verdict]) for result in results]


def settled(metric: BaseMetric, *values: float) -> list[MetricResult]:
    return [metric.result(value) for value in values]


def summary(metric: BaseMetric, *parts: Sequence[MetricResult]) -> MetricSummary:
    return summarise(metric, [result for part in parts for result in part], ScoreSettings())


def test_refusals_do_not_stand_for_answers_whose_verdict_is_lost() -> None:
    """Forty refusals are 100 without a judge, sixty answers are 78 on average: 86.8, also where a quarter is left."""
    metric = RagasFaithfulness()
    answers = [75.0, 75.0, 80.0, 82.0]
    whole = summary(metric, settled(metric, *[100.0] * 40), judged(metric, *answers * 15))
    assert whole.value == pytest.approx(86.8)
    assert whole.strata is None
    lost = summary(metric, settled(metric, *[100.0] * 40), judged(metric, *answers * 4, *["judge"] * 44))
    assert lost.value == pytest.approx(86.8)
    assert fmean([100.0] * 40 + answers * 4) == pytest.approx(93.7, abs=0.05)
    assert (lost.sample_size, lost.counts.judge) == (56, 44)
    assert lost.strata.model_dump() == {"settled": 40, "judged": 60, "obtained": 16, "size": 100.0, "heaviest": 3.75}


def test_a_spent_budget_leaves_the_value_where_it_was() -> None:
    """Half of the answers are wrong because they decline; six of sixty verdicts are there: 0.5, and not 0.09."""
    metric = AnswerCorrectness()
    found = summary(metric, settled(metric, *[0.0] * 40), judged(metric, *[1, 1, 1, 0.5, 0.5, 1], *["judge"] * 54))
    assert found.value == pytest.approx(0.5)
    assert found.ci[0] < 0.4
    assert found.ci[1] > 0.55


def test_with_no_verdict_at_all_there_is_no_value() -> None:
    """Where every reply is malformed, eleven refusals are not 100 % faithful answers of a server."""
    metric = RagasFaithfulness()
    found = summary(metric, settled(metric, *[100.0] * 11), judged(metric, *["judge"] * 9))
    assert (found.value, found.ci, found.sample_size) == (None, None, 0)
    assert found.reason == f"9 answers need a verdict of the judge, and none was obtained: {LOST}"
    assert found.bounds == (55.0, 100.0)
    assert (found.counts.scored, found.counts.judge) == (11, 9)
    some = [*judged(metric, *["judge"] * 9, verdict="first"), *judged(metric, 1.0, 1.0, verdict="other")]
    found = summary(metric, settled(metric, 100.0), some)
    assert found.reason == f"more than a tenth of the answers need verdicts of which none was obtained: {LOST}"
    alone = summary(metric, settled(metric, 100.0), judged(metric, "judge"))
    assert alone.reason == f"1 answer needs a verdict of the judge, and none was obtained: {LOST}"


def test_where_all_needed_the_same_verdicts_the_plain_mean_stands() -> None:
    """To the last digit, with the interval of the verdicts that there are."""
    metric, values = Quality(), (0.1, 0.7, 0.35, 1.0, 0.9)
    found = summary(metric, judged(metric, *values, "judge", "judge"))
    plain = summary(metric, judged(metric, *values))
    assert (found.value, found.ci, found.interval) == (plain.value, plain.ci, plain.interval)
    assert found.strata is not None


def test_results_that_do_not_say_what_they_hang_on_are_as_they_were() -> None:
    """A run of before does not say which of its values needed a judge."""
    metric = Quality()
    lost = metric.undefined(LOST, missing="judge")
    found = summary(metric, settled(metric, 0.0, 1.0, 0.8), [lost])
    assert (found.value, found.strata) == (0.6, None)


@pytest.mark.parametrize(
    ("parts", "value", "estimate", "bounds"),
    [
        pytest.param(([1.0, 1.0], [1, 1, 1, 0, "judge", "judge"]), 5.0, 6.5, (5, 7), id="two settled, two of six lost"),
        pytest.param(([], [*[1] * 25, *[0] * 12, *["judge"] * 3]), 25.0, 40 * 25 / 37, (25, 28), id="25 of 37"),
        pytest.param(([1.0], [1, 0]), 2.0, None, None, id="nothing lost"),
    ],
)
def test_a_count_is_what_was_counted(
    parts: tuple[list[float], list[Any]], value: float, estimate: float | None, bounds: Any
) -> None:
    """Its interval is of the questions that were decided; what the lost ones would add is an estimate by itself."""
    metric = Count()
    found = summary(metric, settled(metric, *parts[0]), judged(metric, *parts[1]))
    assert (found.value, found.estimate, found.bounds) == (value, pytest.approx(estimate), bounds)
    assert found.ci[0] < value < found.ci[1] <= found.sample_size


def test_a_percentile_has_no_interval_where_values_stand_for_different_numbers() -> None:
    """Order statistics know ranks of equal values only."""
    metric = Middle()
    found = summary(metric, settled(metric, *[0.0] * 4), judged(metric, 0.5, 0.7, "judge", "judge", "judge", "judge"))
    assert (found.value, found.ci) == (0.5, None)
    assert found.interval.marks == ["values that stand for different numbers of lost ones"]


def test_a_metric_without_a_better_way_has_bounds() -> None:
    """From its least to its greatest value."""
    metric = Directionless()
    assert summary(metric, judged(metric, 1.0, "judge")).bounds == (0.5, 1.0)


kinds = st.sampled_from(["settled", "one", "two"])
values = st.one_of(st.floats(0, 1), st.just("not_applicable"))


@settings(derandomize=True, deadline=None, max_examples=150)
@given(made=st.lists(st.tuples(kinds, values, st.booleans()), min_size=1, max_size=25))
def test_the_value_without_losses_lies_within_the_bounds_with_them(made: list[tuple[str, Any, bool]]) -> None:
    """Whatever is lost, whether it has a value or none."""
    metric = Quality()
    clean: list[MetricResult] = []
    faulty: list[MetricResult] = []
    for kind, value, lost in made:
        path = {"settled": [], "one": ["a"], "two": ["a", "b"]}[kind]
        result = metric.undefined("x") if isinstance(value, str) else metric.result(value)
        clean.append(metric.judged(result, path))
        gone = metric.judged(metric.undefined(LOST, missing="judge"), path[:1])
        faulty.append(gone if lost and path else clean[-1])
    whole, left = summary(metric, clean), summary(metric, faulty)
    for value in (whole.value, left.value):
        if value is not None and left.bounds is not None:
            assert left.bounds[0] - 1e-12 <= value <= left.bounds[1] + 1e-12


Paths = Sequence[tuple[str, ...]]


def shares_of(paths: Paths, lost: Sequence[bool]) -> dict[str, float]:
    """Step 1 of the page: N/K of each verdict."""
    found = {}
    for v in {name for path in paths for name in path}:
        having = [(path, gone) for path, gone in zip(paths, lost, strict=True) if v in path]
        found[v] = len(having) / sum(path[-1] != v or not gone for path, gone in having)
    return found


def weights_of(paths: Paths, lost: Sequence[bool]) -> list[float]:
    """Step 1: what each question weighs."""
    shares = shares_of(paths, lost)
    raw = [0.0 if gone else prod(shares[v] for v in path) for path, gone in zip(paths, lost, strict=True)]
    judged = sum(bool(path) for path in paths)
    f = judged / fsum(w for w, path in zip(raw, paths, strict=True) if path)
    return [w * f if path else w for w, path in zip(raw, paths, strict=True)]


def residuals_of(results: Sequence[MetricResult], mean: float) -> list[float]:
    """Step 3: by how much each question moves the mean."""
    paths, lost = [tuple(one.judged_by) for one in results], [one.missing == "judge" for one in results]
    weights, shares = weights_of(paths, lost), shares_of(paths, lost)
    y = [0.0 if one.value is None else one.value - mean for one in results]
    judged = [place for place, path in enumerate(paths) if path]
    a = fsum(weights[place] * y[place] for place in judged) / len(judged)
    b = [w * (one - a) for w, one in zip(weights, y, strict=True)]

    def got(place: int) -> tuple[str, ...]:
        return paths[place][:-1] if lost[place] else paths[place]

    def onward(place: int, v: str) -> float:
        following = paths[place][paths[place].index(v) + 1 :]
        return expected(following[0]) if following else b[place]

    @cache
    def expected(v: str) -> float:
        count = sum(v in path for path in paths)
        return fsum(onward(place, v) for place in judged if v in got(place)) / count

    return [
        a + expected(path[0]) + fsum(onward(place, v) - expected(v) * shares[v] for v in got(place))
        if path
        else y[place]
        for place, path in enumerate(paths)
    ]


def interval_by_the_page(results: Sequence[MetricResult], labels: Sequence[str]) -> tuple[float, float, float]:
    """Steps 2 and 4: the value and its interval, of independent questions or in clusters."""
    paths, lost = [tuple(one.judged_by) for one in results], [one.missing == "judge" for one in results]
    weights = weights_of(paths, lost)
    valued = [(w, one.value) for w, one in zip(weights, results, strict=True) if one.value is not None]
    mean = fsum(w * x for w, x in valued) / fsum(w for w, _ in valued)
    heaviest = max(w for w, _ in valued)
    moves = residuals_of(results, mean)
    sizes = [0.0 if one.value is None else w for w, one in zip(weights, results, strict=True)]
    units = {label: [place for place, own in enumerate(labels) if own == label] for label in labels}
    s = [fsum(sizes[place] for place in unit) for unit in units.values()]
    r = [fsum(moves[place] for place in unit) for unit in units.values()]
    weight = -log(0.05) / (1 + NormalDist().inv_cdf(0.975)) * heaviest
    if len(units) < len(labels):
        big, extra = fsum(x * x for x in s) / fsum(x * x for x in sizes), 2 * heaviest**2
        effect = (fsum(x * x for x in r) + big * extra) / (fsum(x * x for x in moves) + extra)
        weight *= min(max(1.0, big), max(1.0, effect))
    sums = [size * mean + move for size, move in zip(s, r, strict=True)] + [0.0, weight]
    s += [weight, weight]
    whole = fsum(s)
    centre = fsum(sums) / whole
    corrected = [1 / (1 - size / whole) for size in s]
    error = fsum((S - k * centre) ** 2 * h for S, k, h in zip(sums, s, corrected, strict=True)) ** 0.5 / whole
    second = fsum(k**2 for k in s)
    third, fourth = (
        fsum(k**2 * h for k, h in zip(s, corrected, strict=True)),
        fsum((k**2 * h) ** 2 for k, h in zip(s, corrected, strict=True)),
    )
    df = whole**2 / (second + (third**2 - fourth) / whole**2)
    half = float(student.ppf(0.975, df)) * error
    return mean, max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half))


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("seed", range(6))
def test_value_and_interval_can_be_computed_again_by_the_page(seed: int, size: int) -> None:
    """From the values, their kinds of missing and the verdicts that they hang on, and nothing else."""
    rng, metric = random.Random(seed), Quality()  # noqa: S311 - a simulation
    results = []
    for _ in range(80):
        path = rng.choice([[], ["a"], ["b"], ["b", "c"], ["a", "b", "c"]])
        reached = next((j for j in range(1, len(path) + 1) if rng.random() < 0.25), None)
        if reached is not None:
            results.append(metric.judged(metric.undefined(LOST, missing="judge"), path[:reached]))
        elif rng.random() < 0.15:
            results.append(metric.judged(metric.undefined("no claims"), path))
        else:
            results.append(metric.judged(metric.result(rng.random()), path))
    labels = [f"d{place // size}" for place in range(80)]
    found = summarise(metric, results, ScoreSettings(), labels)
    assert found.interval.method == "t with two pseudo-values, weighted"
    assert found.value is not None
    assert found.ci is not None
    assert (found.value, *found.ci) == pytest.approx(interval_by_the_page(results, labels), abs=1e-12, rel=0)
