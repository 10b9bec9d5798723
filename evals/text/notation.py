"""Normalise how numbers are written: groups, decimal points and commas, fractions.

English notation is the rule: a comma before exactly three digits groups (1,000 is 1000), a point begins the fraction.
Apostrophes and the narrow blanks of typesetters group too, and so do the commas of Indian notation (1,50,000). So two
numbers of a list without a blank, 117,118, are read as one. What can only be continental is read as that: 1.234,56,
1.234.567 and 0,5. So is an amount of euros with a point before three digits, 1.500 €. What is none of it is read part
by part: a version 4.5.1 is 4, 5 and 1, and 12,34 is 12 and 34 unless the text shows that its commas are decimal.
"""

import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from evals.text.folding import STOP_WORDS, lists_of

# Words behind and signs before a number: what multiplies it, and what it counts. The data file explains each table.

_DATA = lists_of("quantities")
WHOLE_SCALES: Mapping[str, int] = _DATA["whole_scales"]
SHORT_SCALES: Mapping[str, int] = _DATA["short_scales"]
GLUED_SCALES: Mapping[str, int] = _DATA["glued_scales"]
SCALES_OF_MONEY: Mapping[str, int] = _DATA["scales_of_money"]
CURRENCY_SIGNS: Mapping[str, str] = _DATA["currency_signs"]
CURRENCY_CODES: Mapping[str, str] = _DATA["currency_codes"]
CURRENCY_UNITS = frozenset((*CURRENCY_SIGNS.values(), *CURRENCY_CODES.values(), "pounds"))
DOLLARS: Mapping[str, str] = _DATA["dollars"]
UNITS: Mapping[str, str] = {word: unit for unit, words in _DATA["units"].items() for word in words.split()}
GLUED_UNITS: Mapping[str, str] = _DATA["glued_units"]
TWO_WORDS: Mapping[str, str] = _DATA["two_words"]
MEASURES: Mapping[str, str] = _DATA["measures"]
BETWEEN = frozenset(_DATA["between"].split())
NAMES = frozenset(_DATA["names"].split())
SMALL, TENS, ORDINALS = (_DATA[name].split() for name in ("small", "tens", "ordinals"))
PARTS: Mapping[str, int] = _DATA["parts"]

ORDINAL = "(ordinal)"
"""The unit of what says a place in an order: 3rd, the third."""


def is_part_of(one: str, other: str) -> bool:
    """Whether the second unit, or none, leads on to the first: "dollars" to "dollars/US"."""
    return not other or f"{one}/".startswith(f"{other}/")


def contradict(one: str, other: str) -> bool:
    """Whether two units cannot be meant of the same number; no unit contradicts none."""
    return not (is_part_of(one, other) or is_part_of(other, one))


NARROW = "\u00a0\u2007\u2009\u202f"
"""Blanks that typesetters put between groups of digits."""

GROUPING = f",'’{NARROW}"

_ENGLISH = re.compile(rf"(?:[1-9]\d{{0,2}}(?P<by>[{GROUPING}])\d{{3}}(?:(?P=by)\d{{3}})*|\d+)?(?:\.\d+)?")

_INDIAN = re.compile(r"[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d+)?")


_CONTINENTAL = re.compile(
    r"[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}|0,\d+"
    rf"|[1-9]\d{{0,2}}(?P<by>['’{NARROW}])\d{{3}}(?:(?P=by)\d{{3}})*,\d{{1,2}}"
)

_DECIMAL_COMMA = re.compile(rf"(?:[1-9]\d{{0,2}}(?P<by>[.'’{NARROW}])\d{{3}}(?:(?P=by)\d{{3}})*|\d+)(?:,\d+)?")

_SPLIT_GROUPS = re.compile(rf"[{GROUPING}]")

_DROPPED = dict.fromkeys(map(ord, GROUPING))

_CONTINENTAL_DROPPED = _DROPPED | {ord("."): None, ord(","): "."}


# It begins with a digit, so that it is looked for at digits only; what stands before is looked at afterwards.
_SPACED = re.compile(
    rf"(?P<groups>[1-9]\d{{0,2}}(?P<by>[ {NARROW}])\d{{3}}(?:(?P=by)\d{{3}})*+)(?:,(?P<cents>\d\d?))?"
    rf"(?!\d|[ {NARROW}]\d)"
)

_BEFORE_GROUPS = re.compile(rf"(?<![\w.,/])(?<![^\W\d_]-)(?<!\d[ {NARROW}])")

