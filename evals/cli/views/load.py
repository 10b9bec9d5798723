"""What each level of load made of a run: times, errors and quality side by side."""

from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.table import Table

from evals.schemas import EvalRun
from evals.schemas.load import LevelValue, LoadLevel, Percentiles

_TIMES: tuple[tuple[str, Callable[[LoadLevel], Percentiles]], ...] = (
    ("latency", lambda level: level.latency_ms),
    ("from intended", lambda level: level.total_ms),
    ("first token", lambda level: level.time_to_first_token_ms),
)


def print_load(out: Console, run: EvalRun) -> None:
    """Print a column a level; nothing of a run that was asked at one, at no rate."""
    if not run.load:
        return
    rates = {level.rps for level in run.load} - {None}
    out.print(f"\nload{''.join(f', meant to be sent at {rate:g} a second' for rate in rates)}", style="bold")
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("questions in flight, at most")
    for level in run.load:
        table.add_column(str(level.concurrency), justify="right")
    for row in _rows(run.load):
        table.add_row(*row)
    out.print(table)
    out.print(
        "latency: from sending a request to the end of its answer; from intended: from when the question was meant to "
        "be sent, with all waiting",
        style="dim",
    )


def _rows(levels: Sequence[LoadLevel]) -> Iterator[list[str]]:
    yield ["questions", *(str(level.questions) for level in levels)]
    yield ["without an answer", *(_errors(level) for level in levels)]
    yield ["answers a second", *("–" if one.throughput is None else f"{one.throughput:.2f}" for one in levels)]
    for title, times in _TIMES:
        yield from _time_rows(levels, title, times)
    for name in dict.fromkeys(metric.name for level in levels for metric in level.metrics):
        yield [name, *(_quality(level, name) for level in levels)]


def _time_rows(
    levels: Sequence[LoadLevel], title: str, times: Callable[[LoadLevel], Percentiles]
) -> Iterator[list[str]]:
    """A row a percentile; one that says that nothing is known where there is none."""
    names = dict.fromkeys(name for level in levels for name in times(level))
    for name in names or ["p50"]:
        yield [f"{title} {name}", *(_milliseconds(times(level).get(name)) for level in levels)]


def _errors(level: LoadLevel) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in level.errors.items()) or "0"


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} ms"


def _quality(level: LoadLevel, name: str) -> str:
    found: LevelValue | None = next((metric for metric in level.metrics if metric.name == name), None)
    if found is None:
        return "–"
    return f"{found.value:.3f}" + (f" ({found.ci[0]:.3f} … {found.ci[1]:.3f})" if found.ci else "")
