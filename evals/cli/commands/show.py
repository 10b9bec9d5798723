"""Commands that show saved runs or write them elsewhere: `evals show`, `export`, `report`, `track`, `view`."""

import sys
import webbrowser
from pathlib import Path
from secrets import token_urlsafe

import typer
from rich.console import Console

from evals.cli.flags import ExportFlags, PageFlags, ShowFlags, TrackFlags, ViewFlags
from evals.cli.parameters import flag_name
from evals.cli.saved import first_look, load_calibrated, next_command, what_is_undone
from evals.cli.terminal import check_output, check_place, clean, console, print_json
from evals.cli.views import run as views
from evals.cli.views.question import print_question
from evals.errors import ConfigError, UnknownNameError
from evals.export import export_files, export_pieces, format_of, known_format
from evals.report.document import write_report
from evals.report.mlflow import log_to_mlflow
from evals.report.tables import ExportFormat
from evals.schemas.results import EvalRun
from evals.scoring.conclusion import Measured, measured
from evals.scoring.diagnosis.stages import Link
from evals.scoring.scorecard import slice_value
from evals.store.naming import DEFAULT_RUNS_DIR, folder_of
from evals.store.records import RecordFile, is_unverified, refuse_damaged

# `evals export`.


def export(flags: ExportFlags) -> None:
    """Write a saved run to a file, or print it.

    Raises:
        ConfigError: No run is named, or two are; or the name of the file says no format.
        UnknownNameError: There is no such format.
        RunNotFoundError: There is no such run.
        UnwritableError: No file can be written there.
        StoreError: The file could not be written.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was written.
    """
    output = flags.output
    name = flags.form or ("csv" if output is None else format_of(output))
    known = known_format(name)
    _check_place_of(name, known, output)
    run, records = load_calibrated(_named(flags), flags.runs_dir)
    found = measured(run, records)
    if output is not None:
        export_files(found, name, output)
    else:
        for piece in export_pieces(run, records, name):
            # As bytes: the same on every machine, whatever its encoding and its line ends.
            typer.echo(piece.encode() if isinstance(piece, str) else piece, nl=False)
    for note in (*known.notes(found), *([f"wrote {output}"] if output is not None else [])):
        typer.echo(note, err=True)
    refuse_damaged(run, records)


def _check_place_of(name: str, known: ExportFormat, output: Path | None) -> None:
    """See that there is a place for what is written, before anything is computed for it."""
    if output is None:
        if known.is_folder or (known.is_binary and sys.stdout.isatty()):
            raise ConfigError(f"{name} is no text to be printed", "name its file or folder with --output")
    elif not known.is_folder:
        check_output(output)
    elif output.exists() and not output.is_dir():
        raise ConfigError(f"{name} is a folder, and {output} is a file", "name another folder with --output")
    else:
        check_place(output)


def _named(flags: ExportFlags) -> str:
    named = {flags.run, flags.run_id} - {None}
    if len(named) != 1:
        raise ConfigError(f"{len(named) or 'no'} runs are named", "evals export RUN; `evals runs` lists them")
    return str(named.pop())


# `evals report` and `evals track`.


def report(flags: PageFlags) -> None:
    """Write saved runs as one HTML page.

    Raises:
        ConfigError: A run is named twice.
        RunNotFoundError: There is no such run.
        UnwritableError: No file can be written there.
        StoreError: The file could not be written.
        RunIncompleteError: Records were lost or changed since a run was saved; what there is was written.
    """
    check_output(flags.output)
    found = [load_calibrated(run_id, flags.runs_dir) for run_id in flags.runs]
    write_report(flags.output, [first_look(*each) for each in found])
    typer.echo(f"wrote {flags.output}", err=True)
    for each in found:
        refuse_damaged(*each)


def track(flags: TrackFlags) -> None:
    """Log saved runs to a tracker.

    Raises:
        UnknownNameError: There is no such tracker.
        ConfigError: It is not installed.
        RunNotFoundError: There is no such run.
        TrackerError: The tracker does not take a run.
        RunIncompleteError: Records were lost or changed since a run was saved; what there is was logged.
    """
    if flags.to != "mlflow":
        raise UnknownNameError("tracker", flags.to, ["mlflow"])
    found = [load_calibrated(run_id, flags.runs_dir) for run_id in flags.runs]
    for run, records in found:
        logged = log_to_mlflow(measured(run, records), uri=flags.uri, experiment=flags.experiment)
        said = f"{run.id} is in MLflow as {logged}, experiment {flags.experiment}"
        console().print(clean(said), soft_wrap=True)
    for each in found:
        refuse_damaged(*each)


# `evals view`.


