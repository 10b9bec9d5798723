"""The scorecard as a page shows it: the same words as on the terminal, and the numbers for the charts."""

from collections.abc import Iterator
from typing import Any

from evals.schemas import EvalRun, MetricSummary
from evals.views.formatting import arrow, bounds, interval, lost, printable, sampling, value


def scorecard_groups(run: EvalRun) -> list[dict[str, Any]]:
    """The groups in their order, each with its metrics."""
    return [
        {"group": group, "metrics": [metric_row(run.scorecard.get(name)) for name in names]}
        for group, names in run.scorecard.by_group.items()
    ]


def metric_row(summary: MetricSummary) -> dict[str, Any]:
    """A metric: its name, value and interval in words and as numbers, and what there is to remark on it."""
    return {
        "name": summary.name,
        "arrow": arrow(summary.higher_is_better),
        "better": summary.higher_is_better,
        "unit": summary.unit,
        "value": summary.value,
        "shown": value(summary),
        "ci": summary.ci,
        "interval": interval(summary),
        "n": summary.sample_size,
        "remarks": [printable(remark) for remark in _remarks(summary)],
    }


def _remarks(summary: MetricSummary) -> Iterator[str]:
    yield from (remark for remark in (lost(summary), summary.reason) if remark)
    if summary.labels:
        yield " ".join(f"{label} {count}" for label, count in summary.labels.items())
    if summary.bounds is not None and summary.value is not None:
        yield f"with lost questions {bounds(summary)}"
    yield from sampling(summary)


def not_measured(run: EvalRun) -> list[dict[str, str]]:
    """What has no value, and why: metrics of the scorecard, then objectives of the weighted score and their metrics."""
    found = {one.name: one.reason or "no question has a value" for one in run.scorecard.metrics if one.value is None}
    weighted = run.weighted_score
    found |= {f"objective {name}": reason for name, reason in weighted.left_out.items()}
    for name, metrics in weighted.left_out_metrics.items():
        found |= {f"{metric} in objective {name}": reason for metric, reason in metrics.items()}
    return [{"name": name, "reason": printable(reason)} for name, reason in found.items()]
