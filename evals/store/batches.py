"""What was sent to a vendor in batches: written before it is sent, so that whoever goes on asks for nothing twice.

A file of JSON lines for each batch, in `<runs_dir>/.judge-batches`: first the intent, `{"type": "intent", "at": …,
"origin": …, "run": …, "newest": …, "requests": […]}`, then `{"type": "sent", "id": …}` once the vendor has named it. It
is removed when all replies are in the log of the run.
"""

import json
import os
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from evals.errors import StoreError

FOLDER = ".judge-batches"
KEPT = timedelta(days=29)
"""So long a vendor keeps replies; what was sent before says nothing any more."""


@dataclass(slots=True, eq=False)
class LoggedBatch:
    """A batch that was sent, or was about to be.

    Attributes:
        path: Where that is written.
        at: When it was about to be sent.
        origin: To whom.
        run: The log of the run that wanted it.
        newest: The newest batch that the vendor had before; None where it had none.
        requests: Their ids, by which replies are known.
        batch_id: The vendor's name for it; None where none is known.
    """

    path: Path
    at: datetime
    origin: str
    run: str
    newest: str | None
    requests: frozenset[str]
    batch_id: str | None = None
    file: BinaryIO | None = field(default=None, repr=False)
    """Open and locked while this process uses it."""


class BatchLog:
    """The batches of a folder of runs that are not done with.

    Args:
        folder: Where the files are.
        origin: Only batches that were sent there count.
    """

    def __init__(self, folder: Path, origin: str) -> None:
        self._folder = folder
        self._origin = origin
        self._batches: list[LoggedBatch] = []
        self._by_request: defaultdict[str, list[LoggedBatch]] = defaultdict(list)

    def prepare(self) -> None:
        """Make the folder, and read what is in it.

        Raises:
            StoreError: It cannot be made.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(self._folder, error) from error
        for path in sorted(self._folder.glob("*.jsonl")):
            logged = _read(path)
            if logged is None or logged.at < datetime.now(UTC) - KEPT:
                _forget_old(path, logged)
            elif logged.origin == self._origin:
                self._add(logged)

    def holding(self, request: str) -> Sequence[LoggedBatch]:
        """The batches with a request, the oldest first."""
        return self._by_request.get(request, ())

    @property
    def names(self) -> set[str]:
        """The vendor's names of the batches that are known."""
        return {logged.batch_id for logged in self._batches if logged.batch_id is not None}

    def claim(self, logged: LoggedBatch) -> bool:
        """Have a batch for this process; False where another one is at work with it, or has done with it."""
        if logged.file is not None:
            return True
        try:
            file = logged.path.open("rb+")  # makes no file where it is gone
        except OSError:
            return False
        file.seek(0, os.SEEK_END)
        if not _locked(file) or not logged.path.exists():
            file.close()
            return False
        logged.file = file
        return True

    def intend(self, requests: Iterable[str], *, run: str, newest: str | None) -> LoggedBatch:
        """Write down what will be sent, and see that it lasts.

        Raises:
            StoreError: It cannot be written: nothing may be sent then.
        """
        at = datetime.now(UTC)
        path = self._folder / f"{at:%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}.jsonl"
        logged = LoggedBatch(path, at, self._origin, run, newest, frozenset(requests))
        intent = {
            "type": "intent",
            "at": at.isoformat(),
            "origin": self._origin,
            "run": run,
            "newest": newest,
            "requests": sorted(logged.requests),
        }
        try:
            logged.file = path.open("xb")
        except OSError as error:
            raise self._unwritable(path, error) from error
        _locked(logged.file)
        self._append(logged, intent)
        self._add(logged)
        return logged

    def sent(self, logged: LoggedBatch, batch_id: str) -> None:
        """Write down the vendor's name for a batch.

        Raises:
            StoreError: It cannot be written.
        """
        logged.batch_id = batch_id
        self._append(logged, {"type": "sent", "id": batch_id})

    def remove(self, logged: LoggedBatch) -> None:
        """Be done with a batch."""
        with suppress(OSError):  # what stays is found again, and asked for in vain
            logged.path.unlink(missing_ok=True)
        _close(logged)
        self._batches.remove(logged)
        for request in logged.requests:
            self._by_request[request].remove(logged)

    def remove_done(self, run: str, taken: set[str]) -> None:
        """Be done with the batches of a run that was judged to its end, and with those whose replies are all taken.

        Args:
            run: Its log.
            taken: The requests whose replies this process has.
        """
        for logged in list(self._batches):
            if logged.run == run or logged.requests <= taken:
                self.remove(logged)

    def close(self) -> None:
        """Leave what is there to whoever goes on."""
        for logged in self._batches:
            _close(logged)

    def _append(self, logged: LoggedBatch, event: dict[str, Any]) -> None:
        file = logged.file
        if file is None:
            raise StoreError(f"{logged.path} is not open")
        try:
            # Behind an empty line, as the last one may be torn.
            file.write(b"\n" * bool(file.tell()) + json.dumps(event).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(logged.path, error) from error

    def _add(self, logged: LoggedBatch) -> None:
        self._batches.append(logged)
        for request in logged.requests:
            self._by_request[request].append(logged)

    def _unwritable(self, path: Path, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write down what is sent in a batch, in {path}: {error.strerror or error}",
            f"make {self._folder} writable, or judge call by call with --no-judge-batch",
        )


def _read(path: Path) -> LoggedBatch | None:
    """What a file says; None where not even its first line can be read: nothing was sent then."""
    try:
        lines = path.read_bytes().split(b"\n")
        intent = json.loads(lines[0])
        at = datetime.fromisoformat(intent["at"])
        found = LoggedBatch(path, at, intent["origin"], intent["run"], intent["newest"], frozenset(intent["requests"]))
        for line in filter(None, lines[1:]):
            with suppress(ValueError):  # a torn line: the name is looked for at the vendor
                found.batch_id = json.loads(line)["id"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found


def _forget_old(path: Path, logged: LoggedBatch | None) -> None:
    """Remove a file that says nothing any more; a damaged one may be another process's that is being written."""
    if logged is not None:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _locked(file: BinaryIO) -> bool:
    """Lock a file until it is closed; False where another process has it."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _close(logged: LoggedBatch) -> None:
    file, logged.file = logged.file, None
    if file is not None:
        with suppress(OSError):
            file.close()
