"""`evals export`."""

from pathlib import Path

import typer

from evals.cli.carded import carded
from evals.cli.terminal.output import check_output
from evals.errors import UnknownNameError
from evals.export import FORMATS, export_pieces, write_export
from evals.store.commands import DEFAULT_RUNS_DIR
from evals.store.runs import RunStore


def export(run_id: str, *, form: str, output: Path | None, runs_dir: Path | None) -> None:
    """Write a saved run to a file, or print it.

    Raises:
        UnknownNameError: There is no such format.
        RunNotFoundError: There is no such run.
        UnwritableError: No file can be written there.
        StoreError: The file could not be written.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    if output is not None:
        check_output(output)
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    pieces = export_pieces(*carded(store, run_id), form)
    if output is not None:
        write_export(output, pieces, form)
        return
    for piece in pieces:
        # As bytes: the same on every machine, whatever its encoding and its line ends.
        typer.echo(piece.encode(), nl=False)
