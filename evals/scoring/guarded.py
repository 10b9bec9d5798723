"""One metric of one question, measured so that a fault of the metric costs this value and not the run."""

from pathlib import Path
from traceback import extract_tb

from evals.case.case import Case
from evals.errors import EvalsError
from evals.metrics.base import BaseMetric
from evals.schemas import MetricResult


def score_of(metric: BaseMetric, case: Case) -> MetricResult:
    """What the metric gives; where it raises, or gives no finite number, a result that is missing for a `fault`.

    Raises:
        EvalsError: What a user can do something about is theirs to know.
    """
    try:
        return metric.score(case)
    except EvalsError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a metric does wrong, answers that are paid for are scored
        return MetricResult(name=metric.name, group=metric.group, reason=_fault(metric, error), missing="fault")


def _fault(metric: BaseMetric, error: Exception) -> str:
    """What went wrong, without words of the answer, which the error's own message may hold."""
    last = extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return f"a fault of the metric {metric.pattern()}: {type(error).__name__} ({place})"
