"""A decision of the judge: what is recorded of it, and what the cache shall keep."""

from dataclasses import dataclass

from evals.judges.cache import StoredReply
from evals.judges.replies.verdict_builder import Outcome, VerdictBuilder, cacheable
from evals.judges.reuse import is_usable
from evals.schemas import JudgeVerdict


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict to record, and the reply to put into the cache.

    Attributes:
        verdict: To be recorded.
        stored: The new reply or failure; None where there is none, or it came from the cache.
        parts: New replies to parts of what was asked, by their keys, where they are not in the cache yet.
    """

    verdict: JudgeVerdict
    stored: StoredReply | None = None
    parts: tuple[tuple[str, StoredReply], ...] = ()


def decision_of(builder: VerdictBuilder, outcome: Outcome, *, complete: bool) -> Decision | None:
    """What asking came to; None where no call was allowed.

    Args:
        builder: Of the verdict.
        outcome: Of all attempts.
        complete: Whether nothing kept the judge from being asked once more; only then a failure is kept.
    """
    if outcome.spent.calls or outcome.failure is not None:
        stored = cacheable(outcome, failed=complete and not outcome.prevented)
        return Decision(builder.paid(outcome), stored, tuple(outcome.unkept))
    # No call was allowed, or none was needed: all parts of the reply were there already.
    return None if outcome.reply is None else Decision(builder.cached(outcome.reply, None, None))


def kept_decision(builder: VerdictBuilder, stored: StoredReply, saved_usd: float | None) -> Decision | None:
    """The decision by what the cache holds; None where that is not of use."""
    failure = {"failure": stored.failure, "message": stored.message}
    verdict = builder.cached(stored.reply, stored.model, saved_usd, **failure)
    return Decision(verdict) if stored.reply is None or is_usable(verdict, builder.request) else None
