"""A judge held against people's labels, and the card of that on the runs of the same judge."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import fmean, median_low
from typing import Any

from evals.errors import ConfigError, DatasetError
from evals.judges.prompts import load_prompt
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judge_tasks import chain
from evals.metrics.judged import REPEATS
from evals.metrics.registry import known_metric
from evals.metrics.sample import ABSTENTION
from evals.schemas.calibration import Agreement, Calibration, Disagreement, Figure, JudgeCard, LabelledAnswer
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import Prompt
from evals.scoring.config import SCORE
from evals.scoring.stats import wilson
from evals.text.numbers import agree

# How people's labels are read: as worths from 0 to 1.

Label = str | float

_YES_AND_NO = {
    **dict.fromkeys(("yes", "y", "true", "right", "correct", "pass", "good", "supported", "adherent"), 1.0),
    **dict.fromkeys(("no", "n", "false", "wrong", "incorrect", "fail", "bad", "unsupported", "not_adherent"), 0.0),
}

_UNDECIDED = frozenset({"cannot_tell", "?", "unsure", "skip", "n/a"})


@dataclass(frozen=True, slots=True)
class Scale:
    """How labels are read.

    Attributes:
        words: What it is called.
        values: The worth of each word; empty where labels are numbers.
        low: The number that is worth 0.
        high: That which is worth 1.
        cut: From this worth on an answer counts as good.
        graded: Whether the mean of several annotators' labels means something; else most of them decide.
        shared: Whether judge and people have the same few words: these are what is agreed on; else good or not is.
    """

    words: str
    values: Mapping[str, float] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0
    cut: float = 1.0
    graded: bool = False
    shared: bool = False

    def worth(self, label: Label | None, where: str) -> float | None:
        """A label from 0 to 1; None if the annotator could not tell.

        Raises:
            DatasetError: It is not of the scale.
        """
        if label is None or label in _UNDECIDED:
            return None
        found: float | None = self.values.get(label) if isinstance(label, str) else None
        if isinstance(label, float) and not self.values:
            found = (label - self.low) / (self.high - self.low)
        if found is None or not 0 <= found <= 1:
            raise DatasetError(f"{where}: label {label!r} is not one of {self.words}")
        return found

    def together(self, worths: Sequence[float]) -> float:
        """The label of several annotators: the mean of grades; else the middle one, of two the worse."""
        return fmean(worths) if self.graded else median_low(worths)

    def named(self, worth: float) -> str:
        """A worth in words: the metric's label, else good or not."""
        if self.shared:
            return next((word for word, value in self.values.items() if value == worth), f"{worth:g}")
        return "good" if worth >= self.cut else "not good"


def scale_of(labels: Sequence[Label], metric: BaseMetric, declared: str | None) -> Scale:
    """The scale that labels are on: words of the metric, yes and no, 0 and 1, shares, -2 to 2, or as it is declared.

    Raises:
        ConfigError: The scale of the numbers is unknown, or that which is declared is none.
    """
    numbers = {label for label in labels if isinstance(label, float)}
    if declared is not None:
        try:
            low, high = map(float, declared.split(","))
        except ValueError:
            low = high = 0.0
        if low == high:
            hint = "give the label of the worst answer and that of the best: --scale 1,5"
            raise ConfigError(f"not a scale: {declared!r}", hint)
        return Scale(f"numbers from {low:g} (worst) to {high:g}", {}, low, high, cut=0.5 + 1e-9, graded=True)
    if not numbers:
        low, high = metric.low or 0.0, metric.high or 1.0
        own = {_plain(word): (value - low) / (high - low) for word, value in getattr(metric, "scale", {}).items()}
        if own and set(labels) - _UNDECIDED <= own.keys():
            return Scale(", ".join(own), own, shared=True)
        return Scale("yes and no", {**_YES_AND_NO, **own})
    if numbers <= {0.0, 1.0}:
        return Scale("0 and 1")
    if all(0 <= number <= 1 for number in numbers):
        return Scale("shares from 0 to 1", graded=True)
    if numbers <= {-2.0, -1.0, 0.0, 1.0, 2.0}:
        return Scale("-2 to 2", {}, -2.0, 2.0, cut=0.75, graded=True)
    raise ConfigError(
        f"labels from {min(numbers):g} to {max(numbers):g}: it is not stated which of them is good",
        "give the label of the worst answer and that of the best: --scale 1,5",
    )


