"""The checks that a question brings along: items of a list, facts, a calculation.

They are declared with the question in its dataset. A form holds where it stands in the answer by whole words, a number
where it is among the answer's numbers (`number_match` has the rules). The answer is taken at its word: an abstention
that names a fact has named it. Citation marks such as [1] are no part of it (`Case.answer`).

A dataset may name its facts as it likes, also by a word such as "rules" or "label" that details have a meaning for: so
they stand under `facts`. What a list check names has something before or after it, which no such word has.
"""

import re
import unicodedata
from abc import abstractmethod
from functools import lru_cache
from typing import Any, Literal

from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.sample import Sample
from evals.schemas.dataset import CalculationCheck, EvalQuestion, Fact, FactsCheck, ListCheck, ListItem
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.folding import with_few_marks
from evals.text.phrases import holds, without_marks
from evals.text.quantities import distinct, missing

# Whether an answer lists a title, and does not only use its words: "deductibles" is a rule's name, and a noun.


# A bullet, a number, a letter or a code: "- ", "5. ", "(b) ", "C-5: ".
_MARK = r"[\s>#|•·–—+-]*+(?:\(?[a-z0-9]{1,3}(?:-\d{1,3})?[.):]{1,2}[\s|]*+){0,2}"

_LINE_GOES_ON = r"(?=[\s.,;|]*+$|\s*+[:(–—|]|\s+-\s)"

_BEFORE = r"(?:[,;:|] ?(?:(?:and|or) |& )?|(?: and| &) )"

_BEHIND = r"(?= ?(?:[,;.|]|$)| (?:and|&) )"


def is_listed(answer: str, title: str) -> bool:
    """Whether the title is an item of a list in the answer.

    That is at the beginning of a line, after its mark, where the line ends behind it or continues with a colon, a dash
    or a bracket, in any case; and in a running list, between commas and the like, in the title's own case.
    """
    at_start, in_list = _patterns(title)
    text = _readable(answer)
    return any(map(at_start.match, text.splitlines())) or bool(in_list.search(" ".join(text.split())))


@lru_cache(maxsize=1024)
def _patterns(title: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = r"[\s-]".join(map(re.escape, re.split(r"[\s-]+", _readable(title).strip())))
    return re.compile(f"{_MARK}{words}{_LINE_GOES_ON}", re.IGNORECASE), re.compile(f"{_BEFORE}{words}{_BEHIND}")


@lru_cache(maxsize=1024)
def _readable(text: str) -> str:
    return without_marks(unicodedata.normalize("NFKC", with_few_marks(text))).replace("\u2010", "-").replace("`", "")


class _Checked(BaseMetric):
    """What the checks share: they apply to questions that declare them."""

    group = MetricGroup.GENERATION
    suites = frozenset({"answer"})
    of_answer = True
    kind: Literal["list", "facts", "calculation"]

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        declared = any(check.kind == self.kind for check in question.checks)
        return None if declared else f"the question declares no check of kind {self.kind!r}"

    def measure(self, case: Sample) -> MetricResult:
        return self.check(case.question, case.answer or "")

    @abstractmethod
    def check(self, question: EvalQuestion, answer: str) -> MetricResult:
        """Apply the question's checks of this kind to the answer."""


class RulesCoverage(_Checked):
    """Share of the items of a list that the answer names.

    Formula: |items found| / |items| over the list checks that the question declares; an item is found where any of its
    forms stands in the answer as whole words ("Rule C-1" is not found in "Rule C-10", but in "Rules C-1 to C-3"), or
    where one of its `listed` forms is an item of a list there; citation marks such as [1] do not count. Range 0 to 1,
    higher is better. For a check named `rules` the details hold rules_found, total_rules, rules_coverage, and which
    items were found or are missing. None where the question declares no list check.
    Reference: ours.
    """

    name = "rules_coverage"
    kind = "list"

    def check(self, question: EvalQuestion, answer: str) -> MetricResult:
        details: dict[str, Any] = {}
        found: list[str] = []
        missing: list[str] = []
        for check in question.checks:
            if isinstance(check, ListCheck):
                named = [_names(answer, item) for item in check.items]
                found += [item.name for item, is_named in zip(check.items, named, strict=True) if is_named]
                missing += [item.name for item, is_named in zip(check.items, named, strict=True) if not is_named]
                details |= {f"{check.name}_found": sum(named), f"total_{check.name}": len(named)}
                details[f"{check.name}_coverage"] = sum(named) / len(named)
        return self.result(len(found) / (len(found) + len(missing)), **details, found=found, missing=missing)


class FactScore(_Checked):
    """Share of the facts that the answer states.

    Formula: |facts that hold| / |facts| over the fact checks that the question declares; a fact holds where any of its
    forms stands in the answer as whole words, or any of its numbers is among the answer's numbers, with sign, percent
    sign, scale and unit as in `number_match`; citation marks such as [1] do not count. Range 0 to 1, higher is better.
    The details say of each fact under `facts` whether it holds. None where the question declares no fact check.
    Reference: ours.
    """

    name = "fact_score"
    kind = "facts"

    def check(self, question: EvalQuestion, answer: str) -> MetricResult:
        checks = [check for check in question.checks if isinstance(check, FactsCheck)]
        stated = [(fact.name, _states(answer, fact)) for check in checks for fact in check.facts]
        return self.result(sum(is_stated for _, is_stated in stated) / len(stated), facts=dict(stated))


class IsCorrect(_Checked):
    """Whether a calculation reached the right number.

    Formula: 1 where the fact that is the result holds and the answer says nowhere that it cannot calculate, else 0;
    with several calculation checks, where all are right. Citation marks such as [1] do not count. Range 0 to 1, higher
    is better. The details say of each fact under `facts` whether it holds (the right result, its operands, a sign of
    multiplication), and `cannot_calculate`. None where the question declares no calculation check.
    Reference: ours.
    """

    name = "is_correct"
    kind = "calculation"
    aggregation = Aggregation.RATE

    def check(self, question: EvalQuestion, answer: str) -> MetricResult:
        facts: dict[str, bool] = {}
        right, excused = True, False
        for check in question.checks:
            if isinstance(check, CalculationCheck):
                stated = {fact.name: _states(answer, fact) for fact in check.facts}
                cannot = any(holds(answer, phrase) for phrase in check.cannot_phrases)
                right = right and stated[check.answer] and not cannot
                excused = excused or cannot
                facts |= stated
        return self.result(right, facts=facts, cannot_calculate=excused)


def _names(answer: str, item: ListItem) -> bool:
    return any(holds(answer, form) for form in item.any) or any(is_listed(answer, form) for form in item.listed)


def _states(answer: str, fact: Fact) -> bool:
    if any(holds(answer, form) for form in fact.any):
        return True
    return any(not missing(wanted, answer) for number in fact.numbers if (wanted := distinct(number)))
