"""The interval of the weighted score, from what each question contributes to it."""

import random
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics.base import BaseMetric
from evals.metrics.registry import parse_metric
from evals.schemas import EvalRecord, Scorecard, WeightedScore
from evals.scoring.config import ScoringConfig
from evals.scoring.run_columns import ScoreTable
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings
from evals.scoring.stats import mean_interval
from evals.scoring.weighted import (
    Column,
    Influence,
    column_of,
    influence,
    make_weighted_score,
    score_interval,
    with_interval,
)

Columns = Mapping[str, Mapping[str, float]]
CONFIG = ScoringConfig()


def scored(columns: Columns, config: ScoringConfig = CONFIG) -> tuple[WeightedScore, Influence | None]:
    """The score of these values by metric and question, and what each question contributes."""
    metrics = [parse_metric(name) for name in columns]
    summaries = [
        summarise(metric, [metric.result(value) for value in columns[metric.name].values()], ScoreSettings())
        for metric in metrics
    ]
    weighted = make_weighted_score(Scorecard(metrics=summaries), config)
    plain = {name: Column.plain(values) for name, values in columns.items()}
    return weighted, influence(weighted, metrics, plain.get, config.thresholds, 0.95)


def table(metrics: Sequence[BaseMetric], records: Sequence[EvalRecord]) -> ScoreTable:
    """The results of these records."""
    return ScoreTable("document", metrics).add_all(records)


def column(*values: float) -> dict[str, float]:
    """The values of questions 0, 1, and so on."""
    return {f"q{place}": value for place, value in enumerate(values)}


ONE = ScoringConfig(weights={**dict.fromkeys(CONFIG.weights, 0.0), "accuracy": 1.0})


def test_the_interval_of_one_metric_is_that_of_the_metric() -> None:
    """Where nothing else feeds the score, it is the mean of that metric, and as sure."""
    values = [0.2, 0.4, 0.9, 1.0, 0.0, 0.7]
    weighted, found = scored({"answer_correctness": column(*values)}, ONE)
    assert weighted.score == pytest.approx(fmean(values))
    assert list(found.values.values()) == pytest.approx(values)
    assert (found.low, found.high) == (pytest.approx(0), pytest.approx(1))
    ours, theirs = score_interval(found, None, 0.95), mean_interval(values, low=0, high=1)
    assert ours.interval == pytest.approx(theirs.interval)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.data())
def test_the_questions_contributions_have_the_score_as_their_mean(data: Any) -> None:
    """Whichever of them have a value of which metric; and none lies outside what there can be."""
    names = ("answer_correctness", "faithfulness", "citation_recall", "mrr")
    keys = [f"q{place}" for place in range(12)]
    columns = {
        name: data.draw(st.dictionaries(st.sampled_from(keys), st.floats(0, 1), min_size=10, max_size=12))
        for name in names
    }
    columns["cost_per_query"] = data.draw(
        st.dictionaries(st.sampled_from(keys), st.floats(0, 0.3), min_size=2, max_size=12)
    )
    weighted, found = scored(columns)
    objectives = {**weighted.objectives, "cost": 1 - fmean(columns["cost_per_query"].values()) / 0.1}
    total = sum(weighted.weights.values())
    # A mean cost beyond the threshold is cut in the score, and each question's is not.
    unclipped = sum(weighted.weights[name] * value for name, value in objectives.items()) / total
    if objectives["cost"] >= 0:
        assert weighted.score == pytest.approx(unclipped)
    assert fmean(found.values.values()) == pytest.approx(weighted.score, abs=1e-9)
    assert all(found.low <= value <= found.high for value in found.values.values())


def test_perfect_answers_do_not_make_a_score_certain() -> None:
    """Twenty questions without a fault leave room for one."""
    best = column(*[1.0] * 20)
    weighted, found = scored({"answer_correctness": best, "faithfulness": best, "citation_recall": best})
    assert found is not None
    estimate = score_interval(found, None, 0.95)
    assert weighted.score == pytest.approx(1)
    assert estimate.interval[0] < 0.95
    assert estimate.interval[1] == 1


def test_metrics_that_fail_together_make_a_score_less_sure() -> None:
    """The same values, of questions that are bad in everything or in one thing alone."""
    first = column(*[1.0, 0.0] * 20)
    together = scored({"answer_correctness": first, "faithfulness": first, "citation_recall": first})[1]
    apart = scored({"answer_correctness": first, "faithfulness": column(*[0.0, 1.0] * 20), "citation_recall": first})[1]
    wide, narrow = (score_interval(found, None, 0.95) for found in (together, apart) if found)
    assert width(wide) > 1.5 * width(narrow)


