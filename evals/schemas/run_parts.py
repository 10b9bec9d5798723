"""Parts of a saved run: engine, gates, load, repeats and shards."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from evals.schemas.base import Finite, Record

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
