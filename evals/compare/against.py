"""One run against the baseline, over the questions that the two share."""

from collections.abc import Sequence

from evals.compare.changes import find_changes
from evals.compare.latency import why_no_latency
from evals.compare.measured import PairedMetric, measure
from evals.compare.models import MetricPair, RunComparison
from evals.compare.moves import find_moves
from evals.compare.paired import Rules, compare_paired, compare_pairs
from evals.compare.pairing import Pairing, SavedRun, pair_up
from evals.compare.values import Aligned, align_all
from evals.compare.vanished import find_vanished
from evals.compare.withheld import find_obstacles, why_withheld
from evals.scoring.saved_config import scoring_config


def compare_with_baseline(
    baseline: SavedRun, other: SavedRun, primary: str | None = None, comparisons: int = 1
) -> RunComparison:
    """Compare one run with the baseline.

    Args:
        baseline: The run that the other is set against; its configuration names the primary metric of each group.
        other: The run.
        primary: The one metric that is tested at 0.05; None for none.
        comparisons: How many runs are set against this baseline, which share 0.05.

    Raises:
        ConfigError: The two have no question in common.
    """
    pairing = pair_up([baseline, other])
    metrics = align_all(pairing)
    rules = _rules(pairing, primary, comparisons)
    sound = [each.metric for each in metrics if each.complete and rules.withheld(each.metric) is None]
    changes = find_changes(pairing, sound)
    pairs, latency = compare_paired(metrics, rules)
    return RunComparison(
        baseline=baseline.run.id,
        run=other.run.id,
        common=len(pairing.ids),
        pairs=pairs,
        latency=latency,
        vanished=find_vanished(pairing, metrics),
        lost=[change for change in changes if change.change < 0],
        gained=[change for change in reversed(changes) if change.change > 0],
        moves=find_moves(pairing),
    )


def compare_metrics(pairing: Pairing, metrics: Sequence[Aligned]) -> list[MetricPair]:
    """The metrics of a run against its baseline, without its questions.

    Args:
        pairing: The baseline and the run.
        metrics: Those of both.
    """
    return compare_pairs(metrics, _rules(pairing, None, 1))


def _rules(pairing: Pairing, primary: str | None, comparisons: int) -> Rules:
    """What is tested at which level between the two runs of a pairing."""
    obstacles = find_obstacles(pairing)
    return Rules(
        withheld=lambda metric: why_withheld(metric, obstacles),
        latency=why_no_latency(pairing.runs),
        primary_of=scoring_config(pairing.runs[0]).primary,
        primary=primary,
        comparisons=comparisons,
    )


def paired_change(baseline: SavedRun, other: SavedRun, metric: str) -> PairedMetric | None:
    """The difference of one metric between two runs, with its p and its interval at any level.

    For whoever asks about one metric alone: `change.interval(0.05)` is the two-sided interval at 95 % that leaves out 0
    where p is below 0.05. For a test of non-inferiority take `change.bounds(0.05)`, whose ends are one-sided bounds at
    97.5 %. Nothing is adjusted for other metrics.

    Returns:
        None where the two runs have no question with values in both, or measured the metric by different means.

    Raises:
        ConfigError: The two have no question in common.
    """
    pairing: Pairing = pair_up([baseline, other])
    found = next((each for each in align_all(pairing) if each.metric.name == metric and each.complete), None)
    if found is None or why_withheld(found.metric, find_obstacles(pairing)):
        return None
    return measure(found.metric, found.values(0), found.values(1), found.clusters, found.lost)
