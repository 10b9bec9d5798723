"""What a comparison says."""

from typing import Literal

from pydantic import AwareDatetime

from evals.schemas import ParetoPoint
from evals.schemas.base import Finite, Record
from evals.schemas.results import RunStatus
from evals.scoring.diagnosis import Link

Verdict = Literal["better", "worse", "changed", "no difference seen", "not compared"]
Test = Literal["mcnemar", "t", "bootstrap"]

ANSWER_RATE = "answer_rate"
"""The share of questions that bring an answer, well or badly."""


class RunHead(Record):
    """Which run it is."""

    id: str
    name: str
    created_at: AwareDatetime
    status: RunStatus
    url: str
    datasets: list[str]
    question_count: int
    error_count: int
    concurrency: int
    judge: str | None


class MetricRow(Record):
    """One metric over all runs that have it, on the questions for which all of these have a value."""

    name: str
    group: str
    unit: str
    higher_is_better: bool | None
    n: int
    values: list[Finite | None]
    """In the order of the runs; None for a run that does not have the metric."""
    intervals: list[tuple[Finite, Finite] | None]
    reason: str | None = None
    """Why it is not compared over all runs."""


class MetricPair(Record):
    """One metric in the first and the last run, paired by question."""

    name: str
    group: str
    unit: str
    higher_is_better: bool | None
    n: int
    first: Finite
    last: Finite
    difference: Finite
    """Last minus first."""
    interval: tuple[Finite, Finite] | None = None
    """Of the difference, with the comparison's confidence."""
    p: Finite | None = None
    q: Finite | None = None
    """p after Benjamini and Hochberg, over the metrics of this comparison."""
    test: Test | None = None
    verdict: Verdict = "not compared"
    """Of the last run against the first."""
    reason: str | None = None
    """Why there is no verdict."""

    @property
    def is_regression(self) -> bool:
        """Whether quality, or the share of questions that bring an answer, got worse beyond chance."""
        return self.verdict == "worse" and (self.group != "performance" or self.name == ANSWER_RATE)


class QuestionChange(Record):
    """How one question fared in the last run against the first."""

    question_id: str
    question: str
    change: Finite
    """-1 … 1: the mean over the quality groups of how far their metrics moved; more is better."""
    moved: dict[str, tuple[Finite, Finite]] = {}
    """Metrics with their value in the first and in the last run, those that explain the change first."""
    note: str | None = None


class LinkMove(Record):
    """Questions whose first broken link changed in one way; None is that they ended right."""

    first: Link | None
    last: Link | None
    questions: list[str]
    """Their ids, in the order of the first run."""


class ParetoReport(Record):
    """Which runs no other run beats on everything."""

    objectives: dict[str, Literal["higher", "lower"]]
    """The objectives that all runs have, and which way is better."""
    units: dict[str, str]
    fed_by: dict[str, list[str]]
    left_out: dict[str, str] = {}
    points: list[ParetoPoint]
    front: list[str]
    """Ids of the runs that no other run dominates."""
    best: dict[str, list[str]]
    """Ids of the best runs by objective."""
    weights: dict[str, Finite]
    scores: list[Finite | None]
    """Weighted scores over these objectives, in the order of the runs."""


class Comparison(Record):
    """Two or more runs over the questions that all of them asked."""

    runs: list[RunHead]
    common: int
    """Questions that all runs asked."""
    warnings: list[str] = []
    metrics: list[MetricRow]
    pairs: list[MetricPair]
    """The last run against the first."""
    lost: list[QuestionChange] = []
    """Questions that fared worse in the last run than in the first, the worst first."""
    gained: list[QuestionChange] = []
    moves: list[LinkMove] = []
    """From which broken link to which questions moved, the most frequent first."""
    pareto: ParetoReport | None = None
    confidence: Finite = 0.95
    """Of all intervals: that of the first run."""

    @property
    def regressions(self) -> list[MetricPair]:
        """The metrics of quality in which the last run is worse than the first, beyond chance."""
        return [pair for pair in self.pairs if pair.is_regression]
