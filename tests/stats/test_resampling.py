"""Percentiles, whose intervals and tests are of order statistics and resamples: of whole clusters."""

import numpy as np
import pytest

from evals.scoring.stats.differences import paired_percentile_difference
from evals.scoring.stats.intervals import Mark, percentile
from evals.scoring.stats.means import percentile_estimate


def test_a_percentile_of_clustered_times_is_less_certain() -> None:
    """Where documents are slow or fast as a whole, a hundred questions of ten documents are ten."""
    rng = np.random.default_rng(2)
    values = (rng.lognormal(6, 0.5, 20).repeat(20) * rng.lognormal(0, 0.05, 400)).tolist()
    labels = [str(place // 20) for place in range(400)]
    alone, together = percentile_estimate(values, 50), percentile_estimate(values, 50, labels)
    assert together.interval[0] < alone.interval[0] < percentile(values, 50) < alone.interval[1] < together.interval[1]
    assert (together.n, together.clusters) == (400, 20)


@pytest.mark.parametrize(("values", "mark"), [([7.0] * 100, Mark.ALIKE), ([1.0, 2.0], Mark.TOO_FEW)])
def test_a_percentile_without_an_interval_says_why(values: list[float], mark: Mark) -> None:
    """Too few values, or the same value at both ends, which is no interval."""
    found = percentile_estimate(values, 50)
    assert (found.interval, found.marks) == (None, (mark,))
    assert percentile_estimate([], 50) is None


def test_a_shift_of_few_documents_is_no_difference_between_percentiles() -> None:
    """The bootstrap draws whole documents."""
    labels = [str(place // 40) for place in range(400)]
    first = np.random.default_rng(3).lognormal(6, 0.3, 400)
    last = first * np.where(np.arange(400) < 80, 1.6, 1.0)
    alone = paired_percentile_difference(first.tolist(), last.tolist(), 50)
    together = paired_percentile_difference(first.tolist(), last.tolist(), 50, clusters=labels)
    assert alone[1] < 0.05 < together[1]
