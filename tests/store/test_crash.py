"""What a crash, a kill or a full disk leaves behind."""

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from whole_runs import put_records

from evals.errors import StoreError
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun
from evals.store import journal as journal_module
from evals.store.atomic import write_atomically
from evals.store.journal import Journal, RecordLog
from evals.store.runs import RunStore


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes: the nearest thing to a full disk that needs no disk."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


EVENT = b'{"type":"question","question_id":"q","question":{"question":"Who?"}}\n'


def events(records: list[EvalRecord]) -> int:
    """How many events the records tell of."""
    return sum(1 + (r.response is not None) + bool(r.scores) + len(r.verdicts) for r in records)


def test_a_log_cut_at_any_byte_loses_at_most_the_last_event(full_log: Path) -> None:
    """Reading never raises after a kill in the middle of a write, and every finished line counts."""
    data = full_log.read_bytes()
    for end in range(len(data) + 1):
        full_log.write_bytes(data[:end])
        whole = data[:end].count(b"\n")
        assert whole <= events(RecordLog(full_log)) <= whole + 1, f"cut at byte {end}"


@pytest.mark.slow
def test_appending_after_a_cut_at_any_byte_loses_nothing_that_was_readable(
    store: RunStore, run: EvalRun, full_log: Path, questions: list[EvalQuestion]
) -> None:
    """A journal that goes on after a kill welds no two lines, and drops nothing that reading had found."""
    data = full_log.read_bytes()
    first = data.index(b"\n") + 1
    for end in range(first, len(data) + 1):
        full_log.write_bytes(data[:end])
        before = events(RecordLog(full_log))
        with store.journal(run) as journal:
            journal.plan([EvalQuestion(id="late", question="And then?")])
        assert events(RecordLog(full_log)) == before + 1, f"cut at byte {end}"


@pytest.mark.parametrize("block", [1, 7, 100])
def test_a_last_line_longer_than_what_is_read_at_a_time_is_mended(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its beginning is found, wherever it lies in the blocks that are read from the end."""
    monkeypatch.setattr(journal_module, "_BLOCK", block)
    path = tmp_path / "log"
    for length in range(1, 30):
        path.write_bytes(EVENT + b"x" * length)
        with Journal(path, "resume"):
            assert path.read_bytes() == EVENT


@pytest.mark.parametrize("torn", [b'{"type":"ans', b'{"type":"answer"}}\n', b"\xff\xfe\x00\n", b"\n"])
def test_a_torn_last_line_is_dropped_on_reading_and_on_appending(
    store: RunStore, run: EvalRun, full_log: Path, torn: bytes
) -> None:
    """A damaged last line, ended or not, costs neither the lines before it nor those written after."""
    before = store.records(run)
    full_log.write_bytes(full_log.read_bytes() + torn)
    assert store.records(run) == before
    with store.journal(run) as journal:
        journal.answer("q2", EvalResponse(answer="x"))
    assert [r.response is not None for r in store.records(run)] == [True, True, True]


@pytest.mark.parametrize("line", [1, 2, 4])
def test_damage_before_the_last_line_is_an_error_that_names_the_line(full_log: Path, line: int) -> None:
    """Only the last line can be torn by a crash; damage elsewhere is told."""
    lines = full_log.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1][:20] + b"\n"
    full_log.write_bytes(b"".join(lines))
    with pytest.raises(StoreError, match=rf"records\.jsonl, line {line}: not an event"):
        RecordLog(full_log)


@pytest.mark.parametrize("room", [0, 10])
def test_a_full_disk_ends_the_journal_with_exit_code_four(
    store: RunStore, run: EvalRun, full_log: Path, room: int
) -> None:
    """The error is ours also on closing, says how to go on, and what was written before is whole."""
    before = store.records(run)
    with (
        pytest.raises(StoreError, match="cannot write") as caught,
        file_size_limit(full_log.stat().st_size + room),
        store.journal(run) as journal,
    ):
        journal.answer("q2", EvalResponse(answer="x" * 100))
    assert caught.value.exit_code == 4
    assert "--resume" in (caught.value.hint or "")
    assert store.records(run) == before


@pytest.fixture(params=["fsync", "replace"])
def full_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full when a file is synced, or when it is renamed."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*((os, "fsync", fail) if request.param == "fsync" else (Path, "replace", fail)))


@pytest.mark.usefixtures("full_disk")
def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    """A file is written whole or not at all, and no half of it stays beside it."""
    path = tmp_path / "run.json"
    path.write_bytes(b"old")
    with pytest.raises(StoreError, match="No space left") as caught:
        write_atomically(path, [b"new"])
    assert caught.value.exit_code == 4
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"run.json": b"old"}


def test_a_failed_compaction_leaves_the_event_log(
    store: RunStore, run: EvalRun, full_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the compact log cannot be written, the events are all still there."""
    before = store.records(run)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError, match="No space left"):
        put_records(store, run, before)
    assert store.records(run) == before


@pytest.mark.parametrize("blocked", [lambda f: f.write_text("a file"), lambda f: f.symlink_to("gone/deep")])
def test_a_folder_that_cannot_be_made_is_told_before_anything_is_asked(
    tmp_path: Path, blocked: Callable[[Path], object]
) -> None:
    """Preparing a store says that runs cannot be written, and names the flag."""
    blocked(tmp_path / "runs")
    with pytest.raises(StoreError, match="cannot write runs") as caught:
        RunStore(tmp_path / "runs" / "x").prepare()
    assert "--runs-dir" in (caught.value.hint or "")
