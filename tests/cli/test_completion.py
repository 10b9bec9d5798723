"""What the shell completes."""

from pathlib import Path

import pytest

from evals.cli import app


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two saved runs, by their names."""
    runs = tmp_path / "data" / "eval_runs"
    runs.mkdir(parents=True)
    for name in ("a1b2c3d4_20260101T000000Z.json", "a9b2c3d4_20260102T000000Z.json"):
        (runs / name).touch()
    (runs / "a1b2c3d4_20260101T000000Z.records.jsonl").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("evals sho", ["show"]),
        ("evals show ", ["last", "a9b2c3d4", "a1b2c3d4"]),
        ("evals show a1", ["a1b2c3d4"]),
        ("evals eval --profile langs", ["langserve", "langserve-stream"]),
        ("evals eval --datasets golden,sq", ["golden,squad_v2"]),
        ("evals eval --suite core,cl", ["core,claims"]),
        ("evals eval --metrics recall_at_1", ["recall_at_1", "recall_at_10"]),
    ],
)
def test_names_are_completed(
    line: str, offered: list[str], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands, runs with the latest first, profiles, and lists with commas, as bash asks for them."""
    monkeypatch.chdir(folder)
    asked = {"_EVALS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        app([], prog_name="evals")
    assert capsys.readouterr().out.split() == offered
