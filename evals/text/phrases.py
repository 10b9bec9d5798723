"""Search an answer for phrases, by whole words."""

import re
from functools import lru_cache

from evals.text.folding import UNSPACED, fold, remembered, tokens
from evals.text.notation import WHOLE_SCALES, closed_up, plain_numbers
from evals.text.sentences import is_bare_code, stands_in_series

_DIGITS = re.compile(r"(\d+(?:[.,]\d+)*)")

_LETTER = re.compile(rf"[^\W\d_{UNSPACED}]")


_GLUE = "\u2040"
"""Marks a word that is glued to the one before it, or multiplies it; no text holds it as a letter."""


_CONTRACTED = (
    (re.compile(r"\bcan(?:'t| not)\b"), "cannot"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
)


# An asterisk between two operands multiplies; every other one is a bullet or emphasis.
_ASTERISKS = re.compile(r"(?P<times>(?<=[\w)\]%])\*(?=[\w($€£.])|(?<=[\w)\]%] )\*(?= [\w($€£.]))|\*+")

_EMPHASIS = re.compile(r"[`~]+|(?<!\w)_+|(?<!_)_++(?!\w)")


def framed(text: str) -> str:
    """The text's words in lower case, joined and framed by blanks, so that `in` compares whole words.

    Unicode forms, apostrophes, Markdown marks and punctuation do not count, and numbers are compared by value without
    their signs: "GRG 51" does not stand in "GRG 51.2", and "exceeds 30" stands in "exceeds 30.0". "Can't" is "cannot",
    and "isn't" is "is not".
    """
    return _framed(text)[0]


@remembered(100_000)
def _framed(text: str) -> tuple[str, str]:
    """What `framed` returns, and the same with a mark before each word that belongs to the one before it."""
    folded = fold(closed_up(text))
    for pattern, written_out in _CONTRACTED:
        folded = pattern.sub(written_out, folded)
    words: list[str] = []
    glued: set[int] = set()
    before = ""
    for place, part in enumerate(_DIGITS.split(folded)):
        found = plain_numbers(part) if place % 2 else tokens(part)
        if _is_glued(before, part) or (before[-1:].isdecimal() and found and found[0] in WHOLE_SCALES):
            glued.add(len(words))
        words += found
        before = "" if part == "x" else part  # the x of 293x2.061 multiplies
    marked = [_GLUE + word if place in glued else word for place, word in enumerate(words)] if glued else words
    return f" {' '.join(words)} ", f" {' '.join(marked)} "


def _is_glued(before: str, part: str) -> bool:
    """Whether letters stand directly before a number, or directly behind one."""
    letters = (before[-1:], part[:1]) if part != "x" else ("", "")
    return all(letters) and any(map(_LETTER.match, letters))


def stands(phrase: str, text: str) -> bool:
    """Whether a phrase, as `framed` writes it, stands in a text as whole words.

    A number at its begin or end must be whole too: "GRG 51" does not stand in "GRG 51A", nor "exceeds 30" in "exceeds
    30k" or "exceeds 30 million". Inside of it letters may be glued to a number or not: "5 mg" stands in "5mg".
    """
    plain, glued = _framed(text)
    if phrase not in plain:
        return False
    return plain is glued or plain == glued or bool(_whole(phrase).search(glued))


@lru_cache(maxsize=4096)
def _whole(phrase: str) -> re.Pattern[str]:
    words = phrase.split()
    start = "" if words[0][0].isdecimal() else f"{_GLUE}?"
    end = f"(?!{_GLUE})" if words[-1][0].isdecimal() else ""
    return re.compile(f"(?<= ){start}{f' {_GLUE}?'.join(map(re.escape, words))}(?= {end})")


def holds(answer: str, form: str) -> bool:
    """Whether the form stands in the answer: as whole words, or as a sign (`×`, `*`) where it has no words.

    A form that ends in a number may stand in a list or a range: "territory 117" in "territories 118 and 117", "C-2" in
    "C-1 to C-12". One letter with a number ("C-2") keeps its hyphen. A sign counts outside of Markdown only: the
    asterisks of **bold** and of a bullet do not multiply.
    """
    words = framed(form)
    if words.strip():
        in_words = stands(words, answer) and not is_bare_code(form)
        return in_words or stands_in_series(without_marks(answer), form)
    return fold(form.strip()) in fold(without_marks(answer)) if form.strip() else False


@remembered(100_000)
def without_marks(text: str) -> str:
    """The text without the marks of Markdown's emphasis and bullets; signs of multiplication stay."""
    text = _ASTERISKS.sub(lambda found: "*" if found["times"] else " ", text)
    return _EMPHASIS.sub(" ", text)
