"""What a command found, for those who look at it in CI: a comment, a summary of the job, annotations."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from evals.compare.models import Comparison, RunComparison
from evals.compare.pairing import SavedRun
from evals.metrics.registry import known_metric
from evals.report import compared
from evals.report.compared import TONES
from evals.report.elements import TableRow, TextTable
from evals.report.markdown import run_head, table_lines, to_markdown
from evals.report.parts import GATE_TONES, scorecard_lines, scorecard_table
from evals.report.templates import code, escape, macros, within
from evals.report.wording import one_line
from evals.schemas.results import EvalRun
from evals.schemas.run_parts import GateOutcome
from evals.scoring.conclusion import Measured
from evals.scoring.config import SCORE
from evals.scoring.digest import in_turn
from evals.text.numbers import counted, share

# How a command ended that CI runs: what its reports are made of.


@dataclass(frozen=True, slots=True)
class CommandProblem:
    """What a command ended by.

    Attributes:
        kind: The name of the error.
        message: One sentence.
        hint: The way out.
        of_gates: Whether it is that gates are not met, each of which is reported by itself.
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
    """Runs compared with their baseline.

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
        remarks: What a reader must know in addition: that there is no baseline yet, for example.
        problem: What it ended by; None where it ended well.
        lenient: Whether a gate for which there is not enough evidence is no fault.
        made: Whether the runs were made by this command, so that they are new to the reader.
    """

    runs: Sequence[Checked] = ()
    beside: Beside | None = None
    remarks: Sequence[str] = ()
    problem: CommandProblem | None = None
    lenient: bool = False
    made: bool = True

    def failing(self) -> list[GateOutcome]:
        """The gates that the command fails by, of all runs."""
        return [gate for each in self.runs for gate in each.gates if fails(gate, lenient=self.lenient)]


def fails(outcome: GateOutcome, *, lenient: bool) -> bool:
    """Whether a gate that ended so is a fault."""
    return outcome.outcome == "not met" or (outcome.outcome == "not enough evidence" and not lenient)


def group_of(gate: str, run: EvalRun) -> str:
    """The group of the metric that a condition is on; "score" of the weighted score, "other" of what is unknown.

    Args:
        gate: As `GateOutcome.gate` has it: the metric stands first.
        run: The run that is held to it.
    """
    name = re.split(r"\W", gate, maxsplit=1)[0]
    if name == SCORE:
        return SCORE
    found = run.scorecard.find(name) or known_metric(name)
    return "other" if found is None else found.group.value


# What a command found as annotations of GitHub Actions: lines on its output that stand beside a job.


MOST_ANNOTATIONS = 10
"""This many of each kind are shown of one step."""

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
    yield from _at_most("error", _errors(ended))
    yield from _at_most("warning", _warnings(ended))


def _at_most(kind: str, found: Iterator[tuple[str, str]]) -> Iterator[str]:
    shown = list(islice(found, MOST_ANNOTATIONS + 1))
    if len(shown) > MOST_ANNOTATIONS:
        shown[MOST_ANNOTATIONS - 1 :] = [("and more", "the summary and the reports list all")]
    return (annotation(kind, title, message) for title, message in shown)


def _errors(ended: CommandEnd) -> Iterator[tuple[str, str]]:
    problem = ended.problem
    if problem is not None and not problem.of_gates:
        yield "evals", f"{problem.message}{f' ({problem.hint})' if problem.hint else ''}"
    elif problem is not None:
        yield from ((f"{each.outcome}: {each.gate}", each.message) for each in ended.failing())


def _warnings(ended: CommandEnd) -> Iterator[tuple[str, str]]:
    for one in ended.beside.comparison.against if ended.beside is not None else ():
        for pair in one.regressions:
            values = f"{' → '.join(compared.pair_values(pair))} ({compared.pair_difference(pair)})"
            yield f"worse: {pair.name}", f"{values} against {one.baseline}"
        yield from ((f"no value any more: {each.name}", each.reason) for each in one.vanished)
    for checked in ended.runs if ended.made else ():
        if not checked.run.is_unscored:
            chosen = in_turn(checked.measured.digest.failures, 2 * MOST_ANNOTATIONS)
            for finding in checked.measured.findings(chosen):
                question = finding.record.question
                yield f"{question.id}: {finding.link.label}", f"{finding.explanation}: {question.question}"


# What a command found as a comment for a pull request, and as the summary of a job.


MARKER = "<!-- evals: evaluation -->"
"""The first line of every comment, by which the earlier one is found; it is never changed."""

LIMIT = 65_536
"""Characters that a comment on GitHub holds."""

MOST_GATES = 50
"""This many gates of a run are listed, those that are not met first."""

_MORE = "\n… cut: `evals compare` and `evals show` tell the rest.\n"

_HEAD_SHARE, _GATE_SHARE, _MOVED_SHARE, _CARD_SHARE = 8_000, 16_000, 16_000, 10_000

_MOST_CHANGES = 20


def to_comment(ended: CommandEnd) -> str:
    """The marker, how the command ended, gates, what moved, folded details; at most 65,536 characters."""
    return _cut(f"{MARKER}\n{_comment(ended, LIMIT - len(MARKER) - len(_MORE) - 1)}")


