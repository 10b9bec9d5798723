"""`assert_metric`: a threshold, with a message that says what to look at."""

from collections.abc import Iterator, Sequence
from math import inf

from evals.errors import ConfigError
from evals.schemas import EvalRecord, EvalRun, MetricSummary
from evals.scoring.measured import measured
from evals.text.counts import counted
from evals.views.formatting import interval, number, shortened, value

_WORST = 5
_LENGTH = 100


def assert_metric(
    run: EvalRun,
    metric: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    low: bool = False,
    high: bool = False,
) -> None:
    """Fail unless a metric of a run keeps to its limits.

    Args:
        run: A run that was saved or loaded.
        metric: Its name, such as recall_at_5.
        at_least: The least that it may be, in the metric's unit; quality is from 0 to 1.
        at_most: The most that it may be.
        low: Whether the lower end of the interval, not the value, is to be `at_least` so much.
        high: Whether the upper end is to be `at_most` so much.

    Raises:
        AssertionError: It does not, or it has no value; the message shows value, interval, over how many questions it
            is, and the worst of them with what went wrong.
        UnknownNameError: The run has no such metric; the message names the nearest.
        ConfigError: No limit is given, or an end of the interval without the limit that it is for.
    """
    __tracebackhide__ = True
    _check_limits(at_least, at_most, low=low, high=high)
    summary = run.scorecard.get(metric)
    below = None if at_least is None else _below(summary, at_least, low=low) or _worse(summary, at_least, upper=False)
    above = None if at_most is None else _above(summary, at_most, high=high) or _worse(summary, at_most, upper=True)
    problems = [problem for problem in dict.fromkeys((below, above)) if problem]
    if problems:
        raise AssertionError("\n".join([f"{metric}: {'; '.join(problems)}", *_facts(run, summary)]))


def _check_limits(at_least: float | None, at_most: float | None, *, low: bool, high: bool) -> None:
    if at_least is None and at_most is None:
        raise ConfigError("assert_metric has no limit", "give at_least or at_most")
    if (low and at_least is None) or (high and at_most is None):
        raise ConfigError("low goes with at_least, and high with at_most", "give the limit that the end is for")


def _below(summary: MetricSummary, limit: float, *, low: bool) -> str | None:
    seen = _seen(summary, 0 if low else None)
    if isinstance(seen, str):
        return seen
    what = "the lower end of the interval, " if low else ""
    told = f"{what}{number(seen, summary.unit)}, is below" if low else f"{number(seen, summary.unit)} is below"
    return None if seen >= limit else f"{told} {number(limit, summary.unit)}"


def _above(summary: MetricSummary, limit: float, *, high: bool) -> str | None:
    seen = _seen(summary, 1 if high else None)
    if isinstance(seen, str):
        return seen
    if summary.at_least or (high and summary.interval is not None and summary.interval.open_above):
        return f"nobody knows how far above {number(seen, summary.unit)} it is: requests ran out of time"
    told = f"the upper end of the interval, {number(seen, summary.unit)}," if high else number(seen, summary.unit)
    return None if seen <= limit else f"{told} is above {number(limit, summary.unit)}"


def _worse(summary: MetricSummary, limit: float, *, upper: bool) -> str | None:
    """On which wrong side the worst bound is, where the judge flags questions; None where it flags none."""
    flagged, bounds = summary.counts.injection, summary.bounds or (-inf, inf)
    bound, side = (max(bounds), "above") if upper else (min(bounds), "below")
    if not flagged or (bound <= limit if upper else bound >= limit):
        return None
    why = f"the judge flags {counted(flagged, 'question')} as injection"
    return f"the worst bound, {number(bound, summary.unit)}, is {side} {number(limit, summary.unit)}: {why}"


def _seen(summary: MetricSummary, end: int | None) -> float | str:
    """The value or an end of its interval; else why there is none."""
    if summary.value is None:
        return f"it has no value: {summary.reason or 'no question has one'}"
    if end is None:
        return summary.value
    if summary.ci is None:
        note = summary.interval.note if summary.interval else None
        return f"it has no interval: {note or 'there are too few values'}"
    return summary.ci[end]


def _facts(run: EvalRun, summary: MetricSummary) -> Iterator[str]:
    yield f"  value {value(summary)}, interval {interval(summary)}"
    counts = summary.counts
    lost = {"transport": counts.transport, "judge": counts.judge, "injection": counts.injection, "fault": counts.fault}
    told = "".join(f", {count} lost ({kind})" for kind, count in lost.items() if count)
    over = f"{summary.sample_size} of {counted(run.question_count, 'question')}"
    yield f"  over {over}, {counts.not_applicable} to which it does not apply{told}"
    if run.path is not None:
        yield from _worst(run, summary)
        yield f"  evals show {run.id} --runs-dir {run.path.parent}"


def _worst(run: EvalRun, summary: MetricSummary) -> Iterator[str]:
    """The questions of the worst values, with the first link that broke."""
    records = run.records()
    places = _worst_places(records, summary)
    broken = {one.number: one.explanation for one in measured(run, records).digest.failures}
    if places:
        yield "  worst questions:"
    for place in places:
        asked, known = records[place].question, _value_of(records[place], summary.name)
        why = f": {broken[place]}" if place in broken else ""
        yield f"    {number(known, summary.unit)}  {asked.id}  {shortened(asked.question, _LENGTH)}{why}"


def _worst_places(records: Sequence[EvalRecord], summary: MetricSummary) -> list[int]:
    """Where they stand; none of a metric of which nobody says what is better."""
    if summary.higher_is_better is None:
        return []
    sign = 1 if summary.higher_is_better else -1
    known = [(_value_of(record, summary.name), place) for place, record in enumerate(records)]
    return [place for _, place in sorted((sign * each, place) for each, place in known if each is not None)[:_WORST]]


def _value_of(record: EvalRecord, name: str) -> float | None:
    return next((score.value for score in record.scores if score.name == name), None)
