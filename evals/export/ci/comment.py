"""What a command found as a comment for a pull request, and as the summary of a job."""

from collections.abc import Iterable, Iterator

from evals.export.ci.command_end import Checked, CommandEnd
from evals.export.ci.gate_table import gate_lines
from evals.export.ci.moved import moved_lines, regressed_blocks
from evals.export.escaping import escape
from evals.export.markdown import joined, run_head, scorecard_table, to_markdown, weighted_line

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
    return f"{''.join(_ending(ended))}{gates}{''.join(to_markdown(checked.measured))}"


def _cut(text: str) -> str:
    return text if len(text) <= LIMIT else f"{text[: LIMIT - len(_MORE)]}{_MORE}"


def _comment(ended: CommandEnd, room: int) -> Iterator[str]:
    """Sections in the order of their weight, each within its share; the last ones take the room that is left."""
    first = "".join(_first(ended))
    yield first
    room -= len(first)
    for title, lines, share in _folded(ended):
        fold = _fold(title, lines, min(share, room))
        room -= len(fold)
        yield fold


def _first(ended: CommandEnd) -> Iterator[str]:
    """What is not folded away."""
    if not ended.runs and ended.beside is None:
        yield "### Evaluation\n\n"
    heads = (_head(each) for each in ended.runs)
    yield joined(heads, _HEAD_SHARE, "\n… and more runs\n\n")
    yield from _ending(ended)
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


def _ending(ended: CommandEnd) -> Iterator[str]:
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
