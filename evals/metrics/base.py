"""What a metric is: a pure function of a record, with the facts that a reader needs to understand its number."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from math import isfinite
from typing import Any, ClassVar

from evals.metrics.embedders import Embedder, Semantics
from evals.metrics.judge_tasks import answer_beside_reference, question_and_answer
from evals.metrics.sample import CORRECTNESS, Lack, Sample, why_open
from evals.schemas.base import unchecked
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import EvalResponse, RetrievedChunk
from evals.schemas.results import MetricGroup, MetricResult
from evals.schemas.verdicts import JudgeVerdict, VerdictRequest
from evals.text.matching import MatchSettings


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

    @property
    def short(self) -> str:
        """The need in a word or two, for a column of a table."""
        return self.name.lower().replace("_", " ")


UNITS_OF_TIME = frozenset({"ms", "tokens/s"})
"""Of what a server's speed is measured in, which another hour or another load changes."""


class BaseMetric(ABC):
    """One metric. A subclass sets the class attributes and implements `measure`, or `compute(question, response)`.

    What implements `compute` alone sees neither verdicts nor matches; both are in the case that `measure` is given.
    The class docstring is the reference: formula, conventions, source. `evals metrics NAME` prints it.
    """

    name: str
    """The metric's name in run files, tables and gates; an instance may differ from its class (`recall_at_5`)."""
    group: ClassVar[MetricGroup]
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
    """Whether the value depends on whether the answer declines to answer (`case.abstained`)."""
    of_stream: ClassVar[bool] = False
    """Whether it measures how an answer arrives in pieces: the suite core has it where the profile has `stream`."""
    answerable_only: ClassVar[bool] = False
    """Whether a question that cannot be answered has no value, whatever the answer."""
    _kind: ClassVar[object]
    """The same for all metrics of the same preconditions; None for one that has preconditions of its own."""

    @abstractmethod
    def measure(self, case: Sample) -> MetricResult:
        """Measure one answered question that has what the metric needs.

        Returns `self.result(...)` or `self.undefined(...)`.
        """

    def score(self, case: Sample) -> MetricResult:
        """Measure one question, answered or not: a failure of transport is never a value.

        Nor is it where the value hangs on whether the answer declines, and the judge's word on that is lost.
        """
        lack = self._lack(case)
        if lack is not None:
            return self.undefined(lack.reason, missing=lack.missing)
        if not case.judged and not case.verdicts:
            return self.measure(case)
        if case.abstention_open and self.hangs_on_abstention(case):
            result = self.undefined(why_open(case.verdicts, case.decided_by), missing="judge")
            result = self.judged(result, [case.decided_by])
        else:
            result = self.measure(case)
            result = result if result.judged_by else self.judged(result, self.settling_verdicts(case))
        if case.is_injected(result.judged_by):
            needed = result.judged_by
            result = self.judged(self.undefined(_INJECTED, missing="injection", injection_suspected=True), needed)
        return self.detailed(result, **self.dispute_flag(case))

    def missing_for(self, case: Sample) -> str | None:
        """Why there is no value for the case whatever a judge may say; None where there may be one."""
        lack = self._lack(case)
        return lack and lack.reason

    def _lack(self, case: Sample) -> Lack | None:
        """Why there is nothing to measure; None where there is. All metrics of a kind share what one has found."""
        if self._kind is None:
            return self._lack_of_its_own(case)
        if self._kind not in case.lacks:
            case.lacks[self._kind] = self._lack_of_its_own(case)
        return case.lacks[self._kind]

    def _lack_of_its_own(self, case: Sample) -> Lack | None:
        reason = self.unavailable(case) or self.not_applicable_to(case.question)
        if not reason and case.response.error is not None:
            return Lack(f"no answer: {case.response.error.kind}", "transport")
        reason = reason or self._lacking(case.response) or self._unrecognisable(case)
        return Lack(reason) if reason else None

    def detailed(self, result: MetricResult, **details: Any) -> MetricResult:
        """The same result with more details."""
        return result.model_copy(update={"details": {**result.details, **details}}) if details else result

    def judged(self, result: MetricResult, verdicts: Sequence[str]) -> MetricResult:
        """The same result, which says what verdicts it hangs on."""
        return result.model_copy(update={"judged_by": list(verdicts)}) if verdicts else result

    def settling_verdicts(self, case: Sample) -> list[str]:
        """The verdict on whether the answer declines, where a judge gives it and the value hangs on it; else none."""
        return [case.decided_by] if case.abstention_judged and self.hangs_on_abstention(case) else []

    def requests(self, case: Sample) -> list[VerdictRequest]:
        """What a judge must decide before this metric can be measured.

        For most metrics nothing, or whether the answer declines, where their value hangs on that.
        """
        return [] if self.unavailable(case) or not self._applies(case) else self._whether_it_abstains(case)

    def hangs_on_abstention(self, case: Sample) -> bool:
        """Whether the metric has another value for this case where the answer declines than where it answers."""
        return self.heeds_abstention

    def dispute_flag(self, case: Sample) -> dict[str, Any]:
        """The detail that says that text rules and judge disagree on whether the answer declines; else nothing."""
        disputed = case.abstention_disputed and self.hangs_on_abstention(case)
        return {"abstention_disputed": True} if disputed else {}

    def _applies(self, case: Sample) -> bool:
        """Whether there is an answer, and all that the metric needs apart from a judge."""
        if case.response.error is not None:
            return False
        return not (self.not_applicable_to(case.question) or self._lacking(case.response))

    def _whether_it_abstains(self, case: Sample) -> list[VerdictRequest]:
        """The request that must be decided before all others; nothing where nothing hangs on it."""
        names = self.settling_verdicts(case)
        data = answer_beside_reference(case) if CORRECTNESS in names else question_and_answer(case)
        return [VerdictRequest(name=name, prompt=case.prompt_for(name), data=data) for name in names]

    def texts(self, case: Sample) -> Sequence[str]:
        """What the metric will want embedded, so that a run embeds all of it at once; nothing for most metrics."""
        return ()

    def text_pairs(self, case: Sample) -> Sequence[tuple[str, str]]:
        """The (candidate, reference) pairs that the metric will want scored, for the same purpose."""
        return ()

    def unavailable(self, case: Sample) -> str | None:
        """Why the run has no value of the metric whatever is asked and answered; None where it may have one."""
        return None

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        """Why the metric has no value for the question whatever the answer; None where it may have one."""
        if self.answerable_only and question.is_unanswerable:
            return "the question is unanswerable"
        return next((why for need, is_lacking, why in _LACKING if need in self.needs and is_lacking(question)), None)

    def _lacking(self, response: EvalResponse) -> str | None:
        if self.of_answer and response.answer is None:
            return "the server sent no answer" if response.chunks is None else "this server only retrieves"
        if Need.CHUNKS in self.needs:
            if response.chunks is None:
                unread = response.could_not_read("chunks")
                return "the chunks could not be read" if unread else "the server sent no chunks"
            if response.chunks and not _said(response.chunks):
                return _SAYS_NOTHING
        if Need.CITATIONS in self.needs and response.citations is None:
            return "the server sent no citations"
        return None

    def _unrecognisable(self, case: Sample) -> str | None:
        """Why no chunk can be told to be gold or not: what golds say of themselves, no chunk says as well."""
        chunks = case.response.chunks
        if not chunks or not self.needs >= {Need.GOLD, Need.CHUNKS}:
            return None
        of_gold, of_chunks = _said(case.question.gold_passages), _said(chunks)
        if "text" not in of_gold and case.settings.rule in _RULES_OF_TEXT:
            return f"the gold passages carry no text, which match.rule {case.settings.rule} compares"
        if of_gold & of_chunks:
            return None
        return _SAYS_NOTHING if "text" in of_gold else _NOT_NAMED

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # As `compute(question, response)` is what a metric is to its user, it is enough to implement it.
        if cls.compute is not BaseMetric.compute and getattr(cls.measure, "__isabstractmethod__", False):
            cls.measure = lambda metric, case: metric.compute(case.question, case.response)  # type: ignore[assignment, method-assign]
        own = (cls.not_applicable_to, cls.unavailable) != (BaseMetric.not_applicable_to, BaseMetric.unavailable)
        cls._kind = None if own else (cls.needs, cls.of_answer, cls.answerable_only)

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
        return self.score(Sample(question, response, verdicts or (), settings or MatchSettings()))

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
        number, kind = float(value), self.group
        fields = {"name": self.name, "group": kind, "value": number, "reason": None, "missing": None, "judged_by": []}
        fields["details"] = details
        known = isfinite(number) and type(kind) is MetricGroup
        return unchecked(MetricResult, fields) if known else MetricResult.model_validate(fields)

    def undefined(self, reason: str, *, missing: str = "not_applicable", **details: Any) -> MetricResult:
        """Build a result without a value, and say why."""
        return self.detailed(_without_value(self.name, self.group, reason, missing), **details)


