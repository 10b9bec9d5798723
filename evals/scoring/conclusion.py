"""Score the records of a run and build its saved form, for new and rescored runs alike."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, Protocol

from evals.judges.money import PriceConfig, with_prices
from evals.metrics.base import BaseMetric
from evals.metrics.registry import METRICS, definitions
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import SCHEMA_VERSION, EvalRecord, EvalRun
from evals.schemas.verdicts import JudgeVerdict, VerdictLosses
from evals.scoring.abstention import AbstentionTable, beside_scorecard
from evals.scoring.config import ScoringConfig
from evals.scoring.diagnosis.outcome import Finding
from evals.scoring.digest import (
    BrokenLink,
    Collected,
    RunSummary,
    RunSummaryBuilder,
    evidence_within,
    keep_digest,
    keep_slices,
    kept_columns,
    kept_digest,
    kept_values,
)
from evals.scoring.gates import check_gates
from evals.scoring.missing import LOSSES, find_losses, notes_on_datasets, notes_on_losses
from evals.scoring.notes import MATCHING, SLOW, AnswerTally, merge, slow_metrics, status_of
from evals.scoring.run_columns import RunColumns, ScoreTable
from evals.scoring.scorecard import score_record, scorecard_of
from evals.scoring.settings import ScoringContext, score_settings, times_asked
from evals.scoring.stats.intervals import distinct
from evals.scoring.weighted import make_weighted_score, no_score, with_interval
from evals.store.records import RecordFile

# A run that was measured, with its records and what is derived from them.


_THRESHOLDS = (20_000, 20, 100)
"""Of the cyclic collector, while many records are held."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Let the cyclic collector run seldom: records hold no cycles, and it walks over all of them each time.

    It still runs, so cycles of other code are freed. What was set before is set again afterwards.
    """
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class PassingCases(ScoringContext):
    """The cases of records that are read one after the other; only the last one is held."""

    def about(self, question: EvalQuestion, response: EvalResponse, verdicts: Sequence[JudgeVerdict] = ()) -> Sample:
        if question.id not in self._known:
            self._known.clear()
        return super().about(question, response, verdicts)


@dataclass(frozen=True)
class Measured:
    """A run with what views derive from its records, each computed once.

    Attributes:
        run: As it was saved.
        cases: What is derived of its records.
        source: The records; read them through `records`.
        made: What views need of all of them, where it was collected while they were scored.
    """

    run: EvalRun
    cases: ScoringContext = field(repr=False)
    source: Sequence[EvalRecord] = field(repr=False)
    # `asyncio.run` asks for the name of its task, result and all, when it ends: every record would be written out.
    made: RunSummary | None = field(default=None, repr=False)
    _values: dict[str, list[str | None]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def digest(self) -> RunSummary:
        """What views need of all records together."""
        return self.made or kept_digest(self.run, self.source, self.cases)

    @property
    def abstention(self) -> AbstentionTable | None:
        """Who declined what, where the datasets say what can be answered."""
        table = self.digest.abstention
        return table and beside_scorecard(table, self.run.scorecard)

    @cached_property
    def columns(self) -> RunColumns:
        """The values of the questions that were asked."""
        return kept_columns(self.run, self.source)

    def values(self, key: str) -> list[str | None]:
        """What each question has for `dataset` or a key of the metadata, those included that were not asked."""
        if key not in self._values:
            self._values[key] = kept_values(self.run, self.source, key)
        return self._values[key]

    def questions(self) -> dict[int, str] | None:
        """Where questions were asked several times: by the number of an answer, which question it is of."""
        if times_asked(self.run) == 1:
            return None
        numbers = self.columns.numbers
        return dict(zip(numbers, distinct(self.columns.labels(), len(numbers)), strict=True))

    def records(self) -> Iterator[EvalRecord]:
        """The records, in the order of the questions; they can be walked again and again."""
        return iter(self.source)

    def findings(self, found: Iterable[BrokenLink]) -> Iterator[Finding]:
        """These findings with their records, each read when it is wanted."""
        return (one.with_record(self.source[one.number]) for one in found)

    def keep(self, file: RecordFile) -> None:
        """Keep the digest next to the file that these records were just written to, and what reports of slices need."""
        keep_digest(self.run, file, self.digest, self.cases)
        if len(self.run.datasets) > 1:
            keep_slices(self.run, file, self.columns, {"dataset": self.values("dataset")})


def measured(run: EvalRun, records: Sequence[EvalRecord]) -> Measured:
    """A saved run with its records, seen as the run says that they were scored, for walks over them.

    Raises:
        ConfigError: Its configuration was changed by hand to something that cannot be.
    """
    return Measured(run, evidence_within(run, records, PassingCases(score_settings(run))), records)


Ended = Literal["whole", "early", "refused"]
"""All was done; something was left undone; or the answers are of a server that does not hold the documents, so that the
run is failed and has no score."""


class Terms(Protocol):
    """The part of the configuration that decides how a run is concluded."""

    @property
    def prices(self) -> Mapping[str, PriceConfig]:
        """The user's, by model."""

    @property
    def scoring(self) -> ScoringConfig:
        """Weights, feeds and thresholds of the weighted score."""

    @property
    def max_error_rate(self) -> float:
        """With more failures than this the run is partial."""

    @property
    def gate(self) -> Sequence[str]:
        """Conditions on metrics."""

    @property
    def shard(self) -> str | None:
        """Which part of the questions it is; gates are not for a part."""


