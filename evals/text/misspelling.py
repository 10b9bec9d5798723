"""Whether two words are one that is misspelt, decided by letters, for there is no dictionary at hand.

Most words of English that differ by one letter are different words: public and pubic, contract and contact. So a letter
may be wrong only where that seldom makes another word: two neighbours that have changed places (recieve), a letter
doubled or not (adress), c before k or not (Barak), s for z (organise), and inside a long word a letter more or less
(goverment) or another vowel (seperate). Pairs of words that pass all the same are listed in `confused_words`.
"""

import re

from evals.text.confused_words import CONFUSED

_SHORTEST = 5
"""Letters from which a word may be misspelt."""
_LONG = 8
"""Letters from which one may be missing inside, or be another vowel."""
_LONG_STEM = 7
"""The same without an ending: shipping is not shopping."""
_VOWELS = frozenset("aeiouy")
_ENDING = re.compile(r"(?:ings?|ed|e?s)$")
_NUMBER_WORDS = frozenset(
    (
        *("three", "seven", "eight", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
        *("eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
        *("hundred", "thousand", "million", "billion", "trillion", "quadrillion", "dozen", "first", "second", "third"),
        *("fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth"),
        *("fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "thirtieth"),
        *("fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth", "hundredth", "thousandth"),
        *("millionth", "billionth", "hundreds", "thousands", "millions", "billions", "trillions", "dozens"),
        *("single", "double", "triple", "twice", "thrice"),
    )
)
_FORMS = frozenset({"ed", "ee", "en", "er", "es"})
"""Endings by whose last letter words differ that are no misspellings of each other: employer, employee, employed."""


def is_misspelt(one: str, other: str) -> bool:
    """Whether two different words in lower case are one, but for a misspelling that seldom makes another word.

    They have at least five letters and begin with the same one; number words are never misspelt.
    """
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST or short[0] != long[0] or len(long) - len(short) > 1:
        return False
    if not (short.isalpha() and long.isalpha()) or _NUMBER_WORDS & {one, other} or {one, other} in CONFUSED:
        return False
    if short[:-1] == long[:-1] and {short[-2:], long[-2:]} <= _FORMS:
        return False
    at = next((place for place, letter in enumerate(short) if letter != long[place]), len(short))
    return _has_letter_more(short, long, at) if len(long) > len(short) else _has_other_letter(short, long, at)


def _has_letter_more(short: str, long: str, at: int) -> bool:
    """Whether the longer word has one letter more, at the place from where the two differ."""
    if short[at:] != long[at + 1 :]:
        return False
    if long[at] == long[at - 1] or long[at : at + 2] == "ck":
        return True
    return at < len(short) and _is_long(short, long)


def _has_other_letter(one: str, other: str, at: int) -> bool:
    """Whether words of one length differ by neighbours that have changed places, or by a letter that sounds alike."""
    if one[at + 2 :] == other[at + 2 :] and one[at : at + 2] == other[at : at + 2][::-1]:
        return True
    if one[at + 1 :] != other[at + 1 :]:
        return False
    letters = {one[at], other[at]}
    if letters == {"s", "z"}:
        return True
    return letters <= _VOWELS and at < len(one) - 1 and _is_long(one, other)


def _is_long(one: str, other: str) -> bool:
    """Whether both words are so long that few others differ from them by a letter."""
    shortest = min(len(one), len(other))
    return shortest >= _LONG and min(len(_ENDING.sub("", word)) for word in (one, other)) >= _LONG_STEM
