"""From records to the scorecard and the weighted score. The only place that decides denominators.

Every number is computed from records, never from other averages: each metric walks all the questions that were
asked, and counts each exactly once as scored, not applicable, lost to transport or lost to the judge. A question that
was selected and never asked, because the run ended before, has no results: it is in no metric's counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from statistics import fmean

from evals.case.case import Case
from evals.case.matching import MatchSettings, RunEvidence, evidence_of
from evals.config import ScoringConfig
from evals.errors import ConfigError
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric, parse_metric
from evals.schemas import (
    EvalRecord,
    EvalResponse,
    MetricCounts,
    MetricGroup,
    MetricResult,
    MetricSummary,
    Scorecard,
    WeightedScore,
)
from evals.semantics.base import Semantics
from evals.stats.intervals import Interval, percentile, percentile_interval, t_interval, wilson


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """How records are scored.

    Attributes:
        match: How chunks are recognised as gold.
        citation_base: Number of the first chunk in citation indices.
        worst_on_error: Whether a question without an answer counts as the worst value.
        confidence: Of the intervals.
        judged: Whether a judge takes part.
        semantics: What texts are compared with; None where no metric wants that.
        evidence: What the run says about matching; None where each response speaks for itself.
    """

    match: MatchSettings = field(default_factory=MatchSettings)
    citation_base: int = 1
    worst_on_error: bool = False
    confidence: float = 0.95
    judged: bool = False
    semantics: Semantics | None = None
    evidence: RunEvidence | None = None

    def within(self, records: Iterable[EvalRecord]) -> "ScoreSettings":
        """The same, with what all these records of a run say about matching."""
        return self if self.evidence is not None else replace(self, evidence=evidence_of(records, self.match))

    def case(self, record: EvalRecord) -> Case:
        """An asked record as metrics see it."""
        return Case(
            record.question,
            record.response or EvalResponse(),
            record.verdicts,
            self.match,
            self.citation_base,
            self.judged,
            self.semantics,
            self.evidence,
        )


def score_records(
    metrics: Sequence[BaseMetric], records: Sequence[EvalRecord], settings: ScoreSettings
) -> list[EvalRecord]:
    """Measure every record that has a response; the others stay as they are."""
    settings = settings.within(records)
    return [score_record(metrics, record, settings) for record in records]


def score_record(metrics: Sequence[BaseMetric], record: EvalRecord, settings: ScoreSettings) -> EvalRecord:
    """Measure one record."""
    if record.response is None:
        return record
    case = settings.case(record)
    return record.model_copy(update={"scores": [metric.score(case) for metric in metrics]})


def make_scorecard(metrics: Sequence[BaseMetric], records: Sequence[EvalRecord], settings: ScoreSettings) -> Scorecard:
    """Summarise each metric over the scored records, in the order of the groups."""
    order = list(MetricGroup)
    by_name: dict[str, list[MetricResult]] = {metric.name: [] for metric in metrics}
    for record in records:
        for result in record.scores:
            if result.name in by_name:
                by_name[result.name].append(result)
    summaries = [summarise(metric, by_name[metric.name], settings) for metric in metrics]
    summaries.sort(key=lambda summary: order.index(summary.group))
    by_group: dict[str, list[str]] = {}
    for summary in summaries:
        by_group.setdefault(summary.group.value, []).append(summary.name)
    return Scorecard(metrics=summaries, by_group=by_group)


def summarise(metric: BaseMetric, results: Sequence[MetricResult], settings: ScoreSettings) -> MetricSummary:
    """Summarise one metric over the questions that were asked."""
    values = [result.value for result in results if result.value is not None]
    missing = Counter(result.missing for result in results if result.missing is not None)
    scored = len(values)
    lost = missing["transport"] + missing["judge"]
    worst, best = metric.worst, metric.best
    bounds = None
    if lost and worst is not None and best is not None:
        bounds = (value_over(metric, [*values, *[worst] * lost]), value_over(metric, [*values, *[best] * lost]))
    if settings.worst_on_error and worst is not None:
        values += [worst] * missing["transport"]
    one_sided = metric.one_sided(results) if values else None
    if one_sided is not None:
        values, bounds = [], None
    value, ci = _aggregate(metric, values, settings.confidence)
    return MetricSummary(
        name=metric.name,
        value=value,
        group=metric.group,
        sample_size=len(values),
        counts=MetricCounts(
            scored=scored,
            not_applicable=missing["not_applicable"],
            transport=missing["transport"],
            judge=missing["judge"],
        ),
        ci=ci,
        bounds=bounds,
        reason=(one_sided or _why_missing(results)) if value is None else None,
        rules=_rules(results),
        labels=_labels(results),
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
    )


def _aggregate(metric: BaseMetric, values: Sequence[float], confidence: float) -> tuple[float | None, Interval | None]:
    if not values:
        return None, None
    return value_over(metric, values), _interval(metric, values, confidence)


def value_over(metric: BaseMetric, values: Sequence[float]) -> float:
    """The values of questions, of which there is at least one, as the one value of the run."""
    if metric.aggregation is Aggregation.SUM:
        return fsum(values)
    if metric.aggregation is Aggregation.PERCENTILE:
        return percentile(values, metric.percentile or 50.0)
    return fmean(values)


def _interval(metric: BaseMetric, values: Sequence[float], confidence: float) -> Interval | None:
    if metric.aggregation is Aggregation.PERCENTILE:
        return percentile_interval(values, metric.percentile or 50.0, confidence)
    # A mean over zeros and ones alone is a rate, and t would give [1, 1] for twenty hits out of twenty.
    whole = metric.high
    as_rate = None
    if whole and all(value in (0.0, whole) for value in values):
        as_rate = wilson(sum(values) / whole, len(values), confidence)
    if metric.aggregation is Aggregation.SUM:
        return as_rate and (as_rate[0] * len(values), as_rate[1] * len(values))
    if as_rate is not None and whole is not None:
        return as_rate[0] * whole, as_rate[1] * whole
    return _within(t_interval(values, confidence), metric)


def _within(interval: Interval | None, metric: BaseMetric) -> Interval | None:
    """Cut the interval where the metric ends."""
    if interval is None:
        return None
    low, high = interval
    return (
        low if metric.low is None else max(metric.low, low),
        high if metric.high is None else min(metric.high, high),
    )


def _why_missing(results: Sequence[MetricResult]) -> str:
    reasons = Counter(result.reason for result in results if result.reason)
    if not reasons:
        return "no question was asked"
    if len(reasons) == 1:
        return next(iter(reasons))
    return "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))


def _rules(results: Sequence[MetricResult]) -> dict[str, int]:
    """How often each rule recognised a gold; a plug-in may have another use for the word."""
    total: Counter[str] = Counter()
    for result in results:
        rules = result.details.get("rules")
        total.update(rules if isinstance(rules, dict) else {})
    return dict(total)


def _labels(results: Sequence[MetricResult]) -> dict[str, int]:
    labels = (result.details.get("label") for result in results)
    return dict(sorted(Counter(label for label in labels if isinstance(label, str)).items()))


def make_weighted_score(scorecard: Scorecard, config: ScoringConfig, *, answered: int = 1) -> WeightedScore:
    """Weigh the objectives that something feeds; the others are left out and named.

    score = sum of weight × objective / sum of the weights present. A run without a single answer has no score.

    Args:
        scorecard: All metrics of the run. Each counts on the scale from 0 to 1 of its own range.
        config: Weights, feeds and thresholds.
        answered: How many questions were answered.
    """
    if not answered:
        return WeightedScore(score=None, left_out=dict.fromkeys(config.weights, "no question was answered"))
    objectives: dict[str, float] = {}
    fed_by: dict[str, list[str]] = {}
    left_out: dict[str, str] = {}
    for name, weight in config.weights.items():
        parts = _parts(scorecard, config.feeds[name], config.thresholds) if weight else {}
        if not weight:
            left_out[name] = "its weight is 0"
        elif parts:
            objectives[name] = fmean(parts.values())
            fed_by[name] = list(parts)
        else:
            left_out[name] = "no value of " + ", ".join(config.feeds[name])
    weights = {name: config.weights[name] for name in objectives}
    total = sum(weights.values())
    score = sum(weights[name] * objectives[name] for name in objectives) / total if total else None
    return WeightedScore(score=score, objectives=objectives, weights=weights, fed_by=fed_by, left_out=left_out)


def _parts(scorecard: Scorecard, names: Iterable[str], thresholds: Mapping[str, float]) -> dict[str, float]:
    """What each metric contributes to an objective, on a scale of 0 to 1 where 1 is good."""
    parts = {}
    for name in names:
        summary = scorecard.get(name)
        if summary is None or summary.value is None:
            continue
        if summary.unit in thresholds:
            parts[name] = min(1.0, max(0.0, 1 - summary.value / thresholds[summary.unit]))
        else:
            share = _share(summary)
            parts[name] = share if summary.higher_is_better is not False else 1 - share
    return parts


def _share(summary: MetricSummary) -> float:
    """Where in the metric's range the value lies, from 0 to 1; a sum is that of as many questions as it was made of."""
    metric = known_metric(summary.name)
    value = summary.value or 0.0
    if metric is None or metric.low is None or metric.high is None:
        return value
    if metric.aggregation is Aggregation.SUM:
        value /= summary.sample_size
    return (value - metric.low) / (metric.high - metric.low)


