"""Answers without a reference, as users of a running server get them: measured by answer and chunks alone."""

import re
from abc import abstractmethod
from typing import ClassVar

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.judge_tasks import JudgeTask, showing
from evals.metrics.judged import LabelledMetric
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.numbers import language_of, numbers
from evals.text.quotes import is_evidence, is_quoted

_WITHOUT_TEXT = "some chunks carry no text"
_LISTED = 10
"""Items that the details name."""
_LIST_NUMBER = re.compile(r"^\s*\d{1,2}[.)]\s", re.MULTILINE)
_QUOTATION = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|„([^“”\n]+)[“”]|‘([^’\n]+)’(?!\w)")


class ContextSufficiency(LabelledMetric):
    """Whether the retrieved chunks together are enough to answer the question.

    Formula: sufficient 1, insufficient 0; sufficient only with a quotation that stands in a chunk. Range 0 to 1, higher
    is better. 0 where the server retrieved nothing. None where it does not say what it retrieved, or a chunk carries no
    text. Together with `declined_rate` it tells answers without a ground from gaps of the documents.
    Reference: Joren et al. 2025 (Sufficient Context); the label is ours.
    """

    name = "context_sufficiency"
    group = MetricGroup.RETRIEVAL
    suites: ClassVar[frozenset[str]] = frozenset({"production"})
    aggregation = Aggregation.RATE
    needs = frozenset({Need.JUDGE, Need.CHUNKS})
    of_answer = False
    inquiries = (JudgeTask("context_sufficiency", "context_sufficiency", showing("contexts", "question")),)
    scale: ClassVar = {"sufficient": 1.0, "insufficient": 0.0}

    def settled(self, sample: Sample) -> MetricResult | None:
        if not sample.response.chunks:
            return self.result(0.0, edge="no contexts")
        return self.undefined(_WITHOUT_TEXT) if len(sample.passages) < len(sample.response.chunks) else None


class _Unsupported(BaseMetric):
    """A share of items of the answer that no chunk holds."""

    suites: ClassVar[frozenset[str]] = frozenset({"production"})
    higher_is_better = False
    needs = frozenset({Need.CHUNKS})
    of_answer = True
    heeds_abstention = True
    items: ClassVar[str]
    """What they are, for reasons: "numbers"."""

    def measure(self, sample: Sample) -> MetricResult:
        if sample.abstained:
            return self.undefined("the answer abstains")
        texts = [text for _, text in sample.passages]
        if len(texts) < len(sample.response.chunks or []):
            return self.undefined(_WITHOUT_TEXT)
        items, missing = self.look_up(sample.answer or "", [sample.asked, *texts])
        if not items:
            return self.undefined(f"the answer holds no {self.items}")
        return self.result(len(missing) / len(items), **{self.items: len(items), "unsupported": missing[:_LISTED]})

    @abstractmethod
    def look_up(self, answer: str, texts: list[str]) -> tuple[list[str], list[str]]:
        """The items of the answer, and those of them that neither the question nor a chunk holds."""


class UnsupportedNumbers(_Unsupported):
    """Share of the answer's numbers that no retrieved chunk holds.

    Formula: |numbers of the answer in no chunk and not in the question| / |numbers of the answer|, as sets. Numbers
    compare by value and percent sign, as for `number_match`, read by the language of the answer. Number words count in
    chunks and question alone, numbers of list items not at all. A number that is computed of others counts as
    unsupported: read the details. Range 0 to 1, lower is better. None for an abstention, an answer without numbers, and
    where a chunk carries no text.
    Reference: defined here.
    """

    name = "unsupported_numbers"
    items = "numbers"

    def look_up(self, answer: str, texts: list[str]) -> tuple[list[str], list[str]]:
        answer = _LIST_NUMBER.sub("", answer)
        language = language_of(answer) or language_of(*texts)
        stated = missing = numbers(answer, language, words=False)
        for text in texts if stated else ():
            missing -= numbers(text, language)
        return sorted(stated), sorted(missing)


class UnsupportedQuotations(_Unsupported):
    """Share of the answer's quotations that stand in no retrieved chunk.

    Formula: |quotations in no chunk and not in the question| / |quotations|. A quotation stands between quotation marks
    and has four words or 15 characters; its words must stand in one chunk in their order, case, markup and the writing
    of numbers aside. Range 0 to 1, lower is better. None for an abstention, an answer without quotations, and where a
    chunk carries no text.
    Reference: defined here.
    """

    name = "unsupported_quotations"
    items = "quotations"

    def look_up(self, answer: str, texts: list[str]) -> tuple[list[str], list[str]]:
        quoted = dict.fromkeys(next(filter(None, match.groups())) for match in _QUOTATION.finditer(answer))
        quotations = [quotation for quotation in quoted if is_evidence(quotation, ["long enough a text"])]
        return quotations, [quotation for quotation in quotations if not is_quoted(quotation, texts)]
