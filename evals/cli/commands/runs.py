"""Commands over saved runs: `evals runs`, `show`, `export`, `report`, `track`, `view`, `compare`, `gate`."""

import re
import sys
import webbrowser
from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import typer

from evals.cli import saved as views
from evals.cli.ci import Reporter
from evals.cli.flags import CompareFlags, ExportFlags, GateFlags, ListFlags, PageFlags, ShowFlags, TrackFlags, ViewFlags
from evals.cli.terminal import check_output, console, print_result, say, tell
from evals.cli.terminal import show as show_parts
from evals.compare.gates import DEFAULT_MARGIN, GateReport, check_against, check_alone, regression_of
from evals.compare.models import ANSWER_RATE, Comparison
from evals.compare.paired import compare_runs
from evals.errors import ConfigError, GateFailedError, RunIncompleteError, UnknownNameError
from evals.export import export_pieces, format_of, known_format, notes_on, write_export
from evals.metrics.registry import parse_metric
from evals.report.compared import comparison_parts
from evals.report.elements import ShownPart, TextLine
from evals.report.mlflow import log_to_mlflow
from evals.report.page import write_report
from evals.report.summary import gate_lines, runs_table, slice_parts, slices_as_json
from evals.schemas.results import EvalRun
from evals.scoring.calibration import refuse_uncalibrated
from evals.scoring.config import differing_objectives, headline
from evals.scoring.outcomes import WENT_WRONG, Outcome
from evals.scoring.saved import SavedRun
from evals.store.runs import DEFAULT_RUNS_DIR, RunStore, SavedRuns, command, folder_of, refuse_damaged

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
    saved = views.open_calibrated(str(named.pop()), flags.runs_dir)
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
    runs = views.open_different(flags.runs, flags.runs_dir, "name different runs")
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
    runs = [views.open_calibrated(run_id, flags.runs_dir) for run_id in flags.runs]
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


def show(flags: ShowFlags) -> None:
    """Print a saved run.

    Raises:
        ConfigError: One flag would do nothing with another, or a run is sliced that did not finish.
        RunNotFoundError: There is no such run.
        UnknownNameError: The question, the outcome or the key to slice by does not exist.
        RunIncompleteError: Records were lost or changed since the run was saved; what there is was printed.
    """
    flags.refuse_pairs(*combinations(("question", "by", "failed"), 2), ("question", "as_json"), ("as_json", "failed"))
    flags.refuse_pairs(("as_json", "every"), ("by", "every"))
    outcomes = [outcome.value for outcome in (*WENT_WRONG, Outcome.DIFFERS)]
    if flags.failed is not None and flags.failed not in outcomes:
        raise UnknownNameError("outcome", flags.failed, outcomes)
    saved = views.open_calibrated(flags.run, flags.runs_dir)
    sliced = flags.by is not None and flags.as_json
    if sliced and saved.run.completed_at is None:
        raise ConfigError(views.unfinished(saved).message, views.unfinished(saved).hint)
    data = slices_as_json(saved, flags.by) if flags.by is not None and sliced else saved.run
    print_result(data, _parts_of(saved, flags), flags)
    refuse_damaged(saved.run, saved.damage)


def _parts_of(saved: SavedRun, flags: ShowFlags) -> Iterator[ShownPart]:
    """What is shown: a question, how to continue with a run that did not finish, slices, failed questions, or all."""
    folder = folder_of(saved.run)
    if flags.question is not None:
        yield from views.question_parts(saved, _row_of(flags.question, saved), every=flags.every)
    elif saved.run.completed_at is None:
        yield from (
            TextLine(text, whole=True) for text in (views.unfinished(saved).message, views.unfinished(saved).hint or "")
        )
    elif flags.by is not None:
        yield from slice_parts(saved, flags.by)
    elif flags.failed is not None:
        most = len(saved.log) if flags.every else 3
        yield from views.failed_parts(saved, Outcome(flags.failed), most, folder)
    else:
        yield from views.run_parts(saved, folder, every=flags.every)


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


def gate(flags: GateFlags) -> None:
    """Print how a saved run fares with the gates given, else with those it was made with.

    Raises:
        ConfigError: A gate is none, there is none to check, a flag does nothing without a baseline, or a gate is on a
            metric by which the judge was never calibrated, or on a score that such a metric feeds.
        RunNotFoundError: There is no such run.
        RunIncompleteError: The run is partial, or one of the two was never finished.
        GateFailedError: A gate is not met, or there is not enough evidence for it.
    """
    with Reporter(flags) as reporter:
        for name, value in (("margin", flags.margin), ("metrics", flags.metrics)):
            if flags.baseline is None and value is not None:
                hint = "name the run to hold this one against with --baseline RUN"
                raise ConfigError(f"--{name} compares two runs, and there is no baseline", hint)
        saved = _load_finished(flags.run, flags.runs_dir)
        checked = _held_to_gates(saved, flags, reporter)
        if saved.run.judge is not None and not flags.allow_uncalibrated:
            gated = {re.split(r"\W", outcome.gate, maxsplit=1)[0] for outcome in checked.gates}
            feeding = set(chain.from_iterable(saved.run.weighted_score.fed_by.values()))
            refuse_uncalibrated(gated, saved.run.judge.uncalibrated, feeding, saved.run.judge.model)
        saved.run = saved.run.model_copy(update={"gates": checked.gates})
        reporter.runs.append(saved)
        print_result(checked, _gate_parts(checked), flags)
        if saved.run.status == "partial":
            hint = f"what came out: {command(f'show {saved.run.id}', folder_of(saved.run))}"
            raise RunIncompleteError(f"the run is partial: {views.what_is_undone(saved)}", hint)
        reporter.judge(checked.gates)


