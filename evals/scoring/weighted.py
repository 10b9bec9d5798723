"""From the scorecard to one number: the weighted mean of objectives, or none where too little was measured."""

from collections.abc import Callable, Mapping
from functools import partial
from math import fsum
from statistics import fmean

from evals.schemas import MetricSummary, Scorecard, WeightedScore
from evals.scoring.config import LEAST_COVERAGE, NOT_ANSWERED, ScoringConfig
from evals.scoring.objectives import check_feeds, feeding, on_scale

__all__ = ["LEAST_COVERAGE", "check_feeds", "make_weighted_score", "no_score"]

_ROUNDING = 1e-9


def make_weighted_score(scorecard: Scorecard, config: ScoringConfig, *, answered: int = 1) -> WeightedScore:
    """Weigh the objectives that something feeds; the others are left out and named.

    score = sum of weight × objective / sum of the weights present, where these are at least half of all weights. An
    objective is the mean of the metrics that feed it; one of few questions beside others of many is left out.

    Args:
        scorecard: All metrics of the run. Each counts on the scale from 0 to 1 of its own range.
        config: Weights, feeds and thresholds.
        answered: How many questions were answered. A run without a single answer has no score.
    """
    if not answered:
        return no_score(config, NOT_ANSWERED)
    left_out: dict[str, str] = {}
    few: dict[str, dict[str, str]] = {}
    fed = _fed(scorecard, config, left_out, few)
    weights = {name: config.weights[name] for name in fed}
    coverage = fsum(weights.values()) / fsum(config.weights.values())
    reason = _why_none(coverage, list(fed))
    objectives = _objectives(fed, config, _value)
    return WeightedScore(
        score=_mean(objectives, weights) if reason is None else None,
        reason=reason,
        coverage=min(1.0, coverage),
        bounds=_bounds(fed, config, weights) if reason is None else None,
        objectives=objectives,
        weights=weights,
        fed_by={name: [summary.name for summary in summaries] for name, summaries in fed.items()},
        left_out=left_out,
        left_out_metrics=few,
    )


def _fed(
    scorecard: Scorecard, config: ScoringConfig, left_out: dict[str, str], few: dict[str, dict[str, str]]
) -> dict[str, list[MetricSummary]]:
    """The metrics that feed each objective; what does not is put into the other two, with the reason."""
    fed = {}
    for name, weight in config.weights.items():
        summaries, too_few = feeding(scorecard, config.feeds[name]) if weight else ([], {})
        if summaries:
            fed[name] = summaries
        else:
            left_out[name] = "no value of " + ", ".join(config.feeds[name]) if weight else "its weight is 0"
        if too_few:
            few[name] = too_few
    return fed


def no_score(config: ScoringConfig, reason: str) -> WeightedScore:
    """The score of a run that measured nothing of what its weights are for, with the reason."""
    return WeightedScore(score=None, reason=reason, coverage=0.0, left_out=dict.fromkeys(config.weights, reason))


def _why_none(coverage: float, measured: list[str]) -> str | None:
    if not measured:
        return "nothing feeds it"
    if coverage < LEAST_COVERAGE - _ROUNDING:
        return f"only {100 * coverage:.0f} % of the weight is measured: {', '.join(measured)}"
    return None


def _objectives(
    fed: Mapping[str, list[MetricSummary]], config: ScoringConfig, value: Callable[[MetricSummary], float]
) -> dict[str, float]:
    return {
        name: fmean(on_scale(summary, value(summary), config.thresholds) for summary in summaries)
        for name, summaries in fed.items()
    }


def _mean(objectives: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return fsum(weights[name] * value for name, value in objectives.items()) / fsum(weights.values())


def _bounds(
    fed: Mapping[str, list[MetricSummary]], config: ScoringConfig, weights: Mapping[str, float]
) -> tuple[float, float] | None:
    """The score with every metric at its worst and at its best bound; None where no metric has lost a question.

    Cost and latency, which have no worst value, stay as they are.
    """
    if not any(summary.bounds for summaries in fed.values() for summary in summaries):
        return None
    worst, best = (_mean(_objectives(fed, config, partial(_bound, end=end)), weights) for end in (0, 1))
    return worst, best


def _value(summary: MetricSummary) -> float:
    return (summary.value if summary.estimate is None else summary.estimate) or 0.0


def _bound(summary: MetricSummary, *, end: int) -> float:
    return summary.bounds[end] if summary.bounds else _value(summary)
