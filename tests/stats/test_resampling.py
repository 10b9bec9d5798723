"""Resamples: the same for all metrics, of whole clusters, and quick."""

from time import process_time

import numpy as np
import pytest

from evals.scoring.stats import mean_interval
from evals.scoring.stats.differences import paired_percentile_difference, resampled_counts, resampled_means
from evals.scoring.stats.intervals import Mark, percentile
from evals.scoring.stats.means import percentile_estimate


def counts_of(n: int, clusters: list[str] | None, resamples: int) -> np.ndarray:
    """All resamples, a row each."""
    return np.concatenate(list(resampled_counts(n, clusters, resamples)))


def test_each_resample_draws_as_many_as_there_are() -> None:
    """Values, or clusters; the same seed draws the same."""
    assert (counts_of(30, None, 50).sum(axis=1) == 30).all()
    labels = [str(place // 3) for place in range(30)]
    counts = counts_of(30, labels, 50)
    assert (counts.reshape(50, 10, 3) == counts[:, ::3, None]).all()
    assert (counts[:, ::3].sum(axis=1) == 10).all()
    assert (counts == counts_of(30, labels, 50)).all()


def test_the_means_of_resamples_spread_as_the_error_says() -> None:
    """Within documents too, against the formula."""
    rng = np.random.default_rng(1)
    labels = [str(place // 5) for place in range(400)]
    values = np.clip(0.5 + rng.normal(0, 0.2, 80).repeat(5) + rng.normal(0, 0.1, 400), 0, 1)
    found = mean_interval(values.tolist(), labels, low=0, high=1)
    assert found is not None
    assert found.interval is not None
    means = resampled_means([values.tolist()], labels, 4000)
    assert np.quantile(means[:, 0], [0.025, 0.975]) == pytest.approx(found.interval, abs=0.01)


def test_metrics_share_their_resamples() -> None:
    """A metric and twice it go together; a question without a value counts in neither sum nor number."""
    values = [0.1, 0.9, 0.4, 0.7, 0.2, 0.5]
    means = resampled_means([values, [2 * value for value in values], [None, *[0.5] * 5]], None, 100)
    assert means[:, 1] == pytest.approx(2 * means[:, 0])
    assert means[:, 2] == pytest.approx(np.full(100, 0.5))


def test_a_resample_without_a_value_has_no_mean() -> None:
    """NaN says so, never 0."""
    means = resampled_means([[1.0, None, None]], None, 200)
    assert np.isnan(means).any()
    assert set(means[~np.isnan(means)]) == {1.0}


def test_ten_thousand_resamples_of_twenty_metrics_are_quick() -> None:
    """Of a thousand questions each."""
    columns = np.random.default_rng(1).random((20, 1000)).tolist()
    start = process_time()
    assert resampled_means(columns, None, 10_000).shape == (10_000, 20)
    assert process_time() - start < 4


def test_a_percentile_of_clustered_times_is_less_certain() -> None:
    """Where documents are slow or fast as a whole, a hundred questions of ten documents are ten."""
    rng = np.random.default_rng(2)
    values = (rng.lognormal(6, 0.5, 20).repeat(20) * rng.lognormal(0, 0.05, 400)).tolist()
    labels = [str(place // 20) for place in range(400)]
    alone, together = percentile_estimate(values, 50), percentile_estimate(values, 50, labels)
    assert alone is not None
    assert together is not None
    assert alone.interval is not None
    assert together.interval is not None
    assert together.interval[0] < alone.interval[0] < percentile(values, 50) < alone.interval[1] < together.interval[1]
    assert (together.n, together.clusters) == (400, 20)


@pytest.mark.parametrize(("values", "mark"), [([7.0] * 100, Mark.ALIKE), ([1.0, 2.0], Mark.TOO_FEW)])
def test_a_percentile_without_an_interval_says_why(values: list[float], mark: Mark) -> None:
    """Too few values, or the same value at both ends, which is no interval."""
    found = percentile_estimate(values, 50)
    assert found is not None
    assert (found.interval, found.marks) == (None, (mark,))
    assert percentile_estimate([], 50) is None


def test_a_shift_of_few_documents_is_no_difference_between_percentiles() -> None:
    """The bootstrap draws whole documents."""
    labels = [str(place // 40) for place in range(400)]
    first = np.random.default_rng(3).lognormal(6, 0.3, 400)
    last = first * np.where(np.arange(400) < 80, 1.6, 1.0)
    alone = paired_percentile_difference(first.tolist(), last.tolist(), 50)
    together = paired_percentile_difference(first.tolist(), last.tolist(), 50, clusters=labels)
    assert alone is not None
    assert together is not None
    assert alone[1] < 0.05 < together[1]
