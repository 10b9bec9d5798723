"""Replies that were paid for once, by a hash over everything that decides them."""

import json
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from evals.errors import StoreError
from evals.judges.base import Backend, Call
from evals.store import write_atomically


class JudgeCache:
    """A folder of replies. Failures are never in it.

    Args:
        folder: Where the files are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> None:
        """Make the folder and see that it can be written, before the first reply is paid for.

        Raises:
            StoreError: It cannot.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._folder):
                pass
        except OSError as error:
            raise self._unwritable(self._folder, error) from error

    @staticmethod
    def key(backend: Backend, call: Call, repeat: int) -> str:
        """The hash of model, its address, instructions, form and data of the call, and which repeat it is."""
        parts = [backend.origin, backend.model, call.system, call.schema, call.content, call.max_tokens, repeat]
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        """The stored reply; None where there is none, or the file is damaged."""
        try:
            stored = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError):
            return None
        return stored if isinstance(stored, dict) else None

    def put(self, key: str, reply: dict[str, Any]) -> None:
        """Store a reply.

        Raises:
            StoreError: It cannot be written.
        """
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, [json.dumps(reply).encode()])
        except (OSError, StoreError) as error:
            raise self._unwritable(path, error) from error

    def _unwritable(self, path: Path, error: OSError | StoreError) -> StoreError:
        cause = error if isinstance(error, OSError) else error.__cause__
        return StoreError(
            f"cannot keep replies of the judge in {path}: {getattr(cause, 'strerror', None) or error}",
            f"make {self._folder} writable, or keep no replies: --no-judge-cache (judge.cache: false)",
        )

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
