"""A decision of the judge: what is recorded of it, and what the cache shall keep."""

from dataclasses import dataclass

from evals.judges.cache import StoredReply
from evals.judges.replies.verdict_builder import Outcome, VerdictBuilder, cacheable
from evals.schemas import JudgeVerdict


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict to record, and the reply to put into the cache.

    Attributes:
        verdict: To be recorded.
        stored: The new reply; None where there is none, or it came from the cache.
        parts: New replies to parts of what was asked, by their keys, where they are not in the cache yet.
    """

    verdict: JudgeVerdict
    stored: StoredReply | None = None
    parts: tuple[tuple[str, StoredReply], ...] = ()


def decision_of(builder: VerdictBuilder, outcome: Outcome) -> Decision | None:
    """What asking came to; None where no call was allowed."""
    if outcome.spent.calls or outcome.failure is not None:
        return Decision(builder.paid(outcome), cacheable(outcome), tuple(outcome.unkept))
    # No call was allowed, or none was needed: all parts of the reply were there already.
    return None if outcome.reply is None else Decision(builder.cached(outcome.reply, None, None))
