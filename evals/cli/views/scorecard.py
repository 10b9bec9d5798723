"""The scorecard on the terminal: the five groups, each metric with its interval and how many questions it is over."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from rich.text import Text

from evals.cli.terminal.console import clean
from evals.schemas import EvalRun, MetricSummary
from evals.scoring.settings import confidence
from evals.views.formatting import arrow, bounds, interval, level, lost, sampling, value

_INDENT = "  "
_GAP = "  "
_STEPS = 10
_PICTURED = "0 … 1"


@dataclass(frozen=True, slots=True)
class _Row:
    """The cells of a metric, and what there is to remark on it."""

    cells: tuple[str, ...]
    remarks: str
    has_value: bool
    picture: str

    def pictured(self) -> "_Row":
        """The row with its picture before the last cell."""
        return replace(self, cells=(*self.cells[:-1], self.picture, self.cells[-1]))


def scorecard_lines(run: EvalRun, width: int, *, pictures: bool = False) -> Iterator[Text]:
    """The lines of a scorecard for a terminal so many columns wide.

    No name and no number is cut or folded: where they do not fit side by side, the numbers stand below the name, and
    remarks stand below both. With pictures, a dot and a line show where between 0 and 1 a value and its interval lie,
    where there is room. What all metrics of a group have to remark stands once, beside its name.
    """
    head = _Row(("metric", "value", f"{level(confidence(run))} interval", "n"), "", True, _PICTURED)
    groups = {"": [head], **{group: _rows(run, names) for group, names in run.scorecard.by_group.items()}}
    if pictures:
        groups = _pictured(groups, width)
    widths = _widths(groups, width)
    (head,) = groups.pop("")
    yield Text(_side_by_side(head.cells, widths) if widths else head.cells[0], style="bold")
    for group, rows in groups.items():
        yield from _group_lines(group, rows, widths, width)


def _rows(run: EvalRun, names: Sequence[str]) -> list[_Row]:
    return [_row(summary) for name in names if (summary := run.scorecard.find(name)) is not None]


def _pictured(groups: dict[str, list[_Row]], width: int) -> dict[str, list[_Row]]:
    """With a picture in each row, where there is room."""
    drawn = {group: [row.pictured() for row in rows] for group, rows in groups.items()}
    return drawn if _widths(drawn, width) else groups


def _widths(groups: Mapping[str, Sequence[_Row]], width: int) -> list[int] | None:
    """The widths of the columns; None where they do not fit side by side."""
    every = (row.cells for rows in groups.values() for row in rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    return widths if sum(widths) + len(_GAP) * (len(widths) - 1) <= width else None


def _group_lines(group: str, rows: Sequence[_Row], widths: list[int] | None, width: int) -> Iterator[Text]:
    remarks = {row.remarks for row in rows}
    shared = rows[0].remarks if len(rows) > 1 and len(remarks) == 1 else ""
    yield _heading(group, shared, width)
    for row in rows:
        yield from _metric_lines(row, widths, "" if shared else row.remarks, width)


def _row(summary: MetricSummary) -> _Row:
    remarks = [remark for remark in (lost(summary), summary.reason) if remark]
    remarks += [" ".join(f"{label} {count}" for label, count in summary.labels.items())] if summary.labels else []
    if summary.bounds is not None and summary.value is not None:
        remarks.append(f"with them {bounds(summary)}")
    remarks += sampling(summary)
    name = f"{_INDENT}{summary.name} {arrow(summary.higher_is_better)}".rstrip()
    cells = (name, value(summary), interval(summary), str(summary.sample_size))
    return _Row(cells, str(clean(", ".join(remarks))), summary.value is not None, _picture(summary))


def _picture(summary: MetricSummary) -> str:
    """Where between 0 and 1 value and interval lie; nothing for what has another unit."""
    if summary.value is None or summary.unit != "ratio":
        return ""
    low, high = (round(end * _STEPS) for end in summary.ci or (summary.value, summary.value))
    line = ["─" if low <= place <= high else "·" for place in range(_STEPS + 1)]
    line[round(summary.value * _STEPS)] = "●"
    return "".join(line)


def _heading(group: str, remark: str, width: int) -> Text:
    if remark and len(group) + len(_GAP) + len(remark) <= width:
        return Text.assemble((group, "bold"), (f"{_GAP}{remark}", "dim"))
    return Text("\n").join([Text(group, style="bold"), *_indented(remark, width)])


def _metric_lines(row: _Row, widths: list[int] | None, remarks: str, width: int) -> Iterator[Text]:
    style = "" if row.has_value else "dim"
    if widths is None:
        yield Text(row.cells[0], style=style)
        yield Text(f"{_INDENT * 2}{_GAP.join((*row.cells[1:3], f'n = {row.cells[3]}'))}", style=style)
    else:
        line = _side_by_side(row.cells, widths)
        if len(line) + len(_GAP) + len(remarks) <= width:
            yield Text(f"{line}{_GAP}{remarks}".rstrip(), style=style)
            return
        yield Text(line, style=style)
    yield from _indented(remarks, width)


def _side_by_side(cells: Sequence[str], widths: list[int]) -> str:
    name, *numbers = cells
    aligned = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
    return _GAP.join((name.ljust(widths[0]), *aligned))


def _indented(text: str, width: int) -> Iterator[Text]:
    for line in wrap(text, max(width - len(_INDENT) * 2, 1)):
        yield Text(f"{_INDENT * 2}{line}", style="dim")
