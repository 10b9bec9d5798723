"""An answer beside the expected one: the same text, its keywords, its numbers, its length.

These metrics read no meaning. They need an expected answer, and have no value where the question is unanswerable:
whether an answer was rightly given is what the abstention metrics measure. An abstention repeats the words of its
question; it covers nothing of the expected answer and scores 0, as it does in the judged metrics. Citation marks such
as [1] are no part of the answer, nor of the reference (`Case`).
"""

import re
import unicodedata
from abc import abstractmethod

from evals.case.case import Case
from evals.metrics.answer.keywords import keywords
from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.schemas import EvalQuestion, MetricGroup, MetricResult
from evals.text.folding import UNSPACED, with_few_marks
from evals.text.numbers import quantities
from evals.text.same_numbers import distinct, missing

_NO_KEYWORDS = (
    "no keywords: the expected answer has no name, no number and no telling word of four letters"
    " (where words have no blanks between them only numbers are keywords)"
)
_WORD = re.compile(rf"[{UNSPACED}]|(?<![^\s\w])[^\s\w]*+[^\W{UNSPACED}][^\s{UNSPACED}]*+")
"""What stands between blanks and is more than punctuation."""
_LISTED = 20
"""Missing keywords kept in the details; a long expected answer has hundreds."""


class _Lexical(BaseMetric):
    """What the lexical metrics share: an expected answer, and an answer to compare with it."""

    group = MetricGroup.GENERATION
    suites = frozenset({"answer"})
    needs = frozenset({Need.EXPECTED_ANSWER})
    of_answer = True

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        if question.is_unanswerable:
            return "the question is unanswerable"
        if not (question.expected_answer or "").strip():
            return "the question has no expected answer"
        return None

    def measure(self, case: Case) -> MetricResult:
        return self.measure_answer(case, case.question.expected_answer or "", case.answer or "")

    @abstractmethod
    def measure_answer(self, case: Case, expected: str, answer: str) -> MetricResult:
        """Compare the answer with the expected one."""


class ExactMatch(_Lexical):
    """Whether the answer is the expected answer, character by character.

    Formula: 1 where the answer equals the expected answer or an accepted variant, both without citation marks such as
    [1], in lower case and with white space collapsed; else 0. Range 0 to 1, higher is better. Strict: a full stop makes
    a difference. For questions with one precise answer. None without an expected answer, and for unanswerable
    questions.
    Reference: exact match as in question answering since Rajpurkar et al. 2016, without its removal of articles and
    punctuation, which is `squad_em`.
    """

    name = "exact_match"
    aggregation = Aggregation.RATE

    def measure_answer(self, case: Case, expected: str, answer: str) -> MetricResult:
        accepted = (expected, *case.question.answers)
        return self.result(_same_case(answer) in {_same_case(text) for text in accepted if text.strip()})


class _Coverage(_Lexical):
    """A metric of how much of the expected answer is there; nothing is where the answer abstains."""

    heeds_abstention = True

    def measure_answer(self, case: Case, expected: str, answer: str) -> MetricResult:
        return self.result(0.0, abstained=True) if case.abstained else self.cover(expected, answer)

    @abstractmethod
    def cover(self, expected: str, answer: str) -> MetricResult:
        """Measure what an answer that does not abstain holds of the expected one."""


class KeywordCoverage(_Coverage):
    """Share of the expected answer's keywords that stand in the answer.

    Formula: |keywords found| / |keywords of the expected answer|, each counted once. Keywords are capitalised phrases
    ("Territory 118"), numbers and percentages, and words of at least four letters that are no stop words. Found means
    as whole words, whatever case, Markdown and apostrophes; numbers by value; citation marks such as [1] do not count.
    Range 0 to 1, higher is better. The details list what is missing. 0 for an abstention. None without an expected
    answer, where it has no keywords, and for unanswerable questions. Scripts that put no blanks between words (Chinese,
    Japanese, Thai) have numbers for keywords and nothing else, so that most expected answers in them have none.
    Accepted variants do not count: they are short forms.
    Reference: ours; recall of terms as in ROUGE-1 (Lin 2004), over distinct keywords.
    """

    name = "keyword_coverage"

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return super().not_applicable_to(question) or _without_keywords(question)

    def cover(self, expected: str, answer: str) -> MetricResult:
        wanted = keywords(expected)
        missing = wanted.missing_in(answer)
        found = len(wanted) - len(missing)
        return self.result(found / len(wanted), found=found, expected=len(wanted), missing=missing[:_LISTED])