def _held_to_gates(saved: SavedRun, flags: GateFlags, reporter: Reporter) -> GateReport:
    """The run held to its gates, and against the baseline where there is one."""
    if flags.baseline is None:
        return check_alone(saved, flags.gate or [])
    baseline = _load_finished(flags.baseline, flags.runs_dir)
    margin = DEFAULT_MARGIN if flags.margin is None else flags.margin
    checked = check_against(saved, baseline, flags.gate or [], flags.names("metrics"), margin)
    reporter.comparison = compare_runs([baseline, saved])
    return checked


def _gate_parts(report: GateReport) -> Iterator[TextLine]:
    if report.headline:
        yield TextLine(report.headline, "strong")
    yield from gate_lines(report.gates)
    yield from (TextLine(f"! {warning}", "doubtful") for warning in report.warnings)
    hints = [] if report.margin is None else [f"--margin sets the tolerated loss (here {report.margin:g})"]
    hints += ["--lenient passes gates without enough evidence"] if report.outcome == "not enough evidence" else []
    if hints:
        yield TextLine("; ".join(hints), "faint")


def _load_finished(run_id: str, runs_dir: Path | None) -> SavedRun:
    """A run that was finished.

    Raises:
        RunNotFoundError: There is no such run.
        RunIncompleteError: It was never finished, so nothing of it is scored; or records were lost or changed.
    """
    saved = views.open_calibrated(run_id, runs_dir)
    refuse_damaged(saved.run, saved.damage)
    if saved.run.completed_at is None:
        raise views.unfinished(saved)
    return saved


def compare(flags: CompareFlags) -> None:
    """Print how saved runs compare with one of them.

    Raises:
        ConfigError: Fewer than two runs, one of them twice, or no question that a run shares with the baseline.
        UnknownNameError: There is no metric with the name of the primary one.
        RunNotFoundError: There is no such run.
        RunIncompleteError: Records of a run were lost or changed since it was saved; what compares was printed.
        GateFailedError: A run is worse than the baseline, and that was to be an error.
    """
    with Reporter(flags) as reporter:
        runs = _load_compared(flags)
        if flags.primary is not None and flags.primary != ANSWER_RATE:
            parse_metric(flags.primary)
        comparison = reporter.comparison = compare_runs(runs, with_pareto=flags.pareto, primary=flags.primary)
        print_result(comparison, comparison_parts(comparison, every=flags.every), flags)
        for saved in runs:
            refuse_damaged(saved.run, saved.damage)
        if flags.fail_on_regression:
            _fail_on_regression(comparison, {saved.run.id: saved.run for saved in runs})


def _load_compared(flags: CompareFlags) -> list[SavedRun]:
    """The runs, the baseline first; it may be one of those named, or another."""
    runs = views.open_different(flags.runs, flags.runs_dir, "a run compares with another run, not with itself")
    if flags.baseline is not None:
        first = views.open_calibrated(flags.baseline, flags.runs_dir)
        runs = [first, *(saved for saved in runs if saved.run.id != first.run.id)]
    if len(runs) < 2:
        lists = f"{command('runs', flags.runs_dir)} lists the saved runs"
        raise ConfigError("a comparison needs at least two runs", lists)
    return runs


def _fail_on_regression(comparison: Comparison, runs: Mapping[str, EvalRun]) -> None:
    """Fail where a run is worse than the baseline, or where one was never finished, so that nothing compares."""
    for head in comparison.runs:
        if not head.scored:
            message = f"run {head.id} did not finish, and none of it is scored yet: the runs cannot be compared"
            again = command(f"eval --resume {head.id}", folder_of(runs[head.id]))
            raise GateFailedError(message, f"continue with: {again}")
    against, primary = comparison.against, comparison.primary
    judges = {run_id: run.judge for run_id, run in runs.items()}
    never = {run_id: judge.uncalibrated if judge else [] for run_id, judge in judges.items()}
    regressions = {pair.run: regression_of(pair, primary, never[pair.run]) for pair in against}
    if problems := {run_id: problem for run_id, problem in regressions.items() if problem}:
        shown = " and ".join(command(f"show {run_id}", folder_of(runs[run_id])) for run_id in problems)
        raise GateFailedError("; ".join(problems.values()), f"question by question: {shown}")
