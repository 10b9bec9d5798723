"""`evals report`."""

from collections.abc import Sequence
from pathlib import Path

from evals.cli.carded import carded
from evals.cli.terminal.output import check_output
from evals.report import write_report
from evals.scoring.measured import measured
from evals.store.commands import DEFAULT_RUNS_DIR
from evals.store.record_check import refuse_damaged
from evals.store.runs import RunStore


def report(run_ids: Sequence[str], *, output: Path, runs_dir: Path | None) -> None:
    """Write saved runs as one HTML page.

    Raises:
        ConfigError: A run is named twice.
        RunNotFoundError: There is no such run.
        UnwritableError: No file can be written there.
        StoreError: The file could not be written.
        RunIncompleteError: Records were lost or changed since a run was saved; what there is was written.
    """
    check_output(output)
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    found = [carded(store, run_id) for run_id in run_ids]
    write_report(output, [measured(run, records) for run, records in found])
    for run, records in found:
        refuse_damaged(run, records)
