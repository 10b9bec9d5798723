"""Calibration: a judge compared with human labels, and means corrected for its bias."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import combinations
from statistics import fmean
from typing import Any

from evals.errors import ConfigError
from evals.judges.prompt import load_prompt
from evals.judges.record import pairwise_disagreement
from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.judge_tasks import chain
from evals.metrics.judged import REPEATS
from evals.metrics.registry import known_metric
from evals.metrics.sample import ABSTENTION
from evals.schemas.calibration import (
    Agreement,
    Calibration,
    CorrectedMean,
    Figure,
    JudgeCard,
    LabelledAnswer,
    Preference,
)
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import Prompt
from evals.scoring.config import SCORE
from evals.scoring.label_scale import Scale
from evals.scoring.run_columns import cluster_of
from evals.scoring.settings import score_settings
from evals.scoring.stats.agreement import Numbers, auroc, cohen_kappa, gwet_ac1, kendall, pearson, spearman
from evals.scoring.stats.differences import MOST_GROUPS, jackknife_interval
from evals.scoring.stats.means import mean_interval
from evals.scoring.stats.missing import Corrected, Part, prediction_powered_mean
from evals.text.numbers import agree

# How far scores agree with labels, each figure with an interval over clusters of questions.


PairStatistic = Callable[[Numbers, Numbers], float | None]
"""Of two readers' numbers; None where it is undefined."""

_NONE_GOOD = "people call no answer good"

_ALL_GOOD = "people call every answer good"

_NO_SPREAD = "one of the two does not vary"

