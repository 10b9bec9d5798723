"""Commands that a message advises, such that they can be run as they stand."""

from pathlib import Path
from shlex import quote

from evals.schemas import EvalRun
from evals.schemas.results import SAVED_ANSWERS

DEFAULT_RUNS_DIR = "data/eval_runs"
"""Where runs are saved unless told otherwise."""


def command(words: str, runs_dir: Path | None) -> str:
    """An `evals` command for runs of a folder: `evals show a1b2 --runs-dir elsewhere`.

    Args:
        words: The command without its program: `show a1b2`.
        runs_dir: Where the run is; None for the default.
    """
    elsewhere = runs_dir is not None and runs_dir != Path(DEFAULT_RUNS_DIR)
    return f"evals {words} --runs-dir {quote(str(runs_dir))}" if elsewhere else f"evals {words}"


def folder_of(run: EvalRun) -> Path | None:
    """Where a run is that was saved or loaded, for `command`; None for one that was not."""
    return run.path.parent if run.path is not None else None


def way_on_of(run: EvalRun, folder: Path | None) -> str:
    """How to go on with a run that ended before all of it was saved.

    Args:
        run: The run.
        folder: Where it is saved.
    """
    if run.rescored_from is not None:
        again = command(f"rescore {run.rescored_from}", folder)
        return f"begin again, as what was judged is not paid for twice: {again}"
    if run.server.profile == SAVED_ANSWERS:
        return "score the same answers again: what was judged is not paid for twice"
    return f"go on with: {command(f'eval --resume {run.id}', folder)}"