_SHOWS_ENGLISH = re.compile(r"(?<![\d.,])(?:\d+|\d{1,3}(?:,\d{3})+)\.\d{1,2}(?![\d.,]?\d)")

_GROUPED = r"[1-9]\d{0,2}(?:\.\d{3})+"

_EUROS = r"[ \u00a0\u202f]?(?:€|[Ee][Uu][Rr])"


_SHOWS_CONTINENTAL = re.compile(
    rf"(?<![\d.,])(?:{_GROUPED},\d+|\d+,\d{{1,2}}(?=[ \u00a0\u202f]?%|{_EUROS})"
    rf"|{_GROUPED}(?={_EUROS})|(?:(?<=€)|(?<=€ )|(?<=EUR )){_GROUPED})(?![.,]?\d)"
)

_VULGAR = re.compile(r"(\d?)([\u00bc-\u00be\u2150-\u215e])|(?<=\d)\u2044(?=\d)")


def plain_numbers(run: str, *, decimal_comma: bool = False) -> list[str]:
    """Write a run of digits, points and group separators as the numbers that it stands for, without signs.

    Args:
        run: Begins and ends with a digit, but for a point before it.
        decimal_comma: Whether a comma begins the fraction where the run alone leaves it open.
    """
    if run.isdecimal() and run.isascii():
        return [run.lstrip("0") or "0"]
    if not run.isascii():
        run = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in run)
    if decimal_comma and _DECIMAL_COMMA.fullmatch(run):
        return [_by_value(run.translate(_CONTINENTAL_DROPPED))]
    if _ENGLISH.fullmatch(run) or _INDIAN.fullmatch(run):
        return [_by_value(run.translate(_DROPPED))]
    if _CONTINENTAL.fullmatch(run):
        return [_by_value(run.translate(_CONTINENTAL_DROPPED))]
    parts = _SPLIT_GROUPS.split(run)
    if len(parts) == 1:
        parts = run.split(".")
    return [number for part in parts if part for number in plain_numbers(part)]


def _by_value(number: str) -> str:
    whole, point, fraction = number.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}{point}{fraction}" if fraction else whole


def shifted(number: str, places: int) -> str:
    """A number in plain writing times ten to the power of `places`, exactly: 1.5 by 6 is 1500000, 5 by -2 is 0.05."""
    whole, _, fraction = number.partition(".")
    digits, point = whole + fraction, len(whole) + places
    digits = digits.rjust(len(digits) - point + 1, "0") if point < 1 else digits.ljust(point, "0")
    point = max(point, 1)
    return _by_value(f"{digits[:point]}.{digits[point:]}")


def of_fraction(value: Fraction) -> str:
    """A fraction as a decimal number where it ends (1/2 is 0.5), else as a whole and a reduced fraction: 2 1/3."""
    for places in range(7):
        if (value * 10**places).denominator == 1:
            return shifted(str(value * 10**places), -places)
    whole, rest = divmod(value, 1)
    return f"{whole} {rest}" if whole else str(rest)


def closed_up(text: str) -> str:
    """The text without the blanks between groups of digits: 10 000 is 10000, and 10 000,50 is 10000.50.

    Behind a name one group alone is a number of its own, unless it is 000: "Territory 12 345 homes".
    """
    return _SPACED.sub(_joined, text)


def _joined(found: re.Match[str]) -> str:
    groups, by, cents = found["groups"], found["by"], found["cents"]
    if not _BEFORE_GROUPS.match(found.string, found.start()):
        return found[0]
    if by == " " and groups.count(" ") == 1 and not groups.endswith("000") and _follows_name(found):
        return found[0]
    return groups.replace(by, "") + (f".{cents}" if cents else "")


def _follows_name(found: re.Match[str]) -> bool:
    """Whether a capitalised word stands directly before, such as "Territory", but neither "About" nor "EUR"."""
    text, start = found.string, found.start()
    if text[start - 1 : start] != " ":
        return False
    word = text[text.rfind(" ", 0, start - 1) + 1 : start - 1]
    return word[:1].isupper() and word not in CURRENCY_CODES and word.lower() not in STOP_WORDS


def fractions_written_out(text: str) -> str:
    """The text with ½ as 1/2, and 2½ as 2 1/2."""
    return _VULGAR.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    if found[2] is None:
        return "/"
    fraction = unicodedata.normalize("NFKC", found[2]).replace("\u2044", "/")
    return f"{found[1]} {fraction}" if found[1] else fraction


