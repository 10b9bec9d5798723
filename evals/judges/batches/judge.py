"""A judge that is asked in batches: the same decisions for half the price, in rounds that take up to a day."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from evals.errors import JudgeError
from evals.judges.backends.base import BackendError, Call, JudgeReply
from evals.judges.batches.item import Ahead, item_of
from evals.judges.batches.pace import LeftError, Pace
from evals.judges.batches.rounds import Listener, Rounds
from evals.judges.batches.vendor import AnthropicBatches
from evals.judges.budget import BudgetSpentError, Cost
from evals.judges.cache import StoredReply
from evals.judges.decision import Decision
from evals.judges.forecast import most_tokens
from evals.judges.llm_judge import LLMJudge, NotAskedError
from evals.judges.replies.verdict_builder import Outcome
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeSpending, VerdictRequest
from evals.store.batches import BatchLog
from evals.text.counts import agree, counted

_TOGETHER = 100_000
"""So many decisions wait for replies at the same time."""
_HINT = "check the key, the model's name and that its API has batches; call by call with --no-judge-batch"
_NAMED = 3


class BatchJudge(LLMJudge):
    """Decides as `LLMJudge` does; replies come by batches.

    A decision is recorded only once it is made: what was answered before is at the vendor, and is read again by
    whoever goes on. So nothing is paid for twice, and nothing counted twice.

    Args:
        vendor: Answers batches.
        log: Keeps what was sent.
        pace: How long batches are waited for.
        options: Of `LLMJudge`.
    """

    def __init__(self, vendor: AnthropicBatches, log: BatchLog, pace: Pace, **options: Any) -> None:
        super().__init__(vendor, provider="anthropic", concurrency=_TOGETHER, **options)
        self._vendor = vendor
        self._claims.refuse()  # what another process sent in a batch is known by the log of batches
        pace = replace(pace, tell=self._tell_of_trouble)
        self.rounds = Rounds(vendor, log, pace, left_usd=self._left_usd, listener=_Teller(self))

    def _tell_of_trouble(self, trouble: str) -> None:
        self.on_phase(f"the judge's API takes nothing for now ({trouble}): asking again, for up to half an hour")

    def begin(self, run: str) -> None:
        self.rounds.run = run
        self.rounds.begin()

    def all_decided(self) -> None:
        self.rounds.all_decided()

    def drain(self) -> None:
        first = not self._draining
        super().drain()
        if first:
            self._leave()

    def _leave(self) -> None:
        """Leave what is in work to the vendor, and say so."""
        left = self.rounds.leave()
        self.left = sum(left.values())
        if self.left:
            names = ", ".join(sorted(left)[:_NAMED]) + (", …" if len(left) > _NAMED else "")
            self._remark(
                f"API goes on with {counted(self.left, 'request')} in {agree(len(left), 'batch', 'batches')} {names}: "
                "whoever goes on with the run takes the replies, and pays nothing again"
            )

    async def aclose(self) -> None:
        await self.rounds.aclose()
        await super().aclose()

    async def decide_once(
        self,
        request: VerdictRequest,
        repeat: int,
        earlier: JudgeSpending | None = None,
        *,
        on_unusable: Callable[[JudgeVerdict], None] = lambda _verdict: None,
    ) -> Decision | None:
        """Make one decision; None also where its replies are left at the vendor. `on_unusable` is never called."""
        try:
            decision = await super().decide_once(request, repeat, earlier)
        except LeftError:
            return None
        return None if self.rounds.leaving else decision

    def _keep_part(self, whole: Outcome, key: str, stored: StoredReply | None, log: Callable[[], None]) -> None:
        """Keep a part with the whole: what is in the cache is not asked for again, and what it cost not counted."""
        if stored is not None:
            whole.unkept.append((key, stored))

    async def _complete(self, call: Call, request: VerdictRequest, outcome: Outcome) -> JudgeReply:
        if self.over:
            raise NotAskedError
        params = self._vendor.params(call)
        item = item_of(self.identity.origin, params, outcome.repeat, lambda: self._ahead(request, call))
        try:
            mine = await self.rounds.ask(item)
        except BudgetSpentError:
            outcome.prevented = not self.over
            raise NotAskedError from None
        except BackendError as error:
            outcome.spent += JudgeSpending(calls=item.tries)
            self._rejections.count(error)
            raise
        self._rejections.forget()
        reply = self._vendor.masked(item.reply.result(), call)
        if mine:
            outcome.spent += JudgeSpending(calls=item.tries) + self._bill(reply.usage, self._cost_ahead(request, call))
            self._learn(request, call, reply, outcome)
        return reply

    def _end_if_fatal(self, error: BackendError) -> None:
        super()._end_if_fatal(error)
        if self.unusable is not None:
            self.unusable = JudgeError(self.unusable.message, _HINT)

    def _left_usd(self) -> float | None:
        limit = self._budget.limit_usd
        return None if limit is None else limit - self.spent_usd

    def _saved_usd(self, stored: StoredReply) -> float | None:
        """What is not written down is not known: calls cost the double of what a batch does."""
        return stored.cost_usd

    def _ahead(self, request: VerdictRequest, call: Call) -> Ahead:
        """What a call will cost, and what is held back for it.

        Of calls whose like were made: the upper end of the estimate. Of others the most that they can cost, so that
        under a budget which does not hold that of all, the first batch is a small one to learn from.
        """
        cost = self._cost_ahead(request, call)
        expected = self.forecast.of(request, call)
        if not expected.measured:
            return Ahead(cost.expected, cost.most)
        upper = (self._cost(expected.usage(expected.thinking[1])) or 0.0) * (1 + expected.slack)
        return Ahead(cost.expected, upper)

    def _cost_ahead(self, request: VerdictRequest, call: Call) -> Cost:
        """The same as of a call by itself; what is written to the vendor's cache is kept for an hour here."""
        cost = super()._cost_ahead(request, call)
        if self._budget.limit_usd is None:
            return cost
        most = most_tokens(call)
        kept = most.model_copy(update={"cache_write_1h_tokens": most.cache_write_tokens})
        return Cost(cost.expected, max(cost.most, self._cost(kept) or 0.0))


class _Teller(Listener):
    """Tells who watches a judge of its rounds."""

    def __init__(self, judge: BatchJudge) -> None:
        self._judge = judge

    def began(self, number: int, requests: int, batches: int) -> None:
        of = f" of about {max(number, self._judge.rounds_expected)}" if self._judge.rounds_expected else ""
        several = f"in {batches} batches" if batches > 1 else "in a batch"
        self._judge.on_phase(f"judging, round {number}{of}: {counted(requests, 'request')} {several}")

    def progress(self, done: int, total: int) -> None:
        self._judge.on_progress(done, total)

    def late(self) -> None:
        self._judge.drain()
