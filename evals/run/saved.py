"""New metrics, another judge or another mapping over the records of a saved run. The server is not asked again."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals.client.mapping import MappingError
from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.datasets.answers import are_extractive, each_answer
from evals.errors import DatasetError, StoreError
from evals.judges.money import free_copy, of_judge
from evals.metrics.base import BaseMetric
from evals.run.estimate import Estimate, Known
from evals.run.judging import JudgePlan
from evals.run.measure import measure
from evals.run.notebook import Observer, usual_observer
from evals.run.setup import (
    check_config,
    estimate_of,
    join_cluster,
    load_toolkit,
    model_choice,
    planned_cases,
    wants_judge,
)
from evals.run.work import RunDataset, RunPlan, is_file_of_questions, load_workload, new_run
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, Outcomes, ResponseError, ServerRecord
from evals.schemas.results import SAVED_ANSWERS, EvalRecord, EvalRun
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.conclusion import Measured
from evals.scoring.run_columns import check_cluster
from evals.secrets import in_clear
from evals.store.disk_buffer import DiskList, SpilledMapping
from evals.store.records import damage_of
from evals.store.runs import RunStore
from evals.text.numbers import agree, counted

_OF_THE_EXCHANGE = {
    "latency_ms",
    "total_ms",
    "retrieval_latency_ms",
    "time_to_first_token_ms",
    "time_to_last_token_ms",
    "turns",
    "attempts",
    "waited_ms",
    "raw",
    "raw_cut",
    "raw_retrieval",
}
"""Fields of a response that no mapping changes."""


async def rescore(
    source: EvalRun, config: EvalConfig, *, remap: bool = False, observer: Observer | None = None
) -> EvalRun:
    """Measure the records of a saved run again, and save the result as a new run with `rescored_from`.

    Args:
        source: The saved run; it stays as it is.
        config: What to compute: usually the run's own configuration with something changed.
        remap: Read the stored bodies again with the configuration's mapping.
        observer: Receives the progress; without one, a notebook shows it in the cell.

    Raises:
        ConfigError: The configuration is wrong.
        JudgeError: A judge is wanted and cannot be used.
        StoreError: The records cannot be read, hold no bodies to read again, or the result cannot be written.
    """
    work = saved_run(source, config, remap=remap)
    return (await measure_saved(work, check_config(config), config, observer or usual_observer())).run


async def measure_saved(
    work: RunPlan, metrics: Sequence[BaseMetric], config: EvalConfig, observer: Observer
) -> Measured:
    """Judge and score answers that are there already, and save them as a run; nothing is asked of a server.

    Args:
        work: The answers.
        metrics: What to measure.
        config: Of the run.
        observer: Receives the progress.

    Raises:
        ConfigError: A model cannot be loaded.
        JudgeError: A judge is wanted and cannot be used.
        StoreError: The result cannot be written.
    """
    for note in work.notes:
        observer.note(note)
    RunStore(config.runs_dir).prepare()
    async with AsyncExitStack() as stack:
        cluster = None
        if not model_choice(config, metrics).empty:
            cluster = await join_cluster(stack, config, observer)
        elif config.engine.name != "local":
            observer.note("no metric compares texts by a model, and the rest is measured here: no cluster is used")
        return await measure(work, await load_toolkit(config, metrics, observer, cluster), config, observer)


def saved_run(source: EvalRun, config: EvalConfig, *, remap: bool = False) -> RunPlan:
    """The answers of a saved run, for a new one of this configuration.

    Raises:
        StoreError: The records cannot be read, or hold no bodies to read again.
        ConfigError: No question has the key that they are clustered by.
    """
    saved = RunStore(config.runs_dir).open_records(source)
    records: Iterable[EvalRecord] = saved
    told: Counter[str] = Counter()
    if remap:
        client = RAGClient(config.server_spec())
        client.know_documents(source.server.document_ids)
        records = _remapped(records, client, told)
    parents = {run.id: run.rescored_from for run in RunStore(config.runs_dir).runs()} if config.judge.enabled else {}
    verdicts = saved_verdicts(config, lambda run: _root(run.id, parents) == _root(source.id, parents))
    new = measured_again(source, config, _server(source, config), rescored_from=source.id)
    work = work_of(new, records, config, notes=(), free=verdicts)
    if remap and not told["read"]:
        raise StoreError("the run holds no bodies that could be read again")
    damage = damage_of(source, saved)
    notes = [*([_cut(told["cut"])] if told["cut"] else []), *([damage.said] if damage else [])]
    return replace(work, notes=notes, lacks=damage.said if damage else None)


def work_of(
    run: EvalRun,
    records: Iterable[EvalRecord],
    config: EvalConfig,
    *,
    notes: Sequence[str],
    free: Mapping[str, Sequence[JudgeVerdict]],
) -> RunPlan:
    """What there is to measure of answers that are there already.

    Args:
        run: The run that they will make, as far as it is known.
        records: All its questions, with their answers; they are walked once.
        config: Of the run.
        notes: Remarks for the reader, apart from those that the answers give reason for.
        free: What saved runs hold of a judge, by question.

    Raises:
        ConfigError: No question has the key that they are clustered by.
    """
    questions: DiskList[EvalQuestion] = DiskList(EvalQuestion, folder=config.runs_dir)
    responses: SpilledMapping[EvalResponse] = SpilledMapping(EvalResponse, config.runs_dir)
    for record in records:
        questions.append(record.question)
        if record.response is not None:
            responses[record.question.id] = record.response
    return work_on(run, questions, responses, config, notes=notes, free=free)


def work_on(
    run: EvalRun,
    questions: Sequence[EvalQuestion],
    responses: MutableMapping[str, EvalResponse],
    config: EvalConfig,
    *,
    notes: Sequence[str],
    free: Mapping[str, Sequence[JudgeVerdict]],
) -> RunPlan:
    """The same of questions and answers that lie on disk already; every answer is to one of the questions.

    Raises:
        ConfigError: As of `work_of`.
    """
    check_cluster(config.cluster, questions)
    return RunPlan(
        run=run,
        questions=questions,
        responses=responses,
        free=free,
        usage_needs_concurrency=config.server_spec().usage_needs_concurrency,
        notes=notes,
        way_on=f"what was judged is saved as run {run.id}, and serves again: begin again",
    )


def _root(run_id: str, parents: Mapping[str, str | None]) -> str:
    """The run whose answers this one measures, through all that lie between; one that was deleted counts as well."""
    seen: set[str] = set()
    while run_id not in seen and (parent := parents.get(run_id)) is not None:
        seen.add(run_id)
        run_id = parent
    return run_id


def saved_verdicts(config: EvalConfig, wanted: Callable[[EvalRun], bool]) -> Mapping[str, Sequence[JudgeVerdict]]:
    """What the judge of this configuration said in saved runs, by question, as a run has it that did not pay for it.

    Args:
        config: Of the new run.
        wanted: Which runs to look into.
    """
    found: SpilledMapping[list[JudgeVerdict]] = SpilledMapping(list[JudgeVerdict], config.runs_dir)
    if not config.judge.enabled:
        return found
    store, judge = RunStore(config.runs_dir), config.judge.identity
    for run in filter(wanted, store.runs()):
        if run.status == "complete" and run.judge is None:
            continue
        with suppress(StoreError):  # what cannot be read is asked for again
            for record in _unchanged(run, store):
                theirs = [verdict for verdict in record.verdicts if verdict.reply is not None]
                usable = list(map(free_copy, of_judge(theirs, run.judge, judge)))
                if usable:
                    found[record.question.id] = [*found.get(record.question.id, ()), *usable]
    return found


def _unchanged(run: EvalRun, store: RunStore) -> Iterable[EvalRecord]:
    """The records of a saved run; none where some of them changed since, and it is unknown which."""
    records = store.open_records(run)
    damage = damage_of(run, records)
    return () if damage is not None and not damage.lost else records


def estimate_saved(work: RunPlan, metrics: Sequence[BaseMetric], config: EvalConfig) -> Estimate | None:
    """What judging the answers will take; None where no judge takes part. Asks nothing of anybody."""
    if not wants_judge(config, metrics):
        return None
    plan = JudgePlan(metrics, planned_cases(config, metrics), config.judge.identity, config.judge.repeats)
    known = Known(work.responses, plan.fitting_all(work.questions, work.responses, work.free))
    return estimate_of(config, metrics, work.answered, known=known)


def measured_again(source: EvalRun, config: EvalConfig, server: ServerRecord, **fields: Any) -> EvalRun:
    """The run that measures answers of a saved one by this configuration, before anything of it was measured.

    Args:
        source: Says how its answers came about.
        config: Of the new run.
        server: Who answered.
        fields: What else is known of the new run.
    """
    kept = {name: getattr(source, name) for name in ("config", "concurrency", "concurrencies", "fingerprints")}
    kept |= {name: getattr(source, name) for name in ("interleaved_with", "load", "engine")}
    kept["outcomes"] = Outcomes(warmup_ms=source.outcomes.warmup_ms)
    fields = {"count": source.question_count, "name": f"{source.name}-rescored", **kept, **fields}
    return new_run(config, server, source.datasets, **fields)


def _server(source: EvalRun, config: EvalConfig) -> ServerRecord:
    """The server as it was, read by this configuration."""
    masked = None if source.server.masked is None else sorted({*source.server.masked, *in_clear(config.server)})
    return source.server.model_copy(update={"citation_base": config.server_spec().citations.base, "masked": masked})


def _remapped(records: Iterable[EvalRecord], client: RAGClient, told: Counter[str]) -> Iterator[EvalRecord]:
    """The records with their bodies read again; those whose bodies are not whole keep their old reading.

    Args:
        records: Of the run.
        client: Reads bodies.
        told: Counts what was "read", and the bodies that were "cut".
    """
    for record in records:
        response = record.response
        if response is None or response.raw is None or (response.error and response.error.kind != "malformed"):
            yield record
        elif response.raw_cut:
            told["cut"] += 1
            yield record
        else:
            told["read"] += 1
            yield record.model_copy(update={"response": _reread(response, response.raw, client)})


def _reread(response: EvalResponse, raw: str, client: RAGClient) -> EvalResponse:
    kept = response.model_dump(include=_OF_THE_EXCHANGE)
    try:
        return EvalResponse(**kept, **client.reread(raw, response.raw_retrieval))
    except (MappingError, ValueError) as error:
        return EvalResponse(**kept, error=ResponseError(kind="malformed", message=str(error)[:200]))


def _cut(count: int) -> str:
    them = agree(count, "it was read before: its body was", "they were read before: their bodies were")
    return f"{counted(count, 'answer', 'is')} as {them} cut when stored"


# Saved answers, scored like those of a run that asked; no server.


_NAMED = 5

_EXTRACTIVE = "the answers are spans that an extractive system predicts: only an empty one abstains"


async def score_answers(answers: Path, config: EvalConfig, observer: Observer | None = None) -> EvalRun:
    """Measure saved answers to the questions of the configuration, and save the result as a run.

    Questions without a saved answer count as not asked, so that the run is partial; they and answers to unknown
    questions are noted in the run.

    Args:
        answers: A file of one JSON object a line.
        config: The questions, and what to compute.
        observer: Receives the progress; without one, a notebook shows it in the cell.

    Raises:
        ConfigError: The configuration is wrong.
        DatasetError: The questions or the answers cannot be read; the message names the line.
        JudgeError: A judge is wanted and cannot be used.
        StoreError: The result cannot be written.
    """
    metrics = check_config(config)
    work = saved_answers(answers, config)
    return (await measure_saved(work, metrics, config, observer or usual_observer())).run


def saved_answers(answers: Path, config: EvalConfig) -> RunPlan:
    """Read saved answers with the questions of the configuration.

    Raises:
        DatasetError: The questions or the answers cannot be read, or do not belong together.
    """
    workload = load_workload(config, answers)
    responses, notes = _responses(answers, config, workload)
    asked = [question.id for question in workload.questions]
    known, answered = frozenset(asked), list(responses)
    if known.isdisjoint(answered):
        raise DatasetError(
            f"{answers.name}: none of its {counted(len(answered), 'answer')} is to a question of the dataset",
            f"a `question_id` is the `id` of a question, such as {asked[0]!r}",
        )
    notes += [
        *_note("without a saved answer", [one for one in asked if one not in responses]),
        *_note("answered but not in the dataset, ignored", [one for one in answered if one not in known]),
    ]
    for stranger in set(answered) - known:
        del responses[stranger]
    base = config.server_spec().citations.base
    new = new_run(
        config,
        ServerRecord(url=answers.name, profile=SAVED_ANSWERS, citation_base=base),
        (fingerprint.name for fingerprint in workload.fingerprints),
        len(workload.questions),
        name=f"score-{answers.stem}",
        fingerprints=workload.fingerprints,
        concurrency=1,
    )
    verdicts = saved_verdicts(config, lambda run: (run.server.url, run.server.profile) == (answers.name, SAVED_ANSWERS))
    return work_on(new, workload.questions, responses, config, notes=notes, free=verdicts)


def _responses(
    answers: Path, config: EvalConfig, workload: RunDataset
) -> tuple[SpilledMapping[EvalResponse], list[str]]:
    """The answers by the ids of their questions, and what to know of how they were read."""
    found: SpilledMapping[EvalResponse] = SpilledMapping(EvalResponse, config.runs_dir)
    columns = workload.fingerprints[0].columns if is_file_of_questions(answers, config) else {}
    found.update(each_answer(answers, config.columns, reference=columns.get("expected_answer")))
    if not are_extractive(found.values()):
        return found, []
    for question_id in found:
        found[question_id] = found[question_id].model_copy(update={"extractive": True})
    return found, [_EXTRACTIVE]


def _note(what: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    named = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
    return [f"{counted(len(ids), 'question')} {what}: {named}"]
