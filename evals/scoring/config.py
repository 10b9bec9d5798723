"""The parts of the configuration that say how the weighted score is made, and which questions belong together."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from evals.metrics.ragas_weights import RAGAS_WEIGHTS
from evals.schemas.base import Finite, Record

LEAST_COVERAGE = 0.5
"""With a smaller share of the weight measured there is no score: latency alone says nothing of the answers."""
NOT_ANSWERED = "no question was answered"
"""Why there is no score where no answer came."""

BY_DOCUMENT = "document"
"""Questions belong together whose first gold passages are of one document."""
BY_QUESTION = "question"
"""Each question stands for itself."""
ClusterKey = Annotated[str, Field(min_length=1)]
"""What questions belong together by: "document", "question", or a key of their metadata."""

_WEIGHTS = {"accuracy": 0.30, "faithfulness": 0.20, "citation": 0.20, "retrieval": 0.15, "cost": 0.10, "latency": 0.05}
_FEEDS = {
    "accuracy": ["answer_correctness", "answer_relevancy", "unanswerable_accuracy"],
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


class ScoringConfig(Record):
    """How the weighted score is made of the metrics. In each table, what is not named keeps its default."""

    weights: dict[str, Annotated[Finite, Field(ge=0)]] = _WEIGHTS
    """Of the objectives; 0 leaves one out."""
    feeds: dict[str, list[str]] = _FEEDS
    """The mean of which metrics makes an objective. A metric with a unit counts as 1 - value / threshold."""
    thresholds: dict[str, Annotated[Finite, Field(gt=0)]] = _THRESHOLDS
    """The value of a unit at which an objective is worth nothing."""
    primary: dict[str, list[str]] = _PRIMARY
    """By group, the metric that decides first in a comparison of runs: the first of these that both runs have."""
    ragas_weights: dict[str, Annotated[Finite, Field(ge=0)]] = dict(RAGAS_WEIGHTS)
    """Of the parts of ragas_score."""

    @property
    def feeding(self) -> frozenset[str]:
        """The metrics of the objectives that weigh something."""
        return frozenset(name for objective, weight in self.weights.items() if weight for name in self.feeds[objective])

    @field_validator("ragas_weights")
    @classmethod
    def _all_ragas_weights(cls, weights: dict[str, float]) -> dict[str, float]:
        unknown = weights.keys() - RAGAS_WEIGHTS.keys()
        if unknown:
            raise ValueError(f"{min(unknown)!r} is no part of ragas_score; these are: {', '.join(RAGAS_WEIGHTS)}")
        return _one_is_positive({**RAGAS_WEIGHTS, **weights})

    @field_validator("primary", mode="before")
    @classmethod
    def _primary_by_group(cls, primary: Any) -> Any:
        if not isinstance(primary, Mapping):
            return primary
        unknown = [group for group in primary if group not in _PRIMARY]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no group of quality; these are: {', '.join(_PRIMARY)}")
        return {**_PRIMARY, **{group: [names] if isinstance(names, str) else names for group, names in primary.items()}}

    @field_validator("weights")
    @classmethod
    def _all_weights(cls, weights: dict[str, float]) -> dict[str, float]:
        return _one_is_positive({**_WEIGHTS, **weights})

    @field_validator("feeds")
    @classmethod
    def _all_feeds(cls, feeds: dict[str, list[str]]) -> dict[str, list[str]]:
        return {**_FEEDS, **feeds}

    @field_validator("thresholds")
    @classmethod
    def _all_thresholds(cls, thresholds: dict[str, float]) -> dict[str, float]:
        unknown = thresholds.keys() - _THRESHOLDS.keys()
        if unknown:
            raise ValueError(f"no objective is in {min(unknown)!r}; units are: {', '.join(_THRESHOLDS)}")
        return {**_THRESHOLDS, **thresholds}

    @model_validator(mode="after")
    def _weights_name_objectives(self) -> Self:
        for name in self.weights.keys() ^ self.feeds.keys():
            if name in self.weights:
                raise ValueError(f"weight of an objective that nothing feeds: {name!r} (add it to scoring.feeds)")
            raise ValueError(f"objective without a weight: {name!r} (add it to scoring.weights)")
        return self


def _one_is_positive(weights: dict[str, float]) -> dict[str, float]:
    if not any(weights.values()):
        raise ValueError("at least one weight must be positive")
    return weights
