"""What stands behind a number and belongs to it: a percent sign, a word that multiplies, a unit."""

import re
from typing import NamedTuple

from evals.text.notation import NARROW
from evals.text.units import (
    BETWEEN,
    CURRENCY_CODES,
    CURRENCY_SIGNS,
    CURRENCY_UNITS,
    GLUED_SCALES,
    GLUED_UNITS,
    MEASURES,
    SCALES_OF_MONEY,
    SHORT_SCALES,
    TWO_WORDS,
    UNITS,
    WHOLE_SCALES,
)

_AFTER = re.compile(
    r"(?P<percent>[*_ \t\u00a0\u2002-\u200a\u202f\\]{0,3}[%％﹪٪]|[\s-]?(?i:per[\s-]?cent|pct)\b)"
    rf"|(?:(?<=[^\W\d_])\.)?[*_\\]{{0,3}}(?P<gap>[ \t{NARROW}]?[-‐‑]?|\) ?)[*_]{{0,2}}"
    r"(?P<word>(?:[^\W\d_]++(?:[./][^\W\d_]++)*+|°[CF]?|‰)(?!\d)"
    rf"|[{''.join(CURRENCY_SIGNS)}](?![ \u00a0]?\d))"
)
_IN_FORMULA = re.compile(r" ?[+*=^×·] ?[\w(]")
"""Behind a letter that is a variable: 4k + 3."""
_ONE_LETTER = frozenset("shglxLWV")
_FIRST_WORDS = frozenset(first for first, _ in TWO_WORDS)


class Suffix(NamedTuple):
    """What belongs to a number: the power of ten that multiplies it, its unit, and whether it is in percent."""

    places: int = 0
    unit: str = ""
    percent: bool = False
    glued: bool = False
    """Whether a letter glued to the number multiplies it, so that it may be part of a name: Form 10K."""


NOTHING = Suffix()
_PERCENT = Suffix(percent=True)
_COMMON = {
    word: Suffix(0, unit)
    for word, unit in UNITS.items()
    if len(word) > 2 and word not in _FIRST_WORDS | BETWEEN | MEASURES.keys()
}
"""Words that are units whatever follows, for speed."""


def suffix(text: str, end: int, *, in_money: bool = False) -> Suffix:
    """Read what stands behind a number that ends at `end`; `in_money` where a currency stands before it."""
    found = _AFTER.match(text, end)
    if found is None:
        return NOTHING
    if found["percent"]:
        return _PERCENT
    common = _COMMON.get(found["word"])
    if common is not None:
        return common
    places, glued = _first_scale(text, found, in_money=in_money)
    scale = places
    while scale and found is not None:
        found = _AFTER.match(text, found.end())
        scale = WHOLE_SCALES.get(_word(found), 0)
        places += scale
    unit = _unit(text, found) if found is not None else ""
    return Suffix(places, unit, glued=glued) if places or unit else NOTHING


def _first_scale(text: str, found: re.Match[str], *, in_money: bool) -> tuple[int, bool]:
    """The power of ten that a word or a letter behind a number stands for, and whether it is a glued letter."""
    word, lower = found["word"], found["word"].lower()
    places = WHOLE_SCALES.get(lower) or SHORT_SCALES.get(lower)
    if places or word not in SCALES_OF_MONEY:
        return places or 0, False
    if not found["gap"] and word in GLUED_SCALES and not _IN_FORMULA.match(text, found.end()):
        return GLUED_SCALES[word], not in_money
    following = _AFTER.match(text, found.end())
    if in_money or (following is not None and following["word"] and _unit(text, following) in CURRENCY_UNITS):
        return SCALES_OF_MONEY[word], False
    return 0, False


def _word(found: re.Match[str] | None) -> str:
    return (found["word"] or "").lower() if found is not None else ""


def _unit(text: str, found: re.Match[str]) -> str:
    """The unit that a word names, alone or with the word behind it."""
    word = found["word"] or ""
    lower = word.lower()
    if lower in BETWEEN or lower in MEASURES or lower in _FIRST_WORDS:
        following = _AFTER.match(text, found.end())
        together = _of_two(lower, _word(following))
        if together:
            return together
    return _of_one(text, found, word, lower)


def _of_two(word: str, following: str) -> str:
    if word in BETWEEN:
        return UNITS.get(following, "")
    if word in MEASURES:
        return f"{MEASURES[word]} {UNITS[following]}" if following in UNITS else ""
    return TWO_WORDS.get((word, following), "")


def _of_one(text: str, found: re.Match[str], word: str, lower: str) -> str:
    if not found["gap"] and word in GLUED_UNITS:
        return GLUED_UNITS[word]
    if len(word) == 1 and word.isalpha() and not _is_one_letter_unit(text, found):
        return ""
    unit = UNITS.get(lower) or CURRENCY_SIGNS.get(word) or CURRENCY_CODES.get(word)
    return unit or UNITS.get(lower.partition("/")[0], "")


def _is_one_letter_unit(text: str, found: re.Match[str]) -> bool:
    """Whether a letter is a unit: not the s of 1990s, and the x of 3x only where it is glued."""
    word, start = found["word"], found.start()
    if word == "x":
        return not found["gap"]
    is_decade = found[0] == "s" and start >= 4 and text[start - 4 : start].isdecimal()
    return word in _ONE_LETTER and not is_decade
