"""A comparison in words and tables, the same wherever it is shown."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import zip_longest

from evals.compare.models import (
    Comparison,
    Dominance,
    LatencyRatio,
    MetricPair,
    MetricRow,
    ParetoReport,
    QuestionChange,
    RunComparison,
    RunHead,
    Verdict,
)
from evals.compare.statistics import ALPHA
from evals.metrics.retrieval import SetPrecision
from evals.report.elements import TableRow, TextTable, Tone
from evals.report.parts import labels_of
from evals.report.wording import DIFFERENCE_DIGITS, bounded, by_reason, interval_end, level, named, number, one_line
from evals.text.numbers import counted

# Values and differences.


def signed(difference: float, unit: str) -> str:
    """A difference with its sign; equal values have none."""
    return _sign(difference) + number(abs(difference), unit, DIFFERENCE_DIGITS)


def _sign(difference: float) -> str:
    return "+" if difference > 0 else "−" if difference < 0 else ""


def pair_values(pair: MetricPair) -> list[str]:
    """The values of either run; with ≥ where one is a lower bound."""
    values = zip((pair.first, pair.last), pair.at_least, strict=True)
    return [bounded(value, pair.unit, at_least=at_least) for value, at_least in values]


def row_values(row: MetricRow) -> list[str]:
    """The values of all runs; with ≥ where one is a lower bound."""
    values = zip_longest(row.values, row.at_least, fillvalue=False)
    return [bounded(value, row.unit, at_least=at_least) for value, at_least in values]


def pair_difference(pair: MetricPair) -> str:
    """The difference with its sign: a bound where one of the values is one, a dash where both are."""
    sign = {(False, True): "≥ ", (True, False): "≤ "}.get(pair.at_least, "")
    return "–" if all(pair.at_least) else f"{sign}{signed(pair.difference, pair.unit)}"


def difference_interval(pair: MetricPair) -> str:
    """The interval of a difference, from end to end; a dash for none.

    An end that is so near to 0 that its digits would say 0 is <0 or >0.
    """
    if pair.interval is None:
        return "–"
    nothing = interval_end(0.0, pair.unit, DIFFERENCE_DIGITS)
    ends = []
    for end in pair.interval:
        shown = interval_end(abs(end), pair.unit, DIFFERENCE_DIGITS)
        ends.append(f"{'<' if end < 0 else '>'}0" if shown == nothing and end else _sign(end) + shown)
    return " … ".join(ends)


def probability(value: float | None) -> str:
    """A p with three decimals; a dash for none."""
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


# Tables: two runs with all that is known of each difference, many with the verdict on each against the first.

TONES: dict[Verdict, Tone] = {"worse": "bad", "changed": "doubtful", "better": "good"}
"""The verdicts that say that a metric moved, the worst first."""

_KINDS: tuple[Verdict, ...] = ("better", "worse", "changed", "equivalent", "identical", "not established")


def unmoved(comparison: Comparison) -> dict[str, str]:
    """The metrics of which no question differs between the runs, each with its value."""
    moved = {pair.name for one in comparison.against for pair in one.pairs if pair.verdict != "identical"}
    tested = {pair.name for one in comparison.against for pair in one.pairs} - moved
    return {row.name: row_values(row)[0] for row in comparison.metrics if row.name in tested}


def left_out(comparison: Comparison) -> set[str]:
    """The metrics that need no row: those that are unmoved, and of two runs those without a verdict for a reason."""
    first, *others = comparison.against
    return {*unmoved(comparison), *(pair.name for pair in first.pairs if pair.reason and not others)}


def comparison_table(comparison: Comparison, labels: Sequence[str], leave_out: Container[str] = ()) -> TextTable:
    """The metrics of two runs, those that moved first; of more, each value with its verdict against the first run.

    Args:
        comparison: What came out.
        labels: Of the runs.
        leave_out: Names of metrics that have no row.
    """
    first, *others = labels
    if len(others) == 1:
        columns = ["metric", first, others[0], "difference", "interval", "p", "n", "verdict"]
        pairs = sorted(comparison.against[0].pairs, key=worst_first)
        shown = [pair for pair in pairs if pair.name not in leave_out]
        rows = [TableRow(pair_cells(pair), TONES.get(pair.verdict, "")) for pair in shown]
        return TextTable(columns, rows, "", columns[-1:], spare=["p", "difference", "n", "interval"], whole=True)
    rows = [_row_of(row, comparison.against) for row in comparison.metrics if row.name not in leave_out]
    if comparison.pareto is not None:
        scores = [number(score, "ratio") for score in comparison.pareto.scores]
        rows.append(TableRow(["weighted score ↑", *_marked(scores, [""] * len(scores)), ""], "strong"))
    return TextTable(["metric", first, *(f"{label} {_BLANK}" for label in others), "n"], rows, spare=["n"])


_BLANK = "\u2007" * len("changed")
"""As wide as the longest word behind a value, so that numbers stand below each other."""


def _marked(values: Sequence[str], words: Sequence[str]) -> list[str]:
    """The value of the first run, and those of the others, each with a word behind it."""
    marked = (f"{value} {word}{_BLANK[len(word) :]}" for value, word in zip(values[1:], words[1:], strict=True))
    return [values[0], *marked]


def _row_of(row: MetricRow, against: Sequence[RunComparison]) -> TableRow:
    verdicts = [_verdict(row, one) for one in against]
    tone: Tone = next((tone for verdict, tone in TONES.items() if verdict in verdicts), "")
    cells = _marked(row_values(row), ["", *verdicts])
    return TableRow([named(row.name, row.higher_is_better), *cells, str(row.n)], tone)


def _verdict(row: MetricRow, one: RunComparison) -> str:
    """That the metric moved, where the verdict is over the questions of the row; else nothing."""
    of_row = (pair.verdict for pair in one.pairs if pair.name == row.name and pair.n == row.n)
    return next((verdict for verdict in of_row if verdict in TONES), "")


def worst_first(pair: MetricPair) -> int:
    """Where a metric stands: what got worse, then what got better or changed, then the rest as it was.

    `set_precision` comes after what moved: it falls by construction where more chunks are returned.
    """
    place = {"worse": 0 if pair.is_of_quality else 1, "better": 2, "changed": 3}.get(pair.verdict, 4)
    return 4 if pair.name == SetPrecision.name else place


def pair_cells(pair: MetricPair) -> list[str]:
    """Name, value in either run, difference, its interval, p, n and verdict."""
    return [
        named(pair.name, pair.higher_is_better) + ("*" if pair.primary else ""),
        *pair_values(pair),
        pair_difference(pair),
        difference_interval(pair),
        probability(pair.q),
        str(pair.n),
        pair.verdict,
    ]


def legend(comparison: Comparison, labels: Sequence[str], *, every: bool = True) -> list[str]:
    """What the words of the table mean; with `every`, of all metrics and with more details."""
    one, runs = comparison.against[0], len(comparison.against)
    if runs > 1:
        return [
            f"better, worse, changed: a significant difference from {labels[0]}; empty verdict: no clear difference",
            "n: questions with a value in every run",
            f"with {runs} runs against the baseline, each is tested at {ALPHA / runs:.2g}",
            *_of_other(comparison),
        ]
    gone = () if every else left_out(comparison)
    pairs = [pair for pair in one.pairs if pair.name not in gone]
    return [*_words_of(pairs, f"{labels[1]} − {labels[0]}"), *(_reach_of(one) if every else [])]


def _words_of(pairs: Sequence[MetricPair], difference: str) -> Iterator[str]:
    """What the words and marks of a table of two runs mean."""
    shown = " ".join(cell for pair in pairs for cell in [*pair_cells(pair), ""])
    moved = ", ".join(filter(shown.__contains__, _KINDS[:3]))
    enough = max((pair.questions_for_seen or 0 for pair in pairs), default=0)
    needed = f"about {enough:,} questions would be enough" if enough else "too little evidence"
    told = {
        moved.partition(",")[0]: f"{moved}: the interval of {difference}, adjusted for multiple testing, excludes 0",
        "<0 ": "<0: an end that rounds to 0",
        ">0 ": ">0: an end that rounds to 0",
        "*": "*: primary metric of its group",
        "not established": f"not established: {needed}",
        "equivalent": "equivalent: within 0.03 of the metric's range",
        "identical": "identical: no question differs",
    }
    return (text for word, text in told.items() if word and word in shown)


def _of_other(comparison: Comparison) -> Iterator[str]:
    """The verdicts that are over more questions than all runs have in common, with their own values."""
    shared = {row.name: row.n for row in comparison.metrics}
    for one in comparison.against:
        for pair in one.pairs:
            if pair.verdict in TONES and pair.n != shared[pair.name]:
                values = " → ".join(pair_values(pair))
                yield f"{one.run} {pair.verdict} in {pair.name}: {values}, over {counted(pair.n, 'question')}"


def _reach_of(one: RunComparison) -> Iterator[str]:
    """What the comparison could have shown on the primary metrics."""
    for pair in one.pairs:
        if pair.primary and pair.smallest_difference is not None:
            needed = pair.questions_needed
            more = f"; finding 5 % of its range needs {counted(needed, 'question')}" if needed else ""
            smallest = number(pair.smallest_difference, pair.unit, DIFFERENCE_DIGITS)
            had = counted(pair.n, "question")
            yield f"{pair.name}: with {had} a difference of {smallest} is found with a power of 80 %{more}"


# What to know of a comparison: which runs, what to beware of, and what it comes to.


_LABEL = 14
"""Characters of a run's name that is short enough for the head of a column."""


