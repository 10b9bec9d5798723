"""What the scores of a judged run say of its judge: whether length pays, and how often repeats change a score."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from evals.judges.flips import pairwise_disagreement
from evals.metrics.judged import REPEATS
from evals.metrics.registry import known_metric
from evals.schemas import EvalRecord, EvalRun
from evals.schemas.calibration import Figure
from evals.scoring.calibration.binding import asks_judge
from evals.scoring.clusters import cluster_of
from evals.scoring.settings import score_settings
from evals.stats.correlation import spearman
from evals.stats.jackknife import jackknife_interval

_GROUPS = 50


def with_facts(run: EvalRun, records: Sequence[EvalRecord]) -> EvalRun:
    """The run with what its scored records say of its judge; itself where none took part."""
    if run.judge is None:
        return run
    judged = [summary.name for summary in run.scorecard.metrics if asks_judge(summary.name)]
    facts = {
        "length_correlations": {name: found for name in judged if (found := _length(run, records, name)) is not None},
        "score_flip_rates": _flips(records, judged),
    }
    return run.model_copy(update={"judge": run.judge.model_copy(update=facts)})


def _length(run: EvalRun, records: Sequence[EvalRecord], name: str) -> Figure | None:
    """Spearman's correlation of score and number of words; None for a metric that is not of the answer."""
    metric = known_metric(name)
    if metric is None or not metric.of_answer:
        return None
    settings = score_settings(run)
    values, words, clusters = list[float](), list[float](), list[str]()
    for record in records:
        value = _value(record, name)
        if value is not None and record.response is not None and record.response.answer:
            values.append(value)
            words.append(len(record.response.answer.split()))
            clusters.append(cluster_of(record.question, settings.cluster))
    return _correlated(values, words, clusters, settings.confidence)


def _correlated(values: Sequence[float], words: Sequence[float], clusters: Sequence[str], confidence: float) -> Figure:
    n = len(values)
    found = spearman(values, words)
    if found is None:
        return Figure(n=n, reason="scores or lengths are all the same" if n else "no answer has a score")

    def of_places(places: Sequence[int]) -> float | None:
        return spearman([values[at] for at in places], [words[at] for at in places])

    ci = jackknife_interval(of_places, n, clusters, confidence=confidence, correlation=True, groups=_GROUPS)
    return Figure(value=found, ci=ci, n=n)


def _value(record: EvalRecord, name: str) -> float | None:
    return next((score.value for score in record.scores if score.name == name), None)


def _flips(records: Sequence[EvalRecord], judged: Sequence[str]) -> dict[str, float]:
    """By metric, the chance that two repeats give one answer different scores."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        for score in record.scores:
            repeated = score.details.get(REPEATS)
            share = pairwise_disagreement(repeated) if isinstance(repeated, list) else None
            if share is not None:
                found[score.name].append(share)
    return {name: fmean(found[name]) for name in judged if name in found}
