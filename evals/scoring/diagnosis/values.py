"""The values that a text states: numbers with their units, dates and names; and whether one stands for another."""

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import dropwhile, product
from typing import NamedTuple

from evals.text.dates import agree, says_all, without_dates
from evals.text.folding import tokens
from evals.text.number_words import ORDINAL_WORD, spelt_out
from evals.text.numbers import Quantity
from evals.text.same_numbers import distinct, missing
from evals.text.stop_words import STOP_WORDS
from evals.text.units import UNITS, is_part_of

_TIME = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "nights": 86400, "weeks": 604800}
_LONG_TIME = {"months": 1, "years": 12, "decades": 120, "centuries": 1200}
_CONVERTED = (
    _TIME,
    _LONG_TIME,
    {"millilitres": 1, "litres": 1000},
    {"milligrams": 1, "grams": 1000, "kilograms": 10**6, "tons/metric": 10**9},
    {"millimetres": 1, "centimetres": 10, "metres": 1000, "kilometres": 10**6},
)
"""Units of one kind with their size in the smallest of them."""
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_PLAIN = re.compile(r"-?\d{1,12}(?:\.\d{1,6})?")
_REFERENCE = re.compile(
    r"(?:\b(?:sections?|sec|chapters?|articles?|art|paragraphs?|para|clauses?|rules?|tables?|figures?|appendix|annex|"
    r"pages?|parts?|forms?|versions?|documents?|schedules?|items?|steps?|no|number)\b\.?|§+|#)\s*[A-Z]?-?\d+(?:[.,-]\d+)*",
    re.IGNORECASE,
)
"""The number of a place in a document, which is no value."""
_ASKS_FOR_PLACE = re.compile(
    r"\b(?:which|what|whose|where|how many|list|name|give|tell|state|cite|find|identify|specify)\b(?:\W+\w+){0,4}?\W+"
    r"(?:section|chapter|article|paragraph|clause|rule|table|figure|appendix|annex|page|part|form|version|document|"
    r"schedule|item|step|number)s?\b",
    re.IGNORECASE,
)
_WORD = r"[^\W\d_a-z][\w'’&-]*"
_NAME = re.compile(rf"{_WORD}(?:(?:\s(?:of|de|van|von|der|den|the|&))*\s{_WORD})*")
_POINTERS = frozenset(
    (
        *("policy", "policies", "handbook", "section", "guide", "guideline", "guidelines", "manual", "document"),
        *("contract", "agreement", "regulation", "regulations", "appendix", "annex", "schedule", "chapter", "article"),
        *("act", "code", "table", "page", "report", "rules", "terms", "conditions", "sheet", "plan", "procedure"),
    )
)
"""What a name ends with that says where something is written."""
_NO_NAMES = frozenset(
    (
        *("yes", "no", "true", "false", "i", "note", "answer", "however", "according", "dr", "mr", "mrs", "ms"),
        *("prof", "sir"),
    )
)
_TITLES = frozenset(
    (
        *("president", "chancellor", "minister", "professor", "doctor", "captain", "general", "senator", "judge"),
        *("mayor", "director", "manager", "officer", "chief", "chair", "chairman", "chairwoman", "head", "ceo"),
        *("cfo", "cto", "coo", "king", "queen", "prince", "princess", "lord", "lady", "saint", "pope", "governor"),
        *("secretary", "miss", "vp"),
    )
)
"""What stands before a family name in the place of a given name."""
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
    given = values_of(answer, question)
    numbers, dates = _other_numbers(given.numbers, known), _other_dates(given.dates, known)
    if set(map(_dimension, lost.numbers)) & set(map(_dimension, numbers)) or _other_name(lost.names, answer, known):
        return True
    if dates and (lost.dates or any(_dimension(one) == "year" for one in lost.numbers)):
        return True
    return _other_year(lost.dates, numbers)


def _other_numbers(given: Iterable[Quantity], known: Iterable[str]) -> list[Quantity]:
    stated = [one for text in known for one in values_of(text).numbers]
    return [one for one in given if not _is_known(one, stated)]


def _other_dates(given: Iterable[str], known: Iterable[str]) -> list[str]:
    stated = [date for text in known for date in values_of(text).dates]
    return [one for one in given if not any(agree(one, date) for date in stated)]


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


def _other_year(lost: Iterable[str], numbers: Iterable[Quantity]) -> bool:
    years = [one.value for one in numbers if _dimension(one) == "year"]
    return any(not date.startswith(("?", year)) for date in lost for year in years)


def _dimension(one: Quantity) -> str:
    """What a number measures: time, a currency, a percentage, a year; "" where nobody says."""
    if one.value.endswith("%"):
        return "%"
    if one.unit in _LONG_TIME:
        return _dimension_of(next(iter(_TIME)))
    if not one.unit and _YEAR.fullmatch(one.value):
        return "year"
    return _dimension_of(one.unit)


def _dimension_of(unit: str) -> str:
    """The kind of a unit, named by the smallest that is converted to it; of dollars or pounds whichever."""
    return next((next(iter(table)) for table in _CONVERTED if unit in table), unit.partition("/")[0])
