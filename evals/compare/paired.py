"""The last run against the first: each metric's paired difference, with its interval, its test and a verdict."""

from collections.abc import Sequence

from evals.compare.models import ANSWER_RATE, MetricPair, Test, Verdict
from evals.compare.values import Aligned
from evals.metrics.base import Aggregation, BaseMetric
from evals.scoring.scorecard import value_over
from evals.stats.bootstrap import paired_percentile_difference
from evals.stats.intervals import Interval, benjamini_hochberg, mcnemar_p, paired_t_p, t_interval

ALPHA = 0.05
Tested = tuple[Interval | None, float | None, Test | None]
"""Interval of the difference, p, and the test it comes from; nothing where there are too few pairs."""
_TOO_FEW = "too few pairs"
_CONCURRENCY = "the runs had different concurrency"


def compare_pairs(metrics: Sequence[Aligned], *, same_concurrency: bool, confidence: float) -> list[MetricPair]:
    """Compare the last run with the first, metric by metric; metrics that one of the two lacks are left out.

    A metric is better or worse where q < 0.05 (Benjamini-Hochberg over all metrics of the answers compared here) and
    the interval of the difference does not hold 0. Whether answers came at all is a question of its own, tested on its
    own: else a server that stops answering would hide behind the number of metrics. Latency gets no verdict between
    runs of different concurrency.

    Args:
        metrics: Each with the values of the runs.
        same_concurrency: Whether all runs asked at the same concurrency throughout.
        confidence: Of the intervals.
    """
    found = []
    for aligned in metrics:
        first, last = aligned.values(0), aligned.values(-1)
        if first and last:
            comparable = same_concurrency or aligned.metric.unit != "ms"
            test = _test(aligned.metric, first, last, confidence) if comparable else None
            found.append(_compare(aligned.metric, first, last, test))
    tested = [place for place, pair in enumerate(found) if pair.p is not None]
    alone = [place for place in tested if found[place].name == ANSWER_RATE]
    for family in (alone, [place for place in tested if place not in alone]):
        q_values = benjamini_hochberg([found[place].p or 0.0 for place in family])
        for place, q in zip(family, q_values, strict=True):
            found[place] = found[place].model_copy(update={"q": q, "verdict": _verdict(found[place], q)})
    return found


def _compare(metric: BaseMetric, first: Sequence[float], last: Sequence[float], tested: Tested | None) -> MetricPair:
    before, after = value_over(metric, first), value_over(metric, last)
    interval, p, test = tested or (None, None, None)
    return MetricPair(
        name=metric.name,
        group=metric.group.value,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
        n=len(first),
        first=before,
        last=after,
        difference=after - before,
        interval=interval,
        p=p,
        test=test,
        reason=None if p is not None else _CONCURRENCY if tested is None else _TOO_FEW,
    )


def _test(metric: BaseMetric, first: Sequence[float], last: Sequence[float], confidence: float) -> Tested:
    if metric.aggregation is Aggregation.PERCENTILE:
        found = paired_percentile_difference(first, last, metric.percentile or 50.0, confidence)
        return (*found, "bootstrap") if found else (None, None, None)
    differences = [after - before for before, after in zip(first, last, strict=True)]
    interval = t_interval(differences, confidence)
    if interval is None:
        return None, None, None
    interval = _scaled(interval, metric, len(differences))
    if metric.high == 1.0 and all(value in (0.0, 1.0) for value in (*first, *last)):
        fallen, risen = sum(d < 0 for d in differences), sum(d > 0 for d in differences)
        return interval, mcnemar_p(fallen, risen), "mcnemar"
    return interval, paired_t_p(differences), "t"


def _scaled(interval: Interval, metric: BaseMetric, n: int) -> Interval:
    """The interval of a sum is n times that of the mean; that of a bounded mean ends where the metric does."""
    low, high = interval
    if metric.aggregation is Aggregation.SUM:
        return n * low, n * high
    if metric.low is None or metric.high is None:
        return low, high
    span = metric.high - metric.low
    return max(-span, low), min(span, high)


def _verdict(pair: MetricPair, q: float) -> Verdict:
    if pair.interval is None or q >= ALPHA or pair.interval[0] <= 0 <= pair.interval[1]:
        return "no difference seen"
    if pair.higher_is_better is None:
        return "changed"
    return "better" if (pair.difference > 0) == pair.higher_is_better else "worse"
