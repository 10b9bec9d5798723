"""Means of values of which some are lost: weights, residuals, and intervals that know of how few they are."""

from itertools import product
from math import fsum
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.scoring.stats import mean_interval
from evals.scoring.stats.intervals import IntervalEstimate
from evals.scoring.stats.missing import Observation, Weighted, weigh, weighted_interval

PATHS = ((), ("whether",), ("claims",), ("claims", "support"), ("whether", "claims", "support"))

observations = st.lists(
    st.builds(
        lambda path, value, lost: Observation(path, None if lost and path else value, bool(lost and path)),
        st.sampled_from(PATHS),
        st.one_of(st.none(), st.floats(0, 1)),
        st.booleans(),
    ),
    min_size=1,
    max_size=30,
)


def weighted(*made: Observation) -> Weighted:
    found = weigh(made)
    assert found is not None
    return found


def settled(*values: float) -> list[Observation]:
    return [Observation((), value) for value in values]


def judged(*values: float | None, path: tuple[str, ...] = ("claims",)) -> list[Observation]:
    """None for a lost one."""
    return [Observation(path, value, value is None) for value in values]


def ends(found: IntervalEstimate | None) -> tuple[float, float]:
    assert found.interval is not None
    return found.interval


def test_a_stratum_counts_by_its_size_and_not_by_what_is_left_of_it() -> None:
    """Four settled zeros and six judged, of which three are left: (4·0 + 6·0.9)/10, where the plain mean is 0.386."""
    found = weighted(*settled(0, 0, 0, 0), *judged(1.0, 0.8, 0.9, None, None, None))
    assert found.mean == pytest.approx(0.54, abs=1e-15)
    assert found.weights == [1, 1, 1, 1, 2, 2, 2, 0, 0, 0]
    assert (found.size, found.heaviest) == (10, 2)
    assert fmean(found.values) == pytest.approx(0.3857, abs=1e-4)


def test_what_turns_out_to_have_no_value_is_expected_of_lost_ones_too() -> None:
    """Of four that needed a verdict two are there, one without a value: the other two count as one value."""
    found = weighted(*settled(0.0), *judged(1.0, None, None), Observation(("claims",)))
    assert (found.size, found.mean) == (3.0, pytest.approx(2 / 3))


def test_values_of_two_verdicts_stand_for_more_than_those_of_one() -> None:
    """Half of the first verdicts are lost, and half of the second ones: 2 for the first alone, 4 for both."""
    first = [*judged(1.0, path=("a",)), *judged(None, None, path=("a",))]
    found = weighted(*first, *judged(0.0, None, path=("a", "b")), *judged(None, path=("a",)))
    assert found.weights == pytest.approx([2, 0, 0, 4, 0, 0])
    assert found.size == pytest.approx(6)


def test_where_few_hang_on_a_verdict_that_nobody_got_the_others_stand_for_them() -> None:
    """One refusal in eleven is counted by the answers; where it is one in three, nothing is known of a third."""
    found = weighted(*settled(0.0), *judged(None, path=("whether",)), *judged(*[0.5] * 10))
    assert found.weights == pytest.approx([1, 0, *[1.1] * 10])
    assert weigh([*settled(0.0), *judged(None, path=("whether",)), *judged(1.0, 0.5)]) is None
    assert weigh([*settled(0.0), *judged(None, None)]) is None


def test_a_verdict_is_lost_as_often_to_all_who_need_it() -> None:
    """Three of six are there, of those who needed another before as of the rest; all judged ones are six again."""
    early = judged(None, path=("a",))
    found = weighted(*judged(1.0, 1.0, None, None, path=("b",)), *judged(0.0, None, path=("a", "b")), *early)
    rest = 7 / (2 * 2 + 2 * 1.5)
    assert found.weights == pytest.approx([2 * rest, 2 * rest, 0, 0, 3 * rest, 0, 0])
    assert found.size == pytest.approx(7)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(made=observations)
def test_what_holds_of_all_samples(made: list[Observation]) -> None:
    """Weights add up to what there may be, residuals to 0; without losses all is as of a plain mean."""
    found = weigh(made)
    needed = [each for each in made if each.path]
    if bool(needed) and all(each.lost for each in needed):
        assert found is None
    if found is None or not found.values:
        return
    most = len(needed) + sum(each.value is not None for each in made if not each.path)
    assert len(found.values) - 1e-9 <= found.size <= most + 1e-9
    assert min(found.values) <= found.mean <= max(found.values)
    residuals = found.residuals()
    assert fsum(residuals) == pytest.approx(0, abs=1e-9)
    if not any(each.lost for each in made):
        assert found.uniform
        assert set(found.weights) <= {0.0, 1.0}
        plain = [0.0 if each.value is None else each.value - found.mean for each in made]
        assert residuals == pytest.approx(plain, abs=1e-12)


