"""Runs to compare, made of values."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.compare import SavedRun


@pytest.fixture
def saved(build_run: Callable[..., Any]) -> Callable[..., SavedRun]:
    """A run of values by question id, as `compare_runs` takes it."""

    def make(run_id: str, values: Any, **changes: Any) -> SavedRun:
        return SavedRun(*build_run(run_id, values, **changes))

    return make
