"""`EvaluationRunner`: plan → ask → score → save."""

import asyncio
import gc
import threading
import time
from collections import Counter
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from secrets import token_hex
from statistics import median
from typing import Any

from evals.asking import StopRule, ask_all
from evals.client import RAGClient
from evals.client.ingest import ingest
from evals.config import EvalConfig
from evals.embedded import embedded_server
from evals.errors import ConfigError, CorpusMissingError, EvalsError, ServerRefusedError
from evals.metrics.base import BaseMetric
from evals.metrics.case import Case
from evals.observer import Observer
from evals.plan import Workload, check_config, load_workload
from evals.preflight import check_probes, corpus_listed, to_probe
from evals.pricing import with_prices
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, Outcomes, ServerRecord
from evals.scoring import ScoreSettings, make_scorecard, make_weighted_score, score_records
from evals.store import Journal, RunStore
from evals.version import __version__

__all__ = ["EvaluationRunner", "RAGClient", "run_evaluation", "run_evaluation_async"]

_FACTS = (
    "llm_model",
    "llm_provider",
    "embedding_model",
    "reranker_model",
    "retrieval_top_k",
    "hybrid_search_enabled",
    "contextual_retrieval_enabled",
)
"""What a run says of the server, null where the server does not."""


def run_evaluation(config: EvalConfig, observer: Observer | None = None) -> EvalRun:
    """Evaluate a server and save the run; usable in a script and in a notebook.

    Args:
        config: What to do.
        observer: Hears of the progress.

    Returns:
        The saved run; look at its `status`: a run with too many failures is "partial", one without answers "failed".

    Raises:
        EvalsError: The configuration is wrong, or the server, the dataset hub or the disk cannot be used.
    """
    return _run_anywhere(run_evaluation_async(config, observer))


async def run_evaluation_async(config: EvalConfig, observer: Observer | None = None) -> EvalRun:
    """Evaluate a server and save the run, as `run_evaluation` does, from asynchronous code."""
    return await EvaluationRunner(config, observer).run()


