"""`evals gate`: conditions on a saved run, by itself or against another."""

import re
from itertools import chain
from pathlib import Path

from evals.cli.carded import carded, never_calibrated
from evals.cli.ci.reporter import Reporter
from evals.cli.flags import names_of
from evals.cli.gate_flags import GateFlags
from evals.cli.terminal.console import DOUBTFUL, clean, console
from evals.cli.terminal.streams import print_json
from evals.cli.undone import way_on, what_is_undone
from evals.cli.views.gates import print_gates
from evals.compare import SavedRun, compare_runs
from evals.compare.gates import DEFAULT_MARGIN, GateReport, check_against, check_alone
from evals.errors import ConfigError, RunIncompleteError
from evals.export.ci.command_end import Beside
from evals.schemas import EvalRun
from evals.scoring.calibration.binding import refuse_uncalibrated
from evals.scoring.measured import measured
from evals.store.commands import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.record_check import refuse_damaged
from evals.store.runs import RunStore


def check_run(run_id: str, flags: GateFlags) -> None:
    """Print how a saved run fares with the gates given, else with those it was made with.

    Raises:
        ConfigError: A gate is none, there is none to check, a flag does nothing without a baseline, there are two
            baselines, or a gate is on a metric by which the judge was never calibrated, or on a score that such a
            metric feeds.
        RunNotFoundError: There is no such run.
        RunIncompleteError: The run is partial: nobody knows what the rest of it is like; or one of the two was never
            finished.
        GateFailedError: A gate is not met, or there is not enough evidence for it.
    """
    with Reporter(flags, as_json=flags.as_json, lenient=flags.lenient, made=False) as reporter:
        _check_baseline(flags)
        saved = _load(run_id, flags.runs_dir)
        report = _held(saved, flags, reporter)
        if not flags.allow_uncalibrated:
            _refuse_uncalibrated(saved.run, report)
        reporter.found(measured(saved.run, saved.records), report.gates)
        _print(report, as_json=flags.as_json)
        if saved.run.status == "partial":
            raise RunIncompleteError(
                f"the run is partial: {what_is_undone(saved.run, saved.records)}",
                f"what came out: {command(f'show {saved.run.id}', folder_of(saved.run))}",
            )
        reporter.judge(report.gates)


def _check_baseline(flags: GateFlags) -> None:
    """Refuse two baselines, and flags that do nothing where there is nothing to hold the run against."""
    if flags.baseline is not None and flags.baseline_dir is not None:
        raise ConfigError(
            "--baseline and --baseline-dir exclude each other",
            "name one run with --baseline, or take the newest whole one of a folder with --baseline-dir",
        )
    for name, value in (("margin", flags.margin), ("metrics", flags.metrics)):
        if flags.baseline is None and flags.baseline_dir is None and value is not None:
            raise ConfigError(
                f"--{name} is a matter of two runs, and there is no baseline",
                "name the run to hold this one against with --baseline RUN",
            )


def _held(saved: SavedRun, flags: GateFlags, reporter: Reporter) -> GateReport:
    """The run held to its gates, and against the baseline where there is one."""
    gates, baseline = flags.gate or [], _baseline(saved.run, flags)
    if baseline is None:
        return check_alone(saved, gates) if flags.baseline_dir is None else _not_yet(saved, flags, reporter)
    names = None if flags.metrics is None else names_of(flags.metrics, "--metrics")
    margin = DEFAULT_MARGIN if flags.margin is None else flags.margin
    report = check_against(saved, baseline, gates, names, margin)
    if reporter.tells_of_changes:
        runs = [baseline, saved]
        reporter.compared(Beside(compare_runs(runs), runs))
    return report


def _not_yet(saved: SavedRun, flags: GateFlags, reporter: Reporter) -> GateReport:
    """The run by itself, as there is no baseline yet; where it has no gates nothing is checked, and that is said."""
    said = f"there is no complete run in {flags.baseline_dir} yet, so that this one is held against none"
    if not (flags.gate or saved.run.eval_config.get("gate")):
        said += "; there are no gates either: nothing was checked"
        report = GateReport(run=saved.run.id, outcome="met", gates=[])
    else:
        report = check_alone(saved, flags.gate or [])
    reporter.remark(said)
    return report.model_copy(update={"warnings": [said]})


def _baseline(run: EvalRun, flags: GateFlags) -> SavedRun | None:
    """The run to hold this one against; None where none was named, or there is none yet."""
    if flags.baseline is not None:
        return _load(flags.baseline, flags.runs_dir)
    if flags.baseline_dir is None:
        return None
    saved = RunStore(flags.baseline_dir).survey().without_calibrations()
    others = (each for each in reversed(saved.runs) if each.id != run.id)
    newest = next((each for each in others if each.status == "complete" and each.completed_at is not None), None)
    return None if newest is None else _load(newest.id, flags.baseline_dir)


def _refuse_uncalibrated(run: EvalRun, report: GateReport) -> None:
    """Refuse conditions on metrics of which nobody knows how often the judge is wrong."""
    gated = {re.match(r"\w*", each.gate)[0] for each in report.gates}  # type: ignore[index]  # it always matches
    if run.judge is not None:
        feeding = set(chain.from_iterable(run.weighted_score.fed_by.values()))
        refuse_uncalibrated(gated, never_calibrated(run), feeding, run.judge.model)


def _load(run_id: str, runs_dir: Path | None) -> SavedRun:
    """A run with its records.

    Raises:
        RunNotFoundError: There is no such run.
        RunIncompleteError: It was never finished, so that nothing of it is scored; or records were lost or changed.
    """
    run, records = carded(RunStore(runs_dir or DEFAULT_RUNS_DIR), run_id)
    refuse_damaged(run, records)
    saved = SavedRun(run, records)
    if run.completed_at is None:
        undone = what_is_undone(run, saved.records)
        raise RunIncompleteError(f"run {run.id} did not finish: {undone}", way_on(run, saved.records, folder_of(run)))
    return saved


def _print(report: GateReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.model_dump_json(indent=2))
        return
    out = console()
    print_gates(out, report.gates)
    for warning in report.warnings:
        out.print(clean(f"! {warning}"), style=DOUBTFUL)
