"""Runs a command of the program in this process, and says what of the promises it breaks."""

import contextlib
import io
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.cli import app, terminal

MOST_S = 5.0
"""Of the processor: on a busy machine seconds of the wall say nothing."""
MOST_MB = 300.0
CODES = frozenset({0, 1, 2, 3, 4, 5, 130})


@dataclass(frozen=True)
class Outcome:
    """What a command did.

    Attributes:
        out: What it printed.
        problems: Promises that it broke.
    """

    code: int
    out: str
    err: str
    problems: list[str]


def run_within_limits(arguments: Sequence[str]) -> Outcome:
    """Run a command, and hold it to the promises: no traceback, no more time and memory than is said."""
    out, err = _stream(), _stream()
    before, began, kept = _fresh_peak_mb(), time.process_time(), sys.argv
    sys.argv = ["evals", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = terminal.run(app)
    finally:
        sys.argv = kept
    took, grown = time.process_time() - began, _peak_mb() - before
    problems = []
    if code not in CODES or "Traceback" in _text(err):
        problems.append(f"exit {code}: {_text(err)[-1500:]}")
    if code and not _text(err).strip() and not _text(out).strip():
        problems.append(f"exit {code} without a word")
    if took > MOST_S:
        problems.append(f"took {took:.1f} s")
    if grown > MOST_MB:
        problems.append(f"took {grown:.0f} MB")
    return Outcome(code, _text(out), _text(err), problems)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode()


def _fresh_peak_mb() -> float:
    """What is in use, after the kernel was told to forget the peak."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_mb()


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
