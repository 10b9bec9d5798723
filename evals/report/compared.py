"""A comparison of runs as lines and tables."""

import re
from collections.abc import Iterator

from evals.compare.models import MAIN, Comparison, MetricPair, ParetoFront, RunComparison
from evals.report.elements import EMPTY, ShownPart, TableRow, TextLine, TextTable, Tone, grid
from evals.report.wording import bounded, by_reason, interval_end, number
from evals.scoring.config import percent
from evals.text.foreign import one_line
from evals.text.numbers import counted, share

TONES: dict[str, Tone] = {"better": "good", "worse": "bad", "changed": "doubtful"}
_SHOWN, _NAMED, _TOLD = 5, 8, 3
"""Differences and changes of outcome that are shown; ids of a list; questions of it that are shown with their text."""


def comparison_parts(comparison: Comparison, *, every: bool = False) -> Iterator[ShownPart]:
    """All that is said of a comparison, the most important first; of several runs a table of all before it.

    Args:
        comparison: Of two or more runs.
        every: Show all metrics and changes.
    """
    names = {head.id: name_of(head.id, head.name) for head in comparison.runs}
    if len(comparison.against) > 1:
        yield several_table(comparison)
        yield EMPTY
    for one in comparison.against:
        yield TextLine(verdict_line(one, names), "strong")
        yield pairs_table(one, every=every)
        yield from reason_lines(one, every=every)
        yield from change_lines(one, every=every)
        yield EMPTY
    if (least := min(head.coverage for head in comparison.runs)) < 1:
        yield TextLine(f"the scores are of {percent(least)} of their weight: the rest is not measured", "faint")
    yield from (TextLine(f"! {warning}", "doubtful") for warning in comparison.warnings)
    shown = comparison.differences if every else comparison.differences[:_SHOWN]
    yield from (TextLine(f"differs: {one_line(line, 150)}", "faint") for line in shown)
    if len(shown) < len(comparison.differences):
        yield TextLine(f"… and {len(comparison.differences) - len(shown)} more differences (--all)", "faint")
    if comparison.pareto is not None:
        yield EMPTY
        yield from pareto_parts(comparison.pareto, names)


def name_of(run_id: str, name: str) -> str:
    """A run as messages call it: its name where it has one of its own, else its id."""
    return run_id if run_id in name else f"{one_line(name, 40)} ({run_id})"


def verdict_line(one: RunComparison, names: dict[str, str]) -> str:
    """Whether a run is better than the baseline, in a sentence."""
    run, baseline = names[one.run], names[one.baseline]
    over = f"over {counted(one.common, 'common question')}" if one.common else "each over its own questions"
    if one.score is None:
        return f"{run} against {baseline}, {over}: the scores do not compare ({one.score_reason})"
    told = {
        "better": f"{run} is better than {baseline}",
        "worse": f"{run} is worse than {baseline}",
        "identical": f"{run} and {baseline} score the same",
    }
    what = told.get(one.score.verdict, f"{run} against {baseline}: no difference of the score established")
    single = [
        f"{verdict} in {', '.join(moved)}"
        for verdict in ("better", "worse")
        if (moved := [pair.name for pair in one.pairs if pair.verdict == verdict])
    ]
    return f"{what}, {over}{''.join(f'; {each}' for each in single)}"


def pairs_table(one: RunComparison, *, every: bool) -> TextTable:
    """Score, main metrics, then what moved: before, after, difference with interval, verdict."""
    shown = _shown_pairs(one, every=every)
    rows = [TableRow(_cells(pair), TONES.get(pair.verdict, "")) for pair in shown]
    vanished = [metric.name for metric in one.vanished if metric.is_regression or every]
    rows += [TableRow([name, "", "none", "", "", "no value any more"], "bad") for name in vanished]
    if hidden := len(one.pairs) + (one.score is not None) - len(shown):
        rows.append(TableRow([f"({hidden} more)", "", "", "", "", "all: --all"], "faint"))
    columns = ("metric", "before", "after", "difference", "95% interval", "verdict")
    return TextTable(columns, rows, words=["verdict"], stacked="difference")


def _shown_pairs(one: RunComparison, *, every: bool) -> list[MetricPair]:
    by_name = {pair.name: pair for pair in (one.score, *one.pairs) if pair is not None}
    main = [by_name.pop(name) for name in ("score", *MAIN) if name in by_name]
    return [*main, *(pair for pair in by_name.values() if every or pair.verdict in TONES or pair.primary)]


def _cells(pair: MetricPair) -> list[str]:
    """Name, before, after, difference, interval, and the verdict with how many questions rose and fell."""
    before, after = (
        bounded(value, pair.unit, at_least=lower)
        for value, lower in zip((pair.first, pair.last), pair.at_least, strict=True)
    )
    ends = () if pair.interval is None or pair.difference == 0 else pair.interval
    spread = " … ".join(signed(end, pair.unit) for end in ends) or "–"
    moved = f" ({len(pair.risen)} rose, {len(pair.fallen)} fell)" if pair.risen or pair.fallen else ""
    moved = moved if pair.verdict in TONES or pair.verdict == "no verdict" else ""
    name = f"{pair.name} ↓" if pair.higher_is_better is False else pair.name
    return [name, before, after, signed(pair.difference, pair.unit), spread, f"{_verdict(pair)}{moved}"]


