"""Does an answer hold what is expected? Then it declines nothing, whatever its words."""

import re

from evals.schemas import EvalQuestion
from evals.text.phrases import framed, stands
from evals.text.stop_words import STOP_WORDS

_YES_NO = frozenset(["yes", "no", "true", "false", "ja", "nein", "oui", "non", "si", "sí", "sim", "não", "nao"])
_BELOW_TEN = frozenset(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
_NONE = re.compile(r" (?:no ?answer(?: (?:present|found))?|unanswerable|cannotanswer|n a|none|null) ")
"""What some datasets write for the answer where there is none."""
_SMALL = re.compile(r"\d(?:\.0+)?")


def holds_expected(answer: str, question: EvalQuestion) -> bool:
    """Whether the expected answer or an accepted variant stands in the answer, as whole words.

    Yes and no, numbers below ten, words that say nothing ("it") and parts of the question do not count: they stand in
    a refusal too, and so does a label for no answer at all. Of a question that cannot be answered nothing is expected.
    """
    if question.is_unanswerable:
        return False
    accepted = (question.expected_answer or "", *question.answers)
    return any(_tells(form, question.question) and stands(form, answer) for form in map(framed, accepted))


def _tells(form: str, question: str) -> bool:
    """Whether a form of words, as `framed` writes it, would not be met in a refusal."""
    words = form.split()
    if not words or STOP_WORDS.issuperset(words) or _NONE.fullmatch(form):
        return False
    if len(words) == 1 and (words[0] in _YES_NO or words[0] in _BELOW_TEN or _SMALL.fullmatch(words[0])):
        return False
    return not stands(form, question)
