"""`evals compare`."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from evals.cli.carded import carded, never_calibrated
from evals.cli.terminal.console import console
from evals.cli.terminal.streams import print_json
from evals.cli.views.comparison import print_comparison
from evals.compare import Comparison, MetricPair, RunComparison, SavedRun, compare_runs
from evals.compare.models import ANSWERING
from evals.errors import ConfigError, GateFailedError
from evals.metrics.registry import parse_metric
from evals.store.commands import DEFAULT_RUNS_DIR, command
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
) -> None:
    """Print how saved runs compare with one of them.

    Raises:
        ConfigError: Fewer than two runs, one of them twice, no question that a run shares with the baseline, or a
            primary metric that cannot be compared.
        UnknownNameError: There is no metric with the name of the primary one.
        RunNotFoundError: There is no such run.
        GateFailedError: A run is worse than the baseline, and that was to be an error.
    """
    if primary is not None and primary not in ANSWERING:
        parse_metric(primary)
    runs = _load(RunStore(runs_dir or DEFAULT_RUNS_DIR), run_ids, baseline, runs_dir)
    comparison = compare_runs(runs, pareto=pareto, primary=primary)
    if as_json:
        print_json(comparison.model_dump_json(indent=2))
    else:
        print_comparison(console(), comparison)
    if fail_on_regression:
        _fail_on_regression(comparison, {saved.run.id: never_calibrated(saved.run) for saved in runs}, runs_dir)


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


def _fail_on_regression(comparison: Comparison, never: Mapping[str, Collection[str]], runs_dir: Path | None) -> None:
    problems = {one.run: _problem(one, never[one.run]) for one in comparison.against}
    named = {run_id: problem for run_id, problem in problems.items() if problem}
    if named:
        shown = " and ".join(command(f"show {run_id}", runs_dir) for run_id in named)
        raise GateFailedError("; ".join(named.values()), f"question by question: {shown}")


def _problem(one: RunComparison, never: Collection[str]) -> str:
    """In what the run is worse than the baseline; nothing where it is not.

    Args:
        one: The run beside the baseline.
        never: The metrics whose judge was never calibrated.
    """
    if not any(pair.p is not None and pair.is_of_quality and pair.name not in ANSWERING for pair in one.pairs):
        raise _nothing_compared(one)
    worse = [_worse(pair, never) for pair in one.regressions]
    gone = [f"{metric.name} has no value any more" for metric in one.vanished if metric.is_regression]
    return f"{one.run} is worse than {one.baseline}: {', '.join([*worse, *gone])}" if worse or gone else ""


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
