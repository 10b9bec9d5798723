"""Conditions by which a run passes or fails."""

import pytest
from whole_runs import run_of

from evals.errors import ConfigError
from evals.schemas import (
    EvalRun,
    MetricCounts,
    MetricGroup,
    MetricInterval,
    MetricSummary,
    Scorecard,
    WeightedScore,
)
from evals.scoring.gates import check_gates, parse_gate, problem_of


def failed_gates(run: EvalRun, gates: list[str]) -> list[str]:
    """What is said of the gates that are not met."""
    return [f"{each.gate}: {each.message}" for each in check_gates(run, gates) if each.outcome != "met"]


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

    card = Scorecard(metrics=[summary("mrr", 0.8, None), summary("faithfulness", None, "no judge")])
    score = WeightedScore(score=0.7, coverage=0.8)
    return run_of(1).model_copy(update={"scorecard": card, "weighted_score": score})


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("mrr>=0.8", "mrr>=0.8"),
        (" mrr <= .5 ", "mrr<=0.5"),
        ("mrr>1e-3", "mrr>0.001"),
        ("score<1e-1", "score<0.1"),
        ("mrr==1", "mrr==1"),
    ],
)
def test_a_gate_is_metric_sign_and_number(text: str, written: str) -> None:
    """Blanks do not matter, and a gate can be written out again."""
    gate = parse_gate(text, ["mrr"])
    assert str(gate) == written
    assert parse_gate(str(gate), ["mrr"]) == gate


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("recall_at_5>=80", "recall_at_5 is from 0 to 1", "did you mean 0.8? the limit must lie in that range"),
        ("score<101", "score is from 0 to 1", "the limit must lie in that range"),
        ("mrr@low>=-0.1", "mrr is from 0 to 1", "the limit must lie in that range"),
        ("latency_p95<=-1", "latency_p95 is at least 0", "the limit must lie in that range"),
    ],
)
def test_a_limit_outside_the_range_is_refused(text: str, said: str, hint: str) -> None:
    """Such a gate could never be met, or never fail; of a share in percent the share is named."""
    with pytest.raises(ConfigError) as caught:
        parse_gate(text, ["recall_at_5", "mrr", "latency_p95"])
    assert (caught.value.message, caught.value.hint) == (f"not a gate: {text!r}: {said}", hint)


@pytest.mark.parametrize("text", ["recall_at_5>=1", "mrr<=0", "score@low>=1", "factual_accuracy_percentage>=80"])
def test_both_ends_of_the_range_are_limits(text: str) -> None:
    """And a metric in percent takes one."""
    assert parse_gate(text, ["recall_at_5", "mrr", "factual_accuracy_percentage"])


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


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("recall_at_20>=0.5", "which the run does not compute", "add --metrics recall_at_20"),
        ("recall_at_K>=0.5", "recall_at_K", "such as recall_at_5"),
        ("recal_at_10>=0.8", "unknown metric in a gate 'recal_at_10'", "did you mean 'recall_at_10'?"),
        ("mrr@low==1", "no end of an interval", ">= <= > or <"),
        *[
            (text, "not a gate", "'recall_at_5>=0.8' or 'recall_at_5@low>=0.8'; there are >= <= > < ==")
            for text in ("", "mrr", "mrr>=", ">=0.8", "mrr=0.8", "mrr=>0.8", "mrr>=high", "mrr>=0.8 x", "mrr>=nan")
        ],
    ],
)
def test_a_gate_that_cannot_be_says_the_way_out(text: str, message: str, hint: str) -> None:
    """A metric that exists but is not computed is no unknown one; K stands for a number; all signs are named."""
    with pytest.raises(ConfigError) as caught:
        parse_gate(text, ["mrr", "recall_at_10"])
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


EARLIER = WeightedScore(score=0.999, objectives={"latency": 0.999}, weights={"latency": 0.05}, coverage=0.05)


@pytest.mark.parametrize(
    ("score", "outcome", "message"),
    [
        (None, "met", "score is 0.7 of 80 % of the weight"),
        (WeightedScore(score=None), "not met", "score has no value (no question was answered)"),
        (EARLIER, "not met", "score has no value (only 5 % of the weight is measured: latency)"),
    ],
)
def test_the_weighted_score_can_be_a_gate(
    run: EvalRun, score: WeightedScore | None, outcome: str, message: str
) -> None:
    """With of how much of the weight it is; of less than half there is none, though an earlier version held one."""
    (found,) = check_gates(run if score is None else run.model_copy(update={"weighted_score": score}), ["score>=0.7"])
    assert (found.outcome, found.message) == (outcome, message)


SPREAD = {"mrr": (0.8, (0.74, 0.86), 100), "latency_p95": (900.0, (800.0, 1100.0), 100)}


@pytest.fixture
def wide(run: EvalRun) -> EvalRun:
    """A run whose metrics have intervals: mrr 0.74 to 0.86, the 95th percentile of latency 800 to 1100 ms."""
    metrics = [
        run.scorecard.get("mrr").model_copy(update={"name": name, "value": value, "ci": ci, "sample_size": n})
        for name, (value, ci, n) in SPREAD.items()
    ]
    return run.model_copy(update={"scorecard": Scorecard(metrics=metrics)})


