"""Evaluate a live RAG server as a black box over HTTP.

    from evals import EvalConfig, run_evaluation

    run = run_evaluation(EvalConfig(datasets=["golden"], embedded=True, judge=False))
    print(run.scorecard.get("recall_at_5"))

Names are imported when they are first used, so that `import evals` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evals.version import __version__

if TYPE_CHECKING:
    from evals.config import DatasetName, EvalConfig
    from evals.errors import EvalsError
    from evals.runner import EvaluationRunner, RAGClient, run_evaluation, run_evaluation_async
    from evals.schemas import EvalQuestion, EvalResponse, EvalRun, MetricResult, Scorecard, WeightedScore

_WHERE = {
    "DatasetName": "evals.config",
    "EvalConfig": "evals.config",
    "EvalQuestion": "evals.schemas",
    "EvalResponse": "evals.schemas",
    "EvalRun": "evals.schemas",
    "EvaluationRunner": "evals.runner",
    "EvalsError": "evals.errors",
    "MetricResult": "evals.schemas",
    "RAGClient": "evals.runner",
    "Scorecard": "evals.schemas",
    "WeightedScore": "evals.schemas",
    "run_evaluation": "evals.runner",
    "run_evaluation_async": "evals.runner",
}

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
    "run_evaluation",
    "run_evaluation_async",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'evals' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
