"""Values in a text: numbers with units, dates and names; and whether one replaces another."""

import re
import tomllib
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import dropwhile, product
from pathlib import Path
from re import Match, Pattern
from typing import Any, NamedTuple

from evals.text.folding import STOP_WORDS, remembered, tokens
from evals.text.notation import SHORT_SCALES, UNITS, WHOLE_SCALES, is_part_of
from evals.text.numbers import dates_agree, says_all, without_dates
from evals.text.quantities import ORDINAL_WORD, Quantity, distinct, missing, spelt_out

# One way to write what people write in several: money, units, versions, quarters, durations, days, times,
# addresses.


with (Path(__file__).resolve().parents[2] / "data" / "answer_words.toml").open("rb") as _file:
    WORDS: dict[str, Any] = tomllib.load(_file)
"""The English words and patterns of this package."""


def either(patterns: Iterable[str]) -> Pattern[str]:
    """One of these patterns, between the boundaries of words, in whatever case."""
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE)


_SCALES = "|".join(sorted((*WHOLE_SCALES, *SHORT_SCALES, "k", "m"), key=len, reverse=True))


_A_TIME = 10_000
"""Added to the minutes of a day, so that no other number is taken for a time, and no time for a year."""


def _time(hour: int, minute: str | None = None) -> str:
    """A time of day as one number."""
    return f"{_A_TIME + 60 * hour + int(minute or 0)}"


_CALLS: dict[str, Callable[[Match[str]], str]] = {
    "amount": lambda found: f"{found['amount']} {WORDS['money'][found['code']]}",
    "minutes": lambda found: f"{60 * int(found[1]) + int(found[2])} minutes",
    "half_day": lambda found: _time(int(found[1]) % 12 + 12 * (found[3] in "Pp"), found[2]),
    "clock": lambda found: _time(int(found[1]), found[2]),
    "noon": lambda found: _time(12 * (found[1] == "noon")),
    "address": lambda found: re.sub(r"\W+", "_", found[0].lower()),
    "day": lambda found: str(WORDS["days"][found[1]]),
    "quarter": lambda found: str(WORDS["quarters"][found[1]]),
}

_REWRITES = [
    (
        re.compile(row["look"]),
        re.compile(row["pattern"].replace("SCALE", rf"(?:\s?(?i:{_SCALES})\b\.?)?")),
        _CALLS[row["call"]] if "call" in row else row["to"],
    )
    for row in WORDS["rewrite"]
]


@remembered(60_000)
def in_one_notation(text: str) -> str:
    """The text with one way to write what can be written in several."""
    for look, pattern, instead in _REWRITES:
        if look.search(text):
            text = pattern.sub(instead, text)
    return text


_CONVERTED: list[dict[str, int]] = list(WORDS["convert"].values())
"""Units of one kind with their size in the smallest of them."""

_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")

_PLAIN = re.compile(r"-?\d{1,12}(?:\.\d{1,6})?")

_REFERENCE = re.compile(WORDS["values"]["reference"], re.IGNORECASE)

_ASKS_FOR_PLACE = re.compile(WORDS["values"]["asks_for_place"], re.IGNORECASE)

_WORD = r"[^\W\d_a-z][\w'’&-]*"

_NAME = re.compile(rf"{_WORD}(?:(?:\s(?:of|de|van|von|der|den|the|&))*\s{_WORD})*")

_POINTERS, _NO_NAMES, _TITLES = (frozenset(WORDS["values"][name]) for name in ("pointers", "no_names", "titles"))


_OPENS = ("", *".!?:\n•*-")
"""The characters behind which a sentence or an item begins."""

_CAPITALS = re.compile(r"\b[A-Z]{2,5}\b")


_SHORT = 4
"""Words of an answer so short that a capital at its begin may be that of a name."""


class Values(NamedTuple):
    """The values of a text."""

    numbers: frozenset[Quantity] = frozenset()
    dates: frozenset[str] = frozenset()
    names: frozenset[tuple[str, ...]] = frozenset()
    """As their words in lower case."""

    def __len__(self) -> int:
        return len(self.numbers) + len(self.dates) + len(self.names)


@lru_cache(maxsize=512)
def values_of(text: str, question: str = "") -> Values:
    """The values of a text; the numbers of sections, pages and the like are none, unless one was asked for."""
    plain, found = without_dates(text if _ASKS_FOR_PLACE.search(question) else _REFERENCE.sub(" ", text))
    return Values(distinct(plain) | _in_words(plain), frozenset(found), frozenset(_names(plain)))


def _in_words(text: str) -> frozenset[Quantity]:
    return frozenset(one for one in spelt_out(text) if one.unit != ORDINAL_WORD)


def _names(text: str) -> Iterable[tuple[str, ...]]:
    """Capitalised words side by side; one alone at the begin of a sentence counts in a very short text only."""
    short = len(text.split()) <= _SHORT
    for found in _NAME.finditer(text):
        words = _name(found[0])
        opens = text[: found.start()].rstrip()[-1:] in _OPENS
        if words and (len(words) > 1 or short or not opens):
            yield words


