"""The Pareto front on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import clean
from evals.compare import ParetoReport
from evals.views.formatting import number


def print_pareto(out: Console, report: ParetoReport, labels: Sequence[str]) -> None:
    """Print the objectives, each run with its place, the best of each objective, and the weighted scores."""
    out.print("\nPareto", style="bold")
    for name, reason in report.left_out.items():
        out.print(clean(f"  left out: {name} ({reason})"), style="dim")
    if not report.objectives:
        out.print("  no objective that all runs have")
        return
    label_of = dict(zip((point.run_id for point in report.points), labels, strict=True))
    for label, point, score in zip(labels, report.points, report.scores, strict=True):
        named = [f"{name} {number(value, report.units[name])}" for name, value in point.objectives.items()]
        place = "on the front"
        if point.dominated_by:
            place = f"dominated by {', '.join(label_of[run_id] for run_id in point.dominated_by)}"
        out.print(
            Text.assemble(
                f"  {label}  ", (place, "dim" if point.dominated_by else "bold"), f", score {number(score, 'ratio')}"
            )
        )
        out.print(Text(f"     {', '.join(named)}"), style="dim")
    for name, direction in report.objectives.items():
        best = ", ".join(label_of[run_id] for run_id in report.best[name])
        out.print(f"  best {name} ({direction} is better): {best}")
    weights = ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items())
    out.print(Text(f"  score: weighted over these objectives ({weights})"), style="dim")
