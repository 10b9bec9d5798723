"""What stands before a number and belongs to it: a minus, a currency, the point of a fraction; or a letter.

A minus stands directly before the number or its currency, behind a blank, a bracket or the like; so does "minus" or
"negative", but not in "10 minus 5".
"""

import re
from typing import NamedTuple

from evals.text.units import CURRENCY_CODES, CURRENCY_SIGNS, DOLLARS

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
_BEGINS = frozenset("-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d.") | CURRENCY_SIGNS.keys()
_NEGATIVE = frozenset({"nus", "NUS", "ive", "IVE"})
_BEFORE_BLANK = frozenset(CURRENCY_CODES) | _NEGATIVE
"""The last three characters of what belongs to a number behind a blank, but for signs of currencies."""
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
    before, further = text[start - 1 : start], text[start - 2 : start - 1]
    if before in {" ", "\u00a0"}:
        if further not in CURRENCY_SIGNS and text[start - 4 : start - 1] not in _BEFORE_BLANK:
            return Head(start)
    elif before in CURRENCY_SIGNS and further in {"", " "} and text[start - 5 : start - 2] not in _NEGATIVE:
        return Head(start - 1, False, CURRENCY_SIGNS[before])
    elif before not in _BEGINS and not (before.isascii() and before.isalpha()):
        return Head(start)
    found = _HEAD.search(text, max(0, start - _LONGEST), start)
    if found is None:  # the pattern matches nothing at all, too
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
