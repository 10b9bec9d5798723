"""`LLMJudge`: asks a model for verdicts and checks them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from evals.errors import JudgeError, StoreError
from evals.judges.backends.base import (
    Backend,
    BackendError,
    Call,
    Identity,
    JudgeReply,
    kept_prefixes,
)
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.config import DEFAULT_MAX_INPUT_TOKENS, DEFAULT_PROVIDER, default_backend
from evals.judges.money import Budget, BudgetSpentError, Cost, Forecast, PriceOf, most_tokens
from evals.judges.prompt import load_prompt, parts_of, room_for, why_too_long
from evals.judges.replies import Decision, Outcome, call_of, is_usable, repeats_of
from evals.judges.throttle import PrefixGate, Rejections, Throttle
from evals.schemas.verdicts import CallSizes, JudgeSpending, JudgeUsage, JudgeVerdict, VerdictRequest

# Work that a judge can end from elsewhere, without ending who waits for it.


T = TypeVar("T")


async def cancellable(work: Awaitable[T], group: set[asyncio.Task[Any]]) -> T | None:
    """Run work as a task of a group; None where the judge cancelled the tasks of that group."""
    task = asyncio.ensure_future(work)
    group.add(task)
    try:
        await asyncio.wait([task])
        return None if task.cancelled() else task.result()
    finally:
        group.discard(task)
        task.cancel()


# A judge, and the decisions it makes.


LEASE_S = 600.0
"""So long a decision waits for another process that asks for the same reply; then it is asked here too."""

_POLL_S = 0.25


ASKED = 2
"""How often a decision is asked for: once more where the reply was cut off, malformed or quoted what is not there."""

_UNCOUNTED = (
    "budget (judge.max_cost_usd) counts calls of unknown cost at the estimate: "
    "their replies have no token counts, or were cut off"
)

_UNPRICED = "budget (judge.max_cost_usd) has no effect: no price of the model is known; name one in `prices:`"


class NotAskedError(Exception):
    """No call may start any more."""


class LLMJudge:
    """Decides by calling a language model, with cache, budget and retries.

    Args:
        backend: How the model is reached; the default model of the default provider where None.
        provider: By whose API.
        cache: Where replies are kept; None keeps none.
        repeats: How often each decision is made; the scores' median counts, and how often they disagree is recorded.
        concurrency: Calls in flight.
        max_attempts: Calls for one reply, where the vendor is overloaded or the connection fails.
        max_cost_usd: No call starts for which this does not hold what it will cost.
        price: What a call costs.
        sleep: How to wait; for tests.
    """

    _hint = "check the key and the model's name, or measure everything else with --no-judge"
    """The way out where the model cannot be used."""

    def __init__(
        self,
        backend: Backend | None = None,
        *,
        provider: str = "",
        cache: JudgeCache | None = None,
        repeats: int = 1,
        concurrency: int = 8,
        max_attempts: int = 4,
        max_cost_usd: float | None = None,
        price: PriceOf = lambda _model, _usage: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.rounds_expected = 0
        """Of batches; 0 where calls are made one by one, or if unknown."""
        self.left = 0
        """Requests whose replies are left at the vendor."""
        self.on_phase: Callable[[str], None] = lambda _phase: None
        """Called when a round of batches begins."""
        self.on_progress: Callable[[int, int], None] = lambda _done, _total: None
        """Called with how many of the replies of a round are there, and of how many."""
        if backend is None:
            backend, provider = default_backend(), DEFAULT_PROVIDER
        self.backend = backend
        self.identity = Identity(backend.model, backend.origin, provider, getattr(backend, "effort", None))
        self.repeats = repeats
        self.concurrency = concurrency
        self.max_input_tokens = DEFAULT_MAX_INPUT_TOKENS
        """What would send more in one call is not asked."""
        self.forecast = Forecast(self.identity)
        """What calls will take; a run puts one here that knows saved calls."""
        self.prevented = 0
        """Decisions that the budget did not allow."""
        self.unusable: JudgeError | None = None
        """Why the model cannot be used at all: no access, no money, no such model."""
        self.shared_prompts: frozenset[str] = frozenset()
        """By which of the prompts a question is asked about more than once."""
        self.remarks: list[str] = []
        """What a reader of the verdicts must know, each once, in the words of a note."""
        self.on_remark: Callable[[str], None] = lambda _remark: None
        self._cache = cache
        self._slots = asyncio.Semaphore(concurrency)
        self._max_attempts = max_attempts
        self._budget = Budget(max_cost_usd)
        self._price = price
        self._sleep = sleep
        self._throttle = Throttle(concurrency=concurrency, max_attempts=max_attempts, sleep=self._sleep_unless_over)
        self._gate = PrefixGate()
        self._rejections = Rejections()
        self._pending: dict[str, asyncio.Future[Outcome]] = {}
        self._claims = cache
        self._may_claim = cache is not None
        """Whether replies are claimed, lest another process asks for them too."""
        self._in_flight: set[asyncio.Task[Any]] = set()
        self._sleeping: set[asyncio.Task[Any]] = set()
        self._draining = False

    @property
    def spent_usd(self) -> float:
        """What calls have cost so far; a resumed run begins with what it spent before."""
        return self._budget.spent_usd

    @spent_usd.setter
    def spent_usd(self, spent_usd: float) -> None:
        self._budget.spent_usd = spent_usd

    @property
    def over(self) -> bool:
        """Whether no further call will start."""
        return self._draining or self.unusable is not None

    @property
    def in_flight(self) -> int:
        """Calls that were made and not answered yet."""
        return len(self._in_flight)

    def drain(self) -> None:
        """Start no further call, and let those in flight end."""
        self._draining = True
        for waiting in self._sleeping:
            waiting.cancel()

    def abort(self) -> None:
        """Cancel the calls in flight: their decisions fail, and what they cost is unknown."""
        self.drain()
        for call in self._in_flight:
            call.cancel()

    def begin(self, run: str) -> None:
        """Start the rounds of batches: all that is to be judged is known by now.

        Args:
            run: What tells the run from others, and is the same when it is resumed.
        """

    def all_decided(self) -> None:
        """Be done with batches: all verdicts are in the log of the run."""

    async def aclose(self) -> None:
        """Close the connections to the model."""
        if self._claims is not None:
            self._claims.release_all()
        await self.backend.aclose()

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        """Get the verdicts of all repeats on one request. A repeat that the budget does not allow gives none.

        A refusal, an unusable reply and a failed call give a verdict with a `failure`, never a score.

        Raises:
            JudgeError: The model cannot be used at all: no access, no money, no such model.
        """
        repeats = repeats_of(request, self.repeats)
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

        Where the model turns out to be unusable, `unusable` holds the error, and the verdict counts the calls made.

        Args:
            request: What is wanted.
            repeat: Which one of the repeats.
            earlier: What was spent on the decision before.
            on_unusable: Called before a decision is asked for once more, with the failed verdict as it stands by then.

        Returns:
            The verdict; None where no call was allowed.
        """
        call = self._call_of(request)
        key = JudgeCache.key(self.identity, call, repeat)
        outcome, decision = Outcome(request, repeat, key, earlier, on_unusable), None
        if kept := self._kept(outcome, key, JudgeCache.legacy_key(self.identity, call, repeat)):
            return kept
        while (other := self._pending.get(key)) is not None:  # the same request, about another question
            shared = await asyncio.shield(other)
            if shared.reply is not None and shared.last is not None:
                same = StoredReply(reply=shared.reply, model=shared.last.model)
                return Decision(outcome.cached(same, self._cost(shared.last.usage)))
        self._pending[key] = asyncio.get_running_loop().create_future()
        try:
            await self._claim(key)
            if not (decision := self._kept(outcome, key)):  # another process may have asked meanwhile
                await self._ask(outcome)
                decision = self._decision(outcome)
        finally:
            self._pending.pop(key).set_result(outcome)
            if decision is None or decision.verdict.cached:
                self._release(key)
        return decision

    def _decision(self, outcome: Outcome) -> Decision | None:
        """What asking came to; None where no call was allowed. A failure is kept where nothing more could be tried."""
        if outcome.spent.calls or outcome.failure is not None:
            stored = outcome.stored(failed=not self.over and not outcome.prevented)
            return Decision(outcome.verdict(), stored, tuple(outcome.unkept))
        if outcome.reply is None:
            return None
        return Decision(outcome.cached(StoredReply(reply=outcome.reply), None))  # all parts of it were there already

    def keep(self, decision: Decision) -> None:
        """Put a new reply into the cache. Where that fails, it is remarked on and the cache is not used any more."""
        key = decision.verdict.key or ""
        for place, stored in (*decision.parts, (key, decision.stored)):
            self._put(place, stored)
        self._release(key)

    async def _claim(self, key: str) -> None:
        """Claim a key; while another process holds it, wait until that ends or the lease is over."""
        waited = 0.0
        while self._claims is not None and self._may_claim and waited < LEASE_S and not self.over:
            try:
                if self._claims.claim(key):
                    return
            except StoreError as error:
                self._may_claim = False
                self._remark(f"replies are not shared with other processes at work: {error.message}")
                return
            await self._sleep_unless_over(_POLL_S)
            waited += _POLL_S

    def _release(self, key: str) -> None:
        if self._claims is not None:
            self._claims.release(key)

    def _put(self, key: str, stored: StoredReply | None) -> None:
        if self._cache is None or stored is None:
            return
        try:
            self._cache.put(key, stored)
        except StoreError as error:
            self._cache = None
            self._remark(f"replies are no longer kept in the cache: {error.message}")

    def _kept(self, outcome: Outcome, *keys: str) -> Decision | None:
        """The decision by what the cache holds; None where that is not of use."""
        stored = self._stored(*keys)
        if stored is None or (stored.reply is not None and not is_usable(stored, outcome.request)):
            return None
        return Decision(outcome.cached(stored, self._saved_usd(stored)))

    def _stored(self, *keys: str) -> StoredReply | None:
        if self._cache is None:
            return None
        return next((found for key in keys if (found := self._cache.get(key)) is not None), None)

    def _call_of(self, request: VerdictRequest) -> Call:
        return call_of(request, repeats=self.repeats, shared=self.shared_prompts)

    async def _ask(self, outcome: Outcome) -> None:
        problem = why_too_long(outcome.request, self.max_input_tokens)
        parts = parts_of(outcome.request)
        if problem is not None:
            outcome.fail("too_long", problem)
        elif len(parts) == 1:
            await self._ask_once(outcome)
        else:
            await self._ask_in_parts(parts, outcome)
        self.prevented += outcome.prevented

    async def _ask_in_parts(self, parts: Sequence[VerdictRequest], outcome: Outcome) -> None:
        """Ask for parts and join their replies. Each is logged as paid for, then kept, before the others are there."""

        def log(_part: JudgeVerdict) -> None:
            outcome.take_parts(halves)
            outcome.log()

        keys = [JudgeCache.key(self.identity, self._call_of(part), outcome.repeat) for part in parts]
        halves = [Outcome(part, outcome.repeat, key, on_unusable=log) for part, key in zip(parts, keys, strict=True)]

        async def ask(half: Outcome) -> None:
            stored = self._stored(half.key)
            if stored is not None and is_usable(stored, half.request):
                half.reply = stored.reply
            elif not self.over:
                await self._ask_once(half)
                self._keep_part(outcome, half)

        await asyncio.gather(*map(ask, halves))
        outcome.take_parts(halves)
        outcome.prevented = outcome.reply is None and any(half.prevented for half in halves)

    def _keep_part(self, _whole: Outcome, part: Outcome) -> None:
        """Have a part of a decision paid for and kept before the others are there."""
        part.log()
        self._put(part.key, part.stored())

    async def _ask_once(self, outcome: Outcome) -> None:
        call = replace(self._call_of(outcome.request), max_tokens=room_for(outcome.request))
        for attempt in range(1, ASKED + 1):
            try:
                said = outcome.last = await self._complete(call, outcome)
            except NotAskedError:
                return
            except BackendError as error:
                outcome.fail(error.kind, str(error))
                self._end_if_fatal(error)
                return
            if outcome.read(said) or attempt == ASKED:
                return
            outcome.log()
            if outcome.mending is not None:
                await self._mend(outcome.mending.call(call), outcome)
                return
            call = replace(call, remark=outcome.remark)
            if outcome.failure == "truncated":
                call = replace(call, max_tokens=call.max_tokens * 2)

    async def _mend(self, call: Call, outcome: Outcome) -> None:
        """Ask for the items whose evidence is not there; without a reply, those stay marked, and the rest counts."""
        try:
            outcome.read_mended(await self._complete(call, outcome))
        except NotAskedError:
            outcome.prevented = False  # there is a reply all the same
        except BackendError as error:
            self._end_if_fatal(error)

    def _end_if_fatal(self, error: BackendError) -> None:
        if error.fatal and self.unusable is None:
            self.unusable = JudgeError(
                f"the judge {self.backend.model} cannot be used: {error}", error.hint or self._hint
            )

    async def _complete(self, call: Call, outcome: Outcome) -> JudgeReply:
        """One reply, by as many calls as it takes; they are counted in the outcome.

        Raises:
            BackendError: Of the last attempt.
            NotAskedError: No call may start, and none was made.
        """
        attempt = 0
        last: BackendError | None = None
        prefixes = kept_prefixes(self.identity.provider, self.identity.model, call)
        ahead = partial(self._cost_ahead, outcome.request, call)
        while True:
            attempt += 1
            try:
                # Outside the semaphore: who waits for the first call with a prefix must not keep others from calling.
                async with (
                    self._gate.turn(prefixes),
                    self._slots,
                    self._budget.hold(ahead) as cost,
                    self._throttle.slot(),
                ):
                    reply = await self._call(call, outcome, cost)
                    self._learn(call, reply, outcome)
                    return reply
            except BudgetSpentError:
                outcome.prevented = not self.over
                raise last or NotAskedError from None
            except NotAskedError:
                raise last or NotAskedError from None
            except BackendError as error:
                if not error.retryable or attempt == self._max_attempts:
                    error.fatal = error.fatal or error.fatal_if_lasting
                    raise
                last = error
            # Outside the semaphore: waiting must not keep others from calling.
            await self._throttle.wait_to_retry(last, attempt)

    async def _sleep_unless_over(self, seconds: float) -> None:
        """Wait, unless no further call will start; `drain` ends it."""
        if not self.over:
            await cancellable(self._sleep(seconds), self._sleeping)

    def _cost_ahead(self, request: VerdictRequest, call: Call) -> Cost:
        """What a call will cost, and the most that it can; nothing where there is no budget, or no price is known."""
        if self._budget.limit_usd is None:
            return Cost(0.0, 0.0)
        expected = self.forecast.of(request, call)
        middle = self._cost(expected.usage(sum(expected.thinking) / 2)) or 0.0
        return Cost(middle, max(middle, self._cost(most_tokens(call)) or 0.0))

    def _learn(self, call: Call, reply: JudgeReply, outcome: Outcome) -> None:
        """Note what a call took, for the verdict and for the calls that follow."""
        if reply.usage is None:
            return
        prompt, sent = load_prompt(outcome.request.prompt).hash, len(call.system) + len(call.message)
        sizes = CallSizes(prompt_hash=prompt, calls=1, characters=sent, usage=reply.usage)
        outcome.sizes += sizes
        self.forecast.learn(outcome.request, sizes)

    async def _call(self, call: Call, outcome: Outcome, ahead: Cost) -> JudgeReply:
        """One call, paid for as soon as it is answered.

        Raises:
            BackendError: There is no reply.
            NotAskedError: No call may start.
        """
        if self.over:
            raise NotAskedError
        try:
            reply = await cancellable(self.backend.complete(call), self._in_flight)
        except BackendError as error:
            # A call that was refused costs nothing; of one that nothing whole came back of, nobody knows.
            is_paid = error.unanswered or error.usage is not None
            outcome.spent += self._bill(error.usage, ahead) if is_paid else JudgeSpending(calls=1)
            self._rejections.count(error)
            raise
        if reply is None:
            outcome.spent += self._bill(None, ahead)
            raise BackendError("cut off: the run ended while the judge was being asked", unanswered=True)
        self._rejections.forget()
        outcome.spent += self._bill(reply.usage, ahead)
        return reply

    def _bill(self, usage: JudgeUsage | None, ahead: Cost) -> JudgeSpending:
        """What one call cost. A price may depend on the size of the call, so calls are priced one by one.

        If it is unknown, the budget counts what was expected, for it may have been paid.
        """
        cost = self._cost(usage)
        if cost is None and self._budget.limit_usd is not None:
            self._remark(_UNCOUNTED if ahead.expected else _UNPRICED)
        self.spent_usd += ahead.expected if cost is None else cost
        return JudgeSpending(calls=1, usage=usage or JudgeUsage(), cost_usd=cost or 0.0, unpriced=int(cost is None))

    def _cost(self, usage: JudgeUsage | None) -> float | None:
        return None if usage is None else self._price(self.backend.model, usage)

    def _saved_usd(self, stored: StoredReply) -> float | None:
        return self._cost(stored.usage) if stored.cost_usd is None else stored.cost_usd

    def _remark(self, remark: str) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)
            self.on_remark(remark)
