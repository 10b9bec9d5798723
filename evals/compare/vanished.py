"""Metrics that had values and have none any more."""

from collections import Counter
from collections.abc import Sequence

from evals.compare.models import VanishedMetric
from evals.compare.pairing import Pairing
from evals.compare.values import Aligned
from evals.metrics.base import BaseMetric


def find_vanished(pairing: Pairing, metrics: Sequence[Aligned]) -> list[VanishedMetric]:
    """The metrics that have values in the first of two runs and none in the second, over their common questions.

    A server that sends no citations any more has no bad ones: what cannot be compared must not pass for unchanged. Of a
    run that was never finished no metric is lost: none is measured yet.
    """
    if pairing.runs[1].is_unscored:
        return []
    return [
        VanishedMetric(
            name=each.metric.name,
            group=each.metric.group.value,
            n=len(each.results[0]),
            reason=_why(pairing, each.metric),
        )
        for each in metrics
        if each.results[0] and each.results[1] is None
    ]


def _why(pairing: Pairing, metric: BaseMetric) -> str:
    column = pairing.sides[1].column(metric.name)
    reasons = Counter(column.reasons() if column is not None else ())
    if not reasons:
        return "it was not measured"
    summary = pairing.runs[1].scorecard.find(metric.name)
    if None not in reasons:
        return reasons.most_common(1)[0][0] or ""
    return (summary and summary.reason) or "its values do not stand for the run"
