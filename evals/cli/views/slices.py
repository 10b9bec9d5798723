"""A run by the values of a key: as a table where it fits, else a few lines a metric."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.terminal.console import clean, fits
from evals.schemas import MetricSummary
from evals.scoring.digest.slices import rows_by, slice_scorecard
from evals.scoring.measured import Measured
from evals.scoring.settings import known_metrics
from evals.store.commands import command
from evals.views.formatting import natural_order, one_line, value

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
        name: [_cell(one) for one in summaries] for name, summaries in rows.items() if any(map(_has_value, summaries))
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
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column(head, no_wrap=True)
    for title in titles:
        table.add_column(Text(title), justify="right", no_wrap=True)
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


def _has_value(summary: MetricSummary) -> bool:
    return summary.value is not None


def _cell(summary: MetricSummary) -> str:
    """A value with its interval and its own n, short enough for a column; an interval of ratios only."""
    if summary.value is None:
        return "–"
    ends = summary.ci if summary.unit == "ratio" else None
    between = f" ({ends[0]:.2f}–{ends[1]:.2f})" if ends else ""
    return f"{value(summary)}{between} n {summary.sample_size}"
