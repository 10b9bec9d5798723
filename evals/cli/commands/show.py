"""Commands that show saved runs or write them elsewhere: `evals runs`, `show`, `export`, `report`, `track`, `view`."""

import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import typer

from evals.cli.flags import ExportFlags, ListFlags, PageFlags, ShowFlags, TrackFlags, ViewFlags
from evals.cli.parameters import refuse_pairs
from evals.cli.saved import next_command, open_calibrated, open_different, what_is_undone
from evals.cli.terminal import check_output, console, print_result, say, tell
from evals.cli.terminal import show as show_parts
from evals.cli.views import failed_parts, question_parts, run_parts, slice_parts, slices_as_json
from evals.errors import ConfigError, UnknownNameError
from evals.export import export_pieces, format_of, known_format, notes_on, write_export
from evals.report.elements import ShownPart, TextLine
from evals.report.mlflow import log_to_mlflow
from evals.report.page import write_report
from evals.report.summary import runs_table
from evals.schemas.results import EvalRun
from evals.scoring.config import differing_objectives, headline
from evals.scoring.outcomes import WENT_WRONG, Outcome
from evals.scoring.saved import SavedRun
from evals.store.naming import DEFAULT_RUNS_DIR, folder_of
from evals.store.runs import RunStore, SavedRuns, refuse_damaged

_FAILED_SHOWN = 3
_MOST = 50
"""Runs that are printed."""

_KEYS = {"id", "name", "created_at", "completed_at", "status", "question_count", "error_count", "datasets"}


def export(flags: ExportFlags) -> None:
    """Write a saved run to a file, or print it.

    Raises:
        ConfigError: No run is named, or two are; or the name of the file says no format.
        UnknownNameError: There is no such format.
        RunNotFoundError: There is no such run.
        StoreError: The file could not be written.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was written.
    """
    output = flags.output
    name = (flags.form or "csv") if output is None else format_of(output, flags.form)
    known = known_format(name)
    if output is not None:
        check_output(output)
    elif known.is_binary and sys.stdout.isatty():
        raise ConfigError(f"{name} is no text to be printed", "name its file with --output")
    named = {flags.run, flags.run_id} - {None}
    if len(named) != 1:
        raise ConfigError(f"{len(named) or 'no'} runs are named", "evals export RUN; `evals runs` lists them")
    saved = open_calibrated(str(named.pop()), flags.runs_dir)
    if output is not None:
        write_export(output, saved, name)
        typer.echo(f"wrote {output}", err=True)
    else:
        for piece in export_pieces(saved, name):
            # As bytes: the same on every machine, whatever its encoding and its line ends.
            typer.echo(piece.encode() if isinstance(piece, str) else piece, nl=False)
    for note in notes_on(saved, name):
        typer.echo(note, err=True)
    refuse_damaged(saved.run, saved.damage)


def report(flags: PageFlags) -> None:
    """Write saved runs as one HTML page.

    Raises:
        RunNotFoundError: There is no such run.
        StoreError: The file could not be written.
        RunIncompleteError: Records were lost or changed since a run was saved; what there is was written.
    """
    check_output(flags.output)
    runs = open_different(flags.runs, flags.runs_dir, "name different runs")
    write_report(flags.output, runs)
    typer.echo(f"wrote {flags.output}", err=True)
    for saved in runs:
        refuse_damaged(saved.run, saved.damage)


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
    runs = [open_calibrated(run_id, flags.runs_dir) for run_id in flags.runs]
    for saved in runs:
        logged = log_to_mlflow(saved, uri=flags.uri, experiment=flags.experiment)
        say(f"{saved.run.id} is in MLflow as {logged}, experiment {flags.experiment}")
    for saved in runs:
        refuse_damaged(saved.run, saved.damage)


def view(flags: ViewFlags) -> None:
    """Serve the pages of a folder of runs, read only, until Ctrl-C.

    Raises:
        ConfigError: There is no such folder, or the port cannot be used.
    """
    from evals.report.viewer import HOST, bind, create_app, serve  # noqa: PLC0415 - a web server, for this one only

    folder = flags.runs_dir or Path(DEFAULT_RUNS_DIR)
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}", "`evals eval` saves runs; name their folder with --runs-dir")
    listener, token = bind(flags.port), token_urlsafe(24)
    url = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"
    say(url)
    show_parts(console(sys.stderr), [TextLine(f"runs in {folder}; nothing is written; Ctrl-C ends it", whole=True)])
    sys.stdout.flush()
    if not flags.no_browser and sys.stdout.isatty():
        webbrowser.open(url)
    try:
        serve(create_app(folder, token), listener)
    except KeyboardInterrupt:
        tell("ended")


