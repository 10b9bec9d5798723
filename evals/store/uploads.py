"""What was uploaded to a server, so that nothing is uploaded twice: a line of JSON for each event."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Literal

from evals.store.atomic import write_error
from evals.store.journal import open_log

UploadStage = Literal["sent", "taken", "ready"]

UploadEvent = Literal["sent", "taken", "refused", "ready", "finished"]

_WAY_ON = "make it writable and give the disk room, then upload again: uploaded documents are not sent twice"


@dataclass(slots=True)
class LoggedUpload:
    """What is known of a document.

    Attributes:
        sha256: Of what was sent.
        stage: How far it came; "sent" alone says that it is unknown whether the server took it.
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
        if self._is_kept:
            self._file = open_log(self.path, _WAY_ON)
            self._file.seek(0)
            self.read(self._file)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def read(self, lines: Iterable[bytes]) -> None:
        """Take in what happened before."""
        for line in lines:
            self._see(_parsed(line))

    def note(self, kind: UploadEvent, **what: Any) -> None:
        """Log what happened; synced to disk where a second upload could not be undone.

        Args:
            kind: `sent` before documents go, `taken` or `refused` as the server answered, `ready` when all is done
                that follows a batch, `finished` when that is done which follows all.
            what: Of `sent`: documents, as hashes by name. Of the others: names; of `taken` also job and ids.
        """
        event = {"type": kind, **what}
        self._see(event)
        if not self._is_kept:
            return
        if self._file is None:
            raise RuntimeError("the log is not open: use it as `with UploadLog(...) as log`")
        try:
            self._file.write(json.dumps(event).encode() + b"\n")
            self._file.flush()
            if kind in {"sent", "taken"}:
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
                found.stage = event["type"]
                if kind == "taken":
                    found.job, found.id, self.unfinished = event["job"], event["ids"].get(name), True


def _parsed(line: bytes) -> dict[str, Any]:
    """An event; {} for a line that a power cut has damaged: what it said is then found out from the server."""
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
