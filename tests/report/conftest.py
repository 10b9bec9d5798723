"""Runs for pages."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.scoring.measured import Measured, measured


@pytest.fixture
def a_run(build_run: Callable[..., Any]) -> Callable[..., Measured]:
    """A measured run of some values; keywords as those of `build_run`."""

    def build(values: Any = None, run_id: str = "abcd1234", **changes: Any) -> Measured:
        run, records = build_run(run_id, values or {"q1": {"mrr": 0.5}, "q2": {"mrr": 1.0}, "q3": "timeout"}, **changes)
        return measured(run, records)

    return build
