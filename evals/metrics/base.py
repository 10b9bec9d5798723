"""What a metric is: a pure function of a record, with the facts that a reader needs to understand its number."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from math import isfinite
from typing import Any, ClassVar

from evals.metrics.embedders import Semantics
from evals.metrics.judge_tasks import DECIDING_TASKS
from evals.metrics.sample import Lack, Sample
from evals.schemas.base import unchecked
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import MetricGroup, MetricResult
from evals.schemas.verdicts import JudgeVerdict, VerdictRequest
from evals.text.matching import OF_TEXT, MatchSettings


class Aggregation(StrEnum):
    """How the values of the questions become one value of the run."""

    MEAN = "mean"
    RATE = "rate"
    """A mean of zeros and ones."""
    PERCENTILE = "percentile"
    SUM = "sum"


class Need(StrEnum):
    """What a metric needs in order to have a value."""

    GOLD = "gold passages"
    EXPECTED_ANSWER = "an expected answer"
    ANSWERABILITY = "a dataset that says whether a question is answerable"
    CHUNKS = "retrieved chunks"
    CITATIONS = "citations"
    SECTIONS = "sections"
    USAGE = "token usage and prices"
    JUDGE = "a judge"
    RUBRIC = "a rubric of the question"
    KEY_SENTENCES = "key sentences"
    EMBEDDER = "an embedder (extra semantic)"
    TEXT_SCORER = "BERTScore (extra semantic)"


UNITS_OF_TIME = frozenset({"ms", "tokens/s"})
"""Of what a server's speed is measured in, which another hour or another load changes."""


