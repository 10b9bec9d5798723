"""How sure the value of a run is on each objective: an interval over the questions that all runs share."""

from collections.abc import Mapping, Sequence

from evals.compare.values import Aligned
from evals.metrics.base import BaseMetric
from evals.schemas import EvalRun, MetricSummary, WeightedScore
from evals.scoring.influence import influence, score_interval
from evals.scoring.settings import ScoreSettings, score_settings
from evals.stats import Interval


def objective_intervals(
    place: int,
    runs: Sequence[EvalRun],
    usable: Sequence[Aligned],
    scaled: WeightedScore,
    plain: Mapping[str, list[str]],
    thresholds: Mapping[str, float],
) -> dict[str, Interval]:
    """The intervals of the objectives of one run; one that has none is left out.

    An objective on the scale from 0 to 1 is a weighted score of itself alone, and its interval is that of such a score:
    with all that the metrics which feed it have in common. One that is milliseconds, dollars or a rate has the interval
    of the metric that feeds it; where several do, there is none.

    Args:
        place: Of the run among the runs.
        runs: All of them; the first says how intervals are made.
        usable: The metrics that all runs have.
        scaled: The weighted score of the run over these.
        plain: The objectives that are not on the scale, with the metrics that feed them.
        thresholds: Of the score, by unit.
    """
    settings = score_settings(runs[0])
    by_name = {each.metric.name: each for each in usable}
    found = {}
    for name, value in scaled.objectives.items():
        if name not in plain:
            alone = WeightedScore(
                score=value, objectives={name: value}, weights={name: 1.0}, fed_by={name: scaled.fed_by[name]}
            )
            feeding = [by_name[metric] for metric in scaled.fed_by[name]]
            found[name] = _scaled(place, feeding, alone, thresholds, settings)
    for name, metrics in plain.items():
        found[name] = _plain([by_name[metric] for metric in metrics], place, settings)
    return {name: ends for name, ends in found.items() if ends is not None}


def _scaled(
    place: int,
    feeding: Sequence[Aligned],
    alone: WeightedScore,
    thresholds: Mapping[str, float],
    settings: ScoreSettings,
) -> Interval | None:
    metrics: list[BaseMetric] = [each.metric for each in feeding]
    columns = {each.metric.name: each.column(place, settings) for each in feeding}
    told = influence(alone, metrics, columns, thresholds, settings.confidence)
    if told is None:
        return None
    clusters = _clusters(feeding)
    estimate = score_interval(told, [clusters[key] for key in told.values], settings.confidence)
    return estimate.interval if estimate is not None else None


def _clusters(feeding: Sequence[Aligned]) -> dict[str, str]:
    """What each question belongs to."""
    found: dict[str, str] = {}
    for each in feeding:
        ids, labels = (each.ids, each.clusters) if each.lost is None else (each.lost.ids, each.lost.clusters)
        found.update(zip(ids, labels, strict=True))
    return found


def _plain(feeding: Sequence[Aligned], place: int, settings: ScoreSettings) -> Interval | None:
    if len(feeding) != 1:
        return None
    summary: MetricSummary | None = feeding[0].summaries(settings)[place]
    return summary.ci if summary is not None else None
