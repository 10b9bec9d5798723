"""New metrics, another judge or another mapping over the records of a saved run. The server is not asked again."""

import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_hex

from evals.client import RAGClient
from evals.client.mapping import MappingError
from evals.conclusion import conclude
from evals.config import EvalConfig
from evals.errors import StoreError
from evals.judging import Judging
from evals.metrics.base import BaseMetric
from evals.observer import Observer
from evals.outcomes import notes_on_answers, package_versions
from evals.plan import check_config, make_judge, wants_judge
from evals.schemas import EvalRecord, EvalResponse, EvalRun, ResponseError
from evals.schemas.results import JudgeRecord
from evals.scoring import ScoreSettings
from evals.store import Journal, RunStore


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
    observer = observer or Observer()
    metrics = check_config(config)
    store = RunStore(config.runs_dir)
    records = store.records(source)
    spec = config.server_spec()
    if remap:
        records = _remapped(records, RAGClient(spec))
    settings = ScoreSettings(
        match=config.match.settings(),
        citation_base=spec.citations.base,
        worst_on_error=config.on_error == "worst",
        confidence=config.confidence,
    )
    run = _new_run(source, config)
    store.prepare()
    started = time.monotonic()
    judged: JudgeRecord | None = None
    if wants_judge(config, metrics):
        settings = replace(settings, judged=True)
        with store.journal(run) as journal:
            records, judged = await _judge(records, metrics, config, settings, journal, observer)
    else:
        records = [record.model_copy(update={"verdicts": []}) for record in records]
    observer.phase("scoring")
    finished, scored = conclude(
        run,
        records,
        metrics,
        settings,
        config,
        warmup_ms=source.outcomes.warmup_ms,
        judge=judged,
        duration_s=round(time.monotonic() - started, 3),
        notes=notes_on_answers(records, concurrency=source.concurrency, usage_limit=spec.usage_needs_concurrency),
    )
    store.compact(finished, scored)
    store.save(finished)
    return finished


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


async def _judge(
    records: Sequence[EvalRecord],
    metrics: Sequence[BaseMetric],
    config: EvalConfig,
    settings: ScoreSettings,
    journal: Journal,
    observer: Observer,
) -> tuple[list[EvalRecord], JudgeRecord]:
    async with AsyncExitStack() as stack:
        judge = make_judge(config)
        stack.push_async_callback(judge.backend.aclose)
        judging = Judging(judge, metrics, settings, journal)
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
    found = [r.model_copy(update={"verdicts": judging.verdicts.get(r.question.id, [])}) for r in records]
    return found, judging.record()


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
