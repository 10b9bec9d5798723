"""Variance within and between questions, and pass^k."""

from itertools import combinations
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.scoring.repeats import components, pass_all


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_pass_all_is_the_share_of_draws_that_all_pass(answers: list[bool], data: st.DataObject) -> None:
    """Whatever k: counted one by one."""
    k = data.draw(st.integers(1, len(answers)))
    draws = [all(drawn) for drawn in combinations(answers, k)]
    assert pass_all(sum(answers), len(answers), k) == pytest.approx(fmean(draws))


def test_pass_all_is_unbiased() -> None:
    """Its mean over many samples is p to the k, which the share of passes to the k exceeds."""
    random = Random(3)  # noqa: S311
    samples = [sum(random.random() < 0.6 for _ in range(5)) for _ in range(20_000)]
    assert fmean(pass_all(passed, 5, 3) for passed in samples) == pytest.approx(0.6**3, abs=0.01)
    assert fmean((passed / 5) ** 3 for passed in samples) > 0.6**3 + 0.05


@pytest.mark.parametrize(("passed", "tried", "k"), [(1, 3, 0), (1, 3, 4), (4, 3, 1), (-1, 3, 1)])
def test_no_draw_no_chance(passed: int, tried: int, k: int) -> None:
    """What cannot be is refused."""
    with pytest.raises(ValueError, match="nothing can be drawn"):
        pass_all(passed, tried, k)


@pytest.mark.parametrize(
    ("groups", "within", "between", "reliability"),
    [
        pytest.param([[1, 3], [3, 5], [8, 10]], 2, 12, 12 / 14, id="MSW = 6/3, MSB = 2·26/2, m0 = 2"),
        pytest.param([[0, 1], [1, 0], [0, 1]], 0.5, 0, 0, id="an estimate below 0"),
        pytest.param([[1.0, 1.0], [1.0, 1.0]], 0, 0, None, id="nothing varies"),
        pytest.param([[1.0, 2.0]], 0.5, None, None, id="one question"),
        *[([[value] * 4] * 7, 0, 0, None) for value in (0.2, 0.1 + 0.2, 1 / 3, 1234.5678)],  # rounding is no variance
    ],
)
def test_components_of_worked_examples(
    groups: list[list[float]], within: float, between: float | None, reliability: float | None
) -> None:
    """By hand, and at their edges."""
    found = components(groups)
    assert (found.within, found.between, found.reliability) == pytest.approx((within, between, reliability))


@pytest.mark.parametrize("groups", [[], [[1.0]], [[1.0], [2.0]]])
def test_too_little_has_no_components(groups: list[list[float]]) -> None:
    """It takes a question twice."""
    assert components(groups) is None


def test_components_find_what_they_were_drawn_with() -> None:
    """Questions with a spread of 2, and answers with one of 1, in groups of different size."""
    random = Random(5)  # noqa: S311
    groups = []
    for number in range(3000):
        own = random.gauss(0, 2)
        groups.append([own + random.gauss(0, 1) for _ in range(2 + number % 3)])
    found = components(groups)
    assert found.within == pytest.approx(1, rel=0.05)
    assert found.between == pytest.approx(4, rel=0.08)
