"""New metrics, another judge or another mapping over the records of a saved run. The server is not asked again."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from secrets import token_hex

from evals.client import RAGClient
from evals.client.mapping import MappingError
from evals.client.redaction import was_cut
from evals.config import EvalConfig
from evals.credentials.stored import in_clear
from evals.errors import JudgeError, StoreError
from evals.metrics.base import BaseMetric
from evals.run.checks import (
    Workload,
    check_config,
    estimate_of,
    judge_identity,
    make_judge,
    tell_estimate,
    wants_judge,
    with_semantics,
)
from evals.run.estimate import Estimate, Known, planned_settings
from evals.run.inquest import Inquest, for_nothing, of_judge
from evals.run.judging import Judging
from evals.run.observer import Observer
from evals.run.text_models import compare_texts, without_models
from evals.schemas import (
    EvalRecord,
    EvalResponse,
    EvalRun,
    JudgeVerdict,
    Outcomes,
    ResponseError,
    Scorecard,
    ServerRecord,
    WeightedScore,
)
from evals.scoring.conclusion import conclude
from evals.scoring.outcomes import notes_on_answers, package_versions, usage_limit
from evals.scoring.scorecard import ScoreSettings
from evals.store.runs import Journal, RunStore

_OF_THE_EXCHANGE = {
    "latency_ms",
    "retrieval_latency_ms",
    "time_to_first_token_ms",
    "attempts",
    "waited_ms",
    "raw",
    "raw_cut",
}
"""Fields of a response that no mapping changes."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Answers that are there already.

    Attributes:
        run: The run that they will make, as far as it is known.
        records: All its questions, with their answers.
        notes: What a reader must know, beside what the answers themselves give reason to say.
        verdicts: What saved runs hold of a judge, by question; such a reply is not paid for again.
    """

    run: EvalRun
    records: Sequence[EvalRecord]
    notes: Sequence[str] = ()
    verdicts: Mapping[str, Sequence[JudgeVerdict]] = field(default_factory=dict)


async def rescore(
    source: EvalRun, config: EvalConfig, *, remap: bool = False, observer: Observer | None = None
) -> EvalRun:
    """Measure the records of a saved run again, and save the result as a new run with `rescored_from`.

    Args:
        source: The saved run; it stays as it is.
        config: What to compute: usually the run's own configuration with something changed.
        remap: Read the stored bodies again with the configuration's mapping.
        observer: Hears of the progress.

    Raises:
        ConfigError: The configuration is wrong.
        JudgeError: A judge is wanted and cannot be used.
        StoreError: The records cannot be read, hold no bodies to read again, or the result cannot be written.
    """
    metrics = check_config(config)
    return await measure(saved_run(source, config, remap=remap), metrics, config, observer or Observer())


def saved_run(source: EvalRun, config: EvalConfig, *, remap: bool = False) -> Saved:
    """The answers of a saved run, for a new one of this configuration.

    Raises:
        StoreError: The records cannot be read, or hold no bodies to read again.
    """
    records = RunStore(config.runs_dir).records(source)
    notes: list[str] = []
    if remap:
        records, cut = _remapped(records, RAGClient(config.server_spec()))
        notes = [f"{cut} answers are as they were read before: their bodies were cut when stored"] if cut else []
    parents = {run.id: run.rescored_from for run in RunStore(config.runs_dir).runs()} if config.judge.enabled else {}
    verdicts = saved_verdicts(config, lambda run: _root(run.id, parents) == _root(source.id, parents))
    return Saved(_new_run(source, config), records, notes, verdicts)


def _root(run_id: str, parents: Mapping[str, str | None]) -> str:
    """The run whose answers this one measures, through all that lie between; one that was deleted counts as well."""
    seen: set[str] = set()
    while run_id not in seen and (parent := parents.get(run_id)) is not None:
        seen.add(run_id)
        run_id = parent
    return run_id


def saved_verdicts(config: EvalConfig, wanted: Callable[[EvalRun], bool]) -> dict[str, list[JudgeVerdict]]:
    """What the judge of this configuration said in saved runs, by question, as a run has it that did not pay for it.

    Args:
        config: Of the new run.
        wanted: Which runs to look into.
    """
    found: dict[str, list[JudgeVerdict]] = {}
    if not config.judge.enabled:
        return found
    store, judge = RunStore(config.runs_dir), judge_identity(config)
    for run in filter(wanted, store.runs()):
        if run.status == "complete" and run.judge is None:
            continue
        with suppress(StoreError):  # what cannot be read is asked for again
            for record in store.records(run):
                theirs = [verdict for verdict in record.verdicts if verdict.reply is not None]
                found.setdefault(record.question.id, []).extend(map(for_nothing, of_judge(theirs, run.judge, judge)))
    return found


def estimate_saved(saved: Saved, metrics: Sequence[BaseMetric], config: EvalConfig) -> Estimate | None:
    """What judging the answers will take; None where no judge takes part. Asks nothing of anybody."""
    settings = planned_settings(config, metrics)
    workload, known = _to_judge(_with_fitting(saved, metrics, config, settings))
    return estimate_of(config, metrics, workload, known, settings)


def _to_judge(saved: Saved) -> tuple[Workload, Known]:
    """The questions that have an answer, with that and what was said of it."""
    answered = {r.question.id: r.response for r in saved.records if r.response is not None and r.response.error is None}
    questions = [record.question for record in saved.records if record.question.id in answered]
    return Workload(questions=questions), Known(answered, saved.verdicts)


def _with_fitting(saved: Saved, metrics: Sequence[BaseMetric], config: EvalConfig, settings: ScoreSettings) -> Saved:
    """The answers with those saved verdicts that are replies to what would be asked now."""
    inquest = Inquest(metrics, settings, judge_identity(config), config.judge.repeats)
    questions = [record.question for record in saved.records]
    responses = {record.question.id: record.response for record in saved.records if record.response is not None}
    return replace(saved, verdicts=inquest.fitting_all(questions, responses, saved.verdicts))


def _settings(config: EvalConfig) -> ScoreSettings:
    return ScoreSettings(
        match=config.match,
        citation_base=config.server_spec().citations.base,
        worst_on_error=config.on_error == "worst",
        confidence=config.confidence,
    )


async def measure(saved: Saved, metrics: Sequence[BaseMetric], config: EvalConfig, observer: Observer) -> EvalRun:
    """Judge and score answers that are there already, and save them as a run; nothing is asked of a server.

    Args:
        saved: The answers.
        metrics: What to measure.
        config: Of the run.
        observer: Hears of the progress.

    Raises:
        JudgeError: A judge is wanted and cannot be used.
        StoreError: The result cannot be written.
    """
    run, records = saved.run, saved.records
    store = RunStore(config.runs_dir)
    settings = await with_semantics(_settings(config), config, metrics, observer)
    store.prepare()
    started = time.monotonic()
    limit = usage_limit(metrics, config.server_spec().usage_needs_concurrency)
    judge = make_judge(config) if wants_judge(config, metrics) else None
    judging: Judging | None = None
    problem: BaseException | None = None
    try:
        if judge is not None:
            settings = replace(settings, judged=True)
            saved = await asyncio.to_thread(_with_fitting, saved, metrics, config, settings)
            workload, known = _to_judge(saved)
            await tell_estimate(config, metrics, workload, known, settings, observer)
            store.save(_unfinished(run))  # so that the commands know it, and its verdicts serve again, if it is killed
            with store.journal(run) as journal:
                judging = Judging(judge, metrics, settings, journal, tell=observer.note)
                await _judge(judging, saved, journal, observer)
    except (asyncio.CancelledError, JudgeError) as error:
        problem = error
    verdicts = judging.verdicts if judging else {}
    records = [r.model_copy(update={"verdicts": verdicts.get(r.question.id, [])}) for r in records]
    if problem is None:
        settings = await compare_texts(metrics, records, settings, observer)
    else:
        settings = without_models(settings, "ended before texts were compared")
    observer.phase("scoring")
    finished, scored = conclude(
        run,
        records,
        metrics,
        settings,
        config,
        warmup_ms=run.outcomes.warmup_ms,
        ended_early=problem is not None or (judging is not None and judging.incomplete),
        judge=judging.record() if judging else None,
        duration_s=round(time.monotonic() - started, 3),
        notes=[
            *saved.notes,
            *(judging.notes() if judging else []),
            *notes_on_answers(records, concurrency=run.concurrency, usage_limit=limit),
        ],
    )
    store.compact(finished, scored)
    store.save(finished)
    if problem is not None:
        observer.note(f"what was judged is saved as run {run.id}, and serves again: begin again")
        raise problem
    return finished


def _unfinished(run: EvalRun) -> EvalRun:
    """The run as it is before anything of it was measured."""
    return run.model_copy(
        update={
            "completed_at": None,
            "scorecard": Scorecard(),
            "weighted_score": WeightedScore(score=None),
            "status": "partial",
            "outcomes": Outcomes(warmup_ms=run.outcomes.warmup_ms),
            "judge": None,
            "semantics": None,
            "notes": [],
            "duration_s": 0.0,
        }
    )


def _new_run(source: EvalRun, config: EvalConfig) -> EvalRun:
    run_id = token_hex(4)
    return source.model_copy(
        update={
            "id": run_id,
            "name": config.name or f"{source.name}-rescored",
            "created_at": datetime.now(UTC).replace(microsecond=0),
            "eval_config": config.as_written(),
            "rescored_from": source.id,
            "server": _server(source, config),
            "package_versions": package_versions(),
        }
    )


def _server(source: EvalRun, config: EvalConfig) -> ServerRecord:
    """The server as it was, read by this configuration."""
    masked = None if source.server.masked is None else sorted({*source.server.masked, *in_clear(config.server)})
    return source.server.model_copy(update={"citation_base": config.server_spec().citations.base, "masked": masked})


async def _judge(judging: Judging, saved: Saved, journal: Journal, observer: Observer) -> None:
    journal.questions(record.question for record in saved.records)
    observer.phase("judging")
    try:
        for record in saved.records:
            if record.response is not None:
                known = saved.verdicts.get(record.question.id, ())
                journal.answer(record.question.id, record.response)
                for verdict in known:  # what this run is built on is in its own log, should the other be deleted
                    journal.verdict(record.question.id, verdict)
                judging.take_up(record.question, record.response, known)
        judging.go_on()
        await judging.finish()
    finally:
        await judging.stop()


def _remapped(records: Sequence[EvalRecord], client: RAGClient) -> tuple[list[EvalRecord], int]:
    """The records with their bodies read again, and how many bodies are not whole: these keep their old reading.

    Raises:
        StoreError: Not one record holds a body.
    """
    result, read, cut = [], 0, 0
    for record in records:
        response = record.response
        if response is None or response.raw is None or (response.error and response.error.kind != "malformed"):
            result.append(record)
            continue
        if was_cut(response.raw, raw_cut=response.raw_cut):
            cut += 1
            result.append(record)
            continue
        read += 1
        result.append(record.model_copy(update={"response": _reread(response, response.raw, client)}))
    if not read:
        raise StoreError("the run holds no bodies that could be read again")
    return result, cut


def _reread(response: EvalResponse, raw: str, client: RAGClient) -> EvalResponse:
    kept = response.model_dump(include=_OF_THE_EXCHANGE)
    try:
        return EvalResponse(**kept, **client.reread(raw))
    except (MappingError, ValueError) as error:
        return EvalResponse(**kept, error=ResponseError(kind="malformed", message=str(error)[:200]))
