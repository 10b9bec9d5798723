"""What is named as a file and is none: devices, pipes, folders, and what is larger than memory should hold."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzzing.files import FIXTURES, JUDGED
from fuzzing.limits import run_within_limits

BIG = 300 * 1024 * 1024
RUNS = ("--runs-dir", "runs")
ASKING = ("eval", "--dry-run", "--no-judge")
USES: dict[str, tuple[str, Callable[[str], tuple[str, ...]]]] = {
    **{
        f"questions as {ending}": (ending, lambda path: (*ASKING, "--dataset-file", path))
        for ending in (".jsonl", ".json", ".csv", ".yaml", ".xlsx", ".parquet")
    },
    "a configuration": (".yml", lambda path: ("eval", "--dry-run", "--config", path)),
    "a profile": (".yml", lambda path: (*ASKING, "--dataset-file", "q.jsonl", "--profile", path)),
    "answers as .jsonl": (".jsonl", lambda path: ("score", path, "--dataset-file", "q.jsonl", "--no-judge", *RUNS)),
    "answers as .json": (".json", lambda path: ("score", path, "--dataset-file", "q.jsonl", "--no-judge", *RUNS)),
    "answers as .csv": (".csv", lambda path: ("score", path, "--dataset-file", "q.jsonl", "--no-judge", *RUNS)),
    "predictions": (".json", lambda path: ("score", path, "gold.json")),
    "gold": (".json", lambda path: ("score", "predictions.json", path)),
    "a saved run": (".json", lambda path: ("show", path)),
    "a baseline": (".json", lambda path: ("gate", JUDGED, "--baseline", path, *RUNS)),
    "labels": (".csv", lambda path: ("calibrate", path, "--run", JUDGED, "--no-judge", *RUNS)),
    "a review sheet": (".csv", lambda path: ("review", JUDGED, "--output", path, *RUNS)),
}


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b'{"id": "a", "question": "')
        file.truncate(BIG)


KINDS: dict[str, Callable[[Path], None]] = {
    "zeros without an end": lambda path: path.symlink_to("/dev/zero"),
    "noise without an end": lambda path: path.symlink_to("/dev/urandom"),
    "a pipe that nobody writes to": os.mkfifo,
    "a folder": Path.mkdir,
    "300 MB": _sparse,
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("use", USES)
def test_what_is_no_file_is_one_message(use: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is named: nothing waits for its end, and none of it fills the memory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"id": "q", "question": "Why?", "expected_answer": "a"}\n')
    (tmp_path / "predictions.json").write_text("[]")
    (tmp_path / "gold.json").write_text('{"tests": [{"query": "q", "snippets": [{"answer": "t"}]}]}')
    shutil.copytree(FIXTURES, tmp_path / "runs")
    ending, command = USES[use]
    KINDS[kind](tmp_path / f"odd{ending}")
    seen = run_within_limits(command(f"odd{ending}"))
    assert seen.problems == []
    assert seen.code in {2, 4}
    assert f"odd{ending}" in seen.err
    assert len(seen.err.strip().splitlines()) <= 2
