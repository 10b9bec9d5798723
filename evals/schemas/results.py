"""What was measured: per question, per run, and over objectives."""

from datetime import UTC
from enum import StrEnum
from typing import Any, Literal

from pydantic import AwareDatetime, Field, model_validator

from evals.schemas.base import Finite, Record
from evals.schemas.dataset import DatasetFingerprint, EvalQuestion
from evals.schemas.response import EvalResponse

SCHEMA_VERSION = 1

RunStatus = Literal["complete", "partial", "failed"]
Missing = Literal["not_applicable", "transport", "judge"]
JudgeFailure = Literal["refused", "truncated", "unparsable", "transport"]
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
    """Of which kind the missing value is; None where there is a value."""
    details: dict[str, Any] = {}

    @model_validator(mode="after")
    def _value_or_reason(self) -> "MetricResult":
        if (self.value is None) != (self.missing is not None) or (self.value is None and not self.reason):
            raise ValueError(f"{self.name}: a result has either a value, or a reason and a kind of missing")
        return self


class JudgeUsage(Record):
    """Tokens of the judge's calls; input counts everything, cached or not."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)

    def __add__(self, other: "JudgeUsage") -> "JudgeUsage":
        return JudgeUsage(**{name: getattr(self, name) + getattr(other, name) for name in JudgeUsage.model_fields})


class JudgeSpending(Record):
    """What calls to the judge took."""

    calls: int = Field(default=0, ge=0)
    usage: JudgeUsage = JudgeUsage()
    cost_usd: Finite = 0.0
    """Of the calls whose cost is known."""
    unpriced: int = Field(default=0, ge=0)
    """Calls that were answered or cut off without a word of their cost; where there are some, `cost_usd` is a lower
    bound."""

    def __add__(self, other: "JudgeSpending") -> "JudgeSpending":
        return JudgeSpending(
            calls=self.calls + other.calls,
            usage=self.usage + other.usage,
            cost_usd=self.cost_usd + other.cost_usd,
            unpriced=self.unpriced + other.unpriced,
        )

    @property
    def known_cost_usd(self) -> float | None:
        """The cost; None where no call's is known."""
        return None if self.unpriced and not self.cost_usd else self.cost_usd


class VerdictRequest(Record):
    """What a metric wants a judge to decide: by which prompt, over which data."""

    name: str
    """Of its verdicts; requests of the same name about a question are the same."""
    prompt: str
    data: dict[str, Any]
    once: bool = False
    """Whether repeats are of no use, because later requests build on one reply."""


class JudgeVerdict(Record):
    """One reply of the judge about one question, or the way in which it failed."""

    request: str
    """What was asked of the judge, for example "faithfulness"."""
    repeat: int = 0
    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    message: str | None = None
    model: str | None = None
    prompt_hash: str | None = None
    attempts: int = 1
    """Calls made for it."""
    usage: JudgeUsage | None = None
    """Over all attempts; None where the vendor does not count, or the reply came from the cache."""
    cost_usd: Finite | None = None
    """Each call at its own price; 0 for a reply from the cache; None where no price is known."""
    unpriced: int = 0
    """Calls of unknown cost: `cost_usd` is that of the others."""
    earlier: JudgeSpending | None = None
    """What was spent on the same decision before, where it is asked for again."""
    cached: bool = False
    """Whether nothing was asked: the reply came from the cache, from a saved run, or from the same request."""
    saved_usd: Finite | None = None
    """What a reply from the cache cost when it was asked for; None where nobody knows."""
    key: str | None = None
    """Hash over all that decides the reply: model, address, instructions, form, data and repeat."""
    injection_suspected: bool = False
    """Whether the data holds text that speaks to the judge, by the judge's word or by ours."""

    @property
    def spent(self) -> JudgeSpending:
        """What the decision took, tries of before included."""
        unpriced = self.unpriced or (self.attempts if self.cost_usd is None else 0)
        own = JudgeSpending(
            calls=self.attempts, usage=self.usage or JudgeUsage(), cost_usd=self.cost_usd or 0.0, unpriced=unpriced
        )
        earlier = self.earlier or JudgeSpending()
        return earlier if self.cached else earlier + own


class EvalRecord(Record):
    """A question with all that happened to it: the unit of resuming, re-scoring, merging and pairing."""

    question: EvalQuestion
    response: EvalResponse | None = None
    """None: it was not asked."""
    scores: list[MetricResult] = []
    verdicts: list[JudgeVerdict] = []


class MetricCounts(Record):
    """Over how many questions a metric was computed, and why not over the others."""

    scored: int = 0
    not_applicable: int = 0
    transport: int = 0
    judge: int = 0


class MetricSummary(Record):
    """One metric over a run."""

    name: str
    value: Finite | None
    group: MetricGroup
    sample_size: int
    counts: MetricCounts
    ci: tuple[Finite, Finite] | None = None
    bounds: tuple[Finite, Finite] | None = None
    """[worst, best]: the value if every question lost to a failure had scored worst, or best."""
    reason: str | None = None
    """Why there is no value, or what to know about the value there is."""
    rules: dict[str, int] = {}
    """How many golds were recognised by which matching rule."""
    labels: dict[str, int] = {}
    """How many answers got which label, such as the letters of factual_accuracy_percentage."""
    unit: str
    higher_is_better: bool | None


