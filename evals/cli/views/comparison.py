"""A comparison on the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from evals.cli.terminal import show
from evals.compare.models import Comparison, ParetoReport, RunComparison
from evals.report import compared
from evals.report.elements import ShownPart, TextLine, Tone
from evals.report.wording import number, one_line
from evals.text.numbers import counted, share

_SHOWN = 5
"""Questions that changed, and ids of those that moved."""

_LATENCY: dict[str, Tone] = {"slower": "bad", "faster": "good"}


def print_comparison(out: Console, comparison: Comparison, *, every: bool = False, pareto: bool = False) -> None:
    """Print which runs they are, what to beware of, the metrics, and the questions that changed.

    Args:
        out: Where it is printed.
        comparison: What came out.
        every: Whether all that is known of it is printed.
        pareto: Whether the Pareto front is printed with all that is known of it; else it is one line.
    """
    labels = compared.label_runs(comparison)
    parts = _parts(comparison, labels, _SHOWN if every else 1, every=every)
    show(out, parts)
    if comparison.pareto is not None:
        show(out, _pareto(comparison.pareto, labels) if every or pareto else _front(comparison.pareto, labels))


def _parts(comparison: Comparison, labels: Sequence[str], shown: int, *, every: bool) -> Iterator[ShownPart]:
    yield from _head(comparison, labels, every=every)
    yield from _metrics(comparison, labels, every=every)
    yield TextLine("")
    for label, one in zip(labels[1:], comparison.against, strict=True):
        yield TextLine(compared.sum_of(one, label, labels[0]), "strong")
        if one.latency is not None and (every or one.latency.verdict in _LATENCY):
            tone = _LATENCY.get(one.latency.verdict, "")
            yield TextLine(compared.latency_line(one.latency, label, labels[0]), tone)
    if len(labels) == 2 or every:
        yield from _questions(comparison, "" if len(labels) == 2 else f"{labels[-1]} against {labels[0]}, ", shown)


def _metrics(comparison: Comparison, labels: Sequence[str], *, every: bool) -> Iterator[ShownPart]:
    """The table, then what has no row in it, what has no verdict, and what the words mean."""
    table = compared.comparison_table(comparison, labels, () if every else compared.left_out(comparison))
    yield from [table] if table.rows else []
    same = () if every else compared.unmoved(comparison).items()
    facts = [f"no question differs in {', '.join(f'{name} {value}' for name, value in same)}"] if same else []
    facts += compared.without_verdict(comparison, labels, every=every)
    told = compared.legend(comparison, labels, every=every)
    facts += told if every or not told else ["; ".join(told)]
    yield from (TextLine(fact, "faint") for fact in facts)


def _questions(comparison: Comparison, of_which: str, shown: int) -> Iterator[TextLine]:
    """The questions that changed between the first run and the last."""
    if comparison.runs[0].scored and comparison.runs[-1].scored:
        yield from _changes(comparison.against[-1], of_which, shown)
    yield from _moves(comparison.against[-1], of_which, shown)


def _head(comparison: Comparison, labels: Sequence[str], *, every: bool) -> Iterator[TextLine]:
    """Which runs they are, and what to beware of."""
    for label, run in zip(labels, comparison.runs, strict=True):
        yield TextLine(f"{label}  {run.id}{'' if label == run.name else f'  {one_line(run.name, 60)}'}", "strong")
        if every or len(labels) == 2:
            facts = ", ".join(compared.run_facts(run, every=every))
            yield TextLine(f"  {run.url}, {', '.join(run.datasets)}; {facts}", "faint")
    both = "both" if len(labels) == 2 else f"all {len(labels)} runs"
    yield TextLine(f"\n{counted(comparison.common, 'question')} asked in {both}", "strong")
    yield from (TextLine(f"! {warning}", "doubtful") for warning in compared.warnings_of(comparison))
    yield from (TextLine(f"differs: {difference}", "faint") for difference in comparison.differences)
    yield TextLine("")


def _changes(one: RunComparison, of_which: str, shown: int) -> Iterator[TextLine]:
    """The questions that scored worse and better."""
    for title, changes in (("worse", one.lost), ("better", one.gained)):
        if changes:
            more = f"; --all shows {_SHOWN}, --json all" if len(changes) > shown else ""
            count = share(len(changes), one.common, "question")
            yield TextLine(f"\n{of_which}{count} scored {title}{more}", "strong")
        for change in changes[:shown]:
            yield TextLine(f"  {one_line(change.question_id, 60)}  {one_line(change.question, 60)}")
            yield TextLine(f"    {compared.change_facts(change)}", "faint")
    if one.pairs and not (one.lost or one.gained or one.moves):
        yield TextLine(f"\n{of_which}no question scored differently")


def _moves(one: RunComparison, of_which: str, shown: int) -> Iterator[TextLine]:
    """At which step questions went wrong first in the one run and in the other."""
    if one.moves:
        count = share(sum(len(move.questions) for move in one.moves), one.common, "question")
        yield TextLine(f"\n{of_which}outcome changed for {count}", "strong")
    for move in one.moves[: None if shown > 1 else _SHOWN]:
        some = ", ".join(move.questions[:_SHOWN])
        rest = ", …" if len(move.questions) > _SHOWN else ""
        yield TextLine(f"  {len(move.questions):>4}  {move.first or 'right'} → {move.last or 'right'}: {some}{rest}")


def _front(report: ParetoReport, labels: Sequence[str]) -> Iterator[TextLine]:
    """The runs than which none is better, in a line."""
    names = [label for label, point in zip(labels, report.points, strict=True) if not point.dominated_by]
    if report.objectives:
        yield TextLine(f"no run is clearly better than these (Pareto front): {', '.join(names)}")


def _pareto(report: ParetoReport, labels: Sequence[str]) -> Iterator[TextLine]:
    """The objectives, each run with its place, the best of each objective, and the weighted scores."""
    yield TextLine("\nPareto front", "strong")
    yield from (TextLine(f"  left out: {name} ({reason})", "faint") for name, reason in report.left_out.items())
    if not report.objectives:
        yield TextLine("  no objective that all runs have")
        return
    label_of = dict(zip((point.run_id for point in report.points), labels, strict=True))
    for point, score in zip(report.points, report.scores, strict=True):
        better = ", ".join(map(label_of.__getitem__, point.dominated_by))
        place = f"clearly better: {better}" if better else "no run is clearly better"
        yield TextLine(f"  {label_of[point.run_id]}  score {number(score, 'ratio')}; {place}")
        values = (f"{name} {number(value, report.units[name])}" for name, value in point.objectives.items())
        yield TextLine(f"     {', '.join(values)}", "faint")
    yield from (TextLine(f"  {line}") for line in compared.pareto_lines(report, label_of))
    yield TextLine("  values and scores: over the questions of all runs; n: of the two runs", "faint")
    weights = ", ".join(f"{name} {weight:g}" for name, weight in report.weights.items())
    yield TextLine(f"  score: weighted over these objectives ({weights})", "faint")
