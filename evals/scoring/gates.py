"""Gates: conditions on metrics, such as `recall_at_5>=0.8`."""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil

from evals.errors import ConfigError, UnknownNameError
from evals.metrics.base import Aggregation
from evals.metrics.registry import known_metric, parse_metric
from evals.schemas.results import EvalRun, GateOutcome, GateResult
from evals.scoring.config import SCORE, Measurement, see, why_failed
from evals.text.numbers import counted, share

# Whether an interval settles that a value is on the right side of a limit, and how many questions would.


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an interval says about a limit.

    Attributes:
        outcome: Met, not met, or not enough evidence.
        more: About how many more questions would settle it; None if none would, or if it is unknown.
        advice: The same in words, to be put behind the figures; empty where it is settled.
    """

    outcome: GateResult
    more: int | None = None
    advice: str = ""


def judge_end(value: float, end: float | None, limit: float, n: int | None, holds: Callable[[float], bool]) -> Evidence:
    """Judge the unfavourable end of an interval.

    Met where it holds; not met where not even the value holds; else the value holds and the end does not, and there is
    not enough evidence.

    Args:
        value: What was seen.
        end: The end of its interval on the side of the limit; None where there is no interval.
        limit: What both are held against.
        n: Of how many questions the value is.
        holds: Whether a number is on the right side of the limit.
    """
    if not holds(value):
        return Evidence("not met")
    if end is None:
        return Evidence("not enough evidence", None, ": the end of the interval is unknown")
    if holds(end):
        return Evidence("met")
    more = questions_to_settle(value, end, limit, n)
    if more is None:
        return Evidence("not enough evidence", None, ": no number of questions is enough while the value is the limit")
    return Evidence("not enough evidence", more, f": about {(n or 0) + more:,} questions would be needed")


def heed_flagged(outcome: GateOutcome, worst: float | None, flagged: int, *, holds: bool) -> GateOutcome:
    """Decide a gate on the worst bound where the judge flags questions as injection.

    Args:
        outcome: Without these questions.
        worst: The bound, or the difference by it; None if unknown.
        flagged: How many questions the judge flags; without any the outcome stays.
        holds: Whether the bound meets the condition.
    """
    if not flagged:
        return outcome
    bound = "the worst bound, which is unknown" if worst is None else f"the worst bound {worst:.4g}"
    why = f"decided on {bound}, as the judge flags {counted(flagged, 'question')} as injection"
    changes = {} if holds else {"outcome": "not met", "more_questions": None}
    return outcome.model_copy(update={"message": f"{outcome.message}; {why}", **changes})


def questions_to_settle(value: float, end: float, limit: float, n: int | None) -> int | None:
    """How many more questions bring the end of the interval to the limit, if value and spread stay as they are.

    The reach of an interval falls with the root of the number of questions: n·(reach/gap)² of them are needed.

    Args:
        value: What was seen.
        end: The end of its interval on the side of the limit.
        limit: Where the end should be.
        n: Of how many questions the value is.

    Returns:
        None where the value is the limit itself, or n is not known; else at least 1.
    """
    gap, reach = abs(value - limit), abs(value - end)
    if gap == 0 or not n:
        return None
    return max(1, ceil(n * (reach / gap) ** 2) - n)


_GATE = re.compile(
    r"\s*(?P<name>\w+)\s*(?P<at_low>@low)?\s*"
    r"(?P<sign>>=|<=|>|<|==)\s*(?P<limit>[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*(?P<low_too>@low)?\s*"
)


_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition.

    Attributes:
        metric: Its name; `score` is the weighted score.
        sign: One of >= <= > < ==.
        limit: What the metric is held against.
        at_low: Whether not the value but the unfavourable end of its interval must hold.
    """

    metric: str
    sign: str
    limit: float
    at_low: bool = False

    def check(self, run: EvalRun) -> GateOutcome:
        """Check the run. A gate on a metric without a value is not met, and a failed run meets no gate.

        Where the judge flags questions, the worst bound must meet the condition too.
        """
        failed = why_failed(run)
        if failed is not None:
            return self._not_met(f"the run failed: {failed}")
        seen = see(run, self.metric)
        unfavourable = [False, True] if self.sign == "==" else [self.sign not in {">=", ">"}]
        bounds = [seen.bound(upper=upper) for upper in unfavourable]
        worst = next((bound for bound in bounds if bound is None or not self.holds(bound)), bounds[0])
        return heed_flagged(self._of(seen), worst, seen.flagged, holds=worst is not None and self.holds(worst))

    def _of(self, seen: Measurement) -> GateOutcome:
        if seen.value is None:
            return self._not_met(f"{self.metric} has no value{f' ({seen.reason})' if seen.reason else ''}")
        if seen.at_least and self.sign not in {">=", ">"}:
            return self._not_met(f"{self.metric} is at least {seen.value:.4g}, as requests ran out of time", seen)
        if not self.at_low:
            return self._outcome("met" if self.holds(seen.value) else "not met", f"{self.metric} is {seen}", seen)
        end = seen.low if self.sign in {">=", ">"} else seen.high
        found = judge_end(seen.value, end, self.limit, seen.n, self.holds)
        outcome = self._outcome(found.outcome, f"{self.metric} is {seen} ({seen.spread}){found.advice}", seen)
        return outcome.model_copy(update={"ci": seen.ci, "more_questions": found.more})

    def holds(self, value: float) -> bool:
        """Whether a value meets the condition."""
        return _SIGNS[self.sign](value, self.limit)

    def _not_met(self, message: str, seen: Measurement | None = None) -> GateOutcome:
        return self._outcome("not met", message, seen or Measurement(None))

    def _outcome(self, outcome: GateResult, message: str, seen: Measurement) -> GateOutcome:
        return GateOutcome(gate=str(self), outcome=outcome, message=message, value=seen.value, n=seen.n)

    def __str__(self) -> str:
        return f"{self.metric}{'@low' if self.at_low else ''}{self.sign}{self.limit:g}"


