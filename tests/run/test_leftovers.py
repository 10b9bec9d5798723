"""What a process left behind that was killed while it wrote a run's files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evals.store.runs import RunStore


def test_a_resumed_run_removes_what_a_killed_process_left_of_it(
    evals_cli: Callable[..., Any], golden_server: str, tmp_path: Path
) -> None:
    """What is of another run, or of none, stays."""
    options = ("--datasets", "golden", "--samples", 2, "--no-judge", "--rag-url", golden_server)
    assert evals_cli("eval", *options, "--runs-dir", tmp_path).code == 0
    store = RunStore(tmp_path)
    (run,) = store.runs()
    own = [f".{path.name}.0123abcd.tmp" for path in (store.records_path(run), store.run_path(run))]
    others = [".other_20260101T000000Z.json.0123abcd.tmp", ".notes.tmp"]
    for name in (*own, *others):
        (tmp_path / name).write_text("half")
    evals_cli("eval", "--resume", run.id, "--runs-dir", tmp_path)
    assert [name for name in (*own, *others) if (tmp_path / name).exists()] == others
