"""`LLMJudge`: asks a model for verdicts and checks them."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from evals.errors import JudgeError, StoreError
from evals.judges.cache import JudgeCache, key_of
from evals.judges.config import DEFAULT_MAX_INPUT_TOKENS, DEFAULT_MODEL, DEFAULT_PROVIDER
from evals.judges.models import PROVIDERS, Call, CallFailed, Identity, Model
from evals.judges.money import Ahead, Budget, BudgetSpent, PriceOf, cost_ahead, thinking_allowance
from evals.judges.prompts import call_of, load_prompt, usual_tokens, why_too_long
from evals.judges.replies import FLAG, ReplyFormatError, ReplyReading, fitted, read
from evals.schemas.verdicts import JudgeSpending, JudgeUsage, JudgeVerdict, VerdictRequest

FAILURES_IN_A_ROW = 8
"""Calls that failed one after the other, each after its retries, end the judging."""

_UNCOUNTED = "budget (judge.max_cost_usd) counts calls of unknown cost at the estimate: replies lack counts or were cut"

_UNPRICED = "budget (judge.max_cost_usd) has no effect: no price of the model is known; name one in `prices:`"

_NO_ACCESS = "check the key and the model's name, or measure everything else with --no-judge"

_NO_MONEY = "raise the spend limit or add credit at the judge's vendor, and resume; or measure the rest with --no-judge"

_CUT_OFF = ReplyReading(failure="transport", message="cut off: the run ended while the judge was being asked")

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
        self._in_flight: dict[str, asyncio.Future[JudgeVerdict | None]] = {}
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
        """From request to verdict: a reply that is there already, else budget, call and reading, at most twice.

        None where no call was allowed.
        """
        call = call_of(request, repeat, again=self.repeats > 1 and not request.once)
        key = key_of(self.identity, call)
        same = [verdict for verdict in known if verdict.repeat == repeat]
        if fitting := [verdict for verdict in same if verdict.key == key and verdict.reply is not None]:
            return fitting[-1]
        draft = _draft(request, repeat, key, same)
        if (kept := await self._kept(draft, request)) is not None:
            log(kept)
            return kept
        verdict: JudgeVerdict | None = None
        best, total = ReplyReading(), JudgeSpending()
        with self._in_flight_entry(key) as pending:
            for is_last in (False, True):
                try:
                    reading, spent = await self._send(call, request)
                except BudgetSpent:
                    self.prevented += best.reply is None
                    break
                except NotAsked:  # in a batch, what a first reply cost is counted when a resumed run reads it
                    verdict = None if self.batched else verdict
                    break
                except CutOff:
                    log(_judged(draft, _CUT_OFF.replacing(best), total + JudgeSpending(calls=1, unpriced=1)))
                    raise
                best, total = reading.replacing(best), total + spent
                verdict = _judged(draft, best, total)
                is_final = is_last or not reading.remark
                if is_final or not self.batched:  # it is paid for; in a batch it is read again by a resumed run
                    log(verdict)
                if is_final:
                    break
                room = call.max_tokens * (2 if reading.failure == "truncated" else 1)
                call = replace(call, remark=reading.remark.strip(), max_tokens=room)
            if verdict is not None:
                await self._keep(verdict)
            pending.set_result(verdict)
        return verdict

    async def _kept(self, draft: JudgeVerdict, request: VerdictRequest) -> JudgeVerdict | None:
        """The verdict by a usable reply of the cache, or by that to an equal call in flight, which is waited for."""
        key = draft.key or ""
        kept = self._cache.get(key) if self._cache is not None else None
        while not (usable := kept is not None and is_usable(kept.reply, request)) and key in self._in_flight:
            kept = await asyncio.shield(self._in_flight[key])
        if kept is None or not usable:
            return None
        saved = self._cost(kept.usage) if kept.cost_usd is None else kept.cost_usd
        verdict = _judged(draft, ReplyReading(kept.reply, model=kept.model), JudgeSpending())
        return verdict.model_copy(update={"cost_usd": 0.0, "cached": True, "saved_usd": saved})

    @contextmanager
    def _in_flight_entry(self, key: str) -> Iterator[asyncio.Future[JudgeVerdict | None]]:
        """Let equal requests wait for the reply that this one gets; they ask themselves where it gets none."""
        pending = self._in_flight[key] = asyncio.get_running_loop().create_future()
        try:
            yield pending
        finally:
            del self._in_flight[key]
            if not pending.done():
                pending.set_result(None)

    async def _keep(self, verdict: JudgeVerdict) -> None:
        """Put a reply into the cache. Where that fails, it is remarked on and the cache is not used any more."""
        if self._cache is not None and verdict.reply is not None:
            try:
                await asyncio.to_thread(self._cache.put, verdict.key or "", verdict)
            except StoreError as error:
                self._cache = None
                self.remark(f"replies are no longer kept in the cache: {error.message}")

    async def _send(self, call: Call, request: VerdictRequest) -> tuple[ReplyReading, JudgeSpending]:
        """Make one call, once a slot and the budget are free for it; what its reply comes to, and what it cost.

        Raises:
            NotAsked: No further call may start, or its reply is left at the vendor.
            BudgetSpent: The budget does not hold it.
            CutOff: The run ended before the reply came.
        """
        if problem := why_too_long(call, self._max_input_tokens):
            return ReplyReading(failure="too_long", message=problem), JudgeSpending()
        thought = thinking_allowance(self.identity.model, self.identity.effort) // 2
        ahead = cost_ahead(call, usual_tokens(request) + thought, self._cost)
        async with self._slots, self.budget.hold(ahead):
            if self.over:
                raise NotAsked
            try:
                reply = await self.model.complete(call)
            except asyncio.CancelledError as error:
                if not self.batched:
                    raise CutOff from error
                self.left += 1
                raise
            except TimeoutError:
                self.left += 1
                self.closing = True
                raise NotAsked from None
            except CallFailed as error:
                self._register_failure(error)
                if error.sent:
                    self._bill(None, ahead)
                spent = JudgeSpending(calls=1, unpriced=int(error.sent))
                return ReplyReading(failure=error.kind, message=str(error)), spent
            self._failures = 0
            spent = self._bill(reply.usage, ahead)
        return read(reply, request), spent

    def _bill(self, usage: JudgeUsage | None, ahead: Ahead) -> JudgeSpending:
        """Count what a call cost; a budget that cannot know it is remarked on."""
        cost = self._cost(usage)
        if cost is None and self.budget.limit_usd is not None:
            self.remark(_UNCOUNTED if ahead.expected else _UNPRICED)
        self.budget.bill(cost, ahead)
        return JudgeSpending(calls=1, usage=usage or JudgeUsage(), cost_usd=cost or 0.0, unpriced=int(cost is None))

    def _cost(self, usage: JudgeUsage | None) -> float | None:
        return None if usage is None else self._price(self.identity.model, usage)

    def _register_failure(self, error: CallFailed) -> None:
        """Count a failed call; what no further call would survive, and eight in a row, end the judging."""
        self._failures += 1
        lasting = self._failures >= FAILURES_IN_A_ROW
        if (error.fatal or lasting) and self.unusable is None:
            why = f"{self._failures} calls in a row failed, the last: {error}" if lasting else str(error)
            hint = _NO_MONEY if error.kind == "spend_limit" else _NO_ACCESS
            self.unusable = JudgeError(f"the judge {self.identity.model} cannot be used: {why}", hint)

    def remark(self, remark: str) -> None:
        """Say once what a reader of the verdicts must know."""
        if remark not in self.remarks:
            self.remarks.append(remark)
            self.on_remark(remark)


class NotAsked(Exception):  # noqa: N818 - what it is
    """No call was made."""


class CutOff(asyncio.CancelledError):
    """The run ended while a call was in flight, which may have to be paid for."""


def repeats_of(request: VerdictRequest, repeats: int) -> Sequence[int]:
    """Which repeats a request is made for, where each decision is made so often."""
    if request.repeat is not None:
        return (request.repeat,)
    return range(1 if request.once else repeats)


def is_usable(reply: dict[str, Any] | None, request: VerdictRequest) -> bool:
    """Whether a saved reply, in which items may be marked, can be read as one to the request."""
    try:
        fitted(load_prompt(request.prompt), reply, request.data)
    except ReplyFormatError:
        return False
    return True


def _draft(request: VerdictRequest, repeat: int, key: str, earlier: Iterable[JudgeVerdict]) -> JudgeVerdict:
    """The verdict without a reply, which carries along what earlier tries cost."""
    spent = sum((verdict.spent for verdict in earlier), JudgeSpending())
    return JudgeVerdict(
        request=request.name,
        repeat=repeat,
        key=key,
        prompt_hash=load_prompt(request.prompt).hash,
        passages=request.passages,
        earlier=spent if spent.calls else None,
        attempts=0,
    )


def _judged(draft: JudgeVerdict, reading: ReplyReading, spent: JudgeSpending) -> JudgeVerdict:
    """The verdict by what a reply comes to, and by what all calls for it cost."""
    facts = {"reply": reading.reply, "failure": reading.failure, "message": reading.message, "model": reading.model}
    cost = {
        "attempts": spent.calls,
        "usage": spent.usage if spent.usage != JudgeUsage() else None,
        "cost_usd": None if spent.unpriced == spent.calls else spent.cost_usd,
        "unpriced": spent.unpriced,
    }
    flag = reading.reply is not None and reading.reply.get(FLAG) is True
    return draft.model_copy(update={**facts, **cost, FLAG: flag})
