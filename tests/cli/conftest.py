"""`evals eval` on the golden set, run in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def ask(evals_cli: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Run `eval --no-judge` on the golden set with a folder of its own for runs."""

    def call(*arguments: object) -> Any:
        return evals_cli(
            "eval", "--no-judge", "--datasets", "golden", "--runs-dir", tmp_path / "runs", "--samples", 12, *arguments
        )

    return call
