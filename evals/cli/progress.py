"""The progress of a run on stderr: a bar with the numbers so far on a terminal, a line now and then elsewhere."""

import sys
import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evals.cli.terminal import BAD, clean, console, warn
from evals.report.wording import number
from evals.run.estimate import Estimate
from evals.run.observer import Observer, Tally
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.text.foreign import one_line
from evals.text.numbers import counted

_LINE_EVERY_S = 10.0

_LINE, _NAME = 100, 40


class Quiet(Observer):
    """Shows what a reader of the numbers must know, and nothing of the progress."""

    def __init__(self) -> None:
        self._console = console(sys.stderr)

    def note(self, message: str) -> None:
        warn(message, self._console)


class Terminal(Quiet):
    """Shows a bar with time left, rate, failures, and what was judged.

    Args:
        every: Whether every answer has a line of its own.
    """

    def __init__(self, *, every: bool = False) -> None:
        super().__init__()
        self._live = sys.stderr.isatty()
        self._every = every
        self._bar: Progress | None = None
        self._tally: Tally | None = None
        self._last_line = 0.0
        self._phase = ""
        self._judged = ""

    def phase(self, message: str) -> None:
        if message != self._phase:  # the same of variants, one after the other
            self._console.print(clean(f"· {message}"), style="dim")
        self._phase, self._last_line = message, time.monotonic()

    def progress(self, done: int, total: int) -> None:
        if self._time_for_a_line():
            self._console.print(f"  {done}/{total}", style="dim")

    def waiting(self, message: str) -> None:
        if self._time_for_a_line():
            self.phase(message)

    def estimate(self, estimate: Estimate) -> None:
        self.phase(f"the judge will take {estimate}")

    def begin(self, total: int, done: int) -> None:
        self._tally = Tally(total, done)
        self._last_line = time.monotonic()
        self.phase(f"asking {counted(total - done, 'question')}")
        if not self._live:
            return
        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[facts]}"))
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._bar.add_task("", total=total, completed=done, facts="")
        self._bar.start()

    def judged(self, done: int, spent_usd: float) -> None:
        self._judged = f"{done} judged" + (f", ${spent_usd:.2f}" if spent_usd else "")
        self._update()

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        tally = self._tally
        if tally is None:
            return
        tally.add(response)
        if self._every:
            self._console.print(clean(line_of(question, response)), style=BAD if response.error else None)
        if self._bar is not None:
            self._update()
        elif not self._live and self._time_for_a_line():
            self._console.print(f"  {tally}", style="dim")

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _update(self) -> None:
        bar, tally = self._bar, self._tally
        if bar is not None and tally is not None:
            facts = ", ".join(filter(None, [tally.rate, tally.failures, self._judged]))
            bar.update(bar.task_ids[0], completed=tally.done, facts=facts)

    def _time_for_a_line(self) -> bool:
        if time.monotonic() - self._last_line < _LINE_EVERY_S:
            return False
        self._last_line = time.monotonic()
        return True


def line_of(question: EvalQuestion, response: EvalResponse) -> str:
    """What came of a question, in a line: its id, how long it took, and the answer or what went wrong."""
    tried = f", {counted(response.attempts, 'attempt')}" if response.attempts > 1 else ""
    took = f"{number(response.latency_ms, 'ms')}{tried}"
    answer = (response.answer or "") if response.error is None else response.error.message
    return f"  {one_line(question.id, _NAME)}  {took}  {one_line(answer, _LINE)}"
