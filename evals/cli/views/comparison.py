"""A comparison on the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from evals.cli.terminal import show
from evals.compare.models import Comparison, ParetoReport, RunComparison
from evals.report.compared import (
    change_facts,
    comparison_table,
    label_runs,
    latency_line,
    legend,
    pareto_lines,
    run_facts,
    signed,
    sum_of,
    warnings_of,
    without_verdict,
)
from evals.report.parts import ShownPart, TextLine, Tone
from evals.report.wording import number, one_line
from evals.text.numbers import counted, share

_SHOWN = 5
"""Questions that changed, and ids of those that moved."""

_LATENCY: dict[str, Tone] = {"slower": "bad", "faster": "good"}


def print_comparison(out: Console, comparison: Comparison) -> None:
    """Print which runs they are, what to beware of, the metrics, the questions that changed, and the Pareto front."""
    show(out, _parts(comparison, label_runs(comparison)))


def _parts(comparison: Comparison, labels: Sequence[str]) -> Iterator[ShownPart]:
    yield from _head(comparison, labels)
    yield comparison_table(comparison, labels)
    yield from (TextLine(fact, "faint") for fact in legend(comparison, labels))
    yield from (TextLine(reason, "faint") for reason in without_verdict(comparison, labels))
    for label, one in zip(labels[1:], comparison.against, strict=True):
        yield TextLine("")
        yield TextLine(sum_of(one, label, labels[0]), "strong")
        if one.latency is not None:  # how many times as long the run takes, where both were asked in turn
            yield TextLine(latency_line(one.latency, label, labels[0]), _LATENCY.get(one.latency.verdict, ""))
    of_which = "" if len(labels) == 2 else f"{labels[-1]} against {labels[0]}, "
    if comparison.runs[0].scored and comparison.runs[-1].scored:
        yield from _changes(comparison.against[-1], of_which)
    yield from _moves(comparison.against[-1], of_which)
    if comparison.pareto is not None:
        yield from _pareto(comparison.pareto, labels)


def _head(comparison: Comparison, labels: Sequence[str]) -> Iterator[TextLine]:
    """Which runs they are, and what to beware of."""
    for label, run in zip(labels, comparison.runs, strict=True):
        yield TextLine(f"{label}  {run.id}  {one_line(run.name, 60)}", "strong")
        yield TextLine(f"   {run.url}, {', '.join(run.datasets)}; {', '.join(run_facts(run))}", "faint")
    every = "both" if len(labels) == 2 else f"all {len(labels)} runs"
    yield TextLine("")
    yield TextLine(f"{counted(comparison.common, 'question')} asked in {every}", "strong")
    yield from (TextLine(f"! {warning}", "doubtful") for warning in warnings_of(comparison))
    yield from (TextLine(f"differs: {difference}", "faint") for difference in comparison.differences)


def _changes(one: RunComparison, of_which: str) -> Iterator[TextLine]:
    """The questions that were lost and gained."""
    for title, changes in (("lost", one.lost), ("gained", one.gained)):
        if changes:
            yield TextLine("")
            yield TextLine(f"{of_which}{title}: {share(len(changes), one.common, 'question')}", "strong")
        for change in changes[:_SHOWN]:
            yield TextLine(f"  {signed(change.change, 'ratio')}  {one_line(change.question_id, 60)}")
            yield TextLine(f"          {one_line(change.question, 120)}", "faint")
            yield TextLine(f"          {change_facts(change)}", "faint")
        if len(changes) > _SHOWN:
            yield TextLine(f"  … and {len(changes) - _SHOWN} more (--json lists all)", "faint")
    if one.pairs and not (one.lost or one.gained or one.moves):
        yield TextLine("")
        yield TextLine(f"{of_which}no question scored differently")


def _moves(one: RunComparison, of_which: str) -> Iterator[TextLine]:
    """Where questions went wrong first in the one run and in the other."""
    if one.moves:
        count = sum(len(move.questions) for move in one.moves)
        yield TextLine("")
        yield TextLine(f"{of_which}first broken link: {share(count, one.common, 'question')} moved", "strong")
    for move in one.moves:
        some = ", ".join(move.questions[:_SHOWN])
        rest = ", …" if len(move.questions) > _SHOWN else ""
        yield TextLine(f"  {len(move.questions):>4}  {move.first or 'right'} → {move.last or 'right'}: {some}{rest}")


def _pareto(report: ParetoReport, labels: Sequence[str]) -> Iterator[TextLine]:
    """The objectives, each run with its place, the best of each objective, and the weighted scores."""
    yield TextLine("")
    yield TextLine("Pareto", "strong")
    yield from (TextLine(f"  left out: {name} ({reason})", "faint") for name, reason in report.left_out.items())
    if not report.objectives:
        yield TextLine("  no objective that all runs have")
        return
    label_of = dict(zip((point.run_id for point in report.points), labels, strict=True))
    for point, score in zip(report.points, report.scores, strict=True):
        better = ", ".join(map(label_of.__getitem__, point.dominated_by))
        place = f"dominated by {better}" if better else "on the front"
        yield TextLine(f"  {label_of[point.run_id]}  {place}, score {number(score, 'ratio')}")
        named = (f"{name} {number(value, report.units[name])}" for name, value in point.objectives.items())
        yield TextLine(f"     {', '.join(named)}", "faint")
    yield from (TextLine(f"  {line}") for line in pareto_lines(report, label_of))
    yield TextLine(
        "  values and scores: over the questions that all runs share; n: those that the two runs share", "faint"
    )
    for name, direction in report.objectives.items():
        best = ", ".join(map(label_of.__getitem__, report.best[name]))
        yield TextLine(f"  best {name} ({direction} is better): {best}")
    weights = ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items())
    yield TextLine(f"  score: weighted over these objectives ({weights})", "faint")
