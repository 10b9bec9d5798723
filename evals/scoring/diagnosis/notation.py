"""One way to write what people write in several: money, units, versions, quarters, durations, days, times, addresses.

An expected answer is often a note (`120 EUR`, `v2.3`, `Mon-Fri`, `5 PM`), where the answer is a sentence (120 euros,
version 2.3, from Monday to Friday, until 17:00). Both are rewritten before their values and words are compared; nobody
sees the result.
"""

import re
from collections.abc import Callable, Iterator
from re import Match, Pattern

from evals.text.remembered import remembered
from evals.text.units import SHORT_SCALES, WHOLE_SCALES

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
