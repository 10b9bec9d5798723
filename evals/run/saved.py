"""Answers that are there already, measured as a new run: `rescore` those of a saved run, `score` those of a file."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from evals.answers.files import saved_answers
from evals.client.mapping import UnusableError
from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.errors import DatasetError, JudgeError, StoreError
from evals.judges.record import NOTE as JUDGE_NOTE
from evals.metrics.base import BaseMetric
from evals.run.checks import check_config, estimate_of, load_tools
from evals.run.estimate import Estimate
from evals.run.judging import without_cost
from evals.run.observer import Observer, usual_observer
from evals.run.scoring import Scoring, score_journal
from evals.run.workload import is_file_of_questions, load_workload, new_run
from evals.schemas.response import EvalResponse, Outcomes, ResponseError, ServerRecord
from evals.schemas.results import SAVED_ANSWERS, EvalRecord, EvalRun
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.results import check_cluster
from evals.scoring.saved import SavedRun, open_saved
from evals.secrets import in_clear
from evals.store.disk_list import DiskList, DiskMap
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

_NAMED = 5


@dataclass(frozen=True, slots=True)
class SavedAnswers:
    """Answers to be measured.

    Attributes:
        run: The run that they will make, as far as it is known.
        records: All its questions with their answers, and verdicts that cost nothing; they can be walked again.
        notes: Remarks for the reader.
        lacks: What of the answers was lost, so that the run is partial.
        free: By question, verdicts of the saved run, which cost the new one nothing.
    """

    run: EvalRun
    records: Iterable[EvalRecord]
    notes: Sequence[str] = ()
    lacks: str | None = None
    free: Callable[[str], Sequence[JudgeVerdict]] = lambda _: ()


async def rescore(
    source: EvalRun, config: EvalConfig, *, remap: bool = False, observer: Observer | None = None
) -> EvalRun:
    """Measure the answers of a saved run again, and save the result as a new run with `rescored_from`.

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
    answers = answers_of_run(source, config, remap=remap)
    return (await measure_answers(answers, check_config(config), config, observer or usual_observer())).run


