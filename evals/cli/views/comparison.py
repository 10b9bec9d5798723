"""A comparison on the terminal: as tables where they fit, else a few lines a metric."""

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.terminal.console import BAD, DOUBTFUL, GOOD, clean, fits
from evals.cli.views.narrow import NarrowRow, narrow_lines
from evals.cli.views.pareto import print_pareto
from evals.compare import Comparison, MetricPair, MetricRow, QuestionChange, RunComparison
from evals.text.counts import counted, share
from evals.views.differences import difference_interval, probability, signed
from evals.views.formatting import arrow, number

_CHANGES_SHOWN = 5
_MOVED_SHOWN = 3
_MOVES_SHOWN = 5
_STYLES = {"better": GOOD, "changed": DOUBTFUL, "worse": BAD}
_COLUMNS = "A, B: the metric in each run, over the n questions with a value in both"
_LINES = "A → B, then B − A [its interval], p and n: over the n questions with a value in both"
_LEGEND = (
    "interval: of B − A; it leaves out 0 exactly where there is a verdict",
    "p: how easily chance makes such a difference, adjusted for the number of metrics; a verdict needs p < 0.05",
)
_LEFT_OUT = ("p is in a wider terminal and in --json; where B is said to be nothing, no difference was seen or tested",)
_STAR = "*: the primary metric of its group, which is tested first"


def print_comparison(out: Console, comparison: Comparison) -> None:
    """Print which runs they are, what to beware of, the metrics, the questions that changed, and the Pareto front."""
    labels = label_runs(comparison)
    _print_heads(out, comparison, labels)
    for warning in [*comparison.warnings, *_losses(comparison), *_primary_lost(comparison)]:
        out.print(clean(f"! {warning}"), style=DOUBTFUL)
    for difference in comparison.differences:
        out.print(clean(f"differs: {difference}"), style="dim")
    out.print()
    if len(comparison.runs) == 2:
        _print_pairs(out, comparison.against[0])
    else:
        _print_rows(out, comparison, labels)
    _print_reasons(out, comparison, labels)
    for label, one in zip(labels[1:], comparison.against, strict=True):
        _print_sum(out, one, label, labels[0])
        _print_latency(out, one, label, labels[0])
    if comparison.runs[0].scored and comparison.runs[-1].scored:
        _print_changes(out, comparison.against[-1], labels)
    _print_moves(out, comparison.against[-1], labels)
    if comparison.pareto is not None:
        print_pareto(out, comparison.pareto, labels)


def _losses(comparison: Comparison) -> list[str]:
    """The metrics that a run has no values of any more, those of the same reason together."""
    found = []
    for one in comparison.against:
        reasons: dict[str, list[str]] = {}
        for metric in one.vanished:
            reasons.setdefault(metric.reason, []).append(metric.name)
        found += [f"no value any more in {one.run} ({reason}): {', '.join(names)}" for reason, names in reasons.items()]
    return found


def _primary_lost(comparison: Comparison) -> list[str]:
    """That what the comparison is about is gone, run by run."""
    return [
        f"this comparison is about {comparison.primary}, of which {one.run} has no value: nobody can say whether it is "
        f"worse than {one.baseline}"
        for one in comparison.against
        if comparison.primary in {metric.name for metric in one.vanished}
    ]


def label_runs(comparison: Comparison) -> list[str]:
    """A letter a run, as long as there are letters."""
    count = len(comparison.runs)
    return list(ascii_uppercase[:count]) if count <= len(ascii_uppercase) else [str(n + 1) for n in range(count)]


