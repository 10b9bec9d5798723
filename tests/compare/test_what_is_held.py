"""What a comparison holds of each run: values and how questions ended, and no sentence about any of them."""

from collections.abc import Callable

from evals.compare import SavedRun, compare_runs
from evals.scoring.conclusion import measured
from evals.scoring.digest import RunSummary


def test_the_digest_of_a_run_is_not_held(saved: Callable[..., SavedRun]) -> None:
    """It is read for how questions ended, which is kept as it says."""
    values = {f"q{n}": {"mrr": float(n % 2)} for n in range(8)}
    runs = [saved("a", values), saved("b", values)]
    compare_runs(runs)
    for each in runs:
        digest = measured(each.run, each.records).digest
        assert each.endings == ({one.number: one.link for one in digest.found}, digest.declines)
        assert not any(isinstance(held, RunSummary) for held in vars(each).values())
