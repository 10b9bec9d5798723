"""`evals compare`."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from evals.cli.carded import carded, never_calibrated
from evals.cli.ci.flags import CiFlags
from evals.cli.ci.reporter import Reporter
from evals.cli.terminal.console import console
from evals.cli.terminal.streams import print_json
from evals.cli.views.comparison import print_comparison
from evals.compare import Comparison, MetricPair, RunComparison, SavedRun, compare_runs
from evals.compare.models import ANSWERING
from evals.errors import ConfigError, GateFailedError
from evals.export.ci.command_end import Beside
from evals.metrics.registry import parse_metric
from evals.store.commands import DEFAULT_RUNS_DIR, command, folder_of
from evals.store.record_check import refuse_damaged
from evals.store.runs import RunStore


def compare(
    run_ids: Sequence[str],
    *,
    baseline: str | None,
    primary: str | None,
    pareto: bool,
    fail_on_regression: bool,
    as_json: bool,
    runs_dir: Path | None,
    flags: CiFlags,
) -> None:
    """Print how saved runs compare with one of them.

    Raises:
        ConfigError: Fewer than two runs, one of them twice, no question that a run shares with the baseline, or a
            primary metric that cannot be compared.
        UnknownNameError: There is no metric with the name of the primary one.
        RunNotFoundError: There is no such run.
        RunIncompleteError: Records of a run were lost or changed since it was saved; what compares was printed.
        GateFailedError: A run is worse than the baseline, and that was to be an error.
    """
    if primary is not None and primary not in ANSWERING:
        parse_metric(primary)
    with Reporter(flags, as_json=as_json, made=False) as reporter:
        runs = _load(RunStore(runs_dir or DEFAULT_RUNS_DIR), run_ids, baseline, runs_dir)
        comparison = compare_runs(runs, pareto=pareto, primary=primary)
        reporter.compared(Beside(comparison, runs))
        _end(comparison, runs, as_json=as_json, fail_on_regression=fail_on_regression)


def _end(comparison: Comparison, runs: Sequence[SavedRun], *, as_json: bool, fail_on_regression: bool) -> None:
    """Print what came out, and end as it deserves."""
    if as_json:
        print_json(comparison.model_dump_json(indent=2))
    else:
        print_comparison(console(), comparison)
    for each in runs:
        refuse_damaged(each.run, each.records)
    if fail_on_regression:
        never = {each.run.id: never_calibrated(each.run) for each in runs}
        _fail_on_regression(comparison, {each.run.id: folder_of(each.run) for each in runs}, never)


def _load(store: RunStore, run_ids: Sequence[str], baseline: str | None, runs_dir: Path | None) -> list[SavedRun]:
    """The runs, the baseline first; it may be one of those named, or stand beside them."""
    runs = [store.load(run_id) for run_id in run_ids]
    twice, times = Counter(run.id for run in runs).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"run {twice} is named {times} times", "a run compares with others, not with itself")
    if baseline is not None:
        first = store.load(baseline)
        runs = [first, *(run for run in runs if run.id != first.id)]
    if len(runs) < 2:
        raise ConfigError("a comparison needs at least two runs", f"{command('runs', runs_dir)} lists what there is")
    return [SavedRun(*carded(store, run.id)) for run in runs]


def _fail_on_regression(
    comparison: Comparison, where: Mapping[str, Path | None], never: Mapping[str, Collection[str]]
) -> None:
    _refuse_unscored(comparison, where)
    problems = {one.run: _problem(one, comparison.primary, never[one.run]) for one in comparison.against}
    named = {run_id: problem for run_id, problem in problems.items() if problem}
    if named:
        shown = " and ".join(command(f"show {run_id}", where[run_id]) for run_id in named)
        raise GateFailedError("; ".join(named.values()), f"question by question: {shown}")


def _refuse_unscored(comparison: Comparison, where: Mapping[str, Path | None]) -> None:
    """Fail where one of the runs was never finished: nothing of it is scored, and so nothing compares."""
    for run in comparison.runs:
        if not run.scored:
            raise GateFailedError(
                f"run {run.id} did not finish, and none of it is scored yet: nobody can say which run is worse",
                f"go on with: {command(f'eval --resume {run.id}', where[run.id])}",
            )


def _problem(one: RunComparison, primary: str | None, never: Collection[str]) -> str:
    """In what the run is worse than the baseline; nothing where it is not.

    Args:
        one: The run beside the baseline.
        primary: The metric that the comparison is about.
        never: The metrics whose judge was never calibrated.
    """
    if not any(pair.p is not None and pair.is_of_quality and pair.name not in ANSWERING for pair in one.pairs):
        raise _nothing_compared(one)
    worse = [_worse(pair, never) for pair in one.regressions]
    problems = [*worse, *(f"{name} has no value any more" for name in _lost(one, primary))]
    return f"{one.run} is worse than {one.baseline}: {', '.join(problems)}" if problems else _untested(one, primary)


def _lost(one: RunComparison, primary: str | None) -> list[str]:
    """The metrics that the run has no value of any more: those of quality, and what the comparison is about."""
    return [metric.name for metric in one.vanished if metric.is_regression or metric.name == primary]


def _untested(one: RunComparison, primary: str | None) -> str:
    """That nobody can say what the comparison is about; of latency and cost, which fail no gate, nothing."""
    pair = next((pair for pair in one.pairs if pair.name == primary and pair.is_of_quality and pair.p is None), None)
    if pair is None:
        return ""
    unsaid = f"nobody can say that {one.run} is no worse than {one.baseline}"
    return f"{primary} could not be tested ({pair.reason}), so {unsaid}"


def _worse(pair: MetricPair, never: Collection[str]) -> str:
    mark = ", uncalibrated" if pair.name in never else ""
    return f"{pair.name} {pair.first:.3g} to {pair.last:.3g} (p {pair.q:.2g}{mark})"


def _nothing_compared(one: RunComparison) -> GateFailedError:
    withheld = sorted({pair.reason for pair in one.pairs if pair.is_of_quality and pair.p is None and pair.reason})
    why = f" ({'; '.join(withheld)})" if withheld else ""
    return GateFailedError(
        f"no metric of quality has values in both runs that compare{why}, so nobody can say that {one.run} is no worse "
        f"than {one.baseline}",
        "compare runs whose questions have gold passages, expected answers or a known answerability, measured alike",
    )
