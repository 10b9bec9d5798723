"""What a command found, for those who look at it in CI: a comment, a summary of the job, annotations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from evals.compare.models import Comparison, MetricPair, QuestionChange, RunComparison
from evals.compare.pairing import SavedRun
from evals.metrics.registry import known_metric
from evals.report.compared import counts_of, difference_interval, pair_difference, pair_values, probability, signed
from evals.report.markdown import code, escape, joined, run_head, scorecard_table, to_markdown, weighted_line
from evals.report.wording import arrow, one_line
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.run_parts import GateOutcome
from evals.scoring.conclusion import Measured
from evals.scoring.config import SCORE
from evals.scoring.diagnosis.outcome import in_turn
from evals.text.numbers import counted, share

# How a command ended that CI runs: what its reports are made of.


_NAME = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class CommandProblem:
    """What a command ended by.

    Attributes:
        kind: The name of the error.
        message: One sentence.
        hint: The way out.
        of_gates: Whether it is that gates are not met, each of which is told by itself.
    """

    kind: str
    message: str
    hint: str | None = None
    of_gates: bool = False


@dataclass(frozen=True)
class Checked:
    """A run with the gates that it was held to."""

    measured: Measured
    gates: Sequence[GateOutcome] = ()

    @property
    def run(self) -> EvalRun:
        """The run."""
        return self.measured.run


@dataclass(frozen=True)
class Beside:
    """Runs beside their baseline.

    Attributes:
        comparison: What came out.
        saved: The runs with their records, the baseline first.
    """

    comparison: Comparison
    saved: Sequence[SavedRun]


@dataclass(frozen=True)
class CommandEnd:
    """What a command found, and how it ended.

    Attributes:
        runs: Those that it made or checked; none where it ended before there was one.
        beside: How they compare with a baseline; None where they were not held against one.
        remarks: What a reader must know beside: that there is no baseline yet, for example.
        problem: What it ended by; None where it ended well.
        lenient: Whether a gate for which there is not enough evidence is no fault.
        made: Whether the runs were made by this command, so that nobody has told of them before.
    """

    runs: Sequence[Checked] = ()
    beside: Beside | None = None
    remarks: Sequence[str] = ()
    problem: CommandProblem | None = None
    lenient: bool = False
    made: bool = True

    def failing(self) -> list[GateOutcome]:
        """The gates that the command fails by, of all runs."""
        outcomes = chain.from_iterable(each.gates for each in self.runs)
        return [each for each in outcomes if fails(each, lenient=self.lenient)]


def fails(outcome: GateOutcome, *, lenient: bool) -> bool:
    """Whether a gate that ended so is a fault."""
    return outcome.outcome == "not met" or (outcome.outcome == "not enough evidence" and not lenient)


def group_of(gate: str, run: EvalRun) -> str:
    """The group of the metric that a condition is on; "score" of the weighted score, "other" of what nobody knows.

    Args:
        gate: As `GateOutcome.gate` has it: the metric stands first.
        run: The run that is held to it.
    """
    name = _NAME.match(gate)[0]  # type: ignore[index]  # it always matches
    if name == SCORE:
        return SCORE
    summary, metric = run.scorecard.find(name), known_metric(name)
    if summary is not None:
        return summary.group.value
    return "other" if metric is None else metric.group.value


# What a command found as annotations of GitHub Actions: lines on its output that stand beside a job.


MOST_ANNOTATIONS = 10
"""So many of each kind are shown of one step."""

_TITLE, _MESSAGE = 100, 500

_IN_MESSAGES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})

_IN_TITLES = {**_IN_MESSAGES, ord(":"): "%3A", ord(","): "%2C"}


def annotation(kind: str, title: str, message: str) -> str:
    """One annotation as a line.

    Args:
        kind: error, warning or notice.
        title: Its title; foreign text too.
        message: What it says; foreign text too.
    """
    head = one_line(title, _TITLE).translate(_IN_TITLES)
    return f"::{kind} title={head}::{one_line(message, _MESSAGE).translate(_IN_MESSAGES)}"


def annotations(ended: CommandEnd) -> Iterator[str]:
    """An error for each gate that fails the command, or for what else it ended by, and warnings.

    These are of each metric that got worse, and of some of the questions that ended wrong, one of each link first.
    """
    yield from _at_most("error", list(_errors(ended)))
    yield from _at_most("warning", list(islice(_warnings(ended), 2 * MOST_ANNOTATIONS)))


def _at_most(kind: str, found: Sequence[tuple[str, str]]) -> Iterator[str]:
    shown = (
        found
        if len(found) <= MOST_ANNOTATIONS
        else [*found[: MOST_ANNOTATIONS - 1], ("and more", "the summary and the reports list all")]
    )
    yield from (annotation(kind, title, message) for title, message in shown)


def _errors(ended: CommandEnd) -> Iterator[tuple[str, str]]:
    if ended.problem is None:
        return
    if not ended.problem.of_gates:
        hint = f" ({ended.problem.hint})" if ended.problem.hint else ""
        yield "evals", f"{ended.problem.message}{hint}"
        return
    for each in ended.failing():
        yield f"{each.outcome}: {each.gate}", each.message


def _warnings(ended: CommandEnd) -> Iterator[tuple[str, str]]:
    if ended.beside is not None:
        for one in ended.beside.comparison.against:
            yield from (_worse(pair, one.baseline) for pair in one.regressions)
            yield from ((f"no value any more: {each.name}", each.reason) for each in one.vanished)
    if ended.made:
        for checked in ended.runs:
            yield from _wrong(checked)


def _worse(pair: MetricPair, baseline: str) -> tuple[str, str]:
    values = f"{' → '.join(pair_values(pair))} ({pair_difference(pair)})"
    return f"worse: {pair.name}", f"{values} against {baseline}"


def _wrong(checked: Checked) -> Iterator[tuple[str, str]]:
    if checked.run.is_unscored:
        return
    chosen = in_turn(checked.measured.digest.failures, 2 * MOST_ANNOTATIONS)
    for finding in checked.measured.findings(chosen):
        question = finding.record.question
        yield f"{question.id}: {finding.link.label}", f"{finding.explanation}: {question.question}"


# Gates as a table in Markdown.


_GATE_TABLE_MARKS = {"met": "✅", "not met": "❌", "not enough evidence": "❔"}


MOST_GATES = 50
"""So many gates of a run are listed, those that are not met first."""


def gate_lines(checked: Checked) -> Iterator[str]:
    """A sentence, and a row for each gate of a run, those that are met last; nothing where there is none."""
    gates = sorted(checked.gates, key=lambda each: each.outcome == "met")
    if not gates:
        return
    met = sum(each.outcome == "met" for each in gates)
    yield f"**Gates: {met} of {len(gates)} met**\n\n"
    yield "| | gate | outcome | |\n|---|---|---|---|\n"
    for each in gates[:MOST_GATES]:
        cells = (_GATE_TABLE_MARKS[each.outcome], code(each.gate, 120), each.outcome, escape(each.message))
        yield f"| {' | '.join(cells)} |\n"
    if len(gates) > MOST_GATES:
        yield f"| | … and {len(gates) - MOST_GATES} more | | |\n"
    yield "\n"


# What moved between a baseline and a run, as Markdown: metrics, and the questions that fared worse.


_MOST_CHANGES = 20

_MOST_VALUES = 3

_MOST_WARNINGS = 10


_READ = 2_000
"""Characters of a text of which any is shown."""

_ORDER = ("worse", "changed", "better")

_MARKS = {"worse": "🔴", "changed": "🟡", "better": "🟢"}

_TITLES = "| | metric | baseline | now | difference | interval | p | n |\n|---|---|---:|---:|---:|---:|---:|---:|\n"


def moved_lines(beside: Beside) -> Iterator[str]:
    """For each run beside the baseline a sentence and the metrics that moved, regressions first; what to beware of."""
    names = {head.id: head.name for head in beside.comparison.runs}
    for one in beside.comparison.against:
        against = f"{code(one.baseline)} ({escape(names[one.baseline], 60)})"
        yield f"**{code(one.run)} against the baseline {against}: {_sum(one)}**\n\n"
        yield from _table(one)
    warnings = [*beside.comparison.warnings, *beside.comparison.differences]
    for warning in warnings[:_MOST_WARNINGS]:
        yield f"- {escape(warning)}\n"
    yield "\n" if warnings else ""


def _sum(one: RunComparison) -> str:
    found = counts_of(one)
    if not found:
        return f"nothing could be tested over {counted(one.common, 'common question')}"
    lost = [f"{counted(len(one.vanished), 'metric')} without a value now"] if one.vanished else []
    moved = [f"{found[kind]} {kind}" for kind in sorted(found, key=_rank)]
    of_all = f"{counted(sum(found.values()), 'metric')} over {counted(one.common, 'common question')}"
    return f"{', '.join([*moved, *lost])} ({of_all})"


def _rank(verdict: str) -> int:
    return _ORDER.index(verdict) if verdict in _ORDER else len(_ORDER)


def _table(one: RunComparison) -> Iterator[str]:
    """The metrics that moved: those of quality that got worse, those that are gone, then the others."""
    moved = sorted((pair for pair in one.pairs if pair.verdict in _ORDER), key=_place)
    if not moved and not one.vanished:
        return
    yield _TITLES
    yield from (_row(pair) for pair in moved if pair.is_regression)
    for metric in one.vanished:
        yield f"| 🔴 | {code(metric.name)} | | none: {escape(metric.reason, 120)} | | | | {metric.n} |\n"
    yield from (_row(pair) for pair in moved if not pair.is_regression)
    yield "\n"


def _place(pair: MetricPair) -> tuple[int, bool]:
    return _rank(pair.verdict), not pair.is_of_quality


def _row(pair: MetricPair) -> str:
    cells = [
        f"{_MARKS[pair.verdict]} {pair.verdict}",
        f"{code(pair.name)} {arrow(pair.higher_is_better)}".rstrip(),
        *pair_values(pair),
        pair_difference(pair),
        difference_interval(pair),
        probability(pair.q),
        str(pair.n),
    ]
    return f"| {' | '.join(cells).replace('$', '&#36;').replace('<', '&lt;')} |\n"


def regressed_blocks(beside: Beside) -> Iterator[tuple[str, Iterator[str]]]:
    """For each run that has some: a title, and the questions that fared worse than in the baseline, the worst first."""
    for one, saved in zip(beside.comparison.against, beside.saved[1:], strict=True):
        if one.lost:
            shown = one.lost[:_MOST_CHANGES]
            ids = {change.question_id for change in shown}
            before, after = _records(beside.saved[0].records, ids), _records(saved.records, ids)
            title = f"{share(len(one.lost), one.common, 'question')} fared worse in {escape(one.run)}"
            blocks = (_block(each, before.get(each.question_id), after.get(each.question_id)) for each in shown)
            rest = len(one.lost) - len(shown)
            yield title, _ending(blocks, rest)


def _ending(blocks: Iterator[str], rest: int) -> Iterator[str]:
    yield from blocks
    if rest > 0:
        yield f"… and {rest} more: `evals compare` lists them all, as JSON.\n"


def _records(records: Sequence[EvalRecord], wanted: set[str]) -> Mapping[str, EvalRecord]:
    """The records of a few questions; no other is held."""
    return {record.question.id: record for record in records if record.question.id in wanted}


def _block(change: QuestionChange, before: EvalRecord | None, after: EvalRecord | None) -> str:
    moved = [f"{name} {first:.2f} → {last:.2f}" for name, (first, last) in change.moved.items()][:_MOST_VALUES]
    expected = after.question.expected_answer if after is not None else None
    facts = ", ".join([*([change.note] if change.note else []), *moved])
    lines = [
        f"**{escape(change.question_id, 80)}** ({signed(change.change, 'ratio')}): {escape(facts)}",
        f"question: {escape(change.question[:_READ])}",
        *([f"expected: {escape(expected[:_READ])}"] if expected else []),
        f"before: {_answer(before)}",
        f"now: {_answer(after)}",
    ]
    return "<br>\n".join(lines) + "\n\n"


def _answer(record: EvalRecord | None) -> str:
    response = record.response if record is not None else None
    if response is None:
        return "not asked"
    told = f"{response.error.kind}: {response.error.message}" if response.error else response.answer or "–"
    return escape(told[:_READ])


# What a command found as a comment for a pull request, and as the summary of a job.


MARKER = "<!-- evals: evaluation -->"
"""The first line of every comment, by which the one of before is found; it is never changed."""


LIMIT = 65_536
"""Characters that a comment on GitHub holds."""

_MORE = "\n… cut: `evals compare` and `evals show` tell the rest.\n"

_HEAD_SHARE, _GATE_SHARE, _MOVED_SHARE, _CARD_SHARE = 8_000, 16_000, 16_000, 10_000


def to_comment(ended: CommandEnd) -> str:
    """The marker, how the command ended, gates, what moved, folded details; at most 65,536 characters."""
    return _cut(f"{MARKER}\n{''.join(_comment(ended, LIMIT - len(MARKER) - len(_MORE) - 1))}")


def to_summary(ended: CommandEnd) -> str:
    """The summary of a job: of a run that the command made all that an export in Markdown says, with its gates.

    Of runs that were there before, and of several, it says what a comment does. It stays below 100,000 characters.
    """
    if not ended.made or len(ended.runs) != 1:
        return _cut("".join(_comment(ended, LIMIT - len(_MORE))))
    (checked,) = ended.runs
    gates = "".join(gate_lines(checked))
    return f"{''.join(_ending_comment(ended))}{gates}{''.join(to_markdown(checked.measured))}"


def _cut(text: str) -> str:
    return text if len(text) <= LIMIT else f"{text[: LIMIT - len(_MORE)]}{_MORE}"


def _comment(ended: CommandEnd, room: int) -> Iterator[str]:
    """Sections in the order of their weight, each within its share; the last ones take the room that is left."""
    first = "".join(_first(ended))
    yield first
    room -= len(first)
    for title, lines, part in _folded(ended):
        fold = _fold(title, lines, min(part, room))
        room -= len(fold)
        yield fold


def _first(ended: CommandEnd) -> Iterator[str]:
    """What is not folded away."""
    if not ended.runs and ended.beside is None:
        yield "### Evaluation\n\n"
    heads = (_head(each) for each in ended.runs)
    yield joined(heads, _HEAD_SHARE, "\n… and more runs\n\n")
    yield from _ending_comment(ended)
    gates = (line for each in ended.runs for line in _gates_of(each, alone=len(ended.runs) == 1))
    yield joined(gates, _GATE_SHARE, "| … | | | |\n\n")
    if ended.beside is not None:
        yield "" if ended.runs else "### Comparison\n\n"
        yield joined(moved_lines(ended.beside), _MOVED_SHARE, "| … | | | | | | | |\n\n")


def _head(checked: Checked) -> str:
    weighted = "" if checked.run.is_unscored else f"{weighted_line(checked.run)}\n\n"
    return f"{run_head(checked.run)}\n\n{weighted}"


def _gates_of(checked: Checked, *, alone: bool) -> Iterator[str]:
    if checked.gates and not alone:
        yield f"{escape(checked.run.name, 100)}:\n\n"
    yield from gate_lines(checked)


def _ending_comment(ended: CommandEnd) -> Iterator[str]:
    """What the command ended by, and what to know beside."""
    problem = ended.problem
    if problem is not None and not problem.of_gates:
        hint = f" ({escape(problem.hint, 500)})" if problem.hint else ""
        yield f"**⚠️ {escape(problem.message, 1_000)}**{hint}\n\n"
    for remark in ended.remarks:
        yield f"{escape(remark, 500)}\n\n"


def _folded(ended: CommandEnd) -> Iterator[tuple[str, Iterable[str], int]]:
    """Details with their titles, and how many characters each may take."""
    if ended.beside is not None:
        for title, blocks in regressed_blocks(ended.beside):
            yield title, blocks, LIMIT
    for each in ended.runs:
        if not each.run.is_unscored:
            name = f" of {escape(each.run.name, 60)}" if len(ended.runs) > 1 else ""
            yield f"scorecard{name}", scorecard_table(each.run), _CARD_SHARE


def _fold(title: str, lines: Iterable[str], room: int) -> str:
    """A title that opens to lines, as many as there is room for; nothing where there is room for none."""
    head, end, more = f"<details>\n<summary>{title}</summary>\n\n", "\n</details>\n\n", "… and more\n"
    left = room - len(head) - len(end)
    return f"{head}{joined(iter(lines), left, more)}{end}" if left > len(more) else ""
