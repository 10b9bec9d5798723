"""The lexical half of the `answer` suite: an answer compared with the expected one by its words and numbers."""

import re
import unicodedata
from functools import lru_cache
from typing import ClassVar, NamedTuple

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricResult
from evals.text.numbers import language_of, numbers
from evals.text.tokens import STOP_WORDS, UNSPACED, UNSPACED_SIGN, tokens

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
