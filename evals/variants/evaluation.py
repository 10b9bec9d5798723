"""`VariantsRunner`: connect to all → ask in turn → judge, score and save one after the other."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import chain

from evals.config import EvalConfig
from evals.errors import ConfigError, CorpusMissingError, EvalsError
from evals.metrics.base import BaseMetric
from evals.run.asking import Asking
from evals.run.checks import check_config, wants_judge
from evals.run.instruments import Instruments, load_instruments, make_judge
from evals.run.notebook import usual_observer
from evals.run.observer import Observer
from evals.run.resume import set_apart
from evals.run.work import Work
from evals.run.workload import Workload
from evals.runner import EvaluationRunner, MetServer
from evals.runtime import seldom_collecting
from evals.schemas import EvalQuestion, EvalResponse, EvalRun
from evals.scoring.measured import Measured
from evals.scoring.settings import Cases
from evals.variants.resume import is_in_turn
from evals.variants.turns import Lane, ask_in_turn

OTHER_REFUSED = "another variant ended the asking of all"


@dataclass
class _Variant:
    """One of the runs on its way."""

    runner: EvaluationRunner
    server: MetServer
    asking: Asking
    work: Work
    instruments: Instruments

    @property
    def cases(self) -> Cases:
        """Its records as metrics see them."""
        return Cases(self.instruments.settings(self.runner.config, self.work.run.server.citation_base))


class VariantsRunner:
    """Evaluations over the same questions, which are asked in turn: one run each.

    All are asked before the first is judged, so that no judge takes the time of this machine while latencies are
    measured. What ends one variant early leaves the others alone, but for documents that a server lacks.

    Args:
        configs: Of each run; they differ in `server` and `name` only.
        observer: Hears of the progress; where none is given, the cell of a notebook, in a script nobody.
        resume: The saved runs to go on with, one for each configuration; None to begin new ones.
    """

    def __init__(
        self, configs: Sequence[EvalConfig], observer: Observer | None = None, *, resume: Sequence[EvalRun] = ()
    ) -> None:
        if resume and len(resume) != len(configs):
            raise ConfigError("as many runs go on as there are configurations, or none")
        if any(config.engine.name != "local" for config in configs):
            raise ConfigError("engine: variants are asked in turn, which is for one process", "leave --engine out")
        self.observer = observer or usual_observer()
        before: Sequence[EvalRun | None] = resume or [None] * len(configs)
        self.runners = [
            EvaluationRunner(config, self.observer, resume=run) for config, run in zip(configs, before, strict=True)
        ]
        self.config = configs[0]
        for runner in self.runners:  # together they start as many requests in a second as one run does
            runner.rps = self.config.rps / len(configs) if self.config.rps else None

    @property
    def run_ids(self) -> list[str]:
        """The ids of the runs, as soon as there is something saved."""
        return [runner.run_id for runner in self.runners if runner.run_id is not None]

    async def evaluate(self) -> list[Measured]:
        """Make all the runs.

        Returns:
            In the order of the configurations, each saved run with its records.

        Raises:
            EvalsError: A run cannot be made, or ended early; the others are saved whole before it is raised.
        """
        metrics = check_config(self.config)
        for runner in self.runners[1:]:
            check_config(runner.config)
        async with AsyncExitStack() as stack:
            variants = await self._prepare(stack, metrics)
            started = time.monotonic()
            await self._ask(variants)
            took = time.monotonic() - started
            for variant in variants:
                variant.work = replace(variant.work, before_s=variant.work.before_s + took)
            return await self._measure(variants)

    async def _prepare(self, stack: AsyncExitStack, metrics: Sequence[BaseMetric]) -> list[_Variant]:
        first = self.runners[0]
        begun = [runner.take_up(stack) for runner in self.runners]
        first.store.prepare()
        stack.enter_context(seldom_collecting())
        embedded_at = first.start_embedded(stack) if self.config.embedded else None
        servers = [await runner.connect(stack, embedded_at) for runner in self.runners]
        instruments = await load_instruments(self.config, metrics, self.observer)
        workload = await first.load()
        await self._give_documents(servers, workload)
        both = zip(self.runners, servers, strict=True)
        servers = [await runner.survey(server, workload) for runner, server in both]
        askings = [
            await runner.prepare_asking(server.client, workload)
            for runner, server in zip(self.runners, servers, strict=True)
        ]
        works = [
            await runner.plan(there, server, workload)
            for runner, there, server in zip(self.runners, begun, servers, strict=True)
        ]
        opened = [
            self._opened(work, runner, stack) for work, runner in zip(self._marked(works), self.runners, strict=True)
        ]
        own = [instruments, *(self._with_own_judge(instruments, runner, metrics) for runner in self.runners[1:])]
        together = zip(self.runners, servers, askings, opened, own, strict=True)
        return [_Variant(*parts) for parts in together]

    async def _give_documents(self, servers: Sequence[MetServer], workload: Workload) -> None:
        """Upload to each server once, however many variants ask it."""
        filled: set[str] = set()
        for runner, server in zip(self.runners, servers, strict=True):
            if server.client.url not in filled:
                await runner.give_documents(server.client, workload)
            filled.add(server.client.url)

    @staticmethod
    def _with_own_judge(
        instruments: Instruments, runner: EvaluationRunner, metrics: Sequence[BaseMetric]
    ) -> Instruments:
        """The same models, with a judge of its own, which counts its own money."""
        judge = make_judge(runner.config) if wants_judge(runner.config, metrics) else None
        return replace(instruments, judge=judge)

    def _marked(self, works: Sequence[Work]) -> list[Work]:
        """The runs with the mark that lets their latency compare, where they are asked in turn."""
        if not is_in_turn([work.responses for work in works], len(works[0].questions)):
            return [replace(work, run=set_apart(work.run)) for work in works]
        ids = [work.run.id for work in works]
        return [replace(work, run=work.run.model_copy(update={"interleaved_with": ids})) for work in works]

    @staticmethod
    def _opened(work: Work, runner: EvaluationRunner, stack: AsyncExitStack) -> Work:
        """The same, saved as far as it is known, and with its log: a kill while it asks costs no answer."""
        runner.store.save(work.run.model_copy(update={"record_sum": None}))
        if work.journal is not None:
            return work
        journal = stack.enter_context(runner.store.journal(work.run))
        journal.questions(work.questions)
        return replace(work, journal=journal)

    async def _ask(self, variants: Sequence[_Variant]) -> None:
        """Ask all questions of all variants; what ends that early is left for the measuring of each to raise."""
        questions = variants[0].work.questions
        lanes = [self._lane(one) for one in variants]
        probes = list({probe.id: probe for probe in chain(*(one.asking.probes for one in variants))}.values())
        done = sum(len(one.work.responses) for one in variants)
        self.observer.begin(len(questions) * len(variants), done)
        for variant in variants:
            variant.server.client.restart_pace()
        try:
            await self._ask_some(lanes, probes)
            if not self._corpus_is_missing(variants):
                await self._ask_some(lanes, questions)
        except asyncio.CancelledError as error:
            for variant in variants:
                variant.asking.ended_by = error
        finally:
            self.observer.end()

    async def _ask_some(self, lanes: Sequence[Lane], questions: Sequence[EvalQuestion]) -> None:
        await ask_in_turn(lanes, questions, concurrency=self.config.concurrency, seed=self.config.seed)

    def _lane(self, variant: _Variant) -> Lane:
        client = variant.server.client
        return Lane(client, variant.work.responses, self._hear(variant), variant.asking.stop, client.tracing)

    def _hear(self, variant: _Variant) -> Callable[[EvalQuestion, EvalResponse], None]:
        def on_answer(question: EvalQuestion, response: EvalResponse) -> None:
            work = variant.work
            work.responses[question.id] = response
            if work.journal is not None:
                work.journal.answer(question.id, response)
            self.observer.answered(question, response)

        return on_answer

    @staticmethod
    def _corpus_is_missing(variants: Sequence[_Variant]) -> bool:
        """Whether a server lacks the documents: then nobody is asked any more."""
        for variant in variants:
            try:
                variant.asking.check(variant.work.responses, variant.cases)
            except CorpusMissingError as error:
                for other in variants:
                    other.asking.stop.reason = other.asking.stop.reason or OTHER_REFUSED
                variant.asking.ended_by = error
                return True
        return False

    async def _measure(self, variants: Sequence[_Variant]) -> list[Measured]:
        """Judge, score and save each; what went wrong with one is raised after the last."""
        done: list[Measured] = []
        problems: list[BaseException] = []
        for variant in variants:
            try:
                done.append(await variant.runner.measure(variant.work, variant.instruments, variant.asking))
            except (EvalsError, asyncio.CancelledError) as error:
                problems.append(error)
        if problems:
            raise next(self._worst(problems))
        return done

    @staticmethod
    def _worst(problems: Sequence[BaseException]) -> Iterator[BaseException]:
        """What to raise of several: first of all that somebody pressed Ctrl-C."""
        yield from (error for error in problems if isinstance(error, asyncio.CancelledError))
        yield from problems
