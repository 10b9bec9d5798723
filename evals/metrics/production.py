"""Answers without a reference, as users of a running server get them: measured by answer and chunks alone."""

import re
from abc import abstractmethod
from typing import ClassVar

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.numbers import language_of, numbers
from evals.text.quotes import is_evidence, is_quoted

_LISTED = 10
"""Items that the details name."""
_LIST_NUMBER = re.compile(r"^\s*\d{1,2}[.)]\s", re.MULTILINE)
_QUOTATION = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|„([^“”\n]+)[“”]|‘([^’\n]+)’(?!\w)")


class _Unsupported(BaseMetric):
    """A share of items of the answer that no chunk holds."""

    group = MetricGroup.GENERATION
    suites: ClassVar[frozenset[str]] = frozenset({"production"})
    higher_is_better = False
    needs = frozenset({Need.CHUNKS})
    of_answer = True
    heeds_abstention = True
    items: ClassVar[str]
    """What they are, for reasons: "numbers"."""

    def measure(self, case: Sample) -> MetricResult:
        if case.abstained:
            return self.undefined("the answer abstains")
        texts = [text for _, text in case.passages]
        if len(texts) < len(case.response.chunks or []):
            return self.undefined("some chunks carry no text")
        items, missing = self.look_up(case, texts)
        if not items:
            return self.undefined(f"the answer holds no {self.items}")
        return self.result(len(missing) / len(items), **{self.items: len(items), "unsupported": missing[:_LISTED]})

    @abstractmethod
    def look_up(self, case: Sample, texts: list[str]) -> tuple[list[str], list[str]]:
        """The items of the answer, and those of them that neither the texts nor the question hold."""


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

    def look_up(self, case: Sample, texts: list[str]) -> tuple[list[str], list[str]]:
        answer = _LIST_NUMBER.sub("", case.answer or "")
        language = language_of(answer, default=language_of(case.asked, *texts))
        stated = numbers(answer, language, words=False)
        held = frozenset[str]().union(*(numbers(text, language) for text in (case.asked, *texts)))
        return sorted(stated), sorted(stated - held)


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

    def look_up(self, case: Sample, texts: list[str]) -> tuple[list[str], list[str]]:
        groups = (match.groups() for match in _QUOTATION.finditer(case.answer or ""))
        quoted = [next(filter(None, texts_of)) for texts_of in groups]
        quotations = [
            quotation for quotation in dict.fromkeys(quoted) if is_evidence(quotation, ["long enough a text"])
        ]
        held = [case.asked, *texts]
        return quotations, [quotation for quotation in quotations if not is_quoted(quotation, held)]


class DeclinedRate(BaseMetric):
    """Share of the answers that decline to answer, whether or not the question can be answered.

    Formula: |answers that abstain| / |answers|; `unanswerable_accuracy` says what abstains. Range 0 to 1; neither
    direction is better in itself. None where the server sent no answer.
    Reference: defined here.
    """

    name = "declined_rate"
    group = MetricGroup.ABSTENTION
    suites: ClassVar[frozenset[str]] = frozenset({"production"})
    aggregation = Aggregation.RATE
    higher_is_better = None
    of_answer = True
    heeds_abstention = True

    def measure(self, case: Sample) -> MetricResult:
        return self.result(float(case.abstained))
