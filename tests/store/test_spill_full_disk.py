"""A disk that fills up is told of when the spill writes late, too."""

import io
from pathlib import Path

import pytest

from evals.errors import StoreError
from evals.store.disk_buffer import DiskBuffer, DiskList


class _FullDisk(io.BytesIO):
    def seek(self, *_: int) -> int:
        raise OSError(28, "No space left on device")


def test_a_full_disk_is_told_of_when_a_value_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits in the buffer is written by the next reading, which may be what finds the disk full."""
    spill: DiskBuffer[str] = DiskBuffer(str)
    number = spill.append("an answer")
    monkeypatch.setattr(spill, "_file", _FullDisk())
    with pytest.raises(StoreError, match="No space left"):
        spill.read(number)


def test_the_folder_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is that of the runs, not that of temporary files."""
    values = DiskList(str, folder=tmp_path)
    number = values.append("an answer")
    values._held.clear()
    monkeypatch.setattr(values, "_file", _FullDisk())
    with pytest.raises(StoreError, match=f"cannot write to {tmp_path}: No space left"):
        values.read(number)
