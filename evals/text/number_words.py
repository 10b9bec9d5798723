"""Numbers that a text writes in words: "twenty-five days", "two million", "one half", "the third floor".

An expected answer is measured by its digits; these are what an answer may say instead, so they are read generously.
"One" counts where a unit, a percent sign or a word that multiplies follows ("one day"), for it is a pronoun too, and
ordinals are told apart from numbers, for a second is a time too.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from evals.text.after_number import NOTHING, suffix
from evals.text.notation import of_fraction, shifted
from evals.text.numbers import Quantity
from evals.text.units import ORDINAL, WHOLE_SCALES

ORDINAL_WORD = f"{ORDINAL}/word"
"""The unit of an ordinal that is a word: "third" is 3rd, but not 3."""

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    "twentieth",
)
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_VALUES = {word: value for value, word in enumerate(_SMALL)} | {word: 20 + 10 * n for n, word in enumerate(_TENS)}
_ORDINAL_VALUES = {word: value for value, word in enumerate(_ORDINALS, 1)}
_MULTIPLIED = {word: 10**places for word, places in WHOLE_SCALES.items() if not word.endswith("s")}

_LETTERS = re.compile(r"[a-z]+")
_TELLING = _VALUES.keys() | _ORDINAL_VALUES.keys() | _MULTIPLIED.keys() | {"half", "quarter"}
_ANY = "|".join(sorted(_VALUES, key=len, reverse=True))
_SCALE = "|".join(_MULTIPLIED)
_CARDINAL = re.compile(rf"\b(?:(?:{_ANY})|an?(?= (?:{_SCALE})\b))(?:[ -](?:and )?(?:{_ANY}|{_SCALE})\b){{0,20}}+(?!\w)")
_ORDINAL = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})[ -])?(?P<last>{'|'.join(sorted(_ORDINAL_VALUES, key=len, reverse=True))})\b"
)
_SHARE = re.compile(rf"\b(?:(?P<many>an?|{_ANY})[ -](?P<part>{'|'.join(_PARTS)})s?|half)\b")


@lru_cache(maxsize=1024)
def spelt_out(text: str) -> frozenset[Quantity]:
    """The numbers that words of a text stand for, with their units; ordinals have a unit of their own."""
    text = text.lower()
    if _TELLING.isdisjoint(_LETTERS.findall(text)):
        return frozenset()
    return frozenset((*_cardinals(text), *_ordinals(text), *_shares(text)))


def _cardinals(text: str) -> Iterator[Quantity]:
    for found in _CARDINAL.finditer(text):
        behind = suffix(text, found.end())
        if found[0] == "one" and behind is NOTHING:
            continue
        value = shifted(str(_value(re.split(r"[ -]", found[0]))), behind.places)
        yield Quantity(f"{value}{'%' * behind.percent}", behind.unit)


def _value(words: list[str]) -> int:
    """Add up what the words say, a hundred within each thousand: two hundred five thousand and one is 205001."""
    total = part = 0
    for word in words:
        if word in {"a", "an"}:
            part = 1
        elif word == "hundred":
            part = (part or 1) * 100
        elif word in _MULTIPLIED:
            total, part = total + (part or 1) * _MULTIPLIED[word], 0
        else:
            part += _VALUES.get(word, 0)
    return total + part


def _ordinals(text: str) -> Iterator[Quantity]:
    for found in _ORDINAL.finditer(text):
        tens = _VALUES[found["tens"]] if found["tens"] else 0
        yield Quantity(str(tens + _ORDINAL_VALUES[found["last"]]), ORDINAL_WORD)


def _shares(text: str) -> Iterator[Quantity]:
    for found in _SHARE.finditer(text):
        many, part = _VALUES.get(found["many"] or "", 1), _PARTS[found["part"] or "half"]
        if many < part:
            yield Quantity(of_fraction(Fraction(many, part)), suffix(text, found.end()).unit)
