"""Format counts with their nouns, and normalise dates."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

# Counts with their nouns and verbs, as English wants them.


_MANY = {"is": "are", "was": "were", "has": "have"}


def counted(count: int, thing: str, verb: str = "") -> str:
    """A count with its noun, and its verb where one is given in the singular: `1 question was`, `2 questions were`."""
    words = [str(count), agree(count, thing, f"{thing}s"), _form(count, verb)]
    return " ".join(word for word in words if word)


def share(part: int, whole: int, thing: str, verb: str = "") -> str:
    """A part of a count, with the verb of the part: `1 of 12 questions has`, `2 of 12 questions have`."""
    words = [f"{part} of {counted(whole, thing)}", _form(part, verb)]
    return " ".join(word for word in words if word)


def agree(count: float, one: str, many: str) -> str:
    """The form of a word that goes with the count: the first with 1, the second with any other."""
    return one if count == 1 else many


def _form(count: int, verb: str) -> str:
    return agree(count, verb, _MANY.get(verb, verb.removesuffix("s")))


# Dates as texts write them, so that one date is one string: 1 March 2024, March 1st, 2024 and 2024-03-01.


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


_NAME = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|(?-i:May)|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)

_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"

_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)"


_FORMS = tuple(
    re.compile(rf"(?<![\w.,/-]){form}(?![\w/-]|[.,]\d)", re.IGNORECASE)
    for form in (
        r"(?P<year>(?:1[5-9]|20)\d\d)-(?P<month>0?[1-9]|1[0-2])-(?P<day>[12]\d|3[01]|0?[1-9])",
        rf"(?:the )?{_DAY} (?:of )?{_NAME},? {_YEAR}",
        rf"{_NAME} (?:the )?{_DAY},? {_YEAR}",
        r"(?P<day>1[3-9]|2\d|3[01])[./](?P<month>0?[1-9]|1[0-2])[./](?P<year>(?:1[5-9]|20)\d\d)",
        r"(?P<month>0?[1-9]|1[0-2])/(?P<day>1[3-9]|2\d|3[01])/(?P<year>(?:1[5-9]|20)\d\d)",
        rf"{_NAME},? (?:of )?{_YEAR}",
        rf"(?:the )?{_DAY} (?:of )?{_NAME}",
        rf"{_NAME} (?:the )?{_DAY}",
    )
)


@lru_cache(maxsize=512)
def dates(text: str) -> frozenset[str]:
    """The distinct dates of a text as year-month-day, with a question mark for a part that it does not say."""
    return frozenset(without_dates(text)[1])


@lru_cache(maxsize=512)
def without_dates(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with a comma in the place of each date, and the dates in it."""
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        found.append(_written_dates(match.groupdict()))
        return ","

    for form in _FORMS:
        text = form.sub(take, text)
    return text, tuple(found)


def dates_agree(one: str, other: str) -> bool:
    """Whether two dates, as `dates` writes them, can be the same: what one does not say is no contradiction."""
    return all("?" in pair or pair[0] == pair[1] for pair in _parts(one, other))


def says_all(wanted: str, given: str) -> bool:
    """Whether the second date says all that the first does."""
    return all(left in ("?", right) for left, right in _parts(wanted, given))


def _parts(one: str, other: str) -> Iterator[tuple[str, str]]:
    return zip(one.split("-"), other.split("-"), strict=True)


def _written_dates(parts: dict[str, str | None]) -> str:
    name, day = parts.get("name"), parts.get("day")
    month = _MONTHS.index(name[:3].lower()) + 1 if name else int(parts["month"] or 0)
    return f"{parts.get('year') or '?'}-{month:02d}-{f'{int(day):02d}' if day else '?'}"


PLAUSIBLE = 1e12
"""Beyond it, in either direction, no number that a server gives is a score or a confidence."""


def number_or_none(value: Any) -> float | None:
    """The value as a number; None where it is none, or beyond what is plausible."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if abs(number) <= PLAUSIBLE else None  # which NaN is not either
