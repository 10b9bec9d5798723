"""`evals export`."""

import sys
from pathlib import Path

import typer

from evals.cli.carded import carded
from evals.cli.terminal.output import check_output, check_place
from evals.errors import ConfigError
from evals.export import export_files, export_pieces, format_of, known_format
from evals.export.form import ExportFormat
from evals.scoring.measured import measured
from evals.store.commands import DEFAULT_RUNS_DIR
from evals.store.record_check import refuse_damaged
from evals.store.runs import RunStore


def export(
    run: str | None, *, run_id: str | None, form: str | None, output: Path | None, runs_dir: Path | None
) -> None:
    """Write a saved run to a file, or print it.

    Args:
        run: The run; `run_id` says the same.
        run_id: The run.
        form: The format; None for what the name of the file says, and without one CSV.
        output: The file or folder; None for standard output.
        runs_dir: The folder of the runs.

    Raises:
        ConfigError: No run is named, or two are; or the name of the file says no format.
        UnknownNameError: There is no such format.
        RunNotFoundError: There is no such run.
        UnwritableError: No file can be written there.
        StoreError: The file could not be written.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was written.
    """
    name = form or ("csv" if output is None else format_of(output))
    known = known_format(name)
    _check(name, known, output)
    found, records = carded(RunStore(runs_dir or DEFAULT_RUNS_DIR), _named(run, run_id))
    seen = measured(found, records)
    if output is not None:
        export_files(seen, name, output)
    else:
        for piece in export_pieces(found, records, name):
            # As bytes: the same on every machine, whatever its encoding and its line ends.
            typer.echo(piece.encode() if isinstance(piece, str) else piece, nl=False)
    for note in known.notes(seen):
        typer.echo(note, err=True)
    refuse_damaged(found, records)


def _named(run: str | None, run_id: str | None) -> str:
    if run is not None and run_id is not None and run != run_id:
        raise ConfigError(f"two runs are named: {run} and {run_id}", "leave --run-id out")
    if run is None and run_id is None:
        raise ConfigError("no run is named", "evals export RUN; `evals runs` lists them")
    return run or run_id or ""


def _check(name: str, known: ExportFormat, output: Path | None) -> None:
    """See that there is a place for what is written, before anything is computed for it."""
    if output is not None and known.is_folder:
        if output.exists() and not output.is_dir():
            raise ConfigError(f"{name} is a folder, and {output} is a file", "name another folder with --output")
        check_place(output)
    elif output is not None:
        check_output(output)
    elif known.is_folder:
        raise ConfigError(f"{name} is a folder of several files", "name it with --output")
    elif known.is_binary and sys.stdout.isatty():
        raise ConfigError(f"{name} is no text for a terminal", "name a file with --output")
