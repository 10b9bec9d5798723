"""What there is: `evals datasets`, `evals metrics`."""

import inspect
import re
from collections.abc import Callable, Sequence

from rich.table import Table
from rich.text import Text

from evals.cli.flags import names_of
from evals.cli.terminal.console import DOUBTFUL, console
from evals.datasets.registry import get_loader, list_available
from evals.errors import ConfigError, DatasetError
from evals.metrics.base import BaseMetric, Need
from evals.metrics.describe import facts, over_a_run, value_range
from evals.metrics.judged import judge_calls
from evals.metrics.registry import metric_classes, metrics_of, parse_metric
from evals.metrics.registry import suites as suite_names
from evals.schemas import MetricGroup
from evals.views.formatting import arrow

# A docstring is wrapped for its file, and here anew for the terminal; lists and what begins a new matter stay apart.
_IN_PARAGRAPH = re.compile(r"(?<=\S)\n(?![\s\-*=]|(?:Formula|Range|Reference)\b)")

_ALL_COLUMNS = 110
"""The list of metrics leaves out columns on a console narrower than this."""
_WITH_NEEDS = 72
"""Below this there is no room for what a metric needs either."""


def list_datasets() -> None:
    """Print every dataset with what it can measure."""
    table = Table("dataset", "what it is, what it measures, where its rows come from", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for name in list_available():
        try:
            loader = get_loader(name)
        except DatasetError as error:  # a plug-in that is broken hides no other dataset
            table.add_row(name, f"{error.message}; {error.hint}", style=DOUBTFUL)
            continue
        for label, text in (
            (name, loader.description),
            ("", f"measures {', '.join(loader.aspects)}"),
            ("", f"{loader.origin} ({loader.licence})"),
        ):
            table.add_row(label, text)
    console().print(table)


def show_metrics(name: str | None, suites: str | None) -> None:
    """Explain the metric named, or list those of the suites named, or all.

    Raises:
        ConfigError: A metric and a suite are given, or one of them does not exist.
    """
    if name is not None and suites is not None:
        raise ConfigError("a metric is explained whatever its suite", "leave out either the metric or --suite")
    if name is not None:
        explain_metric(name)
    else:
        list_metrics(suites)


def list_metrics(suites: str | None = None) -> None:
    """Print every metric, or those of the suites named, with what it declares about itself.

    Args:
        suites: Names of suites, with commas; all metrics where None.

    Raises:
        UnknownNameError: There is no such suite.
    """
    chosen = metrics_of(names_of(suites, "--suite") if suites is not None else ["all"])
    out = console()
    out.print(_metric_table(chosen, out.width))
    out.print(
        "\n↑ higher is better, ↓ lower is better; n: the number of questions; calls: of a judge, for one question."
    )
    out.print(f"Metrics share them: {judge_calls(chosen)} for all of these together ({_calls_by_suite(suites)}).")
    out.print("K is any positive number: recall_at_20. `evals metrics NAME` explains one.")


def _metric_table(chosen: Sequence[type[BaseMetric]], width: int) -> Table:
    """A row for each metric under the name of its group."""
    columns = _columns(width)
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in columns:
        table.add_column(title, no_wrap=title != "needs", justify="right" if title == "calls" else "left")
    for group in MetricGroup:
        rows = [[text(cls) for text in columns.values()] for cls in chosen if cls.group is group]
        if rows:
            table.add_row(Text(group.value, style="bold"))
        for row in rows:
            table.add_row(*row)
    return table


def _columns(width: int) -> dict[str, Callable[[type[BaseMetric]], str]]:
    """By title, what a column says of a metric; a narrow table leaves out what --suite and NAME tell."""
    columns: dict[str, Callable[[type[BaseMetric]], str]] = {
        "metric": lambda cls: cls.pattern(),
        "suites": lambda cls: ", ".join(sorted(cls.suites)),
        "range": _range,
        "over a run": over_a_run,
        "calls": lambda cls: str(cls.judge_calls),
        "needs": _needs,
    }
    if width < _ALL_COLUMNS:
        del columns["suites"], columns["over a run"]
    if width < _WITH_NEEDS:
        del columns["needs"]
    return columns


def _needs(cls: type[BaseMetric]) -> str:
    return ", ".join(need.short for need in Need if need in cls.needs - {Need.JUDGE})


def _calls_by_suite(wanted: str | None) -> str:
    """What each of the suites asks of a judge on its own."""
    names = names_of(wanted, "--suite") if wanted is not None else suite_names()
    return ", ".join(f"{name} {judge_calls(metrics_of([name]))}" for name in names)


def _range(cls: type[BaseMetric]) -> str:
    unit = {"ratio": "", "percent": "%"}.get(cls.unit, cls.unit)
    return " ".join(part for part in (value_range(cls, questions="n"), unit, arrow(cls.higher_is_better)) if part)


def explain_metric(name: str) -> None:
    """Print a metric's formula, conventions and reference.

    Raises:
        UnknownNameError: There is no such metric.
    """
    metric = next((cls for cls in metric_classes() if cls.pattern().lower() == name.lower()), None) or type(
        parse_metric(name)
    )
    out = console()
    out.print(metric.pattern(), style="bold")
    out.print(_IN_PARAGRAPH.sub(" ", inspect.cleandoc(metric.__doc__ or "")))
    out.print()
    for label, text in facts(metric).items():
        out.print(f"{label}: {text}")