class NumberMatch(_Lexical):
    """Share of the expected answer's numbers that stand in the answer.

    Formula: |expected numbers found| / |expected numbers|, as sets. Numbers compare by value, however they are grouped
    (1,000 = 1 000 = 1'000 = 1000) and scaled (1.5 million = 1,500,000, 10k = 10,000, $1.2M = 1,200,000 dollars; the
    letters k, M and B directly behind the number, m, b and t behind an amount of money). Units must not contradict each
    other: 30 days are not 30 hours, $5 is not €5; a unit that one side does not name is no contradiction, and
    nothing is converted (24 hours, 1 day). A percent sign ("percent") and a minus ("minus 5") must agree: 5% is not
    5, and 0.05 is 5% only where the question asks for a fraction, a share, a ratio or the like. Notation is
    English, but for what can only be continental (1.234,56; 12,5 %) or is an amount of euros (1.500 € is 1500), and
    a text that shows it is read so throughout: 1.234 alone is 1.234, beside 1.234,56 it is 1234. 1/2 is 0.5. A
    hyphen in C-1 or 2018-2026 is no minus, and digits behind a letter (B2B) are no number. What stands behind a
    range belongs to both ends (5-10%); a comma before three digits groups, so "117,118" is one number, and so is
    "117 118". In the answer numbers in words count too (three days, two million, one half), in the expected one
    they are not looked for. Dates and times are compared part by part (10:30 is 10 and 30). Citation marks such as
    [1] and the marks of a numbered list are no numbers. Further numbers in the answer do no harm. Range 0 to 1,
    higher is better. The details list what is missing. 0 for an abstention. None where the expected answer holds no
    number, and for unanswerable questions.
    Reference: ours.
    """

    name = "number_match"
    heeds_abstention = True

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        reason = super().not_applicable_to(question)
        if reason is None and not quantities(question.expected_answer or ""):
            return "the expected answer holds no number"
        return reason

    def measure_answer(self, case: Case, expected: str, answer: str) -> MetricResult:
        if case.abstained:
            return self.result(0.0, abstained=True)
        wanted = distinct(expected)
        lacking = missing(wanted, answer, case.question.question)
        found = len(wanted) - len(lacking)
        listed = sorted(map(str, lacking))[:_LISTED]
        return self.result(found / len(wanted), found=found, expected=len(wanted), missing=listed)


class AnswerCompleteness(_Coverage):
    """An estimate of how much of the expected answer is there, by length and keywords.

    Formula: (min(words of the answer / words of the expected answer, 1) + keyword_coverage) / 2. Words stand between
    blanks (Chinese, Japanese, Thai: characters) and hold a letter or a digit; citation marks such as [1] are none.
    Range 0 to 1, higher is better. A longer answer is not a better one: read it beside a metric of correctness. 0 for
    an abstention. None without an expected answer, where it has no keywords (`keyword_coverage` says when), and for
    unanswerable questions.
    Reference: ours.
    """

    name = "answer_completeness"

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return super().not_applicable_to(question) or _without_keywords(question)

    def cover(self, expected: str, answer: str) -> MetricResult:
        wanted = keywords(expected)
        covered = 1 - len(wanted.missing_in(answer)) / len(wanted)
        length = min(_word_count(answer) / _word_count(expected), 1.0)
        return self.result((length + covered) / 2, length=length, keyword_coverage=covered)


def _without_keywords(question: EvalQuestion) -> str | None:
    return None if len(keywords(question.expected_answer or "")) else _NO_KEYWORDS


def _word_count(text: str) -> int:
    return len(_WORD.findall(text))


def _same_case(text: str) -> str:
    """The text in lower case, white space collapsed, accents in one form."""
    return " ".join(unicodedata.normalize("NFC", with_few_marks(text.lower())).split())
