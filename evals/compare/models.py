"""Data model of a comparison."""

from typing import Literal

from pydantic import AwareDatetime, computed_field

from evals.schemas.base import Finite, Record
from evals.schemas.results import ParetoPoint
from evals.schemas.run_parts import RunStatus
from evals.scoring.diagnosis.stages import Link

Verdict = Literal["better", "worse", "changed", "equivalent", "identical", "not established", "not compared"]
"""Identical: no question differs. Equivalent: the interval lies within the margin. Not established: the questions
differ, and the evidence is too weak for any of the others. Not compared: nothing was tested, for a reason."""

LatencyVerdict = Literal["slower", "faster", "equal", "undecided"]

Test = Literal["mcnemar", "sign-flip", "bootstrap", "t"]


ANSWER_RATE = "answer_rate"
"""The share of questions that bring an answer, well or badly."""


ABSTENTION_RATE = "abstention_rate"
"""The share of answers that decline to answer."""


ANSWERABLE_ABSTENTION_RATE = "abstention_rate_answerable"
"""The same, of the answers to questions that are known to be answerable."""


CHUNKS_RATE = "chunks_rate"
"""The share of answers that come with a list of chunks, be it empty."""


CITATIONS_RATE = "citations_rate"
"""The same of citations."""


ANSWERING = frozenset({ANSWER_RATE, ABSTENTION_RATE, ANSWERABLE_ABSTENTION_RATE, CHUNKS_RATE, CITATIONS_RATE})
"""What says whether answers come at all."""


class RunHead(Record):
    """Identity of a run in a comparison."""

    id: str
    name: str
    created_at: AwareDatetime
    status: RunStatus
    scored: bool = True
    """False for a run that was never finished: nothing of it is scored."""
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
    at_least: list[bool] = []
    """Whether the value of a run is a lower bound, as requests ran out of time."""


class MetricPair(Record):
    """One metric in the baseline ("first") and in another run ("last"), paired by question."""

    name: str
    group: str
    unit: str
    higher_is_better: bool | None
    n: int
    first: Finite
    last: Finite
    difference: Finite
    """Last minus first."""
    at_least: tuple[bool, bool] = (False, False)
    """Whether the value of either is a lower bound, as requests ran out of time."""
    interval: tuple[Finite, Finite] | None = None
    """Interval of the difference at the confidence 1 - level: it excludes 0 if and only if there is a verdict."""
    p: Finite | None = None
    q: Finite | None = None
    """p adjusted for the other metrics of its family: significant below 0.05."""
    level: Finite | None = None
    """The level at which p was tested."""
    family: str = ""
    """The family that shares 0.05: its group of quality, "answering", "performance", or "primary" alone."""
    primary: bool = False
    """Whether it is the primary metric of its group."""
    test: Test | None = None
    effect_size: Finite | None = None
    """Mean of the differences over their standard deviation; None where they do not vary."""
    smallest_difference: Finite | None = None
    """The smallest detectable difference, with a power of 0.8 at this level."""
    questions_needed: int | None = None
    """The number of questions needed to detect a difference of 0.05 of the metric's range with this power."""
    questions_for_seen: int | None = None
    """The same for a difference as great as that seen, if no verdict is established."""
    margin: Finite | None = None
    """The margin of equivalence: 0.03 of the metric's range; None without a range."""
    ties: int = 0
    """Questions with the same value in both runs."""
    risen: list[str] = []
    """The questions whose value is greater in the other run, by id."""
    fallen: list[str] = []
    """Those whose value is smaller."""
    verdict: Verdict = "not compared"
    """Of the other run against the baseline."""
    reason: str | None = None
    """Why there is no verdict, or cannot be one."""

    @property
    def is_of_quality(self) -> bool:
        """Whether it says how good answers are, or whether they come: not how fast or dear they are."""
        return self.group != "performance" or self.name in ANSWERING

    @property
    def is_regression(self) -> bool:
        """Whether quality, or the share of questions that bring an answer, got worse beyond chance."""
        return self.verdict == "worse" and self.is_of_quality


class VanishedMetric(Record):
    """A metric that has values in the baseline and none in another run, over the questions that the two share."""

    name: str
    group: str
    n: int
    """How many values the baseline has."""
    reason: str
    """Why the other run has none."""

    @property
    def is_regression(self) -> bool:
        """Whether it is of quality."""
        return self.group != "performance"


class QuestionChange(Record):
    """The change of one question from the first run to the last."""

    question_id: str
    question: str
    change: Finite
    """-1 … 1: the mean over the quality groups of how far their metrics moved; more is better."""
    moved: dict[str, tuple[Finite, Finite]] = {}
    """Metrics with their value in the first and in the last run, those that explain the change first."""
    note: str | None = None


class LinkMove(Record):
    """Questions whose first failure changed in the same way; None means that they ended right."""

    first: Link | None
    last: Link | None
    questions: list[str]
    """Their ids, in the order of the first run."""


