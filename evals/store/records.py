"""The records of a saved run, read one at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, overload
from zlib import crc32

from pydantic import ValidationError

from evals.errors import RunIncompleteError, StoreError
from evals.schemas.results import SAVED_ANSWERS, EvalRecord, EvalRun
from evals.schemas.run_parts import RecordSum
from evals.store.journal import apply_event
from evals.store.naming import command, folder_of
from evals.store.record_index import PUT_BACK, Parts, RecordIndex, checksum_of, load_index, make_index, save_index
from evals.text.decoding import parse_stored
from evals.text.numbers import share
from evals.text.yaml_files import first_problem


class RecordFile(Sequence[EvalRecord]):
    """The records of a run, in the order in which the questions were planned; none is held.

    They can be walked again and again: each walk reads the file, and so does each look at one of them.

    Args:
        path: The records file, or the log of a run in progress.

    Raises:
        StoreError: It cannot be read, or is damaged before its last line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parts: Parts | None = None
        self._numbers: dict[str, int] | None = None
        self._index = self._opened()

    def _opened(self) -> RecordIndex:
        found = load_index(self.path)
        if found is not None:
            index, self._parts = found
            return index
        index = make_index(self.path)
        save_index(self.path, index)
        return index

    @property
    def is_compact(self) -> bool:
        """Whether the file holds one record a question and nothing else, as that of a finished run does."""
        return self._index.is_compact

    @property
    def size(self) -> int:
        """Bytes of the file, without a torn last line."""
        return self._index.size

    @property
    def checksum(self) -> int:
        """CRC-32 of these bytes."""
        return self._index.checksum

    @property
    def elapsed_s(self) -> float:
        """Seconds spent by processes that wrote this log and did not end the run, each up to its last event."""
        return self._index.elapsed_s

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the questions, in their order."""
        return self._index.ids

    def __len__(self) -> int:
        return len(self._index.ids)

    def __iter__(self) -> Iterator[EvalRecord]:
        return self._walk() if self.is_compact else self.at(range(len(self)))

    @overload
    def __getitem__(self, place: int) -> EvalRecord: ...
    @overload
    def __getitem__(self, place: slice) -> list[EvalRecord]: ...
    def __getitem__(self, place: int | slice) -> EvalRecord | list[EvalRecord]:
        if isinstance(place, slice):
            return list(self.at(range(len(self))[place]))
        return next(self.at([range(len(self))[place]]))

    def at(self, numbers: Iterable[int]) -> Iterator[EvalRecord]:
        """The records with these numbers, counted from 0."""
        try:
            with self.path.open("rb") as file:
                for number in numbers:
                    yield self._read(file, number)
        except OSError as error:
            raise StoreError(f"cannot read {self.path}: {error.strerror}", PUT_BACK) from error

    def _walk(self) -> Iterator[EvalRecord]:
        """All records; at the end it is known whether the file has still the bytes that its index was made of."""
        try:
            with self.path.open("rb") as file:
                summed = _Summed(file)
                for number in range(len(self)):
                    yield self._read(summed, number)
        except OSError as error:
            raise StoreError(f"cannot read {self.path}: {error.strerror}", PUT_BACK) from error
        if summed.checksum != self.checksum:
            raise StoreError(f"{self.path.name} is not as it was saved: its checksum is another", PUT_BACK)

    def texts(self, numbers: Iterable[int]) -> Iterator[str]:
        """What was asked in the records with these numbers; nothing else of them is looked at."""
        if not self._index.is_compact:
            yield from (record.question.question for record in self.at(numbers))
            return
        with self.path.open("rb") as file:
            for number in numbers:
                file.seek(self._index.places[number])
                yield str(_event(file, self._index.ids[number])["record"]["question"]["question"])

    def number_of(self, question_id: str) -> int | None:
        """The number of a question; None where the run does not have it."""
        if self._numbers is None:
            self._numbers = {key: number for number, key in enumerate(self._index.ids)}
        return self._numbers.get(question_id)

    def derived(self, name: str, stamp: str) -> bytes | None:
        """What was derived of the records and kept next to them; None where nothing is, or by another stamp."""
        return self._parts.read(name) if self._parts is not None and self._parts.stamp == stamp else None

    def keep(self, stamp: str, derived: Mapping[str, bytes]) -> None:
        """Keep what was derived of the records next to them, where the folder can be written and no log is in progress.

        Args:
            stamp: What it depends on apart from the records.
            derived: By name; of what was kept before, that of another stamp goes.
        """
        derived = {**self._kept(stamp), **derived}
        if save_index(self.path, self._index, stamp, derived):
            found = load_index(self.path)
            self._parts = found[1] if found else None

    def _kept(self, stamp: str) -> dict[str, bytes]:
        if self._parts is None or self._parts.stamp != stamp:
            return {}
        found = ((name, self._parts.read(name)) for name in self._parts.derived)
        return {name: data for name, data in found if data is not None}

    def _read(self, file: "BinaryIO | _Summed", number: int) -> EvalRecord:
        key, record = self._index.ids[number], dict[str, dict[str, Any]]()
        for place in self._index.events_of(number):
            if file.tell() != place:
                file.seek(place)
            try:
                apply_event(_event(file, key), record)
            except (KeyError, TypeError, ValueError) as error:
                raise self._problem(place, error) from error
        return EvalRecord.model_construct(**record[key])

    def _problem(self, place: int, error: Exception) -> StoreError:
        reason = first_problem(error, EvalRecord) if isinstance(error, ValidationError) else error
        with self.path.open("rb") as file:
            line = file.read(place).count(b"\n") + 1
        return StoreError(f"{self.path.name}, line {line}: not an event of a run ({reason})")


def read_records(path: Path) -> list[EvalRecord]:
    """All records of a records file, or of the log of a run in progress.

    Raises:
        StoreError: The file is missing, or damaged before its last line.
    """
    return list(RecordFile(path))


class _Summed:
    """A file that is read line by line, with the CRC-32 of what was read.

    Args:
        file: At its begin.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.tell, self.seek = file.tell, file.seek
        self.checksum = 0

    def readline(self) -> bytes:
        """The next line."""
        line = self._file.readline()
        self.checksum = crc32(line, self.checksum)
        return line


