"""The cache: one JSON file for each usable reply, by a hash over all that decides it, so that it is paid for once.

A file holds the `reply`, the `model` that gave it, the `usage` of all calls for it, and what these cost by the prices
of then (`cost_usd`).
"""

import json
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from evals.errors import StoreError
from evals.judges.models import Call, Identity
from evals.schemas.verdicts import JudgeVerdict
from evals.store.atomic import make_folder, write_atomically

_KEPT = {"reply", "model", "usage", "cost_usd"}


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

    def get(self, key: str) -> JudgeVerdict | None:
        """A verdict with the stored reply; None where there is none, or the file is damaged."""
        try:
            stored = json.loads(self.path(key).read_bytes())
            return JudgeVerdict(request="", **{name: stored[name] for name in _KEPT & stored.keys()})
        except (OSError, ValueError, AttributeError):
            return None

    def put(self, key: str, verdict: JudgeVerdict) -> None:
        """Store the reply of a verdict, whole or not at all.

        Raises:
            StoreError: It cannot be written.
        """
        with suppress(OSError):  # what cannot be made cannot be written either
            make_folder(self.path(key).parent)
        write_atomically(
            self.path(key), [verdict.model_dump_json(include=_KEPT, exclude_none=True).encode()], hint=self._hint
        )

    def path(self, key: str) -> Path:
        """Where a reply is kept."""
        return self._folder / key[:2] / f"{key}.json"
