"""Which calibration is of the judge of a run: of the same model, effort and wording of the prompts."""

from collections.abc import Callable, Collection, Iterable, Mapping

from evals.errors import ConfigError
from evals.judges.prompts import load_prompt
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judge_tasks import chain
from evals.metrics.registry import known_metric
from evals.metrics.sample import ABSTENTION
from evals.schemas.results import EvalRun
from evals.schemas.verdicts import Calibration, JudgeCard, Prompt
from evals.scoring.config import SCORE


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


def with_cards(run: EvalRun, known: Iterable[Calibration]) -> EvalRun:
    """The run with the card of its judge by each judged metric; one that it holds stays where there is no newer one."""
    if run.judge is None:
        return run
    every, judge, cards = list(known), run.judge, dict[str, JudgeCard | None]()
    for name in (summary.name for summary in run.scorecard.metrics if summary.value is not None):
        metric = known_metric(name)
        if metric is None or Need.JUDGE not in metric.needs:
            continue
        cards[name] = judge.cards.get(name)
        if card := find_calibration(name, judge.model, judge.effort, judge.prompt_hashes, every):
            labels = sum(answer.score is not None for answer in card.answers)
            cards[name] = JudgeCard(labels=labels, created_at=card.created_at, **dict(card.judge))
    return run.model_copy(update={"judge": judge.model_copy(update={"cards": cards})})