_NO_ANSWERS = "no answer has both a label and a score"


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels and scores of the same answers, both from 0 to 1.

    Attributes:
        labels: What people say.
        scores: What the other reader says.
        clusters: Which question or document each belongs to.
        label_cut: From here on a label counts as good.
        score_cut: From here on a score does.
        levels: Where labels and scores have these few values alone, they are what is agreed on; else good or not is.
        confidence: Of the intervals.
    """

    labels: Numbers
    scores: Numbers
    clusters: Sequence[str]
    label_cut: float = 1.0
    score_cut: float = 1.0
    levels: frozenset[float] = frozenset()
    confidence: float = 0.95

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

    def correlated(self, statistic: PairStatistic, groups: int = MOST_GROUPS) -> Figure:
        """A correlation of labels and scores."""
        return self.resampled(statistic, self.labels, self.scores, _NO_SPREAD, correlation=True, groups=groups)

    def resampled(
        self, statistic: PairStatistic, first: Numbers, second: Numbers, reason: str | None, **how: Any
    ) -> Figure:
        """A statistic of two readers with its jackknife interval; the reason where it is undefined."""
        n, value = len(first), statistic(first, second)
        if value is None:
            return Figure(n=n, reason=reason)

        def of_places(places: Sequence[int]) -> float | None:
            return statistic(_take(first, places), _take(second, places))

        ci = jackknife_interval(of_places, n, self.clusters, confidence=self.confidence, **how)
        return Figure(value=value, ci=ci, n=n)


def agreement_of(reading: Labelled) -> Agreement:
    """All statistics of agreement between labels and scores."""
    if not reading.labels:
        return order_of(reading)
    first, second = reading.categories
    good, called = reading.good, [float(yes) for yes in reading.called_good]
    same = [float(one == other) for one, other in zip(first, second, strict=True)]
    kinds = max(len(reading.levels), 2) if (first, second) == (reading.labels, reading.scores) else 2
    return order_of(reading).model_copy(
        update={
            "agreement": rate(same, reading.clusters, reading.confidence),
            "kappa": reading.resampled(cohen_kappa, first, second, "both give one label alone"),
            "ac1": reading.resampled(partial(gwet_ac1, labels=kinds), first, second, None),
            "sensitivity": _rate_where(called, good, reading, _NONE_GOOD),
            "specificity": _rate_where([1 - yes for yes in called], [not yes for yes in good], reading, _ALL_GOOD),
        }
    )


def order_of(reading: Labelled) -> Agreement:
    """The figures of a reader who only orders answers: its numbers are no labels."""
    n, good = len(reading.labels), list(map(float, reading.good))
    if not n:
        return Agreement(**dict.fromkeys(Agreement.model_fields, Figure(reason=_NO_ANSWERS)))
    one_kind = _ALL_GOOD if all(good) else _NONE_GOOD
    beyond = reading.resampled(_beyond_chance, good, reading.scores, one_kind, correlation=True)
    value, ci = (0.5 + (beyond.value or 0.0) / 2, beyond.ci and (0.5 + beyond.ci[0] / 2, 0.5 + beyond.ci[1] / 2))
    figures = dict.fromkeys(Agreement.model_fields, Figure(n=n, reason="its numbers are no labels"))
    figures |= {
        "auroc": beyond if beyond.value is None else Figure(value=value, ci=ci, n=n),
        "pearson": reading.correlated(pearson),
        "spearman": reading.correlated(spearman),
        "kendall": reading.correlated(kendall),
    }
    return Agreement(**figures)


def _beyond_chance(positive: Numbers, scores: Numbers) -> float | None:
    """The AUROC on a scale from -1 to 1, with 0 for chance, on which it has an interval as correlations have."""
    area = auroc(positive, scores)
    return None if area is None else 2 * area - 1


def most_frequent(reading: Labelled) -> Labelled:
    """The same labels compared with a reader who gives all answers the label that is most frequent."""
    common = [label for label, _ in Counter(reading.labels).most_common(1)]
    return replace(reading, scores=common * len(reading.labels), score_cut=reading.label_cut)


def rate(values: Numbers, clusters: Sequence[str], confidence: float) -> Figure:
    """The mean of values from 0 to 1."""
    if not values:
        return Figure(reason=_NO_ANSWERS)
    found = mean_interval(values, clusters, low=0.0, high=1.0, confidence=confidence)
    return Figure(value=sum(values) / len(values), ci=found.interval if found else None, n=len(values))


def _rate_where(values: Numbers, chosen: Sequence[bool], reading: Labelled, reason: str) -> Figure:
    places = [place for place, yes in enumerate(chosen) if yes]
    clusters = [reading.clusters[at] for at in places]
    return rate(_take(values, places), clusters, reading.confidence) if places else Figure(reason=reason)


def _take(values: Numbers, places: Sequence[int]) -> list[float]:
    return [values[place] for place in places]


# Which calibration is of the judge of a run: of the same model, effort and wording of the prompts.


def asks_judge(name: str) -> bool:
    """Whether the metric of this name needs a judge; False for an unknown metric."""
    metric = known_metric(name)
    return metric is not None and Need.JUDGE in metric.needs


def hashes_of(metric: BaseMetric, load: Callable[[str | Prompt], Prompt] = load_prompt) -> dict[str, str]:
    """The prompts that a metric is judged by, by inquiry; empty for one that says nothing of its inquiries."""
    return {each.name: load(each.prompt).hash for each in chain(getattr(metric, "inquiries", ()))}


def find_calibration(
    metric: str, model: str, effort: str | None, hashes: Mapping[str, str], known: Iterable[Calibration]
) -> Calibration | None:
    """The newest calibration of this metric with this model and effort whose prompts are the same, if any.

    Args:
        metric: Its name.
        model: As it is asked for.
        effort: None where none is set.
        hashes: Of the prompts by inquiry; more than those of the metric do no harm.
        known: All calibrations.
    """
    fitting = [
        each
        for each in known
        if (each.metric, each.model, each.effort) == (metric, model, effort) and _same(each.prompt_hashes, hashes)
    ]
    return max(fitting, key=lambda each: each.created_at, default=None)


def refuse_uncalibrated(gated: Collection[str], never: Iterable[str], feeding: Collection[str], model: str) -> None:
    """Raise an error if a gate is on a judged metric for which the judge was never calibrated.

    Args:
        gated: What the gates are on.
        never: The judged metrics by which the judge was never calibrated.
        feeding: The metrics that the weighted score is made of.
        model: Of the judge.

    Raises:
        ConfigError: A gate is on such a metric, or on a weighted score that such metrics feed.
    """
    lacking = list(never)
    of_score = [name for name in lacking if name in feeding and SCORE in gated]
    on = [name for name in lacking if name in gated]
    if of_score:
        on.append(f"{SCORE}, which {' and '.join(of_score)} {agree(len(of_score), 'feeds', 'feed')}")
    if on:
        raise ConfigError(
            f"a gate is on {' and '.join(on)}, and the judge {model} was never calibrated for that: it is unknown "
            "how often it is wrong",
            "label answers of a run without this gate (evals review last --metric NAME) and calibrate by them (evals "
            "calibrate), or permit the gate: --allow-uncalibrated, or allow_uncalibrated: true",
        )


def _same(theirs: Mapping[str, str], ours: Mapping[str, str]) -> bool:
    """Whether the prompts that both asked by are the same; whether an answer declines is not always asked."""
    shared = (theirs.keys() & ours.keys()) - {ABSTENTION}
    return bool(shared) and all(theirs[name] == ours[name] for name in shared)


# The judge's card of a run, and its means without the judge's bias.


_MEANS = frozenset({Aggregation.MEAN, Aggregation.RATE})


def answer_hash(question: EvalQuestion, response: EvalResponse) -> str:
    """The hash that identifies an answer in any run."""
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
        summary.name: find_calibration(summary.name, judge.model, judge.effort, judge.prompt_hashes, every)
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
    """The calibration card of a report."""
    figures = {
        name: getattr(calibration.judge, name) for name in Agreement.model_fields if name in JudgeCard.model_fields
    }
    labels = sum(answer.score is not None for answer in calibration.answers)
    return JudgeCard(labels=labels, created_at=calibration.created_at, **figures)


def corrected_means(calibration: Calibration, run: EvalRun, records: Sequence[EvalRecord]) -> list[CorrectedMean]:
    """The mean of a metric without the judge's bias; none where labels only compare, or are fewer than ten.

    Labelled answers are left out of the run's others, so that none counts twice.
    """
    metric = known_metric(calibration.metric)
    if metric is None or metric.aggregation not in _MEANS or not calibration.judge.auroc.n:
        return []
    told = [each for each in calibration.answers if each.score is not None]
    settings, labels = score_settings(run), [each.label for each in told]
    judged = _judged(told)
    others = _others(metric, records, frozenset(each.answer for each in told), settings.cluster)
    mean = prediction_powered_mean(labels, judged, others, confidence=settings.confidence)
    return [] if mean is None else [_on_scale(mean, metric, len(labels), len(others.values))]


def _judged(labelled: Sequence[LabelledAnswer]) -> Part:
    return Part([each.score or 0.0 for each in labelled], [each.cluster for each in labelled])


def _on_scale(mean: Corrected, metric: BaseMetric, labels: int, others: int) -> CorrectedMean:
    """A mean from 0 to 1 on the scale of the metric."""
    low, high = metric.low or 0.0, metric.high or 1.0
    value, first, last = (low + (high - low) * number for number in (mean.value, *mean.interval))
    counts = {"labels": labels, "others": others}
    return CorrectedMean(method="prediction-powered", value=value, ci=(first, last), power=mean.power, **counts)


def _others(metric: BaseMetric, records: Sequence[EvalRecord], labelled: Set[str], cluster: str) -> Part:
    """The judge's scores, from 0 to 1, of the answers without a label."""
    low, high = metric.low or 0.0, metric.high or 1.0
    values, clusters = list[float](), list[str]()
    for record in records:
        value = next((score.value for score in record.scores if score.name == metric.name), None)
        if value is not None and record.response and answer_hash(record.question, record.response) not in labelled:
            values.append((value - low) / (high - low))
            clusters.append(cluster_of(record.question, cluster))
    return Part(values, clusters)


