"""Agreement and order of two readers, against scikit-learn and scipy on random tables, and at their edges."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn import metrics as sklearn_metrics

from evals.scoring.stats.agreement import (
    auroc,
    cohen_kappa,
    gwet_ac1,
    kendall,
    observed_agreement,
    pearson,
    ranks,
    spearman,
)
from evals.scoring.stats.differences import jackknife_interval

SEEDS = range(40)
CORRELATIONS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (pearson, scipy_stats.pearsonr),
    (spearman, scipy_stats.spearmanr),
    (kendall, scipy_stats.kendalltau),
]


def tables(seed: int) -> tuple[list[float], list[float]]:
    """Two related columns with ties, or without."""
    drawn = random.Random(seed)  # noqa: S311
    n, steps = drawn.randint(5, 80), drawn.choice([2, 3, 5, 1000])
    first = [drawn.randrange(steps) / steps for _ in range(n)]
    second = [one if drawn.random() < 0.6 else drawn.randrange(steps) / steps for one in first]
    return [0.0, 1.0, *first], [1.0, 0.0, *second]


@pytest.mark.parametrize("seed", SEEDS)
def test_agreement_and_kappa_are_scikit_learns(seed: int) -> None:
    """Whatever the number of labels is."""
    first, second = (list(map(str, column)) for column in tables(seed))
    assert observed_agreement(first, second) == pytest.approx(sklearn_metrics.accuracy_score(first, second))
    assert cohen_kappa(first, second) == pytest.approx(sklearn_metrics.cohen_kappa_score(first, second), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_auroc_is_scikit_learns(seed: int) -> None:
    """Ties between a positive and a negative count half."""
    labels, scores = tables(seed)
    positive = [label >= 0.5 for label in labels]
    assert auroc(positive, scores) == pytest.approx(sklearn_metrics.roc_auc_score(positive, scores))


@pytest.mark.parametrize(("ours", "theirs"), CORRELATIONS, ids=["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("seed", SEEDS)
def test_correlations_are_scipys(seed: int, ours: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    """With ties and without."""
    first, second = tables(seed)
    assert ours(first, second) == pytest.approx(theirs(first, second).statistic, abs=1e-12)


def test_ranks_are_scipys() -> None:
    """Tied values share the mean of their ranks."""
    assert ranks([3.0, 1.0, 3.0, 2.0]) == list(scipy_stats.rankdata([3, 1, 3, 2]))


def test_ac1_does_not_fall_with_prevalence() -> None:
    """Of a hundred answers five are bad, and readers differ on five: kappa says 0.42 or so, AC1 0.94 (Gwet 2008)."""
    first = [1] * 93 + [0] * 2 + [1] * 2 + [0] * 3
    second = [1] * 93 + [0] * 2 + [0] * 2 + [1] * 3
    assert observed_agreement(first, second) == 0.95
    assert cohen_kappa(first, second) == pytest.approx(sklearn_metrics.cohen_kappa_score(first, second))
    chance = 2 * 0.955 * 0.045
    assert gwet_ac1(first, second) == pytest.approx((0.95 - chance) / (1 - chance))


@pytest.mark.parametrize(
    ("statistic", "first", "second"),
    [
        (observed_agreement, [], []),
        (cohen_kappa, [], []),
        (cohen_kappa, [1, 1], [1, 1]),
        (gwet_ac1, [], []),
        (auroc, [1.0], [0.5]),
        (pearson, [1.0], [1.0]),
        (pearson, [0.1] * 9, [float(n) for n in range(9)]),
        (spearman, [1.0, 1.0], [1.0, 2.0]),
    ],
)
def test_what_cannot_be_told_is_none(statistic: Callable[..., Any], first: Sequence[Any], second: Any) -> None:
    """Never 0, 1 or NaN."""
    assert statistic(first, second) is None


def test_the_interval_of_an_auroc_is_delongs_where_there_are_many_items() -> None:
    """The jackknife over groups comes near the variance of the placements."""
    drawn = np.random.default_rng(5)
    positive = drawn.random(3000) < 0.5
    scores = drawn.normal(size=3000) + positive
    above, below = scores[positive], scores[~positive]
    won = (above[:, None] > below[None, :]).astype(float)
    error = np.sqrt(won.mean(1).var(ddof=1) / len(above) + won.mean(0).var(ddof=1) / len(below))
    found = jackknife_interval(lambda at: auroc(positive[list(at)].tolist(), scores[list(at)].tolist()), 3000)
    assert found == pytest.approx((won.mean() - 1.96 * error, won.mean() + 1.96 * error), abs=5e-3)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    """Student's interval comes out where the statistic is a mean."""
    values = np.random.default_rng(1).uniform(-1, 1, 50)
    found = jackknife_interval(lambda at: float(values[list(at)].mean()), 50)
    wanted = scipy_stats.t.interval(0.95, 49, values.mean(), scipy_stats.sem(values))
    assert found == pytest.approx(wanted)


def test_whole_clusters_are_left_out() -> None:
    """Ten copies of each of eight values say no more than the eight."""
    values = np.random.default_rng(1).uniform(-1, 1, 8)
    often, labels = np.repeat(values, 10), [f"doc {n // 10}" for n in range(80)]
    found = jackknife_interval(lambda at: float(often[list(at)].mean()), 80, labels)
    assert found == pytest.approx(jackknife_interval(lambda at: float(values[list(at)].mean()), 8))


def test_the_interval_of_a_correlation_stays_within_1() -> None:
    """It is made on Fisher's scale, where there is no end."""
    x = np.arange(12.0)
    y = x + np.random.default_rng(2).normal(size=12) * 0.4
    found = jackknife_interval(lambda at: pearson(x[list(at)].tolist(), y[list(at)].tolist()), 12, correlation=True)
    assert 0.9 < found[0] < found[1] < 1


@pytest.mark.parametrize(("n", "value"), [(5, 0.5), (40, 0.5), (40, None)])
def test_no_spread_gives_no_interval(n: int, value: float | None) -> None:
    """Nor do fewer than six units, and what is undefined."""
    assert jackknife_interval(lambda _at: value, n) is None


def test_many_items_are_left_out_in_groups() -> None:
    """Five thousand take a hundred statistics, not five thousand."""
    asked = []

    def mean(at: Sequence[int]) -> float:
        asked.append(len(at))
        return sum(place % 7 for place in at) / len(at) / 7

    assert jackknife_interval(mean, 5000) is not None
    assert asked == [5000] + [4950] * 100
