"""The one number over all objectives."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.config import ScoringConfig
from evals.schemas import MetricCounts, MetricGroup, MetricSummary, Scorecard
from evals.scoring.weighted import make_weighted_score

UNITS = {"cost_per_query": "USD", "latency_p50": "ms"}


def scorecard(**values: float | None) -> Scorecard:
    """A scorecard with these values; those of cost and latency are dollars and milliseconds."""
    return Scorecard(
        metrics=[
            MetricSummary(
                name=name,
                value=value,
                group=MetricGroup.RETRIEVAL,
                sample_size=1,
                counts=MetricCounts(scored=1),
                unit=UNITS.get(name, "ratio"),
                higher_is_better=name not in UNITS and not name.startswith("abstention"),
            )
            for name, value in values.items()
        ]
    )


@pytest.fixture
def score() -> Callable[..., float | None]:
    """The weighted score of these values with the default configuration."""
    return lambda **values: make_weighted_score(scorecard(**values), ScoringConfig()).score


def test_the_published_example_adds_up() -> None:
    """Weights of .30, .15 and .20 on .85, .72 and .60 give .743, over the sum of the weights present."""
    card = scorecard(answer_correctness=0.85, mrr=0.72, citation_recall=0.60)
    found = make_weighted_score(card, ScoringConfig())
    assert found.objectives == {"accuracy": 0.85, "citation": 0.60, "retrieval": 0.72}
    assert found.weights == {"accuracy": 0.30, "citation": 0.20, "retrieval": 0.15}
    assert found.score == pytest.approx(0.743, abs=5e-4)


def test_all_objectives_are_weighed_by_default() -> None:
    """With every objective fed the weights add up to one and nothing is left out."""
    card = scorecard(answer_correctness=1, faithfulness=1, citation_recall=1, mrr=1, cost_per_query=0, latency_p50=0)
    found = make_weighted_score(card, ScoringConfig())
    assert found.score == pytest.approx(1)
    assert found.left_out == {}
    assert found.weights == ScoringConfig().weights


def test_an_objective_is_the_mean_of_the_metrics_that_have_a_value() -> None:
    """A metric without value is passed over, and what fed an objective is told."""
    card = scorecard(recall_at_5=0.5, mrr=1.0, ndcg_at_10=None, recall_at_1=0.0)
    found = make_weighted_score(card, ScoringConfig())
    assert found.objectives == {"retrieval": 0.75}
    assert found.fed_by == {"retrieval": ["recall_at_5", "mrr"]}


def test_what_nothing_feeds_is_left_out_and_named() -> None:
    """Objectives without any value are no zeros: the others are weighed alone."""
    found = make_weighted_score(scorecard(mrr=0.4, faithfulness=None), ScoringConfig())
    assert found.score == pytest.approx(0.4)
    assert set(found.left_out) == {"accuracy", "faithfulness", "citation", "cost", "latency"}
    assert found.left_out["faithfulness"] == "no value of faithfulness"


def test_nothing_at_all_gives_no_score() -> None:
    """An empty scorecard has no score, not zero."""
    found = make_weighted_score(Scorecard(), ScoringConfig())
    assert (found.score, found.objectives, found.weights) == (None, {}, {})


def test_a_weight_of_zero_leaves_an_objective_out() -> None:
    """It is named among those left out; where nothing else is fed there is no score."""
    config = ScoringConfig(weights={"retrieval": 0.0})
    found = make_weighted_score(scorecard(mrr=0.5, faithfulness=0.9), config)
    assert found.score == pytest.approx(0.9)
    assert found.left_out["retrieval"] == "its weight is 0"
    assert make_weighted_score(scorecard(mrr=0.5), config).score is None


@pytest.mark.parametrize(
    ("metric", "value", "objective"),
    [
        ("cost_per_query", 0.0, 1.0),
        ("cost_per_query", 0.025, 0.75),
        ("cost_per_query", 0.10, 0.0),
        ("cost_per_query", 5.0, 0.0),
        ("latency_p50", 0.0, 1.0),
        ("latency_p50", 7_500.0, 0.75),
        ("latency_p50", 30_000.0, 0.0),
        ("latency_p50", 120_000.0, 0.0),
    ],
)
def test_dollars_and_milliseconds_are_scaled_by_their_threshold(
    score: Callable[..., float | None], metric: str, value: float, objective: float
) -> None:
    """One minus value over threshold, never below nothing."""
    assert score(**{metric: value}) == pytest.approx(objective)


def test_a_threshold_of_ones_own_leaves_the_other_unit_scaled() -> None:
    """Changing the price's threshold does not turn milliseconds into a score."""
    found = make_weighted_score(
        scorecard(cost_per_query=0.1, latency_p50=15_000), ScoringConfig(thresholds={"USD": 0.2})
    )
    assert found.objectives == {"cost": pytest.approx(0.5), "latency": pytest.approx(0.5)}


def test_a_metric_where_less_is_better_is_turned_round() -> None:
    """A rate of errors feeds an objective as one minus the rate."""
    config = ScoringConfig(weights={"care": 1.0}, feeds={"care": ["abstention_false_negative_rate"]})
    assert make_weighted_score(scorecard(abstention_false_negative_rate=0.2), config).score == pytest.approx(0.8)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(
    values=st.fixed_dictionaries(
        {name: st.none() | st.floats(0, 1) for name in ("answer_correctness", "faithfulness", "mrr", "citation_recall")}
    ),
    latency=st.none() | st.floats(0, 1e6),
)
def test_the_score_lies_between_its_objectives(values: dict[str, float | None], latency: float | None) -> None:
    """A weighted mean is never outside what it is the mean of."""
    found = make_weighted_score(scorecard(**values, latency_p50=latency), ScoringConfig())
    assert (found.score is None) == (not found.objectives)
    assert set(found.objectives) | set(found.left_out) == set(ScoringConfig().weights)
    if found.score is not None:
        assert min(found.objectives.values()) - 1e-9 <= found.score <= max(found.objectives.values()) + 1e-9


@pytest.mark.parametrize(
    ("metric", "value", "objective"),
    [
        ("ragas_score", 60.0, 0.6),
        ("factual_accuracy_percentage", 100.0, 1.0),
        ("correct_answers_count", 3.0, 0.75),
        ("wrong_answers_count", 3.0, 0.25),
        ("a_plugins_own", 0.4, 0.4),
    ],
)
def test_a_metric_counts_on_the_scale_of_its_range(metric: str, value: float, objective: float) -> None:
    """Percent are parts of a hundred, answers parts of those that were counted; neither makes a score of 60."""
    summary = MetricSummary(
        name=metric,
        value=value,
        group=MetricGroup.GENERATION,
        sample_size=4,
        counts=MetricCounts(scored=4),
        unit="percent",
        higher_is_better=not metric.startswith("wrong"),
    )
    config = ScoringConfig(weights={"own": 1.0}, feeds={"own": [metric]})
    assert make_weighted_score(Scorecard(metrics=[summary]), config).score == pytest.approx(objective)
