"""Results per question, per run, and per objective, and what a run says of engine, log, gates, shards and repeats."""

from collections.abc import Callable, Mapping
from datetime import UTC
from enum import StrEnum
from operator import not_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BeforeValidator, Field, PrivateAttr, model_validator

from evals.errors import StoreError, UnknownNameError, without_withdrawn
from evals.schemas.base import Finite, Record, frame, html_table, is_none
from evals.schemas.dataset import DatasetFingerprint, EvalQuestion
from evals.schemas.response import EvalResponse, Outcomes, ServerRecord
from evals.schemas.verdicts import JudgeRecord, JudgeVerdict

if TYPE_CHECKING:
    import pandas as pd


# Parts of a run.


# What a run says of the cluster that asked its questions.


class EngineRecord(Record):
    """The cluster that asked the questions of a run."""

    name: str
    """Such as dask."""
    workers: int
    """The greatest number of workers at a time."""
    lost_workers: int = 0
    """Workers that were lost; others asked their questions again, so the server may have had them twice."""


# What a run says of the log that its questions and answers were read from.


class LogRecord(Record):
    """A log or an export of traces, as it was read."""

    kind: Literal["rows", "traces"]
    total: int
    """Rows, or traces."""
    read: int
    """Those with a question, that is, those that could be scored."""
    drawn: int
    """Those that were drawn of them; all where no sample was asked for."""
    without_documents: int = 0
    """Of those read, the ones that do not say what was retrieved."""
    unreadable: int = 0
    """Of those read, the ones with a document that could not be read."""
    stratify: str | None = None
    """The key that the sample was drawn by."""
    grounds: dict[str, Finite] = {}
    """Rows of the log by "sufficient answered", "sufficient declined", "insufficient answered" and "insufficient
    declined": whether the retrieved texts suffice, and whether the answer declines. Empty without a judge."""


# How a condition on a run ended.


GateResult = Literal["met", "not met", "not enough evidence"]


class GateOutcome(Record):
    """Outcome of a gate."""

    gate: str
    """As it was written: `recall_at_5>=0.8`."""
    outcome: GateResult
    message: str
    """The figures behind it, or the reason, in words."""
    value: Finite | None = None
    """The metric's value, or its difference from the baseline."""
    ci: tuple[Finite, Finite] | None = None
    """Of the value; where the gate is on an end of it."""
    n: int | None = None
    """Over how many questions; None for the weighted score."""
    more_questions: int | None = None
    """If there is not enough evidence: about how many more questions would settle it at the same value; None
    if no number does, or if it is unknown."""


# What a merged run says of each run that it was made of.


RunStatus = Literal["complete", "partial", "failed"]


class MergedShard(Record):
    """A run that asked a part of the questions of another run."""

    id: str
    shard: str
    """Which part it asked, such as 2/7."""
    status: RunStatus
    duration_s: Finite


# What a run's file says of its records file, so that a copy that lost or changed something is known for one.


class RecordSum(Record):
    """The records file of a run, as it was when the run was saved."""

    count: int = Field(ge=0)
    """Records in it: one a question."""
    size: int = Field(ge=0)
    """Its bytes."""
    crc32: int = Field(ge=0, le=0xFFFFFFFF)
    """CRC-32 over all its bytes (ISO 3309, as zlib computes it)."""


class RepeatedMetric(Record):
    """One metric over questions that were asked several times."""

    name: str
    questions: int
    """Questions with at least two values."""
    pass_hat: list[Finite] = []
    """pass^1 … pass^k: the share of questions of which k answers all have the best value."""
    pass_all_ci: tuple[Finite, Finite] | None = None
    """The interval of the last of them."""


class RepeatSummary(Record):
    """A run that asked every question several times."""

    repeats: int
    questions: int
    """How many there are, each counted once."""
    compared: int
    """Questions with at least two answers."""
    same_answers: Finite | None = None
    """The share of these whose answers are all the same, but for case, blanks and punctuation."""
    agreement: Finite | None = None
    """The share of pairs of answers to one question that are the same, as a mean over questions."""
    agreement_ci: tuple[Finite, Finite] | None = None
    metrics: list[RepeatedMetric] = []


RAGAS_WEIGHTS: Mapping[str, float] = {
    "ragas_faithfulness": 0.30,
    "ragas_context_precision": 0.20,
    "ragas_context_recall": 0.20,
    "ragas_answer_relevance": 0.30,
}
"""Weights of the parts of `ragas_score`, unless the configuration says otherwise; here, where listing runs finds them
without the metrics."""


