"""A cache of replies that cannot be written."""

import errno
import os
from pathlib import Path

import pytest

from evals.config import EvalConfig
from evals.errors import StoreError
from evals.judges.cache import JudgeCache, StoredReply
from evals.run.checks import make_judge


def test_a_folder_that_cannot_be_made_is_named_with_the_way_out(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    folder = tmp_path / ".judge-cache"
    folder.write_text("")
    found = JudgeCache(folder)
    assert found.get("abcd") is None
    with pytest.raises(StoreError) as caught:
        found.put("abcd", StoredReply(reply={}))
    assert str(folder) in caught.value.message
    assert str(folder) in (caught.value.hint or "")
    assert "--no-judge-cache" in (caught.value.hint or "")


def test_a_folder_that_cannot_be_written_is_known_before_anything_is_paid_for(tmp_path: Path) -> None:
    """The judge is not made, so nothing is asked; without a cache it is."""
    (tmp_path / ".judge-cache").write_text("")
    with pytest.raises(StoreError, match="cannot keep replies") as caught:
        make_judge(EvalConfig(runs_dir=tmp_path))
    assert "--no-judge-cache" in (caught.value.hint or "")
    assert make_judge(EvalConfig(runs_dir=tmp_path, judge={"cache": False})).spent_usd in (None, 0)


def test_looking_whether_a_folder_can_be_written_leaves_nothing_in_it(tmp_path: Path) -> None:
    """The file that is tried is gone."""
    JudgeCache(tmp_path / "a" / "b").prepare()
    assert not list((tmp_path / "a" / "b").iterdir())


def test_a_full_disk_is_named_with_the_same_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the store says of runs that can be resumed is not said of a reply."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device") as caught:
        JudgeCache(tmp_path / "c").put("abcd", StoredReply(reply={}))
    assert "--no-judge-cache" in (caught.value.hint or "")
    assert "resume" not in (caught.value.hint or "")
