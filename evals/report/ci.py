"""What a command found, for those who look at it in CI: a comment, a summary of the job, annotations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from evals.compare.models import Comparison
from evals.report.compared import regression_lines
from evals.report.elements import TableRow, TextTable
from evals.report.markdown import comparison_lines, escaped, run_lines, table_lines, to_markdown, within
from evals.report.summary import GATE_TONES
from evals.schemas.results import EvalRun
from evals.schemas.run_parts import GateOutcome
from evals.scoring.outcomes import WENT_WRONG, count_outcomes
from evals.scoring.saved import SavedRun
from evals.text.foreign import one_line

MARKER = "<!-- evals: evaluation -->"
"""The first line of every comment, by which the earlier one is found; it is never changed."""

LIMIT = 65_536
"""Characters that a comment on GitHub holds."""

MOST_ANNOTATIONS = 10
"""This many of each kind are shown of one step."""

_MORE = "\n… cut: `evals compare` and `evals show` have the rest.\n"
_TITLE, _MESSAGE = 100, 500
_IN_MESSAGES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_TITLES = {**_IN_MESSAGES, ord(":"): "%3A", ord(","): "%2C"}


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

    saved: SavedRun
    gates: Sequence[GateOutcome] = ()

    @property
    def run(self) -> EvalRun:
        """The run."""
        return self.saved.run


@dataclass(frozen=True)
class CommandEnd:
    """What a command found, and how it ended.

    Attributes:
        runs: Those that it made or checked.
        comparison: How they compare with a baseline; None where they were not held against one.
        problem: What it ended by; None where it ended well.
        lenient: Whether a gate for which there is not enough evidence is no fault.
        made: Whether the runs were made by this command, so that they are new to the reader.
    """

    runs: Sequence[Checked] = ()
    comparison: Comparison | None = None
    problem: CommandProblem | None = None
    lenient: bool = False
    made: bool = True

    def failing(self) -> list[GateOutcome]:
        """The gates that the command fails by, of all runs."""
        return [gate for each in self.runs for gate in each.gates if fails(gate, lenient=self.lenient)]


def fails(outcome: GateOutcome, *, lenient: bool) -> bool:
    """Whether a gate that ended so is a fault."""
    return outcome.outcome == "not met" or (outcome.outcome == "not enough evidence" and not lenient)


# Annotations of GitHub Actions: lines on its output that stand next to a job.


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
    """An error for each gate that fails the command, or for what else it ended by; warnings of what went wrong."""
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
    if ended.comparison is not None:
        yield from (("worse than the baseline", line) for line in regression_lines(ended.comparison))
    for checked in ended.runs if ended.made else ():
        counts = [count for count in count_outcomes(checked.saved.results) if count.outcome in WENT_WRONG]
        for depth in range(MOST_ANNOTATIONS):  # the first of each kind, then the second
            for count in counts:
                for record in checked.saved.records(count.rows[depth : depth + 1]):
                    ending = checked.saved.ending(record)
                    yield f"{record.question.id}: {ending.outcome.label}", f"{ending.why}: {record.question.question}"


# Comments on pull requests, and the summary of a job.


def to_comment(ended: CommandEnd) -> str:
    """The marker, how the command ended, gates, what moved, folded details; at most 65,536 characters."""
    return _cut(f"{MARKER}\n{_text(ended)}")


def to_summary(ended: CommandEnd) -> str:
    """The summary of a job: of a run that the command made, all that an export in Markdown says."""
    if not ended.made or len(ended.runs) != 1:
        return _cut(_text(ended))
    checked = ended.runs[0]
    return _cut(_ending(ended) + "".join(_gates(checked)) + "".join(to_markdown(checked.saved)))


def _cut(text: str) -> str:
    return text if len(text) <= LIMIT else f"{text[: LIMIT - len(_MORE)]}{_MORE}"


def _text(ended: CommandEnd) -> str:
    name = f": {escaped(ended.runs[0].run.name)}" if len(ended.runs) == 1 and ended.comparison is None else ""
    parts = [f"### Evaluation{name}\n\n", _ending(ended)]
    for each in ended.runs:
        parts += _gates(each)
    if ended.comparison is not None:
        parts.append(within(20_000, comparison_lines(ended.comparison), "\n…\n"))
    for each in ended.runs:
        body = within(20_000, run_lines(each.saved), "\n…\n")
        parts.append(body if ended.comparison is None else _folded(f"run {each.run.id}", body))
    return "".join(parts)


def _folded(title: str, body: str) -> str:
    return f"<details>\n<summary>{escaped(title)}</summary>\n\n{body}\n</details>\n\n"


def _ending(ended: CommandEnd) -> str:
    """How the command ended, where not well."""
    if ended.problem is None:
        return ""
    hint = f" ({escaped(ended.problem.hint)})" if ended.problem.hint else ""
    return f"**{escaped(ended.problem.message, 1000)}**{hint}\n\n"


def _gates(checked: Checked) -> list[str]:
    if not checked.gates:
        return []
    ordered = sorted(checked.gates, key=lambda gate: gate.outcome == "met")
    met = sum(gate.outcome == "met" for gate in ordered)
    rows = [TableRow((one.gate, one.outcome, one.message), GATE_TONES[one.outcome]) for one in ordered[:50]]
    columns = ("gate", "outcome", "why")
    title = f"Gates of {checked.run.name}: {met} of {len(ordered)} met"
    return list(table_lines(TextTable(columns, rows, title, words=columns)))
