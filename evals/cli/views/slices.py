"""A run by the values of a key: as a table where it fits, else a few lines a metric."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.terminal.console import clean, fits
from evals.schemas import MetricSummary
from evals.scoring.measured import Measured
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import known_metrics
from evals.scoring.slices import slice_by
from evals.store.commands import command
from evals.views.formatting import natural_order, one_line, value

_VALUES_SHOWN = 12
_NAME = 40
"""Characters of a value."""


def print_slices(out: Console, measured: Measured, key: str, runs_dir: Path | None) -> None:
    """Print each metric for each value of a key; of very many values, for those with the most questions."""
    run = measured.run
    groups = slice_by(measured.records(), key)
    biggest = sorted(groups, key=lambda value: -len(groups[value]))[:_VALUES_SHOWN]
    chosen = sorted(biggest, key=natural_order)
    metrics = known_metrics(run)
    cards = {value: make_scorecard(metrics, groups[value], measured.cases.settings) for value in chosen}
    titles = [f"{one_line(value, _NAME)} (n={len(groups[value])})" for value in chosen]
    rows = {metric.name: [_with_interval(cards[value].get(metric.name)) for value in chosen] for metric in metrics}
    _print_rows(out, clean(f"by {key}"), titles, {name: cells for name, cells in rows.items() if set(cells) != {"–"}})
    if len(groups) > len(chosen):
        sheet = command(f"export --run-id {run.id}", runs_dir)
        out.print(
            clean(
                f"the {len(chosen)} of {len(groups)} values with the most questions; for the others, {sheet} has a "
                f"column meta.{key}"
            ),
            style="dim",
        )


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


def _with_interval(summary: MetricSummary | None) -> str:
    """A value with its interval, short enough for a column; of ratios only, whose scale is known."""
    if summary is None:
        return "–"
    shown = value(summary)
    if summary.ci is None or summary.unit != "ratio":
        return shown
    return f"{shown} ({summary.ci[0]:.2f}–{summary.ci[1]:.2f})"
