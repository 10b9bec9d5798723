"""The cache: one JSON file for each reply, by a hash over everything that decides it, so that it is paid for once."""

import json
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, ConfigDict, ValidationError

from evals.errors import StoreError
from evals.judges.models import Call, Identity
from evals.schemas.base import Finite, Record
from evals.schemas.verdicts import JudgeUsage
from evals.store.atomic import make_folder, write_atomically


class StoredReply(Record):
    """A usable reply, with the facts of its call; failures are never kept."""

    model_config = ConfigDict(extra="ignore")  # keys of other versions

    reply: dict[str, Any]
    model: str | None = None
    usage: JudgeUsage | None = None
    """Of the call that brought it."""
    cost_usd: Finite | None = None
    """What all calls for it cost, by the prices of then; None if unknown."""
    asked_at: AwareDatetime | None = None


def key_of(judge: Identity, call: Call) -> str:
    """The hash of provider, address, model, effort, instructions, form and data, and which repeat it is."""
    who, room = [judge.provider, judge.origin, judge.model], call.max_tokens
    parts = [*who, call.system, call.schema, call.content, room, call.repeat, *filter(None, [judge.effort])]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class JudgeCache:
    """Replies in a folder, which people can read, copy and delete. Two processes may pay twice, and lose nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hint = f"make {folder} writable, or keep no replies with --no-judge-cache"

    @classmethod
    def among(cls, runs_dir: Path) -> "JudgeCache":
        """The cache in a folder of runs."""
        return cls(runs_dir / ".judge-cache")

    def prepare(self) -> None:
        """Make the folder and see that it can be written, before the first reply is paid for.

        Raises:
            StoreError: It cannot.
        """
        try:
            make_folder(self._folder)
            tempfile.TemporaryFile(dir=self._folder).close()
        except OSError as error:
            what = f"cannot keep replies of the judge in {self._folder}: {error.strerror or error}"
            raise StoreError(what, self._hint) from error

    def get(self, key: str) -> StoredReply | None:
        """The stored reply; None where there is none, or the file is damaged."""
        try:
            return StoredReply.model_validate_json(self.path(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, key: str, reply: StoredReply) -> None:
        """Store a reply, whole or not at all.

        Raises:
            StoreError: It cannot be written.
        """
        with suppress(OSError):  # what cannot be made cannot be written either
            make_folder(self.path(key).parent)
        write_atomically(self.path(key), [reply.model_dump_json(exclude_none=True).encode()], hint=self._hint)

    def path(self, key: str) -> Path:
        """Where a reply is kept."""
        return self._folder / key[:2] / f"{key}.json"
