"""Configuration of the weighted score and of clusters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator, model_validator

from evals.errors import ConfigError
from evals.schemas.base import Finite, Record
from evals.schemas.results import RAGAS_WEIGHTS, EvalRun
from evals.text.yaml_files import first_problem

LEAST_COVERAGE = 0.5
"""With a smaller share of the weight measured there is no score: latency alone says nothing of the answers."""


NOT_ANSWERED = "no question was answered"
"""Why there is no score where no answer came."""


_WEIGHTS = {"accuracy": 0.30, "faithfulness": 0.20, "citation": 0.20, "retrieval": 0.15, "cost": 0.10, "latency": 0.05}


_FEEDS = {
    "accuracy": [
        "answer_correctness",
        "answer_relevancy",
        "unanswerable_accuracy",
        "abstention_false_positive_rate",
        "abstention_false_negative_rate",
    ],
    "faithfulness": ["faithfulness"],
    "citation": ["citation_precision", "citation_recall", "section_accuracy"],
    "retrieval": ["recall_at_5", "mrr", "ndcg_at_10"],
    "cost": ["cost_per_query"],
    "latency": ["latency_p50"],
}


_PRIMARY = {
    "retrieval": ["recall_at_5", "ndcg_at_10", "mrr"],
    "generation": ["answer_correctness", "factual_accuracy_percentage", "factual_match", "squad_f1", "faithfulness"],
    "citation": ["citation_recall", "citation_support_recall"],
    "abstention": ["unanswerable_accuracy"],
}

_THRESHOLDS = {"USD": 0.10, "ms": 30_000.0}


_CLOSED = {
    "thresholds": "unit of an objective",
    "primary": "group of quality",
    "ragas_weights": "part of ragas_score",
}
"""The tables to which no key can be added, and what their keys are."""


class ScoringConfig(Record):
    """Weights, metrics and thresholds of the weighted score. Names that a table omits keep their default."""

    weights: dict[str, Annotated[Finite, Field(ge=0)]] = _WEIGHTS
    """Of the objectives; 0 leaves one out."""
    feeds: dict[str, list[str]] = _FEEDS
    """The metrics whose mean is an objective. A metric with a unit counts as 1 - value / threshold."""
    thresholds: dict[str, Annotated[Finite, Field(gt=0)]] = _THRESHOLDS
    """The value of a unit at which an objective is worth nothing."""
    primary: dict[str, list[str]] = _PRIMARY
    """By group, the primary metric of comparisons: the first of these that both runs have."""
    ragas_weights: dict[str, Annotated[Finite, Field(ge=0)]] = dict(RAGAS_WEIGHTS)
    """Of the parts of ragas_score."""
    cluster: str | None = Field(default=None, min_length=1)
    """What questions are grouped by in intervals and tests: "document", or a key of the metadata. None: questions are
    independent, and results are about these documents."""

    @property
    def feeding(self) -> frozenset[str]:
        """The metrics of the objectives that weigh something."""
        return frozenset(name for objective, weight in self.weights.items() if weight for name in self.feeds[objective])

    @field_validator("primary", mode="before")
    @classmethod
    def _lists_of_one(cls, primary: Any) -> Any:
        if not isinstance(primary, Mapping):
            return primary
        return {group: [names] if isinstance(names, str) else names for group, names in primary.items()}

    @field_validator("weights", "feeds", "thresholds", "primary", "ragas_weights")
    @classmethod
    def _with_defaults(cls, table: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        name = info.field_name or ""
        default = cls.model_fields[name].default
        unknown = table.keys() - default.keys()
        if unknown and name in _CLOSED:
            raise ValueError(f"{min(unknown)!r} is no {_CLOSED[name]}; these are: {', '.join(default)}")
        whole = {**default, **table}
        if name in ("weights", "ragas_weights") and not any(whole.values()):
            raise ValueError("at least one weight must be positive")
        return whole

    @model_validator(mode="after")
    def _weights_name_objectives(self) -> Self:
        for name in self.weights.keys() ^ self.feeds.keys():
            if name in self.weights:
                raise ValueError(f"weight of an objective without metrics: {name!r} (add it to scoring.feeds)")
            raise ValueError(f"objective without a weight: {name!r} (add it to scoring.weights)")
        return self


# What a saved run says of its configuration, read without what measures.


_Part = TypeVar("_Part", bound=BaseModel)


def scoring_config(run: EvalRun) -> ScoringConfig:
    """The weights, feeds and thresholds of the run's weighted score.

    Raises:
        ConfigError: They were changed by hand to something that cannot be.
    """
    return valid_part(ScoringConfig, run, "scoring")


def confidence(run: EvalRun) -> float:
    """Of the run's intervals, such as 0.95.

    Raises:
        ConfigError: It was changed by hand to something that cannot be.
    """
    found = run.eval_config.get("confidence", 0.95)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found < 1:
        problem = f"confidence must be a number between 0 and 1, not {str(found)[:40]!r}"
        raise ConfigError(f"run {run.id} holds an invalid configuration: {problem}")
    return float(found)


def valid_part(model: type[_Part], run: EvalRun, key: str) -> _Part:
    """A part of the run's configuration, as it stands in the run.

    Raises:
        ConfigError: It was changed by hand to something that cannot be.
    """
    part = run.eval_config.get(key)
    known = {name: part[name] for name in model.model_fields if name in part} if isinstance(part, Mapping) else {}
    try:
        return model.model_validate(known)
    except ValidationError as error:
        problem = first_problem(error, model)
        raise ConfigError(f"run {run.id} holds an invalid configuration: {key}.{problem}", problem.hint) from error


# The weighted score of a saved run as it may be shown: none where little was measured, and beside which others.


_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Headline:
    """A weighted score as it may be shown.

    Attributes:
        score: None where there is none, or it says nothing.
        coverage: The share of the configured weight that is measured, from 0 to 1.
        reason: Why there is no score.
    """

    score: float | None
    coverage: float
    reason: str | None = None

    def __str__(self) -> str:
        """`0.766 (80 % measured)`: the score, and how much of its weight was measured, where that is not all."""
        if self.score is None:
            return "–"
        return f"{self.score:.3f}{'' if self.is_whole else f' ({percent(self.coverage)} measured)'}"

    @property
    def is_whole(self) -> bool:
        """Whether everything that has a weight was measured."""
        return self.coverage > 1 - _ROUNDING


def percent(share: float) -> str:
    """A share in whole percent: `80 %`."""
    return f"{100 * share:.0f} %"


def headline(run: EvalRun) -> Headline:
    """The score of a saved run."""
    weighted = run.weighted_score
    coverage = weighted.coverage or 0.0
    reason = why_failed(run)
    if reason is None:
        reason = _why_none(run) if weighted.score is None else too_little(coverage, weighted.weights)
    return Headline(weighted.score if reason is None else None, coverage, reason)


def too_little(coverage: float, measured: Iterable[str]) -> str | None:
    """Why there is no score where so small a share of the weight is measured; None where it is enough."""
    if coverage >= LEAST_COVERAGE - _ROUNDING:
        return None
    return f"only {percent(coverage)} of the weight is measured: {', '.join(measured)}"


def why_failed(run: EvalRun) -> str | None:
    """Why a run that failed did; None for one that did not."""
    return _why_none(run) if run.status == "failed" else None


def _why_none(run: EvalRun) -> str:
    """Why there is no score."""
    if run.weighted_score.reason:
        return run.weighted_score.reason
    if run.is_unscored:
        return "the run did not finish, and none of it is scored yet"
    reasons = set(run.weighted_score.left_out.values())
    if len(reasons) == 1:
        return reasons.pop()
    return "nothing feeds it" if run.outcomes.answered else NOT_ANSWERED


def differing_objectives(first: EvalRun, other: EvalRun) -> list[str]:
    """What two weighted scores do not have in common, in words; empty where they measure the same."""
    left, right = _measured(first), _measured(other)
    parts = []
    for name in dict.fromkeys([*left, *right]):
        if name not in left or name not in right:
            parts.append(f"{name} is measured in {(first if name in left else other).id} alone")
        elif left[name] != right[name]:
            parts.append(f"{name} is {_told(left[name])} in {first.id} and {_told(right[name])} in {other.id}")
    return parts


_Objective = tuple[float, tuple[str, ...], Mapping[str, float]]
"""Weight, metrics that feed it, thresholds."""


def _measured(run: EvalRun) -> dict[str, _Objective]:
    weighted, thresholds = run.weighted_score, scoring_config(run).thresholds
    units = {summary.name: summary.unit for summary in run.scorecard.metrics}
    found: dict[str, _Objective] = {}
    for name, weight in weighted.weights.items():
        fed = tuple(sorted(weighted.fed_by.get(name, ())))
        used = {unit: thresholds[unit] for unit in map(units.get, fed) if unit in thresholds}
        found[name] = (weight, fed, used)
    return found


def _told(objective: _Objective) -> str:
    weight, fed, thresholds = objective
    told = ", ".join(fed) or "made of unknown metrics"
    limits = "".join(f", threshold {limit:g} {unit}" for unit, limit in thresholds.items())
    return f"{told} (weight {weight:g}{limits})"


# What a run says of a metric or of its weighted score, as gates see it.


SCORE = "score"
"""In a gate: the weighted score."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A metric of a run, or its weighted score.

    Attributes:
        value: None where there is none.
        ci: Its interval.
        n: Over how many questions.
        reason: Why there is no value.
        of: Of how much of the weight a score is, in words; empty where it is all, and for metrics.
        at_least: Whether the value is a lower bound: requests ran out of time.
        open_above: Whether the upper end of the interval is unknown.
        bounds: What the value would be if all that is lost were the worst, and the best.
        flagged: Of how many questions the judge says that the data tells it what to decide.
        unit: As it is said behind the value; empty where it has none.
    """

    value: float | None
    ci: tuple[float, float] | None = None
    n: int | None = None
    reason: str | None = None
    of: str = ""
    at_least: bool = False
    open_above: bool = False
    bounds: tuple[float, float] | None = None
    flagged: int = 0
    unit: str = ""

    def bound(self, *, upper: bool) -> float | None:
        """The upper or the lower bound where the judge flags something, else the value."""
        if not self.flagged:
            return self.value
        return None if self.bounds is None else max(self.bounds) if upper else min(self.bounds)

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return self.ci[0] if self.ci else None

    @property
    def high(self) -> float | None:
        """The upper end; None if unknown."""
        return self.ci[1] if self.ci and not self.open_above else None

    @property
    def spread(self) -> str:
        """The interval in words."""
        if self.ci is None:
            return "no interval"
        return f"interval {self.ci[0]:.4g} … {'≥ ' if self.open_above else ''}{self.ci[1]:.4g}"

    def __str__(self) -> str:
        return f"{self.value:.4g}{self.unit}{self.of}"


def see(run: EvalRun, name: str) -> Measurement:
    """The measurement of a metric in a run; `score` is its weighted score."""
    if name == SCORE:
        return _score(run)
    summary = run.scorecard.find(name)
    if summary is None:
        return Measurement(None, reason="the run does not have it")
    return Measurement(
        summary.value,
        summary.ci,
        summary.sample_size,
        summary.reason,
        at_least=summary.at_least,
        open_above=summary.interval is not None and summary.interval.open_above,
        bounds=summary.bounds,
        flagged=summary.counts.injection,
        unit=f" {summary.unit}" if summary.unit in ("ms", "USD") else "",
    )


def _score(run: EvalRun) -> Measurement:
    head, weighted = headline(run), run.weighted_score
    feeds = set().union(*scoring_config(run).feeds.values())
    flagged = [one for one in run.scorecard.metrics if one.name in feeds and one.counts.injection]
    return Measurement(
        head.score,
        weighted.ci,
        weighted.interval.n if weighted.interval else None,
        head.reason,
        "" if head.is_whole else f" of {percent(head.coverage)} of the weight",
        bounds=None if any(one.value is None for one in flagged) else weighted.bounds,
        flagged=max((one.counts.injection for one in flagged), default=0),
    )
