"""What a command found, as one Markdown text for those who look at it in CI: a comment, and the summary of the job."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evals.compare.models import Comparison
from evals.report.compared import comparison_parts
from evals.report.elements import TableRow, TextTable
from evals.report.markdown import escaped, part_lines, run_lines, table_lines, to_markdown, within
from evals.report.summary import GATE_TONES
from evals.schemas.results import EvalRun
from evals.scoring.saved import SavedRun

MARKER = "<!-- evals: evaluation -->"
"""The first line of every comment, by which the earlier one is found; it is never changed."""

LIMIT = 65_536
"""Characters that a comment on GitHub holds."""

_MORE = "\n… cut: `evals compare` and `evals show` have the rest.\n"


class CommandProblem(NamedTuple):
    """What a command ended by: the name of the error, one sentence, and the way out."""

    kind: str
    message: str
    hint: str | None = None


@dataclass(frozen=True)
class CommandEnd:
    """What a command found, and how it ended.

    Attributes:
        runs: Those that it made or checked, with the gates that they were held to.
        comparison: How they compare with a baseline; None where they were not held against one.
        problem: What it ended by; None where it ended well.
        lenient: Whether a gate for which there is not enough evidence is no fault.
    """

    runs: Sequence[SavedRun] = ()
    comparison: Comparison | None = None
    problem: CommandProblem | None = None
    lenient: bool = False


def to_comment(ended: CommandEnd) -> str:
    """The marker, how the command ended, gates, what moved, folded details; at most 65,536 characters."""
    return within(LIMIT, [f"{MARKER}\n", *_pieces(ended)], _MORE)


def to_summary(ended: CommandEnd) -> str:
    """The same for the summary of a job."""
    return within(LIMIT, _pieces(ended), _MORE)


def _pieces(ended: CommandEnd) -> Iterator[str]:
    problem, comparison = ended.problem, ended.comparison
    name = f": {escaped(ended.runs[0].run.name)}" if len(ended.runs) == 1 and comparison is None else ""
    yield f"### Evaluation{name}\n\n"
    if problem is not None:
        hint = f" ({escaped(problem.hint)})" if problem.hint else ""
        yield f"**{escaped(problem.message, 1000)}**{hint}\n\n"
    for saved in ended.runs:
        yield from _gate_lines(saved.run)
    if comparison is None:
        for saved in ended.runs:
            yield from to_markdown(saved)
    else:
        yield from part_lines(comparison_parts(comparison))
        for saved in ended.runs:
            body = "".join(run_lines(saved))
            yield f"<details>\n<summary>run {saved.run.id}</summary>\n\n{body}\n</details>\n\n"


def _gate_lines(run: EvalRun) -> Iterator[str]:
    """The gates as a table, those that are not met first."""
    ordered = sorted(run.gates, key=lambda gate: gate.outcome == "met")
    if ordered:
        met = sum(gate.outcome == "met" for gate in ordered)
        rows = [TableRow((gate.gate, gate.outcome, gate.message), GATE_TONES[gate.outcome]) for gate in ordered[:50]]
        columns = ("gate", "outcome", "why")
        title = f"Gates of {run.name}: {met} of {len(ordered)} met"
        yield from table_lines(TextTable(columns, rows, title, words=columns))
