"""Judging while asking: an answer is judged as soon as it is journalled, while the next questions are asked."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from evals.judges.llm_judge import LLMJudge
from evals.judges.record import NOTE, VerdictTally, same_family
from evals.metrics.base import BaseMetric
from evals.metrics.judged import rounds
from evals.run.observer import Observer
from evals.schemas.results import EvalRecord
from evals.schemas.verdicts import JudgeRecord, JudgeVerdict, VerdictRequest
from evals.scoring.settings import ScoreSettings
from evals.store.journal import Journal
from evals.text.numbers import counted

PATIENCE_S = 5.0
"""How long an interrupted run waits for the calls in flight, which are paid for."""

_WORKERS_A_CALL = 4
"""Answers in work for each call at the same time: while one waits for its replies, another is composed."""

GENERATOR = "generator"
"""The key of a question's metadata that names the model which wrote it."""


def without_cost(record: EvalRecord) -> list[JudgeVerdict]:
    """The usable verdicts of another run, as this run takes them over: without their cost, which was paid there."""
    unpaid = {"attempts": 0, "usage": None, "cost_usd": 0.0, "unpriced": 0, "earlier": None, "cached": True}
    return [
        verdict.model_copy(update={**unpaid, "saved_usd": verdict.saved_usd if verdict.cached else verdict.cost_usd})
        for verdict in record.verdicts
        if verdict.reply is not None
    ]


