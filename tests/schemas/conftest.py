"""A run with every part of the seed's example filled in."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from evals.schemas import (
    EvalRun,
    MetricCounts,
    MetricGroup,
    MetricSummary,
    Scorecard,
    ServerRecord,
    WeightedScore,
)

CONFIG = {
    "llm_model": "gemma3:4b",
    "llm_provider": "ollama",
    "embedding_model": "nomic-embed-text",
    "reranker_model": "ms-marco-MiniLM-L-6-v2",
    "retrieval_top_k": 10,
    "hybrid_search_enabled": True,
    "contextual_retrieval_enabled": False,
}


@pytest.fixture
def make_run() -> Callable[..., EvalRun]:
    """Build a run; keywords replace parts of it."""

    def make(**changes: Any) -> EvalRun:
        recall = MetricSummary(
            name="recall_at_5",
            value=0.78,
            group=MetricGroup.RETRIEVAL,
            sample_size=100,
            counts=MetricCounts(scored=100),
            unit="ratio",
            higher_is_better=True,
        )
        values: dict[str, Any] = {
            "id": "abc12345",
            "name": "baseline",
            "created_at": datetime(2026, 1, 15, 10, 0, tzinfo=UTC),
            "completed_at": datetime(2026, 1, 15, 10, 30, tzinfo=UTC),
            "config": CONFIG,
            "datasets": ["ragbench"],
            "scorecard": Scorecard(metrics=[recall], by_group={"retrieval": ["recall_at_5"]}),
            "weighted_score": WeightedScore(score=0.78, objectives={"retrieval": 0.78}, weights={"retrieval": 0.15}),
            "question_count": 100,
            "server": ServerRecord(url="http://localhost:8001", profile="rag-server"),
            "seed": 42,
            "concurrency": 4,
        }
        return EvalRun(**{**values, **changes})

    return make