def _print_heads(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    for label, run in zip(labels, comparison.runs, strict=True):
        status = run.status if run.scored else "unfinished"
        facts = [f"{run.created_at:%Y-%m-%d %H:%M}", status, counted(run.question_count, "question")]
        facts += [f"{run.error_count} without an answer"] if run.error_count else []
        facts += [f"concurrency {run.concurrency}", f"judge {run.judge}" if run.judge else "no judge"]
        out.print(Text.assemble((label, "bold"), f"  {run.id}  ", clean(run.name, 60)))
        out.print(clean(f"   {run.url}, {', '.join(run.datasets)}; {', '.join(facts)}"), style="dim")
    every = "both" if len(labels) == 2 else f"all {len(labels)} runs"
    out.print(f"\n{counted(comparison.common, 'question')} asked in {every}", style="bold")


def _print_pairs(out: Console, one: RunComparison) -> None:
    """Two runs: the paired difference of each metric."""
    table = _table(["A", "B", "B − A", "interval", "p", "n"], ["B is"])
    for pair in one.pairs:
        table.add_row(*_cells(pair), style=_STYLES.get(pair.verdict))
    if fits(out, table):
        out.print(table)
        _print_legend(out, one, _COLUMNS)
    elif narrow := _narrow(one, out.width):
        for line in narrow:
            out.print(line)
        _print_legend(out, one, _COLUMNS, *_LEFT_OUT)
    else:
        for pair in one.pairs:
            _print_stacked(out, pair)
        _print_legend(out, one, _LINES)
    _print_levels(out, one)
    _print_reach(out, one)


def _narrow(one: RunComparison, width: int) -> list[Text] | None:
    """The table without p, for a terminal of 80 columns; None where even that is too wide."""
    rows = []
    for pair in one.pairs:
        name, first, last, difference, interval, _, n, verdict = _cells(pair)
        said = verdict if verdict in _STYLES else ""
        rows.append(NarrowRow(name, (first, last, difference, interval, n, said), _STYLES.get(verdict, "")))
    return narrow_lines(NarrowRow("metric", ("A", "B", "B − A", "interval", "n", "B is"), "bold"), rows, width)


def _print_legend(out: Console, one: RunComparison, *values: str) -> None:
    starred = [_STAR] if any(pair.primary for pair in one.pairs) else []
    for line in [*values, *_LEGEND, *starred]:
        out.print(line, style="dim")


def _cells(pair: MetricPair) -> list[str]:
    return [
        f"{pair.name} {arrow(pair.higher_is_better)}".rstrip() + ("*" if pair.primary else ""),
        number(pair.first, pair.unit),
        number(pair.last, pair.unit),
        signed(pair.difference, pair.unit),
        difference_interval(pair),
        probability(pair.q),
        str(pair.n),
        pair.verdict,
    ]


def _print_stacked(out: Console, pair: MetricPair) -> None:
    name, first, last, difference, interval, p, n, verdict = _cells(pair)
    out.print(Text.assemble((f"{name}  ", "bold"), (verdict, _STYLES.get(pair.verdict, ""))))
    out.print(Text(f"  {first} → {last}, {difference} [{interval}], p {p}, n {n}"))


def _print_levels(out: Console, one: RunComparison) -> None:
    """At which level each metric was tested that may have a verdict: its interval has that confidence."""
    if any(pair.level is not None and pair.reason is None for pair in one.pairs):
        out.print("tested at: below this p, not adjusted, a metric has its verdict; all share 0.05", style="dim")
    levels: dict[str, list[str]] = {}
    for pair in one.pairs:
        if pair.level is not None and pair.reason is None:
            levels.setdefault(f"{pair.level:.2g}", []).append(pair.name)
    for level, names in levels.items():
        out.print(Text(f"tested at {level}: {', '.join(names)}"), style="dim")


def _print_reach(out: Console, one: RunComparison) -> None:
    """What the comparison could have shown on the primary metrics."""
    for pair in one.pairs:
        if pair.primary and pair.smallest_difference is not None:
            needed = (
                f"; one of 5 % of its range takes {counted(pair.questions_needed, 'question')}"
                if pair.questions_needed
                else ""
            )
            smallest = number(pair.smallest_difference, pair.unit)
            found = f"a difference of {smallest} is found 4 times in 5{needed}"
            out.print(Text(f"{pair.name}: with {counted(pair.n, 'question')} {found}"), style="dim")


def _print_rows(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    """Many runs: metrics × runs, with the verdict on each against the first."""
    titles = [f"{label} against {labels[0]}" for label in labels[1:]]
    table = _table([*labels, "n"], titles)
    for row in comparison.metrics:
        said = [_said(row, one) for one in comparison.against]
        table.add_row(_title(row), *_values(row), str(row.n), *said, style=_style(row, comparison))
    if fits(out, table):
        out.print(table)
    else:
        for row in comparison.metrics:
            cells = ", ".join(map(" ".join, zip(labels, _values(row), strict=True)))
            out.print(Text(_title(row), style="bold"))
            out.print(Text(f"  {cells}; n {row.n}"))
            for title, one in zip(titles, comparison.against, strict=True):
                out.print(Text(f"  {title}: {_said(row, one)}"))
    _print_row_legend(out, comparison, labels)


def _print_row_legend(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    shared = ", ".join(f"{label} {one.common}" for label, one in zip(labels[1:], comparison.against, strict=True))
    out.print(
        f"{', '.join(labels)} and n: over the questions with a value in every run that has the metric", style="dim"
    )
    out.print(
        f"verdicts: over the questions that a run shares with {labels[0]} ({shared}); where these are more, the two "
        "values that the verdict is on, and their n, stand behind it",
        style="dim",
    )


def _said(row: MetricRow, one: RunComparison) -> str:
    """The verdict on a run, with its own values and n where it is over other questions than those of the row."""
    pair = next((pair for pair in one.pairs if pair.name == row.name), None)
    if pair is None:
        return "no value any more" if row.name in {metric.name for metric in one.vanished} else "–"
    if pair.n == row.n:  # the questions of the row are among those of the pair: as many are the same ones
        return pair.verdict
    return f"{pair.verdict}: {number(pair.first, pair.unit)} → {number(pair.last, pair.unit)}, n {pair.n}"


def _style(row: MetricRow, comparison: Comparison) -> str | None:
    """The colour of the worst that is said of a metric."""
    said = {pair.verdict for one in comparison.against for pair in one.pairs if pair.name == row.name}
    return next((style for verdict, style in reversed(_STYLES.items()) if verdict in said), None)


def _table(titles: Sequence[str], verdicts: Sequence[str]) -> Table:
    """A table of metrics: under titles numbers, and at last what is said of them."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("metric", no_wrap=True)
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for verdict in verdicts:
        table.add_column(verdict, no_wrap=True)
    return table


def _values(row: MetricRow) -> list[str]:
    return [number(value, row.unit) for value in row.values]


def _print_reasons(out: Console, comparison: Comparison, labels: Sequence[str]) -> None:
    """Why metrics have no verdict or cannot have one, those of the same reason together; of many runs, run by run."""
    _print_by_reason(
        out, "no verdict", [(row.name, row.reason) for row in comparison.metrics if not _is_told(row, comparison)]
    )
    for label, one in zip(labels[1:], comparison.against, strict=True):
        title = "no verdict" if len(labels) == 2 else f"{label} against {labels[0]}, no verdict"
        _print_by_reason(out, title, [(pair.name, pair.reason) for pair in one.pairs])


def _print_by_reason(out: Console, title: str, facts: Sequence[tuple[str, str | None]]) -> None:
    reasons: dict[str, list[str]] = {}
    for name, reason in facts:
        if reason is not None:
            reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        out.print(clean(f"{title}, {reason}: {', '.join(names)}"), style="dim")


def _is_told(row: MetricRow, comparison: Comparison) -> bool:
    """Whether a warning above says already why the runs that lack a metric do."""
    told = {(one.run, metric.name) for one in comparison.against for metric in one.vanished}
    lacking = [run for run, value in zip(comparison.runs, row.values, strict=True) if value is None]
    return bool(lacking) and all(not run.scored or (run.id, row.name) in told for run in lacking)


def _title(row: MetricRow) -> str:
    return f"{row.name} {arrow(row.higher_is_better)}".rstrip()


def _print_sum(out: Console, one: RunComparison, label: str, baseline: str) -> None:
    """All verdicts on a run in one line."""
    if not one.pairs:
        out.print(
            f"\nnothing could be compared: {label} and {baseline} have no metric with values in common", style="bold"
        )
        return
    counts = Counter(pair.verdict for pair in one.pairs)
    compared = len(one.pairs) - counts["not compared"] - counts["not established"]
    if not compared:
        few = "one common question is" if one.common == 1 else "values in both runs are"
        out.print(f"\nnothing could be tested: {few} not enough to tell a difference from chance", style="bold")
        return
    parts = [f"{kind} on {counts[kind]}" for kind in ("better", "worse", "changed") if counts[kind]]
    said = f"{', '.join(parts)} of" if parts else "no difference beyond chance on any of"
    out.print(f"\n{label} against {baseline}: {said} {counted(compared, 'metric')}", style="bold")


def _print_latency(out: Console, one: RunComparison, label: str, baseline: str) -> None:
    """How many times as long the run takes, where both were asked in turn."""
    found = one.latency
    if found is None:
        return
    took = f"latency of {label}: {found.ratio:.3f} times that of {baseline}{_ratio_interval(found.interval)}"
    within = f"within {found.margin:.0%}, by two one-sided tests{_ratio_interval(found.equivalence_interval)}"
    said = {"equal": f"equal {within}", "undecided": f"undecided, and not known to be equal {within}"}
    verdict = said.get(found.verdict, found.verdict)
    style = {"slower": BAD, "faster": GOOD}.get(found.verdict)
    out.print(clean(f"{took}, p {probability(found.q)}, n {found.n}: {verdict}", 400), style=style)


def _ratio_interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" ({interval[0]:.3f} … {interval[1]:.3f})"


def _print_changes(out: Console, one: RunComparison, labels: Sequence[str]) -> None:
    of_which = "" if len(labels) == 2 else f"{labels[-1]} against {labels[0]}, "
    for title, changes in (("lost", one.lost), ("gained", one.gained)):
        if not changes:
            continue
        out.print(f"\n{of_which}{title}: {share(len(changes), one.common, 'question')}", style="bold")
        for change in changes[:_CHANGES_SHOWN]:
            _print_change(out, change)
        if len(changes) > _CHANGES_SHOWN:
            out.print(f"  … and {len(changes) - _CHANGES_SHOWN} more (--json lists all)", style="dim")
    if one.pairs and not one.lost and not one.gained:
        out.print(f"\n{of_which}no question changed")


def _print_moves(out: Console, one: RunComparison, labels: Sequence[str]) -> None:
    """Where questions went wrong first in the one run and in the other."""
    if not one.moves:
        return
    of_which = "" if len(labels) == 2 else f"{labels[-1]} against {labels[0]}, "
    count = sum(len(move.questions) for move in one.moves)
    out.print(f"\n{of_which}first broken link: {share(count, one.common, 'question')} moved", style="bold")
    for move in one.moves:
        some = ", ".join(move.questions[:_MOVES_SHOWN])
        rest = ", …" if len(move.questions) > _MOVES_SHOWN else ""
        way = f"{move.first or 'right'} → {move.last or 'right'}"
        out.print(clean(f"  {len(move.questions):>4}  {way}: {some}{rest}"))


def _print_change(out: Console, change: QuestionChange) -> None:
    out.print(Text.assemble(f"  {signed(change.change, 'ratio')}  ", clean(change.question_id, 60)))
    out.print(Text.assemble("          ", clean(change.question, 120)), style="dim")
    moved = [f"{name} {before:.2f} → {after:.2f}" for name, (before, after) in change.moved.items()]
    rest = [f"{len(moved) - _MOVED_SHOWN} more"] if len(moved) > _MOVED_SHOWN else []
    facts = [*([change.note] if change.note else []), *moved[:_MOVED_SHOWN], *rest]
    out.print(clean(f"          {', '.join(facts)}"), style="dim")
