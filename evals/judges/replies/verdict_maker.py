"""What came of asking for one decision, and the verdict that it makes."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from evals.judges.backends.base import Reply
from evals.judges.cache import StoredReply
from evals.judges.prompt import load_prompt
from evals.judges.replies.canaries import looks_injected
from evals.judges.replies.checks import problem_with
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeFailure, JudgeSpending, JudgeUsage, VerdictRequest


@dataclass(slots=True)
class Outcome:
    """What the attempts at one decision came to.

    Attributes:
        reply: The usable reply, parsed.
        failure: Why there is none.
        message: The same in words.
        said: The last reply, usable or not.
        spent: By all attempts.
    """

    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    message: str | None = None
    said: Reply | None = None
    spent: JudgeSpending = field(default_factory=JudgeSpending)

    def fail(self, kind: JudgeFailure, message: str) -> None:
        """There is no usable reply."""
        self.failure, self.message = kind, message


@dataclass(frozen=True, slots=True)
class VerdictMaker:
    """What every verdict on a request says."""

    request: VerdictRequest
    repeat: int
    key: str
    earlier: JudgeSpending | None

    def free(self, reply: dict[str, Any], model: str | None, saved_usd: float | None) -> JudgeVerdict:
        """A verdict that nothing was asked for."""
        return self._make(reply, model=model, attempts=0, cost_usd=0.0, cached=True, saved_usd=saved_usd)

    def paid(self, outcome: Outcome) -> JudgeVerdict:
        """A verdict of calls."""
        spent, said = outcome.spent, outcome.said
        return self._make(
            outcome.reply,
            failure=outcome.failure,
            message=outcome.message,
            model=said.model if said is not None else None,
            attempts=spent.calls,
            usage=spent.usage if spent.usage != JudgeUsage() else None,
            cost_usd=spent.known_cost_usd,
            unpriced=spent.unpriced,
        )

    def _make(self, reply: dict[str, Any] | None, **fields: Any) -> JudgeVerdict:
        suspected = looks_injected(self.request.data) or bool(reply and reply.get("injection_suspected"))
        return JudgeVerdict(
            request=self.request.name,
            repeat=self.repeat,
            reply=reply,
            prompt_hash=load_prompt(self.request.prompt).hash,
            key=self.key,
            earlier=self.earlier,
            injection_suspected=suspected,
            **fields,
        )


def take(said: Reply, request: VerdictRequest, outcome: Outcome) -> bool:
    """Put a reply into the outcome; whether that settles it."""
    if said.stop == "refused":
        outcome.fail("refused", "the model refused to judge")
        return True
    if said.stop == "truncated":
        outcome.fail("truncated", "the reply was cut off")
        return False
    try:
        reply = json.loads(said.text)
    except ValueError:
        outcome.fail("unparsable", f"not JSON: {said.text[:120]!r}")
        return False
    problem = problem_with(load_prompt(request.prompt), reply, request.data)
    if problem:
        outcome.fail("unparsable", problem)
        return False
    outcome.reply, outcome.failure, outcome.message = reply, None, None
    return True


def stored_of(outcome: Outcome) -> StoredReply | None:
    """What the cache shall keep; None where there is no usable reply."""
    said = outcome.said
    if outcome.reply is None or said is None:
        return None
    return StoredReply(
        reply=outcome.reply,
        model=said.model,
        usage=said.usage,
        stop=said.stop,
        request_id=said.request_id,
        asked_at=datetime.now(UTC).replace(microsecond=0),
    )
