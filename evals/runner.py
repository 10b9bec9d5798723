"""`EvaluationRunner`: plan → ask → score → save."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from evals.client import RAGClient
from evals.client.ingest import ingest
from evals.config import EvalConfig
from evals.credentials.stored import in_clear
from evals.errors import (
    ConfigError,
    CorpusMissingError,
    EvalsError,
    JudgeError,
    ServerRefusedError,
    ServerUnreachableError,
)
from evals.judges.llm_judge import LLMJudge
from evals.metrics.base import BaseMetric
from evals.run.asking import STOPPED, StopRule, ask_all
from evals.run.checks import (
    Workload,
    check_config,
    load_workload,
    make_judge,
    tell_estimate,
    wants_judge,
    with_semantics,
)
from evals.run.child_server import embedded_server, embedded_spec, not_used
from evals.run.estimate import Known
from evals.run.inquest import Inquest
from evals.run.judging import NOTE, Judging
from evals.run.observer import Observer
from evals.run.preflight import check_probes, corpus_listed, to_probe
from evals.run.resume import check_resumable, kept_of, lock_saved, with_concurrency, with_way_on
from evals.run.text_models import compare_texts, without_models
from evals.runtime import run_anywhere, seldom_collecting
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, JudgeVerdict, ServerRecord
from evals.scoring.conclusion import conclude
from evals.scoring.outcomes import notes_on_answers, package_versions, usage_limit
from evals.scoring.scorecard import ScoreSettings
from evals.store.runs import Journal, RunStore

__all__ = ["EvaluationRunner", "RAGClient", "run_evaluation", "run_evaluation_async"]

_START_ONE = "start the server, or name yours with --rag-url"
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
    return run_anywhere(run_evaluation_async(config, observer))


async def run_evaluation_async(config: EvalConfig, observer: Observer | None = None) -> EvalRun:
    """Evaluate a server and save the run, as `run_evaluation` does, from asynchronous code."""
    return await EvaluationRunner(config, observer).run()


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
        self._earlier: EvalRun | None = None
        self._writing = ExitStack()
        self._journal: Journal | None = None
        self._responses: dict[str, EvalResponse] = {}
        self._metrics: list[BaseMetric] = []
        self._workload = Workload()
        self._stop = StopRule(config.concurrency)
        self._settings = ScoreSettings(
            match=config.match,
            worst_on_error=config.on_error == "worst",
            confidence=config.confidence,
        )
        self._judge: LLMJudge | None = None
        self._judging: Judging | None = None
        self._known_verdicts: dict[str, list[JudgeVerdict]] = {}
        self._ended_early = False
        self._notes: list[str] = []
        self._warmup: list[float | None] = []
        self._usage_limit: int | None = None
        self._snapshot: tuple[dict[str, Any], dict[str, Any]] = ({}, {})

    async def run(self) -> EvalRun:
        """Do the whole evaluation.

        Raises:
            EvalsError: It cannot be done, or had to end early for a reason that is no answer's fault.
        """
        self._metrics = check_config(self.config)
        if self._resume is not None:
            check_resumable(self.store.load(self._resume), self.config)
        self.store.prepare()
        async with AsyncExitStack() as stack:
            stack.enter_context(self._writing)
            if self._resume is not None:
                self._earlier, self._journal = lock_saved(self.store, self._resume, self._writing)
            stack.enter_context(seldom_collecting())
            if wants_judge(self.config, self._metrics):
                self._judge = make_judge(self.config)
                self._settings = replace(self._settings, judged=True)
            client = await self._connect(stack)
            self._settings = await with_semantics(self._settings, self.config, self._metrics, self.observer)
            await self._load_and_ingest(client)
            return await self._evaluate(client)

    async def _connect(self, stack: AsyncExitStack) -> RAGClient:
        """Health check and snapshot: a dead server is known before datasets are loaded."""
        spec = self.config.server_spec()
        if self.config.embedded:
            self.observer.phase("starting the embedded server")
            url = stack.enter_context(embedded_server())
            spec = embedded_spec(url, self.config.server)
            if unused := not_used(self.config.server):
                self._note(f"the embedded server is asked and read in its own way: server.{unused[0]} is not used")
        client = RAGClient(
            spec,
            concurrency=self.config.concurrency,
            max_attempts=self.config.max_attempts,
            rps=self.config.rps,
        )
        self._settings = replace(self._settings, citation_base=spec.citations.base)
        self._usage_limit = usage_limit(self._metrics, spec.usage_needs_concurrency)
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
        if not report.listed:
            self._note(f"the server does not list its documents: all {report.uploaded} were uploaded")
        if report.already_there:
            self._note(
                f"{report.already_there} of {len(self._workload.documents)} documents were on the server already"
            )

    async def _tell_estimate(self) -> None:
        """Say what the judge will take, and whether the budget will do."""
        if (judge := self._judge) is None:
            return
        inquest, work = Inquest(self._metrics, self._settings, judge.identity, judge.repeats), self._workload
        there = inquest.fitting_all(work.questions, self._responses, self._known_verdicts)
        known, spent = Known(self._responses, there), judge.spent_usd
        await tell_estimate(self.config, self._metrics, work, known, self._settings, self.observer, spent_usd=spent)

    async def _evaluate(self, client: RAGClient) -> EvalRun:
        probes = await self._choose_probes(client)
        run = self._begin(client)
        await self._tell_estimate()
        self.store.save(run)
        self.run_id = run.id
        started = time.monotonic()
        problem: EvalsError | None = None
        try:
            with self._writing:
                journal = self._journal or self._writing.enter_context(self.store.journal(run))
                if self._journal is None:
                    journal.questions(self._workload.questions)
                if self._judge is not None:
                    self._judging = self._make_judging(self._judge, journal)
                await self._warm_up(client)
                await self._ask_and_judge(client, journal, probes)
            end: dict[str, Any] | None = (await client.info())[1]
        except asyncio.CancelledError:
            self._finish(run, started, snapshot_end=None, interrupted=True)
            raise
        except CorpusMissingError as error:
            problem, end = error, None
            self._ended_early = True
        except JudgeError as error:
            self._notes.append(f"{NOTE} work ended early: {error.message}")
            problem, end = with_way_on(error, run.id, self.config), None
            self._ended_early = True
        finally:
            self.observer.end()
        finished = await self._compare_and_finish(run, started, end)
        if self._stop.refused and not finished.outcomes.answered:
            problem = ServerRefusedError(
                self._stop.reason or "refused", "set server.headers, for example a bearer token"
            )
        if set(finished.outcomes.transport) == {"connect"} and not finished.outcomes.answered:
            problem = ServerUnreachableError(f"nothing answers at {client.url}: {self._stop.reason}", _START_ONE)
        if problem is not None:
            raise problem
        return finished

    def _begin(self, client: RAGClient) -> EvalRun:
        """The run's first state."""
        if self._earlier is not None:
            return self._continue(self._earlier, client)
        run_id = token_hex(4)
        facts, raw = self._snapshot
        return EvalRun(
            id=run_id,
            name=self.config.name or f"eval-{run_id}",
            created_at=datetime.now(UTC).replace(microsecond=0),
            config={**dict.fromkeys(_FACTS), **facts},
            datasets=[fingerprint.name for fingerprint in self._workload.fingerprints],
            question_count=len(self._workload.questions),
            eval_config=self.config.as_written(),
            server=ServerRecord(
                url=client.url,
                profile=client.spec.profile,
                spec_sha256=client.spec.fingerprint(),
                citation_base=client.spec.citations.base,
                masked=list(in_clear(self.config.server)),
                snapshot_start=raw,
            ),
            fingerprints=self._workload.fingerprints,
            seed=self.config.seed,
            concurrency=self.config.concurrency,
            package_versions=package_versions(),
        )

    def _continue(self, run: EvalRun, client: RAGClient) -> EvalRun:
        """Take up a saved run: what was answered is kept, what failed or was never asked is asked."""
        same = [f.sha256 for f in run.fingerprints] == [f.sha256 for f in self._workload.fingerprints]
        if not same:
            raise ConfigError(
                f"run {run.id} asked other questions than the datasets give now",
                "begin a new run without --resume",
            )
        kept = kept_of(self.store.records(run))
        self._responses, self._known_verdicts = kept.responses, kept.verdicts
        if self._judge is not None:
            self._judge.spent_usd += kept.spent_usd
        if run.config != {**dict.fromkeys(_FACTS), **self._snapshot[0]} and not self.config.embedded:
            self._note(f"the configuration of {client.url} is not what it was when the run began")
        self._note(f"resumed with {len(self._responses)} of {run.question_count} questions answered")
        return with_concurrency(run, self.config.concurrency, kept=len(self._responses))

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

    def _make_judging(self, judge: LLMJudge, journal: Journal) -> Judging:
        """The judging, which knows the answers and verdicts of a resumed run from the start: none may be lost."""
        before = self._earlier.judge if self._earlier is not None else None
        judging = Judging(judge, self._metrics, self._settings, journal, before=before, tell=self.observer.note)
        for question in self._workload.questions:
            if question.id in self._responses:
                known = self._known_verdicts.get(question.id, [])
                judging.take_up(question, self._responses[question.id], known)
        return judging

    async def _ask_and_judge(self, client: RAGClient, journal: Journal, probes: Sequence[EvalQuestion]) -> None:
        """Ask what is to be asked, and judge every answer as soon as it is there."""
        if self._judging is None:
            await self._ask(client, journal, probes)
            return
        try:
            self._judging.go_on()
            await self._ask(client, journal, probes)
            self.observer.phase("waiting for the judge")
            await self._judging.finish()
        finally:
            await self._judging.stop()

    async def _ask(self, client: RAGClient, journal: Journal, probes: Sequence[EvalQuestion]) -> None:
        questions = self._workload.questions
        self.observer.begin(len(questions), len(self._responses))

        def on_answer(question: EvalQuestion, response: EvalResponse) -> None:
            self._responses[question.id] = response
            journal.answer(question.id, response)
            self.observer.answered(question, response)
            if self._judging is not None:
                self._judging.start(question, response)

        async def ask(some: Sequence[EvalQuestion]) -> None:
            todo = [question for question in some if question.id not in self._responses]
            await ask_all(client, todo, concurrency=self.config.concurrency, on_answer=on_answer, stop=self._stop)

        if probes:
            await ask(probes)
            asked = [(probe, self._responses[probe.id]) for probe in probes if probe.id in self._responses]
            check_probes(client, asked, self._settings.match)
        if not self._stop.reason:
            await ask(questions)

    async def _compare_and_finish(self, run: EvalRun, started: float, snapshot_end: dict[str, Any] | None) -> EvalRun:
        """Compare texts where metrics want that, then finish; whoever ends the comparison has the rest saved."""
        try:
            self._settings = await compare_texts(self._metrics, self._records(), self._settings, self.observer)
        except asyncio.CancelledError:
            self._finish(run, started, snapshot_end, interrupted=True)
            raise
        return self._finish(run, started, snapshot_end)

    def _records(self) -> list[EvalRecord]:
        verdicts = self._judging.verdicts if self._judging else {}
        return [
            EvalRecord.model_construct(
                question=question,
                response=self._responses.get(question.id),
                verdicts=verdicts.get(question.id, []),
            )
            for question in self._workload.questions
        ]

    def _finish(
        self, run: EvalRun, started: float, snapshot_end: dict[str, Any] | None, *, interrupted: bool = False
    ) -> EvalRun:
        """Score what there is and save it; never asks anything."""
        self.observer.phase("scoring")
        plain = self._records()
        settings = (
            without_models(self._settings, "interrupted before texts were compared") if interrupted else self._settings
        )
        earlier = [note for note in run.notes if not note.startswith((NOTE, STOPPED))]
        start = run.server.snapshot_start
        changed = _changed(start, snapshot_end)
        finished, records = conclude(
            run,
            plain,
            self._metrics,
            settings,
            self.config,
            warmup_ms=self._warmup,
            ended_early=interrupted or self._ended_early or bool(self._judging and self._judging.incomplete),
            stopped=self._stop.reason,
            judge=self._judging.record() if self._judging else None,
            server=run.server.model_copy(update={"snapshot_end": snapshot_end, "changed": changed}),
            duration_s=round(run.duration_s + time.monotonic() - started, 3),
            notes=list(dict.fromkeys([*earlier, *self._notes, *self._closing_notes(plain, changed, run.concurrency)])),
        )
        self.store.compact(finished, records)
        self.store.save(finished)
        return finished

    def _closing_notes(self, records: Sequence[EvalRecord], changed: bool | None, concurrency: int) -> list[str]:
        notes = [f"{STOPPED}{self._stop.reason}"] if self._stop.reason else []
        if changed:
            notes.append("the server's configuration changed during the run")
        if self._judging is not None:
            notes += self._judging.notes()
        return notes + notes_on_answers(records, concurrency=concurrency, usage_limit=self._usage_limit)

    def _note(self, message: str) -> None:
        self._notes.append(message)
        self.observer.note(message)


def _changed(start: dict[str, Any], end: dict[str, Any] | None) -> bool | None:
    """Whether what could be read at both ends differs; None where nothing could."""
    both = [path for path, body in start.items() if body is not None and (end or {}).get(path) is not None]
    return any(start[path] != (end or {})[path] for path in both) if both else None
