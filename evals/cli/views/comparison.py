"""A comparison on the terminal: as tables where they fit, else a few lines a metric."""

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.terminal.console import clean, fits
from evals.cli.views.pareto import print_pareto
from evals.compare import Comparison, MetricPair, MetricRow, QuestionChange
from evals.text.counts import counted, share
from evals.views.formatting import arrow, interval_end, number

_CHANGES_SHOWN = 5
_MOVED_SHOWN = 3
_MOVES_SHOWN = 5
_STYLES = {"better": "green", "worse": "red", "changed": "yellow"}


def print_comparison(out: Console, comparison: Comparison) -> None:
    """Print which runs they are, what to beware of, the metrics, the questions that changed, and the Pareto front."""
    labels = label_runs(comparison)
    _print_heads(out, comparison, labels)
    for warning in comparison.warnings:
        out.print(clean(f"! {warning}"), style="yellow")
    out.print()
    if len(comparison.runs) == 2:
        _print_pairs(out, comparison)
    else:
        _print_rows(out, comparison, labels)
    _print_sum(out, comparison, labels)
    _print_changes(out, comparison)
    _print_moves(out, comparison)
    if comparison.pareto is not None:
        print_pareto(out, comparison.pareto, labels)


def label_runs(comparison: Comparison) -> list[str]:
    """A letter a run, as long as there are letters."""
    count = len(comparison.runs)
    return list(ascii_uppercase[:count]) if count <= len(ascii_uppercase) else [str(n + 1) for n in range(count)]


