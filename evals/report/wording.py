"""Numbers and names formatted for readers, the same wherever they are shown."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from math import floor, inf, log10
from typing import TYPE_CHECKING, Any

from evals.text.foreign import printable

if TYPE_CHECKING:
    from evals.metrics.sample import Sample
    from evals.schemas.response import RetrievedChunk
    from evals.schemas.results import EvalRecord, MetricSummary
    from evals.schemas.verdicts import Figure

# Numbers.

_SIGNS = {"percent": " %", "tokens/s": "/s"}
"""What follows a number with one decimal, by its unit."""

VALUE_DIGITS, DIFFERENCE_DIGITS = 4, 2
"""Significant digits of money below ten cents. A question may cost a thousandth of a cent: with decimals of a fixed
number, two costs would look the same, their difference and the ends of its interval like nothing."""

_LEAST_DECIMALS, _MOST_DECIMALS = 5, 10
"""Of money; what is less than the most can show is the noise of arithmetic."""


def number(value: float | None, unit: str, digits: int = VALUE_DIGITS) -> str:
    """A value with its unit; a dash for none.

    Args:
        value: The value.
        unit: Of the metric.
        digits: Significant digits of money below ten cents.
    """
    if value is None:
        return "–"
    if unit == "ms":
        return f"{value / 1000:.2f} s" if value >= 10_000 else f"{value:.1f} ms"
    if unit == "USD":
        return _money(value, digits)
    if unit in _SIGNS:
        return f"{value:.1f}{_SIGNS[unit]}"
    if unit == "answers":
        return f"{value:.0f}" if value == round(value) else f"{value:.1f}"
    return f"{value:.3f}"


def _money(value: float, digits: int) -> str:
    size = abs(value)
    if size >= 0.1:
        return f"${value:.3f}"
    if size < 0.5 * 10**-_MOST_DECIMALS:
        return "$0"
    decimals = min(_MOST_DECIMALS, max(_LEAST_DECIMALS, digits - 1 - floor(log10(size))))
    return f"${value:.{decimals}f}"


def interval_end(value: float, unit: str, digits: int = VALUE_DIGITS) -> str:
    """One end of an interval: of counts with a decimal, as no interval ends at whole answers."""
    return f"{value:.1f}" if unit == "answers" else number(value, unit, digits)


def ends_of(ends: tuple[float, float] | None, unit: str) -> str:
    """An interval from end to end, a unit that both have once; a dash for none."""
    return re.sub(r" (\D+)( … .* \1)$", r"\2", " … ".join(interval_end(end, unit) for end in ends or ())) or "–"


def score_range(ends: tuple[float, float]) -> str:
    """Two ends of the weighted score, from low to high."""
    return ends_of((min(ends), max(ends)), "ratio")


def level(share: float) -> str:
    """A level that somebody set, such as a confidence, in percent with the decimals that it has: 95%, 99.5%."""
    return f"{100 * share:.10g}%"


def ratio(figure: "Figure", *, interval: bool = True) -> str:
    """A figure with two decimals, with its interval where it has one: 0.91 [0.86, 0.95]; a dash for none."""
    if figure.value is None:
        return "–"
    ends = f" [{figure.ci[0]:.2f}, {figure.ci[1]:.2f}]" if interval and figure.ci is not None else ""
    return f"{figure.value:.2f}{ends}"


# A metric of a scorecard.


def bounded(value: float | None, unit: str, *, at_least: bool) -> str:
    """A value with its unit; with ≥ where it is a lower bound, and a dash for none."""
    return f"{'≥ ' if at_least and value is not None else ''}{number(value, unit)}"


def value(summary: "MetricSummary") -> str:
    """The value of a metric with its unit; with ≥ where it is a lower bound, and a dash for none."""
    return bounded(summary.value, summary.unit, at_least=summary.at_least)


def interval(summary: "MetricSummary") -> str:
    """The interval of a metric, with ≥ if its upper end is unknown; a dash for none."""
    ends = ends_of(summary.ci, summary.unit)
    is_open = summary.ci is not None and summary.interval is not None and summary.interval.open_above
    return ends.replace("… ", "… ≥ ") if is_open else ends


def named(name: str, higher_is_better: bool | None) -> str:
    """The name of a metric, with which way is better."""
    return name + {True: " ↑", False: " ↓", None: ""}[higher_is_better]


@cache
def _labels() -> dict[str, Any]:
    from evals.text.tokens import lists_of  # noqa: PLC0415 - `--help` needs no labels, and this takes a tenth of it

    return lists_of("labels")


def label_of(name: str) -> str:
    """What a metric measures in a few plain words: "right to answer or decline"; empty for a plug-in's metric."""
    labels, number = _labels(), re.search(r"\d*$", name)[0]  # type: ignore[index]  # it always matches
    return labels.get(name) or re.sub(r"\bK\b", number, labels.get(f"{name.removesuffix(number)}K", ""))


def by_reason(facts: Iterable[tuple[str, str | None]]) -> dict[str, list[str]]:
    """Names of metrics by the reason that they share, without those that have none."""
    reasons: dict[str, list[str]] = {}
    for name, reason in facts:
        if reason is not None:
            reasons.setdefault(reason, []).append(name)
    return reasons


def remarks_of(summary: "MetricSummary") -> list[str]:
    """Remarks on the value of a metric: lost questions, why there is no value, labels."""
    found = [_lost(summary), summary.reason, " ".join(f"{one} {count}" for one, count in summary.labels.items())]
    if summary.bounds is not None and summary.value is not None:
        ends = " … ".join(number(end, summary.unit) for end in sorted(summary.bounds))
        found.append(f"with lost questions {ends}")
    found += [summary.interval.note] if summary.interval is not None else []
    return [printable(remark) for remark in found if remark]


def _lost(summary: "MetricSummary") -> str:
    """How many questions failures took, and how many the judge flags."""
    flagged = summary.counts.injection
    counts = {"lost": summary.counts.lost - flagged, "flagged as injection": flagged}
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


# Names.

_DIGITS = re.compile(r"([0-9]+)")

_MOST_DIGITS = 1000
"""Python reads no number of several thousand; those that are the same so far are sorted as texts."""

_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]+)?")


def place_of(chunk: "RetrievedChunk") -> str:
    """Where a chunk is from: `document § section`, as far as the server says."""
    name = chunk.document_name or chunk.document_id or chunk.chunk_id or "?"
    return f"{name} § {chunk.section}" if chunk.section else name


def exchange_of(record: "EvalRecord") -> dict[str, str]:
    """What was asked, what was expected, and what came, as far as they are there."""
    question, response = record.question, record.response
    facts = {"question": question.question, "expected": question.expected_answer}
    if response is not None:
        facts |= {"answer": response.answer, "error": response.error.message if response.error else None}
    return {title: text for title, text in facts.items() if text}


def missing_golds(sample: "Sample") -> Iterator[str]:
    """The golds that none of the chunks holds, each with its document."""
    for place, gold in enumerate(sample.question.gold_passages):
        if sample.response.chunks is not None and place not in sample.matches.found:
            yield f"{gold.document_id or ''} {gold.text or gold.chunk_id or ''}".strip()


def natural_order(text: str) -> tuple[float, list[tuple[bool, int, str]]]:
    """A key that sorts numbers by their size, then other texts by the numbers in them: q2 before q10."""
    if _NUMBER.fullmatch(text):
        return float(text), []
    parts = enumerate(_DIGITS.split(text))
    return inf, [(place % 2 == 0, int(part[:_MOST_DIGITS]) if place % 2 else 0, part) for place, part in parts if part]
