"""Weighted scores of several runs: which of them measure the same, and compare."""

from collections.abc import Sequence

from rich.console import Console

from evals.cli.terminal.console import DOUBTFUL, clean
from evals.schemas import EvalRun
from evals.views.run_list import objective_lines


def print_objectives(out: Console, groups: Sequence[Sequence[EvalRun]]) -> None:
    """Say that scores do not compare, and in what they differ; nothing where all measure the same."""
    for place, line in enumerate(objective_lines(groups)):
        out.print(clean(line), style=DOUBTFUL if place == 0 else None, soft_wrap=True)