def _run_anywhere(work: Coroutine[Any, Any, EvalRun]) -> EvalRun:
    """Run to the end: here where no event loop runs, else in a thread with a loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: list[EvalRun | BaseException] = []
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def drive() -> None:
        try:
            outcome.append(loop.run_until_complete(task))
        except BaseException as error:  # noqa: BLE001 - carried over to the caller's thread and raised there
            outcome.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=drive, name="evals")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result


class EvaluationRunner:
    """One evaluation of one server.

    Args:
        config: What to do.
        observer: Hears of the progress.
        resume: Go on with this saved run instead of beginning a new one.
    """

    def __init__(self, config: EvalConfig, observer: Observer | None = None, *, resume: str | None = None) -> None:
        self.config = config
        self.observer = observer or Observer()
        self.store = RunStore(config.runs_dir)
        self.run_id: str | None = None
        """Known as soon as there is something saved."""
        self._resume = resume
        self._responses: dict[str, EvalResponse] = {}
        self._metrics: list[BaseMetric] = []
        self._workload = Workload()
        self._stop = StopRule(config.concurrency)
        self._settings = ScoreSettings(
            match=config.match.settings(),
            worst_on_error=config.on_error == "worst",
            confidence=config.confidence,
        )
        self._notes: list[str] = []
        self._warmup: list[float | None] = []
        self._snapshot: tuple[dict[str, Any], dict[str, Any]] = ({}, {})

    async def run(self) -> EvalRun:
        """Do the whole evaluation.

        Raises:
            EvalsError: It cannot be done, or had to end early for a reason that is no answer's fault.
        """
        self._metrics = check_config(self.config)
        self.store.prepare()
        async with AsyncExitStack() as stack:
            client = await self._connect(stack)
            await self._load_and_ingest(client)
            return await self._evaluate(client)

    async def _connect(self, stack: AsyncExitStack) -> RAGClient:
        """Health check and snapshot: a dead server is known before datasets are loaded."""
        spec = self.config.server_spec()
        if self.config.embedded:
            self.observer.phase("starting the embedded server")
            url = stack.enter_context(embedded_server())
            spec = EvalConfig(server={"url": url}).server_spec()
        client = RAGClient(
            spec,
            concurrency=self.config.concurrency,
            max_attempts=self.config.max_attempts,
            rps=self.config.rps,
        )
        self._settings = ScoreSettings(
            match=self._settings.match,
            citation_base=spec.citations.base,
            worst_on_error=self._settings.worst_on_error,
            confidence=self._settings.confidence,
        )
        await stack.enter_async_context(client)
        self.observer.phase(f"checking {client.url}")
        await client.health()
        self._snapshot = await client.info()
        return client

    async def _load_and_ingest(self, client: RAGClient) -> None:
        self.observer.phase("loading datasets")
        self._workload = await asyncio.to_thread(load_workload, self.config)
        if not (self.config.ingest or self.config.embedded):
            return
        if not self._workload.documents:
            raise ConfigError(
                "there are no documents to ingest: these questions come without a corpus",
                "put `documents` beside `questions` into a JSON file, or evaluate a server that holds them",
            )
        self.observer.phase(f"uploading {len(self._workload.documents)} documents")
        report = await ingest(client, self._workload.documents, progress=self.observer.progress)
        if report.already_there:
            self._note(
                f"{report.already_there} of {len(self._workload.documents)} documents were on the server already"
            )

    async def _evaluate(self, client: RAGClient) -> EvalRun:
        probes = await self._choose_probes(client)
        run, earlier = self._begin(client)
        self.store.save(run)
        self.run_id = run.id
        started = time.monotonic()
        problem: EvalsError | None = None
        try:
            with self.store.journal(run) as journal:
                if not earlier:
                    journal.questions(self._workload.questions)
                await self._warm_up(client)
                await self._ask(client, journal, probes)
            end: dict[str, Any] | None = (await client.info())[1]
        except asyncio.CancelledError:
            self._finish(run, started, snapshot_end=None)
            raise
        except CorpusMissingError as error:
            problem, end = error, None
        finally:
            self.observer.end()
        finished = self._finish(run, started, snapshot_end=end)
        if self._stop.refused and not finished.outcomes.answered:
            problem = ServerRefusedError(
                self._stop.reason or "refused", "set server.headers, for example a bearer token"
            )
        if problem is not None:
            raise problem
        return finished

    def _begin(self, client: RAGClient) -> tuple[EvalRun, bool]:
        """The run's first state, and whether it goes on from an earlier one."""
        if self._resume is not None:
            return self._continue(client), True
        run_id = token_hex(4)
        facts, raw = self._snapshot
        run = EvalRun(
            id=run_id,
            name=self.config.name or f"eval-{run_id}",
            created_at=datetime.now(UTC).replace(microsecond=0),
            config={**dict.fromkeys(_FACTS), **facts},
            datasets=[fingerprint.name for fingerprint in self._workload.fingerprints],
            question_count=len(self._workload.questions),
            eval_config=self.config.as_written(),
            server=ServerRecord(url=client.url, profile=client.spec.profile, snapshot_start=raw),
            fingerprints=self._workload.fingerprints,
            seed=self.config.seed,
            concurrency=self.config.concurrency,
            package_versions=package_versions(),
        )
        return run, False

    def _continue(self, client: RAGClient) -> EvalRun:
        """Take up a saved run: what was answered is kept, what failed or was never asked is asked."""
        run = self.store.load(self._resume or "")
        same = [f.sha256 for f in run.fingerprints] == [f.sha256 for f in self._workload.fingerprints]
        if not same:
            raise ConfigError(
                f"run {run.id} asked other questions than the datasets give now",
                "begin a new run without --resume",
            )
        for record in self.store.records(run):
            if record.response is not None and record.response.error is None:
                self._responses[record.question.id] = record.response
        if run.config != {**dict.fromkeys(_FACTS), **self._snapshot[0]} and not self.config.embedded:
            self._note(f"the configuration of {client.url} is not what it was when the run began")
        self._note(f"resumed with {len(self._responses)} of {run.question_count} questions answered")
        return run

    async def _warm_up(self, client: RAGClient) -> None:
        for question in self._workload.questions[: self.config.warmup]:
            self.observer.phase("warming up")
            response = await client.ask(question.question)
            self._warmup.append(response.latency_ms)

    async def _choose_probes(self, client: RAGClient) -> list[EvalQuestion]:
        """The questions whose answers show whether the corpus is on the server; none where that is known."""
        questions = self._workload.questions
        probes = to_probe(questions) if self.config.preflight else []
        return [] if probes and await corpus_listed(client, questions) else probes

    async def _ask(self, client: RAGClient, journal: Journal, probes: Sequence[EvalQuestion]) -> None:
        questions = self._workload.questions
        self.observer.begin(len(questions), len(self._responses))

        def on_answer(question: EvalQuestion, response: EvalResponse) -> None:
            self._responses[question.id] = response
            journal.answer(question.id, response)
            self.observer.answered(question, response)

        async def ask(some: Sequence[EvalQuestion]) -> None:
            todo = [question for question in some if question.id not in self._responses]
            await ask_all(client, todo, concurrency=self.config.concurrency, on_answer=on_answer, stop=self._stop)

        if probes:
            await ask(probes)
            asked = [(probe, self._responses[probe.id]) for probe in probes if probe.id in self._responses]
            check_probes(client, asked, self._settings.match)
        if not self._stop.reason:
            await ask(questions)

    def _finish(self, run: EvalRun, started: float, snapshot_end: dict[str, Any] | None) -> EvalRun:
        """Score what there is and save it; never asks anything."""
        self.observer.phase("scoring")
        plain = [
            EvalRecord.model_construct(question=question, response=self._responses.get(question.id))
            for question in self._workload.questions
        ]
        metrics = with_prices(self._metrics, self.config.prices, run.config)
        with _without_collector():
            records = score_records(metrics, plain, self._settings)
        scorecard = make_scorecard(metrics, records, self._settings)
        outcomes = self._outcomes(records)
        start = run.server.snapshot_start
        changed = None if not snapshot_end or not start else snapshot_end != start
        finished = run.model_copy(
            update={
                "completed_at": datetime.now(UTC).replace(microsecond=0),
                "scorecard": scorecard,
                "weighted_score": make_weighted_score(scorecard, self.config.scoring),
                "error_count": sum(outcomes.transport.values()),
                "status": self._status(outcomes),
                "outcomes": outcomes,
                "server": run.server.model_copy(update={"snapshot_end": snapshot_end, "changed": changed}),
                "duration_s": round(run.duration_s + time.monotonic() - started, 3),
                "notes": list(dict.fromkeys([*run.notes, *self._notes, *self._closing_notes(records, changed)])),
            }
        )
        self.store.compact(finished, records)
        self.store.save(finished)
        return finished

    def _outcomes(self, records: Sequence[EvalRecord]) -> Outcomes:
        asked = [(record.question, record.response) for record in records if record.response is not None]
        failed = [response.error for _, response in asked if response.error is not None]
        base = self._settings.citation_base
        cases = [Case(q, r, settings=self._settings.match, citation_base=base) for q, r in asked if r.error is None]
        chunks = [len(case.response.chunks) for case in cases if case.response.chunks is not None]
        cited = [case.cited for case in cases if case.response.citations is not None]
        return Outcomes(
            answered=len(cases),
            abstained=sum(case.abstained for case in cases),
            not_asked=len(records) - len(asked),
            transport=dict(Counter(error.kind for error in failed)),
            retried=sum(response.attempts > 1 for _, response in asked),
            median_chunks=median(chunks) if chunks else None,
            citations=sum(map(len, cited)) if cited else None,
            invalid_citations=sum(source.place is None for sources in cited for source in sources) if cited else None,
            warmup_ms=self._warmup,
        )

    def _status(self, outcomes: Outcomes) -> str:
        failed = sum(outcomes.transport.values())
        if not outcomes.answered:
            return "failed"
        too_many = failed / (failed + outcomes.answered) > self.config.max_error_rate
        return "partial" if outcomes.not_asked or too_many else "complete"

    def _closing_notes(self, records: Sequence[EvalRecord], changed: bool | None) -> list[str]:
        notes = [self._stop.reason] if self._stop.reason else []
        if changed:
            notes.append("the server's configuration changed during the run")
        responses = [r.response for r in records if r.response is not None and r.response.error is None]
        limit = self.config.server_spec().usage_needs_concurrency
        if limit is not None and self.config.concurrency > limit and any(r.usage for r in responses):
            notes.append(
                f"cost is approximate: this kind of server counts tokens of parallel queries together "
                f"(exact with --concurrency {limit})"
            )
        if responses and all(r.chunks is not None for r in responses) and any(r.chunks for r in responses):
            chunks = [chunk for r in responses for chunk in r.chunks or []]
            if all(chunk.chunk_id is None for chunk in chunks):
                notes.append(
                    "no retrieved chunk has an id: the server may merge chunks of a document, or be an old one"
                )
        return notes

    def _note(self, message: str) -> None:
        self._notes.append(message)
        self.observer.note(message)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause the cyclic collector: records hold no cycles, and it would walk over all of them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def package_versions() -> dict[str, str]:
    """The versions that a run depends on."""
    found = {"python": python_version(), "rag-evals": __version__}
    for name in ("httpx", "pydantic", "datasets"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
