"""`evals gate`: conditions on a saved run, by itself or against another."""

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from evals.cli.carded import carded, never_calibrated
from evals.cli.flags import names_of
from evals.cli.terminal.console import DOUBTFUL, clean, console
from evals.cli.terminal.streams import print_json
from evals.cli.undone import way_on, what_is_undone
from evals.cli.views.gates import print_gates
from evals.compare import SavedRun
from evals.compare.gates import DEFAULT_MARGIN, GateReport, check_against, check_alone
from evals.errors import ConfigError, GateFailedError, RunIncompleteError
from evals.schemas import EvalRun
from evals.scoring.calibration.binding import refuse_uncalibrated
from evals.scoring.gates import problem_of
from evals.store.commands import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.record_check import refuse_damaged
from evals.store.runs import RunStore


def check_run(
    run_id: str,
    *,
    gates: Sequence[str],
    baseline: str | None,
    margin: float | None,
    metrics: str | None,
    lenient: bool,
    allow_uncalibrated: bool,
    as_json: bool,
    runs_dir: Path | None,
) -> None:
    """Print how a saved run fares with the gates given, else with those it was made with.

    Raises:
        ConfigError: A gate is none, there is none to check, a flag does nothing without a baseline, or a gate is on
            a metric by which the judge was never calibrated, or on a score that such a metric feeds.
        RunNotFoundError: There is no such run.
        RunIncompleteError: The run is partial: nobody knows what the rest of it is like; or one of the two was never
            finished.
        GateFailedError: A gate is not met, or there is not enough evidence for it.
    """
    _refuse_without_baseline(baseline, margin=margin, metrics=metrics)
    saved = _load(run_id, runs_dir)
    where = folder_of(saved.run)
    if baseline is None:
        report = check_alone(saved, gates)
    else:
        names = None if metrics is None else names_of(metrics, "--metrics")
        held = DEFAULT_MARGIN if margin is None else margin
        report = check_against(saved, _load(baseline, runs_dir), gates, names, held)
    if not allow_uncalibrated:
        _refuse_uncalibrated(saved.run, report)
    _print(report, as_json=as_json)
    if saved.run.status == "partial":
        raise RunIncompleteError(
            f"the run is partial: {what_is_undone(saved.run, saved.records)}",
            f"what came out: {command(f'show {saved.run.id}', where)}",
        )
    if problem := problem_of(report.gates, lenient=lenient, figures=as_json):
        raise GateFailedError(problem)


def _refuse_uncalibrated(run: EvalRun, report: GateReport) -> None:
    """Refuse conditions on metrics of which nobody knows how often the judge is wrong."""
    gated = {re.match(r"\w*", each.gate)[0] for each in report.gates}  # type: ignore[index]  # it always matches
    if run.judge is not None:
        feeding = set(chain.from_iterable(run.weighted_score.fed_by.values()))
        refuse_uncalibrated(gated, never_calibrated(run), feeding, run.judge.model)


def _refuse_without_baseline(baseline: str | None, **flags: object) -> None:
    """Refuse flags that do nothing where there is nothing to hold the run against."""
    for name, value in flags.items():
        if baseline is None and value is not None:
            raise ConfigError(
                f"--{name} is a matter of two runs, and there is no baseline",
                "name the run to hold this one against with --baseline RUN",
            )


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
