"""Weighted scores of several runs: which of them measure the same, and compare."""

from collections.abc import Sequence
from string import ascii_lowercase

from rich.console import Console

from evals.cli.terminal.console import DOUBTFUL, clean
from evals.schemas import EvalRun
from evals.scoring.headline import differing_objectives


def mark_of(run: EvalRun, groups: Sequence[Sequence[EvalRun]]) -> str:
    """What stands behind a run's score where not all scores measure the same: ` [a]`; else nothing."""
    if len(groups) < 2:
        return ""
    return next((f" [{_letter(place)}]" for place, group in enumerate(groups) if run in group), "")


def print_objectives(out: Console, groups: Sequence[Sequence[EvalRun]]) -> None:
    """Say that scores do not compare, and in what they differ; nothing where all measure the same."""
    if len(groups) < 2:
        return
    out.print("scores with another letter measure different objectives and do not compare:", style=DOUBTFUL)
    for place, group in enumerate(groups):
        told = _objectives(group[0]) if place == 0 else "; ".join(differing_objectives(groups[0][0], group[0]))
        out.print(clean(f"  [{_letter(place)}] {told}"), markup=False, soft_wrap=True)


def _objectives(run: EvalRun) -> str:
    fed_by = run.weighted_score.fed_by
    return ", ".join(f"{name} ({', '.join(fed_by.get(name, ()))})" for name in run.weighted_score.weights)


def _letter(place: int) -> str:
    """The letter of a group: a to z, then a2 and so on."""
    times, rest = divmod(place, len(ascii_lowercase))
    return f"{ascii_lowercase[rest]}{times + 1 if times else ''}"
