"""Commands that set saved runs against each other: `evals gate` and `evals compare`."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from evals.cli.ci import Reporter
from evals.cli.flags import CompareFlags, GateFlags
from evals.cli.parameters import names_of
from evals.cli.saved import load_calibrated, never_calibrated, next_command, what_is_undone
from evals.cli.terminal import console, print_json, show
from evals.cli.views.comparison import print_comparison
from evals.compare import compare_runs
from evals.compare.gates import DEFAULT_MARGIN, GateReport, check_against, check_alone
from evals.compare.models import ANSWERING, Comparison, RunComparison
from evals.compare.pairing import SavedRun
from evals.errors import ConfigError, GateFailedError, RunIncompleteError
from evals.metrics.registry import parse_metric
from evals.report.ci import Beside
from evals.report.elements import TextLine
from evals.report.parts import gate_lines
from evals.schemas.results import EvalRun
from evals.scoring.calibration import refuse_uncalibrated
from evals.scoring.conclusion import measured
from evals.store.naming import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.records import refuse_damaged
from evals.store.runs import RunStore

# `evals gate`: conditions on a saved run, by itself or against another.


def gate(flags: GateFlags) -> None:
    """Print how a saved run fares with the gates given, else with those it was made with.

    Raises:
        ConfigError: A gate is none, there is none to check, a flag does nothing without a baseline, there are two
            baselines, or a gate is on a metric by which the judge was never calibrated, or on a score that such a
            metric feeds.
        RunNotFoundError: There is no such run.
        RunIncompleteError: The run is partial: the rest of it is unknown; or one of the two was never
            finished.
        GateFailedError: A gate is not met, or there is not enough evidence for it.
    """
    with Reporter(flags, made=False) as reporter:
        _check_baseline(flags)
        saved = _load_finished(flags.run, flags.runs_dir)
        run = saved.run
        report = _held(saved, flags, reporter)
        if run.judge is not None and not flags.allow_uncalibrated:
            gated = {re.match(r"\w*", each.gate)[0] for each in report.gates}  # type: ignore[index]  # it always matches
            feeding = set(chain.from_iterable(run.weighted_score.fed_by.values()))
            refuse_uncalibrated(gated, never_calibrated(run), feeding, run.judge.model)
        reporter.found(measured(run, saved.records), report.gates)
        if flags.as_json:
            print_json(report.model_dump_json(indent=2))
        else:
            warnings = (TextLine(f"! {warning}", "doubtful") for warning in report.warnings)
            hints = [] if report.margin is None else [f"--margin sets the margin (here {report.margin:g})"]
            hints += (
                ["--lenient passes gates without enough evidence"] if report.outcome == "not enough evidence" else []
            )
            told = [TextLine("; ".join(hints), "faint")] if hints else []
            show(console(), [*gate_lines(report.gates), *warnings, *told])
        if run.status == "partial":
            raise RunIncompleteError(
                f"the run is partial: {what_is_undone(run, saved.records)}",
                f"what came out: {command(f'show {run.id}', folder_of(run))}",
            )
        reporter.judge(report.gates)


def _check_baseline(flags: GateFlags) -> None:
    """Refuse two baselines, and flags that do nothing where there is nothing to hold the run against."""
    if flags.baseline is not None and flags.baseline_dir is not None:
        raise ConfigError("--baseline and --baseline-dir exclude each other", "name one run, or a folder")
    for name, value in (("margin", flags.margin), ("metrics", flags.metrics)):
        if flags.baseline is None and flags.baseline_dir is None and value is not None:
            raise ConfigError(
                f"--{name} is a matter of two runs, and there is no baseline",
                "name the run to hold this one against with --baseline RUN",
            )


def _held(saved: SavedRun, flags: GateFlags, reporter: Reporter) -> GateReport:
    """The run held to its gates, and against the baseline where there is one."""
    gates, baseline = flags.gate or [], _baseline(saved.run, flags)
    if baseline is not None:
        names = None if flags.metrics is None else names_of(flags.metrics, "--metrics")
        report = check_against(saved, baseline, gates, names, DEFAULT_MARGIN if flags.margin is None else flags.margin)
        if reporter.tells_of_changes:
            runs = [baseline, saved]
            reporter.compared(Beside(compare_runs(runs), runs))
        return report
    if flags.baseline_dir is None:
        return check_alone(saved, gates)
    said = f"there is no complete run in {flags.baseline_dir} yet, so that this one is held against none"
    if gates or saved.run.eval_config.get("gate"):
        report = check_alone(saved, gates)
    else:
        said += "; there are no gates either: nothing was checked"
        report = GateReport(run=saved.run.id, outcome="met", gates=[])
    reporter.remark(said)
    return report.model_copy(update={"warnings": [said]})


def _baseline(run: EvalRun, flags: GateFlags) -> SavedRun | None:
    """The run to hold this one against; None where none was named, or there is none yet."""
    if flags.baseline is not None:
        return _load_finished(flags.baseline, flags.runs_dir)
    if flags.baseline_dir is None:
        return None
    saved = RunStore(flags.baseline_dir).survey().without_calibrations()
    whole = [each.id for each in saved.runs if each.status == "complete" and each.completed_at and each.id != run.id]
    return _load_finished(whole[-1], flags.baseline_dir) if whole else None


def _load_finished(run_id: str, runs_dir: Path | None) -> SavedRun:
    """A run with its records.

    Raises:
        RunNotFoundError: There is no such run.
        RunIncompleteError: It was never finished, so that nothing of it is scored; or records were lost or changed.
    """
    run, records = load_calibrated(run_id, runs_dir)
    refuse_damaged(run, records)
    if run.completed_at is None:
        undone = what_is_undone(run, records)
        raise RunIncompleteError(f"run {run.id} did not finish: {undone}", next_command(run, records, folder_of(run)))
    return SavedRun(run, records)


# `evals compare`.


def compare(flags: CompareFlags) -> None:
    """Print how saved runs compare with one of them.

    Raises:
        ConfigError: Fewer than two runs, one of them twice, no question that a run shares with the baseline, or a
            primary metric that cannot be compared.
        UnknownNameError: There is no metric with the name of the primary one.
        RunNotFoundError: There is no such run.
        RunIncompleteError: Records of a run were lost or changed since it was saved; what compares was printed.
        GateFailedError: A run is worse than the baseline, and that was to be an error.
    """
    with Reporter(flags, made=False) as reporter:
        runs = _load_compared(flags)
        if flags.primary is not None and flags.primary not in ANSWERING:
            parse_metric(flags.primary)
        comparison = compare_runs(runs, pareto=flags.pareto, primary=flags.primary)
        reporter.compared(Beside(comparison, runs))
        if flags.as_json:
            print_json(comparison.model_dump_json(indent=2))
        else:
            print_comparison(console(), comparison, every=flags.every, pareto=flags.pareto)
        for each in runs:
            refuse_damaged(each.run, each.records)
        if flags.fail_on_regression:
            _fail_on_regression(comparison, {each.run.id: each.run for each in runs})


def _load_compared(flags: CompareFlags) -> list[SavedRun]:
    """The runs, the baseline first; it may be one of those named, or another."""
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    runs = [store.load(run_id) for run_id in flags.runs]
    twice, times = Counter(run.id for run in runs).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"run {twice} is named {times} times", "a run compares with others, not with itself")
    if flags.baseline is not None:
        first = store.load(flags.baseline)
        runs = [first, *(run for run in runs if run.id != first.id)]
    if len(runs) < 2:
        hint = f"{command('runs', flags.runs_dir)} lists the saved runs"
        raise ConfigError("a comparison needs at least two runs", hint)
    return [SavedRun(*load_calibrated(run.id, flags.runs_dir)) for run in runs]


def _fail_on_regression(comparison: Comparison, runs: Mapping[str, EvalRun]) -> None:
    """Fail where a run is worse than the baseline, or where one was never finished, so that nothing compares."""
    for each in comparison.runs:
        if not each.scored:
            raise GateFailedError(
                f"run {each.id} did not finish, and none of it is scored yet: the runs cannot be compared",
                f"continue with: {command(f'eval --resume {each.id}', folder_of(runs[each.id]))}",
            )
    named = {}
    for one in comparison.against:
        if problem := _problem(one, comparison.primary, never_calibrated(runs[one.run])):
            named[one.run] = problem
    if named:
        shown = " and ".join(command(f"show {run_id}", folder_of(runs[run_id])) for run_id in named)
        raise GateFailedError("; ".join(named.values()), f"question by question: {shown}")


def _problem(one: RunComparison, primary: str | None, never: Sequence[str]) -> str:
    """In what the run is worse than the baseline; nothing where it is not.

    Args:
        one: The run compared with the baseline.
        primary: The metric that the comparison is about.
        never: The metrics whose judge was never calibrated.
    """
    untested = _untested(one)
    problems = []
    for pair in one.regressions:
        mark = ", uncalibrated" if pair.name in never else ""
        problems.append(f"{pair.name} {pair.first:.3g} to {pair.last:.3g} (p {pair.q:.2g}{mark})")
    missing = [metric.name for metric in one.vanished if metric.is_regression or metric.name == primary]
    problems += [f"{name} has no value any more" for name in missing]
    if problems:
        return f"{one.run} is worse than {one.baseline}: {', '.join(problems)}"
    if primary in untested:  # of latency and cost, which fail no gate, nothing is said
        return f"{primary} could not be tested ({untested[primary]}), so {_unsaid(one)}"
    return ""


def _unsaid(one: RunComparison) -> str:
    return f"{one.run} may be worse than {one.baseline}"


def _untested(one: RunComparison) -> dict[str, str | None]:
    """The metrics of quality that could not be tested, each with the reason.

    Raises:
        GateFailedError: None could be.
    """
    of_quality = [pair for pair in one.pairs if pair.is_of_quality]
    untested = {pair.name: pair.reason for pair in of_quality if pair.p is None}
    if all(pair.p is None or pair.name in ANSWERING for pair in of_quality):
        why = "; ".join(sorted(filter(None, set(untested.values()))))
        raise GateFailedError(
            f"no metric of quality has values in both runs that compare{why and f' ({why})'}, so {_unsaid(one)}",
            "compare runs whose questions have gold passages, expected answers or a known answerability, "
            "measured alike",
        )
    return untested
