"""The judge's card of a run, and its means without the judge's bias."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import known_metric
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun
from evals.schemas.calibration import Calibration, CorrectedMean, JudgeCard, LabelledAnswer
from evals.scoring.calibration.binding import asks_judge, calibration_of
from evals.scoring.clusters import cluster_of
from evals.scoring.settings import score_settings
from evals.stats.prediction_powered import Corrected, Part, prediction_powered_mean, rogan_gladen

_MEANS = frozenset({Aggregation.MEAN, Aggregation.RATE})


def answer_hash(question: EvalQuestion, response: EvalResponse) -> str:
    """What tells an answer from all others, in any run."""
    text = f"{question.question}\0{response.answer or ''}"
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def with_cards(run: EvalRun, records: Sequence[EvalRecord], known: Iterable[Calibration]) -> EvalRun:
    """The run with the card of its judge by each judged metric, and means corrected where there is one.

    What the run holds of a former calibration stays where there is no newer one: it is of the same judge.

    Args:
        run: Judged or not.
        records: Its records, scored.
        known: All calibrations.
    """
    if run.judge is None:
        return run
    every, judge = list(known), run.judge
    found = {
        summary.name: calibration_of(summary.name, judge, every)
        for summary in run.scorecard.metrics
        if asks_judge(summary.name) and summary.value is not None
    }
    cards = {name: judge.cards.get(name) if each is None else card_of(each) for name, each in found.items()}
    corrected = {name: corrected_means(each, run, records) for name, each in found.items() if each is not None}
    summaries = [
        summary.model_copy(update={"corrected": corrected.get(summary.name, summary.corrected)})
        for summary in run.scorecard.metrics
    ]
    scorecard = run.scorecard.model_copy(update={"metrics": summaries})
    return run.model_copy(update={"judge": judge.model_copy(update={"cards": cards}), "scorecard": scorecard})


def card_of(calibration: Calibration) -> JudgeCard:
    """What a report says of a calibration."""
    judge = calibration.judge
    return JudgeCard(
        labels=sum(answer.score is not None for answer in calibration.answers),
        created_at=calibration.created_at,
        agreement=judge.agreement,
        kappa=judge.kappa,
        sensitivity=judge.sensitivity,
        specificity=judge.specificity,
        auroc=judge.auroc,
    )


def corrected_means(calibration: Calibration, run: EvalRun, records: Sequence[EvalRecord]) -> list[CorrectedMean]:
    """The mean of a metric without the judge's bias, by each method that applies; none where labels only compare.

    Labelled answers are left out of the run's others, so that none counts twice.
    """
    metric = known_metric(calibration.metric)
    if metric is None or metric.aggregation not in _MEANS or not calibration.judge.auroc.n:
        return []
    labelled = [each for each in calibration.answers if each.score is not None]
    settings = score_settings(run)
    others = _others(metric, records, {each.answer for each in labelled}, settings.cluster)
    found = _corrected([each.label for each in labelled], _judged_part(labelled), others, settings.confidence)
    counts = {"labels": len(labelled), "others": len(others.values)}
    return [_told(method, mean, metric, counts) for method, mean in found.items() if mean is not None]


def _judged_part(labelled: Sequence[LabelledAnswer]) -> Part:
    return Part([each.score or 0.0 for each in labelled], [each.cluster for each in labelled])


def _corrected(labels: Sequence[float], judged: Part, others: Part, confidence: float) -> dict[str, Corrected | None]:
    """By method; Rogan and Gladen's where all are yes or no."""
    powered = prediction_powered_mean(labels, judged, others, confidence=confidence)
    if not {*labels, *judged.values, *others.values} <= {0.0, 1.0}:
        return {"prediction-powered": powered}
    said, called = [label == 1 for label in labels], [score == 1 for score in judged.values]
    return {
        "prediction-powered": powered,
        "rogan-gladen": rogan_gladen(said, called, others, judged.clusters, confidence),
    }


def _told(method: str, mean: Corrected, metric: BaseMetric, counts: dict[str, int]) -> CorrectedMean:
    """On the scale of the metric."""
    low, high = metric.low or 0.0, metric.high or 1.0
    value, ends = mean.value, mean.interval
    data = {
        "method": method,
        "value": low + (high - low) * value,
        "ci": (low + (high - low) * ends[0], low + (high - low) * ends[1]),
        "power": mean.power,
        **counts,
    }
    return CorrectedMean.model_validate(data)


def _others(metric: BaseMetric, records: Sequence[EvalRecord], labelled: set[str], cluster: str) -> Part:
    """The judge's scores, from 0 to 1, of the answers without a label."""
    low, high = metric.low or 0.0, metric.high or 1.0
    values, clusters = [], []
    for record in records:
        value = next((score.value for score in record.scores if score.name == metric.name), None)
        if value is None or record.response is None or answer_hash(record.question, record.response) in labelled:
            continue
        values.append((value - low) / (high - low))
        clusters.append(cluster_of(record.question, cluster))
    return Part(values, clusters)
