"""Means of what people would say, from few of their labels and many verdicts of a judge.

A judge's own mean is biased by what it gets wrong. Prediction-powered inference (Angelopoulos et al. 2023) takes the
judge's mean over all answers and corrects it by the judge's errors where there are labels; PPI++ (2023) weighs the
judge by lambda, which is 0 where its verdicts are of no use, so that it is never much worse than the labels alone.
Rogan & Gladen (1978) correct a rate of yes by the judge's sensitivity and specificity (adjusted classify-and-count).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import fmean, variance

from evals.stats.clusters import Grouped, group, standard_error
from evals.stats.distributions import t_quantile
from evals.stats.intervals import Interval
from evals.stats.means import pseudo_weight, with_pseudo_values

_FEWEST_LABELS = 10
_TOGETHER = 2.0


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected mean.

    Attributes:
        value: In the range of the labels.
        interval: Its ends.
        power: The weight lambda of the judge, 0 to 1; None where the method has none.
    """

    value: float
    interval: Interval
    power: float | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Values with their clusters.

    Attributes:
        values: In any order.
        clusters: What each belongs to; None where all are independent.
    """

    values: Sequence[float]
    clusters: Sequence[str] | None = None


def prediction_powered_mean(
    labels: Sequence[float], judged: Part, others: Part, *, confidence: float = 0.95
) -> Corrected | None:
    """The mean of labels between 0 and 1 over all answers, of which few are labelled.

    Formula: lambda * mean(others) + mean(label - lambda * judged), with
    lambda = Cov(label, judged) / ((1 + n/N) Var(judged)), kept within 0 and 1; its variance is the sum of those of the
    two means. Errors of both are cluster-robust, and count one error of either kind beside those that were seen.

    Args:
        labels: Of the n answers that people have labelled.
        judged: The judge's scores of the same answers, in the same order.
        others: Its scores of the N answers without a label; there may be none.
        confidence: In (0.5, 1).

    Returns:
        None with fewer than ten labels.
    """
    if len(labels) < _FEWEST_LABELS:
        return None
    power = _power(labels, judged.values, others.values)
    errors = [label - power * score for label, score in zip(labels, judged.values, strict=True)]
    error, df = _bounded_error(errors, judged.clusters, -power, 1.0, confidence)
    value, squared = fmean(errors), error * error
    if power:
        value += power * fmean(others.values)
        squared += (power * _bounded_error(others.values, others.clusters, 0.0, 1.0, confidence)[0]) ** 2
    half = t_quantile(0.5 + confidence / 2, df) * sqrt(squared)
    value = max(0.0, min(1.0, value))
    return Corrected(value, (max(0.0, value - half), min(1.0, value + half)), power)


def _power(labels: Sequence[float], judged: Sequence[float], others: Sequence[float]) -> float:
    """The weight of the judge that makes the variance least."""
    every = [*judged, *others]
    if not others or variance(every) == 0:
        return 0.0
    mean, own = fmean(labels), fmean(judged)
    shared = fsum((a - mean) * (b - own) for a, b in zip(labels, judged, strict=True)) / (len(labels) - 1)
    return max(0.0, min(1.0, shared / ((1 + len(labels) / len(others)) * variance(every))))


def rogan_gladen(
    labels: Sequence[bool], judged: Sequence[bool], others: Part, clusters: Sequence[str] | None, confidence: float
) -> Corrected | None:
    """The share of answers that people would say yes to, where a judge says yes or no.

    Formula: (rate + specificity - 1) / (sensitivity + specificity - 1), kept within 0 and 1; its interval by the delta
    method. The labelled answers may have another share of yes than the others, but not other errors.

    Args:
        labels: What people say of some answers.
        judged: What the judge says of the same.
        others: The judge's verdicts of all other answers, 1 for yes and 0 for no; at least one.
        clusters: Of the labelled answers.
        confidence: In (0.5, 1).

    Returns:
        None where people gave one label alone, or the judge is no better than chance.
    """
    kinds = [_said_yes(labels, judged, clusters, kind) for kind in (True, False)]
    if min(len(kind.values) for kind in kinds) < 2 or not others.values:
        return None
    (hit, hit_error, few), (alarm, alarm_error, fewer) = (_rate(kind, confidence) for kind in kinds)
    rate, rate_error, _ = _rate(others, confidence)
    better = hit - alarm
    if better <= 0:
        return None
    value = max(0.0, min(1.0, (rate - alarm) / better))
    error = sqrt(rate_error**2 + (value * hit_error) ** 2 + ((1 - value) * alarm_error) ** 2) / better
    half = t_quantile(0.5 + confidence / 2, max(1.0, min(few, fewer))) * error
    return Corrected(value, (max(0.0, value - half), min(1.0, value + half)))


def _said_yes(labels: Sequence[bool], judged: Sequence[bool], clusters: Sequence[str] | None, kind: bool) -> Part:
    """The judge's verdicts, 1 for yes, of the answers of which people say this."""
    places = [place for place, label in enumerate(labels) if label is kind]
    return Part([float(judged[at]) for at in places], None if clusters is None else [clusters[at] for at in places])


def _rate(part: Part, confidence: float) -> tuple[float, float, float]:
    """A rate, its standard error and the error's degrees of freedom."""
    return fmean(part.values), *_bounded_error(part.values, part.clusters, 0.0, 1.0, confidence)


def _bounded_error(
    values: Sequence[float], clusters: Sequence[str] | None, low: float, high: float, confidence: float
) -> tuple[float, float]:
    """The standard error of a mean of bounded values, which is never 0, and its degrees of freedom."""
    grouped: Grouped = group(values, clusters)
    sums, sizes = with_pseudo_values(values, grouped, low, high, pseudo_weight(confidence), _TOGETHER)
    _, error, df = standard_error(sums, sizes)
    return error, df
