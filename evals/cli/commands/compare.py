"""Commands that set saved runs against each other: `evals gate` and `evals compare`."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from evals.cli.ci import Reporter
from evals.cli.flags import CompareFlags, GateFlags
from evals.cli.parameters import names_of
from evals.cli.saved import never_calibrated, next_command, open_calibrated, open_different, what_is_undone
from evals.cli.terminal import print_result
from evals.compare.gates import DEFAULT_MARGIN, GateReport, check_against, check_alone, regression_of
from evals.compare.models import ANSWER_RATE, Comparison
from evals.compare.paired import compare_runs
from evals.errors import ConfigError, GateFailedError, RunIncompleteError
from evals.metrics.registry import parse_metric
from evals.report.compared import comparison_parts
from evals.report.elements import TextLine
from evals.report.summary import gate_lines
from evals.schemas.results import EvalRun
from evals.scoring.calibration import refuse_uncalibrated
from evals.scoring.saved import SavedRun
from evals.store.naming import command, folder_of
from evals.store.runs import refuse_damaged


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
        report = _report(saved, flags, reporter)
        if saved.run.judge is not None and not flags.allow_uncalibrated:
            gated = {re.split(r"\W", outcome.gate, maxsplit=1)[0] for outcome in report.gates}
            feeding = set(chain.from_iterable(saved.run.weighted_score.fed_by.values()))
            refuse_uncalibrated(gated, never_calibrated(saved.run), feeding, saved.run.judge.model)
        reporter.add(saved, report.gates)
        print_result(report, _gate_parts(report), flags)
        if saved.run.status == "partial":
            hint = f"what came out: {command(f'show {saved.run.id}', folder_of(saved.run))}"
            raise RunIncompleteError(f"the run is partial: {what_is_undone(saved)}", hint)
        reporter.judge(report.gates)


def _report(saved: SavedRun, flags: GateFlags, reporter: Reporter) -> GateReport:
    """The run held to its gates, and against the baseline where there is one."""
    if flags.baseline is None:
        return check_alone(saved, flags.gate or [])
    baseline = _load_finished(flags.baseline, flags.runs_dir)
    names = None if flags.metrics is None else names_of(flags.metrics, "--metrics")
    margin = DEFAULT_MARGIN if flags.margin is None else flags.margin
    report = check_against(saved, baseline, flags.gate or [], names, margin)
    reporter.comparison = compare_runs([baseline, saved])
    return report


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
    saved = open_calibrated(run_id, runs_dir)
    refuse_damaged(saved.run, saved.damage)
    if saved.run.completed_at is None:
        undone = f"run {saved.run.id} did not finish: {what_is_undone(saved)}"
        raise RunIncompleteError(undone, next_command(saved, folder_of(saved.run)))
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
    runs = open_different(flags.runs, flags.runs_dir, "a run compares with another run, not with itself")
    if flags.baseline is not None:
        first = open_calibrated(flags.baseline, flags.runs_dir)
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
    regressions = {pair.run: regression_of(pair, primary, never_calibrated(runs[pair.run])) for pair in against}
    if problems := {run_id: problem for run_id, problem in regressions.items() if problem}:
        shown = " and ".join(command(f"show {run_id}", folder_of(runs[run_id])) for run_id in problems)
        raise GateFailedError("; ".join(problems.values()), f"question by question: {shown}")
