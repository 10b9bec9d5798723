"""How a number is written in digits: groups, decimal points and commas, fractions; and one way to write its value.

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


def is_english(run: str) -> bool:
    """Whether a run of digits is one number in English notation."""
    return bool(_ENGLISH.fullmatch(run))


def has_decimal_commas(text: str) -> bool:
    """Whether numbers show that commas are decimal (1.234,56; 12,5 %; 1.500 €), and none that points are."""
    return bool(_SHOWS_CONTINENTAL.search(text)) and not _SHOWS_ENGLISH.search(text)
