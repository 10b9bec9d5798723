"""Numbers as people read them, the same wherever they are shown."""

from evals.schemas import MetricSummary


def number(value: float | None, unit: str) -> str:
    """A value with its unit; a dash for none."""
    if value is None:
        return "–"
    if unit == "ms":
        return f"{value / 1000:.2f} s" if value >= 10_000 else f"{value:.1f} ms"
    if unit == "USD":
        if value == 0:
            return "$0"
        return f"${value:.5f}" if value < 0.1 else f"${value:.3f}"
    return f"{value:.3f}"


def interval(summary: MetricSummary) -> str:
    """The interval of a metric; a dash for none."""
    if summary.ci is None:
        return "–"
    low, high = (number(end, summary.unit) for end in summary.ci)
    return f"{low} … {high}"


def arrow(summary: MetricSummary) -> str:
    """Which way is better."""
    return {True: "↑", False: "↓", None: " "}[summary.higher_is_better]