class Scorecard(Record):
    """All metrics of a run."""

    metrics: list[MetricSummary] = []
    by_group: dict[str, list[str]] = {}

    def get(self, name: str) -> MetricSummary | None:
        """The summary of the metric with this name, or None."""
        return next((metric for metric in self.metrics if metric.name == name), None)


class WeightedScore(Record):
    """The one number over all objectives that something feeds."""

    score: Finite | None
    objectives: dict[str, Finite] = {}
    weights: dict[str, Finite] = {}
    """The configured weights of the objectives present; the score divides by their sum."""
    fed_by: dict[str, list[str]] = {}
    left_out: dict[str, str] = {}
    """Objectives that nothing feeds, with the reason."""


class ParetoPoint(Record):
    """One run in the space of objectives."""

    run_id: str
    name: str
    objectives: dict[str, Finite]
    dominated_by: list[str] = []

    @property
    def on_front(self) -> bool:
        """Whether no other run dominates this one."""
        return not self.dominated_by


class ServerRecord(Record):
    """The server that was evaluated."""

    url: str
    """Without credentials."""
    profile: str
    spec_sha256: str | None = None
    """Hash over how questions were asked and answers read, which a profile's file may say otherwise by now."""
    citation_base: int = 1
    """The number of the first chunk in the server's citations."""
    masked: list[str] | None = None
    """Keys of `server` whose credential was given in clear and is not stored; None in runs that do not say."""
    snapshot_start: dict[str, Any] = {}
    snapshot_end: dict[str, Any] | None = None
    changed: bool | None = None
    """Whether the server's configuration differs between start and end; None where it could not be read."""


class JudgeRecord(Record):
    """The judge that was used."""

    model: str
    origin: str
    prompt_hashes: dict[str, str] = {}
    repeats: int = 1
    calls: int = 0
    """All that were made for the run, however often it was interrupted."""
    cached: int = 0
    """Replies that cost nothing, because they were in the cache, in a saved run, or shared by two questions."""
    usage: JudgeUsage = JudgeUsage()
    cost_usd: Finite | None = None
    """None where no price is known; a lower bound where `unpriced` is not 0."""
    unpriced: int = 0
    """Calls of unknown cost: their replies told no tokens, or they were cut off."""
    saved_usd: Finite | None = None
    """What the replies from the cache cost when they were asked for, as far as that is known."""
    prevented: int = 0
    """Decisions that the budget did not allow; they are no failures of the judge."""
    cost_per_query_usd: Finite | None = None
    """`cost_usd` for one judged question: the judge's share, apart from the server's cost_per_query."""
    flip_rate: Finite | None = None
    """Share of the decisions with at least two verdicts on which these disagree; None without repeats."""
    injections_suspected: int = 0
    """Questions whose data speaks to the judge."""


class Outcomes(Record):
    """How the questions ended."""

    answered: int = 0
    abstained: int = 0
    not_asked: int = 0
    stopped: str | None = None
    """Why asking ended early; None where it did not, or where evals itself was interrupted."""
    transport: dict[str, int] = {}
    judge: dict[str, int] = {}
    citations: int | None = None
    """Distinct sources cited; None where the server sends no citations."""
    invalid_citations: int | None = None
    """Of these, how many point to no retrieved chunk: validity, apart from precision and recall."""
    retried: int = 0
    """Questions that needed more than one attempt."""
    median_chunks: Finite | None = None
    """Median number of chunks returned: recall_at_10 of five chunks says something else."""
    warmup_ms: list[Finite | None] = []


class EvalRun(Record):
    """A saved run: what was asked of whom, and what came out."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    name: str
    created_at: AwareDatetime
    completed_at: AwareDatetime | None = None
    config: dict[str, Any] = {}
    """The server's configuration as it said at the start."""
    datasets: list[str]
    scorecard: Scorecard = Scorecard()
    weighted_score: WeightedScore = WeightedScore(score=None)
    question_count: int
    error_count: int = 0
    schema_version: int = SCHEMA_VERSION
    status: RunStatus = "partial"
    eval_config: dict[str, Any] = {}
    """Our configuration, with ${ENV} as written."""
    server: ServerRecord
    judge: JudgeRecord | None = None
    semantics: dict[str, str] | None = None
    """What compared texts: `embedder` and `scorer`, with all that their numbers depend on; None where nothing did."""
    outcomes: Outcomes = Outcomes()
    fingerprints: list[DatasetFingerprint] = []
    seed: int
    concurrency: int
    """Questions in flight: the most there were, where a resume changed it."""
    concurrencies: list[int] = []
    """All of them, where a resume changed it: latency is mixed then, and takes part in no verdict."""
    duration_s: Finite = 0.0
    """Time spent, added up over resumes."""
    package_versions: dict[str, str] = {}
    notes: list[str] = []
    """What a reader of the numbers must know."""
    rescored_from: str | None = None

    @property
    def stem(self) -> str:
        """The name of its files without ending: id and time of creation."""
        return f"{self.id}_{self.created_at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
