"""New metrics, another judge or another mapping over the records of a saved run. The server is not asked again."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_hex

from evals.client import RAGClient
from evals.client.mapping import MappingError
from evals.conclusion import conclude
from evals.config import EvalConfig
from evals.embedding import compare_texts, without_models
from evals.errors import JudgeError, StoreError
from evals.estimate import Estimate, Known
from evals.judging import Judging
from evals.metrics.base import BaseMetric
from evals.observer import Observer
from evals.outcomes import notes_on_answers, package_versions, usage_limit
from evals.plan import Workload, check_config, estimate_of, make_judge, wants_judge, with_semantics
from evals.schemas import EvalRecord, EvalResponse, EvalRun, ResponseError
from evals.scoring import ScoreSettings
from evals.store import Journal, RunStore


@dataclass(frozen=True, slots=True)
class Saved:
    """Answers that are there already.

    Attributes:
        run: The run that they will make, as far as it is known.
        records: All its questions, with their answers.
        notes: What a reader must know, beside what the answers themselves give reason to say.
    """

    run: EvalRun
    records: Sequence[EvalRecord]
    notes: Sequence[str] = ()


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
    if remap:
        records = _remapped(records, RAGClient(config.server_spec()))
    return Saved(_new_run(source, config), records)


def estimate_saved(saved: Saved, metrics: Sequence[BaseMetric], config: EvalConfig) -> Estimate | None:
    """What judging the answers will take; None where no judge takes part. Asks nothing of anybody."""
    answered = {r.question.id: r.response for r in saved.records if r.response is not None and r.response.error is None}
    workload = Workload(questions=[record.question for record in saved.records if record.question.id in answered])
    return estimate_of(config, metrics, workload, Known(answered))


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
    spec = config.server_spec()
    settings = ScoreSettings(
        match=config.match.settings(),
        citation_base=spec.citations.base,
        worst_on_error=config.on_error == "worst",
        confidence=config.confidence,
    )
    settings = await with_semantics(settings, config, metrics, observer)
    store.prepare()
    started = time.monotonic()
    limit = usage_limit(metrics, spec.usage_needs_concurrency)
    judge = make_judge(config) if wants_judge(config, metrics) else None
    judging: Judging | None = None
    problem: BaseException | None = None
    try:
        if judge is not None:
            settings = replace(settings, judged=True)
            await _tell_estimate(saved, metrics, config, observer)
            with store.journal(run) as journal:
                judging = Judging(judge, metrics, settings, journal)
                await _judge(judging, records, journal, observer)
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
        observer.note(f"what was judged is saved as run {run.id}; its replies are in the cache, so begin again")
        raise problem
    return finished


async def _tell_estimate(saved: Saved, metrics: Sequence[BaseMetric], config: EvalConfig, observer: Observer) -> None:
    """Say what the judge will take over the answers that are there."""
    estimate = await asyncio.to_thread(estimate_saved, saved, metrics, config)
    if estimate is not None:
        observer.estimate(estimate)
        warning = estimate.warning(config.judge.max_cost_usd)
        if warning:
            observer.note(warning)


def _new_run(source: EvalRun, config: EvalConfig) -> EvalRun:
    run_id = token_hex(4)
    return source.model_copy(
        update={
            "id": run_id,
            "name": config.name or f"{source.name}-rescored",
            "created_at": datetime.now(UTC).replace(microsecond=0),
            "eval_config": config.as_written(),
            "rescored_from": source.id,
            "package_versions": package_versions(),
        }
    )


async def _judge(judging: Judging, records: Sequence[EvalRecord], journal: Journal, observer: Observer) -> None:
    journal.questions(record.question for record in records)
    observer.phase("judging")
    try:
        for record in records:
            if record.response is not None:
                journal.answer(record.question.id, record.response)
                judging.start(record.question, record.response)
        await judging.finish()
    finally:
        await judging.stop()


def _remapped(records: Sequence[EvalRecord], client: RAGClient) -> list[EvalRecord]:
    """The records with their bodies read again.

    Raises:
        StoreError: Not one record holds a body.
    """
    result, read = [], 0
    for record in records:
        response = record.response
        if response is None or response.raw is None or (response.error and response.error.kind != "malformed"):
            result.append(record)
            continue
        read += 1
        result.append(record.model_copy(update={"response": _reread(response, response.raw, client)}))
    if not read:
        raise StoreError("the run holds no bodies that could be read again")
    return result


def _reread(response: EvalResponse, raw: str, client: RAGClient) -> EvalResponse:
    kept = response.model_dump(include={"latency_ms", "attempts", "waited_ms", "raw"})
    try:
        return EvalResponse(**kept, **client.reread(raw))
    except (MappingError, ValueError) as error:
        return EvalResponse(**kept, error=ResponseError(kind="malformed", message=str(error)[:200]))