def to_summary(ended: CommandEnd) -> str:
    """The summary of a job: of a run that the command made all that an export in Markdown says, with its gates.

    Of runs that were there before, and of several, it says what a comment does. It stays below 100,000 characters.
    """
    if not ended.made or len(ended.runs) != 1:
        return _cut(_comment(ended, LIMIT - len(_MORE)))
    ending = macros().ending(ended.problem, ended.remarks)
    return f"{ending}{''.join(_gates(ended))}{''.join(to_markdown(ended.runs[0].measured))}"


def _cut(text: str) -> str:
    return text if len(text) <= LIMIT else f"{text[: LIMIT - len(_MORE)]}{_MORE}"


def _comment(ended: CommandEnd, room: int) -> str:
    """Sections in the order of their weight, each within its share; the last ones take the room that is left."""
    text = "" if ended.runs or ended.beside is not None else "### Evaluation\n\n"
    text += within(_HEAD_SHARE, (run_head(each.run) for each in ended.runs), "\n… and more runs\n\n")
    text += str(macros().ending(ended.problem, ended.remarks))
    text += within(_GATE_SHARE, _gates(ended), "| … |\n\n")
    if ended.beside is not None:
        text += "" if ended.runs else "### Comparison\n\n"
        text += within(_MOVED_SHARE, _moved(ended.beside.comparison), "| … |\n\n")
    for title, lines, part in _folded(ended):
        head, end, more = f"<details>\n<summary>{title}</summary>\n\n", "\n</details>\n\n", "… and more\n"
        left = min(part, room - len(text)) - len(head) - len(end)
        text += f"{head}{within(left, lines, more)}{end}" if left > len(more) else ""
    return text


def _gates(ended: CommandEnd) -> Iterator[str]:
    """The lines of a table of gates for each run that has some."""
    for each in ended.runs:
        if each.gates:
            lines = sorted(each.gates, key=lambda gate: gate.outcome == "met")
            rows = [TableRow((one.gate, one.outcome, one.message), GATE_TONES[one.outcome]) for one in lines]
            met = sum(gate.outcome == "met" for gate in each.gates)
            name = f"{escape(each.run.name, 100)}:\n\n" if len(ended.runs) > 1 else ""
            yield f"{name}**Gates: {met} of {len(rows)} met**\n\n"
            columns = ("gate", "outcome", "why")
            yield from table_lines(TextTable(columns, rows[:MOST_GATES], words=columns))
            yield f"| … and {len(rows) - MOST_GATES} more |\n\n" if len(rows) > MOST_GATES else "\n"


def _moved(comparison: Comparison) -> Iterator[str]:
    """For each run compared with the baseline the metrics that moved or have no value any more, regressions first."""
    names = {head.id: head.name for head in comparison.runs}
    for one in comparison.against:
        baseline = f"the baseline {code(one.baseline)} ({escape(names[one.baseline], 60)})"
        common = counted(one.common, "common question")
        yield f"**{compared.sum_of(one, code(one.run), baseline)}**, over {common}\n\n"
        rows = _moved_rows(one)
        if rows:
            columns = ["metric", "baseline", "now", "difference", "interval", "p", "n", "it is"]
            yield from table_lines(TextTable(columns, rows, words=columns[-1:]))
            yield "\n"
    remarks = [*comparison.warnings, *comparison.differences][:_MOST_WARNINGS]
    yield from (f"- {escape(remark)}\n" for remark in remarks)
    yield "\n" if remarks else ""


def _moved_rows(one: RunComparison) -> list[TableRow]:
    gone = ([each.name, "", f"none: {each.reason}", "", "", "", str(each.n), "gone"] for each in one.vanished)
    moved = sorted((pair for pair in one.pairs if pair.verdict in TONES), key=compared.worst_first)
    return [
        *(TableRow(cells, "bad") for cells in gone),
        *(
            TableRow([compared.pair_cells(pair)[0].rstrip("*"), *compared.pair_cells(pair)[1:]], TONES[pair.verdict])
            for pair in moved
        ),
    ]


_MOST_WARNINGS = 10


def _folded(ended: CommandEnd) -> Iterator[tuple[str, Iterable[str], int]]:
    """Details with their titles, and how many characters each may take."""
    if ended.beside is not None:
        first, *others = ended.beside.saved
        for one, saved in zip(ended.beside.comparison.against, others, strict=True):
            if one.lost:
                title = f"{share(len(one.lost), one.common, 'question')} fared worse in {escape(one.run)}"
                yield title, _changes(one, first, saved), LIMIT
    for each in ended.runs:
        if not each.run.is_unscored:
            name = f" of {escape(each.run.name, 60)}" if len(ended.runs) > 1 else ""
            yield f"scorecard{name}", _scorecard(each.run), _CARD_SHARE


def _scorecard(run: EvalRun) -> list[str]:
    return [*table_lines(scorecard_table(run)), "\n", *(f"- {escape(line)}\n" for line in scorecard_lines(run))]


def _changes(one: RunComparison, baseline: SavedRun, saved: SavedRun) -> Iterator[str]:
    """The questions that fared worse than in the baseline, the worst first."""
    shown = one.lost[:_MOST_CHANGES]
    ids = {change.question_id for change in shown}
    before, after = (
        {record.question.id: record for record in run.records if record.question.id in ids} for run in (baseline, saved)
    )
    for change in shown:
        key, shift = change.question_id, compared.signed(change.change, "ratio")
        yield macros().change(change, shift, compared.change_facts(change), before.get(key), after.get(key))
    if len(one.lost) > len(shown):
        yield f"… and {len(one.lost) - len(shown)} more: `evals compare` lists them all, as JSON.\n"
