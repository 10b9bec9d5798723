"""`EvaluationRunner`: connect → load → ask and measure."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evals.client.ingest import ingest, upload_key, uploads_of
from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.asking import Asking
from evals.run.corpus import Corpus, choose_probes, chunks_path, remarks_on, survey_corpus
from evals.run.embedded import embedded_server, embedded_spec, other_profile
from evals.run.measure import measure
from evals.run.notebook import Observer, Remarks, usual_observer
from evals.run.resume import check_resumable, kept_of, lock_saved, note_on_widths, set_apart, with_concurrency
from evals.run.setup import (
    Toolkit,
    check_config,
    join_cluster,
    load_toolkit,
)
from evals.run.work import SHARD, RunDataset, RunPlan, check_conversations, load_workload, new_run
from evals.run.workers import ClusterAsking
from evals.runtime import run_anywhere
from evals.schemas.response import EvalResponse, ServerRecord
from evals.schemas.results import EvalRun
from evals.scoring.conclusion import Measured, gc_paused
from evals.secrets import in_clear
from evals.store.disk_buffer import SpilledMapping
from evals.store.journal import Journal, UploadLog
from evals.store.naming import command
from evals.store.records import damage_of
from evals.store.runs import RunStore
from evals.text.numbers import counted, share

if TYPE_CHECKING:
    from evals.run.cluster import Cluster  # which needs Dask

__all__ = ["EvaluationRunner", "RAGClient", "run_evaluation", "run_evaluation_async"]


UNVERIFIED = "certificates were not verified (server.tls.verify is false)"
"""How the note of a run begins whose server may have been another one."""


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


@dataclass(frozen=True, slots=True)
class ServerSession:
    """The server as it was met: healthy, and with what it says of itself."""

    client: RAGClient
    spec: ServerSpec
    """How it is asked, with ${NAME} as it is written."""
    facts: Mapping[str, Any]
    snapshot: dict[str, Any]
    corpus: Corpus = field(default_factory=Corpus)
    """What is known of the golds' documents."""


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
        self.rps = config.rps
        """At most this many requests start in a second."""
        self.store = RunStore(config.runs_dir)
        self.run_id: str | None = None
        """Known as soon as there is something saved."""
        self._resume = resume

    async def run(self) -> EvalRun:
        """Do the whole evaluation.

        Raises:
            EvalsError: It cannot be done, or had to end early for a reason that is no answer's fault.
        """
        return (await self.evaluate()).run

    async def evaluate(self) -> Measured:
        """The same; the run comes with its records."""
        if self.config.variants:
            raise ConfigError(
                f"this makes one run, and the configuration has {counted(len(self.config.variants), 'variant')}",
                "`evals.variants.VariantsRunner(variants_of(config))` makes a run of each; so does `evals eval`",
            )
        metrics = check_config(self.config)
        async with AsyncExitStack() as stack:
            begun = self.take_up(stack)
            self.store.prepare()
            stack.enter_context(gc_paused())
            server = await self.connect(stack)
            cluster = await join_cluster(stack, self.config, self.observer)
            instruments = await load_toolkit(self.config, metrics, self.observer, cluster)
            workload = await self.load()
            await self.give_documents(server.client, workload)
            server = await self.survey(server, workload)
            asking = await self.prepare_asking(server, workload)
            work = await self.plan(begun, server, workload)
            if cluster is not None:  # what plans the run has seen how the server calls its documents
                asking.others = await self._others(stack, cluster, server)
            if len(work.responses) < len(work.questions):
                work = replace(work, run=set_apart(work.run))
            return await self.measure(work, instruments, asking)

    async def _others(self, stack: AsyncExitStack, cluster: "Cluster", server: ServerSession) -> ClusterAsking:
        """The workers of the cluster, told how the server is asked."""
        from evals.run.cluster import Asker  # noqa: PLC0415 - half a second, and an extra

        config, names = self.config, server.client.document_names
        asker = Asker(server.spec, concurrency=config.concurrency, max_attempts=config.max_attempts, documents=names)
        await cluster.equip(asker)
        stack.push_async_callback(cluster.let_go)
        return ClusterAsking(cluster, concurrency=config.concurrency, tell=self.observer.note)

    @property
    def _checks_corpus(self) -> bool:
        """Whether to see that the server holds the documents: of shards the first does it for all."""
        return self.config.preflight and self.config.part[0] == 1

    def take_up(self, stack: AsyncExitStack) -> tuple[EvalRun, Journal] | None:
        """The run to resume, locked against other processes; None where a new one begins."""
        if self._resume is None:
            return None
        run = self.store.load(self._resume) if isinstance(self._resume, str) else self._resume
        check_resumable(run, self.config)
        return lock_saved(self.store, run, stack)

    async def connect(self, stack: AsyncExitStack, embedded_at: str | None = None) -> ServerSession:
        """Health check and snapshot: a dead server is known before datasets are loaded.

        Args:
            stack: Ends the connections, and the embedded server where one is started.
            embedded_at: The URL of an embedded server that runs already.

        Raises:
            EvalsError: The server is not there, or is not healthy.
        """
        spec = self.config.server_spec()
        if self.config.embedded:
            url = embedded_at or self.start_embedded(stack)
            spec = embedded_spec(url, self.config.server)
            if other := other_profile(self.config.server):
                unused = f"server.profile {other} is not used"
                self.remarks.add(f"the embedded server is of profile {spec.profile}: {unused}")
        client = RAGClient(
            spec,
            concurrency=max([self.config.concurrency, *self.config.load]),
            max_attempts=self.config.max_attempts,
            rps=self.rps,
        )
        if client.spec.trusts_anybody:
            self.remarks.add(f"{UNVERIFIED}: anybody on the way to {client.url} could read and change what is sent")
        await stack.enter_async_context(client)
        self.observer.phase(f"checking {client.url}")
        await client.health()
        facts, snapshot = await client.info()
        return ServerSession(client, spec, {**dict.fromkeys(_FACTS), **facts}, snapshot)

    def start_embedded(self, stack: AsyncExitStack) -> str:
        """Start the reference server; returns its URL."""
        self.observer.phase("starting the embedded server")
        return stack.enter_context(embedded_server())

    async def load(self) -> RunDataset:
        """Load the datasets.

        Raises:
            EvalsError: They cannot be had or read.
        """
        self.observer.phase("loading datasets")
        workload = await asyncio.to_thread(load_workload, self.config)
        check_conversations(self.config.server_spec(), workload.questions)
        if self.config.shard:
            shard = f"{SHARD} {self.config.shard} of the questions"
            self.remarks.add(f"{shard}: `evals merge` makes one run of all shards")
        return workload

    async def give_documents(self, client: RAGClient, workload: RunDataset) -> None:
        """Give the documents of the datasets to the server, where it is to hold them.

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
        # An embedded server ends with the run, and what it was given with it.
        with UploadLog(None if self.config.embedded else self.store.folder, upload_key(client)) as log:
            documents, told = uploads_of(workload.documents), self.observer
            report = await ingest(client, documents, log, progress=told.progress, waiting=told.waiting)
        for remark in remarks_on(report):
            self.remarks.add(remark)

    async def survey(self, server: ServerSession, workload: RunDataset) -> ServerSession:
        """The server with what is known of its corpus."""
        if not self._checks_corpus:
            return server
        corpus = await survey_corpus(server.client, workload.questions, self.store.folder)
        server.client.know_documents(corpus.ids)
        return replace(server, corpus=corpus)

    async def prepare_asking(self, server: ServerSession, workload: RunDataset) -> Asking:
        """What will ask; the server is warm then.

        Args:
            server: Who is asked.
            workload: What is asked.

        Raises:
            ServerRefusedError: The server is of another kind.
        """
        client, corpus, questions = server.client, server.corpus, workload.questions
        probes = choose_probes(client, corpus, questions) if self._checks_corpus else []
        asking = Asking(client, self.config, self.observer, probes)
        await asking.warm_up(workload.questions)
        return asking

    async def plan(self, begun: tuple[EvalRun, Journal] | None, server: ServerSession, workload: RunDataset) -> RunPlan:
        """What is to be measured: a new run, or a resumed one.

        Raises:
            ConfigError: The run asked other questions.
        """
        work = self._go_on(*begun, server, workload) if begun else self._begin(server, workload)
        self.run_id = work.run.id
        return work

    async def measure(self, work: RunPlan, instruments: Toolkit, asking: Asking) -> Measured:
        """Ask what is not asked yet; judge, score and save all.

        Raises:
            EvalsError: The server refused every question, or the work ended early.
        """
        done = await measure(work, instruments, self.config, self.observer, asking=asking)
        problem = asking.problem(done.run.outcomes)
        if problem is not None:
            raise problem
        return done

    def _begin(self, server: ServerSession, workload: RunDataset) -> RunPlan:
        """A new run."""
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
            concurrencies=self.config.load,
            notes=note_on_widths(self.config.load),
        )
        return self._work(run, server, workload, responses=SpilledMapping(EvalResponse, self.store.folder))

    def _go_on(self, run: EvalRun, journal: Journal, server: ServerSession, workload: RunDataset) -> RunPlan:
        """Take up a saved run: what was answered is kept, what failed or was never asked is asked."""
        if [one.sha256 for one in run.fingerprints] != [one.sha256 for one in workload.fingerprints]:
            raise ConfigError(
                f"run {run.id} asked other questions than the datasets give now",
                "begin a new run",
            )
        log = self.store.open_records(run)
        if damage := damage_of(run, log):
            self.remarks.add(f"resumed over damaged records: {damage.said}")
        planned = set(log.ids)  # a kill while they were written may have cut them off
        journal.questions(question for question in workload.questions if question.id not in planned)
        responses, verdicts = kept_of(log, self.store.folder)
        if run.config != server.facts and not self.config.embedded:
            self.remarks.add(f"the configuration of {server.client.url} is not what it was when the run began")
        self.remarks.add(f"resumed with {share(len(responses), run.question_count, 'question')} answered")
        if not self.config.load:
            run = with_concurrency(run, self.config.concurrency, kept=len(responses))
        return self._work(
            run,
            server,
            workload,
            responses=responses,
            verdicts=verdicts,
            before=run.judge,
            journal=journal,
            before_s=log.elapsed_s,
        )

    def _work(self, run: EvalRun, server: ServerSession, workload: RunDataset, **fields: Any) -> RunPlan:
        spec = server.client.spec
        return RunPlan(
            run=run,
            questions=workload.questions,
            documents=workload.documents,
            usage_needs_concurrency=spec.usage_needs_concurrency,
            chunks_path=chunks_path(spec),
            notes=self.remarks.made,
            way_on=f"what was answered is saved: {command(f'eval --resume {run.id}', self.config.runs_dir)}",
            **fields,
        )