def _plain(word: str) -> str:
    return word.casefold().replace(" ", "_")


# How far scores agree with labels.


def figures_of(
    answers: Sequence[LabelledAnswer], quotes: Sequence[str | None], scale: Scale, score_cut: float, confidence: float
) -> dict[str, Any]:
    """The figures of a `Calibration`, by its fields.

    Args:
        answers: The labelled answers.
        quotes: What the judge quotes for its score of each.
        scale: How their labels were read.
        score_cut: From here on a score counts as good.
        confidence: Of the intervals.
    """
    judged = [(each, each.score, quote) for each, quote in zip(answers, quotes, strict=True) if each.score is not None]
    scores = replace(scale, cut=score_cut)
    pairs = [(scale.named(answer.label), scores.named(score)) for answer, score, _ in judged]
    good = [(answer.label >= scale.cut, score >= score_cut) for answer, score, _ in judged]
    confusion: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for label, verdict in pairs:
        confusion[label][verdict] += 1

    def rate(hits: Sequence[bool], reason: str) -> Figure:
        if not hits:
            return Figure(reason=reason)
        ci = wilson(sum(hits), len(hits), confidence)
        return Figure(value=fmean(hits), ci=ci, n=len(hits))

    def mean(values: Sequence[float]) -> Figure:
        return Figure(value=fmean(values), n=len(values)) if values else Figure()

    return {
        "judge": Agreement(
            agreement=rate([one == other for one, other in pairs], "no answer has both a label and a score"),
            kappa=cohen_kappa(pairs),
            sensitivity=rate([called for truth, called in good if truth], "people call no answer good"),
            specificity=rate([not called for truth, called in good if not truth], "people call every answer good"),
        ),
        "confusion": {label: dict(counts) for label, counts in sorted(confusion.items())},
        "disagreements": [
            Disagreement(id=answer.id, label=label, judged=verdict, quote=quote)
            for (answer, _, quote), (label, verdict) in zip(judged, pairs, strict=True)
            if label != verdict
        ],
        "label_mean": mean([answer.label for answer, _, _ in judged]),
        "score_mean": mean([score for _, score, _ in judged]),
    }


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> Figure:
    """Agreement beyond chance: (p_o - p_e) / (1 - p_e) (Cohen 1960), with the interval of its large-sample error."""
    n = len(pairs)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    chance = sum(first[label] * second[label] for label in first) / n**2 if n else 1.0
    if chance == 1:
        return Figure(n=n, reason="both give one label alone")
    observed = sum(one == other for one, other in pairs) / n
    value = (observed - chance) / (1 - chance)
    half = 1.96 * (observed * (1 - observed) / n) ** 0.5 / (1 - chance)
    return Figure(value=value, ci=(max(-1.0, value - half), min(1.0, value + half)), n=n)


# Which calibration is of the judge of a run: of the same model, effort and wording of the prompts.


def asks_judge(name: str) -> bool:
    """Whether the metric of this name needs a judge; False for an unknown metric."""
    metric = known_metric(name)
    return metric is not None and Need.JUDGE in metric.needs


def hashes_of(metric: BaseMetric, load: Callable[[str | Prompt], Prompt] = load_prompt) -> dict[str, str]:
    """The prompts that a metric is judged by, by task; empty for one that says nothing of its tasks."""
    return {each.name: load(each.prompt).hash for each in chain(getattr(metric, "inquiries", ()))}


