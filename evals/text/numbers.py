"""The numbers of a text, written so that equal numbers are equal strings.

Conventions, where texts are ambiguous:

- English notation: a comma before exactly three digits groups (1,000 is 1000), a point begins the fraction. Apostrophes
  and the narrow blanks of typesetters group too. So two numbers of a list without a blank, 117,118, are read as one.
  What is no English number is read part by part: 1.000,5 is 1 and 5, a version 4.5.1 is 4, 5 and 1, a time 10:30 is
  10 and 30.
- Currency signs are dropped ($604 is 604), a percent sign is kept (5% is not 5); "percent" and "per cent" are the sign.
  It belongs to both ends of a range: 5-10% and "5 to 10%" are 5% and 10%.
- Numbers compare by value: 0.50 is 0.5, 007 is 7. Words such as "million" and the k of 5k do not multiply.
- A minus stands directly before the number and after a blank, a bracket or the like: -0.133%, −0.133%, -$5, $-5. A
  hyphen after a letter or a digit is none (C-1, 2018-2026), nor is one before a blank (a bullet, a subtraction).
  Brackets are prose, not the minus of accountants: (604) is 604.
- The marks of a numbered list (1. Red, 2. Blue, each on a line of its own) are no numbers; one mark alone is no list.
- Digits that follow a letter are part of a word, not a number (B2B, v4.7, Q3), but for the x of 293x2.061; letters
  after digits are a unit (24h).
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

_GROUPING = ",'’\u00a0\u2009\u202f"
_DASHES = "\\-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
_CURRENCY = "$€£¥₹₽₩¢"
# Letters of alphabets: in scripts without spaces a number stands directly behind a word.
_LETTER = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f"
_RUN = rf"\d+(?:[.{_GROUPING}]\d+)*"
_CODE = r"(?:USD|EUR|GBP|CHF|JPY)"

_NUMBER = re.compile(
    rf"(?<![^\W_]){_CODE}(?={_RUN})"  # a currency glued to its amount is no word with a number in it
    r"|(?<=\d)x(?=\d)"  # 293x2.061
    rf"|[{_LETTER}]{_RUN}"
    rf"|(?:(?<![\w%)\]{_DASHES}])(?P<minus>[{_DASHES}])(?:[{_CURRENCY}][ \u00a0]?)?)?"
    rf"(?P<run>(?:(?<![\w.)])\.)?{_RUN})"
    r"(?P<percent>[*_ \t\u00a0\u2002-\u200a\u202f\\]{0,3}[%％﹪٪]|[\s-]?(?:per[\s-]?cent|pct)\b)?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"[-\u2010\u2011]|\s?[\u2012-\u2014]\s?|\s{1,3}to\s{1,3}", re.IGNORECASE)
_ENGLISH = re.compile(rf"(?:[1-9]\d{{0,2}}(?P<by>[{_GROUPING}])\d{{3}}(?:(?P=by)\d{{3}})*|\d+)?(?:\.\d+)?")
_ITEM = re.compile(r"^[ \t>*+-]{0,16}\(?(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)
_SPLIT_GROUPS = re.compile(rf"[{_GROUPING}]")
_DROPPED = dict.fromkeys(map(ord, _GROUPING))


@lru_cache(maxsize=4096)
def numbers(text: str) -> frozenset[str]:
    """The distinct numbers of a text: `604`, `0.305%`, `-0.133%`."""
    text = _without_list_marks(text)
    found = list(_NUMBER.finditer(text))
    return frozenset(
        number
        for place, one in enumerate(found)
        if one["run"]
        for number in _signed(one, in_percent=bool(one["percent"]) or _begins_range(text, found[place : place + 2]))
    )


def _without_list_marks(text: str) -> str:
    """The text without what numbers the items of a list: such marks count on, one after the other."""
    marks = list(_ITEM.finditer(text))
    counts = [int(mark[1]) for mark in marks]
    follows = [False, *(later - former in {0, 1} for former, later in pairwise(counts)), False]
    for place in reversed(range(len(marks))):
        if follows[place] or follows[place + 1]:
            text = f"{text[: marks[place].start()]}{text[marks[place].end() :]}"
    return text


def _begins_range(text: str, pair: list[re.Match[str]]) -> bool:
    """Whether the first of two numbers begins a range that ends in percent."""
    if len(pair) < 2 or not pair[1]["percent"]:
        return False
    return bool(_RANGE.fullmatch(text, pair[0].end(), pair[1].start()))


def _signed(found: re.Match[str], *, in_percent: bool) -> Iterator[str]:
    """A sign belongs to the first number of a run, a percent sign to the last."""
    parts = plain_numbers(found["run"])
    for place, part in enumerate(parts):
        minus = "-" if found["minus"] and place == 0 and part != "0" else ""
        percent = "%" if in_percent and place == len(parts) - 1 else ""
        yield f"{minus}{part}{percent}"


def plain_numbers(run: str) -> list[str]:
    """Write a run of digits, points and group separators as the numbers that it stands for, without signs."""
    if not run.isascii():
        run = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in run)
    if _ENGLISH.fullmatch(run):
        return [_by_value(run.translate(_DROPPED))]
    parts = _SPLIT_GROUPS.split(run)
    if len(parts) == 1:
        parts = run.split(".")
    return [number for part in parts if part for number in plain_numbers(part)]


def _by_value(number: str) -> str:
    whole, point, fraction = number.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}{point}{fraction}" if fraction else whole
