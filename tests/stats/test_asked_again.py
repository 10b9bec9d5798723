"""A question that is asked again is no further evidence: every interval and test is that of its answers as one."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.compare.statistics import measure
from evals.metrics.registry import select
from evals.scoring.stats import mean_interval, paired_difference
from evals.scoring.stats.differences import jackknife_interval, paired_percentile_difference
from evals.scoring.stats.intervals import FEWEST, asked_again, group, units_of, wilson
from evals.scoring.stats.means import percentile_estimate

Values = list[float]


def again(labels: Sequence[str], times: int) -> list[str]:
    """The labels of all answers, where each question is asked so often."""
    return [asked_again(label, f"q{number}") for number, label in enumerate(labels)] * times


@settings(derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=12), st.integers(2, 5), st.integers(1, 8))
def test_the_same_answers_again_leave_a_mean_its_interval(values: Values, times: int, documents: int) -> None:
    """Whether questions are independent, few, or of few documents."""
    for labels in ([f"own {place}" for place in range(len(values))], [f"d{n % documents}" for n in range(len(values))]):
        once = mean_interval(values, labels, low=0, high=1)
        found = mean_interval(values * times, again(labels, times), low=0, high=1)
        assert found.interval == pytest.approx(once.interval)
        assert found.clusters == once.clusters


@pytest.mark.parametrize("count", [1, 2, 5, 6, 40])
def test_the_same_answers_again_leave_a_difference_its_p(count: int) -> None:
    """Four questions that all lose are too few for a verdict, however often each was asked."""
    labels, first, last = [f"own {n}" for n in range(count)], [1.0] * count, [0.0] * count
    found = paired_difference(first * 5, last * 5, again(labels, 5), low=0, high=1)
    assert found.p == pytest.approx(2 ** (1 - count))
    (metric,) = (one for one in select(["core"], []) if one.name == "recall_at_5")
    measured = measure(metric, first * 5, last * 5, again(labels, 5))
    assert (measured.differing, measured.p) == (count, pytest.approx(2 ** (1 - count)))


def test_times_of_few_questions_have_no_interval_and_no_test() -> None:
    """Two questions asked thirty times show how steady these two are."""
    labels = again(["own 0", "own 1"], 30)
    assert paired_percentile_difference([1.0, 2.0] * 30, [2.0, 3.0] * 30, 95, clusters=labels) is None
    assert jackknife_interval(lambda places: float(len(places)), 60, labels) is None
    alone = percentile_estimate([float(n) for n in range(60)], 50, again(["own 0"], 60))
    assert (alone.n, alone.clusters) == (60, 1)
    without_range = mean_interval([1.0, 2.0, 3.0], again(["own 0"], 3))
    assert without_range.interval is None


def test_under_six_documents_questions_are_the_units_and_not_their_answers() -> None:
    """Seven questions about two documents, each asked three times, are seven units."""
    labels = again([f"d{n % 2}" for n in range(7)], 3)
    grouped = group([float(n) for n in range(21)], labels)
    assert (len(grouped.sums), grouped.clusters, grouped.few) == (7, 2, True)
    assert len(set(units_of(labels, 21))) == 7
    many = again([f"d{n}" for n in range(FEWEST)], 3)
    assert len(group([1.0] * 18, many).sums) == FEWEST


def test_a_rate_of_answers_has_the_interval_of_questions() -> None:
    """Twelve of fifteen questions, each asked twenty times."""
    assert wilson(240, 300, times=20) == pytest.approx(wilson(12, 15))
