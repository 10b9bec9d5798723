"""Numbers that share their name with others: "territories 118 and 117", "Rules C-1, C-2 and C-3", "C-1 through C-12".

A form such as "territory 118", "Rule C-1" or "C-1" is a name, a code, or both, with a number. It stands in a series
where the name, in the singular or the plural of English, or the code is followed by a list or a range that holds the
number. A line break ends a series, except behind a comma or beside a word.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from evals.text.folding import fold

_FORM = re.compile(r"(?:(?P<name>.*[^\W\d_])\s+)?(?:(?P<code>[^\W\d_]{1,3})-)?(?P<number>\d{1,9})")
_BARE_CODE = re.compile(r"[^\W\d_]-\d+")
_NUMBER = r"(?P<number>\d{1,9})(?!\w|[.,]\d|\s?%)"
_BETWEEN = re.compile(
    r" ?[,;&/][ \n]?(?:(?:and|or)[ \n])?|[ \n](?:and|or|versus|vs\.?)[ \n]|"
    r"(?P<range> ?[-–] ?|[ \n](?:up to|to|through|thru|until)[ \n])"
)
_SPACE = re.compile(r"\s+")
_DASHES = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2212": "-", "\u2014": "–", "\u2012": "–"})


class _Series(NamedTuple):
    """What a form looks for: how a series begins, an item of it, the end of a range, and the number."""

    head: re.Pattern[str]
    item: re.Pattern[str]
    end: re.Pattern[str]
    number: int


def is_bare_code(form: str) -> bool:
    """Whether the form is one letter with a number, such as "C-1": there "Section C (1 page)" would hold its words."""
    return bool(_BARE_CODE.fullmatch(_readable(form)))


def stands_in_series(text: str, form: str) -> bool:
    """Whether the number of the form stands in a list or a range behind its name or code; a series of one counts."""
    series = _series(form)
    return series is not None and any(low <= series.number <= high for low, high in _spans(_readable(text), series))


@lru_cache(maxsize=1024)
def _series(form: str) -> _Series | None:
    found = _FORM.fullmatch(_readable(form))
    if not found or not (found["name"] or found["code"]):
        return None
    names = f"(?:{re.escape(_plural(found['name']))}|{re.escape(found['name'])})" if found["name"] else ""
    again = f"(?:{names} )?" if names else ""
    code = f"{re.escape(found['code'])}-?" if found["code"] else ""
    if not code:  # "territory 118, 117 homes" is no list
        head = rf"\b{re.escape(_plural(found['name']))}[: ] ?\(?(?:of )?"
    else:
        head = rf"\b{names}[: ] ?\(?" if names else rf"(?<![\w-])(?={code}\d)"
    item, end = f"{again}{code}{_NUMBER}", f"{again}(?:{code})?{_NUMBER}"
    return _Series(re.compile(head), re.compile(item), re.compile(end), int(found["number"]))


def _spans(text: str, series: _Series) -> Iterator[tuple[int, int]]:
    """The numbers of every series as first and last of a range; a single number is both."""
    reached = 0
    for head in series.head.finditer(text):
        if head.start() < reached:
            continue
        low = None
        item = series.item.match(text, head.end())
        while item:
            number, reached = int(item["number"]), item.end()
            yield (number if low is None else low), number
            between = _BETWEEN.match(text, reached)
            if between is None:
                break
            low = number if between["range"] else None
            item = (series.item if low is None else series.end).match(text, between.end())


def _plural(name: str) -> str:
    if re.search(r"[^aeiou]y$", name):
        return f"{name[:-1]}ies"
    return f"{name}es" if re.search(r"(?:s|x|ch|sh)$", name) else f"{name}s"


@lru_cache(maxsize=1024)
def _readable(text: str) -> str:
    """The text folded, with one kind of each dash and one blank or line break at a time."""
    return _SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", fold(text).translate(_DASHES)).strip()