def _verdict(pair: MetricPair) -> str:
    """The verdict; where too few questions differ for one, how many do."""
    if pair.verdict == "not established" and pair.q is None:
        return pair.reason or pair.verdict
    return "not tested" if pair.verdict == "no verdict" else pair.verdict


def signed(value: float, unit: str) -> str:
    """A difference with its sign."""
    text = interval_end(abs(value), unit, 2)
    return f"{'-' if value < 0 and re.search('[1-9]', text) else '+'}{text}"


def reason_lines(one: RunComparison, *, every: bool) -> Iterator[TextLine]:
    """Why the metrics of the table have no verdict or no value, a line a reason."""
    shown = [pair for pair in _shown_pairs(one, every=every) if pair.verdict not in TONES]
    pairs = [pair for pair in shown if pair.reason and pair.reason != _verdict(pair)]
    reasons = by_reason((pair.name, f"{_verdict(pair)}, {pair.reason}") for pair in pairs)
    reasons |= by_reason((metric.name, f"no value any more, {metric.reason}") for metric in one.vanished)
    yield from (TextLine(f"{reason}: {', '.join(names)}", "faint") for reason, names in reasons.items())


def change_lines(one: RunComparison, *, every: bool) -> Iterator[TextLine]:
    """Which questions fared better and worse, by name, and how outcomes changed."""
    for title, changes, tone in (("better", one.gained, "good"), ("worse", one.lost, "bad")):
        if changes:
            ids = [change.question_id for change in changes]
            listed = ", ".join(ids if every else ids[:_NAMED]) + ("" if every or len(ids) <= _NAMED else ", …")
            yield TextLine(f"{share(len(ids), one.common, 'question')} scored {title}: {listed}", tone)  # type: ignore[arg-type]
        for change in changes if every else changes[:_TOLD]:
            values = [f"{name} {before:.3g} → {after:.3g}" for name, (before, after) in change.moved.items()]
            yield TextLine(
                f"  {change.question_id}: {one_line(change.question, 100)} ({', '.join(values[:3])})", "faint"
            )
    for move in one.moves if every else one.moves[:_SHOWN]:
        named = ", ".join(move.questions[:_NAMED]) + (", …" if len(move.questions) > _NAMED else "")
        yield TextLine(f"  {len(move.questions)} × {move.first.value} → {move.last.value}: {named}", "faint")


def pareto_parts(front: ParetoFront, names: dict[str, str]) -> Iterator[ShownPart]:
    """The Pareto front as a table of objectives, and which differences are beyond chance."""
    arrows = {"higher": "↑", "lower": "↓"}
    columns = ["run", *(f"{name} {arrows[better]}" for name, better in front.objectives.items()), "front"]
    rows = []
    for point in front.points:
        cells = [number(point.objectives[name], front.units[name]) for name in front.objectives]
        on_front = "yes" if point.on_front else "no"
        rows.append(TableRow([names[point.run_id], *cells, on_front], "good" if point.on_front else ""))
    yield TextTable(columns, rows, "Pareto front", ["front"])
    for point in front.points:
        if point.dominated_by:
            better = ", ".join(names[key] for key in point.dominated_by)
            yield TextLine(f"at least as good as {names[point.run_id]} on all: {better}")
    for difference in front.differences:
        if difference.better is not None:
            other = difference.first if difference.better == difference.last else difference.last
            yield TextLine(
                f"beyond chance: in {difference.objective}, {names[difference.better]} is better than {names[other]} "
                f"({signed(abs(difference.gain), 'ratio')} on a scale from 0 to 1, n = {difference.n})"
            )
    if not any(difference.better for difference in front.differences):
        yield TextLine("no objective differs beyond chance between two of these runs", "faint")
    yield from (TextLine(f"not an objective here: {name}: {why}", "faint") for name, why in front.left_out.items())


def several_table(comparison: Comparison) -> TextTable:
    """Several runs in one table: score and main metrics, with the verdict against the baseline."""
    names = ["score", *MAIN]
    columns = ["metric", *(one_line(head.name, 24) for head in comparison.runs)]
    rows = []
    for name in names:
        pairs = [one.pair(name) for one in comparison.against]
        known = next((pair for pair in pairs if pair is not None), None)
        if known is None:
            continue
        cells = [number(known.first, known.unit)]
        for pair in pairs:
            mark = "" if pair is None or pair.verdict not in TONES else f" {pair.verdict}"
            cells.append("–" if pair is None else f"{number(pair.last, pair.unit)}{mark}")
        rows.append([name, *cells])
    return grid("Side by side", columns, rows)