def view(flags: ViewFlags) -> None:
    """Serve the pages of a folder of runs until somebody presses Ctrl-C.

    Raises:
        ConfigError: There is no such folder, the port cannot be used, or somebody is named who labels nothing.
    """
    from evals.report.app import HOST, Listening, bind, create_app  # noqa: PLC0415 - a web server, for this one only

    folder = flags.runs_dir or Path(DEFAULT_RUNS_DIR)
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}", "`evals eval` saves runs; name their folder with --runs-dir")
    if flags.annotator and not flags.label:
        raise ConfigError("--annotator says who labels, and nothing is labelled without --label", "add --label")
    listener, token = bind(flags.port), token_urlsafe(24)
    port = listener.getsockname()[1]
    pages = create_app(folder, token=token, port=port, labels=flags.label, annotator=flags.annotator or "")
    out, err = console(), console(sys.stderr)
    with Listening(pages, listener) as server:
        url = f"http://{HOST}:{port}/{token}/"
        out.print(url, soft_wrap=True)
        does = "answers can be labelled" if flags.label else "nothing is written"
        err.print(clean(f"runs in {folder}; {does}; Ctrl-C ends it"), soft_wrap=True)
        out.file.flush()
        if not flags.no_browser and out.is_terminal:
            webbrowser.open(url)
        try:
            server.wait()
        except KeyboardInterrupt:
            err.print("ended")


# `evals show`.


_FAILURES_SHOWN = 1

_UNVERIFIED = "records unverified: this run was saved without a checksum of them"


def show(flags: ShowFlags) -> None:
    """Print a saved run.

    Raises:
        ConfigError: One flag would do nothing with another, or a run is sliced for a program that did not finish.
        RunNotFoundError: There is no such run.
        UnknownNameError: The question, the link or the key to slice by does not exist.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was printed.
    """
    _refuse_contradictions(flags)
    if flags.failed is not None and flags.failed not in list(Link):
        raise UnknownNameError("step of failure", flags.failed, [link.value for link in Link])
    run, records = load_calibrated(flags.run, flags.runs_dir)
    if flags.as_json and flags.by is None:
        print_json(run.model_dump_json(indent=2))
    elif flags.question is not None:
        number = _number_of(flags.question, run, records)
        print_question(console(), number, measured(run, records), every=flags.every)
    else:
        _show(run, records, flags)
    refuse_damaged(run, records)


def _number_of(wanted: str, run: EvalRun, records: RecordFile) -> int:
    """The number of the question that has this id, or alone begins with it."""
    begun = [name for name in records.ids if name.startswith(wanted)]
    number = records.number_of(begun[0] if len(begun) == 1 else wanted)
    if number is None:
        refuse_damaged(run, records)
        raise UnknownNameError("question", wanted, begun or records.ids)
    return number


def _refuse_contradictions(flags: ShowFlags) -> None:
    """Refuse flags of which one would silently win over the others."""
    names = {"question": "question", "as_json": "json", "by": "by", "matching": "matching"}
    names |= {"failures": "failures", "failed": "failed", "every": "all"}
    given = [flag_name(shown) for name, shown in names.items() if getattr(flags, name) not in (None, False)]
    alone = next((name for name in ("--question", "--json") if name in given), None)
    goes_with = {alone, "--by" if alone == "--json" else "--all"}
    others = [name for name in given if name not in goes_with]
    if alone is not None and others:
        raise ConfigError(f"{alone} and {others[0]} exclude each other")


def _show(run: EvalRun, records: RecordFile, flags: ShowFlags) -> None:
    """Print the run, its slices as JSON, the questions of a link, or how to continue with what did not finish."""
    out, runs_dir = console(), folder_of(run)
    _check_key(run, records, flags.by)
    found = first_look(run, records)
    if run.completed_at is None:
        way_on = next_command(run, records, runs_dir)
        if flags.as_json:
            raise ConfigError(f"run {run.id} did not finish: none of it is scored yet", way_on)
        out.print(f"this run did not finish: {what_is_undone(run, records)}")
        out.print(way_on, soft_wrap=True)
    elif flags.as_json and flags.by is not None:
        print_json(views.slices_as_json(found, flags.by))
    elif flags.failed is not None:
        views.print_link(out, found, Link(flags.failed), runs_dir, limit=flags.failures)
    else:
        _show_finished(out, found, flags, runs_dir)
        if is_unverified(run, records):
            out.print(_UNVERIFIED, style="dim", soft_wrap=True)


def _check_key(run: EvalRun, records: RecordFile, key: str | None) -> None:
    if key is not None and all(slice_value(record.question, key) is None for record in records):
        refuse_damaged(run, records)
        known = {name for record in records for name in record.question.metadata}
        raise UnknownNameError("key to slice by", key, {"dataset"} | known)


def _show_finished(out: Console, found: Measured, flags: ShowFlags, runs_dir: Path | None) -> None:
    """Print the slices that were asked for, scorecard, failures, and what else there is to say of a finished run."""
    if flags.by is not None:
        views.print_wrong_slices(out, found, flags.by)
        views.print_slices(out, found, flags.by, runs_dir)
    failures = _FAILURES_SHOWN if flags.failures is None else flags.failures
    views.print_run(out, found, runs_dir, failures=failures, every=flags.every)
    if flags.matching:
        views.print_sensitivity(out, found)
    out.print()
    views.print_next(out, found, runs_dir, every=flags.every)
