"""The progress of a run in a notebook: a few lines under the cell, written anew as things happen."""

import time
from collections.abc import Callable
from importlib import import_module

from rich.console import Console

from evals.run.estimate import Estimate
from evals.run.observer import Observer
from evals.run.tally import Tally
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.counts import counted
from evals.views.formatting import plain

Show = Callable[[str], None]
"""Shows a text under the cell, in the place of what was shown before."""

_BAR = 30
"""Characters of the bar."""
_REDRAWN_EVERY_S = 0.2


class Notebook(Observer):
    """Shows what is being done, a bar while questions are asked, and what a reader of the numbers must know.

    Args:
        show: Where to.
        clock: Seconds that only grow.
    """

    def __init__(self, show: Show | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._show = show or _Cell()
        self._clock = clock
        self._lines: list[str] = []
        self._moving: str | None = None
        self._tally: Tally | None = None
        self._drawn_at = -_REDRAWN_EVERY_S

    def phase(self, message: str) -> None:
        self._moving = None
        self._say(f"· {message}")

    def note(self, message: str) -> None:
        self._say(f"! {message}")

    def estimate(self, estimate: Estimate) -> None:
        self.phase(f"the judge will take {estimate}")

    def progress(self, done: int, total: int) -> None:
        self._move(f"  {done}/{total}", at_once=done == total)

    def begin(self, total: int, done: int) -> None:
        self._tally = Tally(total, done, self._clock)
        self.phase(f"asking {counted(total - done, 'question')}")

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        if self._tally is not None:
            self._tally.add(response)
            self._move(_bar(self._tally), at_once=False)

    def end(self) -> None:
        if self._tally is not None:
            self._say(_bar(self._tally))
            self._tally = self._moving = None

    def _say(self, line: str) -> None:
        """Show a line that stays, above the one that moves."""
        self._lines.append(plain(line))
        self._draw()

    def _move(self, line: str, *, at_once: bool) -> None:
        self._moving = line
        if at_once or self._clock() - self._drawn_at >= _REDRAWN_EVERY_S:
            self._draw()

    def _draw(self) -> None:
        self._drawn_at = self._clock()
        self._show("\n".join([*self._lines, *([self._moving] if self._moving else [])]))


def usual_observer() -> Observer:
    """Who hears of the progress where nobody is named: the cell of a notebook; in a script nobody."""
    return Notebook() if Console().is_jupyter else Observer()


def _bar(tally: Tally) -> str:
    filled = _BAR * tally.done // max(1, tally.total)
    return f"  {'█' * filled}{'░' * (_BAR - filled)} {tally}"


class _Cell:
    """The output of the cell that runs, by what every notebook has: rich's own way wants ipywidgets."""

    def __init__(self) -> None:
        self._shown = import_module("IPython.display").display({"text/plain": ""}, raw=True, display_id=True)

    def __call__(self, text: str) -> None:
        self._shown.update({"text/plain": text}, raw=True)
