"""How a running evaluation is watched: by a progress bar, a notebook or nobody."""

from evals.run.estimate import Estimate
from evals.schemas import EvalQuestion, EvalResponse
from evals.scoring.settings import Cases


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

    def measured_with(self, cases: Cases) -> None:
        """How the answers to come will be measured."""

    def answered(self, question: EvalQuestion, response: EvalResponse) -> None:
        """An exchange ended, with an answer or without."""

    def judged(self, done: int, spent_usd: float) -> None:
        """The judge is through with the answers to so many questions, and has cost so much."""

    def end(self) -> None:
        """Asking and judging have ended."""

    def note(self, message: str) -> None:
        """Something that a reader of the numbers must know."""


class Remarks:
    """What a reader of the numbers must know, told to whoever watches and kept for the run.

    Args:
        observer: Hears of each.
    """

    def __init__(self, observer: Observer) -> None:
        self.made: list[str] = []
        self._observer = observer

    def add(self, message: str) -> None:
        """Tell and keep a remark."""
        self.made.append(message)
        self._observer.note(message)
