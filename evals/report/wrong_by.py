"""Where questions end wrong more often than elsewhere: by dataset and by each key of the metadata."""

from typing import Any

from evals.scoring.diagnosis.slices import WrongSlice, wrong_slices
from evals.scoring.measured import Measured
from evals.scoring.settings import confidence
from evals.views.formatting import one_line
from evals.views.links import wrong_line

MOST_VALUES = 200
"""A key with more values names questions rather than kinds of them, and is left out."""
_NAME = 80


def slice_keys(measured: Measured) -> list[str]:
    """`dataset` and the keys of the metadata that have more than one value and not too many."""
    keys = ["dataset", *measured.digest.keys]
    return [key for key in keys if 1 < len(set(measured.values(key)) - {None}) <= MOST_VALUES]


def wrong_by_key(measured: Measured) -> list[dict[str, Any]]:
    """A table for each key: its values, the worst first."""
    links = dict(measured.digest.found.links())
    tables = []
    for key in slice_keys(measured):
        values = measured.values(key)
        asked = ((number, values[number]) for number in measured.columns.numbers)
        found = wrong_slices(links, asked, confidence(measured.run), measured.questions())
        tables.append({"key": one_line(key, _NAME), "values": [_row(one) for one in found]})
    return tables


def _row(one: WrongSlice) -> dict[str, Any]:
    return {
        "value": one_line(one.value, _NAME),
        "asked": one.asked,
        "wrong": one.wrong,
        "share": one.share,
        "ci": one.interval,
        "worse": one.is_worse,
        "said": wrong_line(one),
    }
