"""`EvaluationRunner`: connect → load → (upload) → check the corpus → ask and judge → score → save."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evals.client.ingest import ingest, upload_key, uploads_of
from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.errors import ConfigError, CorpusMissingError, EngineError, JudgeError, ServerRefusedError, StoreError
from evals.judges.record import NOTE as JUDGE_NOTE
from evals.run.asking import CHANGED, STOPPED, Ask, StopRule, ask_all, has_changed
from evals.run.checks import Tools, check_config, load_tools
from evals.run.corpus import (
    UNFOUND,
    Corpus,
    check_kind,
    check_probes,
    choose_probes,
    chunks_path,
    chunks_unfound,
    remarks_on,
    survey_corpus,
)
from evals.run.embedded import embedded_server, embedded_spec, other_profile
from evals.run.judging import Judging
from evals.run.observer import Observer, Remarks, usual_observer
from evals.run.resume import check_resumable, reopen, unanswered, with_concurrency
from evals.run.scoring import Scoring, score_journal
from evals.run.workload import SHARD, Workload, check_conversations, load_workload, new_run
from evals.runtime import run_anywhere
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, ServerRecord
from evals.schemas.results import EngineRecord, EvalRun
from evals.scoring.saved import SavedRun
from evals.scoring.settings import ScoreSettings
from evals.secrets import in_clear
from evals.store.journal import Journal
from evals.store.runs import RunStore, way_on_of
from evals.store.uploads import UploadLog
from evals.text.numbers import counted

__all__ = ["EvaluationRunner", "RAGClient", "run_evaluation", "run_evaluation_async"]

UNVERIFIED = "certificates were not verified (server.tls.verify is false)"
"""How the note of a run begins whose server may have been another one."""

THROTTLED = "refused for the moment, and made again at a lower rate"
"""How the note of a run ends whose server had too much to do."""

_LOOKED_AT = 100
"""The first answers tell whether the profile finds chunks."""

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
        observer: Receives the progress; without one, a notebook shows it in the cell.

    Returns:
        The saved run; look at its `status`: a run with too many failures is "partial", one without answers "failed".

    Raises:
        EvalsError: The configuration is wrong, or the server, the dataset hub or the disk cannot be used.
    """
    return run_anywhere(run_evaluation_async(config, observer))


async def run_evaluation_async(config: EvalConfig, observer: Observer | None = None) -> EvalRun:
    """Evaluate a server and save the run, as `run_evaluation` does, from asynchronous code."""
    return await EvaluationRunner(config, observer).run()


@dataclass
class Server:
    """The server under evaluation: healthy, and with what it says of itself."""

    client: RAGClient
    facts: Mapping[str, Any]
    snapshot: dict[str, Any]
    corpus: Corpus = field(default_factory=Corpus)
    warmup_ms: list[float | None] = field(default_factory=list)


@dataclass
class Prepared:
    """A run that is ready to be asked."""

    run: EvalRun
    journal: Journal
    server: Server
    workload: Workload
    tools: Tools
    stop: StopRule


