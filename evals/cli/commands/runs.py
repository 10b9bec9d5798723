"""The command `evals runs`: a list of the saved runs."""

from collections.abc import Iterator
from typing import Any

from evals.cli.flags import ListFlags
from evals.cli.terminal import print_result
from evals.report.elements import ShownPart, TextLine
from evals.report.summary import runs_table
from evals.schemas.results import EvalRun
from evals.scoring.config import by_objectives
from evals.store.naming import DEFAULT_RUNS_DIR
from evals.store.runs import RunStore, SavedRuns

_MOST = 50
"""Runs that are printed."""

_KEYS = {"id", "name", "created_at", "completed_at", "status", "question_count", "error_count"}
_KEYS |= {"datasets", "rescored_from"}


def list_runs(flags: ListFlags) -> None:
    """Print the newest saved runs, newest last, then what cannot be read."""
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    survey = store.survey()
    saved = survey if flags.calibrations else survey.without_calibrations()
    unreadable = [{"message": error.message, "hint": error.hint} for error in saved.unreadable]
    data = {"runs": [_as_json(store, run) for run in saved.runs], "unreadable": unreadable}
    print_result(data, _listed(store, saved), as_json=flags.as_json)


def _listed(store: RunStore, saved: SavedRuns) -> Iterator[ShownPart]:
    runs, groups = saved.runs, by_objectives(saved.runs)
    if runs:
        yield runs_table(runs[-_MOST:], groups)
    if len(runs) > _MOST:
        yield TextLine(f"the newest {_MOST} of {len(runs)} runs; --json and `evals view` list all", "faint")
    if len(groups) > 1:
        yield TextLine("scores with different letters are made of different parts: do not compare them", "faint")
    if not (runs or saved.unreadable):
        yield TextLine(f"no saved runs in {store.folder}; `evals eval` makes one")
    for error in saved.unreadable:
        hint = f" ({error.hint})" if error.hint else ""
        yield TextLine(f"not listed: {error.message}{hint}", "doubtful", whole=True)


def _as_json(store: RunStore, run: EvalRun) -> dict[str, Any]:
    return {
        **run.model_dump(mode="json", include=_KEYS),
        "score": run.weighted_score.score,
        "server": run.server.model_dump(mode="json", include={"url", "profile"}),
        "path": str(store.run_path(run)),
    }
