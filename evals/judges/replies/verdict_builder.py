"""What the calls for one decision came to, and the verdict that is built of it."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from evals.judges.backends.base import JudgeReply
from evals.judges.cache import StoredReply
from evals.judges.prompt import load_prompt
from evals.judges.replies.checks import problem_with
from evals.judges.replies.injection import looks_injected
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import CallSizes, JudgeFailure, JudgeSpending, JudgeUsage, VerdictRequest


@dataclass(slots=True)
class Outcome:
    """What the attempts at one decision came to.

    Attributes:
        reply: The usable reply, parsed.
        failure: Why there is none.
        message: The same in words.
        last: The last reply as it came, usable or not.
        spent: By all attempts.
        sizes: Of those attempts that told their tokens.
    """

    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    message: str | None = None
    last: JudgeReply | None = None
    spent: JudgeSpending = field(default_factory=JudgeSpending)
    sizes: CallSizes = field(default_factory=CallSizes)

    def fail(self, kind: JudgeFailure, message: str) -> None:
        """Note why there is no usable reply."""
        self.failure, self.message = kind, message


@dataclass(frozen=True, slots=True)
class VerdictBuilder:
    """Builds the verdicts on one repeat of a request.

    Attributes:
        request: What is decided.
        repeat: Which one of the repeats.
        key: Of the reply in the cache.
        earlier: What was spent on the decision before.
    """

    request: VerdictRequest
    repeat: int
    key: str
    earlier: JudgeSpending | None

    def cached(self, reply: dict[str, Any], model: str | None, saved_usd: float | None) -> JudgeVerdict:
        """The verdict by a reply that is there already, so that no call is made."""
        return self._build(reply, model=model, attempts=0, cost_usd=0.0, cached=True, saved_usd=saved_usd)

    def paid(self, outcome: Outcome) -> JudgeVerdict:
        """The verdict that calls came to, or their failure."""
        spent, said = outcome.spent, outcome.last
        return self._build(
            outcome.reply,
            failure=outcome.failure,
            message=outcome.message,
            model=said.model if said is not None else None,
            attempts=spent.calls,
            usage=spent.usage if spent.usage != JudgeUsage() else None,
            counted=outcome.sizes.calls,
            characters=outcome.sizes.characters,
            cost_usd=spent.known_cost_usd,
            unpriced=spent.unpriced,
        )

    def _build(self, reply: dict[str, Any] | None, **fields: Any) -> JudgeVerdict:
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


def read_reply(said: JudgeReply, request: VerdictRequest, outcome: Outcome) -> bool:
    """Parse and check a reply, and put what it comes to into the outcome.

    Returns:
        Whether that is final: False where asking once more may bring a usable reply.
    """
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


def cacheable(outcome: Outcome) -> StoredReply | None:
    """What the cache shall keep; None where there is no usable reply."""
    said = outcome.last
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
