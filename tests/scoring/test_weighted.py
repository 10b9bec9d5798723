"""The one number over all objectives."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.schemas import MetricCounts, MetricGroup, MetricSummary, Scorecard
from evals.scoring.config import ScoringConfig
from evals.scoring.weighted import make_weighted_score

UNITS = {"cost_per_query": "USD", "latency_p50": "ms"}


def summary_of(name: str, value: float | None, n: int = 1, bounds: tuple[float, float] | None = None) -> MetricSummary:
    """A summary over n questions; those of cost and latency are dollars and milliseconds."""
    return MetricSummary(
        name=name,
        value=value,
        group=MetricGroup.RETRIEVAL,
        sample_size=n,
        counts=MetricCounts(scored=n),
        bounds=bounds,
        unit=UNITS.get(name, "ratio"),
        higher_is_better=name not in UNITS and not name.startswith(("abstention", "wrong")),
    )


def scorecard(**values: float | None) -> Scorecard:
    return Scorecard(metrics=[summary_of(name, value) for name, value in values.items()])


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
    card = scorecard(mrr=0.4, answer_correctness=0.4, faithfulness=None, citation_recall=0.4)
    found = make_weighted_score(card, ScoringConfig())
    assert found.score == pytest.approx(0.4)
    assert set(found.left_out) == {"faithfulness", "cost", "latency"}
    assert found.bounds is None
    assert make_weighted_score(Scorecard(), ScoringConfig()).score is None
    assert found.left_out["faithfulness"] == "no value of faithfulness"


def test_a_weight_of_zero_leaves_an_objective_out() -> None:
    """It is named among those left out; where nothing else is fed there is no score."""
    config = ScoringConfig(weights={"retrieval": 0.0})
    found = make_weighted_score(scorecard(mrr=0.5, faithfulness=0.9, answer_correctness=0.9), config)
    assert found.score == pytest.approx(0.9)
    assert found.left_out["retrieval"] == "its weight is 0"
    assert found.coverage == pytest.approx(0.5 / 0.85)
    assert make_weighted_score(scorecard(mrr=0.5), config).score is None


def test_a_threshold_of_ones_own_leaves_the_other_unit_scaled() -> None:
    """Changing the price's threshold does not turn milliseconds into a score."""
    found = make_weighted_score(
        scorecard(cost_per_query=0.1, latency_p50=15_000), ScoringConfig(thresholds={"USD": 0.2})
    )
    assert found.objectives == {"cost": pytest.approx(0.5), "latency": pytest.approx(0.5)}


@settings(derandomize=True, max_examples=50)
@given(
    values=st.fixed_dictionaries(
        {name: st.none() | st.floats(0, 1) for name in ("answer_correctness", "faithfulness", "mrr", "citation_recall")}
    ),
    latency=st.none() | st.floats(0, 1e6),
)
def test_the_score_lies_between_its_objectives(values: dict[str, float | None], latency: float | None) -> None:
    """A weighted mean is never outside what it is the mean of."""
    found = make_weighted_score(scorecard(**values, latency_p50=latency), ScoringConfig())
    assert (found.score is None) == (sum(found.weights.values()) < 0.5 - 1e-9)
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
        ("abstention_false_negative_rate", 0.2, 0.8),
        ("cost_per_query", 0.0, 1.0),
        ("cost_per_query", 0.025, 0.75),
        ("cost_per_query", 5.0, 0.0),
        ("latency_p50", 7_500.0, 0.75),
        ("latency_p50", 30_000.0, 0.0),
    ],
)
def test_a_metric_counts_on_the_scale_of_its_range(metric: str, value: float, objective: float) -> None:
    """Percent are parts of a hundred, answers parts of those counted, dollars and milliseconds of their threshold."""
    config = ScoringConfig(weights={"own": 1.0}, feeds={"own": [metric]})
    found = make_weighted_score(Scorecard(metrics=[summary_of(metric, value, 4)]), config)
    assert found.objectives["own"] == pytest.approx(objective)


@pytest.mark.parametrize(
    ("values", "score", "coverage"),
    [
        ({"latency_p50": 30.0}, None, 0.05),
        ({"latency_p50": 30.0, "cost_per_query": 0.0}, None, 0.15),
        ({"mrr": 1.0, "citation_recall": 1.0, "cost_per_query": 0.0}, None, 0.45),
        ({"answer_correctness": 0.5, "faithfulness": 0.5}, 0.5, 0.5),
        ({"answer_correctness": 0.5, "faithfulness": 0.5, "mrr": 0.5, "citation_recall": 0.5}, 0.5, 0.85),
    ],
)
def test_there_is_no_score_of_less_than_half_of_the_weight(
    values: dict[str, float], score: float | None, coverage: float
) -> None:
    """A fast and cheap server is no good one; how much of the weight is measured stands beside the score."""
    found = make_weighted_score(scorecard(**values), ScoringConfig())
    assert found.score == (score and pytest.approx(score))
    assert found.coverage == pytest.approx(coverage)
    if score is None:
        assert found.reason == f"only {100 * coverage:.0f} % of the weight is measured: {', '.join(found.weights)}"
        assert found.objectives  # which are told all the same
    else:
        assert found.reason is None


def test_without_an_answer_there_is_no_score_whatever_was_measured() -> None:
    """The timeouts of a dead server have a latency, and its answers cost nothing."""
    config = ScoringConfig(weights={"latency": 10.0})
    found = make_weighted_score(scorecard(latency_p50=0.0, cost_per_query=0.0), config, answered=0)
    assert (found.score, found.coverage, found.reason) == (None, 0.0, "no question was answered")


def test_lost_questions_bound_the_score() -> None:
    """Every metric at its worst, and at its best; what has no bounds stays as it is."""
    card = Scorecard(
        metrics=[
            summary_of("answer_correctness", 0.5, 8, (0.4, 0.6)),
            summary_of("citation_recall", 0.5, 8, (0.3, 0.7)),
            summary_of("citation_precision", 0.5, 10),
            summary_of("latency_p50", 15_000.0, 8),
        ]
    )
    found = make_weighted_score(card, ScoringConfig())
    whole = 0.3 + 0.2 + 0.05
    assert found.score == pytest.approx(0.5)
    assert found.bounds == (
        pytest.approx((0.3 * 0.4 + 0.2 * 0.4 + 0.05 * 0.5) / whole),
        pytest.approx((0.3 * 0.6 + 0.2 * 0.6 + 0.05 * 0.5) / whole),
    )


def test_bounds_are_from_bad_to_good_where_less_is_better_too() -> None:
    """The worst bound of a rate of errors is its highest."""
    rate = summary_of("abstention_false_negative_rate", 0.2, 8, (0.4, 0.1))
    config = ScoringConfig(weights={"care": 2.0}, feeds={"care": ["abstention_false_negative_rate"]})
    found = make_weighted_score(Scorecard(metrics=[rate]), config)
    assert found.bounds == (pytest.approx(0.6), pytest.approx(0.9))