# One run beside others, over objectives.


class ParetoPoint(Record):
    """One run in the space of objectives."""

    run_id: str
    name: str
    objectives: dict[str, Finite]
    dominated_by: list[str] = []
    """Runs that are at least as good on all objectives, and better on one."""

    @property
    def on_front(self) -> bool:
        """Whether no other run dominates this one."""
        return not self.dominated_by


SCHEMA_VERSION = 3


Missing = Literal["not_applicable", "transport", "judge", "injection", "fault"]
"""`injection`: the judge itself says that the data tells it what to decide. `fault`: the metric raised, which is ours
or a plug-in's to correct."""


WITHOUT_VERDICT: frozenset[Missing] = frozenset({"judge", "injection"})
"""Of what hangs on a verdict that does not count: other verdicts on the same thing stand for it."""


SAVED_ANSWERS = "saved answers"
"""What stands in the place of the server's profile in a run that asked no server."""


class MetricGroup(StrEnum):
    """The five groups by which results are reported."""

    RETRIEVAL = "retrieval"
    GENERATION = "generation"
    CITATION = "citation"
    ABSTENTION = "abstention"
    PERFORMANCE = "performance"


class MetricResult(Record):
    """One metric of one question: a value, or the reason why there is none."""

    name: str
    group: MetricGroup
    value: Finite | None = None
    reason: str | None = None
    missing: Missing | None = None
    """Why the value is missing; None if there is a value."""
    judged_by: list[str] = []
    """The verdicts that the value depends on, in the order in which they are needed; if it is missing for the judge,
    the last one is lost. Empty for a value that needs none, and in earlier runs."""
    details: dict[str, Any] = {}

    @model_validator(mode="after")
    def _value_or_reason(self) -> "MetricResult":
        if (self.value is None) != (self.missing is not None) or (self.value is None and not self.reason):
            raise ValueError(f"{self.name}: a result has either a value, or a reason and a kind of missing")
        return self


class EvalRecord(Record):
    """A question with all that happened to it: the unit of resuming, re-scoring, merging and pairing."""

    question: EvalQuestion
    response: EvalResponse | None = None
    """None: it was not asked."""
    scores: list[MetricResult] = []
    verdicts: list[JudgeVerdict] = []


class MetricCounts(Record):
    """How many questions have a value of a metric, and why others have none."""

    scored: int = 0
    not_applicable: int = 0
    transport: int = 0
    judge: int = 0
    injection: int = Field(default=0, exclude_if=not_)
    """Verdicts that do not count, because the judge reported a prompt injection. Left out of files if 0."""
    fault: int = Field(default=0, exclude_if=not_)
    """The metric raised an exception. Left out of files if 0."""

    @property
    def lost(self) -> int:
        """The questions that failures took, and injections."""
        return self.transport + self.judge + self.injection + self.fault


class MetricInterval(Record):
    """Method, sample size and marks of a metric's interval."""

    method: str
    n: int
    """The number of values."""
    clusters: int
    """The number of clusters; n if each question is its own."""
    note: str | None = None
    """A remark, such as `few groups`."""
    open_above: bool = False
    """Whether the upper end is a timed-out request: the true end may be anywhere above."""


class MetricSummary(Record):
    """One metric over a run."""

    name: str
    value: Finite | None
    group: MetricGroup
    sample_size: int
    whole: Finite | None = Field(default=None, exclude_if=is_none)
    """How many questions of a log the values stand for that were drawn of it; a file holds it only of samples."""
    counts: MetricCounts
    ci: tuple[Finite, Finite] | None = None
    interval: MetricInterval | None = None
    """How `ci` was computed, or why it is None. None without values, and in earlier runs."""
    at_least: bool = False
    """Whether the value is a lower bound: a percentile at or above a timed-out request."""
    bounds: tuple[Finite, Finite] | None = None
    """[worst, best]: the value if every question lost to a failure had scored worst, or best."""
    reason: str | None = None
    """Why there is no value, or a remark on the value."""
    rules: dict[str, int] = {}
    """How many golds were recognised by which matching rule."""
    labels: dict[str, int] = {}
    """How many answers got which label, such as the letters of factual_accuracy_percentage."""
    unit: str
    higher_is_better: bool | None


