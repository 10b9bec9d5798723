"""A comparison on the terminal: as tables where they fit, else a few lines a metric."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from evals.cli.terminal import BAD, DOUBTFUL, GOOD, clean, fits, plain_table
from evals.cli.views.scorecard import NarrowRow, narrow_lines
from evals.compare.models import Comparison, ParetoReport, QuestionChange, RunComparison
from evals.report.compared import (
    STAR,
    dominance_lines,
    facts_of,
    front_by_values,
    label_runs,
    latency_line,
    legend,
    levels_of,
    pair_cells,
    reach_of,
    row_values,
    said_of,
    signed,
    sum_of,
    title_of,
    warnings_of,
    without_verdict,
)
from evals.report.wording import number
from evals.text.numbers import counted, share

# The Pareto front on the terminal.


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
        better = ", ".join(map(label_of.__getitem__, point.dominated_by))
        place = (f"dominated by {better}", "dim") if better else ("on the front", "bold")
        out.print(Text.assemble(f"  {label_of[point.run_id]}  ", place, f", score {number(score, 'ratio')}"))
        named = [f"{name} {number(value, report.units[name])}" for name, value in point.objectives.items()]
        out.print(Text(f"     {', '.join(named)}"), style="dim")
    for line in dominance_lines(report, label_of):
        out.print(f"  {line}")
    out.print(f"  {front_by_values(report, label_of)}", style="dim")
    out.print(
        "  values and scores: over the questions that all runs share; n: those that the two runs share", style="dim"
    )
    for name, direction in report.objectives.items():
        best = ", ".join(map(label_of.__getitem__, report.best[name]))
        out.print(f"  best {name} ({direction} is better): {best}")
    weights = ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items())
    out.print(Text(f"  score: weighted over these objectives ({weights})"), style="dim")


_CHANGES_SHOWN = 5

_MOVED_SHOWN = 3

_MOVES_SHOWN = 5

_STYLES = {"better": GOOD, "changed": DOUBTFUL, "worse": BAD}

_COLUMNS = "A, B: the metric in each run, over the n questions with a value in both"

_LINES = "A → B, then B − A [its interval], p and n: over the n questions with a value in both"

_LEFT_OUT = "p is in a wider terminal and in --json; ? n: not established, about n questions would do"


def print_comparison(out: Console, comparison: Comparison) -> None:
    """Print which runs they are, what to beware of, the metrics, the questions that changed, and the Pareto front."""
    labels = label_runs(comparison)
    _print_heads(out, comparison, labels)
    if len(comparison.runs) == 2:
        _print_pairs(out, comparison.against[0])
    else:
        _print_rows(out, comparison, labels)
    for reason in without_verdict(comparison, labels):
        out.print(clean(reason), style="dim")
    for label, one in zip(labels[1:], comparison.against, strict=True):
        out.print(f"\n{sum_of(one, label, labels[0])}", style="bold")
        if one.latency is not None:  # how many times as long the run takes, where both were asked in turn
            style = {"slower": BAD, "faster": GOOD}.get(one.latency.verdict)
            out.print(clean(latency_line(one.latency, label, labels[0]), 400), style=style)
    last, of_which = comparison.against[-1], "" if len(labels) == 2 else f"{labels[-1]} against {labels[0]}, "
    if comparison.runs[0].scored and comparison.runs[-1].scored:
        _print_changes(out, last, of_which)
    _print_moves(out, last, of_which)
    if comparison.pareto is not None:
        print_pareto(out, comparison.pareto, labels)


def _print_heads(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    """Print which runs they are, and what to beware of."""
    for label, run in zip(labels, comparison.runs, strict=True):
        out.print(Text.assemble((label, "bold"), f"  {run.id}  ", clean(run.name, 60)))
        out.print(clean(f"   {run.url}, {', '.join(run.datasets)}; {', '.join(facts_of(run))}"), style="dim")
    every = "both" if len(labels) == 2 else f"all {len(labels)} runs"
    out.print(f"\n{counted(comparison.common, 'question')} asked in {every}", style="bold")
    for warning in warnings_of(comparison):
        out.print(clean(f"! {warning}"), style=DOUBTFUL)
    for difference in comparison.differences:
        out.print(clean(f"differs: {difference}"), style="dim")
    out.print()


def _print_pairs(out: Console, one: RunComparison) -> None:
    """Print the paired difference of each metric of two runs."""
    numbers = ("A", "B", "B − A", "interval", "p", "n")
    table = plain_table("metric", *numbers, "B is", right=numbers, no_wrap=True)
    for pair in one.pairs:
        table.add_row(*pair_cells(pair), style=_STYLES.get(pair.verdict))
    narrow = None if fits(out, table) else _narrow(one, out.width)
    values: tuple[str, ...] = (_COLUMNS,)
    if narrow is not None:
        values = (_COLUMNS, _LEFT_OUT)
        for line in narrow:
            out.print(line)
    elif fits(out, table):
        out.print(table)
    else:
        values = (_LINES,)
        for pair in one.pairs:
            name, first, last, difference, interval, p, n, verdict = pair_cells(pair)
            out.print(Text.assemble((f"{name}  ", "bold"), (verdict, _STYLES.get(pair.verdict, ""))))
            out.print(Text(f"  {first} → {last}, {difference} [{interval}], p {p}, n {n}"))
    starred = [STAR] if any(pair.primary for pair in one.pairs) else []
    for fact in (*values, *legend("B", "A"), *starred, *levels_of(one), *reach_of(one)):
        out.print(Text(fact), style="dim")


def _narrow(one: RunComparison, width: int) -> list[Text] | None:
    """The table without p, for a terminal of 80 columns; None where even that is too wide."""
    rows = []
    for pair in one.pairs:
        name, first, last, difference, interval, _, n, verdict = pair_cells(pair)
        brief = {"not compared": "", "not established": f"? {pair.questions_for_seen or ''}".strip()}
        said = brief.get(pair.verdict, verdict)
        apart = f"{first} → {last}, {difference} [{interval}], n {n}" if pair.unit == "USD" else ""
        rows.append(NarrowRow(name, (first, last, difference, interval, n, said), _STYLES.get(pair.verdict, ""), apart))
    return narrow_lines(NarrowRow("metric", ("A", "B", "B − A", "interval", "n", "B is"), "bold"), rows, width)


def _print_rows(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    """Print metrics × many runs, with the verdict on each against the first."""
    titles = [f"{label} against {labels[0]}" for label in labels[1:]]
    numbers = [*labels, "n"]
    table = plain_table("metric", *numbers, *titles, right=numbers, no_wrap=True)
    for row in comparison.metrics:
        said = [said_of(row, one) for one in comparison.against]
        table.add_row(title_of(row), *row_values(row), str(row.n), *said, style=_worst_style(row.name, comparison))
    if fits(out, table):
        out.print(table)
    else:
        for row in comparison.metrics:
            cells = ", ".join(map(" ".join, zip(labels, row_values(row), strict=True)))
            out.print(Text(title_of(row), style="bold"))
            out.print(Text(f"  {cells}; n {row.n}"))
            for title, one in zip(titles, comparison.against, strict=True):
                out.print(Text(f"  {title}: {said_of(row, one)}"))
    shared = ", ".join(f"{label} {one.common}" for label, one in zip(labels[1:], comparison.against, strict=True))
    out.print(
        f"{', '.join(labels)} and n: over the questions with a value in every run that has the metric\n"
        f"verdicts: over the questions that a run shares with {labels[0]} ({shared}); where these are more, the two "
        "values that the verdict is on, and their n, stand behind it",
        style="dim",
    )


def _worst_style(name: str, comparison: Comparison) -> str | None:
    """The colour of the worst that is said of a metric."""
    verdicts = {pair.verdict for one in comparison.against for pair in one.pairs if pair.name == name}
    return next((style for verdict, style in reversed(_STYLES.items()) if verdict in verdicts), None)


def _print_changes(out: Console, one: RunComparison, of_which: str) -> None:
    for title, changes in (("lost", one.lost), ("gained", one.gained)):
        if not changes:
            continue
        out.print(f"\n{of_which}{title}: {share(len(changes), one.common, 'question')}", style="bold")
        for change in changes[:_CHANGES_SHOWN]:
            _print_change(out, change)
        if len(changes) > _CHANGES_SHOWN:
            out.print(f"  … and {len(changes) - _CHANGES_SHOWN} more (--json lists all)", style="dim")
    if one.pairs and not (one.lost or one.gained or one.moves):
        out.print(f"\n{of_which}no question scored differently")


def _print_change(out: Console, change: QuestionChange) -> None:
    out.print(Text.assemble(f"  {signed(change.change, 'ratio')}  ", clean(change.question_id, 60)))
    out.print(Text.assemble("          ", clean(change.question, 120)), style="dim")
    moved = [f"{name} {before:.2f} → {after:.2f}" for name, (before, after) in change.moved.items()]
    rest = [f"{len(moved) - _MOVED_SHOWN} more"] if len(moved) > _MOVED_SHOWN else []
    facts = [*([change.note] if change.note else []), *moved[:_MOVED_SHOWN], *rest]
    out.print(clean(f"          {', '.join(facts)}"), style="dim")


def _print_moves(out: Console, one: RunComparison, of_which: str) -> None:
    """Print where questions went wrong first in the one run and in the other."""
    if not one.moves:
        return
    count = sum(len(move.questions) for move in one.moves)
    out.print(f"\n{of_which}first broken link: {share(count, one.common, 'question')} moved", style="bold")
    for move in one.moves:
        some = ", ".join(move.questions[:_MOVES_SHOWN])
        rest = ", …" if len(move.questions) > _MOVES_SHOWN else ""
        way = f"{move.first or 'right'} → {move.last or 'right'}"
        out.print(clean(f"  {len(move.questions):>4}  {way}: {some}{rest}"))
