"""Several runs over the same questions, asked in turn: each variant is the server with some keys of its own.

    runs = asyncio.run(VariantsRunner(variants_of(config)).evaluate())

docs/variants.md says what comes out, and how latency is compared.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Any

from evals.compare.models import Comparison
from evals.compare.pairing import SavedRun
from evals.config import DEFAULT_SUITE, EvalConfig
from evals.errors import ConfigError, CorpusMissingError, EvalsError, RunNotFoundError
from evals.metrics.base import BaseMetric
from evals.metrics.retrieval import SetPrecision
from evals.run.asking import Asking
from evals.run.notebook import Observer, usual_observer
from evals.run.resume import set_apart
from evals.run.setup import Toolkit, check_config, load_toolkit, make_judge
from evals.run.work import RunPlan
from evals.runner import EvaluationRunner, ServerSession
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.conclusion import Measured, gc_paused
from evals.scoring.settings import ScoringContext
from evals.store.runs import RunStore
from evals.text.yaml_files import merge

# Asking several servers the same questions in turn, so that what drifts in an hour drifts for all of them alike.


@dataclass
class Variant:
    """One of the runs on its way: its server is asked, and then its answers are measured."""

    runner: EvaluationRunner
    server: ServerSession
    asking: Asking
    work: RunPlan
    instruments: Toolkit
    observer: Observer

    def open_log(self, stack: AsyncExitStack) -> None:
        """Save the run as far as it is known, with its log: a kill while it asks costs no answer."""
        store, run = self.runner.store, self.work.run
        store.save(run.model_copy(update={"record_sum": None}))
        if self.work.journal is None:
            journal = stack.enter_context(store.journal(run))
            journal.questions(self.work.questions)
            self.work = replace(self.work, journal=journal)

    def wants(self, question: EvalQuestion) -> bool:
        """Whether this question is still to be asked here."""
        return self.asking.stop.reason is None and question.id not in self.work.responses

    async def ask(self, question: EvalQuestion) -> None:
        """Ask the question, and keep what came."""
        client, work = self.server.client, self.work
        response = await client.ask(question)
        self.asking.stop.see(response, client.unavailable)
        work.responses[question.id] = response
        if work.journal is not None:
            work.journal.answer(question.id, response)
        self.observer.answered(question, response)


async def ask_in_turn(
    variants: Sequence[Variant], questions: Sequence[EvalQuestion], *, concurrency: int, seed: int
) -> None:
    """Ask each question of all variants, one after the other, before the next one.

    The order of the variants is drawn anew for each question, so that none is always the one that finds the caches of a
    server warm. It depends on the seed and the question alone: a resumed run draws it alike.

    Args:
        variants: Of whom each question is asked.
        questions: In their order.
        concurrency: Questions in flight; of each one, one variant at a time.
        seed: Of the draws.
    """
    waiting = iter(questions)

    async def work() -> None:
        for question in waiting:
            for place in order_of(len(variants), question.id, seed):
                if variants[place].wants(question):
                    await variants[place].ask(question)
            if all(each.asking.stop.reason for each in variants):
                return

    workers = [asyncio.create_task(work()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def order_of(count: int, question_id: str, seed: int) -> list[int]:
    """In which order the variants are asked a question."""
    places = list(range(count))
    Random(f"{seed}/{question_id}").shuffle(places)  # noqa: S311 - no secret
    return places


# Going on with runs that were asked in turn: which they are, and whether they still count as asked in turn.


MOST_APART = 0.05
"""More of the questions than this, answered at another time than in the other variants, take the mark away."""


def saved_together(store: RunStore, run: EvalRun) -> list[EvalRun]:
    """The run with those that were asked in turn with it, in the order of the variants.

    Raises:
        ConfigError: One of them is not there any more.
    """
    ids = run.interleaved_with if run.id in run.interleaved_with else [run.id, *run.interleaved_with]
    found = []
    for run_id in ids:
        try:
            found.append(run if run_id == run.id else store.load(run_id))
        except RunNotFoundError as error:
            raise ConfigError(
                f"run {run.id} was asked in turn with run {run_id}, which is not there any more",
                "--alone continues this one; its latency compares with no other then",
            ) from error
    return found


def is_in_turn(answered: Sequence[Mapping[str, Any]], total: int) -> bool:
    """Whether resumed runs count as asked in turn: nearly all that is answered already is answered in each.

    Args:
        answered: By question, the answers that each run keeps.
        total: How many questions there are.
    """
    everywhere = set(answered[0]).intersection(*answered)
    somewhere = set().union(*answered)
    return len(somewhere) - len(everywhere) <= MOST_APART * total


# `VariantsRunner`: connect to all → ask in turn → judge, score and save one after the other.


OTHER_REFUSED = "another variant ended the asking of all"


class VariantsRunner:
    """Evaluations over the same questions, which are asked in turn: one run each.

    All are asked before the first is judged, so that no judge takes the time of this machine while latencies are
    measured. What ends one variant early leaves the others alone, but for documents that a server lacks.

    Args:
        configs: Of each run; they differ in `server` and `name` only.
        observer: Receives the progress; without one, a notebook shows it in the cell.
        resume: The saved runs to resume, one for each configuration; None to begin new ones.
    """

    def __init__(
        self, configs: Sequence[EvalConfig], observer: Observer | None = None, *, resume: Sequence[EvalRun] = ()
    ) -> None:
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

    async def _prepare(self, stack: AsyncExitStack, metrics: Sequence[BaseMetric]) -> list[Variant]:
        first = self.runners[0]
        begun = [runner.take_up(stack) for runner in self.runners]
        first.store.prepare()
        stack.enter_context(gc_paused())
        embedded_at = first.start_embedded(stack) if self.config.embedded else None
        servers = [await runner.connect(stack, embedded_at) for runner in self.runners]
        shared = await load_toolkit(self.config, metrics, self.observer)
        workload = await first.load()
        filled: set[str] = set()
        for runner, server in zip(self.runners, servers, strict=True):
            if server.client.url not in filled:  # once, however many variants ask it
                await runner.give_documents(server.client, workload)
            filled.add(server.client.url)
        variants: list[Variant] = []
        for runner, run, met in zip(self.runners, begun, servers, strict=True):
            server = await runner.survey(met, workload)
            asking = await runner.prepare_asking(server, workload)
            work = await runner.plan(run, server, workload)
            # models are shared, and each judge counts the money of its variant
            own = replace(shared, judge=make_judge(runner.config)) if variants and shared.judge else shared
            variants.append(Variant(runner, server, asking, work, own, self.observer))
        self._mark(variants)
        for variant in variants:
            variant.open_log(stack)
        return variants

    @staticmethod
    def _mark(variants: Sequence[Variant]) -> None:
        """Give the runs the mark that lets their latency compare, where they are asked in turn."""
        in_turn = is_in_turn([each.work.responses for each in variants], len(variants[0].work.questions))
        ids = [each.work.run.id for each in variants]
        for each in variants:
            run = each.work.run
            marked = run.model_copy(update={"interleaved_with": ids}) if in_turn else set_apart(run)
            each.work = replace(each.work, run=marked)

    async def _ask(self, variants: Sequence[Variant]) -> None:
        """Ask all questions of all variants; what ends that early is left for the measuring of each to raise."""
        questions = variants[0].work.questions
        probes = list({probe.id: probe for one in variants for probe in one.asking.probes}.values())
        self.observer.begin(len(questions) * len(variants), sum(len(one.work.responses) for one in variants))
        for variant in variants:
            variant.server.client.restart_pace()
        how = {"concurrency": self.config.concurrency, "seed": self.config.seed}
        try:
            await ask_in_turn(variants, probes, **how)
            if not self._corpus_is_missing(variants):
                await ask_in_turn(variants, questions, **how)
        except asyncio.CancelledError as error:
            for variant in variants:
                variant.asking.ended_by = error
        finally:
            self.observer.end()

    @staticmethod
    def _corpus_is_missing(variants: Sequence[Variant]) -> bool:
        """Whether a server lacks the documents; then no variant is asked any more."""
        for variant in variants:
            settings = variant.instruments.settings(variant.runner.config, variant.work.run.server.citation_base)
            try:
                variant.asking.check(variant.work.responses, ScoringContext(settings))
            except CorpusMissingError as error:
                for other in variants:
                    other.asking.stop.reason = other.asking.stop.reason or OTHER_REFUSED
                variant.asking.ended_by = error
                return True
        return False

    async def _measure(self, variants: Sequence[Variant]) -> list[Measured]:
        """Judge, score and save each; what went wrong with one is raised after the last."""
        done: list[Measured] = []
        problems: list[BaseException] = []
        for variant in variants:
            try:
                done.append(await variant.runner.measure(variant.work, variant.instruments, variant.asking))
            except (EvalsError, asyncio.CancelledError) as error:
                problems.append(error)
        for problem in sorted(problems, key=lambda error: not isinstance(error, asyncio.CancelledError)):
            raise problem  # first of all that somebody pressed Ctrl-C
        return done


_IN_REQUEST = "server.ask.json."


def with_alike(comparison: Comparison, saved: Sequence[SavedRun]) -> Comparison:
    """With a warning where requests were varied, and every answer and chunk is the same: a key may be misspelled."""
    found = (line.partition(":")[0] for line in comparison.differences)
    varied = ", ".join(key.removeprefix(_IN_REQUEST) for key in found if key.startswith(_IN_REQUEST))
    if not varied or any(len(set(map(_said, row))) > 1 for row in zip(*(each.records for each in saved), strict=False)):
        return comparison
    said = f"all variants gave the same answers and chunks: does the server read {varied}?"
    return comparison.model_copy(update={"warnings": [said, *comparison.warnings]})


def _said(record: EvalRecord) -> tuple[str | None, ...]:
    response = record.response or EvalResponse()
    return record.question.id, response.answer, *(chunk.text or chunk.chunk_id for chunk in response.chunks or [])


# The configuration of each variant.


def variants_of(config: EvalConfig) -> list[EvalConfig]:
    """The configuration of each variant: its keys laid over `server`, its label in the name, its share of the budget.

    Raises:
        ConfigError: There are fewer than two variants, or two ask the same server in the same way.
    """
    if len(config.variants) < 2:
        raise ConfigError("one variant compares with nothing", "give two values or more, or leave variants out")
    if config.engine.name == "dask":
        raise ConfigError(
            "variants are asked in turn by this process, and not by workers of a cluster", "leave engine out"
        )
    if config.load:
        raise ConfigError(
            "variants are asked in turn, and a sweep of load level by level", "sweep the load of one variant at a time"
        )
    made = [_variant(config, label) for label in config.variants]
    # two that do not differ are refused, unless both say nothing: a test of equal ones is told to be one
    specs = [each.server_spec().model_dump_json() for each in made]  # as text, where true is not 1
    for (one, its), (other, same) in combinations(zip(config.variants, specs, strict=True), 2):
        if its == same and (config.variants[one] or config.variants[other]):
            raise ConfigError(
                f"variants {one!r} and {other!r} ask alike",
                "a key is set to the value that it has already; for a test of equal variants write both as {}",
            )
    return made


def _variant(config: EvalConfig, label: str) -> EvalConfig:
    budget = config.judge.max_cost_usd
    share = None if budget is None else budget / len(config.variants)
    changed: dict[str, Any] = {
        "variants": {},
        "server": merge(config.server, config.variants[label]),
        "name": f"{config.name} {label}" if config.name else label,
        "judge": config.judge.model_copy(update={"max_cost_usd": share}),
    }
    if DEFAULT_SUITE in config.suite_names:  # and the precision of however many chunks a variant returns
        names = dict.fromkeys([*config.metrics, SetPrecision.name])
        changed |= {"suite": config.suite_names, "metrics": list(names)}
    return config.model_copy(update=changed)


__all__ = ["VariantsRunner", "saved_together", "variants_of", "with_alike"]
