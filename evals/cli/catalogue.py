"""What there is: `evals datasets`, `evals metrics`, `evals profiles`."""

import inspect

from rich.table import Table

from evals.cli.console import console
from evals.client.profile import DEFAULT_PROFILE, list_profiles
from evals.datasets.registry import get_loader, list_available
from evals.metrics.registry import metric_classes, parse_metric


def list_datasets() -> None:
    """Print every dataset with what it can measure."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("dataset", "aspects", "licence", "origin", "what it is"):
        table.add_column(title, no_wrap=title == "dataset", overflow="fold")
    for name in list_available():
        loader = get_loader(name)
        table.add_row(name, ", ".join(loader.aspects), loader.licence, loader.origin, loader.description)
    console().print(table)


def list_metrics() -> None:
    """Print every metric with its group, suites and needs."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("metric", "group", "suites", "unit", "better", "needs"):
        table.add_column(title, no_wrap=title == "metric", overflow="fold")
    for cls in metric_classes():
        better = {True: "higher", False: "lower", None: "–"}[cls.higher_is_better]
        needs = ", ".join(sorted(need.value for need in cls.needs)) or "–"
        table.add_row(cls.pattern(), cls.group.value, ", ".join(sorted(cls.suites)), cls.unit, better, needs)
    out = console()
    out.print(table)
    out.print("\nK is any positive number: recall_at_20. `evals metrics NAME` explains one.")


def explain_metric(name: str) -> None:
    """Print a metric's formula, conventions and reference.

    Raises:
        UnknownNameError: There is no such metric.
    """
    metric = next((cls for cls in metric_classes() if cls.pattern() == name), None) or type(parse_metric(name))
    low, high = ("–" if end is None else f"{end:g}" for end in (metric.low, metric.high))
    better = {True: "higher is better", False: "lower is better", None: "neither way is better"}
    out = console()
    out.print(metric.pattern(), style="bold")
    out.print(inspect.cleandoc(metric.__doc__ or ""))
    out.print(
        f"\ngroup {metric.group.value}; unit {metric.unit}; from {low} to {high}; {better[metric.higher_is_better]}"
    )
    out.print(f"over a run: {metric.aggregation.value}")
    out.print(f"needs: {', '.join(sorted(need.value for need in metric.needs)) or 'nothing but an answer'}")
    out.print(f"judge calls a question: {metric.judge_calls}")


def list_server_profiles() -> None:
    """Print the kinds of servers."""
    out = console()
    for name in list_profiles():
        out.print(f"{name}{' (default)' if name == DEFAULT_PROFILE else ''}")
    out.print("\nanother kind of server: write its keys to a YAML file and pass --profile FILE.yml (docs/profiles.md)")
