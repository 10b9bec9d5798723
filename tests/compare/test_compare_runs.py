"""Two runs and many, paired by question."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.compare import SavedRun, compare_runs
from evals.errors import ConfigError
from evals.schemas import DatasetFingerprint, Outcomes
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.stats import mean_interval, paired_difference
from evals.scoring.stats.intervals import mcnemar_p

Saved = Callable[..., SavedRun]


def series(metric: str, values: list[float | None]) -> dict[str, dict[str, float | None]]:
    return {f"q{number}": {metric: value} for number, value in enumerate(values)}


def fingerprint(digest: str) -> list[DatasetFingerprint]:
    return [DatasetFingerprint(name="golden", source="golden.json", questions=3, documents=0, sha256=digest)]


def test_a_mean_is_compared_by_the_sign_flip_test(saved: Saved) -> None:
    """Value, difference, interval and p are those of the paired differences."""
    first, last = [0.2, 0.5, 0.9, 0.4] * 3, [0.5, 0.7, 1.0, 0.9] * 3
    (pair,) = compare_runs([saved("a", series("mrr", first)), saved("b", series("mrr", last))]).pairs
    found = paired_difference(first, last, low=0, high=1)
    assert found is not None
    assert (pair.first, pair.last, pair.n, pair.test) == (pytest.approx(0.5), pytest.approx(0.775), 12, "sign-flip")
    assert pair.difference == pytest.approx(0.275)
    assert pair.interval == pytest.approx(found.estimate.interval)
    assert pair.p == pair.q == pytest.approx(found.p)


def test_a_rate_is_compared_by_mcnemar(saved: Saved) -> None:
    """Zeros and ones are counted where they differ: 3 to 10 is p = .0923, and no verdict."""
    first = [1.0] * 3 + [0.0] * 10 + [1.0] * 20
    last = [0.0] * 3 + [1.0] * 10 + [1.0] * 20
    runs = [saved("a", series("recall_at_1", first)), saved("b", series("recall_at_1", last))]
    (pair,) = compare_runs(runs).pairs
    assert (pair.test, pair.p) == ("mcnemar", mcnemar_p(3, 10))
    assert pair.verdict == "not established"


@pytest.mark.parametrize(
    ("metric", "verdict"), [("mrr", "better"), ("abstention_false_positive_rate", "worse"), ("cost_per_query", "worse")]
)
def test_the_verdict_knows_which_way_is_better(saved: Saved, metric: str, verdict: str) -> None:
    """More is better for a score, worse for a rate of errors and for money."""
    runs = [saved("a", series(metric, [0.0] * 30)), saved("b", series(metric, [1.0] * 20 + [0.0] * 10))]
    comparison = compare_runs(runs)
    assert comparison.pairs[0].verdict == verdict
    assert bool(comparison.regressions) == (metric == "abstention_false_positive_rate")


def test_only_questions_with_a_value_in_both_runs_are_paired(saved: Saved) -> None:
    """A question without a value in one run is in neither mean."""
    runs = [saved("a", series("mrr", [1.0, 0.0, None, 0.5])), saved("b", series("mrr", [1.0, None, 1.0, 0.0]))]
    comparison = compare_runs(runs)
    (pair,) = comparison.pairs
    assert comparison.common == 4
    assert (pair.n, pair.first, pair.last) == (2, 0.75, 0.5)


@settings(derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(
        st.fixed_dictionaries(
            {
                "mrr": st.none() | st.floats(0, 1),
                "recall_at_1": st.sampled_from([0.0, 1.0]),
                "latency_p50": st.floats(0, 1e5),
                "cost_per_query": st.none() | st.floats(0, 1),
            }
        ),
        min_size=1,
        max_size=30,
    )
)
def test_a_run_compared_with_itself_shows_no_difference(saved: Saved, values: list[dict[str, float | None]]) -> None:
    """Every difference is 0, every p 1, and no question changed."""
    run = saved("a", {f"q{number}": value for number, value in enumerate(values)})
    comparison = compare_runs([run, run], pareto=True)
    assert all(pair.difference == 0 for pair in comparison.pairs)
    assert all(pair.p in (1.0, None) for pair in comparison.pairs)
    assert {pair.verdict for pair in comparison.pairs} <= {"identical", "not compared"}
    assert not comparison.lost
    assert not comparison.gained
    assert comparison.pareto is not None
    assert comparison.pareto.front == ["a", "a"]


def test_many_metrics_need_more_than_one_of_them_alone(saved: Saved) -> None:
    """Beyond chance alone is not beyond chance in company: a metric beside the primary one shares a tenth."""
    names = ["mrr", "recall_at_1", "recall_at_3", "recall_at_5", "precision_at_1"]
    flips = {name: {f"q{(7 * place + n) % 30}" for n in range(6)} for place, name in enumerate(names)}
    first = {f"q{n}": {name: float(n % 2) for name in names} for n in range(30)}
    last = {
        key: {name: 1 - v if key in flips[name] else v for name, v in value.items()} for key, value in first.items()
    }
    first = {key: {**value, "mrr": 0.0} for key, value in first.items()}
    last = {key: {**value, "mrr": float(key in flips["mrr"])} for key, value in last.items()}
    pairs = {pair.name: pair for pair in compare_runs([saved("a", first), saved("b", last)]).pairs}
    assert pairs["mrr"].p == mcnemar_p(0, 6) < 0.05
    assert pairs["mrr"].q == pytest.approx(min(1, 40 * mcnemar_p(0, 6)))
    assert pairs["mrr"].verdict == "not established"


def test_latency_of_different_concurrency_gets_no_verdict(saved: Saved) -> None:
    """The difference is shown, and nothing is concluded from it."""
    slow = {f"q{n}": {"latency_p50": 100.0 + n, "latency_p95": 100.0 + n} for n in range(100)}
    fast = {key: {name: ms / 2 for name, ms in value.items()} for key, value in slow.items()}
    apart = compare_runs([saved("a", slow, concurrency=8), saved("b", fast, concurrency=1)])
    alike = compare_runs([saved("a", slow, interleaved_with=["b"]), saved("b", fast, interleaved_with=["a"])])
    assert [pair.verdict for pair in apart.pairs] == ["not compared", "not compared"]
    assert [pair.difference for pair in apart.pairs] == [pair.difference for pair in alike.pairs]
    assert any("concurrency" in warning for warning in apart.warnings)
    assert [pair.verdict for pair in alike.pairs] == ["better", "better"]


def test_failures_of_transport_are_compared_as_a_rate_of_their_own(saved: Saved) -> None:
    """A server that stops answering has no bad answers, and is worse all the same."""
    sound = series("mrr", [1.0] * 40)
    broken = {key: "timeout" if int(key[1:]) < 12 else value for key, value in sound.items()}
    comparison = compare_runs([saved("a", sound), saved("b", broken)])
    rate, mrr = (next(pair for pair in comparison.pairs if pair.name == name) for name in ("answer_rate", "mrr"))
    assert (rate.first, rate.last, rate.verdict) == (1.0, 0.7, "worse")
    assert (mrr.n, mrr.verdict) == (28, "identical")
    assert comparison.regressions == [rate]
    assert "no answer any more: timeout" in {change.note for change in comparison.lost}


def test_a_server_that_stops_answering_does_not_hide_behind_the_number_of_metrics(saved: Saved) -> None:
    """Eight of forty answers less are a regression, however many metrics show no difference."""
    names = [f"recall_at_{k}" for k in range(1, 30)]
    sound = {f"q{n}": dict.fromkeys(names, 1.0) for n in range(40)}
    broken = {key: "timeout" if int(key[1:]) < 8 else value for key, value in sound.items()}
    comparison = compare_runs([saved("a", sound), saved("b", broken)])
    assert [pair.name for pair in comparison.regressions] == ["answer_rate"]
    assert comparison.regressions[0].q == comparison.regressions[0].p


def test_a_run_without_judge_is_compared_over_what_both_have(saved: Saved) -> None:
    """The judged metrics of the other run are shown, named and not compared."""
    plain = {f"q{n}": {"mrr": 0.5, "faithfulness": None} for n in range(5)}
    judged = {f"q{n}": {"mrr": 0.5, "faithfulness": 0.9} for n in range(5)}
    comparison = compare_runs([saved("a", plain), saved("b", judged)])
    assert [pair.name for pair in comparison.pairs] == ["mrr"]
    row = next(row for row in comparison.metrics if row.name == "faithfulness")
    assert (row.values, row.reason) == ([None, pytest.approx(0.9)], "no value in a")


def test_intervals_have_the_confidence_of_the_run(saved: Saved) -> None:
    """What a run shows at its own confidence, a comparison of it shows at the same."""
    values = {f"q{n}": {"mrr": [1.0, 0.5, 0.25, 1.0, 0.0][n % 5]} for n in range(30)}
    wide = compare_runs([saved("a", values), saved("b", values)])
    narrow = compare_runs([saved(name, values, eval_config={"confidence": 0.8}) for name in ("a", "b")])
    numbers = [value["mrr"] for value in values.values()]
    for found, confidence in ((wide, 0.95), (narrow, 0.8)):
        expected = mean_interval(numbers, low=0, high=1, confidence=confidence)
        assert expected is not None
        assert found.metrics[0].intervals == [expected.interval] * 2
    assert (wide.confidence, narrow.confidence) == (0.95, 0.8)


def test_many_runs_share_one_set_of_questions(saved: Saved) -> None:
    """Every value of a row is over the same questions."""
    runs = [
        saved("a", series("mrr", [1.0, 0.5, 0.0])),
        saved("b", series("mrr", [1.0, 1.0, 1.0])),
        saved("c", series("mrr", [0.0, 0.5, None])),
    ]
    comparison = compare_runs(runs)
    (row,) = comparison.metrics
    assert (row.n, row.values) == (2, [0.75, 1.0, 0.25])
    assert comparison.pairs[0].difference == -0.5


def test_the_questions_that_changed_most_come_first(saved: Saved) -> None:
    """Loss and gain are the mean over groups, so that many metrics of one group do not outweigh another."""
    first = {
        "kept": {"mrr": 1.0, "recall_at_1": 1.0, "citation_recall": 1.0},
        "half": {"mrr": 1.0, "recall_at_1": 1.0, "citation_recall": 1.0},
        "lost": {"mrr": 1.0, "recall_at_1": 1.0, "citation_recall": 1.0},
        "found": {"mrr": 0.0, "recall_at_1": 0.0, "citation_recall": None},
    }
    last = {
        "kept": {"mrr": 1.0, "recall_at_1": 1.0, "citation_recall": 1.0},
        "half": {"mrr": 1.0, "recall_at_1": 1.0, "citation_recall": 0.0},
        "lost": {"mrr": 0.0, "recall_at_1": 0.0, "citation_recall": 0.0},
        "found": {"mrr": 1.0, "recall_at_1": 1.0, "citation_recall": None},
    }
    comparison = compare_runs([saved("a", first), saved("b", last)])
    assert [(change.question_id, change.change) for change in comparison.lost] == [("lost", -1.0), ("half", -0.5)]
    assert [(change.question_id, change.change) for change in comparison.gained] == [("found", 1.0)]
    assert comparison.lost[1].moved == {"citation_recall": (1.0, 0.0)}


def test_the_metrics_that_explain_a_change_come_first(saved: Saved) -> None:
    """A question that gained by its citations is not explained by what it lost in rank."""
    first = saved("a", {"q": {"mrr": 1.0, "citation_recall": 0.0, "unanswerable_accuracy": 0.0}})
    last = saved("b", {"q": {"mrr": 0.0, "citation_recall": 1.0, "unanswerable_accuracy": 0.5}})
    (change,) = compare_runs([first, last]).gained
    assert list(change.moved) == ["citation_recall", "unanswerable_accuracy", "mrr"]


def test_runs_without_a_common_question_cannot_be_compared(saved: Saved) -> None:
    """Other ids, and the same ids for other questions, are no pairs."""
    first = saved("a", {"q1": {"mrr": 1.0}})
    with pytest.raises(ConfigError, match="no question in common"):
        compare_runs([first, saved("b", {"q2": {"mrr": 1.0}})])
    with pytest.raises(ConfigError, match="1 id is the same, but no question"):
        compare_runs([first, saved("b", {"q1": {"mrr": 1.0}}, questions={"q1": {"question": "Something else?"}})])
    with pytest.raises(ConfigError, match="at least two"):
        compare_runs([first])


def test_a_reworded_question_is_left_out_and_said(saved: Saved) -> None:
    """An id that stands for another question pairs nothing."""
    values = series("mrr", [1.0, 0.0])
    comparison = compare_runs([saved("a", values), saved("b", values, questions={"q1": {"question": "Else?"}})])
    assert comparison.common == 1
    assert "left out: 1 id stands for different questions" in comparison.warnings


def test_questions_that_were_not_asked_are_not_common(saved: Saved) -> None:
    """An interrupted run is compared over what it asked, and named."""
    whole = saved("a", series("mrr", [1.0, 0.0, 1.0]))
    half = saved("b", series("mrr", [1.0, 0.0, 1.0]), status="partial")
    records = [*half.records[:2], half.records[2].model_copy(update={"response": None, "scores": []})]
    comparison = compare_runs([whole, SavedRun(half.run, records)])
    assert comparison.common == 2
    assert "run b is partial" in comparison.warnings


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fingerprints": fingerprint("other")}, "were not asked the same questions"),
        ({"concurrency": 9}, "different concurrency"),
        ({"concurrencies": [2, 4]}, "different concurrency (a 4, b 2 and 4)"),
        ({"eval_config": {"match": {"rule": "document"}}}, "different rules"),
        ({"judge": JudgeRecord(model="other", origin="elsewhere")}, "different models"),
        ({"questions": {"q1": {"expected_answer": "Else."}}}, "1 question differs in expected answers"),
        ({"notes": ["cost is approximate: tokens"]}, "cost is approximate in b"),
    ],
)
def test_what_makes_runs_hard_to_compare_is_said(saved: Saved, change: dict[str, Any], words: str) -> None:
    """Each difference between the conditions of two runs is a warning; runs of equal conditions have none."""
    values = series("mrr", [1.0] * 30)
    same = {"fingerprints": fingerprint("one"), "judge": JudgeRecord(model="one", origin="here")}
    first = saved("a", values, **same)
    assert compare_runs([first, saved("b", values, **same)]).warnings == []
    (warning,) = compare_runs([first, saved("b", values, **{**same, **change})]).warnings
    assert words in warning


@pytest.mark.parametrize(
    ("first", "last", "warning"),
    [
        (19, 19, "only 19 common questions"),
        (20, 20, None),
        (100, 30, "only 30 common questions"),
    ],
)
def test_few_common_questions_are_a_warning(saved: Saved, first: int, last: int, warning: str | None) -> None:
    """Few in number, or a small part of what was asked."""
    found = compare_runs([saved("a", series("mrr", [1.0] * first)), saved("b", series("mrr", [1.0] * last))]).warnings
    assert [said.partition(":")[0] for said in found] == ([warning] if warning else [])


def test_only_judging_while_asking_takes_time_from_the_answers(saved: Saved) -> None:
    """A run that was judged afterwards was asked like one without a judge."""
    values, judge = series("mrr", [1.0] * 30), JudgeRecord(model="m", origin="o")
    plain, at_once = saved("a", values), saved("b", values, judge=judge)
    afterwards = saved("c", values, judge=judge, rescored_from="z")
    assert any("judged while they asked" in warning for warning in compare_runs([plain, at_once]).warnings)
    assert any("judged while they asked" in warning for warning in compare_runs([afterwards, at_once]).warnings)
    assert compare_runs([plain, afterwards]).warnings == []


def test_every_decision_that_a_judge_failed_on_is_said(saved: Saved) -> None:
    """A single one too, with the run that it is of."""
    values = series("mrr", [1.0] * 30)
    first, last = saved("a", values), saved("b", values, outcomes=Outcomes(judge={"refused": 1}))
    (warning,) = compare_runs([first, last]).warnings
    assert warning == "the judge failed on 1 decision of run b: its judged metrics are of the rest"


def test_a_failure_counts_as_worst_where_both_runs_were_told_so(saved: Saved) -> None:
    """`on_error: worst` holds in a comparison as it does in a scorecard."""
    sound = series("mrr", [1.0] * 4)
    broken: dict[str, Any] = {**sound, "q0": "timeout"}
    config = {"eval_config": {"on_error": "worst"}}
    first, last = saved("a", sound, **config), saved("b", broken, **config)
    lost = last.records[0].model_copy(
        update={"scores": [first.records[0].scores[0].model_copy(
            update={"value": None, "missing": "transport", "reason": "no answer"})]}
    )  # fmt: skip
    last = SavedRun(last.run, [lost, *last.records[1:]])
    pair = next(pair for pair in compare_runs([first, last]).pairs if pair.name == "mrr")
    assert (pair.n, pair.last) == (4, 0.75)


def test_a_metric_that_does_not_exist_here_is_left_out_and_said(saved: Saved) -> None:
    """A run made with a plug-in can be compared where the plug-in is not installed."""
    first = saved("a", series("mrr", [1.0, 0.0]))
    strange = first.run.scorecard.metrics[0].model_copy(update={"name": "of_a_plug_in"})
    card = first.run.scorecard.model_copy(update={"metrics": [*first.run.scorecard.metrics, strange]})
    first = SavedRun(first.run.model_copy(update={"scorecard": card}), first.records)
    comparison = compare_runs([first, first])
    assert [row.name for row in comparison.metrics] == ["mrr"]
    assert "metric of_a_plug_in does not exist here and is left out" in comparison.warnings