def label_runs(comparison: Comparison) -> list[str]:
    """The names of the runs where they are short and differ, as those of variants; else a letter a run."""
    names = [one_line(run.name, _NAME) for run in comparison.runs]
    short = all(
        0 < len(name) <= _LABEL and run.id not in name for name, run in zip(names, comparison.runs, strict=True)
    )
    short = short and len(set(names)) == len(names)
    return names if short else labels_of(len(names))


_NAME = 60


_USUAL = {"complete", "no judge"}


def run_facts(run: RunHead, *, every: bool = True) -> list[str]:
    """When a run was made, how it ended, and under which conditions; those that are usual only with `every`."""
    status = run.status if run.scored else "unfinished"
    facts = [f"{run.created_at:%Y-%m-%d %H:%M}", status, counted(run.question_count, "question")]
    facts += [f"{run.error_count} without an answer"] if run.error_count else []
    facts += [f"concurrency {run.concurrency}", f"judge {run.judge}" if run.judge else "no judge"]
    return [fact for fact in facts if every or fact not in _USUAL]


def warnings_of(comparison: Comparison) -> list[str]:
    """What to beware of: of the runs, of metrics that are gone, and of what the comparison is about."""
    gone, about = [], []
    for one in comparison.against:
        for reason, names in by_reason((metric.name, metric.reason) for metric in one.vanished).items():
            gone.append(f"no value any more in {one.run} ({reason}): {', '.join(names)}")
        if comparison.primary in {metric.name for metric in one.vanished}:
            about.append(
                f"the primary metric {comparison.primary} has no value in {one.run}: it is not known whether that run "
                f"is worse than {one.baseline}"
            )
    return [*comparison.warnings, *gone, *about]


