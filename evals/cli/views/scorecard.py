"""The scorecard on the terminal: the five groups, each metric with its interval and how many questions it is over."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from evals.cli.terminal import BAD, DOUBTFUL, GOOD, clean, fits, plain_table
from evals.report.wording import (
    arrow,
    bounds,
    interval,
    level,
    lost,
    natural_order,
    objective_lines,
    one_line,
    sampling,
    score_range,
    value,
    weighted_remarks,
)
from evals.schemas.results import EvalRun, MetricSummary
from evals.schemas.run_parts import GateOutcome, LevelValue, LoadLevel, Percentiles, RepeatedMetric, RepeatSummary
from evals.scoring.conclusion import Measured
from evals.scoring.config import headline, percent
from evals.scoring.scorecard import rows_by, slice_scorecard
from evals.scoring.settings import confidence, known_metrics
from evals.store.naming import command
from evals.text.numbers import counted

# Gates on the terminal: each with how it ended, and the figures behind it.


_STYLES = {"met": GOOD, "not met": BAD, "not enough evidence": DOUBTFUL}


def print_gates(out: Console, outcomes: Sequence[GateOutcome]) -> None:
    """Print a line a gate, below an empty one; nothing where there is none."""
    if outcomes:
        out.print()
    for each in outcomes:
        line = Text.assemble(each.gate, ": ", (each.outcome, _STYLES[each.outcome]), ": ")
        out.print(line.append_text(clean(each.message)), soft_wrap=True)


# What each level of load made of a run: times, errors and quality side by side.


_TIMES: tuple[tuple[str, Callable[[LoadLevel], Percentiles]], ...] = (
    ("latency", lambda load: load.latency_ms),
    ("from intended", lambda load: load.total_ms),
    ("first token", lambda load: load.time_to_first_token_ms),
)


def print_load(out: Console, run: EvalRun) -> None:
    """Print a column a load; nothing of a run that was asked at one, at no rate."""
    if not run.load:
        return
    rates = {load.rps for load in run.load} - {None}
    out.print(f"\nload{''.join(f', meant to be sent at {rate:g} a second' for rate in rates)}", style="bold")
    levels = [str(load.concurrency) for load in run.load]
    table = plain_table("questions in flight, at most", *levels, right=levels)
    for row in _load_rows(run.load):
        table.add_row(*row)
    out.print(table)
    out.print(
        "latency: from sending a request to the end of its answer; from intended: from when the question was meant to "
        "be sent, with all waiting",
        style="dim",
    )


def _load_rows(levels: Sequence[LoadLevel]) -> Iterator[list[str]]:
    yield ["questions", *map(str, (load.questions for load in levels))]
    yield ["without an answer", *map(_errors, levels)]
    yield ["answers a second", *map(_throughput, levels)]
    for title, times in _TIMES:  # a row a percentile; one that says that nothing is known where there is none
        for name in dict.fromkeys(chain.from_iterable(map(times, levels))) or ["p50"]:
            yield [f"{title} {name}", *(_milliseconds(times(load).get(name)) for load in levels)]
    for name in dict.fromkeys(metric.name for load in levels for metric in load.metrics):
        yield [name, *(_quality(load, name) for load in levels)]


def _errors(load: LoadLevel) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in load.errors.items()) or "0"


def _throughput(load: LoadLevel) -> str:
    return "–" if load.throughput is None else f"{load.throughput:.2f}"


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} ms"


def _quality(load: LoadLevel, name: str) -> str:
    found: LevelValue | None = next((metric for metric in load.metrics if metric.name == name), None)
    if found is None:
        return "–"
    return f"{found.value:.3f}" + (f" ({found.ci[0]:.3f} … {found.ci[1]:.3f})" if found.ci else "")


# A table for a narrow terminal: what has a long name takes two lines, and no cell is cut.


_NARROW_GAP = 1

_LEAST_NAME = 16


class NarrowRow(NamedTuple):
    """A line of the table.

    Attributes:
        name: What stands first.
        cells: What follows; the last stands to the left.
        style: Its colour.
        apart: What it says below its name and its last cell, where its cells would take the room of all others; empty
            for a row without which there is no table.
    """

    name: str
    cells: Sequence[str]
    style: str = ""
    apart: str = ""


def narrow_lines(head: NarrowRow, rows: Sequence[NarrowRow], width: int) -> list[Text] | None:
    """The lines of a table, no wider than the width; None where the cells alone have no room.

    A name that is longer than what the cells leave stands on a line of its own, above them.
    """
    inside = rows
    widths, room = _measured(head, inside, width)
    if room < _LEAST_NAME:
        inside = [row for row in rows if not row.apart]
        widths, room = _measured(head, inside, width)
    if room < _LEAST_NAME:
        return None
    names = max((len(row.name) for row in (head, *inside) if len(row.name) <= room), default=_LEAST_NAME)
    lines = list(_in_columns(head, names, widths))
    for row in rows:
        lines += _in_columns(row, names, widths) if row in inside else _apart(row)
    return lines


def _in_columns(row: NarrowRow, names: int, widths: Sequence[int]) -> Iterator[Text]:
    is_long = len(row.name) > names
    if is_long:
        yield Text(row.name, style=row.style)
    *numbers, last = row.cells
    cells = [cell.rjust(size) for cell, size in zip(numbers, widths, strict=False)]
    name = "" if is_long else row.name
    yield Text((" " * _NARROW_GAP).join([name.ljust(names), *cells, last]).rstrip(), style=row.style)


def _apart(row: NarrowRow) -> Iterator[Text]:
    yield Text(f"{row.name}  {row.cells[-1]}".rstrip(), style=row.style)
    yield Text(f"  {row.apart}", style=row.style)


def _measured(head: NarrowRow, rows: Sequence[NarrowRow], width: int) -> tuple[list[int], int]:
    """How wide each column of cells is, and the room that they leave for names."""
    widths = [max(map(len, column)) for column in zip(head.cells, *(row.cells for row in rows), strict=True)]
    return widths, width - sum(widths) - _NARROW_GAP * len(widths)


# How stable the answers of a run are that asked every question several times.


def print_repeats(out: Console, run: EvalRun) -> None:
    """Print what the repeats say; nothing where each question was asked once."""
    found = run.repeats
    if found is None:
        return
    out.print(f"\n{counted(found.questions, 'question')}, each asked {found.repeats} times", style="bold")
    out.print(_agreement(found))
    if not found.metrics:
        return
    titles = ("n", "within", "between", "reliability", "pass^1", f"pass^{found.repeats}", "interval")
    table = plain_table("metric", *titles, right=titles)
    for metric in found.metrics:
        table.add_row(metric.name, str(metric.questions), *_repeat_cells(metric))
    out.print(table)
    out.print(
        "within: the variance that asking again makes; between: that of questions; reliability: between / both; "
        "pass: that so many answers to a question all have the best value",
        style="dim",
    )
    for reason in dict.fromkeys(metric.reason for metric in found.metrics if metric.reason):
        names = ", ".join(metric.name for metric in found.metrics if metric.reason == reason)
        out.print(clean(f"–: {reason} ({names})"), style="dim")


def _agreement(found: RepeatSummary) -> str:
    if found.same_answers is None or found.agreement is None:
        return "no question has two answers to compare"
    ends = found.agreement_ci
    between = f" ({ends[0]:.3f} … {ends[1]:.3f})" if ends else ""
    same = f"the same answer each time to {found.same_answers:.1%} of {counted(found.compared, 'question')}"
    return f"{same}; {found.agreement:.3f}{between} of pairs of answers are the same"


def _repeat_cells(metric: RepeatedMetric) -> list[str]:
    ends, variances = metric.pass_all_ci, (metric.within_variance, metric.between_variance)
    return [
        *("–" if one is None else f"{one:.4g}" for one in variances),
        "–" if metric.reliability is None else f"{metric.reliability:.3f}",
        *((f"{one:.3f}" for one in (metric.pass_hat[0], metric.pass_hat[-1])) if metric.pass_hat else ("–", "–")),
        f"{ends[0]:.3f} … {ends[1]:.3f}" if ends else "–",
    ]


# Weighted scores of several runs: which of them measure the same, and compare.


def print_objectives(out: Console, groups: Sequence[Sequence[EvalRun]]) -> None:
    """Say that scores do not compare, and in what they differ; nothing where all measure the same."""
    for place, line in enumerate(objective_lines(groups)):
        out.print(clean(line), style=DOUBTFUL if place == 0 else None, soft_wrap=True)


# A run by the values of a key: as a table where it fits, else a few lines a metric.


_VALUES_SHOWN = 12


_NAME = 40
"""Characters of a value."""


def print_slices(out: Console, measured: Measured, key: str, runs_dir: Path | None) -> None:
    """Print each metric for each value of a key; of very many values, for those with the most questions."""
    run = measured.run
    columns = measured.columns
    groups = rows_by(measured.values(key), columns)
    biggest = sorted(groups, key=lambda value: -groups[value].questions)[:_VALUES_SHOWN]
    chosen = sorted(biggest, key=natural_order)
    metrics = known_metrics(run)
    settings = measured.cases.settings
    cards = {value: slice_scorecard(metrics, columns, groups[value].rows, settings) for value in chosen}
    titles = [f"{one_line(value, _NAME)} (n={groups[value].questions})" for value in chosen]
    rows = {metric.name: [cards[value].get(metric.name) for value in chosen] for metric in metrics}
    cells = {
        name: [_cell(one) for one in summaries]
        for name, summaries in rows.items()
        if any(one.value is not None for one in summaries)
    }
    _print_rows(out, clean(f"by {key}"), titles, cells)
    out.print("behind a value: its interval, and n, the questions that it is over", style="dim")
    if len(groups) > len(chosen):
        sheet = command(f"export --run-id {run.id}", runs_dir)
        out.print(
            clean(
                f"the {len(chosen)} of {len(groups)} values with the most questions; for the others, {sheet} has a "
                f"column meta.{key}"
            ),
            style="dim",
        )


def slices_as_json(measured: Measured, key: str) -> str:
    """All values of a key, each with its number of questions and its scorecard."""
    columns, settings = measured.columns, measured.cases.settings
    metrics = known_metrics(measured.run)
    slices = {
        value: {
            "questions": group.questions,
            "scorecard": slice_scorecard(metrics, columns, group.rows, settings).model_dump(mode="json"),
        }
        for value, group in rows_by(measured.values(key), columns).items()
    }
    return json.dumps({"id": measured.run.id, "by": key, "slices": slices}, indent=2, ensure_ascii=False)


def _print_rows(out: Console, head: Text, titles: Sequence[str], rows: Mapping[str, Sequence[str]]) -> None:
    table = plain_table(str(head), *titles, right=titles, no_wrap=True)
    for name, cells in rows.items():
        table.add_row(f"  {name}", *cells)
    out.print()
    if fits(out, table):
        out.print(table)
        return
    out.print(head, style="bold")
    width = max(map(len, titles))
    for name, cells in rows.items():
        out.print(Text(f"  {name}"), style="bold")
        for title, cell in zip(titles, cells, strict=True):
            out.print(Text(f"    {title:<{width}}  {cell}"))


def _cell(summary: MetricSummary) -> str:
    """A value with its interval and its own n, short enough for a column; an interval of ratios only."""
    if summary.value is None:
        return "–"
    ends = summary.ci if summary.unit == "ratio" else None
    between = f" ({ends[0]:.2f}–{ends[1]:.2f})" if ends else ""
    return f"{value(summary)}{between} n {summary.sample_size}"


# The weighted score on the terminal: of how much of the weight it is, how sure it is, and what is not in it.


def print_weighted(out: Console, run: EvalRun) -> None:
    """Print the score with its objectives, or why there is none; then what feeds it in part, or not at all."""
    head, weighted = headline(run), run.weighted_score
    line = Text("\nweighted score: ")
    if head.score is None:
        line.append_text(clean(f"– ({head.reason})"))
    else:
        line.append(f"{head.score:.3f}", "bold")
        line.append("" if head.is_whole else f" of {percent(head.coverage)} of the weight")
        if weighted.ci is not None:
            line.append(f", {score_range(weighted.ci)} ({level(confidence(run))} interval)")
        if weighted.bounds is not None:
            line.append(f", {score_range(weighted.bounds)} with lost questions")
    out.print(line)
    for remark in weighted_remarks(run, head):
        out.print(clean(f"  {remark}"), style="dim")


_INDENT = _GAP = "  "

_STEPS = 10

_PICTURED, _PLAIN = (0, 1, 2, 3, 4), (0, 1, 2, 4)
"""The places of the cells that are shown, with the picture and without."""


class _Row(NamedTuple):
    """The cells of a metric: name, value, interval, picture, n; and what there is to remark on it."""

    cells: tuple[str, str, str, str, str]
    remarks: str
    style: str


class _Columns(NamedTuple):
    """Which cells stand side by side, and how wide they are."""

    places: Sequence[int]
    widths: Sequence[int]

    def line(self, row: _Row) -> str:
        """The cells of a row, numbers to the right."""
        name, *numbers = ((row.cells[place], width) for place, width in zip(self.places, self.widths, strict=True))
        return _GAP.join((name[0].ljust(name[1]), *(cell.rjust(width) for cell, width in numbers)))


def scorecard_lines(run: EvalRun, width: int, *, pictures: bool = False) -> Iterator[Text]:
    """The lines of a scorecard for a terminal so many columns wide.

    No name and no number is cut or folded: where they do not fit side by side, the numbers stand below the name, and
    remarks stand below both. With pictures, a dot and a line show where between 0 and 1 a value and its interval lie,
    where there is room. What all metrics of a group have to remark stands once, beside its name.
    """
    head = _Row(("metric", "value", f"{level(confidence(run))} interval", "0 … 1", "n"), "", "bold")
    groups = {
        group: [_row(summary) for summary in map(run.scorecard.find, names) if summary is not None]
        for group, names in run.scorecard.by_group.items()
    }
    every = [head, *chain.from_iterable(groups.values())]
    columns = _fitting(every, width, pictures=pictures)
    yield Text(columns.line(head) if columns else head.cells[0], style="bold")
    for group, rows in groups.items():
        yield from _group_lines(group, rows, columns, width)


def _group_lines(group: str, rows: Sequence[_Row], columns: _Columns | None, width: int) -> Iterator[Text]:
    shared = rows[0].remarks if len(rows) > 1 and len({row.remarks for row in rows}) == 1 else ""
    yield _heading(group, shared, width)
    for row in rows:
        yield from _metric_lines(row._replace(remarks="") if shared else row, columns, width)


def _heading(group: str, remark: str, width: int) -> Text:
    if remark and len(group) + len(_GAP) + len(remark) <= width:
        return Text.assemble((group, "bold"), (f"{_GAP}{remark}", "dim"))
    return Text("\n").join([Text(group, style="bold"), *_indented(remark, width)])


def _fitting(rows: Sequence[_Row], width: int, *, pictures: bool) -> _Columns | None:
    """The columns, with pictures where there is room; None where not even the others fit side by side."""
    for places in (_PICTURED, _PLAIN) if pictures else (_PLAIN,):
        widths = [max(len(row.cells[place]) for row in rows) for place in places]
        if sum(widths) + len(_GAP) * (len(widths) - 1) <= width:
            return _Columns(places, widths)
    return None


def _row(summary: MetricSummary) -> _Row:
    remarks = [remark for remark in (lost(summary), summary.reason) if remark]
    remarks += [" ".join(f"{label} {count}" for label, count in summary.labels.items())] if summary.labels else []
    if summary.bounds is not None and summary.value is not None:
        remarks.append(f"with them {bounds(summary)}")
    remarks += sampling(summary)
    name = f"{_INDENT}{summary.name} {arrow(summary.higher_is_better)}".rstrip()
    cells = (name, value(summary), interval(summary), _picture(summary), str(summary.sample_size))
    return _Row(cells, str(clean(", ".join(remarks))), "dim" if summary.value is None else "")


def _picture(summary: MetricSummary) -> str:
    """Where between 0 and 1 value and interval lie; nothing for what has another unit."""
    if summary.value is None or summary.unit != "ratio":
        return ""
    low, high = (round(end * _STEPS) for end in summary.ci or (summary.value, summary.value))
    line = ["─" if low <= place <= high else "·" for place in range(_STEPS + 1)]
    line[round(summary.value * _STEPS)] = "●"
    return "".join(line)


def _metric_lines(row: _Row, columns: _Columns | None, width: int) -> Iterator[Text]:
    if columns is None:
        name, of_run, interval, _, n = row.cells
        yield Text(name, style=row.style)
        yield Text(f"{_INDENT * 2}{_GAP.join((of_run, interval, f'n = {n}'))}", style=row.style)
    else:
        line = columns.line(row)
        if len(line) + len(_GAP) + len(row.remarks) <= width:
            yield Text(f"{line}{_GAP}{row.remarks}".rstrip(), style=row.style)
            return
        yield Text(line, style=row.style)
    yield from _indented(row.remarks, width)


def _indented(text: str, width: int) -> Iterator[Text]:
    for line in wrap(text, max(width - len(_INDENT) * 2, 1)):
        yield Text(f"{_INDENT * 2}{line}", style="dim")