class BaseMetric(ABC):
    """One metric. A subclass sets the class attributes and implements `measure`, or `compute(question, response)`.

    What implements `compute` alone sees neither verdicts nor matches; both are in the sample that `measure` is given.
    The class docstring is the reference: formula, conventions, source. `evals metrics NAME` prints it.
    """

    name: str
    """The metric's name in run files, tables and gates; an instance may differ from its class (`recall_at_5`)."""
    group: ClassVar[MetricGroup] = MetricGroup.GENERATION
    """The heading under which the scorecard lists it."""
    suites: ClassVar[frozenset[str]] = frozenset()
    """Whose metric it is; one of none is computed where it is named. A metric of others in `core` is in every run."""
    unit: ClassVar[str] = "ratio"
    low: ClassVar[float | None] = 0.0
    """The least possible value; None where there is none."""
    high: ClassVar[float | None] = 1.0
    higher_is_better: ClassVar[bool | None] = True
    aggregation: ClassVar[Aggregation] = Aggregation.MEAN
    percentile: ClassVar[float | None] = None
    needs: ClassVar[frozenset[Need]] = frozenset()
    judge_calls: ClassVar[int] = 0
    """Judge calls for one question."""
    of_answer: ClassVar[bool] = False
    """Whether there is nothing to measure where the server sent no answer."""
    heeds_abstention: ClassVar[bool] = False
    """Whether the value depends on whether the answer declines to answer (`sample.abstained`)."""
    of_stream: ClassVar[bool] = False
    """Whether it measures how an answer arrives in pieces: the suite core has it where the profile has `stream`."""
    answerable_only: ClassVar[bool] = False
    """Whether a question that cannot be answered has no value, whatever the answer."""
    semantics: Semantics | None = None
    """What texts are compared with where the sample brings nothing for that."""

    @abstractmethod
    def measure(self, sample: Sample) -> MetricResult:
        """Measure one question to which the metric applies: all that it needs is there.

        Returns `self.result(...)` or `self.undefined(...)`.
        """

    def applies(self, sample: Sample) -> Lack | None:
        """Why there is no value whatever a judge may say; None where there may be one.

        All metrics with the same preconditions share what is found out for the first.
        """
        has_own = type(self).not_applicable_to is not BaseMetric.not_applicable_to
        conditions = self.name if has_own else (self.needs, self.of_answer, self.answerable_only)
        key = (conditions, bool(sample.judged or sample.verdicts))
        if key not in sample.derived:
            sample.derived[key] = self._lack(sample)
        lack: Lack | None = sample.derived[key]
        return lack

    def _lack(self, sample: Sample) -> Lack | None:
        unjudged = Need.JUDGE in self.needs and not (sample.judged or sample.verdicts)
        reason = "no judge was used" if unjudged else self.not_applicable_to(sample.question)
        if not reason and sample.response.error is not None:
            return Lack(f"no answer: {sample.response.error.kind}", "transport")
        reason = reason or _lacking(self, sample)
        return Lack(reason) if reason else None

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        """Why the metric has no value for the question whatever the answer; None where it may have one."""
        needs, unanswerable = self.needs, question.is_unanswerable
        if self.answerable_only and unanswerable:
            return "the question is unanswerable"
        if Need.GOLD in needs and not question.gold_passages:
            return "the question has no gold passages"
        if Need.EXPECTED_ANSWER in needs and question.expected_answer is None and not unanswerable:
            return "the question has no expected answer"
        if Need.RUBRIC in needs and not question.rubric:
            return "the question has no rubric"
        if Need.ANSWERABILITY in needs and unanswerable is None:
            return "the dataset does not say whether the question is answerable"
        return None

    def hangs_on_abstention(self, sample: Sample) -> bool:
        """Whether the metric has another value for this sample where the answer declines than where it answers."""
        return self.heeds_abstention

    def requests(self, sample: Sample) -> list[VerdictRequest]:
        """What a judge must decide before this metric can be measured.

        For most metrics nothing, or whether the answer declines, where their value hangs on that.
        """
        if self.applies(sample) is not None or not sample.decision.by_judge or not self.hangs_on_abstention(sample):
            return []
        return DECIDING_TASKS[sample.decision.inquiry].requests(sample)

    def score(self, sample: Sample) -> MetricResult:
        """Measure one question, answered or not: a failure of transport is never a value.

        Nor is it where the value hangs on a verdict that is lost, or flagged by the judge.
        """
        if (lack := self.applies(sample)) is not None:
            return self.undefined(lack.reason, missing=lack.missing)
        if not sample.judged and not sample.verdicts:
            return self.measure(sample)
        decision, hangs = sample.decision, self.hangs_on_abstention(sample)
        lost = decision.lost if hangs else None
        result = self.undefined(lost.reason, missing=lost.missing) if lost else self.measure(sample)
        judged_by = result.judged_by or ([decision.inquiry] if hangs and decision.by_judge else [])
        if sample.is_injected(judged_by):
            result = self.undefined(_INJECTED, missing="injection", injection_suspected=True)
        disputed = {"abstention_disputed": True} if hangs and decision.is_disputed else {}
        return self.with_verdicts(result, judged_by, **disputed)

    @staticmethod
    def with_verdicts(result: MetricResult, judged_by: Sequence[str], **details: Any) -> MetricResult:
        """The same result, which says what verdicts it hangs on, with more details."""
        if not details and list(judged_by) == result.judged_by:
            return result
        return result.model_copy(update={"judged_by": list(judged_by), "details": {**result.details, **details}})

    def compares_by(self, sample: Sample) -> Semantics:
        """The models that compare the texts of a sample: those of the run, else the metric's own."""
        return sample.semantics or self.semantics or Semantics()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # As `compute(question, response)` is what a metric is to its user, it is enough to implement it.
        if cls.compute is not BaseMetric.compute and getattr(cls.measure, "__isabstractmethod__", False):
            cls.measure = lambda metric, case: metric.compute(case.question, case.response)  # type: ignore[assignment, method-assign]

    def compute(
        self,
        question: EvalQuestion,
        response: EvalResponse,
        verdicts: Sequence[JudgeVerdict] | None = None,
        *,
        settings: MatchSettings | None = None,
    ) -> MetricResult:
        """Measure one question.

        Args:
            question: The question with its gold.
            response: What the server said.
            verdicts: What a judge said about it, for metrics that need a judge.
            settings: How chunks are recognised as gold; the defaults where None.
        """
        sample = Sample(question, response, verdicts or (), settings or MatchSettings())
        return self.score(self.judged_alone(sample, asks=verdicts is None))

    def judged_alone(self, sample: Sample, *, asks: bool) -> Sample:
        """A sample of `compute` with the verdicts of the metric's own judge, where it has one and `asks` for them."""
        return sample

    def compute_batch(
        self, pairs: Iterable[tuple[EvalQuestion, EvalResponse]], *, settings: MatchSettings | None = None
    ) -> list[MetricResult]:
        """Measure many questions, in their order."""
        more = {"settings": settings} if settings else {}  # a `compute(question, response)` need not know them
        return [self.compute(question, response, **more) for question, response in pairs]  # type: ignore[arg-type]

    @property
    def worst(self) -> float | None:
        """The worst possible value; None where a bound is missing, or no direction is the better one."""
        return self._bound(best=False)

    @property
    def best(self) -> float | None:
        """The best possible value; None where a bound is missing, or no direction is the better one."""
        return self._bound(best=True)

    def _bound(self, *, best: bool) -> float | None:
        if self.low is None or self.high is None or self.higher_is_better is None:
            return None
        return self.high if self.higher_is_better is best else self.low

    @classmethod
    def defaults(cls) -> list["BaseMetric"]:
        """The instances that a suite with this metric computes."""
        return [cls()]

    @classmethod
    def from_name(cls, name: str) -> "BaseMetric | None":
        """The instance that the name stands for, or None where it names another metric."""
        return cls() if name == cls.name else None

    @classmethod
    def pattern(cls) -> str:
        """How its names look: `mrr`, `recall_at_K`."""
        return cls.name

    def result(self, value: float, **details: Any) -> MetricResult:
        """Build a result with a value."""
        number, group = float(value), self.group
        fields = {"name": self.name, "group": group, "value": number, "reason": None, "missing": None, "judged_by": []}
        fields["details"] = details
        known = isfinite(number) and type(group) is MetricGroup
        return unchecked(MetricResult, fields) if known else MetricResult.model_validate(fields)

    def undefined(self, reason: str, *, missing: str = "not_applicable", **details: Any) -> MetricResult:
        """Build a result without a value, and say why."""
        return self.with_verdicts(_without_value(self.name, self.group, reason, missing), (), **details)