_TOGETHER = (
    *(("question", "as_json"), ("question", "by"), ("question", "failed"), ("as_json", "failed")),
    *(("as_json", "every"), ("by", "failed"), ("by", "every")),
)
"""Flags of which one would silently win over the other."""


def show(flags: ShowFlags) -> None:
    """Print a saved run.

    Raises:
        ConfigError: One flag would do nothing with another, or a run is sliced that did not finish.
        RunNotFoundError: There is no such run.
        UnknownNameError: The question, the outcome or the key to slice by does not exist.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was printed.
    """
    refuse_pairs(flags, *_TOGETHER)
    outcomes = [outcome.value for outcome in (*WENT_WRONG, Outcome.DIFFERS)]
    if flags.failed is not None and flags.failed not in outcomes:
        raise UnknownNameError("outcome", flags.failed, outcomes)
    saved = open_calibrated(flags.run, flags.runs_dir)
    sliced = flags.by is not None and flags.as_json
    if sliced and saved.run.completed_at is None:
        hint = next_command(saved, folder_of(saved.run))
        raise ConfigError(f"run {saved.run.id} did not finish: none of it is scored yet", hint)
    data = slices_as_json(saved, flags.by) if flags.by is not None and sliced else saved.run
    print_result(data, _parts_of(saved, flags), flags)
    refuse_damaged(saved.run, saved.damage)


def _parts_of(saved: SavedRun, flags: ShowFlags) -> Iterator[ShownPart]:
    """What is shown: a question, how to continue with a run that did not finish, slices, failed questions, or all."""
    folder = folder_of(saved.run)
    if flags.question is not None:
        yield from question_parts(saved, _row_of(flags.question, saved), every=flags.every)
    elif saved.run.completed_at is None:
        yield TextLine(f"this run did not finish: {what_is_undone(saved)}")
        yield TextLine(next_command(saved, folder), whole=True)
    elif flags.by is not None:
        yield from slice_parts(saved, flags.by)
    elif flags.failed is not None:
        most = len(saved.log) if flags.every else _FAILED_SHOWN
        yield from failed_parts(saved, Outcome(flags.failed), most, folder)
    else:
        yield from run_parts(saved, folder, every=flags.every)


def _row_of(wanted: str, saved: SavedRun) -> int:
    """The row of the question that has this id, or alone begins with it."""
    begun = [name for name in saved.log.ids if name.startswith(wanted)]
    row = saved.log.row_of(begun[0] if len(begun) == 1 else wanted)
    if row is None:
        refuse_damaged(saved.run, saved.damage)
        raise UnknownNameError("question", wanted, begun or saved.log.ids)
    return row


# A list of runs.


def list_runs(flags: ListFlags) -> None:
    """Print the newest saved runs, newest last, then what cannot be read."""
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    survey = store.survey()
    saved = survey if flags.calibrations else survey.without_calibrations()
    unreadable = [{"message": error.message, "hint": error.hint} for error in saved.unreadable]
    data = {"runs": [_row_as_json(store, run) for run in saved.runs], "unreadable": unreadable}
    print_result(data, _listed(store, saved), flags)


def _listed(store: RunStore, saved: SavedRuns) -> Iterator[ShownPart | str]:
    scored = [run for run in saved.runs if headline(run).score is not None]
    if saved.runs:
        yield runs_table(saved.runs[-_MOST:])
    if len(saved.runs) > _MOST:
        yield TextLine(f"the newest {_MOST} of {len(saved.runs)} runs; --json and `evals view` list all", "faint")
    if any(differing_objectives(scored[0], run) for run in scored[1:]):
        yield TextLine("the scores are made of different parts: `evals compare` says whether two compare", "faint")
    if not (saved.runs or saved.unreadable):
        yield f"no saved runs in {store.folder}; `evals eval` makes one"
    for error in saved.unreadable:
        hint = f" ({error.hint})" if error.hint else ""
        yield TextLine(f"not listed: {error.message}{hint}", "doubtful", whole=True)


def _row_as_json(store: RunStore, run: EvalRun) -> dict[str, Any]:
    return {
        **run.model_dump(mode="json", include=_KEYS | {"rescored_from"}),
        "score": run.weighted_score.score,
        "server": run.server.model_dump(mode="json", include={"url", "profile"}),
        "path": str(store.run_path(run)),
    }
