"""The back half of a run, in one pass: from the journal to results, and from results to the saved run."""

import asyncio
import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Literal

from evals.config import EvalConfig
from evals.judges.money import MOST, PriceConfig, list_price
from evals.metrics.base import BaseMetric
from evals.metrics.custom import SavedMetric
from evals.metrics.performance import CostPerQuery, Price
from evals.metrics.registry import METRICS, definitions
from evals.metrics.sample import Sample
from evals.run.corpus import UNFOUND
from evals.run.observer import Observer
from evals.schemas.response import TokenUsage
from evals.schemas.results import SCHEMA_VERSION, EvalRecord, EvalRun, MetricResult
from evals.schemas.verdicts import JudgeUsage
from evals.scoring.calibration import with_cards
from evals.scoring.gates import check_gates
from evals.scoring.notes import NO_CHUNKS, ON_ANSWERS, CitationSigns, Tally, slow_metrics, status_of
from evals.scoring.outcomes import ending_of
from evals.scoring.repeats import Repeats
from evals.scoring.results import Results, changed_ns
from evals.scoring.saved import SavedRun
from evals.scoring.scorecard import make_scorecard, sufficiency_by_decision
from evals.scoring.settings import ScoreSettings, score_of
from evals.scoring.weighted import make_weighted_score, no_score, with_interval
from evals.store.journal import RecordLog, record_line, write_records
from evals.store.runs import RunStore, saved_calibrations
from evals.text.numbers import number_or_none

Ended = Literal["whole", "early", "no_documents"]
"""All was done; something was left undone; or the server does not hold the documents, so that the run is failed."""


@dataclass
class Scoring:
    """One pass over the records of a run.

    Args:
        run: As far as it is known.
        metrics: What to measure.
        settings: How records are scored.
        config: Prices, weights, gates and the error rate.
        mixes_usage_above: Above this concurrency the server's token counts mix; None where they do not.
    """

    run: EvalRun
    metrics: Sequence[BaseMetric]
    settings: ScoreSettings
    config: EvalConfig
    mixes_usage_above: int | None = None
    results: Results = field(init=False)
    tally: Tally = field(init=False)
    repeats: Repeats = field(default_factory=Repeats)
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.metrics = with_prices(self.metrics, self.config.prices, self.run.config)
        self.results, self.tally = Results(self.settings.cluster), Tally(CitationSigns(self.settings.citation_base))
        self.seconds = {metric.name: 0.0 for metric in self.metrics if type(metric) not in METRICS}

    def score(self, record: EvalRecord) -> EvalRecord:
        """Measure a record and count it; one that was not asked stays without results."""
        sample = self.settings.sample_of(record)
        asked = record.response is not None
        before = {score.name: score for score in record.scores}
        scores = [self._measured(metric, sample, before) for metric in self.metrics] if asked else []
        scored = EvalRecord.model_construct(
            question=record.question, response=record.response, scores=scores, verdicts=record.verdicts
        )
        self.results.add(record.question, scores, ending_of(sample, scores, asked=asked).code)
        self.tally.add(scored, sample)
        if self.config.repeats > 1:
            self.repeats.add(scored)
        return scored

    def _measured(self, metric: BaseMetric, sample: Sample, before: Mapping[str, MetricResult]) -> MetricResult:
        if isinstance(metric, SavedMetric) and metric.name in before:
            return before[metric.name]  # its code is not on this machine
        if metric.name not in self.seconds:
            return score_of(metric, sample)
        started = perf_counter()
        result = score_of(metric, sample)
        self.seconds[metric.name] += perf_counter() - started
        return result

    def summarise(self, *, ended: Ended, stopped: str | None, notes: Sequence[str], **fields: Any) -> EvalRun:
        """The run with its results.

        Args:
            ended: How the work ended.
            stopped: Why asking ended early.
            notes: Of the way to the answers; those on the answers are added.
            fields: What else to set in the run.
        """
        settings, scoring = self.settings, self.config.scoring
        scorecard = make_scorecard(self.metrics, self.results, settings)
        warmup = fields.pop("warmup_ms", self.run.outcomes.warmup_ms)
        outcomes = self.tally.outcomes(warmup, judged=settings.judged, stopped=stopped)
        if ended == "no_documents":
            weighted = no_score(scoring, "the server does not hold the documents")
        else:
            weighted = make_weighted_score(scorecard, scoring, answered=outcomes.answered)
            weighted = with_interval(weighted, self.results, settings, scoring.thresholds)
        on_answers = self.tally.notes(
            mixes_usage_above=self.mixes_usage_above,
            concurrency=self.run.concurrency,
        )
        kept = [note for note in notes if not ON_ANSWERS.match(note)]
        if any(note.startswith(UNFOUND) for note in kept):
            on_answers = (note for note in on_answers if not note.startswith(NO_CHUNKS))
        if self.run.log is not None:
            fields["log"] = self.run.log.model_copy(update={"grounds": sufficiency_by_decision(self.results)})
        run = self.run.model_copy(
            update={
                "schema_version": SCHEMA_VERSION,
                "completed_at": datetime.now(UTC).replace(microsecond=0),
                "scorecard": scorecard,
                "metric_definitions": definitions(self.metrics),
                "weighted_score": weighted,
                "error_count": sum(outcomes.transport.values()),
                "status": "failed" if ended == "no_documents" else self._status(outcomes, ended),
                "outcomes": outcomes,
                "semantics": settings.semantics and settings.semantics.names(),
                "notes": list(dict.fromkeys([*kept, *on_answers, *slow_metrics(self.seconds, len(self.results.ids))])),
                **fields,
            }
        )
        if self.config.repeats > 1:
            summary = self.repeats.summary(self.config.repeats, self.metrics, settings.confidence)
            run = run.model_copy(update={"repeats": summary})
        return run.model_copy(update={"gates": [] if self.config.shard else check_gates(run, self.config.gate)})

    def _status(self, outcomes: Any, ended: Ended) -> str:
        return status_of(outcomes, self.config.max_error_rate, ended_early=ended == "early")


