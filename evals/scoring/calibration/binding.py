"""Which calibration is of the judge of a run: of the same model, effort and wording of the prompts."""

from collections.abc import Collection, Iterable, Mapping

from evals.case.inquiry import chain
from evals.case.refusal import ABSTENTION
from evals.errors import ConfigError
from evals.judges.prompt import load_prompt
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judged import JudgedMetric
from evals.metrics.registry import known_metric
from evals.schemas.calibration import Calibration
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.seen import SCORE
from evals.text.counts import agree


def asks_judge(name: str) -> bool:
    """Whether a judge decides on the metric of this name; not of a metric that is unknown here."""
    metric = known_metric(name)
    return metric is not None and Need.JUDGE in metric.needs


def hashes_of(metric: BaseMetric) -> dict[str, str]:
    """The prompts that a metric is judged by today, by inquiry; empty for one that says nothing of its inquiries."""
    if not isinstance(metric, JudgedMetric):
        return {}
    return {inquiry.name: load_prompt(inquiry.prompt).hash for inquiry in chain(metric.inquiries)}


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


def calibration_of(metric: str, judge: JudgeRecord, known: Iterable[Calibration]) -> Calibration | None:
    """The calibration of a run's judge by a metric, if any."""
    return find_calibration(metric, judge.model, judge.effort, judge.prompt_hashes, known)


def refuse_uncalibrated(gated: Collection[str], never: Iterable[str], feeding: Collection[str], model: str) -> None:
    """Stop where a gate rests on metrics whose judge was never calibrated by them.

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
            f"a gate is on {' and '.join(on)}, and the judge {model} was never calibrated by that: nobody knows how "
            "often it is wrong",
            "hold it against people's labels first (evals calibrate), or gate on it all the same: --allow-uncalibrated",
        )


def _same(theirs: Mapping[str, str], ours: Mapping[str, str]) -> bool:
    """Whether the prompts that both asked by are the same; whether an answer declines is not always asked."""
    shared = (theirs.keys() & ours.keys()) - {ABSTENTION}
    return bool(shared) and all(theirs[name] == ours[name] for name in shared)
