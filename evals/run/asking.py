"""Asking many questions: bounded, and stopped where going on is pointless."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from evals.client.http import REFUSED
from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.errors import EvalsError, ServerRefusedError, ServerUnreachableError
from evals.run.corpus import check_kind, check_probes, chunks_path, chunks_unfound
from evals.run.notebook import Observer
from evals.run.workers import ClusterAsking
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, Outcomes, ServerRecord
from evals.schemas.run_parts import EngineRecord
from evals.scoring.repeats import CONCURRENCY, Window
from evals.scoring.settings import ScoringContext
from evals.text.numbers import counted

OnAnswer = Callable[[EvalQuestion, EvalResponse], None]


STOPPED = "asking ended early: "
"""How the note of a run begins that says why not all was asked; a resumed run makes it anew."""


CHANGED = "the server's configuration changed during the run"


class StopRule:
    """Decides from the exchanges so far whether to continue.

    Args:
        concurrency: How many questions are asked at a time: what counts is rounds, not questions.
    """

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._answered = 0
        self._failed_in_row = 0
        self._kinds: Counter[str] = Counter()
        self.reason: str | None = None
        """Why to stop; None means continue."""
        self.refused = False
        """Whether the server refused us (401 or 403)."""

    def see(self, response: EvalResponse, away: str | None = None) -> None:
        """Take one exchange into account.

        Args:
            response: What came of it.
            away: What the server said last, where it is no more waited for.
        """
        if response.error is None:
            self._answered += 1
            self._failed_in_row = 0
            return
        self._kinds[response.error.message] += 1
        self._failed_in_row += 1
        if response.error.status in REFUSED:
            self.refused = True
            self.reason = f"the server refuses us: {response.error.message}"
        elif away is not None:
            self.reason = f"the server is gone: {away}"
        elif not self._answered and self._failed_in_row >= 2 * self._concurrency:
            message = self._kinds.most_common(1)[0][0]
            self.reason = f"the first {self._failed_in_row} questions all failed: {message}"


class Asking:
    """The asking of one run, and its results apart from the answers.

    Args:
        client: Asks.
        config: Of the run.
        observer: Receives the progress.
        probes: Questions whose answers show whether the corpus is on the server; none where that is known.
    """

    def __init__(
        self, client: RAGClient, config: EvalConfig, observer: Observer, probes: Sequence[EvalQuestion]
    ) -> None:
        self._client = client
        self._config = config
        self._observer = observer
        self._warned = False
        self.probes = probes
        self.windows: dict[int, Window] = {}
        """By concurrency, what was asked in how many seconds."""
        self.stop = StopRule(config.concurrency)
        self.others: ClusterAsking | None = None
        """Who asks instead of this process, but for the unscored questions; None for none."""
        self.warmup_ms: list[float | None] = []
        """Latencies of the unscored questions."""
        self.snapshot_end: dict[str, Any] | None = None
        """What the server said of itself at the end; None where asking did not come to one."""
        self.ended_by: BaseException | None = None
        """What ended the asking before `ask` was called, where questions were asked in turn with other runs."""

    async def ask(
        self,
        questions: Sequence[EvalQuestion],
        there: Mapping[str, EvalResponse],
        cases: ScoringContext,
        on_answer: OnAnswer,
    ) -> None:
        """Ask the questions that have no answer yet.

        Args:
            questions: All of the run.
            there: The answers by question; `on_answer` adds to them.
            cases: The records as metrics see them.
            on_answer: Called as each exchange ends; what it raises ends the asking.

        Raises:
            CorpusMissingError: The probes show that the server does not hold the documents.
        """
        if self.ended_by is not None:
            raise self.ended_by
        if len(there) < len(questions):
            self._observer.begin(len(questions), len(there))
        if self.probes:
            await self._ask(self.probes, there, on_answer)
            self.check(there, cases)
        if not self.stop.reason:
            await self._ask(questions, there, on_answer)
        self.snapshot_end = (await self._client.info())[1]

    def check(self, there: Mapping[str, EvalResponse], cases: ScoringContext) -> None:
        """See by the answers to the probes that the server holds the documents.

        Raises:
            CorpusMissingError: It does not.
        """
        asked = [(probe, there[probe.id]) for probe in self.probes if probe.id in there]
        if asked:
            check_probes(self._client, asked, cases, own_file=self._config.dataset_file is not None)

    async def warm_up(self, questions: Sequence[EvalQuestion]) -> None:
        """Ask the first questions, unscored, before there is a run.

        Raises:
            ServerRefusedError: Two different questions fail as they do on a server of another kind.
        """
        for question in questions[: self._config.warmup]:
            self._observer.phase("warming up")
            response = await self._client.ask(question.question)
            self.warmup_ms.append(response.latency_ms)
            unfound = chunks_unfound(chunks_path(self._client.spec), [response])
            if unfound is not None and not self._warned:  # at once; the run's note tells of all of them
                self._warned = True
                self._observer.note(unfound)
            await check_kind(self._client, question, response, questions)

    async def _ask(self, some: Sequence[EvalQuestion], there: Mapping[str, EvalResponse], on_answer: OnAnswer) -> None:
        if self.others is not None:
            await self.others.ask((one for one in some if one.id not in there), partial(self._see, on_answer))
            return
        if not self._config.load:
            await self._ask_at(self._config.concurrency, some, there, on_answer)
        for level in self._config.load:
            own = (one for one in some if one.metadata.get(CONCURRENCY) == level)
            if not self.stop.reason:
                await self._ask_at(level, own, there, on_answer)

    async def _ask_at(
        self, level: int, some: Iterable[EvalQuestion], there: Mapping[str, EvalResponse], on_answer: OnAnswer
    ) -> None:
        todo = (one for one in some if one.id not in there)
        before, started = len(there), time.perf_counter()
        self._client.restart_pace()
        await ask_all(self._client, todo, concurrency=level, on_answer=on_answer, stop=self.stop)
        if asked := len(there) - before:
            window = self.windows.get(level, Window(0, 0.0))
            self.windows[level] = Window(window.asked + asked, window.seconds + time.perf_counter() - started)

    def _see(self, on_answer: OnAnswer, question: EvalQuestion, response: EvalResponse, away: str | None) -> bool:
        """Take an answer that a worker brought; returns whether to continue."""
        self.stop.see(response, away)
        on_answer(question, response)
        return self.stop.reason is None

    def seen(self, server: ServerRecord) -> ServerRecord:
        """What is known of the server after asking."""
        changed = has_changed(server.snapshot_start, self.snapshot_end)
        return server.model_copy(update={"snapshot_end": self.snapshot_end, "changed": changed})

    def notes(self, server: ServerRecord) -> list[str]:
        """What a reader must know of the asking."""
        others = self.others
        notes = [f"{STOPPED}{self.stop.reason}"] if self.stop.reason else []
        if refused := self._client.refused + (others.refused if others else 0):
            requests = counted(refused, "request", "was")
            notes.append(f"{requests} refused for the moment, and made again at a lower rate")
        notes += others.notes() if others else []
        return [*notes, *([CHANGED] if self.seen(server).changed else [])]

    def engine(self, before: EngineRecord | None) -> EngineRecord | None:
        """The cluster that asked, with what it was of the resumed run; that alone where this process asked."""
        return before if self.others is None else self.others.record(before)

    def problem(self, outcomes: Outcomes) -> EvalsError | None:
        """Why no question was answered, where the server refused us or was never there; None else."""
        if outcomes.answered:
            return None
        if self.stop.refused:
            hint = self._client.login_hint or "set server.headers, for example a bearer token"
            return ServerRefusedError(self.stop.reason or "refused", hint)
        if set(outcomes.transport) == {"connect"}:
            reason = f"nothing answers at {self._client.url}" + (f": {self.stop.reason}" if self.stop.reason else "")
            return ServerUnreachableError(reason, "start the server, or name yours with --rag-url")
        return None


def has_changed(start: Mapping[str, Any], end: Mapping[str, Any] | None) -> bool | None:
    """Whether what could be read at both ends differs; None where nothing could."""
    both = [path for path, body in start.items() if body is not None and (end or {}).get(path) is not None]
    return any(start[path] != (end or {})[path] for path in both) if both else None


async def ask_all(
    client: RAGClient,
    questions: Iterable[EvalQuestion],
    *,
    concurrency: int,
    on_answer: OnAnswer,
    stop: StopRule,
) -> None:
    """Ask the questions in their order, `concurrency` at a time, until they are done or the rule says stop.

    Args:
        client: Asks.
        questions: What to ask.
        concurrency: Number of workers.
        on_answer: Called as each exchange ends; what it raises ends the asking.
        stop: Sees every exchange.
    """
    waiting = iter(questions)

    async def work() -> None:
        for question in waiting:
            response = await client.ask(question)
            stop.see(response, client.unavailable)
            on_answer(question, response)
            if stop.reason:
                return

    workers = [asyncio.create_task(work()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
