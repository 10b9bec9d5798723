"""What a row of a comparison says: its level, its interval, and what it could have shown."""

import random
from collections.abc import Callable
from math import ceil
from typing import Any

import pytest

from evals.compare import SavedRun, compare_runs
from evals.compare.models import Comparison, MetricPair
from evals.errors import ConfigError

Saved = Callable[..., SavedRun]


def noisy(
    seed: int, names: tuple[str, ...], n: int = 120, worse: str | None = None
) -> dict[str, dict[str, float | None]]:
    """Zeros and ones at random; of one metric fewer ones."""
    rng = random.Random(seed)  # noqa: S311
    return {f"q{i}": {name: float(rng.random() < (0.45 if name == worse else 0.8)) for name in names} for i in range(n)}


NAMES = ("recall_at_5", "mrr", "ndcg_at_10", "citation_recall", "citation_precision", "unanswerable_accuracy")


def compared(saved: Saved, seed: int, worse: str | None = None, **changes: Any) -> Comparison:
    runs = [saved("a", noisy(seed, NAMES), **changes), saved("b", noisy(seed + 1, NAMES, worse=worse))]
    return compare_runs(runs)


def by_name(comparison: Comparison) -> dict[str, MetricPair]:
    return {pair.name: pair for pair in comparison.pairs}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_verdict_interval_and_adjusted_p_never_contradict_each_other(saved: Saved, seed: int) -> None:
    """In every row: a verdict, an interval without 0, and an adjusted p below 0.05 come together."""
    for worse in (None, "citation_recall", "mrr"):
        for pair in compared(saved, seed, worse).pairs:
            assert pair.interval is not None
            assert pair.p is not None
            assert pair.q is not None
            assert pair.level is not None
            found = pair.verdict in {"better", "worse", "changed"}
            assert found == (pair.q < 0.05) == (pair.p < pair.level) == (not pair.interval[0] <= 0 <= pair.interval[1])


def test_the_primary_metric_of_a_group_is_configurable(saved: Saved) -> None:
    """By the baseline's configuration; the default is the first of a list that both runs have."""
    plain = by_name(compared(saved, 1))
    assert [name for name, pair in plain.items() if pair.primary] == [
        "recall_at_5", "citation_recall", "unanswerable_accuracy",
    ]  # fmt: skip
    told = by_name(compared(saved, 1, eval_config={"scoring": {"primary": {"retrieval": "mrr"}}}))
    assert [name for name, pair in told.items() if pair.primary] == ["mrr", "citation_recall", "unanswerable_accuracy"]
    assert (plain["mrr"].level, told["mrr"].level) == (pytest.approx(0.05 * 0.05 / 3), pytest.approx(0.05 * 0.9 / 3))


def test_the_primary_metric_of_a_comparison_is_tested_at_five_percent(saved: Saved) -> None:
    """The others keep their levels among themselves."""
    runs = [saved("a", noisy(1, NAMES)), saved("b", noisy(2, NAMES))]
    pairs = by_name(compare_runs(runs, primary="citation_precision"))
    assert (pairs["citation_precision"].level, pairs["citation_precision"].family) == (0.05, "primary")
    assert pairs["citation_precision"].q == pairs["citation_precision"].p
    assert pairs["recall_at_5"].level == pytest.approx(0.05 * 0.9 / 3)
    with pytest.raises(ConfigError, match="the primary metric faithfulness has no values in both a and b"):
        compare_runs(runs, primary="faithfulness")


def test_cost_is_a_family_of_its_own(saved: Saved) -> None:
    """However many metrics of quality there are."""
    first = {key: {**value, "cost_per_query": 0.01 * (i % 9)} for i, (key, value) in enumerate(noisy(1, NAMES).items())}
    last = {key: {**value, "cost_per_query": 0.02 + (value["cost_per_query"] or 0)} for key, value in first.items()}
    last["q0"]["cost_per_query"] = 0.0
    pair = by_name(compare_runs([saved("a", first), saved("b", last)]))["cost_per_query"]
    assert (pair.level, pair.family, pair.verdict) == (0.05, "performance", "worse")


def test_a_row_says_what_it_could_have_shown(saved: Saved) -> None:
    """The smallest difference, the questions that 0.05 takes, effect size, ties, and what moved."""
    first = {f"q{n}": {"mrr": 0.5 if n else 0.25} for n in range(100)}
    last = {key: {"mrr": 0.5 if int(key[1:]) >= 10 else 1.0} for key in first}
    pair = by_name(compare_runs([saved("a", first), saved("b", last)]))["mrr"]
    assert (pair.ties, pair.risen, pair.fallen) == (90, [f"q{n}" for n in range(10)], [])
    assert pair.effect_size == pytest.approx(0.0525 / 0.1582, abs=0.005)
    size, square = (2.8125 / 10) ** 0.5, (1.959964 + 0.841621) ** 2
    noise = 2.8125 - 5.25 * size
    assert 100 * pair.smallest_difference == pytest.approx(
        (square * (noise + size * 100 * pair.smallest_difference)) ** 0.5, rel=1e-6
    )
    assert pair.questions_needed == ceil(square * (noise / 100 + 0.05 * size) / 0.05**2)
