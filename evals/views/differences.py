"""Differences between runs as people read them, the same wherever they are shown."""

from typing import TYPE_CHECKING

from evals.views.formatting import interval_end, number

if TYPE_CHECKING:
    from evals.compare.models import MetricPair


def signed(difference: float, unit: str) -> str:
    """A difference with its sign; equal values have none."""
    return _sign(difference) + number(abs(difference), unit)


def difference_interval(pair: "MetricPair") -> str:
    """The interval of a difference, from end to end; a dash for none."""
    if pair.interval is None:
        return "–"
    return " … ".join(_sign(end) + interval_end(abs(end), pair.unit) for end in pair.interval)


def probability(value: float | None) -> str:
    """A p with three decimals; a dash for none."""
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _sign(difference: float) -> str:
    return "+" if difference > 0 else "−" if difference < 0 else ""
