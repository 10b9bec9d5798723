"""The progress of a run on stderr: a bar on a terminal, a line now and then elsewhere."""

import sys
import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from evals.cli.terminal.console import clean, console
from evals.run.estimate import Estimate
from evals.run.observer import Observer
from evals.schemas import EvalQuestion, EvalResponse
from evals.views.formatting import counted

_LINE_EVERY_S = 10.0


class Terminal(Observer):
    """Shows a bar with rate, time left and errors."""

    def __init__(self) -> None:
        self._console = console(sys.stderr)
        self._live = sys.stderr.isatty()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._total = self._done = self._errors = self._here = 0
        self._started = self._last_line = 0.0

    def phase(self, message: str) -> None:
        self._console.print(clean(f"· {message}"), style="dim")

    def progress(self, done: int, total: int) -> None:
        if done == total or self._time_for_a_line():
            self._console.print(f"  {done}/{total}", style="dim")

    def note(self, message: str) -> None:
        self._console.print(clean(f"! {message}"), style="yellow")

    def estimate(self, estimate: Estimate) -> None:
        self.phase(f"the judge will take {estimate}")

    def begin(self, total: int, done: int) -> None:
        self._total, self._done = total, done
        self._started = self._last_line = time.monotonic()
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
        self._done += 1
        self._here += 1
        self._errors += response.error is not None
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done, rate=self._rate(), errors=self._failures())
        elif not self._live and self._time_for_a_line():
            left = (self._total - self._done) * (time.monotonic() - self._started) / self._here
            line = f"  {self._done}/{self._total}, {self._rate()}, {left:.0f} s left {self._failures()}"
            self._console.print(line.rstrip(), style="dim")

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _rate(self) -> str:
        return f"{self._here / max(1e-9, time.monotonic() - self._started):.1f}/s"

    def _failures(self) -> str:
        return f"{self._errors} failed" if self._errors else ""

    def _time_for_a_line(self) -> bool:
        if time.monotonic() - self._last_line < _LINE_EVERY_S:
            return False
        self._last_line = time.monotonic()
        return True
