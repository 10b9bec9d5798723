"""The checks that a question brings along: items of a list, facts, a calculation.

They are declared with the question in its dataset; without, a question whose id begins with EF_1, EF_2 or EF_3 gets
those of its prefix. A form holds where it stands in the answer as whole words, a number where it is among those of the
answer (`number_match` has the rules). An answer is taken at its word: one that declines and names a fact has named it.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

from evals.metrics.answer import language_for
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion, Fact, ListCheck, ListItem
from evals.schemas.results import MetricResult
from evals.text.numbers import numbers
from evals.text.tokens import fold, lists_of, tokens

_CONTRACTED = ((re.compile(r"\bcan(?:'t| not)\b"), "cannot"), (re.compile(r"n't\b"), " not"))
_MARKDOWN = re.compile(r"^[ \t]*[*+-](?=\s)|\*\*+|[`~#>|_]+|(?<![\w)\]% ])\*|\*(?![\w$€£.( ])", re.MULTILINE)
"""Bullets, bold and the like; an asterisk between two operands stays, which multiplies."""
_MARK = r"^[\s>#|•·–—+*-]*+(?:\(?[a-z0-9]{1,3}(?:-\d{1,3})?[.):]{1,2}[\s|]*+){0,2}"


@lru_cache(maxsize=256)
def _readable(text: str) -> str:
    text = _MARKDOWN.sub(" ", fold(text))
    for pattern, written_out in _CONTRACTED:
        text = pattern.sub(written_out, text)
    return text


@lru_cache(maxsize=1024)
def _pattern(form: str) -> re.Pattern[str]:
    plain = _readable(form)
    words = tokens(plain)
    if not words:
        return re.compile(re.escape(form.strip()))
    start = r"(?<![^\W\d_])" if words[0].isalpha() else r"(?<!\w)(?<!\d[.,])"
    end = r"(?![.,]?\d|\w)"
    between = [
        r"[-–]" if f"{word}-{following}" in plain else r"[\W_]{0,3}" if following.isdigit() else r"[\W_]{1,3}"
        for word, following in pairwise(words)
    ]
    pattern = start + "".join(map("".join, zip(map(re.escape, words), [*between, ""], strict=True))) + end
    if len(words) == 2 and words[0].isalpha() and words[1].isdigit():  # territories 118 and 117, Rules C-1 to C-3
        stem, code = (words[0].removesuffix("y"), "") if len(words[0]) > 1 else ("", rf"{words[0]}-?")
        head = rf"{stem}(?:y|ies|s|es)?[ :(]+" if stem else rf"(?<!\w)(?={code}\d)"
        item = r"#?[a-z]?-?\d+(?:,? (?:and|or|to|through) |, ?| ?& ?)"
        pattern += rf"|(?<!\w){head}(?:{item}){{0,20}}{code}{words[1]}{end}"
    return re.compile(pattern)


def holds(answer: str, form: str) -> bool:
    """Whether a form stands in an answer as whole words, in any case; a sign such as × as it is.

    A number at its end is whole ("GRG 51" does not stand in "GRG 51.2") and may stand in a list behind its name.
    """
    return bool(_pattern(form).search(_readable(answer)))


@lru_cache(maxsize=1024)
def _listed_patterns(title: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = r"[\s-]".join(map(re.escape, re.split(r"[\s-]+", title.strip())))
    at_start = re.compile(rf"{_MARK}{words}(?=[\s.,;|*]*$|[\s*]*[:(–—|]|\s+-\s)", re.IGNORECASE | re.MULTILINE)
    within = re.compile(rf"(?:[,;:|] ?(?:(?:and|or) |& )?| and | & ){words}(?= ?(?:[,;.|]|$)| (?:and|&) )")
    return at_start, within


def is_listed(answer: str, title: str) -> bool:
    """Whether a title is an item of a list: of a line in any case, or of a running list in its own case."""
    at_start, within = _listed_patterns(title)
    return bool(at_start.search(answer) or within.search(" ".join(answer.split())))


def states(answer: str, fact: Fact, language: str) -> bool:
    """Whether an answer holds any form of a fact, or any of its numbers."""
    if any(holds(answer, form) for form in fact.any):
        return True
    stated = numbers(answer, language)
    return any(wanted and wanted <= stated for wanted in (numbers(number, language) for number in fact.numbers))


def rules_in(text: str) -> list[str]:
    """The names of rules in a text: items of its Markdown list, and `Rule C-1` wherever it stands; each once."""
    items = re.findall(r"^[ \t]*[*•-][ \t]+(.+?)[ \t]*$", text, re.MULTILINE)
    names = [" ".join(tokens(re.split(r":|\s[–—-]\s", item)[0])) for item in items]
    codes = [f"rule c {number}" for number in re.findall(r"\bRule C-(\d+)", text, re.IGNORECASE)]
    named = [re.match(r"rule c \d+", name) for name in names]
    plain = [match[0] if match else name for name, match in zip(names, named, strict=True)]
    return list(dict.fromkeys([name for name in [*plain, *codes] if name]))


class _Checked(BaseMetric):
    """What the checks share: which questions they apply to, and which of their facts the answer states."""

    suites = frozenset({"answer"})
    of_answer = True
    kind: ClassVar[str]
    prefix: ClassVar[str]

    def checks(self, question: EvalQuestion) -> list[Any]:
        """Those that the question declares, else those of its id's prefix."""
        declared = [check for check in question.checks if check.kind == self.kind]
        if declared or not re.match(rf"{self.prefix}(?!\d)", question.id):
            return declared
        return self.default_checks(question)

    def default_checks(self, question: EvalQuestion) -> list[Any]:
        """The checks of a question whose id begins with the prefix."""
        return EvalQuestion(question=question.question, checks=[lists_of("checks")[self.prefix]]).checks

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return None if self.checks(question) else f"the question declares no check of kind {self.kind!r}"

    def stated(self, sample: Sample) -> list[tuple[str, bool]]:
        """Of each fact of the checks whether the answer states it."""
        answer, language = sample.answer or "", language_for(sample.question)
        facts = [fact for check in self.checks(sample.question) for fact in check.facts]
        return [(fact.name, states(answer, fact, language)) for fact in facts]


