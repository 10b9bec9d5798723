"""Writing whole files: those of the store, and those that a user names."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import PATIENCE_S

from evals.errors import StoreError
from evals.schemas import EvalRun
from evals.store.atomic import write_atomically, write_output
from evals.store.runs import RunStore


def test_two_threads_that_write_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Each writes its own file beside the place; both succeed, and the last is whole."""
    path, both, errors = tmp_path / "reply.json", threading.Barrier(2, timeout=PATIENCE_S), []

    def parts(letter: bytes) -> Iterator[bytes]:
        both.wait()  # each has opened its file
        yield letter * 10
        both.wait()  # and has written it, before one is renamed

    def write(letter: bytes) -> None:
        try:
            write_atomically(path, parts(letter))
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert path.read_bytes() in {b"a" * 10, b"b" * 10}
    assert list(tmp_path.iterdir()) == [path]


def test_only_the_files_of_a_run_can_be_resumed(tmp_path: Path, run: EvalRun) -> None:
    """What is written for another purpose does not advise to resume a run."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError) as other:
        write_atomically(tmp_path / "file" / "reply.json", [b"new"])
    assert other.value.hint is None
    with pytest.raises(StoreError) as ours:
        RunStore(tmp_path / "file").save(run)
    assert "--resume" in (ours.value.hint or "")


def test_a_pipe_is_written_and_stays_one(tmp_path: Path) -> None:
    """Whoever reads from it gets the whole text."""
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_output(pipe, b"text")
    reader.join(timeout=PATIENCE_S)
    assert got == [b"text"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path: Path, exists: bool) -> None:
    """Also where it points to a file that is not there yet."""
    target, link = tmp_path / "target", tmp_path / "link"
    if exists:
        target.write_text("old")
    link.symlink_to("target")
    write_output(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("where", ["missing/out.json", ".", "link"])
def test_an_output_that_cannot_be_written_names_the_way_out(tmp_path: Path, where: str) -> None:
    """The message names the file, the hint the way out, and nothing is left behind."""
    (tmp_path / "link").symlink_to("missing/out.json")
    with pytest.raises(StoreError, match="cannot write") as caught:
        write_output(tmp_path / where, b"text")
    assert caught.value.hint == "name another file"
    assert [path.name for path in tmp_path.iterdir()] == ["link"]
