"""What the calls for one decision came to, and the verdict that is built of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from evals.judges.backends.base import JudgeReply
from evals.judges.cache import StoredReply
from evals.judges.parts import joined
from evals.judges.prompt import load_prompt
from evals.judges.replies.checks import problem_with
from evals.judges.replies.evidence import faults_of, withdraw
from evals.judges.replies.injection import looks_injected
from evals.judges.replies.mending import Mending, asking_again
from evals.judges.replies.reading import objects_in
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import CallSizes, JudgeFailure, JudgeSpending, JudgeUsage, VerdictRequest

_LOST = frozenset({"refused", "truncated", "unparsable"})
"""Failures of a model that replied."""


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
        remark: What is said of an unusable reply when it is asked for again.
        mending: How items without evidence can be mended.
        in_parts: Whether several calls were made for parts of the request; each is kept by itself.
        prevented: Whether the budget did not hold a call.
        repeat: Which one of the repeats it is.
        unkept: Replies to parts of the request, by their keys, that shall be kept with the verdict.
    """

    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    message: str | None = None
    last: JudgeReply | None = None
    spent: JudgeSpending = field(default_factory=JudgeSpending)
    sizes: CallSizes = field(default_factory=CallSizes)
    remark: str = ""
    mending: Mending | None = None
    in_parts: bool = False
    prevented: bool = False
    repeat: int = 0
    unkept: list[tuple[str, StoredReply]] = field(default_factory=list)

    def take_parts(self, parts: Sequence["Outcome"]) -> None:
        """Be what the parts of the request came to so far: their joined reply, or why there is none."""
        self.spent = sum((part.spent for part in parts), JudgeSpending())
        self.sizes = sum((part.sizes for part in parts), CallSizes())
        self.last = next((part.last for part in parts if part.last is not None), None)
        self.in_parts = True
        replies = [part.reply for part in parts if part.reply is not None]
        if len(replies) == len(parts):
            self.reply, self.failure, self.message = joined(replies), None, None
        elif not self._fail_as_one_of(parts) and self.spent.calls:
            self.fail("transport", f"{len(replies)} of {len(parts)} parts of this were answered when the run ended")

    def _fail_as_one_of(self, parts: Sequence["Outcome"]) -> bool:
        """Take over why the first part that failed did; whether one has."""
        for part in parts:
            if part.failure is not None:
                self.fail(part.failure, part.message or "")
                return True
        return False

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

    def cached(
        self, reply: dict[str, Any] | None, model: str | None, saved_usd: float | None, **failure: Any
    ) -> JudgeVerdict:
        """The verdict by a reply or a failure that is there already, so that no call is made."""
        return self._build(reply, model=model, attempts=0, cost_usd=0.0, cached=True, saved_usd=saved_usd, **failure)

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
            passages=self.request.passages,
            injection_suspected=suspected,
            **fields,
        )


def read_reply(said: JudgeReply, request: VerdictRequest, outcome: Outcome) -> bool:
    """Parse and check a reply, and put what it comes to into the outcome.

    Returns:
        Whether that is final: False where asking once more may bring a usable reply, or a better one.
    """
    outcome.remark, outcome.mending = "", None
    if said.stop == "refused":
        outcome.fail("refused", "the model refused to judge")
        return True
    if said.stop == "truncated":
        outcome.fail("truncated", "the reply was cut off")
        return False
    prompt = load_prompt(request.prompt)
    reply, problem = _fitting(objects_in(said.text), lambda value: problem_with(prompt, value, request.data))
    if reply is None:
        problem = problem or f"not JSON: {said.text[:120]!r}"
        outcome.fail("unparsable", problem)
        outcome.remark = asking_again(said.text, problem)
        return False
    faults = faults_of(prompt, reply, request.data)
    outcome.reply, outcome.failure, outcome.message = withdraw(reply, faults), None, None
    if faults:
        outcome.mending = Mending(prompt, reply, faults)
    return not faults


def _fitting(found: Sequence[Any], problem_of: Callable[[Any], str | None]) -> tuple[dict[str, Any] | None, str | None]:
    """The reply among the values found, or what is wrong with the last one: None of them may be a guess."""
    problems = [problem_of(value) for value in found]
    fitting = [value for value, problem in zip(found, problems, strict=True) if problem is None]
    if not fitting:
        return None, problems[-1] if problems else None
    if any(value != fitting[-1] for value in fitting):
        return None, f"{len(fitting)} replies in one, which differ"
    return fitting[-1], None


def read_mended(said: JudgeReply, request: VerdictRequest, outcome: Outcome) -> None:
    """Put what the judge mended into the outcome; what is not mended stays as it is."""
    if outcome.mending is not None and said.stop == "end":
        for answer in reversed(objects_in(said.text)):
            mended = outcome.mending.apply(answer, request.data)
            if mended is not None:
                outcome.reply = mended
                return


def cacheable(outcome: Outcome, *, failed: bool = False) -> StoredReply | None:
    """What the cache shall keep; None where there is nothing to keep.

    Args:
        outcome: Of all attempts.
        failed: Whether to keep an unusable decision too.
    """
    said = outcome.last
    if said is None or (outcome.in_parts if outcome.reply is not None else not failed or outcome.failure not in _LOST):
        return None
    return StoredReply(
        reply=outcome.reply,
        failure=outcome.failure,
        message=outcome.message,
        model=said.model,
        usage=said.usage,
        cost_usd=outcome.spent.known_cost_usd,
        stop=said.stop,
        request_id=said.request_id,
        asked_at=datetime.now(UTC).replace(microsecond=0),
    )
