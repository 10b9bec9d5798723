"""The progress of a run on stderr: a bar with the numbers so far on a terminal, a line now and then elsewhere."""

import sys

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evals.cli.terminal import BAD, clean, console, warn
from evals.report.wording import number
from evals.run.observer import Notebook, Observer
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.text.foreign import one_line
from evals.text.numbers import counted

_LINE, _NAME = 100, 40


class Quiet(Observer):
    """Shows what a reader of the numbers must know, and nothing of the progress."""

    def note(self, message: str) -> None:
        warn(message)


class Terminal(Notebook):
    """Shows a bar with rate, failures, and what was judged.

    Args:
        every: Whether every answer has a line of its own.
    """

    line_every_s = 10.0

    def __init__(self, *, every: bool = False) -> None:
        super().__init__()
        self._console = console(sys.stderr)
        self._every = every
        self._bar: Progress | None = None
        self._phase = self._judged = ""

    def phase(self, message: str) -> None:
        if message != self._phase:  # the same of variants, one after the other
            super().phase(message)
        self._phase = message

    def note(self, message: str) -> None:
        warn(message, self._console)

    def begin(self, total: int, done: int) -> None:
        super().begin(total, done)
        if sys.stderr.isatty():
            columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[facts]}"))
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task("", total=total, completed=done, facts="")
            self._bar.start()

    def judged(self, done: int, spent_usd: float) -> None:
        self._judged = f"{done} judged" + (f", ${spent_usd:.2f}" if spent_usd else "")
        self._update()

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        if self._every:
            self._console.print(clean(line_of(question, response)), style=BAD if response.error else None)
        super().answered(question, response)
        self._update()

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _update(self) -> None:
        bar, tally = self._bar, self._tally
        if bar is not None and tally is not None:
            facts = ", ".join(filter(None, [tally.rate, tally.failures, self._judged]))
            bar.update(bar.task_ids[0], completed=tally.done, facts=facts)

    def _move(self, state: object) -> None:
        if self._bar is None:
            super()._move(state)

    def _write(self, line: str) -> None:
        self._console.print(clean(line), style="dim")


def line_of(question: EvalQuestion, response: EvalResponse) -> str:
    """What came of a question, in a line: its id, how long it took, and the answer or what went wrong."""
    tried = f", {counted(response.attempts, 'attempt')}" if response.attempts > 1 else ""
    took = f"{number(response.latency_ms, 'ms')}{tried}"
    answer = (response.answer or "") if response.error is None else response.error.message
    return f"  {one_line(question.id, _NAME)}  {took}  {one_line(answer, _LINE)}"
