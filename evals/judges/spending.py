"""What verdicts took, and which of them are paid for already."""

from collections.abc import Iterable

from evals.judges.backends.base import Identity
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeRecord, JudgeSpending


def spending_of(verdicts: Iterable[JudgeVerdict]) -> JudgeSpending:
    """What verdicts took together."""
    return sum((verdict.spent for verdict in verdicts), JudgeSpending())


def with_earlier(verdict: JudgeVerdict, spent: JudgeSpending) -> JudgeVerdict:
    """The verdict, with more that was spent before it."""
    return verdict.model_copy(update={"earlier": (verdict.earlier or JudgeSpending()) + spent})


def of_judge(verdicts: Iterable[JudgeVerdict], before: JudgeRecord | None, judge: Identity) -> list[JudgeVerdict]:
    """The verdicts that may be this judge's: those of former versions do not say whose they are, but their run does."""
    same = before is not None and (before.model, before.origin) == (judge.model, judge.origin)
    return [verdict for verdict in verdicts if same or verdict.key is not None]


def for_nothing(verdict: JudgeVerdict) -> JudgeVerdict:
    """A verdict of another run as this one has it: it was paid for there."""
    saved = verdict.saved_usd if verdict.cached else verdict.cost_usd
    free = {"attempts": 0, "usage": None, "cost_usd": 0.0, "unpriced": 0, "earlier": None, "cached": True}
    return verdict.model_copy(update={**free, "saved_usd": saved})
