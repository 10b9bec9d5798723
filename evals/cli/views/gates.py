"""Gates on the terminal: each with how it ended, and the figures behind it."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import BAD, DOUBTFUL, GOOD, clean
from evals.schemas import GateOutcome

_STYLES = {"met": GOOD, "not met": BAD, "not enough evidence": DOUBTFUL}


def print_gates(out: Console, outcomes: Sequence[GateOutcome]) -> None:
    """Print a line a gate, below an empty one; nothing where there is none."""
    if outcomes:
        out.print()
    for each in outcomes:
        line = Text.assemble(each.gate, ": ", (each.outcome, _STYLES[each.outcome]), ": ")
        out.print(line.append_text(clean(each.message)), soft_wrap=True)