class ObjectiveTest(Record):
    """One objective between two runs, over the questions that these share."""

    first: str
    last: str
    objective: str
    gain: Finite | None
    """By how much the last run is better, in the metric's unit, or as a share of the range for several metrics."""
    p: Finite | None
    q: Finite | None
    """p after Holm, over all pairs of runs and all objectives."""
    n: int = 0
    """Over how many questions: those with a value in both runs."""
    better: str | None = None
    """The run that is significantly better; None if undecided."""
    reason: str | None = None
    """Why it cannot be decided."""


class Dominance(Record):
    """A run that is significantly better than another on some objective, and significantly worse on none."""

    run: str
    over: str
    better_on: list[str]
    undecided: list[str]
    """The undecided objectives, which count as ties."""


class ParetoReport(Record):
    """The Pareto front of several runs."""

    objectives: dict[str, Literal["higher", "lower"]]
    """The objectives that all runs have, and which way is better."""
    units: dict[str, str]
    fed_by: dict[str, list[str]]
    left_out: dict[str, str] = {}
    points: list[ParetoPoint]
    front: list[str]
    """Ids of the runs that no other run dominates."""
    front_by_values: list[str]
    """The same by the values alone, without tests."""
    dominance: list[Dominance] = []
    tests: list[ObjectiveTest] = []
    """Every objective between every two runs."""
    best: dict[str, list[str]]
    """Ids of the best runs by objective."""
    weights: dict[str, Finite]
    scores: list[Finite | None]
    """Weighted scores over these objectives, in the order of the runs."""
    intervals: list[dict[str, tuple[Finite, Finite]]] = []
    """Of the values by objective, in the order of the runs; one that has none is left out."""


class LatencyRatio(Record):
    """The ratio of a run's latency to the baseline's, over interleaved questions."""

    first_ms: Finite
    """The geometric mean of the baseline's latencies."""
    last_ms: Finite
    ratio: Finite
    """last_ms / first_ms: the geometric mean of the questions' ratios."""
    n: int
    interval: tuple[Finite, Finite] | None
    """Interval of the ratio at the confidence 1 - level: it excludes 1 if and only if p is below the level."""
    p: Finite
    q: Finite
    """p adjusted for the other metrics of latency and cost: significant below 0.05."""
    level: Finite
    margin: Finite
    """Equal is what lies between 1/(1 + margin) and 1 + margin."""
    equivalence_interval: tuple[Finite, Finite] | None
    """Of the ratio, with the confidence of two one-sided tests: equal where it lies within the margin."""
    verdict: LatencyVerdict
    """Verdict on the other run against the baseline; undecided is neither significantly different nor equal."""


class RunComparison(Record):
    """One run against the baseline, over the questions that these two share, whatever other runs asked."""

    baseline: str
    run: str
    common: int
    """Questions that both asked."""
    pairs: list[MetricPair]
    latency: LatencyRatio | None = None
    """Where both were asked in turn."""
    vanished: list[VanishedMetric] = []
    lost: list[QuestionChange] = []
    """Questions that fared worse in the run than in the baseline, the worst first."""
    gained: list[QuestionChange] = []
    moves: list[LinkMove] = []
    """From which broken link to which questions moved, the most frequent first."""

    @property
    def regressions(self) -> list[MetricPair]:
        """The metrics of quality in which the run is worse than the baseline, beyond chance."""
        return [pair for pair in self.pairs if pair.is_regression]


class Comparison(Record):
    """Two or more runs: each against the first, the baseline, and all over the questions that all of them asked."""

    runs: list[RunHead]
    """The baseline first."""
    common: int
    """Questions that all runs asked."""
    warnings: list[str] = []
    differences: list[str] = []
    """What else differs between the runs: models, configuration, seed, versions."""
    metrics: list[MetricRow]
    against: list[RunComparison]
    """Each of the other runs against the baseline."""
    pareto: ParetoReport | None = None
    confidence: Finite = 0.95
    """Of the intervals of the runs' own values: that of the baseline."""
    primary: str | None = None
    """The metric of `--primary`."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def pairs(self) -> list[MetricPair]:
        """The last run against the baseline."""
        return self.against[-1].pairs

    @computed_field  # type: ignore[prop-decorator]
    @property
    def lost(self) -> list[QuestionChange]:
        """Questions that fared worse in the last run than in the baseline, the worst first."""
        return self.against[-1].lost

    @computed_field  # type: ignore[prop-decorator]
    @property
    def gained(self) -> list[QuestionChange]:
        """Questions that fared better in the last run than in the baseline, the best first."""
        return self.against[-1].gained

    @computed_field  # type: ignore[prop-decorator]
    @property
    def moves(self) -> list[LinkMove]:
        """From which broken link to which questions moved in the last run, the most frequent first."""
        return self.against[-1].moves

    @property
    def regressions(self) -> list[MetricPair]:
        """The metrics of quality in which some run is worse than the baseline, beyond chance."""
        return [pair for one in self.against for pair in one.regressions]
