"""Observers of the progress of a run: none, one of the caller, or the cell of a notebook."""

import sys
import time
from collections.abc import Callable

from rich.console import Console

from evals.run.estimate import Estimate
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.text.foreign import plain
from evals.text.numbers import counted

# How a running evaluation is watched: by a progress bar, a notebook or nobody.


class Observer:
    """Hears what happens. Every method does nothing here; a subclass overrides what it wants to know."""

    def phase(self, message: str) -> None:
        """A new part of the work begins."""

    def progress(self, done: int, total: int) -> None:
        """Within a part that is not asking questions: so much is done."""

    def waiting(self, message: str) -> None:
        """Within such a part, something is waited for; heard again and again until it is there."""

    def estimate(self, estimate: Estimate) -> None:
        """What the judge will take, before anything is asked that costs."""

    def begin(self, total: int, done: int) -> None:
        """Asking begins: `total` questions, of which `done` were answered before (a resumed run)."""

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        """An exchange ended, with an answer or without."""

    def judged(self, done: int, spent_usd: float) -> None:
        """The judge is through with the answers to this many questions, and has cost so much."""

    def end(self) -> None:
        """Asking and judging have ended."""

    def note(self, message: str) -> None:
        """Something that a reader of the numbers must know."""


class Remarks:
    """What a reader of the numbers must know, told to whoever watches and kept for the run.

    Args:
        observer: Is notified of each.
    """

    def __init__(self, observer: Observer) -> None:
        self.made: list[str] = []
        self._observer = observer

    def add(self, message: str) -> None:
        """Tell and keep a remark."""
        self.made.append(message)
        self._observer.note(message)


# How far the asking of questions is, as progress shows it.


class Tally:
    """Counts exchanges as they end.

    Args:
        total: Questions of the run.
        done: How many of them were answered before.
        clock: Seconds that only grow.
    """

    def __init__(self, total: int, done: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.done = done
        self._clock = clock
        self._started = clock()
        self._here = self._errors = 0

    def add(self, response: EvalResponse) -> None:
        """An exchange ended."""
        self.done += 1
        self._here += 1
        self._errors += response.error is not None

    @property
    def rate(self) -> str:
        """Exchanges a second, as text."""
        return f"{self._here / max(1e-9, self._elapsed_s):.1f}/s"

    @property
    def failures(self) -> str:
        """How many had no answer, as text; empty for none."""
        return f"{self._errors} failed" if self._errors else ""

    @property
    def left_s(self) -> float | None:
        """Seconds until the end at this rate; None before the first exchange has ended, and at the end."""
        left = self.total - self.done
        return left * self._elapsed_s / self._here if self._here and left else None

    def __str__(self) -> str:
        left = self.left_s
        facts = [f"{self.done}/{self.total}", self.rate, "" if left is None else f"{left:.0f} s left"]
        return ", ".join(fact for fact in facts if fact) + (f" {self.failures}" if self.failures else "")

    @property
    def _elapsed_s(self) -> float:
        return self._clock() - self._started


class Notebook(Observer):
    """Prints what is being done, now and then how far it is, and what a reader of the numbers must know.

    Args:
        clock: Seconds that only grow.
    """

    line_every_s = 2.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tally: Tally | None = None
        self._printed_at = clock()

    def phase(self, message: str) -> None:
        self._print(f"· {message}")

    def note(self, message: str) -> None:
        self._print(f"! {message}")

    def estimate(self, estimate: Estimate) -> None:
        self.phase(f"the judge will take {estimate}")

    def progress(self, done: int, total: int) -> None:
        self._move(f"{done}/{total}")

    def waiting(self, message: str) -> None:
        self._move(message)

    def begin(self, total: int, done: int) -> None:
        self._tally = Tally(total, done, self._clock)
        self.phase(f"asking {counted(total - done, 'question')}")

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        if self._tally is not None:
            self._tally.add(response)
            self._move(self._tally)

    def end(self) -> None:
        if self._tally is not None:
            self._print(f"  {self._tally}")
            self._tally = None

    def _move(self, state: object) -> None:
        if self._clock() - self._printed_at >= self.line_every_s:
            self._print(f"  {state}")

    def _print(self, line: str) -> None:
        self._printed_at = self._clock()
        self._write(line)

    def _write(self, line: str) -> None:
        sys.stdout.write(f"{plain(line)}\n")


def usual_observer() -> Observer:
    """The default observer of the progress: lines under the cell of a notebook; in a script one that does nothing."""
    return Notebook() if Console().is_jupyter else Observer()
