"""What a command found as annotations of GitHub Actions: lines on its output that stand beside a job.

The form is that of "Workflow commands for GitHub Actions": `::error title=TITLE::MESSAGE`, with per cent signs and line
breaks escaped everywhere, and colons and commas in a title.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from evals.compare import MetricPair
from evals.export.ci.command_end import Checked, CommandEnd
from evals.scoring.diagnosis import in_turn
from evals.views.differences import pair_difference, pair_values
from evals.views.formatting import one_line

MOST = 10
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
    yield from _at_most("warning", list(islice(_warnings(ended), 2 * MOST)))


def _at_most(kind: str, found: Sequence[tuple[str, str]]) -> Iterator[str]:
    shown = found if len(found) <= MOST else [*found[: MOST - 1], ("and more", "the summary and the reports list all")]
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
    chosen = in_turn(checked.measured.digest.failures, 2 * MOST)
    for finding in checked.measured.findings(chosen):
        question = finding.record.question
        yield f"{question.id}: {finding.link.label}", f"{finding.explanation}: {question.question}"
