"""Evaluations as tests of pytest: see docs/pytest.md.

    from evals.testing import assert_metric

    def test_retrieval(rag_run):
        assert_metric(rag_run, "recall_at_5", at_least=0.8, low=True)

pytest loads the plugin by its entry point in every project in which evals is installed: nothing is imported here, and
little by the plugin, until a test wants it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.testing.asking import RagClient
    from evals.testing.judging import RagJudge
    from evals.testing.metric import assert_metric

_WHERE = {"RagClient": "asking", "RagJudge": "judging", "assert_metric": "metric"}

__all__ = ["RagClient", "RagJudge", "assert_metric"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'evals.testing' has no attribute {name!r}")
    return getattr(import_module(f"evals.testing.{_WHERE[name]}"), name)
