"""Does an answer give what is expected? Then it declines nothing, whatever its words."""

import re

from evals.schemas.dataset import EvalQuestion
from evals.text.refusals.model import reading
from evals.text.tokens import STOP_WORDS, framed, tokens

_NEARLY = 0.75
_YES_NO = frozenset(["yes", "no", "true", "false", "ja", "nein", "oui", "non", "si", "sí", "sim", "não", "nao"])
_BELOW_TEN = frozenset(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
_TELLS_NOTHING = STOP_WORDS | _YES_NO | _BELOW_TEN | {"none", "unanswerable"}
_NO_ANSWER = re.compile(r"\W*(?:no answer(?: present)?|not answerable|\d(?:\.0+)?)\W*", re.IGNORECASE)


def gives_expected(answer: str, question: EvalQuestion) -> bool:
    """Whether an expected answer stands in an answer, or reads like a refusal itself and is said in nearly its words.

    "The audit found no weaknesses" may be what is expected. Of a question that cannot be answered nothing is.
    """
    accepted = [text for text in (question.expected_answer, *question.answers) if text]
    if question.is_unanswerable or not accepted:
        return False
    if any(_holds(answer, text, question.question) for text in accepted):
        return True
    words = _content(answer)
    findings = [_content(text) for text in accepted if reading(text, question.question).declines]
    return any(words and len(words & finding) >= _NEARLY * len(words | finding) for finding in findings)


def _holds(answer: str, expected: str, question: str) -> bool:
    """Whether an expected answer stands in an answer, as whole words, where it would not in a refusal.

    Yes and no, numbers below ten, words that say nothing ("it"), parts of the question and labels for no answer would.
    """
    words = framed(expected)
    if _TELLS_NOTHING.issuperset(words.split()) or _NO_ANSWER.fullmatch(words) or words in framed(question):
        return False
    return words in framed(answer)


def _content(text: str) -> set[str]:
    return {word for word in tokens(text) if len(word) > 1} - STOP_WORDS
