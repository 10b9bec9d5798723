"""Differences between runs as people read them, the same wherever they are shown."""

from itertools import zip_longest
from typing import TYPE_CHECKING

from evals.views.formatting import bounded, difference_end, size_of_difference

if TYPE_CHECKING:
    from evals.compare.models import MetricPair, MetricRow


def signed(difference: float, unit: str) -> str:
    """A difference with its sign; equal values have none."""
    return _sign(difference) + size_of_difference(abs(difference), unit)


def pair_values(pair: "MetricPair") -> list[str]:
    """The values of either run; with ≥ where one is a lower bound."""
    values = zip((pair.first, pair.last), pair.at_least, strict=True)
    return [bounded(value, pair.unit, at_least=at_least) for value, at_least in values]


def row_values(row: "MetricRow") -> list[str]:
    """The values of all runs; with ≥ where one is a lower bound."""
    return [
        bounded(value, row.unit, at_least=at_least)
        for value, at_least in zip_longest(row.values, row.at_least, fillvalue=False)
    ]


def pair_difference(pair: "MetricPair") -> str:
    """The difference with its sign: a bound where one of the values is one, a dash where both are."""
    if all(pair.at_least):
        return "–"
    first, last = pair.at_least
    return f"{'≥ ' if last else '≤ ' if first else ''}{signed(pair.difference, pair.unit)}"


def difference_interval(pair: "MetricPair") -> str:
    """The interval of a difference, from end to end; a dash for none."""
    return "–" if pair.interval is None else " … ".join(_end(end, pair.unit) for end in pair.interval)


def _end(end: float, unit: str) -> str:
    """One end: <0 and >0 for one that is so near to 0 that its digits would say 0."""
    nothing, shown = difference_end(0.0, unit), difference_end(abs(end), unit)
    if shown == nothing and end:
        return "<0" if end < 0 else ">0"
    return _sign(end) + shown


def probability(value: float | None) -> str:
    """A p with three decimals; a dash for none."""
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _sign(difference: float) -> str:
    return "+" if difference > 0 else "−" if difference < 0 else ""
