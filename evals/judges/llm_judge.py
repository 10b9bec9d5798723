"""`LLMJudge`: asks a model for verdicts, and believes none that it cannot check."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from evals.errors import JudgeError
from evals.judges.base import Backend, BackendError, Call, Reply
from evals.judges.cache import JudgeCache
from evals.judges.canaries import looks_injected
from evals.judges.checks import problem_with
from evals.judges.prompt import Prompt, load_prompt
from evals.schemas import JudgeVerdict
from evals.schemas.results import JudgeFailure, JudgeUsage, VerdictRequest

ASKED = 2
"""How often a decision is asked for: once more where the reply was cut off, malformed or quoted what is not there."""
_LONGEST_WAIT_S = 60.0

Price = Callable[[str, JudgeUsage], float | None]


@dataclass(slots=True)
class _Outcome:
    """What the attempts at one decision came to."""

    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    message: str | None = None
    model: str | None = None
    attempts: int = 0
    """Calls made, those that brought no reply included."""
    replied: bool = False
    usage: JudgeUsage | None = None


class LLMJudge:
    """Decides what only a reader can decide, by calling a language model.

    Args:
        backend: How the model is reached.
        cache: Where replies are kept; None keeps none.
        repeats: How often each decision is made; the scores' median counts, and how often they disagree is recorded.
        concurrency: Calls in flight.
        max_attempts: Calls for one reply, where the vendor is overloaded or the connection fails.
        max_cost_usd: No call starts once so much was spent.
        price: US dollars of so many tokens of a model; None where nobody knows.
        sleep: How to wait; for tests.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        cache: JudgeCache | None = None,
        repeats: int = 1,
        concurrency: int = 8,
        max_attempts: int = 4,
        max_cost_usd: float | None = None,
        price: Price = lambda _model, _usage: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.backend = backend
        self.repeats = repeats
        self.spent_usd = 0.0
        """What calls have cost so far; a run that goes on begins with what it spent before."""
        self.prevented = 0
        """Decisions that the budget did not allow."""
        self._cache = cache
        self._gate = asyncio.Semaphore(concurrency)
        self._max_attempts = max_attempts
        self._max_cost_usd = max_cost_usd
        self._price = price
        self._sleep = sleep

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent."""
        return self._max_cost_usd is not None and self.spent_usd >= self._max_cost_usd

    async def aclose(self) -> None:
        """Close the connections to the model."""
        await self.backend.aclose()

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        """Get the verdicts of all repeats on one request.

        A judge that refuses, rambles or cannot be reached gives verdicts with a `failure`, never a score.

        Raises:
            JudgeError: The model cannot be used at all: no access, no money, no such model.
        """
        repeats = 1 if request.once else self.repeats
        return list(await asyncio.gather(*(self._decide_once(request, n) for n in range(repeats))))

    async def _decide_once(self, request: VerdictRequest, repeat: int) -> JudgeVerdict:
        prompt = load_prompt(request.prompt)
        content = json.dumps(request.data, ensure_ascii=False)
        call = Call(prompt.system, content, prompt.schema, prompt.max_tokens)
        canary = looks_injected(request.data)
        key = JudgeCache.key(self.backend, call, repeat)
        stored = self._cache.get(key) if self._cache else None
        if stored is not None and problem_with(prompt, stored.get("reply"), request.data) is None:
            known = {"reply": stored["reply"], "model": stored.get("model"), "cached": True}
            return self._verdict(request, prompt, repeat, canary, **known)
        outcome = await self._ask(prompt, call, request)
        if outcome.reply is not None and self._cache:
            self._cache.put(key, {"reply": outcome.reply, "model": outcome.model})
        return self._verdict(
            request,
            prompt,
            repeat,
            canary,
            reply=outcome.reply,
            failure=outcome.failure,
            message=outcome.message,
            model=outcome.model,
            attempts=outcome.attempts,
            usage=outcome.usage,
            replied=outcome.replied,
        )

    async def _ask(self, prompt: Prompt, call: Call, request: VerdictRequest) -> _Outcome:
        outcome = _Outcome()
        for _ in range(ASKED):
            try:
                said = await self._complete(call, outcome)
            except BackendError as error:
                if error.fatal:
                    raise JudgeError(f"the judge {self.backend.model} cannot be used: {error}", _HINT) from error
                outcome.failure, outcome.message = "transport", str(error)
                return outcome
            outcome.model, outcome.replied = said.model, True
            outcome.usage = said.usage if outcome.usage is None or said.usage is None else outcome.usage + said.usage
            if self._take(said, prompt, request, outcome):
                return outcome
            if outcome.failure == "truncated":
                call = replace(call, max_tokens=call.max_tokens * 2)
        return outcome

    def _take(self, said: Reply, prompt: Prompt, request: VerdictRequest, outcome: _Outcome) -> bool:
        """Put a reply into the outcome; whether that settles it."""
        if said.stop == "refused":
            outcome.failure, outcome.message = "refused", "the model refused to judge"
            return True
        if said.stop == "truncated":
            outcome.failure, outcome.message = "truncated", "the reply was cut off"
            return False
        try:
            reply = json.loads(said.text)
        except ValueError:
            outcome.failure, outcome.message = "unparsable", f"not JSON: {said.text[:120]!r}"
            return False
        problem = problem_with(prompt, reply, request.data)
        if problem:
            outcome.failure, outcome.message = "unparsable", problem
            return False
        outcome.reply, outcome.failure, outcome.message = reply, None, None
        return True

    async def _complete(self, call: Call, outcome: _Outcome) -> Reply:
        """One reply, however many calls it takes; they are counted in the outcome.

        Raises:
            BackendError: Of the last attempt.
        """
        for attempt in range(1, self._max_attempts + 1):
            async with self._gate:
                if self.exhausted:
                    self.prevented += 1
                    raise BackendError(f"the budget of ${self._max_cost_usd:g} is spent")
                outcome.attempts += 1
                try:
                    reply = await self.backend.complete(call)
                except BackendError as error:
                    if not error.retryable or attempt == self._max_attempts:
                        raise
                    wait = error.retry_after_s
                else:
                    self._spend(reply)
                    return reply
            # Outside the gate: waiting must not keep others from calling.
            longest = min(_LONGEST_WAIT_S, 2.0 ** (attempt - 1))
            await self._sleep(min(wait, _LONGEST_WAIT_S) if wait is not None else longest * random.uniform(0.75, 1))  # noqa: S311 - jitter
        raise BackendError("no attempt was made")

    def _spend(self, reply: Reply) -> None:
        if reply.usage is not None:
            self.spent_usd += self._price(self.backend.model, reply.usage) or 0.0

    def _verdict(
        self, request: VerdictRequest, prompt: Prompt, repeat: int, canary: bool, **fields: Any
    ) -> JudgeVerdict:
        reply, usage, replied = fields.get("reply"), fields.get("usage"), fields.pop("replied", False)
        # What brought no reply costs nothing; a reply whose tokens nobody counts costs nobody knows what.
        cost = 0.0 if not replied else self._price(self.backend.model, usage) if usage is not None else None
        suspected = canary or bool(reply and reply.get("injection_suspected"))
        return JudgeVerdict(
            request=request.name,
            repeat=repeat,
            prompt_hash=prompt.hash,
            cost_usd=cost,
            injection_suspected=suspected,
            **fields,
        )


_HINT = "check the key and the model's name, or measure everything else with --no-judge"
