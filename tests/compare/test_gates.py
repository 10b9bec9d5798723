"""A run held against a baseline: not worse by more than a margin."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.compare import SavedRun, pairing
from evals.compare.gates import GateReport, check_against, check_alone
from evals.errors import ConfigError, UnknownNameError
from evals.schemas.verdicts import JudgeRecord

Saved = Callable[..., SavedRun]


def hits(n: int, rate: float, name: str = "recall_at_5") -> dict[str, dict[str, float | None]]:
    """Values of n questions, of which so many are 1."""
    return {f"q{place}": {name: float(place < rate * n)} for place in range(n)}


def held(saved: Saved, before: Any, after: Any, margin: float = 0.03, name: str = "recall_at_5") -> GateReport:
    """The run held against the baseline in one metric."""
    return check_against(saved("new", after), saved("old", before), [], [name], margin)


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [(0.5, 0.9, "met"), (0.8, 0.8, "met"), (0.8, 0.79, "not enough evidence"), (0.8, 0.7, "not met")],
)
def test_a_loss_within_the_margin_must_be_sure(saved: Saved, before: float, after: float, outcome: str) -> None:
    """Met where the end of the paired difference is within it; not met where the difference itself is not."""
    report = held(saved, hits(200, before), hits(200, after))
    (found,) = report.gates
    assert (found.outcome, report.outcome, found.gate) == (outcome, outcome, "recall_at_5 at most 0.03 below old")
    assert found.value == pytest.approx(after - before)
    assert (found.more_questions is not None) is (outcome == "not enough evidence")


def test_answers_that_do_not_come_are_warned_of(saved: Saved) -> None:
    """No metric sees them: what is measured is of the others."""
    lost = {**hits(200, 0.5), **{f"q{place}": "timeout" for place in range(60)}}
    report = held(saved, hits(200, 0.5), lost)
    assert [said for said in report.warnings if said.startswith("answer_rate is 0.700, was 1.000")]


def test_a_wide_margin_lets_the_same_difference_pass(saved: Saved) -> None:
    """The margin is what the end of the interval is held against."""
    assert held(saved, hits(200, 0.8), hits(200, 0.79), 0.1).outcome == "met"


def test_few_questions_prove_nothing_and_it_is_said_how_many_would(saved: Saved) -> None:
    """Twelve that did not change at all leave room for a loss of 3 %."""
    (found,) = held(saved, hits(12, 0.5), hits(12, 0.5)).gates
    assert found.outcome == "not enough evidence"
    assert found.more_questions is not None
    assert f"about {12 + found.more_questions:,} questions would be needed" in found.message


def test_pairs_tell_more_than_two_runs_side_by_side(saved: Saved) -> None:
    """What is hard about the questions is in both runs: the interval of one alone is wider than that of the change."""
    (found,) = held(saved, hits(200, 0.5), hits(200, 0.5)).gates
    assert found.ci is not None
    assert found.ci[1] - found.ci[0] < 0.05


def test_where_less_is_better_more_is_a_loss(saved: Saved) -> None:
    """The upper end of the difference must be below the margin."""
    name = "abstention_false_negative_rate"
    worse = held(saved, hits(200, 0.1, name), hits(200, 0.3, name), name=name)
    assert (worse.outcome, worse.gates[0].gate) == ("not met", f"{name} at most 0.03 above old")
    assert held(saved, hits(200, 0.3, name), hits(200, 0.1, name), name=name).outcome == "met"


def test_questions_of_one_document_are_one_finding(saved: Saved) -> None:
    """Ten questions that one document cost are not ten losses."""
    golds = {f"q{n}": {"gold_passages": [{"text": "gold", "document_id": f"d{n // 20}"}]} for n in range(200)}
    before, after = hits(200, 0.5), hits(200, 0.55)
    alone = held(saved, before, after, 0.05)
    clustered = check_against(
        saved("new", after, questions=golds), saved("old", before, questions=golds), [], ["recall_at_5"], 0.05
    )
    assert (alone.outcome, clustered.outcome) == ("met", "not enough evidence")


def test_latency_is_held_in_milliseconds_and_only_under_the_same_load(saved: Saved) -> None:
    """The margin is in the unit of the metric."""
    slow = {f"q{n}": {"latency_p50": 100.0 + n} for n in range(40)}
    slower = {f"q{n}": {"latency_p50": 110.0 + n} for n in range(40)}
    assert held(saved, slow, slower, 100.0, "latency_p50").outcome == "met"
    assert held(saved, slow, slower, 5.0, "latency_p50").outcome == "not met"
    wide = saved("new", slower, concurrency=16)
    (found,) = check_against(wide, saved("old", slow), [], ["latency_p50"], 100.0).gates
    assert (found.outcome, found.message) == (
        "not met",
        "latency_p50 is not compared: the runs had different concurrency",
    )


QUALITY = ("answer_correctness", "citation_recall", "faithfulness")


def quality(n: int, rate: float, *names: str) -> dict[str, dict[str, float | None]]:
    """Values of n questions, the same of each metric."""
    return {f"q{place}": dict.fromkeys(names or QUALITY, float(place < rate * n)) for place in range(n)}


def test_the_score_is_what_must_not_be_worse_where_nothing_else_is_named(saved: Saved) -> None:
    """Over the questions of both runs, with an interval of the difference."""
    report = check_against(saved("new", quality(200, 0.8)), saved("old", quality(200, 0.8)), [], None, 0.03)
    assert [(gate.gate, gate.outcome) for gate in report.gates] == [("score at most 0.03 below old", "met")]
    report = check_against(saved("new", quality(200, 0.5)), saved("old", quality(200, 0.8)), [], None, 0.03)
    (found,) = report.gates
    assert (found.outcome, found.value) == ("not met", pytest.approx(-0.3))
    assert found.ci is not None
    assert found.ci[0] < -0.3 < found.ci[1]


def test_a_score_of_other_objectives_is_not_met(saved: Saved) -> None:
    """Neither against the baseline nor by itself beside it; the objectives are named."""
    runs = saved("new", quality(50, 1.0)), saved("old", quality(50, 0.1, *QUALITY[:2]))
    report = check_against(*runs, ["score>=0.1"], ["score"], 0.5)
    assert [gate.outcome for gate in report.gates] == ["not met", "not met"]
    for gate in report.gates:
        assert "faithfulness is measured in new alone" in gate.message
    assert check_alone(runs[0], ["score>=0.1"]).outcome == "met"


def test_questions_of_other_gold_are_left_out_and_said(saved: Saved) -> None:
    """Easier gold is no better retrieval; where all of it is other, nothing is held against the baseline."""
    before, after = hits(200, 0.8), {f"q{n}": {"recall_at_5": float(n < 120 or n >= 160)} for n in range(200)}
    eased = {f"q{n}": {"gold_passages": [{"document_id": "d"}]} for n in range(160, 200)}
    runs = saved("new", after, questions=eased), saved("old", before)
    report = check_against(*runs, [], ["recall_at_5"], 0.05)
    (found,) = report.gates
    assert (found.outcome, found.n, found.value) == ("not met", 160, pytest.approx(0.75 - 1.0))
    assert "40 questions differ in gold passages: left out, 160 are compared" in report.warnings
    runs = (
        saved(
            "new", hits(200, 1.0), questions={f"q{n}": {"gold_passages": [{"document_id": "d"}]} for n in range(200)}
        ),
        runs[1],
    )
    (found,) = check_against(*runs, [], ["recall_at_5"], 0.05).gates
    assert (found.outcome, found.message) == (
        "not met",
        "recall_at_5 is not compared: 200 questions differ in gold passages",
    )


def test_another_judge_is_no_better_run(saved: Saved) -> None:
    """Neither in a metric that it judges nor in a score that such a metric feeds."""
    one, other = (JudgeRecord(model=model, origin="http://judge") for model in "mn")
    runs = saved("new", quality(200, 0.9), judge=one), saved("old", quality(200, 0.5), judge=other)
    gates = check_against(*runs, [], ["faithfulness", "citation_recall", "score"], 0.05).gates
    assert [gate.outcome for gate in gates] == ["not met", "met", "not met"]
    assert "not compared: the runs were judged by different models" in gates[0].message
    assert "not compared: the runs were judged by different models" in gates[2].message
    same = saved("new", quality(200, 0.9), judge=one), saved("old", quality(200, 0.5), judge=one)
    assert check_against(*same, [], ["faithfulness", "score"], 0.05).outcome == "met"


def test_a_run_that_failed_or_has_no_score_is_held_against_nothing(saved: Saved) -> None:
    """The reason is told."""
    fine = saved("old", quality(50, 0.8))
    failed = check_against(saved("new", quality(50, 0.8), status="failed"), fine, [], ["faithfulness"], 0.5)
    assert (failed.outcome, failed.gates[0].message.split(":")[0]) == ("not met", "run new failed")
    little = check_against(saved("new", hits(50, 0.8)), saved("old", hits(50, 0.8)), [], None, 0.5)
    assert little.gates[0].message == "run old has no score: only 15 % of the weight is measured: retrieval"
    lacking = check_against(saved("new", hits(50, 0.8)), fine, [], ["faithfulness"], 0.5)
    assert lacking.gates[0].message == "faithfulness is not compared: no value in new"


def test_what_is_held_is_what_the_gates_given_are_on(saved: Saved) -> None:
    """Latency and cost aside, whose unit a margin of quality does not fit."""
    values = {f"q{n}": {"recall_at_5": 1.0, "latency_p50": 10.0} for n in range(40)}
    report = check_against(
        saved("new", values), saved("old", values), ["recall_at_5>=0.5", "latency_p50<=100"], None, 0.2
    )
    assert [gate.gate for gate in report.gates] == [
        "recall_at_5>=0.5",
        "latency_p50<=100",
        "recall_at_5 at most 0.2 below old",
    ]
    assert report.outcome == "met"


def test_a_run_is_checked_by_the_gates_it_was_made_with(saved: Saved) -> None:
    """Where none is given; with neither there is nothing to check."""
    run = saved("new", hits(40, 0.5), eval_config={"gate": ["recall_at_5>=0.6"]})
    assert [gate.outcome for gate in check_alone(run, []).gates] == ["not met"]
    assert [gate.gate for gate in check_alone(run, ["recall_at_5>=0.4"]).gates] == ["recall_at_5>=0.4"]
    with pytest.raises(ConfigError, match="made without gates"):
        check_alone(saved("new", hits(40, 0.5)), [])


def test_the_score_of_a_run_of_before_gets_its_interval_now(saved: Saved) -> None:
    """It was saved without one; its records tell."""
    run = saved("new", quality(40, 0.8))
    assert run.run.weighted_score.ci is None
    (found,) = check_alone(run, ["score@low>=0.5"]).gates
    assert (found.outcome, found.n) == ("met", 40)
    assert found.ci is not None
    assert 0.5 < found.ci[0] < 0.8 < found.ci[1]


@pytest.mark.parametrize("margin", [-0.01, float("nan"), float("inf")])
def test_a_margin_below_0_is_refused(saved: Saved, margin: float) -> None:
    """It would ask for an improvement."""
    with pytest.raises(ConfigError, match="the margin must be 0 or more"):
        held(saved, hits(20, 0.5), hits(20, 0.5), margin)


def test_what_cannot_be_held_is_refused(saved: Saved) -> None:
    """A run against itself, a metric that does not exist, one of which neither way is better."""
    run, other = saved("new", hits(20, 0.5)), saved("old", hits(20, 0.5))
    with pytest.raises(ConfigError, match="its own baseline"):
        check_against(run, run, [], None, 0.03)
    with pytest.raises(UnknownNameError, match="recal_at_5"):
        check_against(run, other, [], ["recal_at_5"], 0.03)
    with pytest.raises(ConfigError, match="neither way of dont_know_answers_count"):
        check_against(run, other, [], ["dont_know_answers_count"], 0.03)


def test_two_runs_are_paired_once_for_all_that_a_gate_says(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics, score, warnings and silence are of the same pairing; to pair long runs takes its time."""
    common, times = pairing._common, []
    monkeypatch.setattr(pairing, "_common", lambda asked: times.append(1) or common(asked))
    check_against(saved("new", quality(20, 0.8)), saved("old", quality(20, 0.8)), [], ["faithfulness", "score"], 0.5)
    assert len(times) == 1
