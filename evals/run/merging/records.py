"""The records of all shards, in the order in which one run would have asked."""

from collections.abc import Iterator, Sequence

from evals.schemas import EvalRecord
from evals.store.record_file import RecordFile

_HELD_OPEN = 64
"""So many files are read side by side; of more, each is opened for each record."""


class ShardRecords(Sequence[EvalRecord]):
    """The records of shards put together; none is held.

    Question k of shard i of n (both from 1) is question i + n(k - 1) of the whole.

    Args:
        files: Of the shards, in the order of their numbers.
    """

    def __init__(self, files: Sequence[RecordFile]) -> None:
        self._files = files
        self._count = sum(map(len, files))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> EvalRecord:  # type: ignore[override]  # no slices
        number = range(self._count)[place]
        return self._files[number % len(self._files)][number // len(self._files)]

    def __iter__(self) -> Iterator[EvalRecord]:
        if len(self._files) > _HELD_OPEN:
            return (self[place] for place in range(self._count))
        readers = [iter(file) for file in self._files]
        return (next(readers[place % len(readers)]) for place in range(self._count))
