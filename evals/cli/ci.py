"""What commands leave for CI: a JUnit report, a comment, and the summary of a job of GitHub Actions."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from evals.cli.flags import CommentFlags
from evals.cli.terminal import check_output, in_github_actions, warn
from evals.compare.models import Comparison
from evals.errors import EvalsError, GateFailedError
from evals.report.junit import junit_of
from evals.report.markdown import CommandEnd, CommandProblem, to_comment, to_summary
from evals.schemas.results import GateOutcome
from evals.scoring.gates import problem_of
from evals.scoring.saved import SavedRun
from evals.secrets import masked
from evals.store.atomic import write_output

MOST_BYTES = 1 << 20
"""Of the summaries of a step; of one that is larger GitHub shows nothing."""

_CUT_OFF = CommandProblem("Unfinished", "the command did not come to its end: it was killed, or the machine went down")
"""What a JUnit report says until the command has ended."""


class Reporter:
    """Collects what a command finds, and writes its reports when it ends: as a context manager around the command.

    In a job of GitHub Actions it also keeps lines that are printed from being commands to GitHub, whatever a server
    answers, and adds a summary.

    Args:
        flags: Of the command: which reports are wanted, and what fails it.

    Attributes:
        runs: Those that the command made or checked, with their gates.
        comparison: How runs compare with their baseline; None where they were not held against one.
    """

    def __init__(self, flags: CommentFlags) -> None:
        self._flags = flags
        self.runs: list[SavedRun] = []
        self.comparison: Comparison | None = None
        self._in_job = in_github_actions()
        self._token = secrets.token_hex(16) if self._in_job and not flags.as_json else ""

    def __enter__(self) -> Self:
        """Begin: a report that cannot be written is wrong usage.

        Raises:
            UnwritableError: No file can be written at one of the places that were named.
            StoreError: It could not be written.
        """
        junit, comment = self._flags.junit, self._flags.comment
        for flag, path in (("--junit", junit), ("--comment", comment)):
            if path is not None:
                check_output(path, flag)
        if junit is not None and (junit.is_file() or not junit.exists()):  # a pipe is written to once
            self._write_junit(junit, CommandEnd(problem=_CUT_OFF))
        if self._token:
            print(f"::stop-commands::{self._token}", flush=True)  # GitHub reads what goes to either stream as one
        return self

    def judge(self, gates: Sequence[GateOutcome], name: str = "") -> None:
        """End the command where a gate of a run is not met, unless that was to be no fault.

        Raises:
            GateFailedError: A gate is not met, or there is not enough evidence for it; the message names the run.
        """
        flags = self._flags
        figures = flags.as_json or bool(name)  # of variants no gates are printed
        problem = problem_of(gates, lenient=flags.lenient, figures=figures)
        if problem:
            raise GateFailedError(f"{name}: {problem}" if name else problem)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Write the reports.

        Raises:
            StoreError: One could not be written, and the command itself ended well.
        """
        problem = None if error is None else _problem(error)
        ended = CommandEnd(self.runs, self.comparison, problem, self._flags.lenient)
        if self._token:
            print(f"::{self._token}::", flush=True)
        if self._in_job:
            _add_to_summary(f"{to_summary(ended)}\n\n".encode())
        try:
            if self._flags.junit is not None:
                self._write_junit(self._flags.junit, ended)
            if self._flags.comment is not None:
                write_output(self._flags.comment, to_comment(ended).encode())
        except EvalsError as unwritten:
            if error is None:
                raise
            warn(unwritten.message)

    @staticmethod
    def _write_junit(path: Path, ended: CommandEnd) -> None:
        write_output(path, (piece.encode() for piece in junit_of(ended)))


def _add_to_summary(text: bytes) -> None:
    """Add to the summary of the job, as long as it has room; a job does not fail by its summary."""
    try:
        with Path(os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull).open("ab") as file:
            if file.tell() + len(text) <= MOST_BYTES:
                file.write(text)
            else:
                warn("the summary of the job is full: the rest is in the log and in the reports")
    except OSError as error:
        warn(f"no summary of the job: {error}")


def _problem(error: BaseException) -> CommandProblem:
    if isinstance(error, EvalsError):
        return CommandProblem(type(error).__name__, error.message, error.hint)
    interrupted = isinstance(error, KeyboardInterrupt)
    return CommandProblem(type(error).__name__, "interrupted" if interrupted else masked(f"a bug in evals: {error}"))
