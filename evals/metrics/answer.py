"""The lexical half of the `answer` suite: an answer compared with the expected one by its words and numbers."""

import re
import unicodedata
from abc import abstractmethod
from typing import NamedTuple

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.folding import STOP_WORDS, UNSPACED, remembered, with_few_marks
from evals.text.phrases import framed, stands, without_marks
from evals.text.quantities import distinct, missing, numbers, quantities

# The keywords of a text: capitalised phrases, numbers, and words that carry meaning.


_WORD_LENGTH = 4

_KEYWORDS_WORD = re.compile(r"[^\W_]+(?:(?:[-'’.,&/]|_+)[^\W_]+)*%?")


_CONTRACTED = frozenset({"d", "ll", "m", "re", "s", "t", "ve", "let"})
"""What contractions leave next to a stop word: "it s", "they ll", "let s"."""

_BLANK = re.compile(r"[ \t\u00a0]+")


class Keywords(NamedTuple):
    """The keywords of a text.

    Attributes:
        phrases: Words and phrases in lower case, as `framed` writes them, without the frame.
        numbers: As `numbers` writes them.
    """

    phrases: frozenset[str]
    numbers: frozenset[str]

    def __len__(self) -> int:
        return len(self.phrases) + len(self.numbers)

    def missing_in(self, answer: str) -> list[str]:
        """The keywords that an answer does not hold, in alphabetical order."""
        phrases = [phrase for phrase in self.phrases if not stands(f" {phrase} ", answer)]
        return sorted([*phrases, *(self.numbers - numbers(answer))])


@remembered(100_000)
def keywords(text: str) -> Keywords:
    """Find the keywords of a text.

    - Phrases: neighbouring capitalised words with the numbers between and after them ("Territory 118", "Rule C-1"); a
      phrase does not begin with a stop word or its contraction ("It's"), and a single word has at least two letters.
    - Numbers and percentages, by `numbers`.
    - Words of at least four letters that are no stop words; they are not reduced to stems.
    """
    words = {word for word in framed(text).split() if len(word) >= _WORD_LENGTH and not word[0].isdigit()}
    plain = without_marks(unicodedata.normalize("NFKC", with_few_marks(text)))
    phrases = {framed(phrase).strip() for phrase in _capitalised(plain)}
    return Keywords(frozenset((words | phrases) - STOP_WORDS - {""}), numbers(text))


def _is_stop_word(word: str) -> bool:
    """Whether the word is a stop word, or one of its contractions: "it's", "don't", "let's"."""
    if word.lower() in STOP_WORDS:
        return True
    parts = framed(word).split() if "'" in word or "’" in word else ()
    return bool(parts) and all(part in STOP_WORDS or part in _CONTRACTED for part in parts)


def _capitalised(text: str) -> list[str]:
    """The capitalised phrases as they stand in the text."""
    phrases: list[list[str]] = []
    going_on, end = False, 0
    for found in _KEYWORDS_WORD.finditer(text):
        word = found[0]
        follows = going_on and _BLANK.fullmatch(text, end, found.start())
        if follows and (word[0].isupper() or word[0].isdigit()):
            phrases[-1].append(word)
        elif going_on := word[0].isupper() and not _is_stop_word(word):
            phrases.append([word])
        end = found.end()
    return [" ".join(phrase) for phrase in phrases if len(phrase) > 1 or len(phrase[0]) > 1]


# An answer beside the expected one: the same text, its keywords, its numbers, its length.


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

    def measure(self, case: Sample) -> MetricResult:
        return self.measure_answer(case, case.question.expected_answer or "", case.answer or "")

    @abstractmethod
    def measure_answer(self, case: Sample, expected: str, answer: str) -> MetricResult:
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

    def measure_answer(self, case: Sample, expected: str, answer: str) -> MetricResult:
        accepted = (expected, *case.question.answers)
        return self.result(_same_case(answer) in {_same_case(text) for text in accepted if text.strip()})


class _Coverage(_Lexical):
    """A metric of how much of the expected answer is there; nothing is where the answer abstains."""

    heeds_abstention = True

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return super().not_applicable_to(question) or self.nothing_in(question.expected_answer or "")

    def nothing_in(self, expected: str) -> str | None:
        """Why there is nothing to look for; None where there is something."""
        return None if len(keywords(expected)) else _NO_KEYWORDS

    def measure_answer(self, case: Sample, expected: str, answer: str) -> MetricResult:
        return self.result(0.0, abstained=True) if case.abstained else self.cover(case.question, expected, answer)

    @abstractmethod
    def cover(self, question: EvalQuestion, expected: str, answer: str) -> MetricResult:
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

    def cover(self, question: EvalQuestion, expected: str, answer: str) -> MetricResult:
        wanted = keywords(expected)
        missing = wanted.missing_in(answer)
        found = len(wanted) - len(missing)
        return self.result(found / len(wanted), found=found, expected=len(wanted), missing=missing[:_LISTED])


class NumberMatch(_Coverage):
    """Share of the expected answer's numbers that stand in the answer.

    Formula: |expected numbers found| / |expected numbers|, as sets. Numbers compare by value, however they are grouped
    (1,000 = 1 000 = 1'000 = 1000) and scaled (1.5 million = 1,500,000, 10k = 10,000, $1.2M = 1,200,000 dollars; the
    letters k, M and B directly behind the number, m, b and t behind an amount of money). Units must not contradict each
    other: 30 days are not 30 hours, $5 is not €5; a unit that one side does not name is no contradiction, and
    nothing is converted (24 hours, 1 day). A percent sign ("percent") and a minus ("minus 5") must agree: 5% is not
    5, and 0.05 is 5% only where the question asks for a fraction, a share, a ratio or the like. Notation is
    English, but for what can only be continental (1.234,56; 12,5 %) or is an amount of euros (1.500 € is 1500), and
    a text that shows it is read so throughout: 1.234 alone is 1.234, with 1.234,56 it is 1234. 1/2 is 0.5. A
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

    def nothing_in(self, expected: str) -> str | None:
        return None if quantities(expected) else "the expected answer holds no number"

    def cover(self, question: EvalQuestion, expected: str, answer: str) -> MetricResult:
        wanted = distinct(expected)
        lacking = missing(wanted, answer, question.question)
        found = len(wanted) - len(lacking)
        listed = sorted(map(str, lacking))[:_LISTED]
        return self.result(found / len(wanted), found=found, expected=len(wanted), missing=listed)


class AnswerCompleteness(_Coverage):
    """An estimate of how much of the expected answer is there, by length and keywords.

    Formula: (min(words of the answer / words of the expected answer, 1) + keyword_coverage) / 2. Words stand between
    blanks (Chinese, Japanese, Thai: characters) and hold a letter or a digit; citation marks such as [1] are none.
    Range 0 to 1, higher is better. A longer answer is not a better one: read it with a metric of correctness. 0 for
    an abstention. None without an expected answer, where it has no keywords (`keyword_coverage` says when), and for
    unanswerable questions.
    Reference: ours.
    """

    name = "answer_completeness"

    def cover(self, question: EvalQuestion, expected: str, answer: str) -> MetricResult:
        wanted = keywords(expected)
        covered = 1 - len(wanted.missing_in(answer)) / len(wanted)
        length = min(_word_count(answer) / _word_count(expected), 1.0)
        return self.result((length + covered) / 2, length=length, keyword_coverage=covered)


def _word_count(text: str) -> int:
    return len(_WORD.findall(text))


def _same_case(text: str) -> str:
    """The text in lower case, white space collapsed, accents in one form."""
    return " ".join(unicodedata.normalize("NFC", with_few_marks(text.lower())).split())
