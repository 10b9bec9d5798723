"""Several runs over the same questions, asked in turn: each variant is the server with some keys of its own.

    runs = asyncio.run(VariantsRunner(variants_of(config)).evaluate())

Each question is sent to all variants before the next one, in an order drawn anew for each question, so that drift and
warm caches affect all variants alike. docs/compare.md says what comes out, and how latency is compared.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import reduce
from itertools import combinations, product, takewhile
from math import prod
from operator import and_, or_
from random import Random
from typing import Any

from evals.compare.models import Comparison
from evals.config import DEFAULT_SUITE, EvalConfig
from evals.errors import ConfigError, EvalsError, RunNotFoundError
from evals.metrics.retrieval import SetPrecision
from evals.run.asking import StopRule, ask_all
from evals.run.observer import Observer, usual_observer
from evals.run.resume import unanswered
from evals.runner import EvaluationRunner, Prepared
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRun
from evals.scoring.saved import SavedRun
from evals.store.runs import RunStore
from evals.text.yaml_files import YamlTextError, layer_of, load_yaml, merge

MOST_APART = 0.05
"""Where more of the questions than this were answered in some variants alone, latency does not compare."""


class VariantsRunner:
    """Evaluations over the same questions, which are asked in turn: one run each.

    All are asked before the first is judged, so that judging takes no time of this machine while latencies are
    measured.

    Args:
        configs: Of each run; they differ in `server` and `name` only.
        observer: Receives the progress; without one, a notebook shows it in the cell.
        resume: The saved runs to resume, one for each configuration; none to begin new ones.
    """

    def __init__(
        self, configs: Sequence[EvalConfig], observer: Observer | None = None, *, resume: Sequence[EvalRun] = ()
    ) -> None:
        self.observer = observer or usual_observer()
        self.config = configs[0]
        share = self.config.rps / len(configs) if self.config.rps else None
        alike = [config.model_copy(update={"rps": share}) for config in configs]
        before: Sequence[EvalRun | None] = resume or [None] * len(configs)
        pairs = zip(alike, before, strict=True)
        self.runners = [EvaluationRunner(config, self.observer, resume=run) for config, run in pairs]

    @property
    def run_ids(self) -> list[str]:
        """The ids of the runs, as soon as there is something saved."""
        return [runner.run_id for runner in self.runners if runner.run_id is not None]

    async def evaluate(self) -> list[SavedRun]:
        """Make all the runs, in the order of the configurations.

        Raises:
            EvalsError: A run cannot be made, or ended early; the others are saved before it is raised.
        """
        async with AsyncExitStack() as stack:
            prepared = [await runner.prepare(stack) for runner in self.runners]
            marked = _marked(prepared)
            for runner, ready in zip(self.runners, marked, strict=True):  # a kill leaves them together
                runner.store.save(ready.run.model_copy(update={"record_sum": None}))
            problem = await self._ask(marked)
            done: list[SavedRun] = []
            for runner, each in zip(self.runners, marked, strict=True):
                try:
                    done.append(await runner.measure(each, asked=True))
                except EvalsError as error:
                    problem = problem or error
            if problem is not None:
                raise problem
            return done

    async def _ask(self, prepared: Sequence[Prepared]) -> BaseException | None:
        """Ask each question of all variants; returns what ended the asking early."""
        missing = [set(unanswered(each.journal)) for each in prepared]
        ids = prepared[0].journal.ids
        self.observer.begin(len(ids) * len(prepared), len(ids) * len(prepared) - sum(map(len, missing)))

        async def ask(row: int) -> EvalResponse:
            for place in order_of(len(prepared), ids[row], self.config.seed):
                if row in missing[place] and prepared[place].stop.reason is None:
                    await self._ask_one(place, prepared[place], row)
            return EvalResponse()

        rows = takewhile(lambda _: not all(each.stop.reason for each in prepared), range(len(ids)))
        concurrency = self.config.concurrency
        try:
            async for _ in ask_all(ask, rows, concurrency=concurrency, stop=StopRule(concurrency)):
                pass  # each variant has its own rule when to stop, and its own journal
        except asyncio.CancelledError as error:
            return error
        finally:
            self.observer.end()
        return None

    async def _ask_one(self, place: int, prepared: Prepared, row: int) -> None:
        question, client = prepared.journal.question(row), prepared.server.client
        response = await client.ask(question)
        prepared.stop.take(response, client.retrying.unavailable)
        self.runners[place].journal_answer(prepared, question, response)


def _marked(prepared: Sequence[Prepared]) -> list[Prepared]:
    """The runs with the mark that lets their latency compare, where they are asked in turn."""
    answered: list[set[int]] = [set(range(len(each.journal))) - set(unanswered(each.journal)) for each in prepared]
    apart = len(reduce(or_, answered) - reduce(and_, answered))
    ids = [each.run.id for each in prepared] if apart <= MOST_APART * len(prepared[0].journal) else []
    return [replace(each, run=each.run.model_copy(update={"interleaved_with": ids})) for each in prepared]


def order_of(count: int, question_id: str, seed: int) -> list[int]:
    """In which order the variants are asked a question; a resumed run draws it alike."""
    places = list(range(count))
    Random(f"{seed}/{question_id}").shuffle(places)  # noqa: S311 - no secret
    return places


def saved_together(store: RunStore, run: EvalRun) -> list[EvalRun]:
    """The run with those that were asked in turn with it, in the order of the variants.

    Raises:
        ConfigError: One of them is not there any more.
    """
    ids = run.interleaved_with if run.id in run.interleaved_with else [run.id, *run.interleaved_with]
    try:
        return [run if run_id == run.id else store.load(run_id) for run_id in ids]
    except RunNotFoundError as error:
        message = f"run {run.id} was asked in turn with one that does not exist any more: {error.message}"
        raise ConfigError(message, "begin the variants anew") from error


def with_alike(comparison: Comparison, runs: Sequence[SavedRun]) -> Comparison:
    """With a warning where requests were varied, and every answer and chunk is the same: a key may be misspelled."""
    prefix = "server.ask.json."
    keys = (line.partition(":")[0] for line in comparison.differences)
    varied = ", ".join(key.removeprefix(prefix) for key in keys if key.startswith(prefix))
    if not varied or any(len(set(answers)) > 1 for answers in zip(*map(_answers, runs), strict=False)):
        return comparison
    warning = f"all variants gave the same answers and chunks: does the server read {varied}?"
    return comparison.model_copy(update={"warnings": [warning, *comparison.warnings]})


def _answers(saved: SavedRun) -> Iterator[tuple[str | None, ...]]:
    for record in saved.records():
        response = record.response or EvalResponse()
        chunks = (chunk.text or chunk.chunk_id for chunk in response.chunks or [])
        yield record.question.id, response.answer, *chunks


# The configuration of each variant.


def variants_of(config: EvalConfig) -> list[EvalConfig]:
    """The configuration of each variant: its keys laid over `server`, its label in the name, its share of the budget.

    Raises:
        ConfigError: There are fewer than two variants, or two ask the same server in the same way.
    """
    if len(config.variants) < 2:
        raise ConfigError("one variant compares with nothing", "give two values or more, or leave variants out")
    if config.dask is not None:
        raise ConfigError("variants are asked in turn by this process, not by a cluster", "leave --dask out")
    made = [_variant(config, label) for label in config.variants]
    # two that do not differ are refused, unless both say nothing: a test of equal ones is told to be one
    specs = [each.server_spec().model_dump_json() for each in made]  # as text, where true is not 1
    for (one, its), (other, same) in combinations(zip(config.variants, specs, strict=True), 2):
        if its == same and (config.variants[one] or config.variants[other]):
            hint = "a key is set to the value that it has already; for a test of equal variants write both as {}"
            raise ConfigError(f"variants {one!r} and {other!r} ask alike", hint)
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


# `--vary ask.json.top_k=3,5,10`: which keys of the server take which values.


_HINT = "write it as --vary ask.json.top_k=3,5,10: a key of server, and its values with commas, each once"

MOST_VARIANTS = 64
"""More variants than these are a mistake: each asks every question."""


def vary(given: Sequence[str], variants: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """The variants that these axes make: one for each combination of their values, and of what there is already.

    Args:
        given: Each a key below `server`, with dots between its parts, and its values; these are read as YAML is.
        variants: Those of the configuration, each of which is combined with all values.

    Returns:
        By label, the keys laid over `server`.

    Raises:
        ConfigError: One has no key or no value, a key or a value is named twice, or there are too many.
    """
    axes = dict(map(_axis, given))
    if len(axes) < len(given):
        raise ConfigError("a key is varied twice", _HINT)
    known = list((variants or {"": {}}).items())
    if len(known) * prod(map(len, axes.values())) > MOST_VARIANTS:
        raise ConfigError(
            f"these are more than {MOST_VARIANTS} variants", "each asks every question: vary less at a time"
        )
    last = {key: key.rpartition(".")[2] for key in axes}
    names = last if len(set(last.values())) == len(last) else {key: key for key in axes}
    labelled = [
        [(f"{names[key]}={label}", layer_of(key, value)) for label, value in values.items()]
        for key, values in axes.items()
    ]
    varied: dict[str, dict[str, Any]] = {}
    for chosen in product(known, *labelled):
        labels, layers = zip(*chosen, strict=True)
        varied[" ".join(filter(None, labels))] = reduce(merge, layers, {})
    return varied


def _axis(text: str) -> tuple[str, dict[str, Any]]:
    """The key, and its values by how a label says them: a text as it is, anything else as JSON."""
    key, _, values = text.partition("=")
    parts = key.strip().removeprefix("server.").split(".")
    try:
        read = load_yaml(f"[{values}]")
    except YamlTextError as error:
        raise ConfigError(f"the values of {text!r} cannot be read: {error}", _HINT) from None
    if not read or not all(parts):
        raise ConfigError(f"{text!r} has no key or no values", _HINT)
    labels = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str) for value in read]
    if len(set(labels)) < len(labels):
        raise ConfigError(f"{text!r} has a value twice", _HINT)
    return ".".join(parts), dict(zip(labels, read, strict=True))
