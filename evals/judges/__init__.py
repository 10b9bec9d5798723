"""LLM judges: models that decide what metrics cannot compute; every reply is checked."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.judges.llm_judge import LLMJudge

__all__ = ["LLMJudge"]


def __getattr__(name: str) -> Any:
    if name not in __all__:  # imported when first used, for most of this package is needed without a judge
        raise AttributeError(f"module 'evals.judges' has no attribute {name!r}")
    return getattr(import_module("evals.judges.llm_judge"), name)