class EvaluationRunner:
    """One evaluation of one server.

    Args:
        config: What to do.
        observer: Receives the progress; without one, a notebook shows it in the cell.
        resume: Resume this saved run (or the run of this id) instead of beginning a new one.
    """

    def __init__(
        self, config: EvalConfig, observer: Observer | None = None, *, resume: EvalRun | str | None = None
    ) -> None:
        self.config = config
        self.observer = observer or usual_observer()
        self.remarks = Remarks(self.observer)
        self.store = RunStore(config.runs_dir)
        self.run_id: str | None = None
        """Known as soon as there is something saved."""
        self.engine: EngineRecord | None = None
        """The cluster that asked; None where this process asks."""
        self._resume = resume

    async def run(self) -> EvalRun:
        """Do the whole evaluation.

        Raises:
            EvalsError: It cannot be done, or had to end early for a reason that is no answer's fault.
        """
        return (await self.evaluate()).run

    async def evaluate(self) -> SavedRun:
        """The same; the run comes with its records and results."""
        async with AsyncExitStack() as stack:
            return await self.measure(await self.prepare(stack))

    async def prepare(self, stack: AsyncExitStack) -> Prepared:
        """All that comes before asking: connect, load, upload, check the corpus, begin or resume the run.

        Args:
            stack: Closes connections and journal.

        Raises:
            EvalsError: It cannot be done.
        """
        if self.config.variants:
            raise ConfigError(
                f"this makes one run, and the configuration has {counted(len(self.config.variants), 'variant')}",
                "`evals.variants.run_variants(config)` makes a run of each; so does `evals eval`",
            )
        metrics = check_config(self.config)
        resumed = self._resumed()
        self.store.prepare()
        server = await self.connect(stack)
        tools = await load_tools(self.config, metrics, self.observer)
        workload = await self.load()
        await self.upload(server.client, workload)
        await self.survey(server, workload)
        run, journal = self.begin(server, workload) if resumed is None else self.resume_saved(resumed, server, workload)
        stack.push(journal)
        server.client.run_id = run.id
        return Prepared(run, journal, server, workload, tools, StopRule(self.config.concurrency))

    # Before anything is asked.

    def _resumed(self) -> EvalRun | None:
        if self._resume is None:
            return None
        run = self.store.load(self._resume) if isinstance(self._resume, str) else self._resume
        check_resumable(run, self.config)
        return run

    async def connect(self, stack: AsyncExitStack) -> Server:
        """Health check and snapshot: a dead server is known before datasets are loaded.

        Raises:
            ServerError: The server is not there, or is not healthy.
        """
        spec = self._spec(stack)
        client = RAGClient(
            spec,
            concurrency=self.config.concurrency,
            max_attempts=self.config.max_attempts,
            rps=self.config.rps,
        )
        client.retrying.tell = self.observer.phase
        if client.spec.trusts_anybody:
            self.remarks.add(f"{UNVERIFIED}: anybody on the way to {client.url} could read and change what is sent")
        await stack.enter_async_context(client)
        self.observer.phase(f"checking {client.url}")
        await client.health()
        facts, snapshot = await client.info()
        return Server(client, {**dict.fromkeys(_FACTS), **facts}, snapshot)

    def _spec(self, stack: AsyncExitStack) -> ServerSpec:
        """How the server is asked; the built-in one is started where it is wanted."""
        if not self.config.embedded:
            return self.config.server_spec()
        self.observer.phase("starting the embedded server")
        spec = embedded_spec(stack.enter_context(embedded_server()), self.config.server)
        if other := other_profile(self.config.server):
            self.remarks.add(f"the embedded server is of profile {spec.profile}: server.profile {other} is not used")
        return spec

    async def load(self) -> Workload:
        """Load the questions and documents.

        Raises:
            EvalsError: They cannot be loaded or read.
        """
        self.observer.phase("loading datasets")
        workload = await asyncio.to_thread(load_workload, self.config)
        check_conversations(self.config.server_spec(), workload.questions)
        if self.config.shard:
            shard = f"{SHARD} {self.config.shard} of the questions"
            self.remarks.add(f"{shard}: `evals merge` makes one run of all shards")
        return workload

    async def upload(self, client: RAGClient, workload: Workload) -> None:
        """Upload the documents of the datasets, where the server is to hold them.

        Raises:
            EvalsError: There are none, or they cannot be uploaded.
        """
        if not (self.config.ingest or self.config.embedded):
            return
        count = len(workload.documents)
        if not count:
            raise ConfigError(
                "there are no documents to ingest: these questions come without a corpus",
                "put `documents` next to `questions` into a JSON file, or evaluate a server that holds them",
            )
        self.observer.phase(f"uploading {counted(count, 'document')}")
        # An embedded server ends with the run, and its documents with it.
        with UploadLog(None if self.config.embedded else self.store.folder, upload_key(client)) as log:
            documents, watch = uploads_of(workload.documents), self.observer
            report = await ingest(client, documents, log, progress=watch.progress, waiting=watch.waiting)
        for remark in remarks_on(report):
            self.remarks.add(remark)

    async def survey(self, server: Server, workload: Workload) -> None:
        """See which gold documents the server lists, and ask the unscored warm-up questions."""
        corpus = await survey_corpus(server.client, workload.questions, self.store.folder)
        checks = self.config.preflight and self.config.part[0] == 1  # of shards the first does it for all
        server.corpus = corpus if checks else Corpus(ids=corpus.ids)
        server.client.reader.document_names = corpus.ids  # by which chunks are recognised, checked or not
        for question in workload.questions[: self.config.warmup]:
            self.observer.phase("warming up")
            response = await server.client.ask(question.question)
            server.warmup_ms.append(response.latency_ms)
            await check_kind(server.client, question, response, workload.questions)

    def begin(self, server: Server, workload: Workload) -> tuple[EvalRun, Journal]:
        """A new run, saved as far as it is known, with its journal."""
        spec = server.client.spec
        record = ServerRecord(
            url=server.client.url,
            profile=spec.profile,
            spec_sha256=spec.fingerprint(),
            citation_base=spec.citations.base,
            masked=list(in_clear(self.config.server)),
            snapshot_start=server.snapshot,
            missing_documents=server.corpus.missing,
            document_ids=server.corpus.ids,
        )
        run = new_run(
            self.config,
            record,
            (fingerprint.name for fingerprint in workload.fingerprints),
            len(workload.questions),
            config=dict(server.facts),
            fingerprints=workload.fingerprints,
            concurrency=self.config.concurrency,
        )
        self.store.save(run)
        self.run_id = run.id
        journal = self.store.journal(run)
        journal.plan(workload.questions)
        return run, journal

    def resume_saved(self, saved: EvalRun, server: Server, workload: Workload) -> tuple[EvalRun, Journal]:
        """A saved run with its journal: what was answered is kept, what failed or was never asked is asked.

        Raises:
            ConfigError: The run asked other questions.
            StoreError: Another process has resumed it, or it cannot be read.
        """
        run, journal = reopen(self.store, saved)
        if [one.sha256 for one in run.fingerprints] != [one.sha256 for one in workload.fingerprints]:
            journal.__exit__()
            raise ConfigError(f"run {run.id} asked other questions than the datasets give now", "begin a new run")
        self.run_id = run.id
        if len(journal) < len(workload.questions):
            journal.plan(workload.questions)  # a kill while they were written may have cut them off
        answered = len(journal) - len(unanswered(journal))
        self.remarks.add(f"resumed with {answered} of {counted(len(journal), 'question')} answered")
        if run.config != server.facts and not self.config.embedded:
            self.remarks.add(f"the configuration of {server.client.url} is not what it was when the run began")
        run = with_concurrency(run, self.config)
        self.store.save(run.model_copy(update={"record_sum": None}))  # from here on the journal grows
        return run, journal

    # Asking, judging, scoring.

    async def measure(self, prepared: Prepared, *, asked: bool = False) -> SavedRun:
        """Ask what is not answered yet, judge, score and save.

        What ends the work early is raised only after all that came in was scored and saved.

        Args:
            prepared: The run.
            asked: Whether its questions were asked already, in turn with those of other runs.

        Raises:
            EvalsError: The server refused the login, nothing was answered, or the work ended early.
        """
        run, journal, server = prepared.run, prepared.journal, prepared.server
        tools, stop = prepared.tools, prepared.stop
        settings = tools.settings(self.config, run.server.citation_base)
        judging = tools.begin_judging(self.config, settings, journal, self.observer, asks=not asked, before=run.judge)
        problem: BaseException | None = None
        snapshot_end = None
        try:
            if judging is not None:
                judging.take_up()
            if not asked:
                await self._ask(prepared, settings, judging)
            snapshot_end = (await server.client.info())[1]
            if judging is not None:
                self.observer.phase("waiting for the judge")
                await judging.drain()
        except (asyncio.CancelledError, CorpusMissingError, EngineError, JudgeError) as error:
            problem = error
        except StoreError:
            if not self.store.run_path(run).exists():
                self.store.save(run)  # the file of the run was deleted while its journal was written
            raise
        finally:
            if judging is not None:
                await judging.stop()
            self.observer.end()
        changed = has_changed(run.server.snapshot_start, snapshot_end)
        answers = (record.response for record in islice(journal, _LOOKED_AT) if record.response is not None)
        unfound = chunks_unfound(chunks_path(server.client.spec), answers)
        throttled = server.client.retrying.throttled
        notes = [
            *(note for note in run.notes if not note.startswith(UNFOUND)),
            *([unfound] if unfound else []),
            *self.remarks.made,
            *([f"{STOPPED}{stop.reason}"] if stop.reason else []),
            *([CHANGED] if changed else []),
            *([f"{counted(throttled, 'request', 'was')} {THROTTLED}"] if throttled else []),
            *(judging.notes(run.config) if judging is not None else []),
            *([f"{JUDGE_NOTE} work ended early: {problem.message}"] if isinstance(problem, JudgeError) else []),
        ]
        incomplete = problem is not None or (judging is not None and judging.incomplete)
        saved = score_journal(
            Scoring(run, tools.metrics, settings, self.config, server.client.spec.usage_needs_concurrency),
            journal,
            self.store,
            self.observer,
            ended="no_documents" if isinstance(problem, CorpusMissingError) else "early" if incomplete else "whole",
            stopped=stop.reason,
            notes=notes,
            server=run.server.model_copy(update={"snapshot_end": snapshot_end, "changed": changed}),
            warmup_ms=server.warmup_ms or run.outcomes.warmup_ms,
            judge=judging.record() if judging is not None else None,
            engine=self.engine or run.engine,
            duration_s=round(journal.total_s(), 3),
        )
        if problem is None:
            problem = stop.problem(server.client, saved.run.outcomes)
            if isinstance(problem, ServerRefusedError) and self._resume is None:
                self.store.delete(run)  # a wrong key leaves nothing that is worth resuming
        if problem is not None:
            raise with_way_on(problem, saved.run, self.store)
        return saved

    async def _ask(self, prepared: Prepared, settings: ScoreSettings, judging: Judging | None) -> None:
        """Ask all questions without an answer; each exchange is journalled the moment it ends, then judged."""
        journal, client = prepared.journal, prepared.server.client
        todo = unanswered(journal)
        self.observer.begin(len(journal), len(journal) - len(todo))
        probes = self.probes(prepared, todo)
        async with self._asker(client) as ask:
            for rows in ([row for row in todo if row in probes], [row for row in todo if row not in probes]):
                asked: list[tuple[EvalQuestion, EvalResponse]] = []
                async for question, response in ask_all(
                    ask,
                    map(journal.question, rows),
                    concurrency=self.config.concurrency,
                    stop=prepared.stop,
                    unavailable=lambda: client.retrying.unavailable,
                ):
                    self.journal_answer(prepared, question, response)
                    if judging is not None:
                        judging.submit(question.id)
                    if len(asked) < len(probes):
                        asked.append((question, response))
                if rows and rows[0] in probes:
                    check_probes(client, asked, settings, own_file=self.config.dataset_file is not None)

    def journal_answer(self, prepared: Prepared, question: EvalQuestion, response: EvalResponse) -> None:
        """Journal an exchange the moment it ends, and show it."""
        prepared.journal.answer(question.id, response)
        self.observer.answered(question, response)

    @asynccontextmanager
    async def _asker(self, client: RAGClient) -> AsyncIterator[Ask]:
        """What questions are asked with: this process, or the workers of a Dask cluster."""
        if self.config.dask is None:
            yield client.ask
            return
        from evals.run.dask import ClusterAsker  # noqa: PLC0415 - half a second, and an extra

        async with ClusterAsker(self.config, client, self.observer) as cluster:
            yield cluster.ask
            self.engine = await cluster.record()

    def probes(self, prepared: Prepared, todo: Sequence[int]) -> frozenset[int]:
        """The questions whose answers show whether the corpus is on the server; none where that is known."""
        journal, server = prepared.journal, prepared.server
        if not (self.config.preflight and self.config.part[0] == 1) or len(todo) < len(journal):
            return frozenset()
        chosen = choose_probes(server.client, server.corpus, map(journal.question, todo))
        return frozenset(row for probe in chosen if (row := journal.row_of(probe.id)) is not None)


def with_way_on(problem: BaseException, run: EvalRun, store: RunStore) -> BaseException:
    """The same error; where paid-for answers are saved, it also says how to continue with them."""
    kinds = (EngineError, JudgeError, ServerRefusedError, StoreError)
    if not isinstance(problem, kinds) or "resume" in (problem.hint or "") or not run.outcomes.answered:
        return problem
    way_on = way_on_of(run, store.folder)
    return type(problem)(problem.message, f"{problem.hint}; {way_on}" if problem.hint else way_on)
