"""Whether an interval settles that a value is on the right side of a limit, and how many questions would."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from evals.schemas.gates import GateOutcome, GateResult
from evals.text.counts import agree, counted


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an interval says about a limit.

    Attributes:
        outcome: Met, not met, or not enough evidence.
        more: About how many more questions would settle it; None where none would, or nobody knows.
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
    if end is not None and holds(end) and holds(value):
        return Evidence("met")
    if not holds(value):
        return Evidence("not met")
    if end is None:
        return Evidence("not enough evidence", None, ": there is no end of an interval to hold it against")
    more = questions_to_settle(value, end, limit, n)
    if more is None:
        return Evidence("not enough evidence", None, ": no number of questions settles it while the value is the limit")
    told = f"{more:,} more {agree(more, 'question settles', 'questions settle')} it"
    return Evidence("not enough evidence", more, f": about {told} if the value stays")


def heed_flagged(outcome: GateOutcome, worst: float | None, flagged: int, *, holds: bool) -> GateOutcome:
    """Decide a gate on the worst bound where the judge flags questions as injection.

    Args:
        outcome: Without these questions.
        worst: The bound, or the difference by it; None where nobody knows it.
        flagged: How many questions the judge flags; without any the outcome stays.
        holds: Whether the bound meets the condition.
    """
    if not flagged:
        return outcome
    bound = "the worst bound, which nobody knows" if worst is None else f"the worst bound {worst:.4g}"
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
