"""`LLMJudge`: asks a model for verdicts, and believes none that it cannot check."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from evals.errors import JudgeError, StoreError
from evals.judges.backends.base import Backend, BackendError, Call, Identity, Reply
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.replies.verdict_maker import Outcome, VerdictMaker, stored_of, take
from evals.judges.reuse import call_of, is_usable, repeats_of
from evals.judges.throttle import Throttle
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeSpending, JudgeUsage, VerdictRequest

ASKED = 2
"""How often a decision is asked for: once more where the reply was cut off, malformed or quoted what is not there."""
_HINT = "check the key and the model's name, or measure everything else with --no-judge"

Price = Callable[[str, JudgeUsage], float | None]
T = TypeVar("T")


class _NotAskedError(Exception):
    """No call may start any more."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, and what the cache shall keep of it.

    Attributes:
        verdict: To be recorded.
        stored: The new reply; None where there is none, or it came from the cache.
    """

    verdict: JudgeVerdict
    stored: StoredReply | None = None


class LLMJudge:
    """Decides what only a reader can decide, by calling a language model.

    Args:
        backend: How the model is reached.
        provider: By whose API.
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
        provider: str = "",
        cache: JudgeCache | None = None,
        repeats: int = 1,
        concurrency: int = 8,
        max_attempts: int = 4,
        max_cost_usd: float | None = None,
        price: Price = lambda _model, _usage: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.backend = backend
        self.identity = Identity(backend.model, backend.origin, provider)
        self.repeats = repeats
        self.concurrency = concurrency
        self.spent_usd = 0.0
        """What calls have cost so far; a run that goes on begins with what it spent before."""
        self.prevented = 0
        """Decisions that the budget did not allow."""
        self.unusable: JudgeError | None = None
        """Why the model cannot be used at all: no access, no money, no such model."""
        self.remarks: list[str] = []
        """What a reader of the verdicts must know, each once, in the words of a note."""
        self.on_remark: Callable[[str], None] = lambda _remark: None
        self._cache = cache
        self._gate = asyncio.Semaphore(concurrency)
        self._max_attempts = max_attempts
        self._max_cost_usd = max_cost_usd
        self._price = price
        self._sleep = sleep
        self._throttle = Throttle(concurrency=concurrency, max_attempts=max_attempts, sleep=self._nap)
        self._asking: dict[str, asyncio.Future[Outcome]] = {}
        self._calling: set[asyncio.Task[Any]] = set()
        self._waiting: set[asyncio.Task[Any]] = set()
        self._ending = False

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent."""
        return self._max_cost_usd is not None and self.spent_usd >= self._max_cost_usd

    @property
    def over(self) -> bool:
        """Whether no further call will start."""
        return self._ending or self.unusable is not None

    @property
    def in_flight(self) -> int:
        """Calls that were made and not answered yet."""
        return len(self._calling)

    def wind_down(self) -> None:
        """Start no further call; those in flight go on."""
        self._ending = True
        for waiting in self._waiting:
            waiting.cancel()

    def cut_off(self) -> None:
        """Give up the calls in flight: their decisions fail, and what they cost is unknown."""
        self.wind_down()
        for call in self._calling:
            call.cancel()

    async def aclose(self) -> None:
        """Close the connections to the model."""
        await self.backend.aclose()

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        """Get the verdicts of all repeats on one request; of those that the budget prevents there is none.

        A judge that refuses, rambles or cannot be reached gives verdicts with a `failure`, never a score.

        Raises:
            JudgeError: The model cannot be used at all: no access, no money, no such model.
        """
        repeats = range(repeats_of(request, self.repeats))
        found = await asyncio.gather(*(self.decide_once(request, repeat) for repeat in repeats))
        decisions = [decision for decision in found if decision is not None]
        for decision in decisions:
            self.keep(decision)
        if self.unusable is not None:
            raise self.unusable
        return [decision.verdict for decision in decisions]

    async def decide_once(
        self,
        request: VerdictRequest,
        repeat: int,
        earlier: JudgeSpending | None = None,
        *,
        on_unusable: Callable[[JudgeVerdict], None] = lambda _verdict: None,
    ) -> Decision | None:
        """Make one decision; hand it to `keep` once it is recorded.

        Where the model turns out to be unusable, that is said in `unusable`, and the calls made are in the verdict.

        Args:
            request: What is wanted.
            repeat: Which one of the repeats.
            earlier: What was spent on the decision before.
            on_unusable: Hears of a reply that is asked for once more, as the verdict that it would be if all ended now.

        Returns:
            The verdict; None where no call was allowed.
        """
        call = call_of(request)
        key = JudgeCache.key(self.identity, call, repeat)
        made = VerdictMaker(request, repeat, key, earlier)
        stored = self._stored(key, JudgeCache.former_key(self.identity, call, repeat))
        if stored is not None:
            verdict = made.free(stored.reply, stored.model, self._cost(stored.usage))
            if is_usable(verdict, request):
                return Decision(verdict)
        while (other := self._asking.get(key)) is not None:  # the same request, about another question
            shared = await asyncio.shield(other)
            if shared.reply is not None and shared.said is not None:
                return Decision(made.free(shared.reply, shared.said.model, self._cost(shared.said.usage)))
        outcome = Outcome()
        self._asking[key] = asyncio.get_running_loop().create_future()
        try:
            await self._ask(call, request, outcome, lambda: on_unusable(made.paid(outcome)))
        finally:
            self._asking.pop(key).set_result(outcome)
        if not outcome.spent.calls:
            return None
        return Decision(made.paid(outcome), stored_of(outcome))

    def keep(self, decision: Decision) -> None:
        """Put a new reply into the cache; a cache that fails is remarked on, and left alone from then on."""
        if self._cache is None or decision.stored is None or decision.verdict.key is None:
            return
        try:
            self._cache.put(decision.verdict.key, decision.stored)
        except StoreError as error:
            self._cache = None
            self._remark(f"replies are no longer kept in the cache: {error.message}")

    def _stored(self, *keys: str) -> StoredReply | None:
        if self._cache is None:
            return None
        return next((found for key in keys if (found := self._cache.get(key)) is not None), None)

    async def _ask(
        self, call: Call, request: VerdictRequest, outcome: Outcome, on_unusable: Callable[[], None]
    ) -> None:
        for attempt in range(1, ASKED + 1):
            try:
                said = outcome.said = await self._complete(call, outcome)
            except _NotAskedError:
                return
            except BackendError as error:
                outcome.fail("transport", str(error))
                if error.fatal and self.unusable is None:
                    self.unusable = JudgeError(f"the judge {self.backend.model} cannot be used: {error}", _HINT)
                return
            if take(said, request, outcome):
                return
            if attempt < ASKED:
                on_unusable()
            if outcome.failure == "truncated":
                call = replace(call, max_tokens=call.max_tokens * 2)

    async def _complete(self, call: Call, outcome: Outcome) -> Reply:
        """One reply, however many calls it takes; they are counted in the outcome.

        Raises:
            BackendError: Of the last attempt.
            _NotAskedError: No call may start, and none was made.
        """
        attempt = 0
        last: BackendError | None = None
        while True:
            attempt += 1
            try:
                async with self._gate, self._throttle.slot():
                    return await self._call(call, outcome)
            except _NotAskedError:
                raise last or _NotAskedError from None
            except BackendError as error:
                if not error.retryable or attempt == self._max_attempts:
                    raise
                last = error
            # Outside the gate: waiting must not keep others from calling.
            await self._throttle.wait_to_retry(last, attempt)

    async def _nap(self, seconds: float) -> None:
        """Wait, unless no further call will start; `wind_down` ends it."""
        if not self.over:
            await _interruptible(_wait(self._sleep, seconds), self._waiting)

    def _may_call(self) -> bool:
        if self.over:
            return False
        if self.exhausted:
            self.prevented += 1
            return False
        return True

    async def _call(self, call: Call, outcome: Outcome) -> Reply:
        """One call, paid for as soon as it is answered.

        Raises:
            BackendError: There is no reply.
            _NotAskedError: No call may start.
        """
        if not self._may_call():
            raise _NotAskedError
        try:
            reply = await _interruptible(self.backend.complete(call), self._calling)
        except BackendError as error:
            # A call that was refused costs nothing; of one that nothing whole came back of, nobody knows.
            outcome.spent += JudgeSpending(calls=1, unpriced=int(error.unanswered))
            raise
        if reply is None:
            outcome.spent += JudgeSpending(calls=1, unpriced=1)
            raise BackendError("cut off: the run ended while the judge was being asked", unanswered=True)
        outcome.spent += self._bill(reply.usage)
        return reply

    def _bill(self, usage: JudgeUsage | None) -> JudgeSpending:
        """What one answered call took. Prices may depend on the size of a call, so they are never put on sums."""
        cost = self._cost(usage)
        if cost is None and self._max_cost_usd is not None:
            self._remark("replies do not say what they cost: --max-cost has nothing to count")
        self.spent_usd += cost or 0.0
        return JudgeSpending(calls=1, usage=usage or JudgeUsage(), cost_usd=cost or 0.0, unpriced=int(cost is None))

    def _cost(self, usage: JudgeUsage | None) -> float | None:
        return None if usage is None else self._price(self.backend.model, usage)

    def _remark(self, remark: str) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)
            self.on_remark(remark)


async def _wait(sleep: Callable[[float], Awaitable[None]], seconds: float) -> None:
    await sleep(seconds)


async def _interruptible(work: Coroutine[Any, Any, T], group: set[asyncio.Task[Any]]) -> T | None:
    """Do something that the judge can cancel by the group it is in; None where it did."""
    task = asyncio.ensure_future(work)
    group.add(task)
    try:
        await asyncio.wait([task])
        return None if task.cancelled() else task.result()
    finally:
        group.discard(task)
        task.cancel()