async def score_answers(answers: Path, config: EvalConfig, observer: Observer | None = None) -> EvalRun:
    """Measure saved answers to the questions of the configuration, and save the result as a run.

    Questions without a saved answer count as not asked, so that the run is partial.

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
    return (await measure_answers(answers_of_file(answers, config), metrics, config, observer or usual_observer())).run


async def measure_answers(
    answers: SavedAnswers, metrics: Sequence[BaseMetric], config: EvalConfig, observer: Observer
) -> SavedRun:
    """Judge and score answers that are there already, and save them as a run; nothing is asked of a server.

    Raises:
        ConfigError: A model cannot be loaded.
        JudgeError: A judge is wanted and cannot be used.
        StoreError: The result cannot be written.
    """
    for note in answers.notes:
        observer.note(note)
    store, run = RunStore(config.runs_dir), answers.run
    store.prepare()
    tools = await load_tools(config, metrics, observer)
    settings = tools.settings(config, run.server.citation_base)
    store.save(run)
    problem: BaseException | None = None
    with store.journal(run) as journal:
        journal.copy(answers.records)
        judging = tools.begin_judging(config, settings, journal, observer, free=answers.free)
        if judging is not None:
            try:
                observer.phase("judging")
                judging.take_up()
                await judging.drain()
            except (asyncio.CancelledError, JudgeError) as error:
                problem = error
            finally:
                await judging.stop()
                observer.end()
        notes = [*run.notes, *answers.notes, *(judging.notes(run.config) if judging is not None else [])]
        if isinstance(problem, JudgeError):
            notes.append(f"{JUDGE_NOTE} work ended early: {problem.message}")
        incomplete = answers.lacks is not None or problem is not None or (judging is not None and judging.incomplete)
        saved = score_journal(
            Scoring(run, tools.metrics, settings, config, config.server_spec().usage_needs_concurrency),
            journal,
            store,
            observer,
            ended="early" if incomplete else "whole",
            stopped=answers.lacks,
            notes=notes,
            judge=judging.record() if judging is not None else None,
            duration_s=round(journal.total_s(), 3),
        )
    if problem is not None:
        raise problem
    return saved


def estimate_saved(answers: SavedAnswers, metrics: Sequence[BaseMetric], config: EvalConfig) -> Estimate | None:
    """What judging the answers will take, as far as it is not known already; None where no judge takes part."""
    answered = (record for record in answers.records if record.response and record.response.error is None)
    known = (record.model_copy(update={"verdicts": answers.free(record.question.id)}) for record in answered)
    return estimate_of(config, metrics, DiskList(known, config.runs_dir))


# The answers of a saved run.


def answers_of_run(source: EvalRun, config: EvalConfig, *, remap: bool = False) -> SavedAnswers:
    """The answers of a saved run, for a new one of this configuration.

    Raises:
        StoreError: The records cannot be read, or hold no bodies to read again.
        ConfigError: No question has the key of `scoring.cluster`.
    """
    saved = open_saved(RunStore(config.runs_dir), source)
    check_cluster(config.scoring.cluster, (record.question for record in saved.records()))
    run = measured_again(source, config, _server(source, config), rescored_from=source.id)
    damage = saved.damage.said if saved.damage else None
    notes = [damage] if damage else []
    reuse = config.judge.enabled and config.judge.cache
    free: Callable[[str], Sequence[JudgeVerdict]] = partial(_verdicts_of, saved) if reuse else lambda _: ()
    if not remap:
        return SavedAnswers(run, _Records(partial(_without_results, saved)), notes, damage, free)
    client = RAGClient(config.server_spec())
    client.reader.document_names = source.server.document_ids
    read: Counter[str] = Counter()
    records = list(_remapped(saved.records(), client, read))
    if not read["read"]:
        raise StoreError("the run holds no bodies that could be read again", "ask again: evals eval")
    return SavedAnswers(run, records, [*notes, *([_cut(read["cut"])] if read["cut"] else [])], damage, free)


def _verdicts_of(saved: SavedRun, question_id: str) -> list[JudgeVerdict]:
    """The usable verdicts of a saved run on a question, without their cost, which was paid there."""
    row = saved.log.row_of(question_id)
    return [] if row is None else without_cost(saved.record(row))


@dataclass(frozen=True, slots=True)
class _Records:
    """Records that are made each time they are walked."""

    make: Callable[[], Iterator[EvalRecord]]

    def __iter__(self) -> Iterator[EvalRecord]:
        return self.make()


def _without_results(saved: SavedRun) -> Iterator[EvalRecord]:
    return (EvalRecord(question=record.question, response=record.response) for record in saved.records())


def measured_again(source: EvalRun, config: EvalConfig, server: ServerRecord, **fields: Any) -> EvalRun:
    """The run that measures answers of a saved one by this configuration, before anything of it was measured.

    Args:
        source: Says how its answers came about.
        config: Of the new run.
        server: Who answered.
        fields: What else is known of the new run.
    """
    kept = {name: getattr(source, name) for name in ("config", "concurrency", "concurrencies", "fingerprints")}
    kept |= {name: getattr(source, name) for name in ("interleaved_with", "engine", "log")}
    kept["outcomes"] = Outcomes(warmup_ms=source.outcomes.warmup_ms)
    fields = {"name": f"{source.name}-rescored", **kept, **fields}
    return new_run(config, server, source.datasets, source.question_count, **fields)


def _server(source: EvalRun, config: EvalConfig) -> ServerRecord:
    """The server as it was, read by this configuration."""
    masked = None if source.server.masked is None else sorted({*source.server.masked, *in_clear(config.server)})
    return source.server.model_copy(update={"citation_base": config.server_spec().citations.base, "masked": masked})


def _remapped(records: Iterable[EvalRecord], client: RAGClient, read: Counter[str]) -> Iterator[EvalRecord]:
    """The records with their bodies read again; those whose bodies are not whole keep their old reading.

    Args:
        records: Of the run.
        client: Reads bodies.
        read: Counts what was "read", and the bodies that were "cut".
    """
    for record in records:
        response = record.response
        if response is None or response.raw is None or (response.error and response.error.kind != "malformed"):
            yield EvalRecord(question=record.question, response=response)
        elif response.raw_cut:
            read["cut"] += 1
            yield EvalRecord(question=record.question, response=response)
        else:
            read["read"] += 1
            yield EvalRecord(question=record.question, response=_reread(response, response.raw, client))


def _reread(response: EvalResponse, raw: str, client: RAGClient) -> EvalResponse:
    kept = response.model_dump(include=_OF_THE_EXCHANGE)
    try:
        return EvalResponse(**kept, **client.reread(raw, response.raw_retrieval))
    except (UnusableError, ValueError) as error:
        return EvalResponse(**kept, error=ResponseError(kind="malformed", message=str(error)[:200]))


def _cut(count: int) -> str:
    them = agree(count, "it was read before: its body was", "they were read before: their bodies were")
    return f"{counted(count, 'answer', 'is')} as {them} cut when stored"


# The answers of a file.


def answers_of_file(answers: Path, config: EvalConfig) -> SavedAnswers:
    """Read saved answers with the questions of the configuration.

    Raises:
        DatasetError: The questions or the answers cannot be read, or do not belong together.
    """
    workload = load_workload(config, answers)
    columns = workload.fingerprints[0].columns if is_file_of_questions(answers, config) else {}
    responses = DiskMap(
        saved_answers(answers, config.columns, reference=columns.get("expected_answer")), config.runs_dir
    )
    asked = {question.id for question in workload.questions}
    if asked.isdisjoint(responses):
        first = workload.questions[0].id
        raise DatasetError(
            f"{answers.name}: none of its {counted(len(responses), 'answer')} is to a question of the dataset",
            f"a `question_id` is the `id` of a question, such as {first!r}",
        )
    unknown = [key for key in responses if key not in asked]
    missing = [question.id for question in workload.questions if question.id not in responses]
    notes = [
        *_named("without a saved answer", missing),
        *_named("answered but not in the dataset, ignored", unknown),
    ]
    run = new_run(
        config,
        ServerRecord(url=answers.name, profile=SAVED_ANSWERS, citation_base=config.server_spec().citations.base),
        (fingerprint.name for fingerprint in workload.fingerprints),
        len(workload.questions),
        name=f"score-{answers.stem}",
        fingerprints=workload.fingerprints,
        concurrency=1,
    )

    def answered() -> Iterator[EvalRecord]:
        return (EvalRecord(question=question, response=responses.get(question.id)) for question in workload.questions)

    return SavedAnswers(run, _Records(answered), notes)


def _named(what: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    named = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
    return [f"{counted(len(ids), 'question')} {what}: {named}"]
