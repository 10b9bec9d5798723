"""`evals show`."""

import json
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.ending import carded, next_command, what_is_undone
from evals.cli.flags import flag_name
from evals.cli.terminal import DOUBTFUL, check_output, check_place, clean, console, fits, print_json
from evals.cli.views.run import (
    print_abstention,
    print_findings,
    print_hints,
    print_link,
    print_question,
    print_risk,
    print_run,
    print_sensitivity,
    print_stages,
    print_verification,
    print_wrong_slices,
)
from evals.cli.views.scorecard import print_objectives, print_slices, slices_as_json
from evals.errors import ConfigError, UnknownNameError
from evals.export import export_files, export_pieces, format_of, known_format
from evals.report.app import HOST, Listening, bind, create_app
from evals.report.document import write_report
from evals.report.mlflow import log_to_mlflow
from evals.report.tables import ExportFormat
from evals.report.wording import TITLES, mark_of, run_cells
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.conclusion import Measured, measured
from evals.scoring.config import by_objectives
from evals.scoring.diagnosis.stages import Link
from evals.scoring.scorecard import slice_value
from evals.store.naming import DEFAULT_RUNS_DIR, folder_of
from evals.store.records import RecordFile, is_unverified, refuse_damaged
from evals.store.runs import RunStore, SavedRuns

# `evals export`.


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


# `evals report`.


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


# `evals runs`.


_IN_LINE = 5
"""So many cells stand on a run's first line where the table does not fit."""


def list_runs(runs_dir: Path | None, *, calibrations: bool = False, as_json: bool = False) -> None:
    """Print the saved runs, newest last, then what cannot be read."""
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    found = store.survey()
    saved = found if calibrations else found.without_calibrations()
    if as_json:
        print_json(json.dumps(_plain(store, saved), indent=2, ensure_ascii=False))
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


def _plain(store: RunStore, saved: SavedRuns) -> dict[str, Any]:
    return {
        "runs": [
            {
                **run.model_dump(mode="json", include=_KEYS),
                "score": run.weighted_score.score,
                "server": run.server.model_dump(mode="json", include={"url", "profile"}),
                "path": str(store.run_path(run)),
            }
            for run in saved.runs
        ],
        "unreadable": [{"message": error.message, "hint": error.hint} for error in saved.unreadable],
    }


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


# `evals track`.


_TRACKERS = ("mlflow",)


def track(run_ids: Sequence[str], *, to: str, uri: str | None, experiment: str, runs_dir: Path | None) -> None:
    """Log saved runs to a tracker.

    Raises:
        UnknownNameError: There is no such tracker.
        ConfigError: It is not installed.
        RunNotFoundError: There is no such run.
        TrackerError: The tracker does not take a run.
        RunIncompleteError: Records were lost or changed since a run was saved; what there is was logged.
    """
    if to not in _TRACKERS:
        raise UnknownNameError("tracker", to, _TRACKERS)
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    found = [carded(store, run_id) for run_id in run_ids]
    for run, records in found:
        there = log_to_mlflow(measured(run, records), uri=uri, experiment=experiment)
        console().print(clean(f"{run.id} is in MLflow as {there}, experiment {experiment}"), soft_wrap=True)
    for run, records in found:
        refuse_damaged(run, records)


# `evals view`.


_TOKEN_BYTES = 24


def view(*, runs_dir: Path | None, port: int, label: bool, annotator: str | None, browser: bool) -> None:
    """Serve the pages of a folder of runs until somebody presses Ctrl-C.

    Args:
        runs_dir: The folder; None for the usual one.
        port: To listen on; 0 for any free one.
        label: Whether answers can be labelled.
        annotator: Who labels, where several people do.
        browser: Whether to open one, where there is a terminal.

    Raises:
        ConfigError: There is no such folder, the port cannot be used, or somebody is named who labels nothing.
    """
    folder = runs_dir or Path(DEFAULT_RUNS_DIR)
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}", "`evals eval` saves runs; name their folder with --runs-dir")
    if annotator and not label:
        raise ConfigError("--annotator says who labels, and nothing is labelled without --label", "add --label")
    listener, token = bind(port), token_urlsafe(_TOKEN_BYTES)
    taken = listener.getsockname()[1]
    app = create_app(folder, token=token, port=taken, labels=label, annotator=annotator or "")
    with Listening(app, listener) as server:
        _tell(f"http://{HOST}:{taken}/{token}/", folder, label=label, browser=browser)
        try:
            server.wait()
        except KeyboardInterrupt:
            console(sys.stderr).print("ended")


def _tell(url: str, folder: Path, *, label: bool, browser: bool) -> None:
    out = console()
    does = "answers can be labelled" if label else "nothing is written"
    out.print(url, soft_wrap=True)
    console(sys.stderr).print(clean(f"runs in {folder}; {does}; Ctrl-C ends it"), soft_wrap=True)
    out.file.flush()
    if browser and out.is_terminal:
        webbrowser.open(url)


