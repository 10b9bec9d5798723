"""Markdown: the one text that a comment on a pull request, the summary of a CI job and `export` share."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from evals.compare.models import Comparison
from evals.report import summary
from evals.report.compared import comparison_parts
from evals.report.elements import ShownPart, TableRow, TextLine, TextTable
from evals.report.summary import GATE_TONES
from evals.report.wording import exchange_of
from evals.schemas.results import EvalRun
from evals.scoring.outcomes import WENT_WRONG, count_outcomes
from evals.scoring.saved import SavedRun
from evals.text.foreign import one_line

_EXAMPLES = 10
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#~&"})
_REFERENCE = re.compile(r"@(?=\w)|#(?=\d)|\bGH-(?=\d)|\bhttps?:|\bwww\.", re.IGNORECASE)
"""What GitHub makes a mention, a reference or a link of, escaped or not: it looks at the text that is shown."""


def escaped(text: str, limit: int = 500) -> str:
    """Foreign text on one line, with what Markdown would read as markup escaped; `_` within a word stays.

    A zero-width space keeps it from mentioning a person or an issue, and from linking.
    """
    line = _REFERENCE.sub("\\g<0>\N{ZERO WIDTH SPACE}", one_line(text, limit))
    return "".join(
        character if character == "_" and _in_word(line, place) else character.translate(_SPECIAL)
        for place, character in enumerate(line)
    )


def _in_word(text: str, place: int) -> bool:
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    return len(around) == 2 and around.replace("_", "a").isalnum()


def table_lines(table: TextTable) -> Iterator[str]:
    """A table as Markdown draws it; headings of groups are bold."""
    if table.title:
        yield f"**{escaped(table.title)}**\n\n"
    yield f"| {' | '.join(escaped(title) or ' ' for title in table.columns)} |\n"
    words = {table.columns[0], *table.words}
    yield f"|{'|'.join('---' if title in words else '---:' for title in table.columns)}|\n"
    for row in table.rows:
        cells = [escaped(cell) for cell in row.cells]
        if len(cells) == 1:
            cells = [f"**{cells[0]}**"]
        elif row.remark:
            cells[0] += f" ({escaped(row.remark)})"
        yield f"| {' | '.join([*cells, *[''] * (len(table.columns) - len(cells))])} |\n"
    yield "\n"


def part_lines(parts: Iterable[ShownPart]) -> Iterator[str]:
    """Lines and tables as Markdown: lines become a list, strong ones bold."""
    for part in parts:
        if isinstance(part, TextTable):
            yield "\n"
            yield from table_lines(part)
        elif part.text.strip():
            text = escaped(part.text.strip(), part.limit or 600)
            yield f"\n**{text}**\n\n" if part.tone == "strong" else f"- {text}\n"


def run_lines(saved: SavedRun) -> Iterator[str]:
    """A run: score, outcomes, gates, what went wrong, scorecard, what the score is made of, judge."""
    run = saved.run
    head, outcomes = escaped(summary.head_line(run)), escaped(summary.outcome_line(run))
    yield f"### {escaped(summary.score_line(run))}\n\n{head}\n\n{outcomes}\n\n"
    yield from part_lines(summary.scored_parts(run, saved.results))


def to_markdown(saved: SavedRun) -> Iterator[str]:
    """A whole run: also notes, and examples of what went wrong."""
    yield from run_lines(saved)
    notes = [TextLine(note) for note in summary.notes_of(saved.run)]
    yield from part_lines([TextLine("Notes", "strong"), *notes] if notes else [])
    yield from _examples(saved)


def _examples(saved: SavedRun) -> Iterator[str]:
    """The first questions that went wrong, folded."""
    counts = [count for count in count_outcomes(saved.results) if count.outcome in WENT_WRONG]
    rows = list(islice((row for count in counts for row in count.rows), _EXAMPLES))
    if not rows:
        return
    yield f"\n<details>\n<summary>the first {len(rows)} questions that went wrong</summary>\n\n"
    for record in saved.records(rows):
        ending = saved.ending(record)
        yield f"- **{escaped(record.question.id, 100)}** ({ending.outcome.value}): {escaped(ending.why)}\n"
        yield from (f"  - {title}: {escaped(text)}\n" for title, text in exchange_of(record).items())
    yield "\n</details>\n"


def within(limit: int, pieces: Iterable[str], more: str) -> str:
    """The pieces joined, as far as they fit; `more` where some are left out."""
    text: list[str] = []
    room = limit - len(more)
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            return "".join([*text, more])
        text.append(piece)
    return "".join(text)


# What a command found, for those who look at it in CI: a comment, and the summary of the job.


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
