"""A disk that fills up is told of when the spill writes late, too."""

import io

import pytest

from evals.errors import StoreError
from evals.store.spill import Spill


class _FullDisk(io.BytesIO):
    def seek(self, *_: int) -> int:
        raise OSError(28, "No space left on device")


def test_a_full_disk_is_told_of_when_a_value_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits in the buffer is written by the next reading, which may be what finds the disk full."""
    monkeypatch.setattr("evals.store.spill._HELD", 0)
    spill: Spill[str] = Spill(str)
    number = spill.append("an answer")
    monkeypatch.setattr(spill, "_file", _FullDisk())
    with pytest.raises(StoreError, match="No space left"):
        spill.read(number)
