"""How far scores agree with labels, each figure with an interval over clusters of questions."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.schemas.calibration import Agreement, Figure
from evals.stats import mean_interval
from evals.stats.agreement import cohen_kappa, gwet_ac1
from evals.stats.auroc import auroc_interval, halves
from evals.stats.correlation import Numbers, auroc, kendall, pearson, spearman
from evals.stats.jackknife import Statistic, jackknife_interval

_NONE_GOOD = "people call no answer good"
_ALL_GOOD = "people call every answer good"
_NO_SPREAD = "one of the two does not vary"
_NO_ANSWERS = "no answer has both a label and a score"


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels beside scores of the same answers, both from 0 to 1.

    Attributes:
        labels: What people say.
        scores: What the other reader says.
        clusters: Which question or document each belongs to.
        label_cut: From here on a label counts as good.
        score_cut: From here on a score does.
        levels: Where labels and scores have these few values alone, they are what is agreed on; else good or not is.
        confidence: Of the intervals.
        resampled: Whether figures that are no means, nor an AUROC, have intervals: these take their time.
    """

    labels: Numbers
    scores: Numbers
    clusters: Sequence[str]
    label_cut: float = 1.0
    score_cut: float = 1.0
    levels: frozenset[float] = frozenset()
    confidence: float = 0.95
    resampled: bool = True

    @property
    def good(self) -> list[bool]:
        """Of each answer whether people call it good."""
        return [label >= self.label_cut for label in self.labels]

    @property
    def called_good(self) -> list[bool]:
        """Of each answer whether the other reader does."""
        return [score >= self.score_cut for score in self.scores]

    @property
    def categories(self) -> tuple[list[float], list[float]]:
        """What is agreed on, of both."""
        if self.levels and self.levels.issuperset([*self.labels, *self.scores]):
            return list(self.labels), list(self.scores)
        return list(map(float, self.good)), list(map(float, self.called_good))


def agreement_of(reading: Labelled) -> Agreement:
    """All figures of a reader who gives labels or scores."""
    if not reading.labels:
        return _without(_NO_ANSWERS)
    first, second = reading.categories
    good, called = reading.good, [float(yes) for yes in reading.called_good]
    same = [float(one == other) for one, other in zip(first, second, strict=True)]
    kinds = max(len(reading.levels) if (first, second) == (reading.labels, reading.scores) else 2, 2)
    return order_of(reading).model_copy(
        update={
            "agreement": rate(same, reading.clusters, reading.confidence),
            "kappa": _resampled(
                lambda at: cohen_kappa(_take(first, at), _take(second, at)), reading, "both give one label alone"
            ),
            "ac1": _resampled(lambda at: gwet_ac1(_take(first, at), _take(second, at), kinds), reading),
            "sensitivity": _rate_where(called, good, reading, _NONE_GOOD),
            "specificity": _rate_where([1 - yes for yes in called], [not yes for yes in good], reading, _ALL_GOOD),
        }
    )


def order_of(reading: Labelled) -> Agreement:
    """The figures of a reader who only orders answers: its numbers are no labels."""
    if not reading.labels:
        return _without(_NO_ANSWERS)
    no_label = Figure(n=len(reading.labels), reason="its numbers are no labels")
    return Agreement(
        agreement=no_label,
        kappa=no_label,
        ac1=no_label,
        sensitivity=no_label,
        specificity=no_label,
        auroc=_auroc(reading),
        pearson=_correlation(pearson, reading),
        spearman=_correlation(spearman, reading),
        kendall=_correlation(kendall, reading),
    )


def most_frequent(reading: Labelled) -> Labelled:
    """The same labels beside a reader who gives all answers the label that is most frequent."""
    if not reading.labels:
        return reading
    common = Counter(reading.labels).most_common(1)[0][0]
    return Labelled(
        reading.labels,
        [common] * len(reading.labels),
        reading.clusters,
        reading.label_cut,
        reading.label_cut,
        reading.levels,
        reading.confidence,
    )


def rate(values: Numbers, clusters: Sequence[str], confidence: float) -> Figure:
    """The mean of values from 0 to 1."""
    if not values:
        return Figure(reason=_NO_ANSWERS)
    found = mean_interval(values, clusters, low=0.0, high=1.0, confidence=confidence)
    return Figure(value=sum(values) / len(values), ci=found.interval if found else None, n=len(values))


def _rate_where(values: Numbers, chosen: Sequence[bool], reading: Labelled, reason: str) -> Figure:
    places = [place for place, yes in enumerate(chosen) if yes]
    if not places:
        return Figure(reason=reason)
    return rate(_take(values, places), [reading.clusters[at] for at in places], reading.confidence)


def _auroc(reading: Labelled) -> Figure:
    good = reading.good
    above, below = halves(reading.scores, good)
    value = auroc(above, below)
    if value is None:
        return Figure(n=len(good), reason=_ALL_GOOD if above else _NONE_GOOD)
    ci = auroc_interval(reading.scores, good, reading.clusters, confidence=reading.confidence)
    return Figure(value=value, ci=ci, n=len(good))


def _correlation(statistic: Callable[[Numbers, Numbers], float | None], reading: Labelled) -> Figure:
    return _resampled(
        lambda at: statistic(_take(reading.labels, at), _take(reading.scores, at)), reading, _NO_SPREAD, straight=False
    )


def _resampled(statistic: Statistic, reading: Labelled, reason: str | None = None, *, straight: bool = True) -> Figure:
    n = len(reading.labels)
    value = statistic(range(n))
    if value is None:
        return Figure(n=n, reason=reason)
    if not reading.resampled:
        return Figure(value=value, n=n)
    ci = jackknife_interval(statistic, n, reading.clusters, confidence=reading.confidence, correlation=not straight)
    return Figure(value=value, ci=ci, n=n)


def _take(values: Numbers, places: Sequence[int]) -> list[float]:
    return [values[place] for place in places]


def _without(reason: str) -> Agreement:
    nothing = Figure(reason=reason)
    return Agreement(**dict.fromkeys(Agreement.model_fields, nothing))
