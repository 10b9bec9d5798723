"""Pareto fronts by values, and what is beyond chance between two runs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole_runs import valued_run

from evals.compare.models import ParetoFront
from evals.compare.paired import compare_runs
from evals.compare.pareto import pareto
from evals.errors import ConfigError
from evals.scoring.saved import SavedRun

Made = Callable[..., SavedRun]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Make a run of values by metric."""

    def make(run_id: str, columns: dict[str, Sequence[float | None]], **about: Any) -> SavedRun:
        return valued_run(tmp_path, run_id, columns, **about)

    return make


def by_brute_force(points: Sequence[Sequence[float]], lower: Sequence[bool]) -> set[int]:
    """The front by the definition of dominance, written out."""
    front = set()
    for mine, point in enumerate(points):
        beaten = False
        for other, rival in enumerate(points):
            no_worse = all(r <= p if low else r >= p for r, p, low in zip(rival, point, lower, strict=True))
            better = any(r < p if low else r > p for r, p, low in zip(rival, point, lower, strict=True))
            beaten = beaten or (other != mine and no_worse and better)
        if not beaten:
            front.add(mine)
    return front


def test_fronts_of_300_random_sets_are_those_of_brute_force(made: Made) -> None:
    """Runs of 2 to 6, with ties; retrieval and citation more is better, latency less."""
    draw = np.random.default_rng(7)
    levels = [
        made(f"r{number}", {"mrr": [r] * 4, "citation_recall": [c] * 4, "latency_p50": [ms] * 4})
        for number, (r, c, ms) in enumerate(
            (r, c, ms) for r in (0.2, 0.5, 0.8) for c in (0.3, 0.6) for ms in (100, 900)
        )
    ]
    for _ in range(300):
        chosen = [levels[place] for place in draw.choice(len(levels), size=draw.integers(2, 7), replace=False)]
        points = [
            [each.results.columns[name].numbers[0] for name in ("mrr", "citation_recall", "latency_p50")]
            for each in chosen
        ]
        expected = {chosen[place].run.id for place in by_brute_force(points, (False, False, True))}
        assert set(pareto(chosen).front) == expected


def around(mean: float, spread: float = 0.1) -> list[float]:
    """Sixty values around a mean."""
    return np.clip(np.random.default_rng(3).normal(mean, spread, 60), 0, 1).tolist()


def test_a_third_run_changes_nothing_that_is_said_of_two_others(made: Made) -> None:
    """Fronts are by values, and each two runs are tested by themselves."""
    runs = [made(key, {"mrr": around(mean), "citation_recall": around(0.5)}) for key, mean in (("a", 0.7), ("b", 0.4))]
    bad = made("c", {"mrr": around(0.05), "citation_recall": around(0.05)})
    two, three = pareto(runs), pareto([*runs, bad])

    def said(front: ParetoFront) -> list[Any]:
        return [each for each in front.differences if "c" not in (each.first, each.last)]

    assert said(two) == said(three)
    assert two.front == three.front == ["a"]
    assert next(point.dominated_by for point in three.points if point.run_id == "c") == ["a", "b"]


def test_what_is_beyond_chance_is_said_for_each_two_runs(made: Made) -> None:
    """Thirty of sixty questions fell in retrieval, and none in citation."""
    runs = [
        made(key, {"mrr": [1.0] * good + [0.0] * (60 - good), "citation_recall": around(0.5)})
        for key, good in (("a", 60), ("b", 30))
    ]
    found = {each.objective: each.better for each in pareto(runs).differences}
    assert found == {"retrieval": "a", "citation": None}


def test_an_objective_that_a_run_lacks_is_left_out_and_named(made: Made) -> None:
    """Comparing a run with citations to one without."""
    runs = [
        made("a", {"mrr": [1.0] * 8, "citation_recall": [1.0] * 8}),
        made("b", {"mrr": [0.5] * 8, "citation_recall": [None] * 8}),
    ]
    front = pareto(runs)
    assert list(front.objectives) == ["retrieval"]
    assert front.left_out["citation"] == "no value in b"
    with pytest.raises(ConfigError, match="no objective in common"):
        pareto([made("c", {"mrr": [1.0] * 8}), made("d", {"citation_recall": [1.0] * 8})])


def test_a_comparison_of_several_runs_has_the_front_where_it_is_asked_for(made: Made) -> None:
    """`evals compare --pareto`."""
    runs = [made(key, {"mrr": [m] * 8, "citation_recall": [0.5] * 8}) for key, m in (("a", 0.5), ("b", 0.9))]
    assert compare_runs(runs).pareto is None
    front = compare_runs(runs, with_pareto=True).pareto
    assert front is not None
    assert front.front == ["b"]
