"""`evals eval` on the golden set, run in this process."""

import io
import sys
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


class _Keyboard(io.StringIO):
    """Lines that somebody types at a terminal; afterwards the input ends."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def type_lines(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sit at a terminal, and type these lines."""

    def sit(*lines: str) -> None:
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setattr(sys, "stdin", _Keyboard("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    return sit
