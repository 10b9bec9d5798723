"""The progress of a run on stderr: a bar with the numbers so far on a terminal, a line now and then elsewhere."""

import sys
import time
from statistics import fmean

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evals.cli.terminal import BAD, clean, console, warn
from evals.metrics.registry import parse_metric
from evals.report.wording import number
from evals.run.estimate import Estimate
from evals.run.observer import Observer, Tally
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.scoring.settings import ScoreSettings
from evals.text.foreign import one_line
from evals.text.numbers import counted

_SHOWN = "recall_at_5"
"""The metric whose mean over the answers that came is shown; a glance, as nothing is known yet of the whole run."""

_LINE_EVERY_S = 10.0

_LINE, _NAME = 100, 40


class Quiet(Observer):
    """Shows what a reader of the numbers must know, and nothing of the progress."""

    def __init__(self) -> None:
        self._console = console(sys.stderr)

    def note(self, message: str) -> None:
        warn(message, self._console)


class Terminal(Quiet):
    """Shows a bar with rate, time left, errors, and the numbers so far.

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
        self._has_waited = False
        self._phase = ""
        self._metric = parse_metric(_SHOWN)
        self._settings: ScoreSettings | None = None
        self._values: list[float] = []
        self._judged = ""

    def phase(self, message: str) -> None:
        if message == self._phase:  # of variants, one after the other
            return
        self._phase = message
        self._console.print(clean(f"· {message}"), style="dim")
        self._last_line = time.monotonic()

    def progress(self, done: int, total: int) -> None:
        if self._time_for_a_line():
            self._console.print(f"  {done}/{total}", style="dim")

    def waiting(self, message: str) -> None:
        if not self._has_waited or self._time_for_a_line():
            self._has_waited, self._phase = True, ""
            self.phase(message)

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
            TextColumn("{task.fields[errors]}", style=BAD),
            TextColumn("{task.fields[so_far]}"),
            console=self._console,
            transient=True,
        )
        self._bar.add_task("", total=total, completed=done, rate="", errors="", so_far="")
        self._bar.start()

    def measured_with(self, settings: ScoreSettings) -> None:
        self._settings = settings

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
            if self._settings is not None and response.error is None:
                value = self._metric.score(self._settings.sample(question, response)).value
                self._values += [] if value is None else [value]
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
            mean = f"{_SHOWN} {fmean(self._values):.2f} ({len(self._values)})" if self._values else ""
            shown = ", ".join(filter(None, [mean, self._judged]))
            bar.update(bar.task_ids[0], completed=tally.done, rate=tally.rate, errors=tally.failures, so_far=shown)

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
