"""What was uploaded to a server, so that nothing is uploaded twice: a line of JSON for each thing that happened.

`{"type": "sent", "documents": {name: sha256}}` stands there before a batch is sent, `taken` when the server took it
(`job`, and `ids`, its own ids by name), `refused` when it answered that it did not, `ready` when all that follows a
batch was done, and `finished` when what follows all batches was.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Literal

from evals.store.atomic import make_folder, open_own, write_error
from evals.store.journal import lock_log, mend_last_line

UploadStage = Literal["sent", "taken", "ready"]
_WAY_ON = "make it writable and give the disk room, then upload again: what was taken is not sent twice"


@dataclass(slots=True)
class LoggedUpload:
    """What is known of a document.

    Attributes:
        sha256: Of what was sent.
        stage: How far it came; "sent" alone says that nobody knows whether the server took it.
        job: The server's job, "" where it has none.
        id: The server's own id of the document.
    """

    sha256: str
    stage: UploadStage
    job: str = ""
    id: str | None = None


def uploaded_ids(folder: Path, server: str) -> list[tuple[str, str]]:
    """The server's own ids of the documents that were uploaded to it, each with the document's name.

    Args:
        folder: Of runs.
        server: As for `UploadLog`.
    """
    log = UploadLog(folder, server)
    try:
        with log.path.open("rb") as file:
            log.read(file)
    except OSError:  # nothing was uploaded, or it cannot be seen: ids are an aid, and nothing is lost
        return []
    return [(one.id, name) for name, one in log.documents.items() if one.id]


class UploadLog:
    """The log of one server, in the folder of runs; use it as `with UploadLog(...) as log`.

    Args:
        folder: Of runs; None keeps nothing on disk.
        server: What tells this server and its way of uploading from others; only a hash of it is kept.
    """

    def __init__(self, folder: Path | None, server: str) -> None:
        self.path = (folder or Path()) / "uploads" / f"{sha256(server.encode()).hexdigest()[:16]}.jsonl"
        self.documents: dict[str, LoggedUpload] = {}
        """By the names of their files."""
        self.unfinished = False
        """Whether something was taken since what follows the last batch was done."""
        self._is_kept = folder is not None
        self._file: BinaryIO | None = None

    def __enter__(self) -> "UploadLog":
        """Open it, so that no other process uploads to the same server.

        Raises:
            StoreError: It cannot be opened, or another process has it.
        """
        if not self._is_kept:
            return self
        try:
            make_folder(self.path.parent)
            with ExitStack() as opened:
                file = opened.enter_context(open_own(self.path, "a+b"))
                lock_log(file, self.path)
                mend_last_line(self.path)
                file.seek(0)
                self.read(file)
                opened.pop_all()
        except OSError as error:
            raise write_error(self.path, error, _WAY_ON) from error
        self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def read(self, lines: Iterable[bytes]) -> None:
        """Take in what happened before."""
        for line in lines:
            self._see(_parsed(line))

    def sent(self, documents: Mapping[str, str]) -> None:
        """Say what is sent now: hashes by name. Synced to disk, since a second upload may not be undone."""
        self._write({"type": "sent", "documents": dict(documents)}, sync=True)

    def taken(self, names: Sequence[str], job: str, ids: Mapping[str, str]) -> None:
        """Say what the server took."""
        self._write({"type": "taken", "names": list(names), "job": job, "ids": dict(ids)}, sync=True)

    def refused(self, names: Sequence[str]) -> None:
        """Say what the server answered that it did not take."""
        self._write({"type": "refused", "names": list(names)})

    def ready(self, names: Sequence[str]) -> None:
        """Say of what all is done that follows its batch."""
        self._write({"type": "ready", "names": list(names)})

    def finished(self) -> None:
        """Say that what follows all batches was done."""
        self._write({"type": "finished"})

    def _write(self, event: dict[str, Any], *, sync: bool = False) -> None:
        self._see(event)
        if not self._is_kept:
            return
        if self._file is None:
            raise RuntimeError("the log is not open: use it as `with UploadLog(...) as log`")
        try:
            self._file.write(json.dumps(event).encode() + b"\n")
            self._file.flush()
            if sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            raise write_error(self.path, error, _WAY_ON) from error

    def _see(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "sent":
            for name, digest in event["documents"].items():
                self.documents[name] = LoggedUpload(digest, "sent")
        if kind == "finished":
            self.unfinished = False
        for name in event.get("names", ()):
            if kind == "refused":
                self.documents.pop(name, None)
            elif found := self.documents.get(name):
                self._advance(found, name, event)

    def _advance(self, found: LoggedUpload, name: str, event: Mapping[str, Any]) -> None:
        found.stage = event["type"]
        if found.stage == "taken":
            found.job, found.id, self.unfinished = event["job"], event["ids"].get(name), True


def _parsed(line: bytes) -> dict[str, Any]:
    """An event; {} for a line that a power cut has damaged: what it said is then found out from the server."""
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
