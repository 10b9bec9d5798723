"""How much the numbers of a run depend on when a chunk counts as gold."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evals.metrics.base import BaseMetric
from evals.schemas import EvalRecord, MetricSummary
from evals.scoring.gathered.columns import ResultColumn
from evals.scoring.guarded import score_of
from evals.scoring.scorecard import summarise
from evals.scoring.settings import Cases, ScoreSettings

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What comes out with one overlap threshold.

    Attributes:
        threshold: Share of the gold's tokens that a chunk must hold; of its pairs, the same share of the setting's.
        summaries: Each metric over the run.
        rules: How many golds each rule recognised.
    """

    threshold: float
    summaries: tuple[MetricSummary, ...]
    rules: dict[str, int]


def by_threshold(
    records: Sequence[EvalRecord],
    metrics: Sequence[BaseMetric],
    settings: ScoreSettings,
    thresholds: Iterable[float] = THRESHOLDS,
) -> list[Sensitivity]:
    """Measure the records again with each overlap threshold; nothing is asked.

    Args:
        records: Of a saved run.
        metrics: What to measure, such as recall_at_5 and precision_at_5.
        settings: The run's own; its pairs threshold moves in proportion.
        thresholds: The overlap thresholds to try.
    """
    results = []
    for threshold in thresholds:
        used = settings.match
        pairs = min(1.0, used.overlap_pairs_threshold * threshold / used.overlap_threshold)
        match = used.model_copy(update={"overlap_threshold": threshold, "overlap_pairs_threshold": pairs})
        moved = replace(settings, match=match)
        rules: Counter[str] = Counter()
        found = [ResultColumn(metric) for metric in metrics]
        for record in records:
            if record.response is not None:
                case = Cases(moved).of(record)
                rules.update(case.matches.rules)
                for metric, own in zip(metrics, found, strict=True):
                    own.add(score_of(metric, case))
        summaries = tuple(summarise(metric, own, moved) for metric, own in zip(metrics, found, strict=True))
        results.append(Sensitivity(threshold, summaries, dict(rules)))
    return results
