"""Who may read what evals keeps: what is in a folder of ours, only its user; elsewhere, who may read the folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.store.atomic import make_folder, write_atomically
from evals.store.journal import Journal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")


@pytest.fixture(autouse=True)
def _usual_mask() -> Iterator[None]:
    """Files are made as under the usual mask, whatever that of this machine is."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(path: Path) -> int:
    """The rights of a file or folder."""
    return path.stat().st_mode & 0o777


def test_what_lies_in_a_folder_of_ours_is_its_users(tmp_path: Path) -> None:
    """The folder is closed to others, and so is every file in it, a log as well."""
    folder = tmp_path / "data" / "runs"
    make_folder(folder)
    write_atomically(folder / "run.json", [b"{}"])
    with Journal(folder / "run.records.jsonl", "resume"):
        pass
    assert [rights(path) for path in (folder, folder / "run.json", folder / "run.records.jsonl")] == [
        0o700,
        0o600,
        0o600,
    ]


def test_a_folder_that_others_may_read_stays_one(tmp_path: Path) -> None:
    """A team that shares a folder of runs goes on to share them."""
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    make_folder(folder)
    write_atomically(folder / "run.json", [b"{}"])
    assert (rights(folder), rights(folder / "run.json")) == (0o755, 0o644)
