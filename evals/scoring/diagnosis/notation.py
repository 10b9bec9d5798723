"""One way to write what people write in several: amounts of money, units, versions and days of the week.

An expected answer is often a note (`120 EUR`, `v2.3`, `Mon-Fri`), where the answer is a sentence (120 euros, version
2.3, from Monday to Friday). Both are rewritten before their values and words are compared; nobody sees the result.
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
_CODE_FIRST = re.compile(rf"\b(?P<code>{_CODES})\s?(?P<amount>\d(?:[\d.,'’]*\d)?{_SCALE})")
_CODE_LAST = re.compile(rf"(?P<amount>\d{_SCALE})\s?(?P<code>{_CODES})\b")
_UNITS = tuple(
    (signs, re.compile(rf"(?<=\d)\s?(?:{short})(?![\w/])|\b(?:{words})\b"), f" {unit}")
    for unit, signs, short, words in (
        ("megawatts", ("MW",), "MW", "megawatts?"),
        ("kwh", ("Wh", "wh", "watt"), "kWh|KWh|kwh", "[Kk]ilowatt[- ]hours?"),
        ("kbit/s", ("bit", "bps"), "[Kk]bit/s|[Kk]bps", "[Kk]ilobits? per second"),
        ("mbit/s", ("bit", "bps"), "[Mm]bit/s|[Mm]bps", "[Mm]egabits? per second"),
        ("gbit/s", ("bit", "bps"), "[Gg]bit/s|[Gg]bps", "[Gg]igabits? per second"),
        ("km/h", ("per hour",), "km/h", "[Kk]ilomet(?:re|er)s? per hour"),
        ("mph", ("per hour",), "mph", "[Mm]iles per hour"),
    )
)
"""By unit: what must be there before anything is looked for, short forms behind a number, and its words."""
_VERSION = re.compile(r"\b[vV]\.?\s?(?=\d)")
_MAY_BE_VERSION = re.compile(r"[vV]\.?\s?\d")
"""The same without looking behind, which is the quicker."""
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
_DAY_SIGNS = frozenset(name[:3] for name in _DAYS)


@remembered(200_000)
def in_one_notation(text: str) -> str:
    """The text with one way to write what can be written in several."""
    if any(code in text for code in _MONEY):
        text = _CODE_LAST.sub(_amount, _CODE_FIRST.sub(_amount, text))
    for signs, pattern, unit in _UNITS:
        if any(sign in text for sign in signs):
            text = pattern.sub(unit, text)
    if any(sign in text for sign in _DAY_SIGNS):
        text = _DAY.sub(lambda found: _DAYS[found[1]], text)
    return _VERSION.sub("version ", text) if _MAY_BE_VERSION.search(text) else text


def _amount(found: re.Match[str]) -> str:
    return f"{found['amount']} {_MONEY[found['code']]}"
