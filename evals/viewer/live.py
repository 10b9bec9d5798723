"""Runs as they are now: the list, and how far those are that go on."""

import time
from threading import Lock
from typing import Any

from evals.errors import StoreError
from evals.schemas import EvalRun
from evals.viewer.folder import RunsFolder
from evals.viewer.listing import listing
from evals.viewer.progress import RunProgress

_FRESH_S = 600.0
"""A log to which nothing was added for so long is of a run that was cut off: the list does not follow it."""


class LiveRuns:
    """What the pages ask for again and again.

    Args:
        folder: The runs.
    """

    def __init__(self, folder: RunsFolder) -> None:
        self._folder = folder
        self._followed: dict[str, RunProgress] = {}
        self._lock = Lock()

    def listing(self) -> dict[str, Any]:
        """All runs, those that go on with how far they are."""
        saved = self._folder.survey().without_calibrations()
        found = listing(saved)
        going_on = {run.id: told for run in saved.runs if (told := self._going_on(run)) is not None}
        for row in found["runs"]:
            row["progress"] = going_on.get(row["id"])
        return found

    def progress(self, run_id: str) -> dict[str, Any]:
        """How far a run is.

        Raises:
            RunNotFoundError: There is no such run.
            StoreError: Its log cannot be read.
        """
        run = self._folder.run(run_id)
        if run.completed_at is not None:
            self._followed.pop(run_id, None)
            return {"finished": True}
        return {"finished": False, **self._look(run)}

    def _going_on(self, run: EvalRun) -> dict[str, Any] | None:
        if run.completed_at is not None:
            return None
        try:
            quiet_s = time.time() - self._folder.records_path(run.id).stat().st_mtime
            return self._look(run) if quiet_s < _FRESH_S else None
        except (OSError, StoreError):  # its own page says what is wrong
            return None

    def _look(self, run: EvalRun) -> dict[str, Any]:
        path = self._folder.records_path(run.id)
        with self._lock:
            return self._followed.setdefault(run.id, RunProgress(run, path)).look()
