"""Whether the records file of a finished run is what it was when the run was saved."""

from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from evals.errors import RunIncompleteError, StoreError
from evals.schemas import EvalRun
from evals.schemas.record_sum import RecordSum
from evals.schemas.results import SAVED_ANSWERS
from evals.store.commands import command, folder_of
from evals.store.record_file import RecordFile
from evals.store.record_index import PUT_BACK
from evals.text.counts import share

_BLOCK = 1 << 20


class Damage(NamedTuple):
    """What is wrong with a records file."""

    said: str
    """One sentence that names the file and how many records are there."""
    lost: int
    """So many records are missing; 0 where all are there and some changed."""


def damage_of(run: EvalRun, records: RecordFile) -> Damage | None:
    """What became of the records since the run was saved; None where nothing did, or where it was never finished.

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
    """Whether nobody can say that the records are as they were saved: the run's file holds no checksum of them."""
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
    """Stop where records of a run were lost or changed since it was saved.

    Raises:
        RunIncompleteError: They were; the message names the file and how many are there.
    """
    damage = damage_of(run, records) if isinstance(records, RecordFile) else None
    if damage is not None:
        raise RunIncompleteError(f"run {run.id} counts as partial: {damage.said}", _way_on(run, damage))


def whole(run: EvalRun, records: RecordFile) -> RecordFile:
    """The same records, where none was lost or changed.

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
    return _checksum_of_first(records.path, saved.size) == saved.crc32


def _checksum_of_first(path: Path, size: int) -> int | None:
    """CRC-32 of the first bytes of a file; None where it has not so many."""
    found = 0
    try:
        with path.open("rb") as file:
            while size and (block := file.read(min(_BLOCK, size))):
                found, size = crc32(block, found), size - len(block)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", PUT_BACK) from error
    return None if size else found


def _way_on(run: EvalRun, damage: Damage) -> str:
    back = PUT_BACK
    where = folder_of(run)
    if run.rescored_from is not None:
        return f"{back}; or measure again: {command(f'rescore {run.rescored_from}', where)}"
    if damage.lost and run.server.profile != SAVED_ANSWERS:
        return f"{back}; or ask again what is missing: {command(f'eval --resume {run.id}', where)}"
    return back