_LACKING: tuple[tuple[Need, Callable[[EvalQuestion], bool], str], ...] = (
    (Need.GOLD, lambda asked: not asked.gold_passages, "the question has no gold passages"),
    (
        Need.EXPECTED_ANSWER,
        lambda asked: asked.expected_answer is None and not asked.is_unanswerable,
        "the question has no expected answer",
    ),
    (Need.RUBRIC, lambda asked: not asked.rubric, "the question has no rubric"),
    (
        Need.ANSWERABILITY,
        lambda asked: asked.is_unanswerable is None,
        "the dataset does not say whether the question is answerable",
    ),
)
"""What a question may lack: by need, when it does, and the reason."""

_INJECTED = "the judge flags the data: it holds text that tells it what to decide"

_SAYS_NOTHING = "the chunks carry neither text nor a name (is the mapping right?)"

_RULES_OF_TEXT = frozenset({"text", "inside", "overlap"})

_NOT_NAMED = "gold is known by an id alone, and the chunks carry no such id (is the mapping right?)"


def _said(passages: Sequence[GoldPassage] | Sequence[RetrievedChunk]) -> set[str]:
    """What the passages are known by: text, chunk_id, document_id."""
    known = {name for name in ("text", "chunk_id", "document_id") if any(getattr(each, name) for each in passages)}
    named = any(getattr(each, "document_name", None) for each in passages)
    return known | {"document_id"} if named else known


