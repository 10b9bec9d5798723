"""The Pareto front."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.compare import SavedRun, compare_runs
from evals.compare.models import ParetoReport
from evals.compare.objectives import stand
from evals.compare.pareto import dominates
from evals.compare.statistics import measure
from evals.metrics.registry import parse_metric
from evals.scoring.stats.differences import sign_flip_p

Saved = Callable[..., SavedRun]
deterministic = settings(derandomize=True, deadline=None, max_examples=300)
DIRECTIONS: dict[str, Any] = {"quality": "higher", "citation": "higher", "latency": "lower"}
points = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.25, 0.5, 1.0]) for name in DIRECTIONS})


@deterministic
@given(points)
def test_no_run_dominates_itself(point: dict[str, float]) -> None:
    """Dominance is irreflexive."""
    assert not dominates(point, point, DIRECTIONS)


@deterministic
@given(points, points, points)
def test_dominance_carries_on(first: dict[str, float], second: dict[str, float], third: dict[str, float]) -> None:
    """Dominance is transitive."""
    if dominates(first, second, DIRECTIONS) and dominates(second, third, DIRECTIONS):
        assert dominates(first, third, DIRECTIONS)


FEW_OBJECTIVES = {"scoring": {"weights": {"accuracy": 0.1, "faithfulness": 0.0, "citation": 0.0}}}
"""Weights of which retrieval and latency are half."""


def values(mrr: float, ms: float, usd: float | None = None, n: int = 4) -> dict[str, dict[str, float | None]]:
    return {f"q{i}": {"mrr": mrr, "latency_p50": ms, "cost_per_query": usd} for i in range(n)}


def pareto(runs: list[SavedRun]) -> ParetoReport:
    report = compare_runs(runs, pareto=True).pareto
    assert report is not None
    return report


def in_turn(saved: Saved, **runs: Any) -> list[SavedRun]:
    """Runs that were asked in turn, so that their latency compares."""
    return [saved(name, run, interleaved_with=[other for other in runs if other != name]) for name, run in runs.items()]


def test_a_run_that_is_better_on_one_and_worse_on_none_dominates(saved: Saved) -> None:
    """The front is what nobody dominates beyond chance; the front by values, and the best of each, stand beside it."""
    runs = in_turn(
        saved,
        good=values(0.9, 100.0, n=60),
        poor=values(0.5, 100.0, n=60),
        fast=values(0.5, 20.0, n=60),
        slow=values(0.5, 500.0, n=60),
    )
    report = pareto(runs)
    assert report.objectives == {"retrieval": "higher", "latency": "lower"}
    assert report.front == report.front_by_values == ["good", "fast"]
    dominated = {point.run_id: point.dominated_by for point in report.points}
    assert {name: sorted(by) for name, by in dominated.items()} == {
        "good": [],
        "poor": ["fast", "good"],
        "fast": [],
        "slow": ["fast", "good", "poor"],
    }
    assert report.best == {"retrieval": ["good"], "latency": ["fast"]}
    assert [point.objectives["latency"] for point in report.points] == [100.0, 100.0, 20.0, 500.0]
    first = report.dominance[0]
    assert (first.run, first.over) == ("good", "poor")
    assert (first.better_on, first.undecided) == (["retrieval"], ["latency"])


def falling_silent(run: SavedRun, count: int) -> SavedRun:
    """The same run; the first so many answers decline."""
    refusal = {"answer": "I don't have enough information to answer this question."}
    silent = [
        record.model_copy(update={"response": record.response.model_copy(update=refusal)})
        for record in run.records[:count]
        if record.response is not None
    ]
    return SavedRun(run.run, [*silent, *run.records[count:]])


def test_a_server_that_refuses_what_can_be_answered_is_dominated(saved: Saved) -> None:
    """Its retrieval is as good, and nothing else in the score sees what it does not say."""
    golds = {f"q{i}": {"gold_passages": [{"text": "gold"}]} for i in range(60)}
    runs = [saved(name, values(0.5, 20.0, n=60), questions=golds) for name in ("speaks", "silent")]
    runs[1] = falling_silent(runs[1], 20)
    report = pareto(runs)
    assert report.objectives["abstention_rate_answerable"] == "lower"
    assert [point.objectives["abstention_rate_answerable"] for point in report.points] == [0.0, pytest.approx(1 / 3)]
    assert (report.front, report.best["abstention_rate_answerable"]) == (["speaks"], ["speaks"])
    (found,) = report.dominance
    assert (found.run, found.over, found.better_on) == ("speaks", "silent", ["abstention_rate_answerable"])
    assert {test.n for test in report.tests if test.better} == {60}


def test_to_answer_everything_is_no_way_to_dominate(saved: Saved) -> None:
    """Who answers what cannot be answered too loses as much as is won: neither run dominates, and accuracy is equal."""
    parts = {f"q{i}": {"is_unanswerable": i < 20} for i in range(60)}
    names = ("unanswerable_accuracy", "abstention_false_negative_rate")
    careful = {
        f"q{i}": dict(zip(names, (1.0, 0.0) if i < 20 else (float(i >= 40), None), strict=True)) for i in range(60)
    }
    careless = {f"q{i}": dict(zip(names, (0.0, 1.0) if i < 20 else (1.0, None), strict=True)) for i in range(60)}
    runs = [
        falling_silent(saved("careful", careful, questions=parts), 40),
        saved("careless", careless, questions=parts),
    ]
    report = pareto(runs)
    assert [point.objectives["accuracy"] for point in report.points] == [pytest.approx(2 / 3)] * 2
    better = {test.objective: test.better for test in report.tests if test.better}
    assert better == {"abstention_rate_answerable": "careless", "abstention_false_negative_rate": "careful"}
    assert report.dominance == []


def test_where_nobody_refuses_what_can_be_answered_that_is_no_objective(saved: Saved) -> None:
    """It would share the level with those that differ."""
    unanswerable = {"q0": {"is_unanswerable": True}}
    runs = [saved(name, values(0.5, 20.0, n=60), questions=unanswerable) for name in ("one", "other")]
    runs = [falling_silent(run, 1) for run in runs]
    report = pareto(runs)
    assert set(report.objectives) == {"retrieval", "latency"}


def test_a_difference_of_few_questions_is_a_tie(saved: Saved) -> None:
    """By its values one run dominates; beyond chance none does."""
    runs = in_turn(saved, good=values(0.9, 100.0), poor=values(0.8, 200.0))
    report = pareto(runs)
    assert (report.front, report.front_by_values, report.dominance) == (["good", "poor"], ["good"], [])
    assert {test.reason for test in report.tests} == {"fewer than 6 questions differ", "too few pairs"}


def test_latency_of_runs_that_were_not_asked_in_turn_is_undecided(saved: Saved) -> None:
    """It is an objective by its values alone."""
    runs = [saved("a", values(0.9, 100.0, n=60)), saved("b", values(0.9, 900.0, n=60))]
    report = pareto(runs)
    assert (report.front, report.front_by_values) == (["a", "b"], ["a"])
    assert any("made at different times" in (test.reason or "") for test in report.tests)


def test_answers_are_an_objective_where_some_do_not_come(saved: Saved) -> None:
    """A server that answers what is easy alone dominates nobody, and has no better score."""
    every = {f"q{n}": {"mrr": float(n < 30)} for n in range(60)}
    easy = {key: value if value["mrr"] else "timeout" for key, value in every.items()}
    report = pareto([saved("every", every), saved("easy", easy)])
    assert report.objectives == {"retrieval": "higher", "answer_rate": "higher"}
    assert report.weights == {"retrieval": 0.15}
    assert report.front == ["every"]


def noisy(seed: int, better: float, n: int = 200) -> dict[str, dict[str, float | None]]:
    """Two objectives of zeros and ones, one of them fed by two metrics, and one that measures nothing."""
    rng = random.Random(seed)  # noqa: S311

    def value(chance: float) -> float:
        return float(rng.random() < chance)

    return {
        f"q{i}": {
            "mrr": value(0.6 + better),
            "citation_precision": value(0.6 + better),
            "citation_recall": value(0.6 + better) if i % 3 else None,
            "unanswerable_accuracy": value(0.8),
        }
        for i in range(n)
    }


@pytest.mark.slow
def test_of_five_equal_runs_none_dominates(saved: Saved) -> None:
    """By their values some always do."""
    by_values = beyond_chance = 0
    for seed in range(6):
        runs = [saved(f"r{place}", noisy(10 * seed + place, 0.0)) for place in range(5)]
        report = pareto(runs)
        by_values += len(report.front_by_values) < 5
        beyond_chance += bool(report.dominance)
    assert (by_values > 2, beyond_chance) == (True, 0)


def test_a_run_that_is_better_on_two_objectives_dominates(saved: Saved) -> None:
    """The third is a tie, and is named as one; a group of metrics counts as one objective."""
    runs = [saved("good", noisy(1, 0.25)), *(saved(f"r{place}", noisy(place, 0.0)) for place in (2, 3))]
    report = pareto(runs)
    assert report.front == ["good"]
    assert {(one.run, one.over) for one in report.dominance} == {("good", "r2"), ("good", "r3")}
    assert all(one.undecided == ["accuracy"] for one in report.dominance)
    assert report.fed_by["citation"] == ["citation_precision", "citation_recall"]


def test_scores_are_over_the_common_objectives(saved: Saved) -> None:
    """An objective that one run lacks feeds no score, and is named as left out."""
    runs = [saved("a", values(0.9, 100.0, usd=0.05), eval_config=FEW_OBJECTIVES), saved("b", values(0.9, 100.0))]
    report = pareto(runs)
    assert report.scores[0] == report.scores[1] == pytest.approx((0.15 * 0.9 + 0.05 * (1 - 0.1 / 30)) / 0.2)
    assert report.left_out["cost"] == "cost_per_query: no value in b"
    assert report.weights == {"retrieval": 0.15, "latency": 0.05}


def test_there_are_no_scores_over_less_than_half_of_the_weight(saved: Saved) -> None:
    """Latency and one objective of quality are no headline, neither alone nor side by side."""
    report = pareto([saved("a", values(0.9, 100.0)), saved("b", values(0.5, 100.0))])
    assert (report.scores, report.front) == ([None, None], ["a", "b"])  # three questions tell nothing apart


def test_a_judged_run_is_compared_by_what_the_other_has_too(saved: Saved) -> None:
    """An objective is fed by the same metrics in every run, so that a judge makes no run worse."""
    plain = {f"q{n}": {"unanswerable_accuracy": 0.0, "answer_correctness": None} for n in range(4)}
    judged = {f"q{n}": {"unanswerable_accuracy": 0.0, "answer_correctness": 1.0} for n in range(4)}
    report = pareto([saved("plain", plain), saved("judged", judged)])
    assert report.fed_by == {"accuracy": ["unanswerable_accuracy"]}
    assert report.front == ["plain", "judged"]
    assert "answer_correctness: no value in plain" in report.left_out["a part of accuracy"]


def test_latency_is_no_objective_between_runs_of_different_concurrency(saved: Saved) -> None:
    """Neither the front nor the scores know it."""
    scoring = {"scoring": {"weights": {"accuracy": 0.0, "faithfulness": 0.0, "citation": 0.0, "cost": 0.0}}}
    slow = saved("a", values(0.9, 900.0), concurrency=16, eval_config=scoring)
    runs = [slow, saved("b", values(0.9, 100.0), concurrency=1)]
    report = pareto(runs)
    assert list(report.objectives) == ["retrieval"]
    assert "different concurrency" in report.left_out["latency"]
    assert report.front == ["a", "b"]
    assert report.scores == [pytest.approx(0.9), pytest.approx(0.9)]


def test_the_weights_are_those_of_the_first_run(saved: Saved) -> None:
    """Its `scoring` decides what counts how much."""
    scoring = {"scoring": {"weights": {"retrieval": 1.0, "latency": 0.0}}}
    runs = [saved("a", values(0.7, 100.0), eval_config=scoring), saved("b", values(0.9, 500.0))]
    report = pareto(runs)
    assert report.weights == {"retrieval": 1.0}
    assert report.left_out["latency"] == "its weight is 0"
    assert report.scores == [pytest.approx(0.7), pytest.approx(0.9)]


def test_a_run_that_failed_stands_on_no_front_and_beats_nobody(saved: Saved) -> None:
    """Its few answers may look good; they are of a server that could not be evaluated."""
    good = saved("good", {"q1": {"mrr": 0.5}, "q2": {"mrr": 0.5}})
    refused = saved("refused", {"q1": {"mrr": 1.0}, "q2": {"mrr": 1.0}}, status="failed")
    report = pareto([good, refused])
    assert report.front == ["good"]
    assert [point.dominated_by for point in report.points] == [[], []]


def test_what_is_left_of_rounding_makes_no_run_better(saved: Saved) -> None:
    """0 + 0.1 + 0.2 and 0 + 0 + 0.3 have the same mean, which differs in its last digit."""
    runs = [
        saved(name, {f"q{n}": {"mrr": value} for n, value in enumerate(values)})
        for name, values in (("a", [0.0, 0.1, 0.2]), ("b", [0.0, 0.0, 0.3]))
    ]
    report = pareto(runs)
    assert report.front == ["a", "b"]
    assert report.best == {"retrieval": ["a", "b"]}


def test_an_objective_of_metrics_in_several_units_has_none(saved: Saved) -> None:
    """Milliseconds and dollars are brought to one scale to be averaged, on which more is better."""
    feeds = {"scoring": {"feeds": {"latency": ["latency_p50", "cost_per_query"]}, "thresholds": {"ms": 1000, "USD": 1}}}
    runs = [saved("a", values(0.5, 500.0, usd=0.1), eval_config=feeds), saved("b", values(0.5, 100.0, usd=0.1))]
    report = pareto(runs)
    assert (report.units["latency"], report.objectives["latency"]) == ("ratio", "higher")
    assert [point.objectives["latency"] for point in report.points] == [pytest.approx(0.7), pytest.approx(0.9)]
    assert (report.units["cost"], report.objectives["cost"]) == ("USD", "lower")


def test_an_objective_of_several_metrics_is_tested_by_what_each_question_adds() -> None:
    """A question that is asked the other way round changes all its metrics: of three questions, p is 2 in 8."""
    recall, precision = parse_metric("citation_recall"), parse_metric("citation_precision")
    fed = [
        measure(recall, [0.5, 0.5, 0.5], [1.0, 0.5, 0.75], [*"abc"], ids=[*"abc"]),
        measure(precision, [0.5, 0.5], [0.25, 1.0], [*"ab"], ids=[*"ab"]),
    ]
    found = stand(fed, {key: key for key in "abc"}, {})
    added = [0.5 / 6 - 0.25 / 4, 0.5 / 4, 0.25 / 6]
    assert found.gain == pytest.approx(sum(added))
    assert (found.p, found.differing) == (sign_flip_p(added), 3)
    assert found.p == 2 / 8


def spread(n: int, best: int) -> dict[str, dict[str, float | None]]:
    """Values of which the first are 1: the three metrics of retrieval alike, and times of their own."""
    feeds = ("mrr", "recall_at_5", "ndcg_at_10")
    return {f"q{i}": {**dict.fromkeys(feeds, float(i < best)), "latency_p50": 100.0 + i} for i in range(n)}


def test_the_value_of_each_objective_has_its_interval(saved: Saved) -> None:
    """That of three metrics which say the same is that of each of them; that of an amount is its metric's own."""
    runs = in_turn(saved, a=spread(60, 20), b=spread(60, 40))
    comparison = compare_runs(runs, pareto=True)
    report = comparison.pareto
    assert report is not None
    rows = {row.name: row for row in comparison.metrics}
    assert [own["latency"] for own in report.intervals] == rows["latency_p50"].intervals
    for point, own, alone in zip(report.points, report.intervals, rows["mrr"].intervals, strict=True):
        assert alone is not None
        low, high = own["retrieval"]
        assert low < point.objectives["retrieval"] < high
        assert (low, high) == pytest.approx(alone, abs=0.02)


def test_one_question_says_next_to_nothing(saved: Saved) -> None:
    """The interval of its value is all that there can be, and a percentile of one value has none."""
    runs = in_turn(saved, a=values(0.5, 100.0, n=1), b=values(1.0, 90.0, n=1))
    report = pareto(runs)
    assert list(report.objectives) == ["retrieval", "latency"]
    assert report.intervals == [{"retrieval": (0.0, 1.0)}, {"retrieval": (0.0, 1.0)}]