def without_verdict(comparison: Comparison, labels: Sequence[str], *, every: bool = True) -> Iterator[str]:
    """Why metrics have no verdict or cannot have one, those of the same reason together; of many runs, run by run.

    Args:
        comparison: What came out.
        labels: Of the runs.
        every: Else two runs' values are said too, as these metrics have no row; of more runs, untested metrics alone.
    """
    told = {(one.run, metric.name) for one in comparison.against for metric in one.vanished}  # by a warning already

    def is_told(row: MetricRow) -> bool:
        lacking = [run for run, value in zip(comparison.runs, row.values, strict=True) if value is None]
        return bool(lacking) and all(not run.scored or (run.id, row.name) in told for run in lacking)

    found = [("no verdict", [(row.name, row.reason) for row in comparison.metrics if not is_told(row)])]
    for label, one in zip(labels[1:], comparison.against, strict=True):
        title = "no verdict" if len(labels) == 2 else f"{label} against {labels[0]}, no verdict"
        found.append((title, list(_untested(one, every=every, alone=len(labels) == 2))))
    for title, facts in found:
        yield from (f"{title} ({reason}): {', '.join(names)}" for reason, names in by_reason(facts).items())


def _untested(one: RunComparison, *, every: bool, alone: bool) -> Iterator[tuple[str, str | None]]:
    for pair in one.pairs:
        if every:
            yield pair.name, pair.reason
        elif alone or pair.p is None:
            yield f"{pair.name} {' → '.join(dict.fromkeys(pair_values(pair)))}", pair.reason


