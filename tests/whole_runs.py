"""Runs made of records that tests write themselves: scored and saved as those of a server are."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evals.answers.files import saved_answers
from evals.config import EvalConfig
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.registry import parse_metric, select
from evals.metrics.sample import Sample
from evals.run.observer import Observer
from evals.run.scoring import Scoring, score_journal
from evals.schemas import (
    EvalQuestion,
    EvalRecord,
    EvalResponse,
    EvalRun,
    MetricGroup,
    MetricResult,
    ResponseError,
    Scorecard,
)
from evals.schemas.results import RecordSum
from evals.scoring.notes import CitationSigns, Tally
from evals.scoring.outcomes import OUTCOMES, Outcome
from evals.scoring.results import Column, Results
from evals.scoring.saved import SavedRun, open_run
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings, score_of
from evals.store.journal import RecordLog, record_line, write_records
from evals.store.runs import RunStore


class Quality(BaseMetric):
    """A metric of which the tests write the results themselves."""

    name = "quality"
    group = MetricGroup.GENERATION
    suites = frozenset()

    def measure(self, case: Sample) -> MetricResult:
        raise NotImplementedError


class Count(Quality):
    """The same, where values are added up."""

    name = "count"
    aggregation = Aggregation.SUM


def run_of(count: int, **fields: object) -> EvalRun:
    """A run of so many questions, before anything is known of its answers."""
    return EvalRun.model_validate(
        {
            "id": "0123abcd",
            "name": "a run",
            "created_at": "2026-01-01T00:00:00Z",
            "question_count": count,
            "datasets": ["file"],
            "seed": 1,
            "concurrency": 4,
            "server": {"url": "http://127.0.0.1", "profile": "none"},
            **fields,
        }
    )


def saved_run(
    folder: Path,
    records: Sequence[EvalRecord],
    metrics: Sequence[BaseMetric] | None = None,
    *,
    config: EvalConfig | None = None,
    **fields: object,
) -> SavedRun:
    """A run of these records, scored and saved.

    Args:
        folder: Of runs.
        records: With or without a response.
        metrics: The suite core where None.
        config: Of the run.
        fields: Of the run, such as `id`.
    """
    config = config or EvalConfig(judge=False, runs_dir=folder)
    store, metrics = RunStore(folder), metrics if metrics is not None else select(["core"], [])
    run = run_of(len(records), eval_config=config.as_written(), **fields)
    store.save(run)

    async def score() -> SavedRun:
        with store.journal(run) as journal:
            journal.copy(records)
            scoring = Scoring(run, metrics, config.score_settings(citation_base=1), config)
            return score_journal(scoring, journal, store, Observer(), ended="whole", stopped=None, notes=[])

    return asyncio.run(score())


def column_of(metric: BaseMetric, results: Iterable[MetricResult]) -> Column:
    """The results of one metric as a column."""
    column = Column(metric.name)
    for result in results:
        column.add(result)
    return column


def scored(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], settings: ScoreSettings | None = None
) -> list[EvalRecord]:
    """The records with their results; those without a response stay as they are."""
    settings = settings or ScoreSettings()
    done = []
    for record in records:
        sample = settings.sample_of(record)
        scores = [] if record.response is None else [score_of(metric, sample) for metric in metrics]
        done.append(record.model_copy(update={"scores": scores}))
    return done


def results_of(records: Iterable[EvalRecord], settings: ScoreSettings | None = None) -> Results:
    """The results of scored records."""
    results = Results((settings or ScoreSettings()).cluster)
    for record in records:
        results.add(record.question, record.scores, 0)
    return results


def scorecard_of(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], settings: ScoreSettings | None = None
) -> Scorecard:
    """The scorecard of records, which are scored first."""
    settings = settings or ScoreSettings()
    return make_scorecard(metrics, results_of(scored(metrics, records, settings), settings), settings)


def notes_on_answers(records: Iterable[EvalRecord], settings: ScoreSettings) -> list[str]:
    """What the answers of records give reason to say."""
    tally = Tally(CitationSigns(settings.citation_base))
    for record in records:
        tally.add(record, settings.sample_of(record))
    return list(tally.notes(mixes_usage_above=None, concurrency=1))


def read_answers(path: Path, columns: Mapping[str, str] | None = None) -> dict[str, EvalResponse]:
    """Saved answers by the ids of their questions."""
    return dict(saved_answers(path, columns))


def valued_run(
    folder: Path,
    run_id: str,
    columns: Mapping[str, Sequence[float | None]],
    *,
    failed: Sequence[int] = (),
    groups: Sequence[str] | None = None,
    config: EvalConfig | None = None,
    **fields: object,
) -> SavedRun:
    """A saved run whose metrics have the values given, a question each.

    Args:
        folder: Of runs.
        run_id: Its id.
        columns: By metric, the value of each question; None for a metric that does not apply.
        failed: The questions that brought no answer.
        groups: For each question, its `team`, a key of its metadata.
        config: Of the run.
        fields: Of the run.
    """
    config = config or EvalConfig(judge=False, runs_dir=folder)
    count = len(next(iter(columns.values())))
    store, metrics = RunStore(folder), [parse_metric(name) for name in columns]
    run = run_of(count, id=run_id, name=run_id, eval_config=config.as_written(), **fields)
    scoring = Scoring(run, metrics, config.score_settings(citation_base=1), config)
    records = []
    for row in range(count):
        metadata = {"team": groups[row]} if groups else {}
        question = EvalQuestion(id=f"q{row}", question=f"Question {row}?", metadata=metadata)
        lost = EvalResponse(error=ResponseError(kind="connect", message="gone"))
        response = lost if row in failed else EvalResponse(answer="An answer.", latency_ms=1.0)
        scores = []
        for metric in metrics:
            value = columns[metric.name][row]
            if row in failed:
                scores.append(metric.undefined("no answer", missing="transport"))
            else:
                scores.append(metric.undefined("it does not apply") if value is None else metric.result(value))
        records.append(EvalRecord(question=question, response=response, scores=scores))
        outcome = Outcome.FAILED if row in failed else Outcome.RIGHT
        scoring.results.add(question, scores, OUTCOMES.index(outcome))
        scoring.tally.add(records[-1], scoring.settings.sample_of(records[-1]))
    run = scoring.summarise(ended="whole", stopped=None, notes=[])
    with store.journal(run) as journal:
        journal.copy(records)
    store.save(run)
    return SavedRun(run, RecordLog(store.records_path(run)), scoring.results)


def put_records(store: RunStore, run: EvalRun, records: Iterable[EvalRecord]) -> RecordSum:
    """Replace the records of a saved run."""
    return write_records(store.records_path(run), map(record_line, records))[0]


def kept_run(folder: Path, run: EvalRun, records: Sequence[EvalRecord]) -> SavedRun:
    """A run and its scored records, as `build_run` makes them, written to a folder and opened again."""
    store = RunStore(folder)
    store.prepare()
    written = put_records(store, run, records)
    store.save(run.model_copy(update={"record_sum": written, "completed_at": run.completed_at or run.created_at}))
    return open_run(store, run.id)