def has_decimal_commas(text: str) -> bool:
    """Whether numbers show that commas are decimal (1.234,56; 12,5 %; 1.500 €), and none that points are."""
    return bool(_SHOWS_CONTINENTAL.search(text)) and not _SHOWS_ENGLISH.search(text)


# What stands behind a number and belongs to it: a percent sign, a word that multiplies, a unit.


_AFTER = re.compile(
    r"(?P<percent>[*_ \t\u00a0\u2002-\u200a\u202f\\]{0,3}[%％﹪٪]|[\s-]?(?i:per[\s-]?cent|pct)\b)"
    rf"|(?:(?<=[^\W\d_])\.)?[*_\\]{{0,3}}(?P<gap>[ \t{NARROW}]?[-‐‑]?|\) ?)[*_]{{0,2}}"
    r"(?P<word>(?:[^\W\d_]++(?:[./][^\W\d_]++)*+|°[CF]?|‰)(?!\d)"
    rf"|[{''.join(CURRENCY_SIGNS)}](?![ \u00a0]?\d))"
)


_IN_FORMULA = re.compile(r" ?[+*=^×·] ?[\w(]")
"""Behind a letter that is a variable: 4k + 3."""

_ONE_LETTER = frozenset("shglxLWV")

_FIRST_WORDS = frozenset(words.split()[0] for words in TWO_WORDS)


class Suffix(NamedTuple):
    """What belongs to a number: the power of ten that multiplies it, its unit, and whether it is in percent."""

    places: int = 0
    unit: str = ""
    percent: bool = False
    glued: bool = False
    """Whether a letter glued to the number multiplies it, so that it may be part of a name: Form 10K."""


NOTHING = Suffix()

_PERCENT = Suffix(percent=True)


def suffix(text: str, end: int, *, in_money: bool = False) -> Suffix:
    """Read what stands behind a number that ends at `end`; `in_money` where a currency stands before it."""
    found = _AFTER.match(text, end)
    if found is None:
        return NOTHING
    if found["percent"]:
        return _PERCENT
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
    return TWO_WORDS.get(f"{word} {following}", "")


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


# What stands before a number and belongs to it: a minus, a currency, the point of a fraction; or a letter.


_DASHES = "\\-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"

_MINUS = rf"(?<![\w%)\]{_DASHES}])[{_DASHES}]"

_CODE = rf"(?i:{'|'.join(CURRENCY_CODES)})"


_CURRENCY = (
    rf"(?:(?:(?<![^\W_])(?P<dollar>{'|'.join(DOLLARS)})(?=\$))?(?P<sign>[{''.join(CURRENCY_SIGNS)}])"
    rf"|(?<![^\W_])(?P<code>{_CODE}))[ \u00a0]?"
)


_HEAD = re.compile(
    rf"(?:(?P<minus>{_MINUS})|(?<![\d%)] )\b(?P<word>(?i:minus|negative)) )?(?:{_CURRENCY})?(?P<late>{_MINUS})?"
    r"(?P<point>(?<![\w.)])\.)?\Z"
)


_LONGEST = 16
"""Characters of the longest head: "negative US$ "."""

# Letters of alphabets: in scripts without spaces a number stands directly behind a word.
_LETTER = re.compile(r"[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f]")

_GLUED_CODE = re.compile(rf"(?<![^\W_]){_CODE}\Z")


class Head(NamedTuple):
    """What belongs to a number: where it begins, whether it is negative, the unit of its currency, a leading point."""

    start: int
    minus: bool = False
    currency: str = ""
    point: bool = False


def head(text: str, start: int) -> Head:
    """Read what stands before the first digit of a number."""
    found = _HEAD.search(text, max(0, start - _LONGEST), start)
    if found is None:
        return Head(start)
    minus = bool(found["minus"] or found["word"] or found["late"])
    return Head(found.start(), minus, _currency(found), bool(found["point"]))


def _currency(found: re.Match[str]) -> str:
    if found["dollar"]:
        return DOLLARS[found["dollar"]]
    if found["sign"]:
        return CURRENCY_SIGNS[found["sign"]]
    return CURRENCY_CODES[found["code"].upper()] if found["code"] else ""


def is_in_word(text: str, start: int) -> bool:
    """Whether digits follow a letter, such as B2B: not the x of a product (293x2.061), nor a currency (USD604)."""
    before = text[start - 1 : start]
    if not before.isalpha() or not _LETTER.match(before):
        return False
    if before in "xX" and text[start - 2 : start - 1].isdecimal():
        return False
    return not _GLUED_CODE.search(text, max(0, start - 4), start)