# A judge's calibration, computed from labelled answers with their scores.


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with the human label and the judge's score.

    Attributes:
        answer: As it is saved.
        labels: From 0 to 1, by annotator.
    """

    answer: LabelledAnswer
    labels: dict[str, float] = field(default_factory=dict)


def figures_of(
    judged: Sequence[Judged], scale: Scale, *, score_cut: float, confidence: float, compares: bool = False
) -> dict[str, Any]:
    """The figures of a `Calibration`, by its fields.

    Args:
        judged: All labelled answers.
        scale: How their labels were read.
        score_cut: From here on a score counts as good.
        confidence: Of the intervals.
        compares: Whether labels say only which of several answers is better: then they say of none how good it is.
    """
    whole = [each for each in judged if each.answer.score is not None]
    told = [] if compares else [each.answer for each in whole]
    reading = Labelled(
        [answer.label for answer in told],
        [answer.score or 0.0 for answer in told],
        [answer.cluster for answer in told],
        scale.cut,
        score_cut,
        scale.levels,
        confidence,
    )
    return {
        "judge": agreement_of(reading),
        "annotators": _annotators(whole, scale, confidence),
        "always_the_same": agreement_of(most_frequent(reading)),
        "length": order_of(replace(reading, scores=[float(answer.words) for answer in told])),
        "preference": _preference(whole, confidence),
        "label_mean": rate(reading.labels, reading.clusters, confidence),
        "score_mean": rate(reading.scores, reading.clusters, confidence),
    }


def _annotators(judged: Sequence[Judged], scale: Scale, confidence: float) -> Agreement | None:
    """Each two annotators of an answer, one against the other; None where none has two."""
    pairs = [
        (one, other, each.answer.cluster)
        for each in judged
        for (_, one), (_, other) in combinations(sorted(each.labels.items()), 2)
    ]
    if not pairs:
        return None
    first, second, clusters = (list(column) for column in zip(*pairs, strict=True))
    found = agreement_of(Labelled(first, second, clusters, scale.cut, scale.cut, scale.levels, confidence))
    nobody = Figure(n=len(pairs), reason="no annotator is the truth")
    return found.model_copy(update={"sensitivity": nobody, "specificity": nobody, "auroc": nobody})


def _preference(judged: Sequence[Judged], confidence: float) -> Preference | None:
    """Over all pairs of answers to one question by two systems; None where there are none."""
    pairs = list(_pairs(judged))
    if not pairs:
        return None
    decided = [(one, other) for one, other in pairs if one.label != other.label]
    agreed = rate([_agreed(*pair) for pair in decided], [one.cluster for one, _ in decided], confidence)
    return Preference(
        pairs=len(pairs),
        tied=sum(one.score == other.score for one, other in pairs),
        agreement=agreed if decided else Figure(reason="people prefer no answer"),
    )


def _pairs(judged: Sequence[Judged]) -> Iterator[tuple[LabelledAnswer, LabelledAnswer]]:
    by_question: defaultdict[str, list[LabelledAnswer]] = defaultdict(list)
    for each in judged:
        if each.answer.system is not None:
            by_question[each.answer.id].append(each.answer)
    for answers in by_question.values():
        yield from combinations(answers, 2)


def _agreed(one: LabelledAnswer, other: LabelledAnswer) -> float:
    """Whether the better score is that of the better label; half where the scores are equal."""
    by_people, by_judge = one.label - other.label, (one.score or 0.0) - (other.score or 0.0)
    return 0.5 if by_judge == 0 else float((by_people > 0) == (by_judge > 0))


# What the scores of a judged run say of its judge: whether length pays, and how often repeats change a score.


_GROUPS = 50


def with_facts(run: EvalRun, records: Sequence[EvalRecord]) -> EvalRun:
    """The run with what its scored records say of its judge; itself where none took part."""
    if run.judge is None:
        return run
    judged = [summary.name for summary in run.scorecard.metrics if asks_judge(summary.name)]
    of_answers = [name for name in judged if (metric := known_metric(name)) is not None and metric.of_answer]
    flips = _flips(records)
    facts = {
        "length_correlations": {name: _correlation_with_length(run, records, name) for name in of_answers},
        "score_flip_rates": {name: flips[name] for name in judged if name in flips},
    }
    return run.model_copy(update={"judge": run.judge.model_copy(update=facts)})


def _flips(records: Iterable[EvalRecord]) -> dict[str, float]:
    """By metric, the chance that two repeats give one answer different scores."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        for score in record.scores:
            repeated = score.details.get(REPEATS)
            share = pairwise_disagreement(repeated) if isinstance(repeated, list) else None
            if share is not None:
                found[score.name].append(share)
    return {name: fmean(shares) for name, shares in found.items()}


def _correlation_with_length(run: EvalRun, records: Sequence[EvalRecord], name: str) -> Figure:
    """Spearman's correlation of score and number of words."""
    values, words, clusters = list[float](), list[float](), list[str]()
    settings = score_settings(run)
    for record in records:
        value = next((score.value for score in record.scores if score.name == name), None)
        if value is not None and record.response is not None and record.response.answer:
            values.append(value)
            words.append(len(record.response.answer.split()))
            clusters.append(cluster_of(record.question, settings.cluster))
    found = Labelled(values, words, clusters, confidence=settings.confidence).correlated(spearman, _GROUPS)
    if found.value is not None:
        return found
    return Figure(n=found.n, reason="scores or lengths are all the same" if found.n else "no answer has a score")
