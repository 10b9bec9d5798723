"""Damage that fuzzing found to end in a traceback, each by itself."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fuzzing.files import FIXTURES, JUDGED
from fuzzing.limits import Outcome, run_within_limits

COMMANDS = (
    ("show",),
    ("show", "--json"),
    ("export", "--format", "markdown", "--run-id"),
    ("export", "--format", "csv", "--run-id"),
    ("rescore", "--no-judge"),
)


@pytest.fixture
def looked_at(tmp_path: Path) -> Callable[..., Outcome]:
    """What a command does with a run of which a file was changed."""

    def look(ending: str, change: Callable[[Any], Any], command: tuple[str, ...]) -> Outcome:
        runs = Path(shutil.copytree(FIXTURES, tmp_path / "runs"))
        (path,) = (path for path in runs.glob(f"{JUDGED}_*{ending}") if path.name.count(".") == ending.count("."))
        pieces = path.read_text().splitlines() if ending == ".records.jsonl" else [path.read_text()]
        path.write_text("\n".join(json.dumps(change(json.loads(piece))) for piece in pieces) + "\n")
        named = (*command, JUDGED) if command[-1] == "--run-id" else (command[0], JUDGED, *command[1:])
        return run_within_limits([*named, "--runs-dir", str(runs)])

    return look


@pytest.mark.parametrize("command", COMMANDS)
def test_an_objective_without_a_weight_is_damage(command: tuple[str, ...], looked_at: Callable[..., Outcome]) -> None:
    """Which is said in one message."""

    def change(run: Any) -> Any:
        assert run["weighted_score"]["objectives"]
        run["weighted_score"]["weights"] = {}
        return run

    seen = looked_at(".json", change, command)
    assert seen.problems == []
    assert seen.code == 4
    assert "has no weight" in seen.err
