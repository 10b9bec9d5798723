"""Fixtures of what `shown.py` has."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from viewer.shown import Shown, begin_run, covered, save_run, showing

from evals.schemas import EvalQuestion, EvalRun


@pytest.fixture
def show(tmp_path: Path) -> Iterator[Callable[..., Shown]]:
    """Show the folder `runs` of this test; keywords as those of `create_app`."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(showing(tmp_path / "runs", **settings))


@pytest.fixture(scope="session")
def save(build_run: Callable[..., Any]) -> Callable[..., EvalRun]:
    """Save a finished run in a store."""
    return partial(save_run, build_run)


@pytest.fixture(scope="session")
def begin() -> Callable[..., EvalRun]:
    """Save a run in a store as it is when it begins."""
    return begin_run


@pytest.fixture
def questions() -> list[EvalQuestion]:
    """Four questions with gold."""
    return covered()