class Judging:
    """The verdicts of a run, gathered while it asks.

    Args:
        judge: Decides.
        metrics: Say what they want decided.
        settings: How records are seen by metrics.
        journal: Of the run: answers and earlier verdicts are read from it, and every verdict goes to it at once.
        before: The judge of the resumed run.
        free: By question, verdicts of other runs, which cost this one nothing.
        max_error_rate: The run is incomplete where more of the decisions are lost.
        observer: Receives the progress, and what must be known.
    """

    def __init__(
        self,
        judge: LLMJudge,
        metrics: Sequence[BaseMetric],
        settings: ScoreSettings,
        journal: Journal,
        *,
        before: JudgeRecord | None = None,
        free: Callable[[str], Sequence[JudgeVerdict]] = lambda _: (),
        max_error_rate: float = 0.1,
        observer: Observer | None = None,
    ) -> None:
        self._judge, self._metrics, self._settings, self._journal, self._free = judge, metrics, settings, journal, free
        self._max_error_rate, self._observer = max_error_rate, observer or Observer()
        judge.on_remark = lambda remark: self._observer.note(f"{NOTE} {remark}")
        self._queue = deque[int]()
        self._writers = set[str]()
        self._workers = set[asyncio.Task[None]]()
        self._error: Exception | None = None
        self._done, self._stopped = 0, False
        self._remarks: list[str] = []
        # Model and effort are saved in the configuration, but an address may be from the environment.
        if before is not None and before.origin != judge.identity.origin:
            self._remarks.append(f"{NOTE} address was another before: {before.model} at {before.origin}")

    # What the run says of its judge, once all verdicts are there.

    @cached_property
    def _tally(self) -> VerdictTally:
        return VerdictTally(map(self._verdicts_of, self._journal))

    def _verdicts_of(self, record: EvalRecord) -> Sequence[JudgeVerdict]:
        self._writers.add(str(record.question.metadata.get(GENERATOR)))
        return record.verdicts

    def record(self) -> JudgeRecord:
        """The judge as it is saved with the run."""
        judge = self._judge
        return self._tally.record(judge.identity, judge.repeats, prevented=judge.prevented, left=judge.left)

    @property
    def incomplete(self) -> bool:
        """Whether the budget ended the judging, replies were not waited for, or more of it failed than may."""
        return bool(self._judge.prevented or self._judge.left) or self._tally.failed_above(self._max_error_rate)

    def notes(self, config: Mapping[str, Any]) -> list[str]:
        """What a reader of judged numbers must know; each begins with `NOTE`.

        Args:
            config: The server's configuration, as it says itself.
        """
        notes = self._tally.notes(self._judge.identity, prevented=self._judge.prevented)
        if self._tally.failed_above(self._max_error_rate):
            notes.append(f"{NOTE} failures are more than judge.max_error_rate ({self._max_error_rate:g}) allows")
        notes += self._remarks
        if alike := same_family(self._judge.identity.model, config):
            notes.append(
                f"{NOTE} family is that of the server's own model ({alike[0]}: {alike[1]}), and models favour their "
                "own kind; calibrate it, or judge by another family"
            )
        if self._judge.identity.model in self._writers:
            notes.append(f"{NOTE} model also wrote questions of this run with their answers; judge by another one")
        return notes

    # Judging.

    def take_up(self) -> None:
        """Have all answers judged that are in the journal; what is decided already is not asked again."""
        for question_id in filter(self._journal.has_answer, self._journal.ids):
            self.submit(question_id)

    def submit(self, question_id: str) -> None:
        """Have the answer to a question judged, which is in the journal. By batches all are judged in the end.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        if self._error is not None:
            raise self._error
        if (row := self._journal.row_of(question_id)) is not None:
            self._queue.append(row)
            if not self._judge.batched:
                self._start_worker(_WORKERS_A_CALL * self._judge.concurrency)

    def _start_worker(self, most: int) -> None:
        """Have another worker, unless there are enough."""
        if sum(not worker.done() for worker in self._workers) < most:
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    async def _work(self) -> None:
        try:
            while self._queue and self._error is None and not self._judge.over:
                await self._judge_record(self._journal.record(self._queue.popleft()))
        except Exception as error:  # noqa: BLE001 - raised again where the run waits for it
            self._error = self._error or error

    async def _judge_record(self, record: EvalRecord) -> None:
        """Ask in rounds, as some requests build on the replies to others; each verdict is journalled at once."""
        if record.response is None or record.response.error is not None:
            return
        known = [*self._free(record.question.id), *record.verdicts]
        decided: dict[tuple[str, int], JudgeVerdict] = {}
        sample = self._settings.sample(record.question, record.response)
        for requests in rounds(self._metrics, sample):
            decisions = [self._decide(record, request, known, decided) for request in requests]
            for problem in filter(None, await asyncio.gather(*decisions, return_exceptions=True)):
                raise problem
            sample.verdicts = list(decided.values())
        self._done += 1
        self._observer.judged(self._done, self._judge.budget.spent_usd)

    async def _decide(
        self,
        record: EvalRecord,
        request: VerdictRequest,
        known: Sequence[JudgeVerdict],
        decided: dict[tuple[str, int], JudgeVerdict],
    ) -> None:
        def keep(verdict: JudgeVerdict) -> None:
            decided[verdict.request, verdict.repeat] = verdict
            self._journal.verdict(record.question.id, verdict)

        for verdict in await self._judge.decide(request, known=known, log=keep):
            if any(verdict is own for own in record.verdicts):
                decided[verdict.request, verdict.repeat] = verdict
            elif (verdict.request, verdict.repeat) not in decided:  # of another run, whose journal may be deleted
                keep(verdict)

    async def drain(self) -> None:
        """Wait for the verdicts that are still to come.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        if self._judge.batched:  # what is asked together is sent together
            for _ in self._queue:
                self._start_worker(len(self._queue))
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
                told = f"waits {PATIENCE_S:g} s at most for the judge's calls in flight, which are paid for"
                self._observer.note(told)
                await asyncio.wait(self._workers, timeout=PATIENCE_S)
        finally:
            for worker in self._workers:
                worker.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)
            await self._judge.aclose()
            self._remarks += [f"{NOTE} {remark}" for remark in self._judge.remarks]
            if left := self._judge.left:
                taken = "resuming the run takes the replies, and pays nothing again"
                self._remarks.append(f"{NOTE} API continues {counted(left, 'request')}: {taken}")
