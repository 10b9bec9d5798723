"""Evaluate a live RAG server as a black box over HTTP.

    from evals import EvalConfig, run_evaluation

    run = run_evaluation(EvalConfig(datasets=["golden"], embedded=True, judge=False))
    print(run.scorecard.get("recall_at_5"))

Names are imported when they are first used, so that `import evals` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.client.rag_client import RAGClient
    from evals.config import DatasetName, EvalConfig
    from evals.errors import EvalsError
    from evals.judges.rubrics import rubric
    from evals.metrics.custom import metric, missing
    from evals.runner import EvaluationRunner, run_evaluation, run_evaluation_async
    from evals.schemas.dataset import EvalQuestion
    from evals.schemas.response import EvalResponse
    from evals.schemas.results import EvalRun, MetricResult, Scorecard, WeightedScore


# The version of the distribution `rag-evals`.


__version__ = "0.1.0"


_MODULES = {
    "evals.config": ("DatasetName", "EvalConfig"),
    "evals.errors": ("EvalsError",),
    "evals.judges.rubrics": ("rubric",),
    "evals.metrics.custom": ("metric", "missing"),
    "evals.runner": ("EvaluationRunner", "RAGClient", "run_evaluation", "run_evaluation_async"),
    "evals.schemas": ("EvalQuestion", "EvalResponse", "EvalRun", "MetricResult", "Scorecard", "WeightedScore"),
}

_WHERE = {name: module for module, names in _MODULES.items() for name in names}


__all__ = [
    "DatasetName",
    "EvalConfig",
    "EvalQuestion",
    "EvalResponse",
    "EvalRun",
    "EvalsError",
    "EvaluationRunner",
    "MetricResult",
    "RAGClient",
    "Scorecard",
    "WeightedScore",
    "__version__",
    "metric",
    "missing",
    "rubric",
    "run_evaluation",
    "run_evaluation_async",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'evals' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