def _print_heads(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    for label, run in zip(labels, comparison.runs, strict=True):
        facts = [f"{run.created_at:%Y-%m-%d %H:%M}", run.status, counted(run.question_count, "question")]
        facts += [f"{run.error_count} without an answer"] if run.error_count else []
        facts += [f"concurrency {run.concurrency}", f"judge {run.judge}" if run.judge else "no judge"]
        out.print(Text.assemble((label, "bold"), f"  {run.id}  ", clean(run.name, 60)))
        out.print(clean(f"   {run.url}, {', '.join(run.datasets)}; {', '.join(facts)}"), style="dim")
    out.print(f"\n{counted(comparison.common, 'common question')}", style="bold")


def _print_pairs(out: Console, comparison: Comparison) -> None:
    """Two runs: the paired difference of each metric."""
    table = _table(["A", "B", "B − A", f"{comparison.confidence:.0%} interval", "q", "n"], verdict="B is")
    for pair in comparison.pairs:
        table.add_row(*_cells(pair), style=_STYLES.get(pair.verdict))
    if fits(out, table):
        out.print(table)
    else:
        for pair in comparison.pairs:
            _print_stacked(out, pair)
    _print_reasons(out, comparison)
    out.print("q: p after Benjamini-Hochberg over these metrics; n: questions with a value in both", style="dim")


def _cells(pair: MetricPair) -> list[str]:
    return [
        f"{pair.name} {arrow(pair.higher_is_better)}".rstrip(),
        number(pair.first, pair.unit),
        number(pair.last, pair.unit),
        _signed(pair.difference, pair.unit),
        _interval(pair),
        _probability(pair.q),
        str(pair.n),
        pair.verdict,
    ]


def _print_stacked(out: Console, pair: MetricPair) -> None:
    name, first, last, difference, interval, q, n, verdict = _cells(pair)
    out.print(Text.assemble((f"{name}  ", "bold"), (verdict, _STYLES.get(pair.verdict, ""))))
    out.print(Text(f"  {first} → {last}, {difference} [{interval}], q {q}, n {n}"))


def _signed(difference: float, unit: str) -> str:
    """A difference with its sign; equal values have none."""
    return _sign(difference) + number(abs(difference), unit)


def _sign(difference: float) -> str:
    return "+" if difference > 0 else "−" if difference < 0 else ""


def _interval(pair: MetricPair) -> str:
    if pair.interval is None:
        return "–"
    return " … ".join(_sign(end) + interval_end(abs(end), pair.unit) for end in pair.interval)


def _probability(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _print_rows(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    """Many runs: metrics × runs, with the verdict on the last against the first."""
    verdicts = {row.name: "–" for row in comparison.metrics} | {pair.name: pair.verdict for pair in comparison.pairs}
    against = f"{labels[-1]} against {labels[0]}"
    table = _table([*labels, "n"], verdict=against)
    for row in comparison.metrics:
        verdict = verdicts[row.name]
        table.add_row(_title(row), *_values(row), str(row.n), verdict, style=_STYLES.get(verdict))
    if fits(out, table):
        out.print(table)
    else:
        for row in comparison.metrics:
            cells = ", ".join(map(" ".join, zip(labels, _values(row), strict=True)))
            out.print(Text(_title(row), style="bold"))
            out.print(Text(f"  {cells}; n {row.n}"))
            out.print(Text(f"  {against}: {verdicts[row.name]}"))
    _print_reasons(out, comparison)
    out.print("n: questions with a value in every run that has the metric", style="dim")


def _table(titles: Sequence[str], *, verdict: str) -> Table:
    """A table of metrics: under titles numbers, and at last what is said of them."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("metric", no_wrap=True)
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column(verdict, no_wrap=True)
    return table


def _values(row: MetricRow) -> list[str]:
    return [number(value, row.unit) for value in row.values]


def _print_reasons(out: Console, comparison: Comparison) -> None:
    """Why metrics are not compared, those of the same reason together."""
    reasons: dict[str, list[str]] = {}
    facts = [(row.name, row.reason) for row in comparison.metrics] + [(p.name, p.reason) for p in comparison.pairs]
    for name, reason in facts:
        if reason is not None:
            reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        out.print(clean(f"not compared, {reason}: {', '.join(names)}"), style="dim")


def _title(row: MetricRow) -> str:
    return f"{row.name} {arrow(row.higher_is_better)}".rstrip()


def _print_sum(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    """All verdicts in one line."""
    if not comparison.pairs:
        out.print("nothing could be compared: the runs have no metric with values in common", style="bold")
        return
    counts = Counter(pair.verdict for pair in comparison.pairs)
    compared = len(comparison.pairs) - counts["not compared"]
    if not compared:
        few = "one common question is" if comparison.common == 1 else "values in both runs are"
        out.print(f"\nnothing could be tested: {few} not enough to tell a difference from chance", style="bold")
        return
    parts = [f"{kind} on {counts[kind]}" for kind in ("better", "worse", "changed") if counts[kind]]
    said = f"is {', '.join(parts)} of" if parts else "shows no difference beyond chance on"
    out.print(f"\n{labels[-1]} {said} {counted(compared, 'metric')} compared with {labels[0]}", style="bold")


def _print_changes(out: Console, comparison: Comparison) -> None:
    for title, changes in (("lost", comparison.lost), ("gained", comparison.gained)):
        if not changes:
            continue
        out.print(f"\n{title}: {share(len(changes), comparison.common, 'question')}", style="bold")
        for change in changes[:_CHANGES_SHOWN]:
            _print_change(out, change)
        if len(changes) > _CHANGES_SHOWN:
            out.print(f"  … and {len(changes) - _CHANGES_SHOWN} more (--json lists all)", style="dim")
    if comparison.pairs and not comparison.lost and not comparison.gained:
        out.print("\nno question changed")


def _print_moves(out: Console, comparison: Comparison) -> None:
    """Where questions went wrong first in the one run and in the other."""
    if not comparison.moves:
        return
    count = sum(len(move.questions) for move in comparison.moves)
    out.print(f"\nfirst broken link: {share(count, comparison.common, 'question')} moved", style="bold")
    for move in comparison.moves:
        some = ", ".join(move.questions[:_MOVES_SHOWN])
        rest = ", …" if len(move.questions) > _MOVES_SHOWN else ""
        way = f"{move.first or 'right'} → {move.last or 'right'}"
        out.print(clean(f"  {len(move.questions):>4}  {way}: {some}{rest}"))


def _print_change(out: Console, change: QuestionChange) -> None:
    out.print(Text.assemble(f"  {_signed(change.change, 'ratio')}  ", clean(change.question_id, 60)))
    out.print(Text.assemble("          ", clean(change.question, 120)), style="dim")
    moved = [f"{name} {before:.2f} → {after:.2f}" for name, (before, after) in change.moved.items()]
    rest = [f"{len(moved) - _MOVED_SHOWN} more"] if len(moved) > _MOVED_SHOWN else []
    facts = [*([change.note] if change.note else []), *moved[:_MOVED_SHOWN], *rest]
    out.print(clean(f"          {', '.join(facts)}"), style="dim")