@pytest.mark.parametrize(
    ("text", "outcome", "more"),
    [
        ("mrr@low>=0.73", "met", None),
        ("mrr@low>=0.74", "met", None),
        ("mrr@low>0.74", "not enough evidence", 1),
        ("mrr@low>=0.77", "not enough evidence", 300),
        ("mrr@low>=0.7999", "not enough evidence", 35_999_900),
        ("mrr@low>=0.8", "not enough evidence", None),
        ("mrr@low>=0.81", "not met", None),
        ("mrr@low>=0.9", "not met", None),
        ("latency_p95@low<=1100", "met", None),
        ("latency_p95@low<=1000", "not enough evidence", 300),
        ("latency_p95@low<=850", "not met", None),
    ],
)
def test_a_gate_at_the_low_end_is_met_not_met_or_lacks_evidence(
    wide: EvalRun, text: str, outcome: str, more: int | None
) -> None:
    """The unfavourable end must hold: the lower one of >=, the upper one of <=. Half the reach takes four times n."""
    (found,) = check_gates(wide, [text])
    assert (found.outcome, found.gate) == (outcome, text)
    assert found.more_questions == more or (more and found.more_questions == pytest.approx(more, abs=1, rel=1e-6))


def test_where_evidence_lacks_the_message_says_how_many_questions_it_takes(wide: EvalRun) -> None:
    """With the value and its interval."""
    (found,) = check_gates(wide, ["mrr@low>=0.76"])
    assert found.message == "mrr is 0.8 (interval 0.74 … 0.86): about 225 questions would be needed"
    (never,) = check_gates(wide, ["mrr@low>=0.8"])
    assert never.message.endswith("no number of questions is enough while the value is the limit")


def test_without_an_interval_there_is_not_enough_evidence(run: EvalRun) -> None:
    """Unless the value itself is on the wrong side."""
    enough, wrong = check_gates(run, ["mrr@low>=0.5", "mrr@low>=0.9"])
    assert (enough.outcome, enough.more_questions) == ("not enough evidence", None)
    assert "mrr is 0.8 (no interval): the end of the interval is unknown" in enough.message
    assert wrong.outcome == "not met"


def test_the_low_end_may_stand_behind_the_limit_too(wide: EvalRun) -> None:
    """Both ways of writing it are one gate."""
    assert parse_gate("mrr >= 0.77 @low", ["mrr"]) == parse_gate("mrr@low>=0.77", ["mrr"])
    with pytest.raises(ConfigError, match="not a gate"):
        parse_gate("mrr@low>=0.77@low", ["mrr"])


def test_a_run_that_failed_meets_no_gate(run: EvalRun) -> None:
    """Its latency may be fine; the reason of the failure is told."""
    failed = run.model_copy(
        update={"status": "failed", "weighted_score": WeightedScore(score=None, reason="the corpus is not there")}
    )
    for found in check_gates(failed, ["mrr>=0", "score>=0", "mrr@low>=0"]):
        assert (found.outcome, found.message) == ("not met", "the run failed: the corpus is not there")


def test_a_lack_of_evidence_is_told_apart_and_may_be_let_pass(wide: EvalRun) -> None:
    """What is not met fails all the same."""
    lacking = check_gates(wide, ["mrr>=0.5", "mrr@low>=0.77"])
    assert (problem_of(lacking) or "").startswith("not enough evidence: mrr@low>=0.77: ")
    assert problem_of(lacking, lenient=True) is None
    both = [*lacking, *check_gates(wide, ["mrr>=0.9"])]
    assert (problem_of(both) or "").startswith("gate failed: mrr>=0.9: mrr is 0.8; not enough evidence: ")
    assert problem_of(both, lenient=True) == "gate failed: mrr>=0.9: mrr is 0.8"
    assert problem_of(lacking[:1]) is None


@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        ("latency_p95<=1000", "not met", "is at least 900, as requests ran out of time"),
        ("latency_p95@low<=1000", "not met", "is at least 900"),
        ("latency_p95>=500", "met", "is 900"),
    ],
)
def test_a_lower_bound_meets_no_upper_limit(wide: EvalRun, text: str, outcome: str, words: str) -> None:
    """The requests that ran out of time would have taken longer."""
    late = wide.scorecard.get("latency_p95").model_copy(update={"at_least": True})
    (found,) = check_gates(wide.model_copy(update={"scorecard": Scorecard(metrics=[late])}), [text])
    assert found.outcome == outcome
    assert words in found.message


def test_an_interval_that_is_open_above_meets_no_upper_limit_at_its_end(wide: EvalRun) -> None:
    """Nobody knows where it ends, and no number of questions tells."""
    interval = MetricInterval(method="order statistics", n=100, clusters=100, open_above=True)
    late = wide.scorecard.get("latency_p95").model_copy(update={"interval": interval})
    (found,) = check_gates(wide.model_copy(update={"scorecard": Scorecard(metrics=[late])}), ["latency_p95@low<=5000"])
    assert (found.outcome, found.more_questions) == ("not enough evidence", None)
    assert "(interval 800 … ≥ 1100): the end of the interval is unknown" in found.message