def score_journal(scoring: Scoring, log: RecordLog, store: RunStore, observer: Observer, **about: Any) -> SavedRun:
    """Score all records of a journal, and save the run: records, run file, columns.

    Args:
        scoring: Of the run.
        log: Its journal, closed for writing.
        store: Where it is saved.
        observer: Receives the progress.
        about: What `Scoring.summarise` is given.

    Raises:
        StoreError: The records cannot be read, or the result cannot be written.
        asyncio.CancelledError: The work was cancelled meanwhile; the journal is as it was.
    """
    observer.phase("scoring")
    path = store.records_path(scoring.run)
    with gc_paused():
        lines = (record_line(scoring.score(record)) for record in _watched(log, observer))
        records, offsets = write_records(path, lines, hint=store.hint(scoring.run))
    scoring.results.offsets = offsets
    run, written = scoring.summarise(record_sum=records, **about), RecordLog(path, scoring.results.ids, offsets)
    if run.judge is not None:
        run = with_cards(run, saved_calibrations(store.folder))
    store.save(run)
    scoring.results.save(store.columns_path(run), records, changed_ns(path))
    return SavedRun(run, written, scoring.results)


def _watched(log: RecordLog, observer: Observer) -> Iterator[EvalRecord]:
    """The records; nothing is awaited meanwhile, so whether the work was cancelled is looked at for each."""
    task = asyncio.current_task()
    before = task.cancelling() if task is not None else 0
    for number, record in enumerate(log, start=1):
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError
        yield record
        observer.progress(number, len(log))


@contextmanager
def gc_paused() -> Iterator[None]:
    """Let the cyclic collector run seldom: records hold no cycles, and it walks over all of them each time."""
    before = gc.get_threshold()
    gc.set_threshold(20_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


# Prices that the server states.


def with_prices(
    metrics: Sequence[BaseMetric], prices: Mapping[str, PriceConfig], facts: Mapping[str, Any]
) -> list[BaseMetric]:
    """Give the cost metric its prices; the other metrics stay as they are.

    Args:
        metrics: All metrics of the run.
        prices: The user's, by model.
        facts: What the server says of itself.
    """
    named, provider = facts.get("llm_model"), facts.get("llm_provider") or None

    def listed(model: str | None, usage: TokenUsage) -> float | None:
        model = model or named
        if not isinstance(model, str) or not isinstance(provider, str | None) or (provider is None and ":" in model):
            return None  # with a colon it is the tag of a local model, such as deepseek-r1:8b
        counted = JudgeUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cache_read_tokens=usage.cached_tokens or 0,
        )
        known = list_price(provider, model, counted)
        return known if known is not None else list_price(provider, model.rpartition("/")[2], counted)

    table = {
        model: Price(price.input, price.output, "configuration", price.cache_read) for model, price in prices.items()
    }
    priced = CostPerQuery(table, table.get(str(named)) or server_price(facts), listed, str(named or "") or None)
    return [priced if isinstance(metric, CostPerQuery) else metric for metric in metrics]


def server_price(facts: Mapping[str, Any]) -> Price | None:
    """The price that the server gives for its model; None unless it gives both halves."""
    halves = [number_or_none(facts.get(f"cost_per_1m_{half}_tokens")) for half in ("input", "output")]
    known = [half for half in halves if half is not None and 0 <= half <= MOST]
    return Price(known[0], known[1], "server") if len(known) == 2 else None