def verdict_counts(one: RunComparison) -> dict[str, int]:
    """How many metrics have each verdict; those that have none for a reason are left out."""
    counts = Counter(pair.verdict for pair in one.pairs if pair.reason is None)
    return {kind: counts[kind] for kind in _KINDS if counts[kind]}


def sum_of(one: RunComparison, label: str, baseline: str) -> str:
    """All verdicts on a run in one line."""
    if not one.pairs:
        return f"nothing could be compared: {label} and {baseline} have no metric with values in common"
    counts = verdict_counts(one)
    if not counts:
        few = "one common question is" if one.common == 1 else "values in both runs are"
        return f"{label} against {baseline}: nothing could be tested: {few} not enough to tell a difference from chance"
    said = ", ".join(f"{kind} on {count}" for kind, count in counts.items())
    return f"{label} against {baseline}: {said} of {counted(sum(counts.values()), 'metric')}"


def latency_line(found: LatencyRatio, label: str, baseline: str) -> str:
    """How many times as long the run takes, where both were asked in turn."""
    took, within = (
        "" if ends is None else f" ({ends[0]:.3f} … {ends[1]:.3f})"
        for ends in (found.interval, found.equivalence_interval)
    )
    tested = f"within {level(found.margin)}, by two one-sided tests{within}"
    said = {"equal": f"equal {tested}", "undecided": f"no clear difference, and not known to be equal {tested}"}
    times = f"{found.ratio:.3f} times that of {baseline}{took}, p {probability(found.q)}, n {found.n}"
    return f"latency of {label}: {times}: {said.get(found.verdict, found.verdict)}"


_MOVED_SHOWN = 3


def change_facts(change: QuestionChange) -> str:
    """What explains the change of a question: a note, then the metrics that moved most."""
    moved = [f"{name} {before:.2f} → {after:.2f}" for name, (before, after) in change.moved.items()]
    rest = [f"{len(moved) - _MOVED_SHOWN} more"] if len(moved) > _MOVED_SHOWN else []
    return ", ".join([*filter(None, [change.note]), *moved[:_MOVED_SHOWN], *rest])


# Which runs are better than which on what.


def pareto_lines(report: ParetoReport, label_of: Mapping[str, str]) -> Iterator[str]:
    """A line a run and another that it is better than, or that no run is; then the front without regard to error."""
    for one in report.dominance:
        ties = "; no clear difference on the rest" if one.undecided else ""
        better = [_gain(one, name, report) for name in one.better_on]
        yield f"{label_of[one.run]} is better than {label_of[one.over]} on {', '.join(better)}{ties}"
    if not report.dominance:
        yield "no run is clearly better than another on some objective and worse on none"
    front = ", ".join(label_of[run_id] for run_id in report.front_by_values)
    yield f"by the values alone, chance aside, no run is better than: {front or 'none of them'}"
    yield f"lower is better: {', '.join(name for name, way in report.objectives.items() if way == 'lower') or 'none'}"


def _gain(one: Dominance, objective: str, report: ParetoReport) -> str:
    """An objective, by how much a run is better on it, and over how many questions of the two."""
    pairs = (test for test in report.tests if {test.first, test.last} == {one.run, one.over})
    test = next(test for test in pairs if test.objective == objective)
    unit = report.units[objective] if len(report.fed_by[objective]) == 1 else "ratio"
    return f"{objective} (by {number(abs(test.gain or 0.0), unit, DIFFERENCE_DIGITS)}, n {test.n})"
