"""Conditions on metrics, such as `recall_at_5>=0.8`, by which a run passes or fails."""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evals.errors import ConfigError, UnknownNameError
from evals.metrics.registry import parse_metric
from evals.schemas import EvalRun

_GATE = re.compile(r"\s*(?P<name>\w+)\s*(?P<sign>>=|<=|>|<|==)\s*(?P<limit>[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*")
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition."""

    metric: str
    sign: str
    limit: float

    def problem(self, run: EvalRun) -> str | None:
        """Why the run fails the condition; None where it passes. A metric without a value fails."""
        summary = run.scorecard.find(self.metric)
        value = run.weighted_score.score if self.metric == "score" else summary.value if summary else None
        if value is None:
            reason = f" ({summary.reason})" if summary and summary.reason else ""
            return f"{self}: {self.metric} has no value{reason}"
        return None if self.holds(value) else f"{self}: {self.metric} is {value:.4g}"

    def holds(self, value: float) -> bool:
        """Whether a value meets the condition."""
        return _SIGNS[self.sign](value, self.limit)

    def __str__(self) -> str:
        return f"{self.metric}{self.sign}{self.limit:g}"


def parse_gate(text: str, known: Iterable[str]) -> Gate:
    """Parse a condition.

    Args:
        text: For example `recall_at_5>=0.8`; `score` is the weighted score.
        known: The names of the metrics that the run computes.

    Raises:
        ConfigError: It is no condition, or on a metric that the run does not compute.
        UnknownNameError: It names a metric that does not exist.
    """
    found = _GATE.fullmatch(text)
    if not found:
        signs = " ".join(_SIGNS)
        raise ConfigError(f"not a gate: {text!r}", f"write one such as 'recall_at_5>=0.8'; there are {signs}")
    names = [*known, "score"]
    if found["name"] not in names:
        raise _not_known(found["name"], names)
    return Gate(found["name"], found["sign"], float(found["limit"]))


def _not_known(name: str, known: Iterable[str]) -> ConfigError:
    try:
        parse_metric(name)
    except UnknownNameError:
        return UnknownNameError("metric in a gate", name, known)
    except ConfigError as error:
        return error
    return ConfigError(
        f"a gate is on {name}, which the run does not compute",
        f"add --metrics {name}, and name the suite beside it (--suite core): metrics alone replace the default one",
    )


def failed_gates(run: EvalRun, gates: Iterable[str]) -> list[str]:
    """Why the run fails; empty where it passes all gates."""
    known = [metric.name for metric in run.scorecard.metrics]
    problems = (parse_gate(text, known).problem(run) for text in gates)
    return [problem for problem in problems if problem]