def _event(file: BinaryIO | _Summed, wanted: str) -> dict[str, Any]:
    """The event that stands at this place of a log."""
    event: dict[str, Any] = parse_stored(file.readline())
    if event["question_id"] != wanted:
        raise ValueError(f"it is about {event['question_id']}, not {wanted}: the file was changed while it was read")
    return event


# Whether the records file of a finished run is what it was when the run was saved.


class Damage(NamedTuple):
    """What is wrong with a records file."""

    said: str
    """One sentence that names the file and how many records are there."""
    lost: int
    """This many records are missing; 0 where all are there and some changed."""


def damage_of(run: EvalRun, records: RecordFile) -> Damage | None:
    """Damage to the records since the run was saved; None if there is none, or if the run was never finished.

    Size and count are always compared. The checksum is that of the index where this fits the file, else over all bytes.
    A log that a resume appends to is whole where it begins with what was saved. Of a run that was saved without
    `record_sum` nothing is known but how many questions it asked.
    """
    if run.completed_at is None:
        return None
    if run.record_sum is None:
        return _of_count(records, run.question_count)
    return None if _is_as_saved(records, run.record_sum) else _of_count(records, run.record_sum.count, changed=True)


def is_unverified(run: EvalRun, records: RecordFile) -> bool:
    """Whether changes of the records cannot be noticed: the run's file holds no checksum of them."""
    return run.completed_at is not None and run.record_sum is None and records.is_compact


def as_found(run: EvalRun, records: RecordFile) -> EvalRun:
    """The run as its records are now: partial, and saying why, where some were lost or changed."""
    damage = damage_of(run, records)
    if damage is None:
        return run
    outcomes = run.outcomes.model_copy(update={"stopped": damage.said})
    return run.model_copy(
        update={"status": "partial", "notes": [*run.notes, damage.said], "outcomes": outcomes, "gates": []}
    )


def refuse_damaged(run: EvalRun, records: object) -> None:
    """Raise an error if records of a run were lost or changed since it was saved.

    Raises:
        RunIncompleteError: They were; the message names the file and how many are there.
    """
    damage = damage_of(run, records) if isinstance(records, RecordFile) else None
    if damage is not None:
        raise RunIncompleteError(f"run {run.id} counts as partial: {damage.said}", _way_on(run, damage))


def whole(run: EvalRun, records: RecordFile) -> RecordFile:
    """Return the records; raise an error if some were lost or changed.

    Raises:
        StoreError: Some were.
    """
    damage = damage_of(run, records)
    if damage is not None:
        raise StoreError(damage.said, _way_on(run, damage))
    return records


def _of_count(records: RecordFile, wanted: int, *, changed: bool = False) -> Damage | None:
    lost, name = max(0, wanted - len(records)), records.path.name
    if lost:
        return Damage(f"{name} holds {share(len(records), wanted, 'record')}: the rest was lost since", lost)
    said = f"{name} is not as it was saved: it has {share(wanted, wanted, 'record')}, but another checksum"
    return Damage(said, 0) if changed else None


def _is_as_saved(records: RecordFile, saved: RecordSum) -> bool:
    if records.is_compact:
        return (len(records), records.size, records.checksum) == (saved.count, saved.size, saved.crc32)
    return checksum_of(records.path, saved.size) == saved.crc32


def _way_on(run: EvalRun, damage: Damage) -> str:
    again = None
    if run.rescored_from is not None:
        again = f"measure again: {command(f'rescore {run.rescored_from}', folder_of(run))}"
    elif damage.lost and run.server.profile != SAVED_ANSWERS:
        again = f"ask again what is missing: {command(f'eval --resume {run.id}', folder_of(run))}"
    return f"{PUT_BACK}; or {again}" if again else PUT_BACK
