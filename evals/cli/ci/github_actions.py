"""GitHub Actions, where a command runs there: the summary of the job, annotations, and output that is no command.

The variables, the files and the form of the lines are those of GitHub's "Workflow commands for GitHub Actions".
"""

import os
import secrets
import sys
from pathlib import Path

import typer

from evals.export.ci.annotations import annotations
from evals.export.ci.command_end import CommandEnd
from evals.export.ci.comment import to_summary

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
            _say(f"::stop-commands::{self._token}")

    def end(self, ended: CommandEnd) -> None:
        """Print the annotations, and add to the summary of the job.

        Raises:
            OSError: The summary cannot be written.
        """
        if self._token is not None:
            _say(f"::{self._token}::")
            self._token = None
            for line in annotations(ended):
                _say(line)
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


def _say(line: str) -> None:
    typer.echo(line)
    sys.stdout.flush()  # progress goes to another stream, and GitHub reads both as one
