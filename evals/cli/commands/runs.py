"""The command `evals runs`: a list of the saved runs; it loads nothing that asks or judges."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.flags import ListFlags
from evals.cli.terminal import DOUBTFUL, clean, console, fits, print_json
from evals.cli.views.scorecard import print_objectives
from evals.report.wording import TITLES, mark_of, run_cells
from evals.schemas.results import EvalRun
from evals.scoring.config import by_objectives
from evals.store.naming import DEFAULT_RUNS_DIR
from evals.store.runs import RunStore, SavedRuns

_IN_LINE = 5
"""So many cells stand on a run's first line where the table does not fit."""


def list_runs(flags: ListFlags) -> None:
    """Print the saved runs, newest last, then what cannot be read."""
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    found = store.survey()
    saved = found if flags.calibrations else found.without_calibrations()
    if flags.as_json:
        print_json(json.dumps(_as_json(store, saved), indent=2, ensure_ascii=False))
        return
    out, groups = console(), by_objectives(saved.runs)
    if saved.runs:
        _print_runs(out, [run_cells(run, mark_of(run, groups)) for run in saved.runs])
        print_objectives(out, groups)
    elif not saved.unreadable:
        out.print(f"no saved runs in {store.folder}; `evals eval` makes one")
    for error in saved.unreadable:
        way_out = f" ({error.hint})" if error.hint else ""
        out.print(clean(f"not listed: {error.message}{way_out}"), style=DOUBTFUL, soft_wrap=True)


def _print_runs(out: Console, rows: Sequence[Sequence[str]]) -> None:
    """As a table where it fits, else a few lines a run; nothing is cut or folded within a word."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in TITLES:
        table.add_column(title, no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    if fits(out, table):
        out.print(table)
        return
    for run_id, *facts in rows:
        first, rest = facts[: _IN_LINE - 1], facts[_IN_LINE - 1 :]
        named = [f"{title} {cell}" for title, cell in zip(TITLES[3:_IN_LINE], first[2:], strict=True)]
        out.print(Text.assemble((run_id, "bold"), "  ", "  ".join([*first[:2], *named])))
        out.print(Text(f"  {'  '.join(cell for cell in rest if cell)}"))


def _as_json(store: RunStore, saved: SavedRuns) -> dict[str, Any]:
    def row(run: EvalRun) -> dict[str, Any]:
        return {
            **run.model_dump(mode="json", include=_KEYS),
            "score": run.weighted_score.score,
            "server": run.server.model_dump(mode="json", include={"url", "profile"}),
            "path": str(store.run_path(run)),
        }

    unreadable = [{"message": error.message, "hint": error.hint} for error in saved.unreadable]
    return {"runs": [row(run) for run in saved.runs], "unreadable": unreadable}


_KEYS = {
    "id",
    "name",
    "created_at",
    "completed_at",
    "status",
    "question_count",
    "error_count",
    "datasets",
    "rescored_from",
}