@lru_cache(maxsize=1024)
def _without_value(name: str, group: MetricGroup, reason: str, missing: str) -> MetricResult:
    """A result without a value; most questions of a run share a few of them."""
    return MetricResult.model_validate({"name": name, "group": group, "reason": reason, "missing": missing})


_DIGITS = 9
"""Of a cut-off rank: Python reads no number of any length."""


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
        family, _, k = name.rpartition("_")
        if family != cls.family or not (k.isascii() and k.isdigit()) or k.startswith("0") or len(k) > _DIGITS:
            return None
        return cls(int(k))

    @classmethod
    def pattern(cls) -> str:
        """The family's name with K for the number."""
        return f"{cls.family}_K"


# What an abstention is worth to metrics of the answer: the same in all of them.


def settled_by_abstention(metric: BaseMetric, case: Sample, **details: Any) -> MetricResult | None:
    """The result that follows from whether the question is answerable and whether the answer abstains.

    An abstention on an answerable question is worth 0, else abstaining would raise the mean; so is an answer to an
    unanswerable one. A right abstention has no value.

    Args:
        metric: Of which the result is.
        case: The record.
        details: To stand in a result of 0.

    Returns:
        None where the answer has to be looked at.
    """
    if case.question.is_unanswerable:
        if case.abstained:
            return metric.undefined("the question is unanswerable and the answer abstains")
        return metric.result(0.0, verdict="answered an unanswerable question", **details)
    return metric.result(0.0, verdict="abstained on an answerable question", **details) if case.abstained else None


def settled_relevance(metric: BaseMetric, case: Sample) -> MetricResult | None:
    """The relevance that follows from an abstention: 0 on a question that can be answered, no value elsewhere.

    Returns:
        None where the answer does not abstain.
    """
    if not case.abstained:
        return None
    if known_answerable(case.question):
        return metric.result(0.0, verdict="abstained on an answerable question")
    return metric.undefined("the answer abstains, and the question is not known to be answerable")


def known_answerable(question: EvalQuestion) -> bool:
    """Whether the dataset says, or its gold shows, that the question can be answered."""
    if question.is_unanswerable is None:
        return bool(question.expected_answer or question.gold_passages)
    return not question.is_unanswerable


# What the metrics share that compare texts by a model which runs here.


EMBEDDING_NOT_FINITE = "the embedder gave numbers that are not finite"
"""Why a metric of embeddings has no value where it cannot be computed from them."""


class Comparing:
    """A metric that compares texts with the models of the run, else with its own."""

    semantics: Semantics | None
    """Used by `compute`; a run brings its own."""

    def semantics_for(self, case: Sample) -> Semantics | None:
        """What the texts of this case are compared with; None where nothing was loaded."""
        return case.semantics or self.semantics

    def embedder(self, case: Sample) -> Embedder | None:
        """What turns texts into vectors; None where it is not there."""
        semantics = self.semantics_for(case)
        return semantics.embedder if semantics else None
