"""A cache of replies that cannot be written."""

from pathlib import Path

import pytest

from evals.errors import StoreError
from evals.judges import cache
from evals.judges.cache import JudgeCache


def test_a_folder_that_cannot_be_made_is_named_with_the_way_out(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    folder = tmp_path / ".judge-cache"
    folder.write_text("")
    found = JudgeCache(folder)
    assert found.get("abcd") is None
    with pytest.raises(StoreError) as caught:
        found.put("abcd", {})
    assert str(folder) in caught.value.message
    assert str(folder) in (caught.value.hint or "")
    assert "--no-judge-cache" in (caught.value.hint or "")


def test_a_full_disk_is_named_with_the_same_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the store says of runs that can be resumed is not said of a reply."""

    def full(*_: object) -> None:
        raise StoreError("cannot write x", "resume") from OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "write_atomically", full)
    with pytest.raises(StoreError, match="No space left on device") as caught:
        JudgeCache(tmp_path / "c").put("abcd", {})
    assert "--no-judge-cache" in (caught.value.hint or "")
    assert "resume" not in (caught.value.hint or "")
