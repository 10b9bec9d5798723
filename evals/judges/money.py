"""Expected cost of a call to the judge, from earlier calls or usual sizes, and the budget."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from math import hypot, sqrt
from typing import NamedTuple

from evals.judges.backends.base import Call, Identity
from evals.judges.prompt import CHARACTERS_A_TOKEN, load_prompt, stand_in_reply
from evals.schemas.verdicts import (
    BLOCK,
    CallSizes,
    JudgeRecord,
    JudgeSpending,
    JudgeUsage,
    JudgeVerdict,
    VerdictRequest,
)

# What a run may spend on its judge, with what the calls in flight will cost held back.


PriceOf = Callable[[str, JudgeUsage], float | None]
"""What this many tokens of a model cost, in US dollars; None where no price is known."""


ROUNDING = 1e-9
"""Sums of many small costs differ in their last digits."""


class BudgetSpentError(Exception):
    """No call of this size may start any more."""


class Cost(NamedTuple):
    """What a call will cost, in US dollars."""

    expected: float
    most: float
    """It cannot cost more than that."""


class Budget:
    """Lets a call start only if the budget covers its cost, in addition to what is spent and what is in flight.

    Calls go at the same time as long as even the most that they can cost is there; one by one below that. So the budget
    is exceeded by no more than what a single call costs above its estimate.

    Args:
        limit_usd: US dollars; None is no limit.
    """

    def __init__(self, limit_usd: float | None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._held: list[Cost] = []
        self._waiting: set[asyncio.Event] = set()

    @asynccontextmanager
    async def hold(self, ahead: Callable[[], Cost]) -> AsyncIterator[Cost]:
        """Wait until a call may start, which is made inside; what it truly cost must be in `spent_usd` at its end.

        Args:
            ahead: What the call will cost, as far as it is known by now: other calls may teach it meanwhile.

        Raises:
            BudgetSpentError: It may not, and no call is in flight that could leave more than was held back for it.
        """
        while not self._allows(cost := ahead()):
            if not self._held:
                raise BudgetSpentError
            await self._release()
        self._held.append(cost)
        try:
            yield cost
        finally:
            self._held.remove(cost)
            for waiting in self._waiting:
                waiting.set()

    def _allows(self, cost: Cost) -> bool:
        if self.limit_usd is None:
            return True
        left = self.limit_usd - self.spent_usd
        expected = sum(held.expected for held in self._held) + cost.expected
        most = sum(held.most for held in self._held) + cost.most
        return left > 0 and expected <= left + ROUNDING and (not self._held or most <= left + ROUNDING)

    async def _release(self) -> None:
        """Wait until a call has ended."""
        ended = asyncio.Event()
        self._waiting.add(ended)
        try:
            await ended.wait()
        finally:
            self._waiting.discard(ended)


_FEWEST_BYTES_A_TOKEN = 2
"""For an upper bound; text of any script has more."""


THINKING: Mapping[str, tuple[int, int]] = {
    "none": (0, 0),
    "minimal": (0, 100),
    "low": (0, 250),
    "medium": (0, 600),
    "high": (0, 1200),
    "xhigh": (300, 2500),
    "max": (500, 5000),
}
"""Tokens that a call is thought about, where no call of the same model and effort was saved: an allowance, no fact."""

_OWN_EFFORT = {"claude-sonnet-5-5": "high"}

_USUAL_EFFORT = "medium"


SURE, UNSURE = 0.15, 0.3
"""How far sizes may be off, apart from thinking: those of calls that were made, and usual ones."""


_OF_ONE_CALL = 0.5
"""How far a single call may be off the mean of its kind; the mean of n calls is off by this over the root of n."""


class Expected(NamedTuple):
    """Tokens that a call will take.

    Attributes:
        input: Of instructions and data.
        output: Written, without what is thought before.
        thinking: From and to.
        slack: By which share the cost of it all may be off.
        measured: Whether calls of the kind were made.
    """

    input: int
    output: int
    thinking: tuple[int, int]
    slack: float
    measured: bool

    def usage(self, thinking: float) -> JudgeUsage:
        """The same as a vendor would count it, with so much thought."""
        return JudgeUsage(input_tokens=self.input, output_tokens=self.output + round(thinking))


def thinking_allowance(judge: Identity) -> tuple[str, tuple[int, int]]:
    """The effort that holds for a judge, its own default where none is set, with the tokens allowed for thinking."""
    effort = judge.effort or _OWN_EFFORT.get(judge.model, _USUAL_EFFORT)
    return effort, THINKING[effort]


class Forecast:
    """Predicts the tokens of the next call from earlier ones.

    Args:
        judge: Who judges.
        sizes: Of saved calls by the same model with the same effort, by the name of the request.
    """

    def __init__(self, judge: Identity, sizes: Mapping[str, CallSizes] | None = None) -> None:
        self._thinking = thinking_allowance(judge)[1]
        self._sizes = dict(sizes or {})

    def learn(self, request: VerdictRequest, sizes: CallSizes) -> None:
        """Take into account what calls for a request took."""
        known = self._known(request)
        self._sizes[_kind(request)] = sizes if known is None else known + sizes

    def of(self, request: VerdictRequest, call: Call) -> Expected:
        """What a call for a request will take."""
        characters = len(call.system) + len(call.message)
        known = self._known(request)
        if known is not None:
            usage, thought = known.usage, round(known.usage.thinking_tokens / known.calls)
            sent = round(usage.input_tokens * characters / known.characters)
            slack = hypot(SURE, _OF_ONE_CALL / sqrt(known.calls))
            return Expected(sent, round(usage.output_tokens / known.calls) - thought, (thought, thought), slack, True)
        usual = json.dumps(stand_in_reply(load_prompt(request.prompt), request.data), ensure_ascii=False)
        sent, written = round(characters / CHARACTERS_A_TOKEN), round(len(usual) / CHARACTERS_A_TOKEN)
        return Expected(sent, written, self._thinking, UNSURE, False)

    def _known(self, request: VerdictRequest) -> CallSizes | None:
        """Sizes of calls for the request; none by another version of its prompt, which may ask for more."""
        known = self._sizes.get(_kind(request))
        if known is None or not known.characters or known.prompt_hash != load_prompt(request.prompt).hash:
            return None
        return known


def most_tokens(call: Call) -> JudgeUsage:
    """More than a call can take.

    No token has fewer bytes, all that is sent is written to the vendor's cache, and the reply is as long as it may be.
    """
    sent = -(-len((call.system + call.message).encode()) // _FEWEST_BYTES_A_TOKEN)
    return JudgeUsage(input_tokens=sent, output_tokens=call.max_tokens, cache_write_tokens=sent)


def _kind(request: VerdictRequest) -> str:
    """What a request is one of: blocks of one inquiry take the same."""
    return request.name.partition(BLOCK)[0]


# What verdicts cost, and which of them are paid for already.


def spending_of(verdicts: Iterable[JudgeVerdict]) -> JudgeSpending:
    """The sum over the verdicts."""
    return sum((verdict.spent for verdict in verdicts), JudgeSpending())


def with_earlier(verdict: JudgeVerdict, spent: JudgeSpending) -> JudgeVerdict:
    """The verdict, with more added to what was spent before it."""
    return verdict.model_copy(update={"earlier": (verdict.earlier or JudgeSpending()) + spent})


def of_judge(verdicts: Iterable[JudgeVerdict], before: JudgeRecord | None, judge: Identity) -> list[JudgeVerdict]:
    """The verdicts that may be this judge's. One without a key (of former versions) is of the judge of its run."""
    same = before is not None and is_judge(before, judge)
    return [verdict for verdict in verdicts if same or verdict.key is not None]


def is_judge(record: JudgeRecord, judge: Identity) -> bool:
    """Whether a run was judged by this model, at this address, with this effort."""
    return (record.model, record.origin, record.effort) == (judge.model, judge.origin, judge.effort)


def free_copy(verdict: JudgeVerdict) -> JudgeVerdict:
    """A verdict of another run, as this run takes it over: without its cost, which was paid there."""
    saved = verdict.saved_usd if verdict.cached else verdict.cost_usd
    unpaid = {"attempts": 0, "usage": None, "counted": 0, "characters": 0, "cost_usd": 0.0, "unpriced": 0}
    return verdict.model_copy(update={**unpaid, "earlier": None, "cached": True, "saved_usd": saved})