def find_calibration(
    metric: str, model: str, effort: str | None, hashes: Mapping[str, str], known: Iterable[Calibration]
) -> Calibration | None:
    """The newest calibration of this metric with this model and effort whose prompts are the same, if any.

    Args:
        metric: Its name.
        model: As it is asked for.
        effort: None where none is set.
        hashes: Of the prompts by task; more than those of the metric do no harm.
        known: All calibrations.
    """

    def fits(each: Calibration) -> bool:
        shared = (each.prompt_hashes.keys() & hashes.keys()) - {ABSTENTION}  # which is not always asked for
        same_prompts = bool(shared) and all(each.prompt_hashes[name] == hashes[name] for name in shared)
        return same_prompts and (each.metric, each.model, each.effort) == (metric, model, effort)

    return max(filter(fits, known), key=lambda each: each.created_at, default=None)


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
        what = f"a gate is on {' and '.join(on)}, and the judge {model} was never calibrated for that"
        label = "label answers of a run without this gate (evals review last --metric NAME)"
        allow = "permit the gate: --allow-uncalibrated, or allow_uncalibrated: true"
        hint = f"{label} and calibrate by them (evals calibrate), or {allow}"
        raise ConfigError(f"{what}: it is unknown how often it is wrong", hint)


def with_cards(run: EvalRun, known: Iterable[Calibration]) -> EvalRun:
    """The run with the card of its judge by each judged metric; one that it holds stays where there is no newer one."""
    if run.judge is None:
        return run
    every, judge, cards = list(known), run.judge, dict[str, JudgeCard | None]()
    for summary in run.scorecard.metrics:
        if asks_judge(summary.name) and summary.value is not None:
            newest = find_calibration(summary.name, judge.model, judge.effort, judge.prompt_hashes, every)
            cards[summary.name] = card_of(newest) if newest else judge.cards.get(summary.name)
    return run.model_copy(update={"judge": judge.model_copy(update={"cards": cards})})


def card_of(calibration: Calibration) -> JudgeCard:
    """The calibration as reports show it."""
    labels = sum(answer.score is not None for answer in calibration.answers)
    return JudgeCard(labels=labels, created_at=calibration.created_at, **dict(calibration.judge))


# What the scores of a judged run say of its judge: whether length pays, and how often repeats change a score.


def with_facts(run: EvalRun, records: Iterable[EvalRecord]) -> EvalRun:
    """The run with what its scored records say of its judge; itself where none took part."""
    if run.judge is None:
        return run
    judged = {summary.name for summary in run.scorecard.metrics if asks_judge(summary.name)}
    flips: defaultdict[str, list[float]] = defaultdict(list)
    lengths: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
    for record in records:
        words = len(((record.response and record.response.answer) or "").split())
        for score in (score for score in record.scores if score.name in judged):
            pairs = list(combinations(score.details.get(REPEATS) or (), 2))
            if pairs:
                flips[score.name].append(fmean(one != other for one, other in pairs))
            if score.value is not None and words:
                lengths[score.name].append((score.value, words))
    of_answers = [name for name in lengths if (metric := known_metric(name)) is not None and metric.of_answer]
    facts = {
        "length_correlations": {name: spearman(lengths[name]) for name in of_answers},
        "score_flip_rates": {name: fmean(each) for name, each in flips.items()},
    }
    return run.model_copy(update={"judge": run.judge.model_copy(update=facts)})


def spearman(pairs: Sequence[tuple[float, float]]) -> Figure:
    """The correlation of ranks, ties at their mean rank (Spearman 1904)."""
    import numpy as np  # noqa: PLC0415 - a saved run is shown without it

    ranks = []
    for column in zip(*pairs, strict=True):
        _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks.append((counts.cumsum() - (counts - 1) / 2)[place])
    if len(pairs) < 2 or not all(rank.std() > 0 for rank in ranks):
        return Figure(n=len(pairs), reason="scores or lengths are all the same")
    return Figure(value=float(np.corrcoef(ranks[0], ranks[1])[0, 1]), n=len(pairs))
