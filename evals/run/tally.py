"""How far the asking of questions is, as progress shows it."""

import time
from collections.abc import Callable

from evals.schemas import EvalResponse


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
