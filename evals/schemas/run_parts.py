"""Parts of a saved run: engine, gates, load, repeats and shards."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from evals.schemas.base import Finite, MayChange, Record

# The part of the configuration that says who does the work.


EngineName = Literal["local", "dask"]


class EngineConfig(Record):
    """Where questions are asked and texts embedded: this process, or a Dask cluster (extra `dask`; docs/scale.md)."""

    name: Annotated[EngineName, MayChange.ON_RESUME] = "local"
    """local: this process. dask: the workers of a cluster."""
    scheduler: Annotated[str | None, MayChange.ON_RESUME] = Field(default=None, min_length=1)
    """Address of the cluster's scheduler, such as tcp://10.0.0.5:8786; None starts a cluster on this machine."""
    workers: Annotated[int | None, MayChange.ON_RESUME] = Field(default=None, ge=1, le=256)
    """Processes of the cluster on this machine; as many as it has cores where None."""
    jobs: Annotated[int, MayChange.ON_RESUME] = Field(default=1, ge=1, le=256)
    """Processes of this machine that score the answers once they are there; with 1 it is this one."""


# What a run says of the cluster that asked its questions.


class EngineRecord(Record):
    """The cluster that asked the questions of a run."""

    name: str
    """Such as dask."""
    workers: int
    """The greatest number of workers at a time."""
    lost_workers: int = 0
    """Workers that were lost while they had questions in hand."""
    asked_again: int = 0
    """Questions of lost workers, which others asked again; the server may have had them twice."""


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


# What load does to a server: times, errors and quality at each level of it.


Percentiles = dict[str, Finite]
"""Milliseconds by name: p50, p95, p99."""


class LevelValue(Record):
    """One metric at one level."""

    name: str
    value: Finite
    ci: tuple[Finite, Finite] | None = None
    n: int


class LoadLevel(Record):
    """The questions that were asked at one level of load."""

    concurrency: int
    """Questions in flight, at most."""
    rps: Finite | None = None
    """The fixed rate, in questions a second; None without one."""
    questions: int
    answered: int
    errors: dict[str, int] = {}
    """By kind."""
    seconds: Finite | None = None
    """How long asking took; None where the level was not asked in one go."""
    throughput: Finite | None = None
    """Answers in a second."""
    latency_ms: Percentiles = {}
    """From sending a request to the end of its answer."""
    total_ms: Percentiles = {}
    """From the intended start, with retries and waiting: without coordinated omission."""
    time_to_first_token_ms: Percentiles = {}
    """Empty where answers do not come as a stream."""
    metrics: list[LevelValue] = []
    """Quality, of the questions of this level."""


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
    within_variance: Finite | None = None
    """Variance of the values of one question around their mean."""
    between_variance: Finite | None = None
    """Variance of the questions' true means. An estimate below 0 counts as 0."""
    reliability: Finite | None = None
    """between / (between + within), from 0 to 1: the intraclass correlation ICC(1)."""
    reason: str | None = None
    """Why there is no reliability, and no variance where that is None as well."""
    pass_hat: list[Finite] = []
    """pass^1 … pass^k: that this many answers to a question all have the best value. Empty without such a value."""
    pass_all_ci: tuple[Finite, Finite] | None = None
    """The interval of the last of them, over questions or their clusters."""


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
