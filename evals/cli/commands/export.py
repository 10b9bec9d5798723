"""`evals export`."""

from pathlib import Path

import typer

from evals.cli.carded import carded
from evals.cli.terminal.output import check_output
from evals.errors import UnknownNameError
from evals.export import FORMATS, export_pieces, write_export
from evals.store.commands import DEFAULT_RUNS_DIR
from evals.store.record_check import refuse_damaged
from evals.store.runs import RunStore


def export(run_id: str, *, form: str, output: Path | None, runs_dir: Path | None) -> None:
    """Write a saved run to a file, or print it.

    Raises:
        UnknownNameError: There is no such format.
        RunNotFoundError: There is no such run.
        UnwritableError: No file can be written there.
        StoreError: The file could not be written.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was written.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    if output is not None:
        check_output(output)
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    run, records = carded(store, run_id)
    pieces = export_pieces(run, records, form)
    if output is not None:
        write_export(output, pieces, form)
    else:
        for piece in pieces:
            # As bytes: the same on every machine, whatever its encoding and its line ends.
            typer.echo(piece.encode(), nl=False)
    refuse_damaged(run, records)
