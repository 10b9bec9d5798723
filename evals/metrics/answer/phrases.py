"""Whether an answer holds a form of words, compared by whole words and not by bare substrings."""

import re
from functools import lru_cache

from evals.metrics.answer.numbers import plain_numbers
from evals.metrics.answer.series import is_bare_code, stands_in_series
from evals.metrics.text import fold, tokens

_DIGITS = re.compile(r"(\d+(?:[.,]\d+)*)")
_CONTRACTED = (
    (re.compile(r"\bcan(?:'t| not)\b"), "cannot"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
)
# An asterisk between two operands multiplies; every other one is a bullet or emphasis.
_ASTERISKS = re.compile(r"(?P<times>(?<=[\w)\]%])\*(?=[\w($€£.])|(?<=[\w)\]%] )\*(?= [\w($€£.]))|\*+")
_EMPHASIS = re.compile(r"[`~]+|(?<!\w)_+|(?<!_)_++(?!\w)")


@lru_cache(maxsize=8192)
def framed(text: str) -> str:
    """The text's words in lower case, joined and framed by blanks, so that `in` compares whole words.

    Unicode forms, apostrophes, Markdown marks and punctuation do not count, and numbers are compared by value without
    their signs: "GRG 51" does not stand in "GRG 51.2", and "exceeds 30" stands in "exceeds 30.0". "Can't" is "cannot",
    and "isn't" is "is not".
    """
    folded = fold(text)
    for pattern, written_out in _CONTRACTED:
        folded = pattern.sub(written_out, folded)
    words: list[str] = []
    for place, part in enumerate(_DIGITS.split(folded)):
        words += plain_numbers(part) if place % 2 else tokens(part)
    return f" {' '.join(words)} "


def holds(answer: str, form: str) -> bool:
    """Whether the form stands in the answer: as whole words, or as a sign (`×`, `*`) where it has no words.

    A form that ends in a number may stand in a list or a range: "territory 117" in "territories 118 and 117", "C-2" in
    "C-1 to C-12". One letter with a number ("C-2") keeps its hyphen. A sign counts outside of Markdown only: the
    asterisks of **bold** and of a bullet do not multiply.
    """
    words = framed(form)
    if words.strip():
        in_words = words in framed(answer) and not is_bare_code(form)
        return in_words or stands_in_series(without_marks(answer), form)
    return fold(form.strip()) in fold(without_marks(answer)) if form.strip() else False


@lru_cache(maxsize=4096)
def without_marks(text: str) -> str:
    """The text without the marks of Markdown's emphasis and bullets; signs of multiplication stay."""
    text = _ASTERISKS.sub(lambda found: "*" if found["times"] else " ", text)
    return _EMPHASIS.sub(" ", text)
