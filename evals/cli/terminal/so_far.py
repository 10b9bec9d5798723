"""What the answers are worth so far, as progress shows it."""

from evals.metrics.registry import parse_metric
from evals.schemas import EvalQuestion, EvalResponse
from evals.scoring.settings import Cases

_SHOWN = "recall_at_5"


class SoFar:
    """The mean of a metric over the answers that came, and what the judge has cost.

    It is a glance, no result: what the whole run says of matching is not known yet.
    """

    def __init__(self) -> None:
        self._metric = parse_metric(_SHOWN)
        self._cases: Cases | None = None
        self._sum, self._count = 0.0, 0
        self._judged, self._spent_usd = 0, 0.0

    def measure_with(self, cases: Cases) -> None:
        """From here on, answers are measured like this."""
        self._cases = Cases(cases.settings)

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
