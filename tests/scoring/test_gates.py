"""Conditions by which a run passes or fails."""

from datetime import UTC, datetime

import pytest

from evals.errors import ConfigError, UnknownNameError
from evals.schemas import EvalRun, MetricCounts, MetricGroup, MetricSummary, Scorecard, ServerRecord, WeightedScore
from evals.scoring.gates import failed_gates, parse_gate


@pytest.fixture
def run() -> EvalRun:
    """A run with mrr 0.8, a score of 0.7 and a faithfulness that could not be computed."""

    def summary(name: str, value: float | None, reason: str | None) -> MetricSummary:
        return MetricSummary(
            name=name,
            value=value,
            group=MetricGroup.RETRIEVAL,
            sample_size=1,
            counts=MetricCounts(),
            reason=reason,
            unit="ratio",
            higher_is_better=True,
        )

    return EvalRun(
        id="a",
        name="a",
        created_at=datetime(2026, 1, 15, tzinfo=UTC),
        datasets=[],
        question_count=1,
        server=ServerRecord(url="http://h", profile="rag-server"),
        seed=1,
        concurrency=1,
        scorecard=Scorecard(metrics=[summary("mrr", 0.8, None), summary("faithfulness", None, "no judge")]),
        weighted_score=WeightedScore(score=0.7),
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("mrr>=0.8", "mrr>=0.8"),
        (" mrr <= .5 ", "mrr<=0.5"),
        ("mrr>1e-3", "mrr>0.001"),
        ("score<-1", "score<-1"),
        ("mrr==1", "mrr==1"),
    ],
)
def test_a_gate_is_metric_sign_and_number(text: str, written: str) -> None:
    """Blanks do not matter, and a gate can be written out again."""
    gate = parse_gate(text, ["mrr"])
    assert str(gate) == written
    assert parse_gate(str(gate), ["mrr"]) == gate


@pytest.mark.parametrize(
    "text", ["", "mrr", "mrr>=", ">=0.8", "mrr=0.8", "mrr=>0.8", "mrr>=high", "mrr>=0.8 x", "mrr>=nan"]
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    """The message shows what a gate looks like."""
    with pytest.raises(ConfigError, match="not a gate") as caught:
        parse_gate(text, ["mrr"])
    assert "recall_at_5>=0.8" in (caught.value.hint or "")


def test_an_unknown_metric_says_the_nearest() -> None:
    """A gate on a metric that is not computed could never hold."""
    with pytest.raises(UnknownNameError, match="unknown metric in a gate 'recal_at_5'") as caught:
        parse_gate("recal_at_5>=0.8", ["recall_at_5", "mrr"])
    assert "did you mean 'recall_at_5'?" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("sign", "passing", "failing"),
    [(">=", "0.8", "0.81"), ("<=", "0.8", "0.79"), (">", "0.79", "0.8"), ("<", "0.81", "0.8"), ("==", "0.8", "0.5")],
)
def test_a_gate_holds_up_to_its_limit(run: EvalRun, sign: str, passing: str, failing: str) -> None:
    """Each sign means what it says, at the limit itself too."""
    assert failed_gates(run, [f"mrr{sign}{passing}"]) == []
    assert failed_gates(run, [f"mrr{sign}{failing}"]) == [f"mrr{sign}{failing}: mrr is 0.8"]


@pytest.mark.parametrize("sign", [">=", "<=", ">", "<", "=="])
def test_a_metric_without_value_fails_every_gate(run: EvalRun, sign: str) -> None:
    """What could not be measured has not passed, and the reason is told."""
    assert failed_gates(run, [f"faithfulness{sign}0"]) == [f"faithfulness{sign}0: faithfulness has no value (no judge)"]


def test_the_weighted_score_can_be_a_gate(run: EvalRun) -> None:
    """`score` is the weighted score; without one the gate fails."""
    assert failed_gates(run, ["score>=0.7"]) == []
    empty = run.model_copy(update={"weighted_score": WeightedScore(score=None)})
    assert failed_gates(empty, ["score>=0"]) == ["score>=0: score has no value"]


def test_all_gates_that_fail_are_told(run: EvalRun) -> None:
    """One message for each, in the order of the gates."""
    assert len(failed_gates(run, ["mrr>=0.9", "score>=0.9", "mrr>=0.1"])) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("recall_at_20>=0.5", "add --metrics recall_at_20"),
        ("recall_at_K>=0.5", "such as recall_at_5"),
        ("mrr=>0.5", "there are >= <= > < =="),
    ],
)
def test_a_gate_that_cannot_be_says_the_way_out(text: str, words: str) -> None:
    """A metric that exists but is not computed is no unknown one; K stands for a number; all signs are named."""
    with pytest.raises(ConfigError) as caught:
        parse_gate(text, ["mrr", "recall_at_10"])
    assert words in (caught.value.hint or "")
    assert "unknown" not in caught.value.message
