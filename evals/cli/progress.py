"""The progress of a run on stderr: a bar with the numbers so far on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evals.cli.terminal import BAD, DOUBTFUL, clean, console
from evals.metrics.registry import parse_metric
from evals.report.wording import number, one_line
from evals.run.estimate import Estimate
from evals.run.notebook import Observer, Tally
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.scoring.settings import ScoringContext
from evals.text.numbers import counted

# What the answers are worth so far, as progress shows it.


_SHOWN = "recall_at_5"


class SoFar:
    """The mean of a metric over the answers that came, and what the judge has cost.

    It is a glance, no result: what the whole run says of matching is not known yet.
    """

    def __init__(self) -> None:
        self._metric = parse_metric(_SHOWN)
        self._cases: ScoringContext | None = None
        self._sum, self._count = 0.0, 0
        self._judged, self._spent_usd = 0, 0.0

    def measure_with(self, cases: ScoringContext) -> None:
        """From here on, answers are measured like this."""
        self._cases = ScoringContext(cases.settings)

    def add(self, question: EvalQuestion, response: EvalResponse) -> None:
        """An exchange ended; one without an answer, or to a question without gold, has no value."""
        if self._cases is None or response.error is not None:
            return
        score = self._metric.score(self._cases.about(question, response))
        if score.value is not None:
            self._sum += score.value
            self._count += 1

    def judge(self, done: int, spent_usd: float) -> None:
        """The judge is so far."""
        self._judged, self._spent_usd = done, spent_usd

    def __str__(self) -> str:
        facts = [f"{_SHOWN} {self._sum / self._count:.2f} ({self._count})"] if self._count else []
        facts += [f"{self._judged} judged"] if self._judged else []
        facts += [f"${self._spent_usd:.2f}"] if self._spent_usd else []
        return ", ".join(facts)


# The progress of a run on stderr: a bar with the numbers so far on a terminal, a line now and then elsewhere.


_LINE_EVERY_S = 10.0

_LINE, _NAME = 100, 40


class Quiet(Observer):
    """Shows what a reader of the numbers must know, and nothing of the progress."""

    def __init__(self) -> None:
        self._console = console(sys.stderr)

    def note(self, message: str) -> None:
        self._console.print(clean(f"! {message}"), style=DOUBTFUL)


class Terminal(Quiet):
    """Shows a bar with rate, time left, errors, and the numbers so far.

    Args:
        each: Whether every answer has a line of its own.
    """

    def __init__(self, *, each: bool = False) -> None:
        super().__init__()
        self._live = sys.stderr.isatty()
        self._each = each
        self._so_far = SoFar()
        self._bar: Progress | None = None
        self._tally: Tally | None = None
        self._last_line = 0.0
        self._has_waited = False

    def phase(self, message: str) -> None:
        self._console.print(clean(f"· {message}"), style="dim")
        self._last_line = time.monotonic()

    def progress(self, done: int, total: int) -> None:
        if done == total or self._time_for_a_line():
            self._console.print(f"  {done}/{total}", style="dim")

    def waiting(self, message: str) -> None:
        if not self._has_waited or self._time_for_a_line():
            self._has_waited = True
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

    def measured_with(self, cases: ScoringContext) -> None:
        self._so_far.measure_with(cases)

    def judged(self, done: int, spent_usd: float) -> None:
        self._so_far.judge(done, spent_usd)
        self._update()

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        tally = self._tally
        if tally is None:
            return
        tally.add(response)
        if self._each:
            self._console.print(clean(line_of(question, response)), style=BAD if response.error else None)
        if self._bar is not None:
            self._so_far.add(question, response)
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
            facts: dict[str, Any] = {"rate": tally.rate, "errors": tally.failures, "so_far": str(self._so_far)}
            bar.update(bar.task_ids[0], completed=tally.done, **facts)

    def _time_for_a_line(self) -> bool:
        if time.monotonic() - self._last_line < _LINE_EVERY_S:
            return False
        self._last_line = time.monotonic()
        return True


def line_of(question: EvalQuestion, response: EvalResponse) -> str:
    """What came of a question, in a line: its id, how long it took, and the answer or what went wrong."""
    tried = f", {counted(response.attempts, 'attempt')}" if response.attempts > 1 else ""
    took = f"{number(response.latency_ms, 'ms')}{tried}"
    said = one_line(response.answer or "", _LINE) if response.error is None else one_line(response.error.message, _LINE)
    return f"  {one_line(question.id, _NAME)}  {took}  {said}"