def parse_gate(text: str, known: Iterable[str]) -> Gate:
    """Parse a condition.

    Args:
        text: For example `recall_at_5>=0.8` or `recall_at_5@low>=0.8`; `score` is the weighted score.
        known: The names of the metrics that the run computes.

    Raises:
        ConfigError: It is no condition, its limit lies outside the metric's range, or the run does not compute the
            metric.
        UnknownNameError: It names a metric that does not exist.
    """
    found = _GATE.fullmatch(text)
    if not found or (found["at_low"] and found["low_too"]):
        raise ConfigError(
            f"not a gate: {text!r}",
            f"write one such as 'recall_at_5>=0.8' or 'recall_at_5@low>=0.8'; there are {' '.join(_SIGNS)}; the number "
            "stands alone, and latency is in ms",
        )
    names = [*known, SCORE]
    if found["name"] not in names:
        raise _not_known(found["name"], names)
    gate = Gate(found["name"], found["sign"], float(found["limit"]), bool(found["at_low"] or found["low_too"]))
    _check_limit(gate, text)
    if gate.at_low and gate.sign == "==":
        raise ConfigError(
            f"not a gate: {text!r}: no end of an interval is the unfavourable one of ==", "use @low with >= <= > or <"
        )
    return gate


def _check_limit(gate: Gate, text: str) -> None:
    """Refuse a limit that no value can come near, such as 80 for a share.

    Raises:
        ConfigError: It lies outside the range of what the gate is on.
    """
    low, high = _range_of(gate.metric)
    if (low is None or gate.limit >= low) and (high is None or gate.limit <= high):
        return
    limits = f"at least {low:g}" if high is None else f"from {low:g} to {high:g}" if low is not None else f"{high:g}"
    meant = f"did you mean {gate.limit / 100:g}? " if high == 1 and 1 < gate.limit <= 100 else ""
    raise ConfigError(f"not a gate: {text!r}: {gate.metric} is {limits}", f"{meant}the limit must lie in that range")


def _range_of(name: str) -> tuple[float | None, float | None]:
    """Between what the value of a run lies; None if it has no end or is unknown."""
    if name == SCORE:
        return 0.0, 1.0
    metric = known_metric(name)
    if metric is None or metric.aggregation is Aggregation.SUM:
        return None, None
    return metric.low, metric.high


def _not_known(name: str, known: Iterable[str]) -> ConfigError:
    try:
        parse_metric(name)
    except UnknownNameError:
        return UnknownNameError("metric in a gate", name, known)
    except ConfigError as error:
        return error
    return ConfigError(
        f"a gate is on {name}, which the run does not compute",
        f"add --metrics {name}, and name the suite too (--suite core): metrics alone replace the default one",
    )


def check_gates(run: EvalRun, gates: Iterable[str]) -> list[GateOutcome]:
    """Check a run against each gate.

    Raises:
        ConfigError: As of `parse_gate`.
    """
    known = [metric.name for metric in run.scorecard.metrics]
    return [parse_gate(text, known).check(run) for text in gates]


def problem_of(outcomes: Iterable[GateOutcome], *, lenient: bool = False, figures: bool = True) -> str | None:
    """What is wrong with these outcomes, in one sentence; None where nothing is.

    Args:
        outcomes: Of all gates.
        lenient: Whether a lack of evidence is no fault.
        figures: Whether to say the figures too, which may stand right above.
    """
    found = list(outcomes)
    parts = []
    for result, title in (("not met", "gate failed"), ("not enough evidence", "not enough evidence")):
        ended = [each for each in found if each.outcome == result]
        told = "; ".join(f"{each.gate}: {each.message}" for each in ended)
        if told and not (lenient and result == "not enough evidence"):
            parts.append(f"{title}: {told if figures else share(len(ended), len(found), 'gate')}")
    return "; ".join(parts) or None
