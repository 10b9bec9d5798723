"""The `answer` suite: an answer compared with the expected one by its words and numbers, and by declared checks."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion, Fact, ListCheck, ListItem
from evals.schemas.results import MetricResult
from evals.text.numbers import language_of, numbers
from evals.text.tokens import STOP_WORDS, UNSPACED, UNSPACED_SIGN, fold, lists_of, tokens

_LISTED = 20
"""Missing keywords kept in the details; a long expected answer has hundreds."""

_WORD = re.compile(rf"[^\W_{UNSPACED}]+(?:[-'’.&/][^\W_]+)*%?")
_BLANK = re.compile(r"[ \t\u00a0]+")
_COUNTED = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]*[^\W_{UNSPACED}][^\s{UNSPACED}]*")
"""A character of an unspaced script, or what stands between blanks and holds a letter or a digit."""


class Keywords(NamedTuple):
    """The keywords of a text: words and phrases as tokens joined by blanks, and numbers by value."""

    phrases: frozenset[str]
    numbers: frozenset[str]

    def __len__(self) -> int:
        return len(self.phrases) + len(self.numbers)

    def missing_in(self, sample: Sample) -> list[str]:
        """Those that do not stand in the answer as whole words, or among its numbers, in alphabetical order."""
        phrases = [phrase for phrase in self.phrases if f" {phrase} " not in sample.words]
        return sorted([*phrases, *(self.numbers - numbers(sample.answer or "", language_for(sample.question)))])


@lru_cache(maxsize=256)
def keywords(text: str, language: str) -> Keywords:
    """Capitalised phrases with their numbers, numbers and percentages, words of four letters and more.

    Stop words are none, and no phrase begins with one. Each character of an unspaced script is a keyword.
    """
    words = {word for word in tokens(text) if (len(word) > 3 and not word[0].isdigit()) or UNSPACED_SIGN.match(word)}
    phrases = {" ".join(tokens(phrase)) for phrase in _capitalised(text)}
    return Keywords(frozenset((words | phrases) - STOP_WORDS - {""}), numbers(text, language, words=False))


def _capitalised(text: str) -> list[str]:
    phrases: list[list[str]] = []
    goes_on, end = False, 0
    for match in _WORD.finditer(text):
        word = match[0]
        if goes_on and _BLANK.fullmatch(text, end, match.start()) and (word[0].isupper() or word[0].isdigit()):
            phrases[-1].append(word)
        elif goes_on := word[0].isupper() and tokens(word)[:1] != () and tokens(word)[0] not in STOP_WORDS:
            phrases.append([word])
        end = match.end()
    return [" ".join(phrase) for phrase in phrases if len(phrase) > 1 or len(phrase[0]) > 1]


def language_for(question: EvalQuestion) -> str:
    """By which the numbers of a question and its answers are read: `metadata.language`, else by its function words."""
    named = question.metadata.get("language")
    return str(named)[:2].lower() if named else _language_of(question.question, question.expected_answer or "")


_language_of = lru_cache(maxsize=256)(language_of)
"""Several metrics ask for that of a question."""


class _Lexical(BaseMetric):
    """What the lexical metrics share: an expected answer, and an answer to compare with it."""

    suites = frozenset({"answer"})
    needs = frozenset({Need.EXPECTED_ANSWER})
    of_answer = True
    answerable_only = True

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        blank = None if (question.expected_answer or "").strip() else "the question has no expected answer"
        return super().not_applicable_to(question) or blank


class ExactMatch(_Lexical):
    """Whether the answer is the expected answer, character by character.

    Formula: 1 where the answer equals the expected answer or an accepted variant, both in lower case and with white
    space collapsed, else 0. Range 0 to 1, higher is better. Strict: a full stop makes a difference. None without an
    expected answer, and for unanswerable questions.
    Reference: the formula here, as the specification writes it; with accepted variants, and Unicode forms unified.
    """

    name = "exact_match"
    aggregation = Aggregation.RATE

    def measure(self, sample: Sample) -> MetricResult:
        accepted = (sample.question.expected_answer or "", *sample.question.answers)
        return self.result(_same_case(sample.answer or "") in {_same_case(text) for text in accepted if text.strip()})


def _same_case(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text.lower()).split())


class _Coverage(_Lexical):
    """A metric of how much of the expected answer is there; nothing is where the answer abstains."""

    heeds_abstention = True
    nothing: ClassVar[str] = "no keywords: the expected answer has no name, no number and no longer word"
    """Why there may be nothing to look for."""

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return super().not_applicable_to(question) or (None if len(self.wanted(question)) else self.nothing)

    def measure(self, sample: Sample) -> MetricResult:
        if sample.abstained:
            return self.result(0.0, abstained=True)
        wanted = self.wanted(sample.question)
        return self.covered(sample, len(wanted), wanted.missing_in(sample))

    def wanted(self, question: EvalQuestion) -> Keywords:
        """What is looked for in the answer."""
        return keywords(question.expected_answer or "", language_for(question))

    def covered(self, sample: Sample, wanted: int, missing: list[str]) -> MetricResult:
        """The result of an answer that does not abstain, by how much is wanted and what of it is missing."""
        matched = wanted - len(missing)
        return self.result(matched / wanted, found=matched, expected=wanted, missing=missing[:_LISTED])


class KeywordCoverage(_Coverage):
    """Share of the expected answer's keywords that stand in the answer.

    Formula: |keywords found| / |keywords of the expected answer|, each counted once. Keywords are capitalised phrases
    ("Territory 118", "Rule C-1"), numbers and percentages, and words of at least four letters that are no English stop
    words; in scripts without blanks (Chinese, Japanese, Thai) each character. Found as whole words in any case, numbers
    by value. Range 0 to 1, higher is better. The details list what is missing. 0 for an abstention. None without an
    expected answer or keywords in it, and for unanswerable questions.
    Reference: the formula here, as the specification writes it.
    """

    name = "keyword_coverage"


class NumberMatch(_Coverage):
    """Share of the expected answer's numbers that stand in the answer.

    Formula: |expected numbers found| / |expected numbers|, as sets. Numbers compare by value and percent sign: 1,000 is
    1000, $1.5 million is 1500000, 5% is not 5, (1,234) is -1234. Digits are read by `metadata.language`, else by the
    function words of question and expected answer, else as in English: 2.000 is 2 in English and 2000 in German.
    Currencies and units are not compared, dates and versions (2024-01-05, 3.10.2) as they are written. Number words
    from zero to twenty and the tens count in the answer, one by one. Further numbers in the answer do no harm. Range 0
    to 1, higher is better. The details list what is missing. 0 for an abstention. None where the expected answer holds
    no number, and for unanswerable questions.
    Reference: the formula here, as the specification writes it.
    """

    name = "number_match"
    nothing = "the expected answer holds no number"

    def wanted(self, question: EvalQuestion) -> Keywords:
        return Keywords(frozenset(), super().wanted(question).numbers)


class AnswerCompleteness(_Coverage):
    """An estimate of how much of the expected answer is there, by length and keywords.

    Formula: (min(words of the answer / words of the expected answer, 1) + keyword_coverage) / 2. Words stand between
    blanks (Chinese, Japanese, Thai: characters) and hold a letter or a digit. Range 0 to 1, higher is better. A longer
    answer is not a better one: read it with a metric of correctness. 0 for an abstention. None without an expected
    answer or keywords in it, and for unanswerable questions.
    Reference: the formula here, as the specification writes it.
    """

    name = "answer_completeness"

    def covered(self, sample: Sample, wanted: int, missing: list[str]) -> MetricResult:
        texts = sample.answer or "", sample.question.expected_answer or ""
        words, expected = (len(_COUNTED.findall(text)) for text in texts)
        length, coverage = min(words / expected, 1.0), 1 - len(missing) / wanted
        return self.result((length + coverage) / 2, length=length, keyword_coverage=coverage)


# The checks that a question brings along: items of a list, facts, a calculation.


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
