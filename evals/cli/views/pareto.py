"""The Pareto front on the terminal."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import clean
from evals.compare import ParetoReport
from evals.schemas.results import ParetoPoint
from evals.views.formatting import number
from evals.views.pareto import dominance_lines, front_by_values


def print_pareto(out: Console, report: ParetoReport, labels: Sequence[str]) -> None:
    """Print the objectives, each run with its place, the best of each objective, and the weighted scores."""
    out.print("\nPareto", style="bold")
    for name, reason in report.left_out.items():
        out.print(clean(f"  left out: {name} ({reason})"), style="dim")
    if not report.objectives:
        out.print("  no objective that all runs have")
        return
    label_of = dict(zip((point.run_id for point in report.points), labels, strict=True))
    for point, score in zip(report.points, report.scores, strict=True):
        _print_point(out, point, score, report, label_of)
    for line in dominance_lines(report, label_of):
        out.print(f"  {line}")
    out.print(f"  {front_by_values(report, label_of)}", style="dim")
    out.print(
        "  values and scores: over the questions that all runs share; n: those that the two runs share", style="dim"
    )
    for name, direction in report.objectives.items():
        best = ", ".join(label_of[run_id] for run_id in report.best[name])
        out.print(f"  best {name} ({direction} is better): {best}")
    weights = ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items())
    out.print(Text(f"  score: weighted over these objectives ({weights})"), style="dim")


def _print_point(
    out: Console, point: ParetoPoint, score: float | None, report: ParetoReport, label_of: Mapping[str, str]
) -> None:
    """A run: its place, its score, and its values of the objectives."""
    better = ", ".join(label_of[run_id] for run_id in point.dominated_by)
    place = (f"dominated by {better}", "dim") if better else ("on the front", "bold")
    out.print(Text.assemble(f"  {label_of[point.run_id]}  ", place, f", score {number(score, 'ratio')}"))
    named = [f"{name} {number(value, report.units[name])}" for name, value in point.objectives.items()]
    out.print(Text(f"     {', '.join(named)}"), style="dim")
