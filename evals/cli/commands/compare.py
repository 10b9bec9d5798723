"""`evals compare`."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evals.cli.terminal.console import console
from evals.cli.terminal.streams import print_json
from evals.cli.views.comparison import print_comparison
from evals.compare import Comparison, SavedRun, compare_runs
from evals.errors import ConfigError, GateFailedError
from evals.store.commands import DEFAULT_RUNS_DIR, command
from evals.store.runs import RunStore


def compare(
    run_ids: Sequence[str], *, pareto: bool, fail_on_regression: bool, as_json: bool, runs_dir: Path | None
) -> None:
    """Print how saved runs compare.

    Raises:
        ConfigError: Fewer than two runs, one of them twice, or no question that all of them asked.
        RunNotFoundError: There is no such run.
        GateFailedError: The last run is worse than the first, and that was to be an error.
    """
    if len(run_ids) < 2:
        raise ConfigError("a comparison needs at least two runs", f"{command('runs', runs_dir)} lists what there is")
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    runs = [store.load(run_id) for run_id in run_ids]
    twice, times = Counter(run.id for run in runs).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"run {twice} is named {times} times", "a run compares with others, not with itself")
    comparison = compare_runs([SavedRun(run, store.records(run)) for run in runs], pareto=pareto)
    if as_json:
        print_json(comparison.model_dump_json(indent=2))
    else:
        print_comparison(console(), comparison)
    if fail_on_regression:
        _fail_on_regression(comparison, runs_dir)


def _fail_on_regression(comparison: Comparison, runs_dir: Path | None) -> None:
    worse = comparison.regressions
    if comparison.common == 1:
        raise GateFailedError(
            "one common question is not enough to test anything, so nobody can say that no metric is worse",
            "compare runs that have more questions in common",
        )
    if not any(pair.p is not None and pair.group != "performance" for pair in comparison.pairs):
        raise GateFailedError(
            "no metric of quality has values in both runs, so nobody can say that none is worse",
            "compare runs whose questions have gold passages, expected answers or a known answerability",
        )
    if worse:
        first, last = comparison.runs[0].id, comparison.runs[-1].id
        named = ", ".join(f"{pair.name} {pair.first:.3g} to {pair.last:.3g} (q {pair.q:.2g})" for pair in worse)
        raise GateFailedError(
            f"{last} is worse than {first}: {named}",
            f"question by question: {command(f'show {last}', runs_dir)}",
        )
