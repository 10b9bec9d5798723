"""What verdicts cost, and which of them are paid for already."""

from collections.abc import Iterable

from evals.judges.backends.base import Identity
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeRecord, JudgeSpending


def spending_of(verdicts: Iterable[JudgeVerdict]) -> JudgeSpending:
    """The sum over the verdicts."""
    return sum((verdict.spent for verdict in verdicts), JudgeSpending())


def with_earlier(verdict: JudgeVerdict, spent: JudgeSpending) -> JudgeVerdict:
    """The verdict, with more added to what was spent before it."""
    return verdict.model_copy(update={"earlier": (verdict.earlier or JudgeSpending()) + spent})


def of_judge(verdicts: Iterable[JudgeVerdict], before: JudgeRecord | None, judge: Identity) -> list[JudgeVerdict]:
    """The verdicts that may be this judge's. One without a key (of former versions) is of the judge of its run."""
    same = before is not None and is_judge(before, judge)
    return [verdict for verdict in verdicts if same or verdict.key is not None]


def is_judge(record: JudgeRecord, judge: Identity) -> bool:
    """Whether a run was judged by this model, at this address, with this effort."""
    return (record.model, record.origin, record.effort) == (judge.model, judge.origin, judge.effort)


def free_copy(verdict: JudgeVerdict) -> JudgeVerdict:
    """A verdict of another run, as this run takes it over: without its cost, which was paid there."""
    saved = verdict.saved_usd if verdict.cached else verdict.cost_usd
    free = {
        "attempts": 0,
        "usage": None,
        "counted": 0,
        "characters": 0,
        "cost_usd": 0.0,
        "unpriced": 0,
        "earlier": None,
        "cached": True,
    }
    return verdict.model_copy(update={**free, "saved_usd": saved})