def test_over_all_ways_to_lose_the_mean_is_that_without_losses() -> None:
    """Each verdict is lost with one half, those of two steps at either; where of each kind one is left, no bias is."""
    one, two = (0.0, 0.6, 1.0), (0.2, 0.9)
    clean = fmean([0.0, 0.0, *one, *two])
    found: list[float] = []
    for lost in product((False, True), repeat=len(one) + 2 * len(two)):
        first = [Observation(("a",), None if gone else value, gone) for value, gone in zip(one, lost, strict=False)]
        steps = zip(two, lost[3:5], lost[5:], strict=True)
        second = [
            Observation(("a",), None, lost=True) if early else Observation(("a", "b"), None if late else value, late)
            for value, early, late in steps
        ]
        begun = [each for each in second if len(each.path) == 2]
        if all(each.lost for each in first) or not begun or all(each.lost for each in begun):
            continue
        found.append(weighted(*settled(0.0, 0.0), *first, *second).mean)
    assert fmean(found) == pytest.approx(clean, abs=0.01)


def test_residuals_give_the_variance_of_the_strata() -> None:
    """Between the strata by all questions, within the judged one by the verdicts that are there."""
    found = weighted(*settled(0, 0, 0, 0), *judged(1.0, 0.8, 0.6, None, None, None))
    within = 4 * fsum((value - 0.8) ** 2 for value in (1.0, 0.8, 0.6))
    between = 4 * 0.48**2 + 6 * (0.8 - 0.48) ** 2
    assert fsum(one * one for one in found.residuals()) == pytest.approx(within + between)


def test_an_interval_of_nothing_lost_is_that_of_the_mean() -> None:
    """With weights of 1 the two methods are one, clustered or not."""
    values = [0.0, 0.25, 1.0, 1.0, 0.5, 0.75, 0.2, 0.9, 1.0, 0.1, 0.4, 0.8]
    labels = [f"d{n // 2}" for n in range(12)]
    found = weighted(*settled(*values[:4]), *judged(*values[4:]))
    for clusters in (None, labels):
        ours = ends(weighted_interval(found, clusters, low=0, high=1))
        assert ours == pytest.approx(ends(mean_interval(values, clusters, low=0, high=1)), abs=1e-12)


def test_an_interval_grows_with_what_is_lost() -> None:
    """The fewer verdicts there are, the wider; one verdict for sixty questions says next to nothing."""
    widths = []
    for there in (60, 36, 12, 1):
        found = weighted(*settled(*[0.0] * 40), *judged(*[0.8] * there, *[None] * (60 - there)))
        low, high = ends(weighted_interval(found, low=0, high=1))
        widths.append(high - low)
    assert widths == sorted(widths)
    assert widths[-1] > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0.2, 0.4])
@pytest.mark.parametrize("size", [1, 5])
def test_an_interval_holds_the_truth(lost: float, size: int) -> None:
    """Settled zeros and judged values that hang together by document: 93 % of 400 intervals hold the mean."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(400):
        refused = rng.random(100) < 0.4
        levels = np.repeat(rng.beta(4, 1, 100 // size), size)
        values = np.clip(0.5 * levels + 0.5 * rng.beta(4, 1, 100), 0, 1)
        made = [
            Observation((), 0.0) if no else Observation(("claims",), None if gone else float(value), bool(gone))
            for no, value, gone in zip(refused, values, rng.random(100) < lost, strict=True)
        ]
        labels = [str(place // size) for place in range(100)]
        low, high = ends(weighted_interval(weighted(*made), labels, low=0, high=1))
        held += low <= 0.6 * 0.8 <= high
    assert held / 400 >= 0.93


def test_values_without_a_range_have_an_interval_too() -> None:
    """Student's t over the same residuals; one value has none."""
    found = weighted(*settled(1.0, 2.0, 3.0), *judged(5.0, 7.0, None, None))
    low, high = ends(weighted_interval(found))
    assert low < found.mean < high
    alone = weighted_interval(weighted(*judged(5.0, None)))
    assert alone.interval is None


def test_a_percentile_counts_what_values_stand_for() -> None:
    """Three of five lie at or below 1 where the one settled and the judged count as they are, else one of four."""
    found = weighted(*settled(1.0, 1.0), *judged(3.0, 4.0, None, None))
    assert [found.percentile(q) for q in (33, 50, 67, 100)] == [1.0, 3.0, 4.0, 4.0]