_INJECTED = "the judge flags the data: it holds text that tells it what to decide"
_SAYS_NOTHING = "the chunks carry neither text nor a name (is the mapping right?)"


UNSENT = ("the server sent no ", "this server only retrieves")
"""How reasons begin that hold for a server whatever it is asked."""


def _lacking(metric: BaseMetric, sample: Sample) -> str | None:
    """What of the response the metric lacks; None where nothing."""
    response, needs = sample.response, metric.needs
    chunks = response.chunks
    if metric.of_answer and response.answer is None:
        return "the server sent no answer" if chunks is None else "this server only retrieves"
    if Need.CHUNKS in needs:
        if chunks is None:
            unread = response.could_not_read("chunks")
            return "the chunks could not be read" if unread else "the server sent no chunks"
        if chunks and not sample.chunks_tell:
            return _SAYS_NOTHING
    if Need.CITATIONS in needs and response.citations is None:
        return "the server sent no citations"
    if not chunks or not needs >= {Need.GOLD, Need.CHUNKS}:
        return None
    # No chunk can be told to be gold or not where it says nothing of what golds say of themselves.
    has_texts, rule = "text" in sample.golds_tell, sample.settings.rule
    if not has_texts and rule in OF_TEXT:
        return f"the gold passages carry no text, which match.rule {rule} compares"
    if sample.golds_tell & sample.chunks_tell:
        return None
    if has_texts:
        return _SAYS_NOTHING
    return "gold is known by an id alone, and the chunks carry no such id (is the mapping right?)"


@lru_cache(maxsize=1024)
def _without_value(name: str, group: MetricGroup, reason: str, missing: str) -> MetricResult:
    """A result without a value; most questions of a run share a few of them."""
    return MetricResult.model_validate({"name": name, "group": group, "reason": reason, "missing": missing})


class AtK(BaseMetric):
    """A metric with a cut-off rank: any positive K works by name, `default_ks` are those of the suite."""

    family: ClassVar[str]
    default_ks: ClassVar[tuple[int, ...]]

    def __init__(self, k: int) -> None:
        if k < 1:
            raise ValueError(f"{self.family}: k must be at least 1, not {k}")
        self.k = k
        self.name = f"{self.family}_{k}"

    @classmethod
    def defaults(cls) -> list[BaseMetric]:
        """One instance for each default cut-off."""
        return [cls(k) for k in cls.default_ks]

    @classmethod
    def from_name(cls, name: str) -> BaseMetric | None:
        """The instance for a name such as `recall_at_20`."""
        rank = re.fullmatch(rf"{cls.family}_([1-9][0-9]{{0,8}})", name)
        return cls(int(rank[1])) if rank else None

    @classmethod
    def pattern(cls) -> str:
        """The family's name with K for the number."""
        return f"{cls.family}_K"


# What an abstention is worth to metrics of the answer: the same in all of them.


def settled_by_abstention(metric: BaseMetric, sample: Sample, **details: Any) -> MetricResult | None:
    """The result that follows from whether the question is answerable and whether the answer abstains.

    An abstention on an answerable question is worth 0, else abstaining would raise the mean; so is an answer to an
    unanswerable one. A right abstention has no value.

    Args:
        metric: Of which the result is.
        sample: The record.
        details: To stand in a result of 0.

    Returns:
        None where the answer has to be looked at.
    """
    if sample.question.is_unanswerable:
        if sample.abstained:
            return metric.undefined("the question is unanswerable and the answer abstains")
        return metric.result(0.0, verdict="answered an unanswerable question", **details)
    return metric.result(0.0, verdict="abstained on an answerable question", **details) if sample.abstained else None


def settled_relevance(metric: BaseMetric, sample: Sample) -> MetricResult | None:
    """The relevance that follows from an abstention: 0 on a question that can be answered, no value elsewhere.

    Returns:
        None where the answer does not abstain.
    """
    if not sample.abstained:
        return None
    if known_answerable(sample.question):
        return metric.result(0.0, verdict="abstained on an answerable question")
    return metric.undefined("the answer abstains, and the question is not known to be answerable")


def known_answerable(question: EvalQuestion) -> bool:
    """Whether the dataset says, or its gold shows, that the question can be answered."""
    if question.is_unanswerable is None:
        return bool(question.expected_answer or question.gold_passages)
    return not question.is_unanswerable
