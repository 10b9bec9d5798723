"""Gates: conditions on a run, and not worse than a baseline."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from whole_runs import valued_run

from evals.compare.gates import check_against, check_alone, judge_loss
from evals.compare.models import MetricPair
from evals.errors import ConfigError, UnknownNameError
from evals.scoring.saved import SavedRun

Made = Callable[..., SavedRun]
NAMES = ("mrr", "citation_recall", "unanswerable_accuracy")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Make a run in which so many of a hundred questions are wrong in three metrics."""

    def make(run_id: str, wrong: int, of: int = 100, **about: Any) -> SavedRun:
        values: Sequence[float] = [1.0] * (of - wrong) + [0.0] * wrong
        return valued_run(tmp_path, run_id, dict.fromkeys(NAMES, values), **about)

    return make


def pair(
    difference: float, interval: tuple[float, float] | None, *, p: float | None = 0.001, less: bool = False
) -> MetricPair:
    """A difference of a metric, of which less is better where it says so."""
    return MetricPair(
        name="m", group="retrieval", unit="ratio", higher_is_better=not less, n=100, first=0.5, last=0.5 + difference,
        difference=difference, interval=interval, p=p, differing=20,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("loss", "outcome"),
    [
        (pair(0.1, (0.05, 0.15)), "met"),  # better
        (pair(0.1, (-0.2, 0.4)), "met"),  # better by value, thin
        (pair(0.0, None), "met"),  # equal
        (pair(-0.01, (-0.02, -0.001)), "met"),  # worse beyond chance, wholly within the margin
        (pair(-0.01, (-0.08, 0.06)), "not enough evidence"),
        (pair(-0.1, (-0.25, 0.05)), "not enough evidence"),
        (pair(-0.025, (-0.04, -0.01)), "not enough evidence"),  # beyond chance, and within the margin by value
        (pair(-0.1, (-0.15, -0.05)), "not met"),
        (pair(-0.1, (-0.15, -0.05), p=None), "not enough evidence"),  # fewer than six questions differ
        (pair(0.1, (0.05, 0.15), less=True), "not met"),
        (pair(-0.1, (-0.15, -0.05), less=True), "met"),
        (pair(-0.1, None), "not met"),  # a percentile, by its value alone
        (pair(-0.01, None), "met"),
    ],
)
def test_a_loss_is_judged_as_the_table_of_the_docs_says(loss: MetricPair, outcome: str) -> None:
    """Better or equal, within the margin, thin, beyond margin and chance; the margin is 0.03."""
    assert judge_loss(loss, 0.03) == outcome


@pytest.mark.parametrize(
    ("wrong", "outcome", "headline"),
    [
        (20, "met", "b and a have the same score: score 0.800, was 0.800"),
        (5, "met", "b is better than a by value (score 0.950, was 0.800), beyond chance"),
        (40, "not met", "b is worse than a by value (score 0.600, was 0.800), beyond chance"),
        (25, "not enough evidence", "b is worse than a by value (score 0.750, was 0.800), not established"),
    ],
)
def test_the_first_line_says_which_run_is_better_by_value(made: Made, wrong: int, outcome: str, headline: str) -> None:
    """Without gates the weighted score is held against the baseline."""
    report = check_against(made("b", wrong), made("a", 20), [], None, 0.03)
    assert (report.outcome, report.headline) == (outcome, headline)


@pytest.mark.parametrize(("difference", "outcome"), [(-0.0004, "met"), (-0.0006, "not enough evidence")])
def test_a_loss_of_the_score_that_does_not_show_is_none(difference: float, outcome: str) -> None:
    """Latencies differ in each run and feed the score a little: its three places are the same."""
    loss = pair(difference, (-0.05, 0.05)).model_copy(update={"name": "score"})
    assert judge_loss(loss, 0.03) == outcome


def test_metrics_that_are_named_are_held_each_by_itself(made: Made) -> None:
    """`--metrics`; with the questions that would decide where the evidence is thin."""
    report = check_against(made("b", 23), made("a", 20), [], ["mrr", "citation_recall"], 0.0)
    assert [gate.gate for gate in report.gates] == ["mrr at most 0 below a", "citation_recall at most 0 below a"]
    assert {gate.outcome for gate in report.gates} == {"not enough evidence"}
    assert report.gates[0].more_questions is not None


def test_metrics_of_gates_are_held_instead_of_the_score(made: Made) -> None:
    """A gate on a metric is a sign that it matters."""
    report = check_against(made("b", 20), made("a", 20), ["mrr>=0.5"], None, 0.03)
    assert [gate.gate for gate in report.gates] == ["mrr>=0.5", "mrr at most 0.03 below a"]


@pytest.mark.parametrize(
    ("gate", "outcome"),
    [("mrr>=0.5", "met"), ("mrr>=0.9", "not met"), ("mrr@low>=0.75", "not enough evidence"), ("score>=0.5", "met")],
)
def test_a_run_by_itself_is_held_to_its_gates(made: Made, gate: str, outcome: str) -> None:
    """On the value, or on an end of the interval."""
    assert check_alone(made("a", 20), [gate]).outcome == outcome


def test_fewer_answers_are_a_warning_beside_gates_that_are_met(made: Made) -> None:
    """What is over fewer questions may look better."""
    report = check_against(made("b", 0, failed=range(30)), made("a", 0), [], ["mrr"], 0.03)
    assert report.outcome == "met"
    assert any("brought an answer, now 70.0%" in warning for warning in report.warnings)


@pytest.mark.parametrize("margin", [-0.1, float("inf"), float("nan")])
def test_a_margin_that_is_none_is_refused(made: Made, margin: float) -> None:
    """It is the loss that would not matter."""
    with pytest.raises(ConfigError, match="the margin must be 0 or more"):
        check_against(made("b", 0), made("a", 0), [], None, margin)


def test_what_cannot_be_checked_is_refused(made: Made) -> None:
    """No gate at all, the run as its own baseline, an unknown metric."""
    run = made("a", 0)
    with pytest.raises(ConfigError, match="made without gates"):
        check_alone(run, [])
    with pytest.raises(ConfigError, match="its own baseline"):
        check_against(run, run, [], None, 0.03)
    with pytest.raises(UnknownNameError):
        check_against(made("b", 0), run, [], ["mrrr"], 0.03)
