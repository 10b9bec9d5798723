"""What went wrong in servers, and must not pass for no difference."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.compare import SavedRun, compare_runs
from evals.compare.models import Comparison, MetricPair
from evals.errors import ConfigError
from evals.metrics.base import known_answerable
from evals.schemas import Citation, EvalQuestion, EvalRecord, GoldPassage, Outcomes
from evals.schemas.verdicts import JudgeRecord

Saved = Callable[..., SavedRun]
SILENT = "I could not find an answer to this question in the documents."


def pairs_of(comparison: Comparison) -> dict[str, MetricPair]:
    return {pair.name: pair for pair in comparison.pairs}


def series(metric: str, hits: int, n: int = 60) -> dict[str, dict[str, float | None]]:
    return {f"q{number}": {metric: float(number < hits)} for number in range(n)}


def with_answers(run: SavedRun, answers: dict[str, str]) -> SavedRun:
    """The same run with other answers to some questions."""
    records = [
        record.model_copy(
            update={"response": record.response.model_copy(update={"answer": answers[record.question.id]})}
        )
        if record.response is not None and record.question.id in answers
        else record
        for record in run.records
    ]
    return SavedRun(run.run, records)


def test_a_third_run_hides_no_regression(saved: Saved) -> None:
    """B is tested over all that it shares with A, however few questions a flaky C was asked."""
    good, bad = saved("a", series("mrr", 50)), saved("b", series("mrr", 30))
    flaky = saved("c", dict(list(series("mrr", 50).items())[:8]))
    for runs in ([good, bad, flaky], [good, flaky, bad]):
        comparison = compare_runs(runs)
        assert [pair.name for pair in comparison.regressions] == ["mrr"]
        against = {one.run: one for one in comparison.against}
        assert (against["b"].common, against["c"].common, comparison.common) == (60, 8, 8)
        assert against["b"].pairs[0].n == 60


def test_what_is_set_against_one_baseline_shares_the_chance_of_a_false_verdict(saved: Saved) -> None:
    """A loss with p = 0.031 is a verdict between two runs, and none beside a third; 0.0156 is one in either case."""
    same = saved("c", series("mrr", 50))
    for lost, verdicts in ((6, ["worse", "not established"]), (7, ["worse", "worse"])):
        good, bad = saved("a", series("mrr", 50)), saved("b", series("mrr", 50 - lost))
        pairs = [compare_runs(runs).against[0].pairs[0] for runs in ([good, bad], [good, bad, same])]
        assert [pair.verdict for pair in pairs] == verdicts
        assert [pair.level for pair in pairs] == [0.05, 0.025]
        assert pairs[1].q == 2 * pairs[0].q
        assert [pair.interval[1] < 0 for pair in pairs] == [verdict == "worse" for verdict in verdicts]


def test_a_third_run_that_shares_nothing_with_the_second_takes_no_verdict_away(saved: Saved) -> None:
    """The table of common values is empty then; the tests are not."""
    values = series("mrr", 50)
    half = {key: value for key, value in values.items() if int(key[1:]) < 30}
    rest = {key: value for key, value in values.items() if int(key[1:]) >= 30}
    comparison = compare_runs([saved("a", values), saved("b", half), saved("c", rest)])
    assert comparison.common == 0
    assert [one.common for one in comparison.against] == [30, 30]


def test_a_run_that_shares_nothing_with_the_baseline_is_an_error(saved: Saved) -> None:
    """It is named."""
    runs = [saved("a", {"q1": {"mrr": 1.0}}), saved("b", {"q1": {"mrr": 1.0}}), saved("c", {"q2": {"mrr": 1.0}})]
    with pytest.raises(ConfigError, match="no question in common: a and c"):
        compare_runs(runs)


@pytest.mark.parametrize("gold", [{"expected_answer": "Ten."}, {"gold_passages": [GoldPassage(text="Ten.")]}])
def test_a_server_that_declines_to_answer_is_worse(saved: Saved, gold: dict[str, Any]) -> None:
    """Half of seventy answerable questions are not answered any more; nothing else that was measured changed."""
    values = series("mrr", 70, n=70)
    questions = dict.fromkeys(values, gold)
    good, run = (saved(name, values, questions=questions) for name in ("a", "b"))
    silent = with_answers(run, {f"q{n}": SILENT for n in range(35)})
    comparison = compare_runs([good, silent])
    assert [pair.name for pair in comparison.regressions] == ["abstention_rate_answerable"]
    assert pairs_of(comparison)["abstention_rate"].verdict == "changed"
    assert len(comparison.lost) == 35
    assert comparison.lost[0].note == "declines to answer now"


def test_to_decline_what_may_be_unanswerable_is_no_regression(saved: Saved) -> None:
    """Where nobody knows that questions are answerable, abstentions have changed and that is all."""
    values = series("mrr", 40, n=40)
    questions = {f"q{n}": {"is_unanswerable": True} for n in range(20)}
    run = saved("b", values, questions=questions)
    comparison = compare_runs(
        [saved("a", values, questions=questions), with_answers(run, {f"q{n}": SILENT for n in range(40)})]
    )
    assert comparison.regressions == []
    assert pairs_of(comparison)["abstention_rate"].verdict == "changed"
    assert "abstention_rate_answerable" not in pairs_of(comparison)


def test_where_nobody_declines_no_rate_of_it_is_compared(saved: Saved) -> None:
    """It would say nothing."""
    run = saved("a", series("mrr", 30))
    assert [pair.name for pair in compare_runs([run, run]).pairs] == ["mrr"]


def test_a_metric_that_has_no_values_any_more_is_a_loss(saved: Saved) -> None:
    """A server that sends no citations has no bad ones; an unknown cost is said, and no loss of quality."""
    first = {f"q{n}": {"mrr": 1.0, "citation_recall": 1.0, "cost_per_query": 0.1} for n in range(30)}
    last = {key: {**value, "citation_recall": None, "cost_per_query": None} for key, value in first.items()}
    (one,) = compare_runs([saved("a", first), saved("b", last)]).against
    assert [(lost.name, lost.n, lost.reason, lost.is_regression) for lost in one.vanished] == [
        ("citation_recall", 30, "it does not apply", True),
        ("cost_per_query", 30, "it does not apply", False),
    ]
    assert compare_runs([saved("a", last), saved("b", first)]).against[0].vanished == []


JUDGED = ("faithfulness", "answer_relevancy")


@pytest.mark.parametrize(
    ("metric", "change"),
    [
        ("faithfulness", {"judge": JudgeRecord(model="other", origin="here")}),
        ("faithfulness", {"judge": JudgeRecord(model="one", origin="elsewhere")}),
        ("faithfulness", {"judge": JudgeRecord(model="one", origin="here", prompt_hashes={"faithfulness": "2"})}),
        ("mrr", {"eval_config": {"match": {"rule": "document"}}}),
        ("mrr", {"questions": {"q1": {"gold_passages": [GoldPassage(text="Another.")]}}}),
        ("squad_f1", {"questions": {"q1": {"expected_answer": "Another."}}}),
        ("unanswerable_accuracy", {"questions": {"q1": {"is_unanswerable": True}}}),
        ("bert_score_f1", {"semantics": {"scorer": "other"}}),
    ],
)
def test_what_was_measured_by_other_means_gets_no_verdict(saved: Saved, metric: str, change: dict[str, Any]) -> None:
    """The difference is shown, and it is said why nothing follows; a metric that is not concerned has its verdict."""
    beside = "precision_at_1" if metric not in {"mrr"} else "squad_em"
    high = 100.0 if metric == "bert_score_f1" else 1.0
    same = {
        "judge": JudgeRecord(model="one", origin="here", prompt_hashes={"faithfulness": "1"}),
        "semantics": {"scorer": "one"},
    }
    first = {f"q{n}": {metric: high, beside: 1.0} for n in range(40)}
    last = {key: {metric: 0.0, beside: 0.0} for key in first}
    alike = pairs_of(compare_runs([saved("a", first, **same), saved("b", last, **same)]))
    assert {pair.verdict for pair in alike.values()} == {"worse"}
    comparison = compare_runs([saved("a", first, **same), saved("b", last, **{**same, **change})])
    apart = pairs_of(comparison)
    assert (apart[metric].verdict, apart[metric].p, apart[beside].verdict) == ("not compared", None, "worse")
    assert apart[metric].reason is not None
    assert any(apart[metric].reason in warning for warning in comparison.warnings)


def test_another_prompt_takes_the_verdict_of_the_metrics_that_ask_it(saved: Saved) -> None:
    """The others of the same judge keep theirs."""
    first = {f"q{n}": dict.fromkeys(JUDGED, 1.0) for n in range(40)}
    last = {key: dict.fromkeys(JUDGED, 0.0) for key in first}
    judges = [JudgeRecord(model="m", origin="o", prompt_hashes={"faithfulness": digest}) for digest in ("1", "2")]
    pairs = pairs_of(compare_runs([saved("a", first, judge=judges[0]), saved("b", last, judge=judges[1])]))
    assert {name: pair.verdict for name, pair in pairs.items()} == {
        "faithfulness": "not compared",
        "answer_relevancy": "worse",
    }


def judged_by(model: str = "m", told: int | None = 40, **hashes: str) -> dict[str, Any]:
    """A judge that had the word on so many answers, as a run has it; None is a run of before."""
    judge = JudgeRecord(model=model, origin="o", prompt_hashes=hashes)
    return {"judge": judge, "outcomes": Outcomes(abstention_disputed=0, abstention_by_judge=told)}


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        (judged_by(abstention="2"), judged_by(abstention="2"), "worse"),
        (judged_by(abstention="1", told=None), judged_by(abstention="2"), "not compared"),
        (judged_by(answer_correctness="2"), judged_by(answer_correctness="3"), "not compared"),
        (judged_by(abstention="2"), judged_by("n", abstention="2"), "not compared"),
        (judged_by(abstention="2"), {}, "not compared"),
        (judged_by(abstention="1", told=None), {}, "worse"),
    ],
)
def test_abstentions_told_by_different_means_get_no_verdict(
    saved: Saved, one: dict[str, Any], other: dict[str, Any], verdict: str
) -> None:
    """A judge sees refusals that the text rules miss: the same answers would seem to be declined more often."""
    first = {f"q{n}": {"unanswerable_accuracy": 1.0, "mrr": 1.0} for n in range(40)}
    last = {key: {"unanswerable_accuracy": 0.0, "mrr": 0.0} for key in first}
    pairs = pairs_of(compare_runs([saved("a", first, **one), saved("b", last, **other)]))
    assert (pairs["unanswerable_accuracy"].verdict, pairs["mrr"].verdict) == (verdict, "worse")


def test_answers_counted_by_a_prompt_that_is_no_more_get_no_verdict(saved: Saved) -> None:
    """Their labels are those of another prompt now; two runs of before compare as ever."""
    first = {f"q{n}": {"correct_answers_count": 1.0, "mrr": 1.0} for n in range(40)}
    last = {key: {"correct_answers_count": 0.0, "mrr": 0.0} for key in first}
    before, now = judged_by(answer_classification="1"), judged_by(answer_correctness="2")
    for one, verdict in ((before, "worse"), (now, "not compared")):
        pairs = pairs_of(compare_runs([saved("a", first, **before), saved("b", last, **one)]))
        assert (pairs["correct_answers_count"].verdict, pairs["mrr"].verdict) == (verdict, "worse")


@pytest.mark.parametrize(("count", "verdict"), [(2, "not established"), (5, "not established"), (12, "better")])
def test_a_verdict_needs_six_questions_that_differ(saved: Saved, count: int, verdict: str) -> None:
    """Two questions that both became better by one step are no evidence, whatever their spread says."""
    first, last = {f"q{n}": {"mrr": 0.25} for n in range(count)}, {f"q{n}": {"mrr": 0.9} for n in range(count)}
    (pair,) = compare_runs([saved("a", first), saved("b", last)]).pairs
    assert pair.verdict == verdict
    assert pair.interval is not None
    assert (pair.interval[0] > 0) == (verdict == "better")
    assert (pair.reason is None) == (verdict == "better")


def test_latency_is_established_only_between_runs_that_were_asked_in_turn(saved: Saved) -> None:
    """An hour in which the machine was busy makes no server slower."""
    fast = {f"q{n}": {"latency_p50": 100.0 + n, "latency_p95": 100.0 + n} for n in range(100)}
    slow = {key: {name: 3 * (value or 0) for name, value in values.items()} for key, values in fast.items()}
    apart = compare_runs([saved("a", fast), saved("b", slow)]).pairs
    assert {(pair.verdict, pair.p) for pair in apart} == {("not compared", None)}
    assert {pair.difference > 0 for pair in apart} == {True}
    one_sided = compare_runs([saved("a", fast, interleaved_with=["b"]), saved("b", slow)]).pairs
    assert {pair.verdict for pair in one_sided} == {"not compared"}
    in_turn = compare_runs([saved("a", fast, interleaved_with=["b", "x"]), saved("b", slow, interleaved_with=["a"])])
    assert {pair.verdict for pair in in_turn.pairs} == {"worse"}


def test_what_else_differs_is_said(saved: Saved) -> None:
    """Models and configuration of the server, seed, and the version of evals."""
    values = series("mrr", 30)
    first = saved("a", values, seed=1, config={"top_k": 5, "chunk": {"size": 512}}, package_versions={"rag-evals": "1"})
    last = saved("b", values, seed=2, config={"top_k": 9, "chunk": {"size": 512}}, package_versions={"rag-evals": "2"})
    records = [
        record.model_copy(update={"response": record.response.model_copy(update={"model": "large"})})
        for record in last.records
        if record.response is not None
    ]
    comparison = compare_runs([first, SavedRun(last.run, records)])
    assert comparison.differences == [
        "seed: a 1, b 2",
        "evals: a 1, b 2",
        "server's models: a not said, b large",
        "server's top_k: a 5, b 9",
    ]
    assert compare_runs([first, first]).differences == []


def test_answers_without_their_lists_are_a_loss(saved: Saved) -> None:
    """A server that sends no chunks with half of its answers has no bad retrieval there, and is worse all the same."""
    first, last = saved("a", series("mrr", 30)), saved("b", series("mrr", 30))
    records = [
        record.model_copy(update={"response": record.response.model_copy(update={"chunks": None if n % 2 else []})})
        for n, record in enumerate(last.records)
        if record.response is not None
    ]
    whole = [
        record.model_copy(update={"response": record.response.model_copy(update={"chunks": []})})
        for record in first.records
        if record.response is not None
    ]
    comparison = compare_runs([SavedRun(first.run, whole), SavedRun(last.run, records)])
    (rate,) = [pair for pair in comparison.pairs if pair.name == "chunks_rate"]
    assert (rate.first, rate.last, rate.verdict, rate.is_regression) == (1.0, 0.5, "worse", True)
    assert not [pair for pair in compare_runs([first, first]).pairs if pair.name == "chunks_rate"]


def test_a_refusal_without_markers_is_no_answer_without_its_citations(saved: Saved) -> None:
    """A server that cites by markers has none in a refusal; one that declines more cites no worse."""
    first, last = saved("a", series("mrr", 30)), saved("b", series("mrr", 30))

    def answered(record: EvalRecord, *, declines: bool, cites: bool) -> EvalRecord:
        assert record.response is not None
        said = {"answer": "I do not know."} if declines else {}
        citations = [Citation(index=1)] if cites else None
        return record.model_copy(
            update={"response": record.response.model_copy(update={**said, "citations": citations})}
        )

    cited = [answered(record, declines=False, cites=n > 0) for n, record in enumerate(first.records)]
    declined = [answered(record, declines=n < 15, cites=n >= 15) for n, record in enumerate(last.records)]
    silent = [answered(record, declines=False, cites=n >= 15) for n, record in enumerate(last.records)]
    for records, verdicts in ((declined, ["identical"]), (silent, ["worse"])):
        comparison = compare_runs([SavedRun(first.run, cited), SavedRun(last.run, records)])
        found = [pair.verdict for pair in comparison.pairs if pair.name == "citations_rate"]
        assert found == verdicts, found


def test_another_way_of_asking_is_said(saved: Saved) -> None:
    """A key of the request may be the change, or what spoilt the run; where the server stands is in the heads."""
    asked = {"url": "http://a", "ask": {"json": {"top_k": 3}}}
    runs = [
        saved("a", series("mrr", 30), eval_config={"server": {"url": "http://b"}}),
        saved("b", series("mrr", 30), eval_config={"server": asked}),
    ]
    assert compare_runs(runs).differences == ["server.ask.json.top_k: a not set, b 3"]


def test_what_is_known_to_be_answerable() -> None:
    """What the dataset says goes before what gold there is."""
    assert known_answerable(EvalQuestion(question="?", is_unanswerable=False))
    assert known_answerable(EvalQuestion(question="?", expected_answer="Ten."))
    assert not known_answerable(
        EvalQuestion(question="?", is_unanswerable=True, gold_passages=[GoldPassage(text="Ten.")])
    )
    assert not known_answerable(EvalQuestion(question="?"))


@pytest.mark.parametrize("primary", [None, "recall_at_5"])
def test_metrics_with_the_same_differences_have_the_same_verdict(saved: Saved, primary: str | None) -> None:
    """Eight of fifty fell and none rose, p 0.0078: the same evidence is one test, in whatever unit and family."""
    fell = {
        **dict.fromkeys(("recall_at_5", "recall_at_1", "mrr"), range(8)),
        "ndcg_at_10": {0, 1, 2, 3, 30, 31, 32, 33},
        "precision_at_5": {0, 1, 2, 20, 21, 22, 23},
        "precision_at_1": {3, 4, 5, 41, 42, 43, 44},
        "citation_recall": {6, 7, 24, 25, 26, 45},
    }
    height = {"mrr": 0.5}
    first = {f"q{n}": {name: height.get(name, 1.0) for name in fell} for n in range(50)}
    last = {f"q{n}": {name: height.get(name, 1.0) * (n not in fell[name]) for name in fell} for n in range(50)}
    pairs = pairs_of(compare_runs([saved("a", first), saved("b", last)], primary=primary))
    same = [pairs[name] for name in ("recall_at_5", "recall_at_1", "mrr")]
    assert [(pair.verdict, pair.p) for pair in same] == [("worse", 2**-7)] * 3
    assert len({(pair.q, pair.level) for pair in same}) == 1
    assert pairs["citation_recall"].verdict != "worse"


@pytest.mark.parametrize(
    ("n", "fallen", "risen", "verdict"),
    [
        (50, 0, 0, "identical"),
        (22, 13, 5, "not established"),
        (50, 4, 0, "not established"),
        (500, 100, 100, "not established"),
        (500, 2, 2, "equivalent"),
        (500, 60, 10, "worse"),
        (500, 10, 60, "better"),
    ],
)
def test_a_verdict_says_what_is_known(saved: Saved, n: int, fallen: int, risen: int, verdict: str) -> None:
    """A recall of 0.864 that becomes 0.5 is no equality: too weak evidence says how many questions would do."""
    first = {f"q{place}": {"recall_at_5": float(place >= risen)} for place in range(n)}
    last = {f"q{place}": {"recall_at_5": float(place < n - fallen)} for place in range(n)}
    (pair,) = compare_runs([saved("a", first), saved("b", last)]).pairs
    assert pair.verdict == verdict
    assert pair.margin == pytest.approx(0.03)
    assert pair.interval is not None
    within = -0.03 < pair.interval[0] <= pair.interval[1] < 0.03
    assert within is (verdict == "equivalent")
    wanted = verdict == "not established" and fallen != risen
    assert (pair.questions_for_seen is not None and pair.questions_for_seen > n) is wanted


def test_the_questions_that_would_do_do(saved: Saved) -> None:
    """As many more like these: the verdict is there."""

    def pair(times: int) -> MetricPair:
        n = 22 * times
        first = {f"q{place}": {"recall_at_5": float(place % 22 >= 5)} for place in range(n)}
        last = {f"q{place}": {"recall_at_5": float(place % 22 < 9)} for place in range(n)}
        return compare_runs([saved("a", first), saved("b", last)]).pairs[0]

    found = pair(1)
    assert found.questions_for_seen is not None
    assert pair(-(-found.questions_for_seen // 22)).verdict == "worse"
