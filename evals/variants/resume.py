"""Going on with runs that were asked in turn: which they are, and whether they still count as asked in turn."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.errors import ConfigError, RunNotFoundError
from evals.schemas import EvalRun
from evals.store.runs import RunStore

MOST_APART = 0.05
"""More of the questions than this, answered at another time than in the other variants, take the mark away."""


def saved_together(store: RunStore, run: EvalRun) -> list[EvalRun]:
    """The run with those that were asked in turn with it, in the order of the variants.

    Raises:
        ConfigError: One of them is not there any more.
    """
    ids = run.interleaved_with if run.id in run.interleaved_with else [run.id, *run.interleaved_with]
    return [run if run_id == run.id else _other(store, run, run_id) for run_id in ids]


def _other(store: RunStore, run: EvalRun, run_id: str) -> EvalRun:
    try:
        return store.load(run_id)
    except RunNotFoundError as error:
        raise ConfigError(
            f"run {run.id} was asked in turn with run {run_id}, which is not there any more",
            "--alone goes on with this one; its latency compares with no other then",
        ) from error


def is_in_turn(answered: Sequence[Mapping[str, Any]], total: int) -> bool:
    """Whether runs that go on count as asked in turn: nearly all that is answered already is answered in each.

    Args:
        answered: By question, the answers that each run keeps.
        total: How many questions there are.
    """
    everywhere = set(answered[0]).intersection(*answered)
    somewhere = set().union(*answered)
    return len(somewhere) - len(everywhere) <= MOST_APART * total