_FAILURES_SHOWN = 5

_UNVERIFIED = "records unverified: this run was saved without a checksum of them"


def show(
    run_id: str,
    *,
    failures: int | None,
    question: str | None,
    by: str | None,
    matching: bool,
    failed: str | None,
    as_json: bool,
    runs_dir: Path | None,
) -> None:
    """Print a saved run.

    Raises:
        ConfigError: One flag would do nothing beside another, or a run is sliced for a program that did not finish.
        RunNotFoundError: There is no such run.
        UnknownNameError: The question, the link or the key to slice by does not exist.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was printed.
    """
    _refuse_contradictions(question=question, json=as_json, by=by, matching=matching, failures=failures, failed=failed)
    link = _link(failed)
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    run, records = carded(store, run_id)
    if as_json and by is None:
        print_json(run.model_dump_json(indent=2))
    elif question is not None:
        record = _find(run, records, question)
        print_question(console(), record, measured(run, records))
    else:
        _print_all(run, records, failures=failures, by=by, matching=matching, link=link, as_json=as_json)
    refuse_damaged(run, records)


def _print_all(
    run: EvalRun,
    records: RecordFile,
    *,
    failures: int | None,
    by: str | None,
    matching: bool,
    link: Link | None,
    as_json: bool,
) -> None:
    out, runs_dir = console(), folder_of(run)
    _check_key(run, records, by)
    seen = measured(run, records)
    if as_json and by is not None:
        _print_slices_as_json(seen, records, by, runs_dir)
    elif run.completed_at is None:
        _print_unfinished(out, run, records, runs_dir)
    elif link is not None:
        print_link(out, seen, link, limit=failures)
    else:
        _print_whole(out, seen, failures=failures, by=by, matching=matching, runs_dir=runs_dir)
        if is_unverified(run, records):
            out.print(_UNVERIFIED, style="dim", soft_wrap=True)


def _print_whole(
    out: Console, seen: Measured, *, failures: int | None, by: str | None, matching: bool, runs_dir: Path | None
) -> None:
    """Print the slices that were asked for, scorecard, failures, and what else there is to say of a finished run."""
    if by is not None:
        print_wrong_slices(out, seen, by)
        print_slices(out, seen, by, runs_dir)
    _print_scores(out, seen, by, matching=matching, runs_dir=runs_dir)
    print_findings(out, seen, limit=_FAILURES_SHOWN if failures is None else failures, runs_dir=runs_dir)
    print_verification(out, seen, runs_dir)


def _print_scores(out: Console, seen: Measured, by: str | None, *, matching: bool, runs_dir: Path | None) -> None:
    print_run(out, seen.run)
    print_abstention(out, seen)
    print_risk(out, seen)
    print_stages(out, seen)
    print_hints(out, seen.run)
    if matching:
        print_sensitivity(out, seen)
    if by is None and len(seen.run.datasets) > 1:
        print_wrong_slices(out, seen, "dataset")
        print_slices(out, seen, "dataset", runs_dir)


def _link(name: str | None) -> Link | None:
    if name is not None and name not in list(Link):
        raise UnknownNameError("link", name, [link.value for link in Link])
    return None if name is None else Link(name)


def _find(run: EvalRun, records: RecordFile, question: str) -> EvalRecord:
    number = records.number_of(question)
    if number is None:
        refuse_damaged(run, records)
        raise UnknownNameError("question", question, records.ids)
    return records[number]


def _check_key(run: EvalRun, records: RecordFile, key: str | None) -> None:
    if key is not None and all(slice_value(record.question, key) is None for record in records):
        refuse_damaged(run, records)
        known = {name for record in records for name in record.question.metadata}
        raise UnknownNameError("key to slice by", key, {"dataset"} | known)


def _print_slices_as_json(seen: Measured, records: Sequence[EvalRecord], by: str, runs_dir: Path | None) -> None:
    run = seen.run
    if run.completed_at is None:
        raise ConfigError(
            f"run {run.id} did not finish: none of it is scored yet", next_command(run, records, runs_dir)
        )
    print_json(slices_as_json(seen, by))


def _print_unfinished(out: Console, run: EvalRun, records: Sequence[EvalRecord], runs_dir: Path | None) -> None:
    out.print(f"this run did not finish: {what_is_undone(run, records)}")
    out.print(next_command(run, records, runs_dir), soft_wrap=True)


def _refuse_contradictions(**flags: object) -> None:
    """Refuse flags of which one would silently win over the others."""
    given = [name for name, value in flags.items() if value not in (None, False)]
    for alone in ("question", "json"):
        others = [flag_name(name) for name in given if name != alone and {name, alone} != {"by", "json"}]
        if alone in given and others:
            raise ConfigError(f"{flag_name(alone)} and {others[0]} exclude each other")
