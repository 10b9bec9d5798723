"""One way to write what people write in several: amounts of money, units, versions, days and times.

An expected answer is often a note (`120 EUR`, `v2.3`, `Mon-Fri`, `5 PM`), where the answer is a sentence (120 euros,
version 2.3, from Monday to Friday, until 17:00). Both are rewritten before their values and words are compared; nobody
sees the result. A quick look comes before each pattern: most answers hold nothing of it.
"""

import re

from evals.text.remembered import remembered
from evals.text.units import SHORT_SCALES, WHOLE_SCALES

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
_MAY_HAVE_CODE = re.compile(_CODES)
_CODE_FIRST = re.compile(rf"\b(?P<code>{_CODES})\s?(?P<amount>\d(?:[\d.,'’]*\d)?{_SCALE})")
_CODE_LAST = re.compile(rf"(?P<amount>\d{_SCALE})\s?(?P<code>{_CODES})\b")
_UNITS = tuple(
    (re.compile(rf"(?<=\d)\s?(?:{short})(?![\w/])|\b(?:{words})\b"), f" {unit}")
    for unit, short, words in (
        ("megawatts", "MW", "megawatts?"),
        ("kwh", "kWh|KWh|kwh", "[Kk]ilowatt[- ]hours?"),
        ("kbit/s", "[Kk]bit/s|[Kk]bps", "[Kk]ilobits? per second"),
        ("mbit/s", "[Mm]bit/s|[Mm]bps", "[Mm]egabits? per second"),
        ("gbit/s", "[Gg]bit/s|[Gg]bps", "[Gg]igabits? per second"),
        ("km/h", "km/h", "[Kk]ilomet(?:re|er)s? per hour"),
        ("mph", "mph", "[Mm]iles per hour"),
    )
)
"""By unit: its short forms behind a number, and its words."""
_MAY_HAVE_UNIT = re.compile(r"MW|[Kk]Wh|kwh|watt|bit/s|bps|bits? per|per hour")
_VERSION = re.compile(r"\b[vV]\.?\s?(?=\d)")
_MAY_HAVE_VERSION = re.compile(r"[vV]\.?\s?\d")
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
_DAY = re.compile(
    r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|(?:(?<=[-–/])|(?<=[-–/] ))(?:Sat|Sun)|(?:Sat|Sun)(?=\.?\s?[-–/]))\b"
    r"(?:\.(?=\s?[-–/,;a-z\d]))?"
)
"""Sat and Sun in a range alone: both are words too."""
_HALF_OF_DAY = re.compile(r"\b(1[0-2]|0?[1-9])(?::([0-5]\d)(?::[0-5]\d)?)?\s?([AaPp])\.?[Mm]\b\.?")
_MAY_HAVE_HALF_OF_DAY = re.compile(r"\d\s?[AaPp]\.?[Mm]\b")
_CLOCK = re.compile(r"\b([01]\d|2[0-3]|[4-9]|[0-3](?=:(?:0\d|15|30|45)\b)):([0-5]\d)(?::[0-5]\d)?\b")
"""Not 1:10 and 2:50, which are ratios."""
_NAMED = re.compile(r"\b(?:12 )?(noon|midnight)\b")
_A_TIME = 10_000
"""Added to the minutes of a day, so that no other number is taken for a time, and no time for a year."""
_MAY_HAVE_DAY = re.compile("Mon|Tue|Wed|Thu|Fri|Sat|Sun")


@remembered(200_000)
def in_one_notation(text: str) -> str:
    """The text with one way to write what can be written in several."""
    if _MAY_HAVE_CODE.search(text):
        text = _CODE_LAST.sub(_amount, _CODE_FIRST.sub(_amount, text))
    if _MAY_HAVE_UNIT.search(text):
        for pattern, unit in _UNITS:
            text = pattern.sub(unit, text)
    if _MAY_HAVE_DAY.search(text):
        text = _DAY.sub(lambda found: _DAYS[found[1]], text)
    return _with_versions(_with_minutes(text))


def _with_versions(text: str) -> str:
    return _VERSION.sub("version ", text) if _MAY_HAVE_VERSION.search(text) else text


def _with_minutes(text: str) -> str:
    """The text with each time of day as one number."""
    if _MAY_HAVE_HALF_OF_DAY.search(text):
        text = _HALF_OF_DAY.sub(lambda found: _time(int(found[1]) % 12 + 12 * (found[3] in "Pp"), found[2]), text)
    if ":" in text:
        text = _CLOCK.sub(lambda found: _time(int(found[1]), found[2]), text)
    if "noon" in text or "midnight" in text:
        text = _NAMED.sub(lambda found: _time(12 * (found[1] == "noon")), text)
    return text


def _time(hour: int, minute: str | None = None) -> str:
    return f"{_A_TIME + 60 * hour + int(minute or 0)}"


def _amount(found: re.Match[str]) -> str:
    return f"{found['amount']} {_MONEY[found['code']]}"