class MetricDefinition(Record):
    """A metric that is not built in, such that its values can be read where its code is not there."""

    name: str
    group: MetricGroup
    unit: str
    higher_is_better: bool | None
    low: Finite | None = None
    high: Finite | None = None
    aggregation: Literal["mean", "rate", "percentile", "sum"]
    percentile: Finite | None = None
    needs: list[str] = []
    """The names of `Need`, in lower case."""
    of_answer: bool = False
    labels: dict[str, Finite] = {}
    """By label that it gives, the value; empty where it gives numbers."""
    description: str = ""
    source: str | None = None
    """Where it was found: `metrics.py:answer_words`, or the package of a plug-in; None where it was passed as an
    object."""
    sha256: str | None = None
    """Of its source code; None where that cannot be read."""

    @property
    def meaning(self) -> str:
        """What decides its values: two metrics of one name that differ in it cannot be compared."""
        return self.model_dump_json(exclude={"description", "source"})


saved_definitions: dict[str, MetricDefinition] = {}
"""By name, the metrics of the saved runs that this process has read; the run read last goes before the others."""


class Scorecard(Record):
    """All metrics of a run."""

    metrics: list[MetricSummary] = []
    by_group: dict[str, list[str]] = {}

    def find(self, name: str) -> MetricSummary | None:
        """The summary of the metric with this name; None where the run does not have it."""
        return next((metric for metric in self.metrics if metric.name == name), None)

    def get(self, name: str) -> MetricSummary:
        """The summary of the metric with this name.

        Raises:
            UnknownNameError: The run does not have it; the message names the nearest that it has.
        """
        found = self.find(name)
        if found is None:
            raise UnknownNameError("metric of this run", name, [metric.name for metric in self.metrics])
        return found

    def to_pandas(self) -> "pd.DataFrame":
        """A row a metric: value, ends of its interval, over how many questions, and why it has no value."""
        return frame(map(_as_row, self.metrics), "metric")

    def __repr__(self) -> str:
        count = len(self.metrics)
        values = ", ".join(f"{one.name} {_shown(one)[0]}" for one in self.metrics)
        return f"<Scorecard of {count} metric{'' if count == 1 else 's'}: {values}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        rows = [(one.name, *_shown(one), one.sample_size) for one in self.metrics]
        return html_table(("metric", "value", "interval", "n"), rows, "Scorecard")


def _as_row(summary: MetricSummary) -> dict[str, Any]:
    low, high = summary.ci or (None, None)
    return {
        "metric": summary.name,
        "group": summary.group.value,
        "value": summary.value,
        "low": low,
        "high": high,
        "n": summary.sample_size,
        "clusters": summary.interval.clusters if summary.interval else None,
        "unit": summary.unit,
        "higher_is_better": summary.higher_is_better,
        "reason": summary.reason,
    }


def _question_row(record: EvalRecord) -> dict[str, Any]:
    question, response = record.question, record.response
    error = response.error if response else None
    return {
        "id": question.id,
        "dataset": question.dataset,
        "question": question.question,
        "expected_answer": question.expected_answer,
        "answer": response.answer if response else None,
        "error": "not asked" if response is None else error and f"{error.kind}: {error.message}",
        "latency_ms": response.latency_ms if response else None,
        **{score.name: score.value for score in record.scores},
        **{f"meta.{key}": value for key, value in question.metadata.items()},
    }


def _shown(summary: MetricSummary) -> tuple[str, str]:
    value = "–" if summary.value is None else f"{'≥ ' if summary.at_least else ''}{summary.value:.4g}"
    return value, "–" if summary.ci is None else f"{summary.ci[0]:.4g} … {summary.ci[1]:.4g}"


class WeightedScore(Record):
    """The weighted mean of all objectives that have a value."""

    score: Finite | None
    reason: str | None = None
    """Why there is no score."""
    coverage: Finite | None = None
    """The share of the configured weight that is measured, from 0 to 1; None in runs that do not say."""
    ci: tuple[Finite, Finite] | None = None
    interval: MetricInterval | None = None
    """How `ci` was computed; None if nothing in the score varies, and in earlier runs."""
    bounds: tuple[Finite, Finite] | None = None
    """[worst, best]: the score if every question lost to a failure had scored worst, or best; None without such."""
    objectives: dict[str, Finite] = {}
    weights: dict[str, Finite] = {}
    """The configured weights of the objectives present; the score divides by their sum."""
    fed_by: dict[str, list[str]] = {}
    left_out: dict[str, str] = {}
    """Objectives without a value, with the reason."""
    left_out_metrics: dict[str, dict[str, str]] = {}
    """By objective: metrics with a value that are not counted, with the reason."""

    @model_validator(mode="after")
    def _each_has_a_weight(self) -> "WeightedScore":
        for name in self.objectives.keys() - self.weights.keys():
            raise ValueError(f"objective {name!r} has no weight")
        return self


