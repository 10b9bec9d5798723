"""What a comparison of runs says: plain records that terminal, page, Markdown and JSON render."""

from typing import Literal

from pydantic import AwareDatetime

from evals.schemas.base import Finite, Record
from evals.schemas.results import ParetoPoint, RunStatus
from evals.scoring.outcomes import Outcome

Verdict = Literal["better", "worse", "changed", "identical", "not established", "not compared", "no verdict"]
"""Changed: it differs, and neither direction is better. Identical: no question differs. Not established: the evidence
is too weak. Not compared: the runs measured it by different means. No verdict: it feeds no objective, so it is not
tested."""

Direction = Literal["higher", "lower"]
SCORE = "score"
"""The name of the weighted score among the metrics."""

ANSWER_RATE = "answer_rate"
"""The share of questions that bring an answer."""

MAIN = (
    "recall_at_5",
    "answer_correctness",
    "faithfulness",
    "citation_recall",
    "unanswerable_accuracy",
    "unsupported_numbers",
    "declined_rate",
    ANSWER_RATE,
    "latency_p50",
    "cost_per_query",
)
"""The metrics that a comparison always shows, in this order, where the runs have them."""


class RunHead(Record):
    """Identity of a run in a comparison."""

    id: str
    name: str
    created_at: AwareDatetime
    status: RunStatus
    scored: bool = True
    """False for a run that was never finished."""
    url: str
    datasets: list[str]
    question_count: int
    error_count: int
    concurrency: int
    judge: str | None
    coverage: Finite = 1.0
    """The share of the configured weight that its score measures, from 0 to 1."""


class MetricPair(Record):
    """A metric, or the weighted score, in the baseline ("first") and in another run ("last"), paired by question."""

    name: str
    group: str
    unit: str
    higher_is_better: bool | None
    n: int
    """Questions with a value in both runs."""
    first: Finite
    last: Finite
    difference: Finite
    """Last minus first."""
    at_least: tuple[bool, bool] = (False, False)
    """Whether the value of either is a lower bound, because requests timed out."""
    interval: tuple[Finite, Finite] | None = None
    """Of the difference, at the confidence 1 - level."""
    p: Finite | None = None
    """Two-sided; None where fewer than six questions differ."""
    q: Finite | None = None
    """p adjusted for the other metrics by Holm's procedure: a verdict where it is below 0.05."""
    level: Finite = 0.05
    test: Literal["mcnemar", "t", "jackknife", "independent"] | None = None
    primary: bool = False
    """Whether it is tested at the full level: the weighted score, and the metric of `--primary`."""
    differing: int = 0
    """Questions whose values differ."""
    risen: list[str] = []
    """The questions whose value is greater in the other run, by id."""
    fallen: list[str] = []
    questions_needed: int | None = None
    """About how many questions would establish a difference of this size."""
    verdict: Verdict = "no verdict"
    reason: str | None = None
    """Why there is no verdict."""

    @property
    def is_of_quality(self) -> bool:
        """Whether it says how good answers are, or whether they come: not how fast or dear they are."""
        return self.group != "performance" or self.name == ANSWER_RATE

    @property
    def is_regression(self) -> bool:
        """Whether quality, or the share of questions that bring an answer, is worse beyond chance."""
        return self.verdict == "worse" and self.is_of_quality

    @property
    def gain(self) -> float:
        """By how much the other run is better; negative where it is worse."""
        return -self.difference if self.higher_is_better is False else self.difference


class VanishedMetric(Record):
    """A metric that has values in the baseline and none in the other run."""

    name: str
    group: str
    n: int
    reason: str

    @property
    def is_regression(self) -> bool:
        """Whether it is of quality."""
        return self.group != "performance"


class QuestionChange(Record):
    """The change of one question from the baseline to the other run."""

    question_id: str
    question: str
    change: Finite
    """-1 to 1: the mean, over the quality metrics of the score, of how far it moved; more is better."""
    moved: dict[str, tuple[Finite, Finite]] = {}
    """Metrics with their value before and after, the greatest change first."""
    outcomes: tuple[Outcome, Outcome]


class OutcomeMove(Record):
    """Questions whose outcome changed in the same way."""

    first: Outcome
    last: Outcome
    questions: list[str]


class RunComparison(Record):
    """One run against the baseline, over the questions that both asked; of two logs, each over its own."""

    baseline: str
    run: str
    common: int
    score: MetricPair | None = None
    """The weighted scores over the common questions; None where they measure different objectives."""
    score_reason: str | None = None
    """Why there is none."""
    pairs: list[MetricPair]
    vanished: list[VanishedMetric] = []
    lost: list[QuestionChange] = []
    """Questions that fared worse, the worst first."""
    gained: list[QuestionChange] = []
    moves: list[OutcomeMove] = []

    def pair(self, name: str) -> MetricPair | None:
        """The metric of this name; "score" is the weighted score."""
        if name == SCORE:
            return self.score
        return next((pair for pair in self.pairs if pair.name == name), None)

    @property
    def regressions(self) -> list[MetricPair]:
        """What is worse than in the baseline, beyond chance."""
        pairs = [*([self.score] if self.score else []), *self.pairs]
        return [pair for pair in pairs if pair.is_regression]


class ObjectiveDifference(Record):
    """One objective between two runs, over their common questions."""

    first: str
    last: str
    objective: str
    gain: Finite
    """By how much the last run is better, on the scale from 0 to 1."""
    p: Finite | None
    q: Finite | None
    """p after Holm, over the objectives of these two runs."""
    n: int
    better: str | None = None
    """The run that is better beyond chance; None where that is not established."""


class ParetoFront(Record):
    """The Pareto front of several runs: those that no other run dominates by its values."""

    objectives: dict[str, Direction]
    """The objectives that all runs have, and which direction is better."""
    units: dict[str, str]
    fed_by: dict[str, list[str]]
    left_out: dict[str, str] = {}
    points: list[ParetoPoint]
    front: list[str]
    """Ids of the runs that no other run dominates."""
    differences: list[ObjectiveDifference] = []
    """Each objective between every two runs: which differences are beyond chance."""
    best: dict[str, list[str]]
    """Ids of the best runs by objective."""


class Comparison(Record):
    """Two or more runs: each against the first, the baseline."""

    runs: list[RunHead]
    """The baseline first."""
    common: int
    """Questions that all runs asked."""
    warnings: list[str] = []
    differences: list[str] = []
    """What else differs between the runs: models, configuration, seed, versions."""
    against: list[RunComparison]
    pareto: ParetoFront | None = None
    confidence: Finite = 0.95
    primary: str | None = None
    """The metric of `--primary`."""

    @property
    def regressions(self) -> list[MetricPair]:
        """What is worse in some run than in the baseline, beyond chance."""
        return [pair for one in self.against for pair in one.regressions]
