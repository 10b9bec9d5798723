"""Datasets: questions with gold passages, and the corpus."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.datasets.registry import get_loader, list_available, register

__all__ = ["get_loader", "list_available", "register"]


def __getattr__(name: str) -> Any:
    if name not in __all__:  # imported when first used, for a loader needs one module of this package only
        raise AttributeError(f"module 'evals.datasets' has no attribute {name!r}")
    return getattr(import_module("evals.datasets.registry"), name)
