"""Gates as a table in Markdown."""

from collections.abc import Iterator

from evals.export.ci.command_end import Checked
from evals.export.escaping import code, escape

_MARKS = {"met": "✅", "not met": "❌", "not enough evidence": "❔"}
MOST = 50
"""So many gates of a run are listed, those that are not met first."""


def gate_lines(checked: Checked) -> Iterator[str]:
    """A sentence, and a row for each gate of a run, those that are met last; nothing where there is none."""
    gates = sorted(checked.gates, key=lambda each: each.outcome == "met")
    if not gates:
        return
    met = sum(each.outcome == "met" for each in gates)
    yield f"**Gates: {met} of {len(gates)} met**\n\n"
    yield "| | gate | outcome | |\n|---|---|---|---|\n"
    for each in gates[:MOST]:
        cells = (_MARKS[each.outcome], code(each.gate, 120), each.outcome, escape(each.message))
        yield f"| {' | '.join(cells)} |\n"
    if len(gates) > MOST:
        yield f"| | … and {len(gates) - MOST} more | | |\n"
    yield "\n"
