"""What commands leave for CI: a JUnit report, a comment, and what GitHub Actions shows beside a job."""

import os
import secrets
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import typer

from evals.cli.flags import CiFlags
from evals.cli.terminal import check_output, clean, console, in_github_actions
from evals.errors import EvalsError, GateFailedError
from evals.report.ci import Beside, Checked, CommandEnd, CommandProblem, annotations, to_comment, to_summary
from evals.report.junit import junit_of
from evals.schemas.run_parts import GateOutcome
from evals.scoring.conclusion import Measured
from evals.scoring.gates import problem_of
from evals.secrets import masked
from evals.store.atomic import write_output

# GitHub Actions, where a command runs there: the summary of the job, annotations, and output that is no command.


MOST_BYTES = 1 << 20
"""Of the summaries of a step; of one that is larger GitHub shows nothing."""


class GitHubActions:
    """A job of GitHub Actions, as one command sees it.

    Args:
        annotate: Whether lines may be printed: not where standard output is for a program.
    """

    def __init__(self, *, annotate: bool) -> None:
        self._annotate = annotate
        self._token: str | None = None

    def begin(self) -> None:
        """From here on no line that is printed is a command to GitHub, whatever a server answers."""
        if self._annotate:
            self._token = secrets.token_hex(16)
            _say([f"::stop-commands::{self._token}"])

    def end(self, ended: CommandEnd) -> None:
        """Print the annotations, and add to the summary of the job.

        Raises:
            OSError: The summary cannot be written.
        """
        if self._token is not None:
            _say([f"::{self._token}::", *annotations(ended)])
            self._token = None
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if path:
            _append(Path(path), f"{to_summary(ended)}\n\n".encode())


def _append(path: Path, text: bytes) -> None:
    """Add to a summary as long as it has room; where it has none, say where to look."""
    there = path.stat().st_size if path.exists() else 0
    short = b"\nThe summary is full: the rest is in the log and in the reports.\n"
    if there + len(text) > MOST_BYTES:
        text = short if there + len(short) <= MOST_BYTES else b""
    with path.open("ab") as file:
        file.write(text)


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        typer.echo(line)
    sys.stdout.flush()  # progress goes to another stream, and GitHub reads both as one


# The reports of one command for CI, written however it ends.


_CUT_OFF = CommandProblem("Unfinished", "the command did not come to its end: it was killed, or the machine went down")
"""What a JUnit report says until the command has ended."""


class Reporter:
    """Collects what a command finds, and writes its reports when it ends: as a context manager around the command.

    Args:
        flags: Which reports are wanted.
        as_json: Whether standard output is for a program.
        lenient: Whether a gate for which there is not enough evidence is no fault.
        made: Whether the command makes the runs that it finds.
    """

    def __init__(self, flags: CiFlags, *, as_json: bool, lenient: bool = False, made: bool = True) -> None:
        self._flags = flags
        self._as_json = as_json
        self._lenient = lenient
        self._made = made
        self._runs: list[Checked] = []
        self._remarks: list[str] = []
        self._beside: Beside | None = None
        self._actions = GitHubActions(annotate=not as_json) if in_github_actions() and not flags.no_ci else None

    def __enter__(self) -> Self:
        """Begin: a report that cannot be written is wrong usage.

        Raises:
            UnwritableError: No file can be written at one of the places that were named.
            StoreError: It could not be written.
        """
        for flag, path in (("--junit", self._flags.junit), ("--comment", self._flags.comment)):
            if path is not None:
                check_output(path, flag)
        if self._flags.junit is not None and _is_file(self._flags.junit):
            _write(self._flags.junit, junit_of(CommandEnd(problem=_CUT_OFF)))
        if self._actions is not None:
            self._actions.begin()
        return self

    @property
    def tells_of_changes(self) -> bool:
        """Whether a report is wanted that says what moved against a baseline."""
        return self._flags.comment is not None or self._actions is not None

    def found(self, measured: Measured, gates: Sequence[GateOutcome]) -> None:
        """A run, and how its gates ended."""
        self._runs.append(Checked(measured, gates))

    def compared(self, beside: Beside) -> None:
        """How runs compare with their baseline."""
        self._beside = beside

    def remark(self, text: str) -> None:
        """What a reader of the reports must know."""
        self._remarks.append(text)

    def judge(self, gates: Sequence[GateOutcome], name: str = "") -> None:
        """End the command where a gate of a run is not met, unless that was to be no fault.

        Raises:
            GateFailedError: A gate is not met, or there is not enough evidence for it; the message names the run.
        """
        problem = None if self._flags.no_fail else problem_of(gates, lenient=self._lenient, figures=self._as_json)
        if problem:
            raise GateFailedError(f"{name}: {problem}" if name else problem)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Write the reports.

        Raises:
            StoreError: One could not be written, and the command itself ended well.
        """
        ended = CommandEnd(self._runs, self._beside, self._remarks, None, self._lenient, self._made)
        if error is not None:
            ended = replace(ended, problem=_problem(error, of_gates=bool(ended.failing())))
        try:
            self._deliver(ended)
        except EvalsError as problem:
            if error is None:
                raise
            console(sys.stderr).print(clean(f"! {problem.message}"), style="yellow")

    def _deliver(self, ended: CommandEnd) -> None:
        if self._actions is not None:
            try:
                self._actions.end(ended)
            except OSError as error:  # a job does not fail by its summary
                console(sys.stderr).print(clean(f"! no summary of the job: {error}"), style="yellow")
        try:
            if self._flags.junit is not None:
                _write(self._flags.junit, junit_of(ended))
        finally:  # one report that cannot be written takes no other with it
            if self._flags.comment is not None:
                _write(self._flags.comment, [to_comment(ended)])


def _problem(error: BaseException, *, of_gates: bool) -> CommandProblem:
    if isinstance(error, EvalsError):
        return CommandProblem(
            type(error).__name__, error.message, error.hint, of_gates and isinstance(error, GateFailedError)
        )
    if isinstance(error, KeyboardInterrupt):
        return CommandProblem("Interrupted", "interrupted")
    return CommandProblem(type(error).__name__, masked(f"a bug in evals: {error}"))


def _is_file(path: Path) -> bool:
    """Whether the path is one that is replaced as a whole, and not a pipe or a device."""
    return path.is_file() or not path.exists()


def _write(path: Path, pieces: Iterable[str]) -> None:
    write_output(path, (piece.encode() for piece in pieces))
