"""The cache of replies: a reply is found by a hash over everything that decides it, so it is paid for once.

One JSON file for each reply, written whole or not at all, which people can read, copy and delete. `diskcache` would
keep them in a database, and has had no release since 2023.
"""

import json
import tempfile
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import AwareDatetime, ValidationError

from evals.errors import StoreError
from evals.judges.backends.base import Call, Identity
from evals.judges.config import JudgeConfig
from evals.schemas.base import Finite, Record
from evals.schemas.verdicts import JudgeFailure, JudgeUsage
from evals.store.atomic import make_folder, write_atomically
from evals.text.decoding import parse_json

LOST_KEPT = timedelta(days=1)
"""A decision that stayed unusable is not asked again for so long."""


MOST_CLAIMS = 300
"""A claim takes a file descriptor, of which a process may have few."""


class StoredReply(Record):
    """A reply, or a paid failure, with the facts of its call; files of former versions hold `reply` and `model`."""

    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    """Why no reply was usable."""
    message: str | None = None
    model: str | None = None
    usage: JudgeUsage | None = None
    """Of the call that brought it."""
    cost_usd: Finite | None = None
    """What all calls for it cost, by the prices of then; None if unknown, and in files of former versions."""
    stop: str | None = None
    request_id: str | None = None
    asked_at: AwareDatetime | None = None


class JudgeCache:
    """Stores replies in a folder, and for a day those decisions whose replies were all unusable.

    Args:
        folder: Where the files are.
        retry_lost: Treat unusable decisions as absent, so that they are asked again.
    """

    def __init__(self, folder: Path, *, retry_lost: bool = False) -> None:
        self._folder = folder
        self._retry_lost = retry_lost
        self._claims: dict[str, FileLock] = {}

    @classmethod
    def of(cls, judge: JudgeConfig, runs_dir: Path) -> "JudgeCache | None":
        """The cache of a configured judge; None where it keeps no replies."""
        return cls(runs_dir / ".judge-cache", retry_lost=judge.retry_lost) if judge.cache else None

    def prepare(self) -> None:
        """Make the folder and see that it can be written, before the first reply is paid for.

        Raises:
            StoreError: It cannot.
        """
        try:
            make_folder(self._folder)
            with tempfile.TemporaryFile(dir=self._folder):
                pass
        except OSError as error:
            raise self._unwritable(self._folder, error) from error

    @staticmethod
    def key(judge: Identity, call: Call, repeat: int) -> str:
        """The hash of provider, address, model, effort, instructions, form and data, and which repeat it is."""
        return _hash(judge, call, repeat, judge.provider)

    @staticmethod
    def legacy_key(judge: Identity, call: Call, repeat: int) -> str:
        """The hash under which former versions kept the same reply: without the provider."""
        return _hash(judge, call, repeat)

    def get(self, key: str) -> StoredReply | None:
        """The stored reply or failure; None where there is none, it expired, or the file is damaged."""
        try:
            stored = StoredReply.model_validate(parse_json(self._path(key).read_bytes()))
        except (OSError, ValueError, ValidationError):
            return None
        if stored.reply is not None:
            return stored
        at, asks_again = stored.asked_at, self._retry_lost or stored.failure is None
        return None if asks_again or at is None or at < datetime.now(UTC) - LOST_KEPT else stored

    def claim(self, key: str) -> bool:
        """Claim a key, so that no other process asks for its reply until it is released or this process ends.

        Returns:
            False where another process holds it, or this one holds too many.

        Raises:
            StoreError: The folder cannot hold locks.
        """
        path = self._path(key).with_suffix(".lock")
        lock = FileLock(path, thread_local=False)
        if len(self._claims) >= MOST_CLAIMS:
            return False
        try:
            make_folder(path.parent)
            lock.acquire(timeout=0)
        except Timeout:
            return False
        except (OSError, NotImplementedError) as error:
            raise StoreError(f"cannot lock {path}: {error}", self._hint) from error
        self._claims[key] = lock
        return True

    def release(self, key: str) -> None:
        """Release a key, where it is claimed, and remove its file: who locks the removed one finds the reply."""
        claim = self._claims.pop(key, None)
        if claim is not None:
            Path(claim.lock_file).unlink(missing_ok=True)
            claim.release()

    def release_all(self) -> None:
        """Release every key."""
        for key in list(self._claims):
            self.release(key)

    def put(self, key: str, reply: StoredReply) -> None:
        """Store a reply.

        Raises:
            StoreError: It cannot be written.
        """
        path = self._path(key)
        try:
            make_folder(path.parent)
        except OSError as error:
            raise self._unwritable(path, error) from error
        write_atomically(path, [reply.model_dump_json(exclude_none=True).encode()], hint=self._hint)

    def _unwritable(self, path: Path, error: OSError) -> StoreError:
        return StoreError(f"cannot keep replies of the judge in {path}: {error.strerror or error}", self._hint)

    @property
    def _hint(self) -> str:
        return f"make {self._folder} writable, or keep no replies with --no-judge-cache"

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def _hash(judge: Identity, call: Call, repeat: int, *before: str) -> str:
    effort = [] if judge.effort is None else [judge.effort]  # keys of before there was one stay what they were
    parts = [judge.origin, judge.model, call.system, call.schema, call.content, call.max_tokens, repeat]
    return sha256(json.dumps([*before, *parts, *effort], sort_keys=True).encode()).hexdigest()
