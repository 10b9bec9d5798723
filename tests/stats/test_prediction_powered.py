"""Means corrected by labels: against the formulas, and at their edges."""

import random
from statistics import fmean, variance

import pytest

from evals.scoring.stats.missing import Part, prediction_powered_mean


def drawn(n: int, seed: int, prevalence: float = 0.6, right: float = 0.85) -> tuple[list[float], list[float]]:
    """Labels, and the verdicts of a judge that is right so often."""
    chance = random.Random(seed)  # noqa: S311
    labels = [float(chance.random() < prevalence) for _ in range(n)]
    return labels, [label if chance.random() < right else 1 - label for label in labels]


def test_the_value_and_the_weight_are_those_of_the_papers_formula() -> None:
    """Lambda = Cov(Y, f) / ((1 + n/N) Var(f)); value = lambda mean_N(f) + mean_n(Y - lambda f)."""
    labels, judged = drawn(100, 1)
    _, others = drawn(900, 2)
    found = prediction_powered_mean(labels, Part(judged), Part(others))
    covariance = sum((a - fmean(labels)) * (b - fmean(judged)) for a, b in zip(labels, judged, strict=True)) / 99
    power = covariance / ((1 + 100 / 900) * variance([*judged, *others]))
    assert found.power == pytest.approx(power)
    errors = [label - power * score for label, score in zip(labels, judged, strict=True)]
    assert found.value == pytest.approx(power * fmean(others) + fmean(errors))
    half = (found.interval[1] - found.interval[0]) / 2
    plain = 1.96 * (power**2 * variance(others) / 900 + variance(errors) / 100) ** 0.5
    assert plain < half < 1.15 * plain


def test_a_judge_that_says_nothing_has_no_weight() -> None:
    """Then the labels alone count, as they do where no other answer is there."""
    labels, judged = drawn(50, 3)
    for useless in (Part([1.0] * 400), Part([])):
        scores = [1.0] * 50 if useless.values else judged
        found = prediction_powered_mean(labels, Part(scores), useless)
        assert found.power == 0
        assert found.value == pytest.approx(fmean(labels))


def test_a_good_judge_narrows_the_interval() -> None:
    """Against that of the labels alone."""
    labels, judged = drawn(150, 4, right=0.97)
    _, others = drawn(3000, 5, right=0.97)
    with_judge = prediction_powered_mean(labels, Part(judged), Part(others))
    without = prediction_powered_mean(labels, Part(judged), Part([]))
    assert _width(with_judge.interval) < 0.7 * _width(without.interval)


def test_clusters_widen_the_interval() -> None:
    """Ten answers about one document that share their label say little more than one."""
    labels, judged = drawn(20, 6)
    often, said = [label for label in labels for _ in range(10)], [score for score in judged for _ in range(10)]
    clusters = [f"doc {n // 10}" for n in range(200)]
    alone = prediction_powered_mean(often, Part(said), Part([]))
    together = prediction_powered_mean(often, Part(said, clusters), Part([]))
    assert _width(together.interval) > 2 * _width(alone.interval)


@pytest.mark.parametrize("count", [0, 9])
def test_few_labels_correct_nothing(count: int) -> None:
    """With nine there is no interval worth its name."""
    labels, judged = drawn(count, 7)
    assert prediction_powered_mean(labels, Part(judged), Part([1.0, 0.0])) is None


def _width(interval: tuple[float, float]) -> float:
    return interval[1] - interval[0]
