"""What is known of the judge of a run: how it was calibrated, and whether length pays."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from evals.errors import ConfigError
from evals.judges.prompts import load_prompt
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judge_tasks import chain
from evals.metrics.registry import known_metric
from evals.metrics.sample import ABSTENTION
from evals.schemas.calibration import Calibration, Figure, JudgeCard
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import Prompt
from evals.scoring.config import SCORE

# Which calibration is of the judge of a run: of the same model, effort and wording of the prompts.


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
    on = [name for name in never if name in gated or (SCORE in gated and name in feeding)]
    if on:
        score = f" (or on {SCORE}, which is made of it)" if SCORE in gated else ""
        what = f"a gate is on {' and '.join(on)}{score}, and the judge {model} was never calibrated for that"
        label = "label answers of a run without this gate (evals review last --metric NAME)"
        allow = "permit the gate: --allow-uncalibrated, or allow_uncalibrated: true"
        hint = f"{label} and calibrate by them (evals calibrate), or {allow}"
        raise ConfigError(f"{what}: it is unknown how often it is wrong", hint)


def _judged(run: EvalRun) -> dict[str, BaseMetric]:
    """The judged metrics of a run that have a value."""
    metrics = {
        summary.name: known_metric(summary.name) for summary in run.scorecard.metrics if summary.value is not None
    }
    return {name: metric for name, metric in metrics.items() if metric is not None and Need.JUDGE in metric.needs}


def with_cards(run: EvalRun, known: Iterable[Calibration]) -> EvalRun:
    """The run with the card of its judge by each judged metric; one that it holds stays where there is no newer one."""
    if run.judge is None:
        return run
    every, judge, cards = list(known), run.judge, dict[str, JudgeCard | None]()
    for name in _judged(run):
        cards[name] = judge.cards.get(name)
        if card := find_calibration(name, judge.model, judge.effort, judge.prompt_hashes, every):
            labels = sum(answer.score is not None for answer in card.answers)
            cards[name] = JudgeCard(labels=labels, created_at=card.created_at, **dict(card.judge))
    return run.model_copy(update={"judge": judge.model_copy(update={"cards": cards})})


# Whether length pays.


def with_facts(run: EvalRun, records: Iterable[EvalRecord]) -> EvalRun:
    """The run with the correlation of its judge's scores and the words of the answers; itself where none judged."""
    if run.judge is None:
        return run
    of_answers = [name for name, metric in _judged(run).items() if metric.of_answer]
    pairs = defaultdict[str, list[tuple[float, int]]](list)
    for record in records:
        words = len(((record.response and record.response.answer) or "").split())
        for score in record.scores:
            if score.value is not None and words and score.name in of_answers:
                pairs[score.name].append((score.value, words))
    correlations = {name: spearman(values) for name, values in pairs.items()}
    return run.model_copy(update={"judge": run.judge.model_copy(update={"length_correlations": correlations})})


def spearman(pairs: Sequence[tuple[float, float]]) -> Figure:
    """The correlation of ranks, ties at their mean rank (Spearman 1904)."""
    import numpy as np  # noqa: PLC0415 - a saved run is shown without it

    # Twice the mean rank of each, less a constant: how many are below it, and how many at most it.
    columns = [(np.sort(column), column) for column in zip(*pairs, strict=True)]
    ranks = [np.searchsorted(known, column) + np.searchsorted(known, column, "right") for known, column in columns]
    if len(pairs) < 2 or not all(rank.std() > 0 for rank in ranks):
        return Figure(n=len(pairs), reason="scores or lengths are all the same")
    return Figure(value=float(np.corrcoef(ranks[0], ranks[1])[0, 1]), n=len(pairs))