def _name(text: str) -> tuple[str, ...]:
    """The words of a name without what stands before it; nothing where it is none."""
    words = [word for word in tokens(text.replace("'s", "").replace("’s", "")) if len(word) > 1]
    said = tuple(dropwhile(lambda word: word in STOP_WORDS or word in _NO_NAMES, words))
    return () if all(map(_in_words, said)) or said[-1].isdecimal() or said[-1] in UNITS else said


def wanted_values(accepted: str, question: str) -> Values:
    """The values of an expected answer that its question does not hold already; all where it holds them all."""
    own, asked = values_of(accepted, question), values_of(question)
    words = set(tokens(question))
    fresh = Values(
        own.numbers - asked.numbers,
        own.dates - asked.dates,
        frozenset(name for name in own.names if not words.issuperset(name)),
    )
    return fresh if len(fresh) else own


def lacking(wanted: Values, answer: str, question: str) -> Values:
    """The wanted values that an answer does not state; numbers count in other units of their kind too."""
    given, words = values_of(answer, question), set(tokens(answer))
    numbers = missing(wanted.numbers, answer, question)
    return Values(
        frozenset(one for one in numbers if not any(_same_amount(one, other) for other in given.numbers)),
        frozenset(one for one in wanted.dates if not any(says_all(one, other) for other in given.dates)),
        frozenset(name for name in wanted.names if not _is_named(name, words, given.names)),
    )


def _is_named(name: tuple[str, ...], words: set[str], given: Iterable[tuple[str, ...]]) -> bool:
    """Whether an answer names somebody: by the family name alone too, where no other given name stands before it."""
    if words.issuperset(name):
        return True
    others = [other[0] for other in given if len(other) > 1 and other[-1] == name[-1] and other[0] not in _TITLES]
    return name[-1] in words and (not others or any(other[0] == name[0][0] for other in others))


def _same_amount(one: Quantity, other: Quantity) -> bool:
    if not (_PLAIN.fullmatch(one.value) and _PLAIN.fullmatch(other.value)):
        return False
    for table in _CONVERTED:
        if one.unit in table and other.unit in table:
            return Fraction(one.value) * table[one.unit] == Fraction(other.value) * table[other.unit]
    return False


def in_place_of(lost: Values, accepted: Iterable[str], answer: str, question: str) -> bool:
    """Whether an answer has another value of the kind and unit of one that it lacks.

    What stands in the question or in an accepted answer is no other value, nor is what says where something is written.

    Args:
        lost: What the answer lacks.
        accepted: The expected answers.
        answer: The answer.
        question: What was asked.
    """
    known = (question, *accepted)
    numbers, dates = _others(values_of(answer, question), known)
    kinds, lost_kinds = set(map(_dimension, numbers)), set(map(_dimension, lost.numbers))
    if kinds & lost_kinds or _other_name(lost.names, answer, known):
        return True
    if dates and (lost.dates or "year" in lost_kinds):
        return True
    years = [one.value for one in numbers if _dimension(one) == "year"]
    return any(not date.startswith(("?", year)) for date, year in product(lost.dates, years))


def _others(given: Values, known: Iterable[str]) -> tuple[list[Quantity], list[str]]:
    """The numbers and dates that none of these texts states."""
    stated = [values_of(text) for text in known]
    numbers = [one for one in given.numbers if not any(_is_known(one, own.numbers) for own in stated)]
    dates = [one for one in given.dates if not any(dates_agree(one, date) for own in stated for date in own.dates)]
    return numbers, dates


def _other_name(lost: Iterable[tuple[str, ...]], answer: str, known: Iterable[str]) -> bool:
    """Whether an answer has a name in the place of one; "the CFO" is none in the place of "Anna Berg"."""
    seen = {word for text in known for word in tokens(text)}
    others = [name for name in values_of(answer).names if name[-1] not in seen and name[-1] not in _POINTERS]
    titles = {word.lower() for word in _CAPITALS.findall(answer)}
    return any(len(name) == 1 or not titles.issuperset(other) for name, other in product(lost, others))


def _is_known(one: Quantity, known: Iterable[Quantity]) -> bool:
    return any(
        (one.value == other.value and (is_part_of(one.unit, other.unit) or is_part_of(other.unit, one.unit)))
        or _same_amount(one, other)
        for other in known
    )


def _dimension(one: Quantity) -> str:
    """What a number measures: time, a currency, a percentage, a year; "" if not stated."""
    if one.value.endswith("%"):
        return "%"
    if one.unit in WORDS["convert"]["long_time"]:
        return _dimension_of("seconds")
    if not one.unit and _YEAR.fullmatch(one.value):
        return "year"
    return _dimension_of(one.unit)


def _dimension_of(unit: str) -> str:
    """The kind of a unit, named by the smallest that is converted to it; of dollars or pounds whichever."""
    return next((next(iter(table)) for table in _CONVERTED if unit in table), unit.partition("/")[0])
