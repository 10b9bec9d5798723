"""The command line, run in this process."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evals.cli import app
from evals.cli.terminal.exits import run


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def evals_cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run the command line with the arguments given."""

    def call(*arguments: object) -> Result:
        monkeypatch.setattr("sys.argv", ["evals", *map(str, arguments)])
        capsys.readouterr()
        code = run(app)
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture
def ask(evals_cli: Callable[..., Result], tmp_path: Path) -> Callable[..., Result]:
    """Run `eval --no-judge` on the golden set with a folder of its own for runs."""

    def call(*arguments: object) -> Result:
        return evals_cli(
            "eval", "--no-judge", "--datasets", "golden", "--runs-dir", tmp_path / "runs", "--samples", 12, *arguments
        )

    return call
