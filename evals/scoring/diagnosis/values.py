"""The values that a text states: numbers with their units, dates and names; and whether one stands for another."""

import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import dropwhile, product
from re import Match, Pattern
from typing import NamedTuple

from evals.text.folding import STOP_WORDS, remembered, tokens
from evals.text.notation import SHORT_SCALES, UNITS, WHOLE_SCALES, is_part_of
from evals.text.numbers import dates_agree, says_all, without_dates
from evals.text.quantities import ORDINAL_WORD, Quantity, distinct, missing, spelt_out

# One way to write what people write in several: money, units, versions, quarters, durations, days, times,
# addresses.


Instead = str | Callable[[Match[str]], str]

Rewrite = tuple[Pattern[str], Instead]


_MONEY = {
    "EUR": "euros",
    "USD": "US dollars",
    "CAD": "Canadian dollars",
    "AUD": "Australian dollars",
    "GBP": "pounds sterling",
    "JPY": "yen",
    "CNY": "yuan",
    "RMB": "yuan",
    "INR": "rupees",
    "CHF": "francs",
}
"""Codes of currencies with the words that are read as the same unit."""

_CODES = "|".join(_MONEY)

_SCALES = "|".join(sorted((*WHOLE_SCALES, *SHORT_SCALES, "k", "m"), key=len, reverse=True))

_SCALE = rf"(?:\s?(?i:{_SCALES})\b\.?)?"


_UNITS = {
    "megawatts": ("MW", "megawatts?"),
    "kwh": ("kWh|KWh|kwh", "[Kk]ilowatt[- ]hours?"),
    "kbit/s": ("[Kk]bit/s|[Kk]bps", "[Kk]ilobits? per second"),
    "mbit/s": ("[Mm]bit/s|[Mm]bps", "[Mm]egabits? per second"),
    "gbit/s": ("[Gg]bit/s|[Gg]bps", "[Gg]igabits? per second"),
    "km/h": ("km/h", "[Kk]ilomet(?:re|er)s? per hour"),
    "mph": ("mph", "[Mm]iles per hour"),
}
"""By unit: its short forms behind a number, and its words."""

_QUARTERS = {"first": "Q1", "second": "Q2", "third": "Q3", "fourth": "Q4", "last": "Q4"}


_DAYS = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Tues": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Thur": "Thursday",
    "Thurs": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}


_DAY = (
    r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|(?:(?<=[-–/])|(?<=[-–/] ))(?:Sat|Sun)|(?:Sat|Sun)(?=\.?\s?[-–/]))\b"
    r"(?:\.(?=\s?[-–/,;a-z\d]))?"
)
"""Sat and Sun in a range alone: both are words too."""


_CLOCK = r"\b([01]\d|2[0-3]|[4-9]|[0-3](?=:(?:0\d|15|30|45)\b)):([0-5]\d)(?::[0-5]\d)?\b"
"""Not 1:10 and 2:50, which are ratios."""


_METRES = (
    r"(?<![$€£¥₹\d.,])(?<![$€£¥₹]\s)\b(\d[\d,]*(?:\.\d+)?)\s?m\b"
    r"(?!\s?(?:[$€£¥₹/]|(?:US |Canadian |Australian )?dollars?\b|(?:euro|pound|franc|rupee)s?\b|yen\b|yuan\b))"
)
"""Of money, m is a million."""


_A_TIME = 10_000
"""Added to the minutes of a day, so that no other number is taken for a time, and no time for a year."""


def _amount(found: Match[str]) -> str:
    return f"{found['amount']} {_MONEY[found['code']]}"


def _time(hour: int, minute: str | None = None) -> str:
    """A time of day as one number."""
    return f"{_A_TIME + 60 * hour + int(minute or 0)}"


def _unit_rewrites() -> Iterator[Rewrite]:
    for unit, (short, words) in _UNITS.items():
        yield re.compile(rf"(?<=\d)\s?(?:{short})(?![\w/])|\b(?:{words})\b"), f" {unit}"


_RULES: tuple[tuple[Pattern[str], tuple[Rewrite, ...]], ...] = (
    (
        re.compile(_CODES),
        (
            (re.compile(rf"\b(?P<code>{_CODES})\s?(?P<amount>\d(?:[\d.,'’]*\d)?{_SCALE})"), _amount),
            (re.compile(rf"(?P<amount>\d{_SCALE})\s?(?P<code>{_CODES})\b"), _amount),
        ),
    ),
    (re.compile("MW|[Kk]Wh|kwh|watt|bit/s|bps|bits? per|per hour"), tuple(_unit_rewrites())),
    (re.compile("Mon|Tue|Wed|Thu|Fri|Sat|Sun"), ((re.compile(_DAY), lambda found: _DAYS[found[1]]),)),
    (
        re.compile(r"\d ?h|hour and a half"),
        (
            (
                re.compile(r"\b(\d{1,3}) ?h(?:(?:ou)?rs?)?\.?(?: and)? ?([0-5]?\d) ?m(?:in(?:ute)?s?)?\b\.?"),
                lambda found: f"{60 * int(found[1]) + int(found[2])} minutes",
            ),
            (
                re.compile(r"\b(\d{1,3}):([0-5]\d) ?h(?:(?:ou)?rs?)?\b"),
                lambda found: f"{60 * int(found[1]) + int(found[2])} minutes",
            ),
            (re.compile(r"\b(?:[Aa]n|[Oo]ne) hour and a half\b"), "90 minutes"),
        ),
    ),
    (
        re.compile(r"\d\s?[AaPp]\.?[Mm]\b"),
        (
            (
                re.compile(r"\b(1[0-2]|0?[1-9])(?::([0-5]\d)(?::[0-5]\d)?)?\s?([AaPp])\.?[Mm]\b\.?"),
                lambda found: _time(int(found[1]) % 12 + 12 * (found[3] in "Pp"), found[2]),
            ),
        ),
    ),
    (re.compile(r"\d:\d"), ((re.compile(_CLOCK), lambda found: _time(int(found[1]), found[2])),)),
    (
        re.compile("noon|midnight"),
        ((re.compile(r"\b(?:12 )?(noon|midnight)\b"), lambda found: _time(12 * (found[1] == "noon"))),),
    ),
    (re.compile(r"[vV]\.?\s?\d"), ((re.compile(r"\b[vV]\.?\s?(?=\d)"), "version "),)),
    (
        re.compile("quarter"),
        ((re.compile(rf"\b({'|'.join(_QUARTERS)}) quarter\b"), lambda found: _QUARTERS[found[1]]),),
    ),
    (re.compile("dozen"), ((re.compile(r"\b[Hh]alf a dozen\b"), "6"), (re.compile(r"\b(?:[Aa]|one) dozen\b"), "12"))),
    (re.compile(r"\d\s?m\b"), ((re.compile(_METRES), r"\1 metres"),)),
    (re.compile("://"), ((re.compile(r"\bhttps?://(?:www\.)?"), ""),)),
    (
        re.compile("@"),
        ((re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), lambda found: re.sub(r"\W+", "_", found[0].lower())),),
    ),
)
"""What must be there before anything is looked for, as most answers hold nothing of it; and what is rewritten."""


@remembered(60_000)
def in_one_notation(text: str) -> str:
    """The text with one way to write what can be written in several."""
    for quick_look, rewrites in _RULES:
        if quick_look.search(text):
            for pattern, instead in rewrites:
                text = pattern.sub(instead, text)
    return text


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
    return [one for one in given if not any(dates_agree(one, date) for date in stated)]


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
