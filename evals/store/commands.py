"""Commands that a message advises, such that they can be run as they stand."""

from pathlib import Path
from shlex import quote

from evals.schemas import EvalRun

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
