"""Which metrics one answer lets be computed, and why not the others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from evals.metrics.base import BaseMetric, Need
from evals.schemas import EvalQuestion, EvalResponse
from evals.scoring.settings import Cases, ScoreSettings

_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class Computable:
    """What can be computed.

    Attributes:
        names: Of metrics that would have a value.
        missing: Names of the others, by the reason why there would be none.
    """

    names: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)


def computable(
    metrics: Iterable[BaseMetric], question: EvalQuestion, response: EvalResponse, settings: ScoreSettings
) -> Computable:
    """Hold metrics against one answer; what a judge would decide counts as decided.

    Args:
        metrics: That are wanted.
        question: That was asked.
        response: What came.
        settings: How a run would score it.
    """
    case, found = Cases(settings).about(question, response), Computable()
    for metric in metrics:
        reason = metric.missing_for(case) or _without_usage(metric, response)
        if reason is None:
            found.names.append(metric.name)
        else:
            found.missing.setdefault(reason, []).append(metric.name)
    return found


def _without_usage(metric: BaseMetric, response: EvalResponse) -> str | None:
    return "the server reported no token usage" if Need.USAGE in metric.needs and response.usage is None else None


def without_questions(metrics: Iterable[BaseMetric], questions: Sequence[EvalQuestion]) -> dict[str, list[str]]:
    """Names of the metrics to which no question applies, by the reason; only the first questions are looked at."""
    missing: dict[str, list[str]] = {}
    for metric in metrics:
        reasons = [metric.not_applicable_to(question) for question in islice(questions, _LOOKED_AT)]
        if reasons and all(reasons):
            missing.setdefault(reasons[0] or "", []).append(metric.name)
    return missing
