"""What is known of the judge of a run: how it was calibrated, whether length pays, and how often repeats differ."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from evals.errors import ConfigError
from evals.judges.prompts import load_prompt
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judge_tasks import chain
from evals.metrics.judged import REPEATS
from evals.metrics.registry import known_metric
from evals.metrics.sample import ABSTENTION
from evals.schemas.calibration import Calibration, Figure, JudgeCard
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import Prompt
from evals.scoring.config import SCORE
from evals.text.numbers import agree

# Which calibration is of the judge of a run: of the same model, effort and wording of the prompts.


def asks_judge(name: str) -> bool:
    """Whether the metric of this name needs a judge; False for an unknown metric."""
    metric = known_metric(name)
    return metric is not None and Need.JUDGE in metric.needs


def hashes_of(metric: BaseMetric, load: Callable[[str | Prompt], Prompt] = load_prompt) -> dict[str, str]:
    """The prompts that a metric is judged by, by task; empty for one that says nothing of its tasks."""
    return {task.name: load(task.prompt).hash for task in chain(getattr(metric, "inquiries", ()))}


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

    def fits(card: Calibration) -> bool:
        shared = (card.prompt_hashes.keys() & hashes.keys()) - {ABSTENTION}  # which is not always asked for
        same_prompts = bool(shared) and all(card.prompt_hashes[name] == hashes[name] for name in shared)
        return same_prompts and (card.metric, card.model, card.effort) == (metric, model, effort)

    return max(filter(fits, known), key=lambda card: card.created_at, default=None)


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

    # Twice the mean rank of each, less a constant: how many are below it, and how many at most it.
    columns = [(np.sort(column), column) for column in zip(*pairs, strict=True)]
    ranks = [np.searchsorted(known, column) + np.searchsorted(known, column, "right") for known, column in columns]
    if len(pairs) < 2 or not all(rank.std() > 0 for rank in ranks):
        return Figure(n=len(pairs), reason="scores or lengths are all the same")
    return Figure(value=float(np.corrcoef(ranks[0], ranks[1])[0, 1]), n=len(pairs))