class EvalRun(Record):
    """A saved run: configuration, server, results."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    name: str
    created_at: AwareDatetime
    completed_at: AwareDatetime | None = None
    config: dict[str, Any] = {}
    """The configuration that the server reported at the start."""
    datasets: list[str]
    scorecard: Scorecard = Scorecard()
    weighted_score: WeightedScore = WeightedScore(score=None)
    metric_definitions: list[MetricDefinition] = []
    """Metrics of the run that are not built in; empty in earlier runs."""
    question_count: int
    error_count: int = 0
    schema_version: int = SCHEMA_VERSION
    status: RunStatus = "partial"
    eval_config: Annotated[dict[str, Any], BeforeValidator(without_withdrawn)] = {}
    """Our configuration, with ${ENV} as written."""
    server: ServerRecord
    judge: JudgeRecord | None = None
    semantics: dict[str, str] | None = None
    """The text models, `embedder` and `scorer`, with versions; None if none was used."""
    outcomes: Outcomes = Outcomes()
    fingerprints: list[DatasetFingerprint] = []
    seed: int
    concurrency: int
    """Questions in flight; the highest, if a resume changed it."""
    concurrencies: list[int] = []
    """All values of the concurrency. With several, latency is not compared."""
    interleaved_with: list[str] = []
    """Ids of the interleaved runs, this one included, whose latencies are comparable."""
    repeats: RepeatSummary | None = None
    """How stable answers are; None where each question was asked once."""
    duration_s: Finite = 0.0
    """Time spent, added up over resumes, and of a merged run over its shards."""
    package_versions: dict[str, str] = {}
    notes: list[str] = []
    """Notes for the reader."""
    gates: list[GateOutcome] = []
    """Outcomes of the gates."""
    rescored_from: str | None = None
    record_sum: RecordSum | None = None
    """Its records file as it was saved; None while it is being written, and in earlier runs."""
    engine: EngineRecord | None = None
    """The cluster that asked, summed over resumes; None if this process asked."""
    log: LogRecord | None = Field(default=None, exclude_if=is_none)
    """The log that questions and answers were read from; a file holds it only where there was one."""
    merged_from: list[MergedShard] = []
    """The shards of a merged run; else empty."""

    _path: Path | None = PrivateAttr(default=None)
    _read: "Callable[[EvalRun], list[EvalRecord]] | None" = PrivateAttr(default=None)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same; where they are saved makes no difference."""
        return isinstance(other, EvalRun) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def saved_as(self, path: Path, read: "Callable[[EvalRun], list[EvalRecord]]") -> Self:
        """The same run, which knows from here on its file, and what reads its records."""
        self._path, self._read = path, read
        return self

    @property
    def path(self) -> Path | None:
        """The run's file; None where it was not saved or loaded by this process."""
        return self._path

    def records(self) -> list[EvalRecord]:
        """Its records: each question with its response, its metrics and what the judge said of it.

        Raises:
            StoreError: It was not saved or loaded by this process, or its records cannot be read, or are not as saved.
        """
        if self._read is None:
            raise StoreError(f"run {self.id} is in no folder", "load it with RunStore(folder).load(id)")
        return self._read(self)

    def to_pandas(self) -> "pd.DataFrame":
        """A row a question, a column a metric.

        Raises:
            StoreError: As of `records`.
        """
        return frame(map(_question_row, self.records()), "id")

    def __repr__(self) -> str:
        weighted = self.weighted_score
        score = "no score" if weighted.score is None else f"score {weighted.score:.3f}"
        if weighted.score is not None and weighted.coverage is not None and weighted.coverage < 1:
            score += f" of {100 * weighted.coverage:.0f} % of the weight"
        asked = f"{self.question_count} question{'' if self.question_count == 1 else 's'}"
        return f"<EvalRun {self.id} {self.name!r}, {self.status}: {asked} of {', '.join(self.datasets)}, {score}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        rows = [(one.group.value, one.name, *_shown(one), one.sample_size) for one in self.scorecard.metrics]
        return html_table(("group", "metric", "value", "interval", "n"), rows, repr(self)[1:-1])

    @property
    def is_unscored(self) -> bool:
        """Whether it was never finished: its answers are in its log, and nothing of it is scored."""
        return self.completed_at is None and not self.scorecard.metrics

    @property
    def stem(self) -> str:
        """The name of its files without ending: id and time of creation."""
        return f"{self.id}_{self.created_at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
