"""`LLMJudge`: asks a model for verdicts and checks them."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evals.errors import JudgeError, StoreError
from evals.judges.budget import Ahead, Budget, BudgetSpent, cost_ahead, thinking_allowance
from evals.judges.cache import JudgeCache, StoredReply, key_of
from evals.judges.config import DEFAULT_MAX_INPUT_TOKENS, DEFAULT_MODEL, DEFAULT_PROVIDER
from evals.judges.models import PROVIDERS, Call, CallFailed, Identity, JudgeReply, Model, NotWaitedFor
from evals.judges.money import PriceOf
from evals.judges.prompts import call_of, load_prompt, usual_tokens, why_too_long
from evals.judges.replies import FLAG, MisfitError, fitted, read
from evals.schemas.verdicts import JudgeSpending, JudgeUsage, JudgeVerdict, VerdictRequest

FAILURES_IN_A_ROW = 8
"""Calls that failed one after the other, each after its retries, end the judging."""

_UNCOUNTED = (
    "budget (judge.max_cost_usd) counts calls of unknown cost at the estimate: "
    "their replies have no token counts, or were cut off"
)

_UNPRICED = "budget (judge.max_cost_usd) has no effect: no price of the model is known; name one in `prices:`"

_NO_ACCESS = "check the key and the model's name, or measure everything else with --no-judge"

_NO_MONEY = (
    "raise the spend limit or add credit at the judge's vendor, and resume the run; "
    "or measure everything else with --no-judge"
)

_Log = Callable[[JudgeVerdict], None]


class LLMJudge:
    """Decides by calling a language model, with cache and budget.

    Args:
        model: How the model is reached; the default model of the default provider where None.
        provider: By whose API.
        cache: Where replies are kept; None keeps none.
        repeats: How often each decision is made.
        concurrency: Calls in flight.
        max_cost_usd: No call starts for which this does not hold what it will cost.
        price: What a call costs.
        max_input_tokens: A call that would send more is not made.

    Attributes:
        unusable: Why the model cannot be used at all: no access, no money, no such model.
        prevented: Decisions that the budget did not allow.
        left: Requests whose replies are left at the vendor.
        closing: Set to start no further call.
        budget: What may be spent; a resumed run begins with what it spent before.
        on_remark: Called with what a reader of the verdicts must know, each once.
    """

    def __init__(
        self,
        model: Model | None = None,
        *,
        provider: str = "",
        cache: JudgeCache | None = None,
        repeats: int = 1,
        concurrency: int = 8,
        max_cost_usd: float | None = None,
        price: PriceOf = lambda _model, _usage: None,
        max_input_tokens: int = DEFAULT_MAX_INPUT_TOKENS,
    ) -> None:
        if model is None:
            model, provider = PROVIDERS[DEFAULT_PROVIDER](DEFAULT_MODEL), DEFAULT_PROVIDER
        self.model = model
        self.identity = Identity(model.model, model.origin, provider, getattr(model, "effort", None))
        self.batched: bool = getattr(model, "batched", False)
        self.repeats, self.concurrency = repeats, concurrency
        self.budget = Budget(max_cost_usd)
        self.unusable: JudgeError | None = None
        self.prevented = self.left = 0
        self.closing = False
        self.on_remark: Callable[[str], None] = lambda _remark: None
        self.remarks: list[str] = []
        self._cache, self._price, self._max_input_tokens = cache, price, max_input_tokens
        self._slots = asyncio.Semaphore(100_000 if self.batched else concurrency)
        self._in_flight: dict[str, asyncio.Future[StoredReply | None]] = {}
        self._failures = 0

    @property
    def over(self) -> bool:
        """Whether no further call will start."""
        return self.closing or self.unusable is not None

    def forget(self) -> None:
        """Be done with batches: all verdicts are in the journal of the run."""
        if self.batched:
            self.model.forget()  # type: ignore[attr-defined]

    async def aclose(self) -> None:
        """Close the connections to the model."""
        await self.model.aclose()

    async def decide(
        self, request: VerdictRequest, *, known: Iterable[JudgeVerdict] = (), log: _Log = lambda _verdict: None
    ) -> list[JudgeVerdict]:
        """Get the verdicts of all repeats on one request. A repeat that the budget does not allow gives none.

        A refusal, an unusable reply and a failed call give a verdict with a `failure`, never a score.

        Args:
            request: What is wanted.
            known: Earlier verdicts on the same question: replies to this very request are taken, and what a failed or
                replaced one cost is carried along.
            log: Called with each new verdict the moment it is paid for, before anything else is done with it; a later
                one of the same request and repeat replaces it.

        Raises:
            JudgeError: The model cannot be used at all: no access, no money, no such model.
        """
        earlier = [verdict for verdict in known if verdict.request == request.name]
        repeats = repeats_of(request, self.repeats)
        verdicts = await asyncio.gather(*(self._decide(request, repeat, earlier, log) for repeat in repeats))
        if self.unusable is not None:
            raise self.unusable
        return [verdict for verdict in verdicts if verdict is not None]

    async def _decide(
        self, request: VerdictRequest, repeat: int, known: Sequence[JudgeVerdict], log: _Log
    ) -> JudgeVerdict | None:
        """One decision: by a reply that is known, cached or on its way to an equal request; else by asking for one."""
        call = call_of(request, repeat, again=self.repeats > 1 and not request.once)
        key = key_of(self.identity, call)
        same = [verdict for verdict in known if verdict.repeat == repeat]
        if fitting := [verdict for verdict in same if verdict.key == key and verdict.reply is not None]:
            return fitting[-1]
        spent = sum((verdict.spent for verdict in same), JudgeSpending())
        draft = JudgeVerdict(
            request=request.name,
            repeat=repeat,
            key=key,
            prompt_hash=load_prompt(request.prompt).hash,
            passages=request.passages,
            earlier=spent if spent.calls else None,
            attempts=0,
        )
        verdict = self._taken(draft, request, self._cache.get(key) if self._cache is not None else None)
        while verdict is None and (equal := self._in_flight.get(key)) is not None:
            verdict = self._taken(draft, request, await asyncio.shield(equal))
        if verdict is None and (problem := why_too_long(call, self._max_input_tokens)):
            verdict = draft.model_copy(update={"failure": "too_long", "message": problem})
        if verdict is not None:
            log(verdict)
            return verdict
        self._in_flight[key], stored = asyncio.get_running_loop().create_future(), None
        try:
            verdict = await self._ask(draft, call, request, log)
            stored = await self._stored(verdict)
        finally:
            self._in_flight.pop(key).set_result(stored)
        return verdict

    def _taken(self, draft: JudgeVerdict, request: VerdictRequest, stored: StoredReply | None) -> JudgeVerdict | None:
        """The verdict by a reply that is there already; None where it cannot be read as one to this request."""
        if stored is None or not is_usable(stored.reply, request):
            return None
        saved = self._cost(stored.usage) if stored.cost_usd is None else stored.cost_usd
        facts = {"reply": stored.reply, "model": stored.model, "cost_usd": 0.0, "cached": True, "saved_usd": saved}
        return draft.model_copy(update={**facts, FLAG: stored.reply.get(FLAG) is True})

    async def _ask(self, verdict: JudgeVerdict, call: Call, request: VerdictRequest, log: _Log) -> JudgeVerdict | None:
        """The verdict by a call, or by a second one where the reply to the first is unusable or misquotes.

        None where no call was allowed.
        """
        asked = call
        for last in (False, True):
            try:
                said, spent = await self._send(asked, usual_tokens(request))
            except BudgetSpent:
                self.prevented += verdict.reply is None
                break
            except NotAsked:
                if self.batched:  # what a first reply cost is counted when a resumed run reads it
                    return None
                break
            except (CallFailed, CutOff) as error:
                verdict = _failed(verdict, error)
                log(verdict)
                if isinstance(error, CutOff):
                    raise
                break
            verdict, reading = _paid(verdict, spent), read(said, request)
            if reading.reply is not None or verdict.reply is None:
                facts = {"reply": reading.reply, "failure": reading.failure, "message": reading.message}
                flagged = reading.reply is not None and reading.reply.get(FLAG) is True
                verdict = verdict.model_copy(update={**facts, "model": said.model, FLAG: flagged})
            final = last or not reading.remark
            if final or not self.batched:  # it is paid for; in a batch it is read again by a resumed run
                log(verdict)
            if final:
                break
            room = call.max_tokens * (2 if reading.failure == "truncated" else 1)
            asked = replace(call, remark=reading.remark.strip(), max_tokens=room)
        return verdict if verdict.attempts else None

    async def _send(self, call: Call, written: int) -> tuple[JudgeReply, JudgeSpending]:
        """Make one call, once a slot and the budget are free for it, and count what it cost.

        Raises:
            NotAsked: No further call may start, or its reply is left at the vendor.
            BudgetSpent: The budget does not hold it.
            CallFailed: It brought no reply.
            CutOff: The run ended before it did.
        """
        thought = thinking_allowance(self.identity.model, self.identity.effort) // 2
        ahead = cost_ahead(call, written + thought, self._cost)
        async with self._slots, self.budget.hold(ahead):
            if self.over:
                raise NotAsked
            try:
                reply = await self.model.complete(call)
            except asyncio.CancelledError as error:
                if not self.batched:
                    raise CutOff("cut off: the run ended while the judge was being asked") from error
                self.left += 1
                raise
            except NotWaitedFor:
                self.left += 1
                self.closing = True
                raise NotAsked from None
            except CallFailed as error:
                if error.sent:
                    self._bill(None, ahead)
                self._count(error)
                raise
            self._failures = 0
            return reply, self._bill(reply.usage, ahead)

    def _bill(self, usage: JudgeUsage | None, ahead: Ahead) -> JudgeSpending:
        """Count what a call cost; a budget that cannot know it is remarked on."""
        cost = self._cost(usage)
        if cost is None and self.budget.limit_usd is not None:
            self.remark(_UNCOUNTED if ahead.expected else _UNPRICED)
        self.budget.bill(cost, ahead)
        return JudgeSpending(calls=1, usage=usage or JudgeUsage(), cost_usd=cost or 0.0, unpriced=int(cost is None))

    def _cost(self, usage: JudgeUsage | None) -> float | None:
        return None if usage is None else self._price(self.identity.model, usage)

    def _count(self, error: CallFailed) -> None:
        """Count a failed call; what no further call would survive, and eight in a row, end the judging."""
        self._failures += 1
        lasting = self._failures >= FAILURES_IN_A_ROW
        if (error.fatal or lasting) and self.unusable is None:
            why = f"{self._failures} calls in a row failed, the last: {error}" if lasting else str(error)
            hint = _NO_MONEY if error.kind == "spend_limit" else _NO_ACCESS
            self.unusable = JudgeError(f"the judge {self.identity.model} cannot be used: {why}", hint)

    async def _stored(self, verdict: JudgeVerdict | None) -> StoredReply | None:
        """The new reply, put into the cache. Where that fails, it is remarked on and the cache is not used any more."""
        if verdict is None or verdict.reply is None:
            return None
        now = datetime.now(UTC).replace(microsecond=0)
        facts: dict[str, Any] = {"model": verdict.model, "usage": verdict.usage, "cost_usd": verdict.cost_usd}
        stored = StoredReply(reply=verdict.reply, asked_at=now, **facts)
        if self._cache is not None:
            try:
                await asyncio.to_thread(self._cache.put, verdict.key or "", stored)
            except StoreError as error:
                self._cache = None
                self.remark(f"replies are no longer kept in the cache: {error.message}")
        return stored

    def remark(self, remark: str) -> None:
        """Say once what a reader of the verdicts must know."""
        if remark not in self.remarks:
            self.remarks.append(remark)
            self.on_remark(remark)


class NotAsked(Exception):  # noqa: N818 - what it is
    """No call was made."""


class CutOff(asyncio.CancelledError):
    """The run ended while a call was in flight, which may have to be paid for."""

    kind, sent = "transport", True


def repeats_of(request: VerdictRequest, repeats: int) -> Sequence[int]:
    """Which repeats a request is made for, where each decision is made so often."""
    if request.repeat is not None:
        return (request.repeat,)
    return range(1 if request.once else repeats)


def is_usable(reply: dict[str, Any], request: VerdictRequest) -> bool:
    """Whether a saved reply, in which items may be marked, can be read as one to the request."""
    try:
        fitted(load_prompt(request.prompt), reply, request.data)
    except MisfitError:
        return False
    return True


def _failed(verdict: JudgeVerdict, error: CallFailed | CutOff) -> JudgeVerdict:
    """The verdict after a call that brought no reply, which may have to be paid for; one that has a reply keeps it."""
    paid = _paid(verdict, JudgeSpending(calls=1, unpriced=int(error.sent)))
    return paid if paid.reply is not None else paid.model_copy(update={"failure": error.kind, "message": str(error)})


def _paid(verdict: JudgeVerdict, spent: JudgeSpending) -> JudgeVerdict:
    """The verdict with one more call."""
    total = spent + JudgeSpending(
        calls=verdict.attempts,
        usage=verdict.usage or JudgeUsage(),
        cost_usd=verdict.cost_usd or 0.0,
        unpriced=verdict.unpriced,
    )
    return verdict.model_copy(
        update={
            "attempts": total.calls,
            "usage": total.usage if total.usage != JudgeUsage() else None,
            "cost_usd": None if total.unpriced == total.calls else total.cost_usd,
            "unpriced": total.unpriced,
        }
    )