def check_feeds(config: ScoringConfig) -> None:
    """Check that every metric that feeds an objective exists and can be brought to the scale from 0 to 1.

    Raises:
        UnknownNameError: A metric does not exist.
        ConfigError: One has no least or no greatest value, and there is no threshold for its unit.
    """
    for objective, names in config.feeds.items():
        for name in names:
            metric = parse_metric(name)
            if metric.unit not in config.thresholds and (metric.low is None or metric.high is None):
                raise ConfigError(
                    f"{name} cannot feed {objective!r}: it has no bounds, and its unit ({metric.unit}) no threshold",
                    "feed the objective with metrics between two bounds, or such as are in dollars or milliseconds",
                )


def slice_scorecards(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], key: str, settings: ScoreSettings
) -> dict[str, Scorecard]:
    """A scorecard for each value of a key, over the records of `slice_by`."""
    return {value: make_scorecard(metrics, part, settings) for value, part in slice_by(records, key).items()}


def slice_by(records: Iterable[EvalRecord], key: str) -> dict[str, list[EvalRecord]]:
    """Group records by `dataset` or a key of their metadata; a record without the key is in no group."""
    groups: dict[str, list[EvalRecord]] = {}
    for record in records:
        value = record.question.dataset if key == "dataset" else record.question.metadata.get(key)
        if value not in (None, "", []):
            spelled = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            groups.setdefault(spelled, []).append(record)
    return dict(sorted(groups.items()))
