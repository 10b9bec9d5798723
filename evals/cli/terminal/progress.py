"""The progress of a run on stderr: a bar on a terminal, a line now and then elsewhere."""

import sys
import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from evals.cli.terminal.console import clean, console
from evals.run.estimate import Estimate
from evals.run.observer import Observer
from evals.run.tally import Tally
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.counts import counted

_LINE_EVERY_S = 10.0


class Terminal(Observer):
    """Shows a bar with rate, time left and errors."""

    def __init__(self) -> None:
        self._console = console(sys.stderr)
        self._live = sys.stderr.isatty()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._tally: Tally | None = None
        self._last_line = 0.0

    def phase(self, message: str) -> None:
        self._console.print(clean(f"· {message}"), style="dim")
        self._last_line = time.monotonic()

    def progress(self, done: int, total: int) -> None:
        if done == total or self._time_for_a_line():
            self._console.print(f"  {done}/{total}", style="dim")

    def note(self, message: str) -> None:
        self._console.print(clean(f"! {message}"), style="yellow")

    def estimate(self, estimate: Estimate) -> None:
        self.phase(f"the judge will take {estimate}")

    def begin(self, total: int, done: int) -> None:
        self._tally = Tally(total, done)
        self._last_line = time.monotonic()
        self.phase(f"asking {counted(total - done, 'question')}")
        if not self._live:
            return
        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[errors]}", style="red"),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=total, completed=done, rate="", errors="")
        self._bar.start()

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        tally = self._tally
        if tally is None:
            return
        tally.add(response)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=tally.done, rate=tally.rate, errors=tally.failures)
        elif not self._live and self._time_for_a_line():
            self._console.print(f"  {tally}", style="dim")

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _time_for_a_line(self) -> bool:
        if time.monotonic() - self._last_line < _LINE_EVERY_S:
            return False
        self._last_line = time.monotonic()
        return True
