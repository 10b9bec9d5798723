"""Judging while asking: an answer is judged as soon as it is there, while the next questions are asked.

Answers that wait for the judge lie on disk; in memory are those in work.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from evals.judges.llm_judge import LLMJudge
from evals.judges.models import Identity
from evals.judges.record import NOTE, VerdictTally, same_family
from evals.metrics.base import BaseMetric
from evals.metrics.judged import new_requests
from evals.run.notebook import Observer
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.verdicts import JudgeRecord, JudgeVerdict, VerdictRequest
from evals.scoring.settings import ScoringContext
from evals.store.disk_buffer import SpilledMapping
from evals.store.journal import Journal
from evals.text.numbers import counted

PATIENCE_S = 5.0
"""How long an interrupted run waits for the calls in flight, which are paid for."""

_WORKERS_A_CALL = 4
"""Answers in work for each call at the same time: while one waits for its replies, another is composed."""

TOO_MANY_FAILED = f"{NOTE} failures are more than judge.max_error_rate"
"""How the note begins that more decisions are lost than may be."""


@dataclass
class VerdictSource:
    """The verdicts of a run, and what follows from all of them.

    Attributes:
        verdicts: By question.
        identity: Who decided.
        repeats: How often each decision was to be made.
        max_error_rate: The run is incomplete where more of the decisions are lost.
        prevented: Decisions that the budget did not allow.
        left: Requests in batches that were not waited for.
        remarks: What follows from no verdict, each beginning with `NOTE`.
    """

    verdicts: Mapping[str, Sequence[JudgeVerdict]]
    identity: Identity
    repeats: int
    max_error_rate: float
    prevented: int = 0
    left: int = 0
    remarks: list[str] = field(default_factory=list)

    @cached_property
    def _tally(self) -> VerdictTally:
        tally = VerdictTally()
        for verdicts in self.verdicts.values():
            tally.add(verdicts)
        return tally

    def record(self) -> JudgeRecord:
        """The judge as it is saved with the run."""
        return self._tally.record(self.identity, self.repeats, prevented=self.prevented, left=self.left)

    @property
    def incomplete(self) -> bool:
        """Whether the budget ended the judging, replies were not waited for, or more of it failed than may."""
        return bool(self.prevented or self.left) or self._too_many_failed

    @property
    def _too_many_failed(self) -> bool:
        lost, total = self._tally.failed
        return lost > self.max_error_rate * total

    def notes(self, config: Mapping[str, Any]) -> list[str]:
        """What a reader of judged numbers must know; each begins with `NOTE`.

        Args:
            config: The server's configuration, as it says itself.
        """
        notes = self._tally.notes(self.identity, prevented=self.prevented)
        if self._too_many_failed:
            notes.append(f"{TOO_MANY_FAILED} ({self.max_error_rate:g}) allows")
        notes += self.remarks
        if found := same_family(self.identity.model, config):
            notes.append(
                f"{NOTE} family is that of the server's own model ({found[0]}: {found[1]}), and models favour their "
                "own kind; calibrate it, or judge by another family"
            )
        return notes


def free_copy(verdict: JudgeVerdict) -> JudgeVerdict:
    """A verdict of another run, as this run takes it over: without its cost, which was paid there."""
    saved = verdict.saved_usd if verdict.cached else verdict.cost_usd
    unpaid = {"attempts": 0, "usage": None, "cost_usd": 0.0, "unpriced": 0, "earlier": None}
    return verdict.model_copy(update={**unpaid, "cached": True, "saved_usd": saved})


class ToJudge(NamedTuple):
    """An answer to be judged, with the verdicts of this run and of other runs that are there already."""

    question: EvalQuestion
    response: EvalResponse
    known: Sequence[JudgeVerdict]
    free: Sequence[JudgeVerdict]


class Judging(VerdictSource):
    """The verdicts of a run, gathered while it asks.

    Args:
        judge: Decides.
        metrics: Say what they want decided.
        cases: The records as metrics see them.
        journal: Every verdict is written there the moment it is paid for.
        before: The judge of the resumed run, or whose verdicts are used again.
        max_error_rate: The run is incomplete where more of the decisions are lost.
        observer: Shows the progress and what must be known.
    """

    def __init__(
        self,
        judge: LLMJudge,
        metrics: Sequence[BaseMetric],
        cases: ScoringContext,
        journal: Journal,
        *,
        before: JudgeRecord | None = None,
        max_error_rate: float = 0.1,
        observer: Observer | None = None,
    ) -> None:
        folder = journal.path.parent
        self._answers: MutableMapping[str, ToJudge] = SpilledMapping(ToJudge, folder)
        self._found: MutableMapping[str, Sequence[JudgeVerdict]] = SpilledMapping(list[JudgeVerdict], folder)
        super().__init__(self._found, judge.identity, judge.repeats, max_error_rate)
        self._judge, self._metrics, self._cases, self._journal = judge, metrics, cases, journal
        self._observer = observer or Observer()
        judge.on_remark = lambda remark: self._observer.note(f"{NOTE} {remark}")
        self._queue: deque[str] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._error: Exception | None = None
        self._done, self._stopped = 0, False
        if before is not None and (before.model, before.origin, before.effort) != self._who:
            former = f"{before.model} at {before.origin}" + (f", effort {before.effort}" if before.effort else "")
            self.remarks.append(f"{NOTE} model, address or effort was another before: {former}")

    @property
    def _who(self) -> tuple[str, str, str | None]:
        return self.identity.model, self.identity.origin, self.identity.effort

    def submit(
        self,
        question: EvalQuestion,
        response: EvalResponse,
        known: Sequence[JudgeVerdict] = (),
        free: Sequence[JudgeVerdict] = (),
    ) -> None:
        """Have an answer judged. By batches it is judged once all answers are there.

        Args:
            question: What was asked.
            response: What was answered.
            known: Verdicts of this run on it, from before it was resumed.
            free: Verdicts of other runs on it, which cost this one nothing.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        if self._error is not None:
            raise self._error
        self._answers[question.id] = ToJudge(question, response, list(known), list(free))
        self._found[question.id] = list(known)  # until they are replaced
        self._queue.append(question.id)
        if not self._judge.batched:
            self._employ(_WORKERS_A_CALL * self._judge.concurrency)

    def _employ(self, most: int) -> None:
        """Have another worker, unless there are enough."""
        if len(self._workers) < most:
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    async def _work(self) -> None:
        try:
            while self._queue and self._error is None and not self._judge.over:
                await self._judge_one(self._answers[self._queue.popleft()])
        except Exception as error:  # noqa: BLE001 - raised again where the run waits for it
            self._error = self._error or error

    async def _judge_one(self, answer: ToJudge) -> None:
        """Ask in rounds, as some requests build on the replies to others; each verdict is kept at once."""
        key, found = answer.question.id, dict[tuple[str, int], JudgeVerdict]()
        asked: set[tuple[str, int | None]] = set()
        try:
            sample = self._cases.about(answer.question, answer.response)
            while requests := new_requests(self._metrics, sample, asked):
                asked.update(request.place for request in requests)
                decisions = [self._decide(answer, request, found) for request in requests]
                problems = await asyncio.gather(*decisions, return_exceptions=True)
                for problem in filter(None, problems):
                    raise problem
                sample = self._cases.about(answer.question, answer.response, list(found.values()))
        finally:
            kept = [each for each in answer.known if each.reply is None or self._judge.over]
            self._found[key] = list({(each.request, each.repeat): each for each in (*kept, *found.values())}.values())
        self._done += 1
        self._observer.judged(self._done, self._judge.budget.spent_usd)

    async def _decide(
        self, answer: ToJudge, request: VerdictRequest, found: dict[tuple[str, int], JudgeVerdict]
    ) -> None:
        def keep(verdict: JudgeVerdict) -> None:
            found[verdict.request, verdict.repeat] = verdict
            self._journal.verdict(answer.question.id, verdict)

        for verdict in await self._judge.decide(request, known=[*answer.free, *answer.known], log=keep):
            if any(verdict is own for own in answer.known):
                found[verdict.request, verdict.repeat] = verdict
            elif (verdict.request, verdict.repeat) not in found:  # of another run, whose journal may be deleted
                keep(verdict)

    async def drain(self) -> None:
        """Wait for the verdicts that are still to come.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        if self._judge.batched:  # what is asked together is sent together
            for _ in self._queue:
                self._employ(len(self._queue))
        while self._workers and self._error is None:
            await asyncio.wait(self._workers, return_when=asyncio.FIRST_COMPLETED)
        if self._error is None and not self._judge.over:
            self._judge.forget()
        await self.stop()
        if self._error is not None:
            raise self._error

    async def stop(self) -> None:
        """Begin nothing more, wait a while for the calls in flight, give up the rest, and let go of the judge."""
        if self._stopped:
            return
        self._stopped = self._judge.closing = True
        try:
            if self._workers and not self._judge.batched:
                self._observer.note(
                    f"waits {PATIENCE_S:g} s at most for the judge's calls in flight, which are paid for"
                )
                await asyncio.wait(self._workers, timeout=PATIENCE_S)
        finally:
            for worker in self._workers:
                worker.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)
            await self._judge.aclose()
            self.prevented, self.left = self._judge.prevented, self._judge.left
            left = f"API continues {counted(self.left, 'request')}: resuming the run takes the replies"
            told = [*self._judge.remarks, *([f"{left}, and pays nothing again"] if self.left else [])]
            self.remarks += [f"{NOTE} {remark}" for remark in told]