@dataclass(slots=True)
class Gathered:
    """The accumulator of scored records, which can be sent to another process.

    Attributes:
        table: Values and codes by metric.
        answers: How questions ended, and what their answers give reason to say.
        collected: What views need; None if not needed.
    """

    table: ScoreTable
    answers: AnswerTally = field(default_factory=AnswerTally)
    collected: Collected | None = None


_ANEW = (MATCHING, LOSSES, SLOW)
"""How notes begin that are made of the records each time that they are scored."""


class Scorer:
    """Scores the records of a run one after the other, and concludes the run at the end.

    Of a record nothing is held but what statistics need: values and codes by metric (`columns`), counts and notes.

    Args:
        run: As far as it is known.
        metrics: What to measure.
        cases: The records as metrics see them, with what the run says about matching.
        terms: Prices, weights, gates and the error rate: an `EvalConfig` has them.
        digest: Collects what views need; None if not needed.
        first: The number of the first record that it gets.
    """

    def __init__(
        self,
        run: EvalRun,
        metrics: Sequence[BaseMetric],
        cases: ScoringContext,
        terms: Terms,
        digest: RunSummaryBuilder | None = None,
        *,
        first: int = 0,
    ) -> None:
        self._run = run
        self._metrics = with_prices(metrics, terms.prices, run.config)
        self._cases = cases
        self._terms = terms
        self._digest = digest
        self._first = first
        self._seconds = {metric.name: 0.0 for metric in self._metrics if type(metric) not in METRICS}
        table = ScoreTable(cases.settings.cluster, self._metrics)
        self._gathered = Gathered(table, collected=None if digest is None else digest.collected)

    @property
    def answers(self) -> AnswerTally:
        """What the answers give reason to say."""
        return self._gathered.answers

    def scored(self, records: Iterable[EvalRecord]) -> Iterator[EvalRecord]:
        """Measure the next records; each can be forgotten once it is taken.

        Args:
            records: With what happened to the questions, in their order; those without a response stay as they are.
        """
        with gc_paused():
            yield from map(self.score, records)

    def score(self, record: EvalRecord) -> EvalRecord:
        """Measure the next record; it can be forgotten then."""
        scored = score_record(self._metrics, record, self._cases, self._seconds)
        self._gathered.table.add(scored)
        self._gathered.answers.add(scored, self._cases.of(scored))
        if self._digest is not None:
            self._digest.add(self._first + len(self._digest.collected.ids), scored)
        return scored

    def gathered(self) -> Gathered:
        """What is held of the records so far, as another process is sent it."""
        return self._gathered

    def extend(self, later: Gathered) -> None:
        """Add what another process has gathered of the records that follow."""
        merge(self._gathered, later)

    def concluded(
        self,
        scored: Iterable[EvalRecord],
        *,
        warmup_ms: Sequence[float | None] = (),
        ended: Ended = "whole",
        stopped: str | None = None,
        **fields: Any,
    ) -> EvalRun:
        """The run with its results; it is not saved yet.

        Args:
            scored: All records again, which are walked where verdicts are lost.
            warmup_ms: Latencies of the unscored questions.
            ended: How the work ended.
            stopped: Why asking ended early, where it did.
            fields: What else to set in the run.
        """
        settings, terms, table = self._cases.settings, self._terms, self._gathered.table
        scorecard = scorecard_of(self._metrics, table, settings)
        losses: list[VerdictLosses] = []
        notes = [note for note in fields.pop("notes", self._run.notes) if not note.startswith(_ANEW)]
        notes += slow_metrics(self._seconds, len(table.ids), fields.get("duration_s", 0.0))
        notes += self.answers.notes_on_matching(settings)
        if any(table.column(metric.name).missing()["judge"] for metric in self._metrics):
            losses = find_losses(self._metrics, scored, self._cases)
            notes += [*notes_on_losses(losses), *notes_on_datasets(scored)]
        outcomes = self.answers.outcomes(warmup_ms, judged=settings.judged).model_copy(
            update={"stopped": stopped, "judge_losses": losses}
        )
        if ended == "refused":
            weighted = no_score(terms.scoring, "the server does not hold the documents")
        else:
            weighted = make_weighted_score(scorecard, terms.scoring, answered=outcomes.answered)
        status = status_of(outcomes, terms.max_error_rate, ended_early=ended == "early")
        concluded = self._run.model_copy(
            update={
                "schema_version": SCHEMA_VERSION,
                "completed_at": datetime.now(UTC).replace(microsecond=0),
                "scorecard": scorecard,
                "metric_definitions": definitions(self._metrics),
                "weighted_score": with_interval(weighted, self._metrics, table, settings, terms.scoring),
                "error_count": sum(outcomes.transport.values()),
                "status": "failed" if ended == "refused" else status,
                "outcomes": outcomes,
                "semantics": settings.semantics and settings.semantics.names(),
                "record_sum": None,  # that of the records of before, where the run goes on or measures another again
                "notes": notes,
                **fields,
            }
        )
        return concluded.model_copy(update={"gates": [] if terms.shard else check_gates(concluded, terms.gate)})