class RulesCoverage(_Checked):
    """Share of the items of a list that the answer names.

    Formula: |items found| / |items| over the list checks that the question declares; an item is found where any of its
    forms stands in the answer as whole words ("Rule C-1" is not found in "Rule C-10"), or one of its `listed` forms is
    an item of a list there. Without a check, of a question whose id begins with EF_1, the items are the rules of the
    expected answer, by its Markdown list (`* Rule Name`) and as `Rule C-X`, and found are those that the answer names
    in the same way. Range 0 to 1, higher is better. For a check named `rules` the details hold rules_found,
    total_rules, rules_coverage, and which items were found or are missing. None without either.
    Reference: the formula here, as the specification writes it.
    """

    name = "rules_coverage"
    kind = "list"
    prefix = "EF_1"

    def default_checks(self, question: EvalQuestion) -> list[Any]:
        items = [ListItem(name=name, any=[name]) for name in rules_in(question.expected_answer or "")]
        return [ListCheck(kind="list", name="rules", items=items)] if items else []

    def measure(self, sample: Sample) -> MetricResult:
        question, answer = sample.question, sample.answer or ""
        rules = None if any(check.kind == self.kind for check in question.checks) else rules_in(answer)
        details: dict[str, Any] = {}
        items: list[tuple[str, bool]] = []
        for check in self.checks(question):
            named = {item.name: _names(answer, item) if rules is None else item.name in rules for item in check.items}
            matched, total = sum(named.values()), len(named)
            details |= {f"{check.name}_found": matched, f"total_{check.name}": total}
            details[f"{check.name}_coverage"] = matched / total
            items += named.items()
        details["found"] = [item for item, is_named in items if is_named]
        details["missing"] = [item for item, is_named in items if not is_named]
        return self.result(len(details["found"]) / len(items), **details)


def _names(answer: str, item: ListItem) -> bool:
    return any(holds(answer, form) for form in item.any) or any(is_listed(answer, form) for form in item.listed)


class FactScore(_Checked):
    """Share of the facts that the answer states.

    Formula: |facts that hold| / |facts| over the fact checks that the question declares; a fact holds where any of its
    forms stands in the answer as whole words, or any of its numbers is among the answer's, with sign and percent sign.
    Without a check, a question whose id begins with EF_2 has these eight: has_yes, has_territory_118,
    has_territory_117, has_rate_0_305, has_rate_neg_0_133, has_grg_51, has_grg_15, has_difference_36. Range 0 to 1,
    higher is better. The details say of each fact under `facts` whether it holds. None without either.
    Reference: the formula here, as the specification writes it.
    """

    name = "fact_score"
    kind = "facts"
    prefix = "EF_2"

    def measure(self, sample: Sample) -> MetricResult:
        stated = self.stated(sample)
        return self.result(sum(is_stated for _, is_stated in stated) / len(stated), facts=dict(stated))


class IsCorrect(_Checked):
    """Whether a calculation reached the right number.

    Formula: 1 where the fact that is the result holds and the answer says nowhere that it cannot calculate, else 0;
    with several calculation checks, where all are right. Without a check, a question whose id begins with EF_3 has:
    is_correct = has_604 AND NOT cannot_calculate. Range 0 to 1, higher is better. The details say of each fact
    under `facts` whether it holds (the right result, its operands, a sign of multiplication), and `cannot_calculate`.
    None without either.
    Reference: the formula here, as the specification writes it.
    """

    name = "is_correct"
    kind = "calculation"
    prefix = "EF_3"
    aggregation = Aggregation.RATE

    def measure(self, sample: Sample) -> MetricResult:
        checks, facts = self.checks(sample.question), dict(self.stated(sample))
        cannot = any(holds(sample.answer or "", phrase) for check in checks for phrase in check.cannot_phrases)
        right = all(facts[check.answer] for check in checks) and not cannot
        return self.result(right, facts=facts, cannot_calculate=cannot)