def test_questions_of_one_document_make_a_score_less_sure() -> None:
    """Forty questions of eight documents, each of which is understood or not."""
    values = [float(place // 5 % 2) for place in range(40)]
    found = scored({"answer_correctness": column(*values)}, ONE)[1]
    assert found is not None
    labels = [f"d{place // 5}" for place in range(40)]
    alone, clustered = score_interval(found, None, 0.95), score_interval(found, labels, 0.95)
    assert width(clustered) > 1.7 * width(alone)
    assert clustered.clusters == 8


def test_latency_that_varies_makes_a_score_less_sure() -> None:
    """A percentile counts at the slope that its own interval shows; with too few values it is held as it is."""
    latency = ScoringConfig(weights={**dict.fromkeys(CONFIG.weights, 0.0), "latency": 1.0})
    spread = column(*[1_000.0 * place for place in range(1, 31)])
    weighted, found = scored({"latency_p50": spread}, latency)
    assert weighted.score == pytest.approx(0.5)
    assert found is not None
    assert 0.2 < width(score_interval(found, None, 0.95)) < 0.6
    assert scored({"latency_p50": column(*[15_000.0] * 30)}, latency)[1] is None
    assert scored({"latency_p50": column(1_000.0, 9_000.0)}, latency)[1] is None


def width(estimate: Any) -> float:
    """From end to end."""
    low, high = estimate.interval
    return float(high - low)


def test_the_interval_holds_the_true_score_as_often_as_it_says() -> None:
    """Over runs of sixty questions, of which a third has no citations and a tenth no answer to judge."""
    rng = random.Random(7)  # noqa: S311 - a simulation
    held = sum(simulated_run_holds(rng) for _ in range(400))
    assert 0.92 <= held / 400 <= 0.99


def simulated_run_holds(rng: random.Random) -> bool:
    """Whether the interval of one simulated run holds the score of all questions that there are."""
    columns: dict[str, dict[str, float]] = {"answer_correctness": {}, "faithfulness": {}, "citation_recall": {}}
    for place in range(60):
        hard = rng.random() < 0.3
        columns["answer_correctness"][f"q{place}"] = float(rng.random() < (0.4 if hard else 0.9))
        if rng.random() < 0.9:
            columns["faithfulness"][f"q{place}"] = rng.choice([0.0, 0.5]) if hard else rng.choice([0.5, 1.0])
        if rng.random() < 2 / 3:
            columns["citation_recall"][f"q{place}"] = float(rng.random() < (0.2 if hard else 0.8))
    true = (0.3 * (0.3 * 0.4 + 0.7 * 0.9) + 0.2 * (0.3 * 0.25 + 0.7 * 0.75) + 0.2 * (0.3 * 0.2 + 0.7 * 0.8)) / 0.7
    found = scored(columns)[1]
    estimate = score_interval(found, None, 0.95) if found else None
    low, high = estimate.interval if estimate and estimate.interval else (1.0, 0.0)
    return low <= true <= high


def test_a_question_without_an_answer_counts_as_it_is_told(build_run: Callable[..., Any]) -> None:
    """Left out, or as the worst value."""
    records: list[EvalRecord] = build_run("a", {"q1": {"mrr": 1.0}, "q2": "timeout"})[1]
    metric = parse_metric("mrr")
    lost = records[1].model_copy(update={"scores": [metric.undefined("no answer", missing="transport")]})
    results = table([metric], [records[0], lost]).column("mrr")
    assert column_of(metric, results, ScoreSettings(), ["q1", "q2"]) == Column({"q1": 1.0}, 1.0, 1)
    worst = column_of(metric, results, ScoreSettings(worst_on_error=True), ["q1", "q2"])
    assert worst == Column({"q1": 1.0, "q2": 0.0}, 0.5, 2)


def test_the_score_of_a_run_says_how_its_interval_was_made(build_run: Callable[..., Any]) -> None:
    """Ends, method, questions and documents, as every metric does."""
    values = {f"q{n}": {"answer_correctness": n % 2, "citation_recall": 1.0, "mrr": 0.5} for n in range(12)}
    golds = {f"q{n}": {"gold_passages": [{"text": "gold", "document_id": f"d{n // 2}"}]} for n in range(12)}
    run, records = build_run("a", values, questions=golds)
    metrics = [parse_metric(name) for name in ("answer_correctness", "citation_recall", "mrr")]
    found = with_interval(run.weighted_score, metrics, table(metrics, records), ScoreSettings(), CONFIG)
    assert (found.interval.n, found.interval.clusters, found.interval.method) == (12, 6, "t with two pseudo-values")
    assert found.ci[0] < (found.score or 0) < found.ci[1]
    nothing = with_interval(WeightedScore(score=None), metrics, table(metrics, records), ScoreSettings(), CONFIG)
    assert (nothing.ci, nothing.interval) == (None, None)
