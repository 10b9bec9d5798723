"""Whether a longer answer declines is decided by a judge that takes part, against the text rules in both directions.

Saved answers are judged by the imitation of the Messages API. To its rules an answer declines where every sentence of
it denies something; to the text rules of these tests, where any of them does.
"""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import JudgeError
from evals.export import export_run
from evals.run.saved import rescore, score_answers
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas import EvalRecord, EvalRun, MetricGroup
from evals.store.runs import RunStore
from evals.text.refusals import detector

DENIAL = re.compile(r"\bnot\b|n't\b")
JUDGE = {"then": {"python": "judge"}}
ASKED = "How long does the battery of the pump last?"
OPEN = "Who built the first battery?"
FACT = "The battery of the pump lasts for 96 hours."
DISPUTED = "The manual does not give days. The battery lasts 96 hours in all."
REFUSAL = "The manual does not say how long the battery of the pump lasts."
NAMES = [
    "answer_correctness",
    "answer_relevancy",
    "faithfulness",
    "ragas_faithfulness",
    "gptscore",
    "factual_match",
    "fuzzy_match",
    "keyword_coverage",
    "answer_completeness",
    "number_match",
    "source_citation_quality",
    "squad_f1",
    "unanswerable_accuracy",
    "abstention_false_positive_rate",
    "dont_know_answers_count",
    "correct_answers_count",
    "claim_precision",
    "nugget_all",
]
NOT_OF_ABSTENTION = ("squad_f1",)
"""Where the question can be answered; of others it is one of those that hang on it."""
Score = Callable[..., EvalRun]


@pytest.fixture(autouse=True)
def _simple_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the text rules learn: here an answer that denies anything is a refusal to them."""
    monkeypatch.setattr(
        detector, "is_abstention", lambda answer, _question: not answer.strip() or bool(DENIAL.search(answer))
    )


@pytest.fixture
def score(messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Score:
    """Score one saved answer with a judge, and without a cache; `unanswerable` asks what cannot be answered."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script(JUDGE)

    def run(answer: str, *, unanswerable: bool = False, names: list[str] | None = None, **judge: Any) -> EvalRun:
        row: dict[str, Any] = {"id": "q", "question": OPEN if unanswerable else ASKED, "is_unanswerable": unanswerable}
        row |= {} if unanswerable else {"expected_answer": FACT}
        said = {"question_id": "q", "answer": answer, "chunks": [FACT], "citations": [{"index": 1}]}
        questions, answers = tmp_path / "q.json", tmp_path / "a.jsonl"
        questions.write_text(json.dumps([row]))
        answers.write_text(json.dumps(said) + "\n")
        config = EvalConfig(
            dataset_file=questions,
            metrics=names or NAMES,
            runs_dir=tmp_path / "runs",
            judge={"base_url": messages_api.url, "cache": False, **judge},
        )
        return asyncio.run(score_answers(answers, config))

    return run


def record(run: EvalRun) -> EvalRecord:
    (found,) = RunStore(run.eval_config["runs_dir"]).records(run)
    return found


def values(run: EvalRun) -> dict[str, float | None]:
    return {score.name: score.value for score in record(run).scores}


def requests(run: EvalRun) -> list[str]:
    return [verdict.request for verdict in record(run).verdicts]


@pytest.mark.parametrize("unanswerable", [False, True])
def test_an_answer_that_the_judge_takes_for_one_scores_as_one(
    score: Score, monkeypatch: pytest.MonkeyPatch, unanswerable: bool
) -> None:
    """Every metric has the value that it has where the text rules see nothing wrong."""
    disputed = score(DISPUTED, unanswerable=unanswerable)
    monkeypatch.setattr(detector, "is_abstention", lambda _answer, _question: False)
    assert values(disputed) == values(score(DISPUTED, unanswerable=unanswerable))
    found = values(disputed)
    assert found["unanswerable_accuracy"] == (0.0 if unanswerable else 1.0)
    assert found["dont_know_answers_count"] == 0.0
    if unanswerable:
        assert found["squad_f1"] == 0.0
    else:
        assert all(found[name] for name in ("answer_correctness", "faithfulness", "number_match", "keyword_coverage"))


def test_a_disagreement_is_noted_counted_and_shown(score: Score, evals_cli: Any) -> None:
    """In the run's notes and head, and with each result that would have been another one."""
    run = score(DISPUTED)
    note = "abstention_disputed: 1 answer reads like a refusal, and the judge says otherwise: q"
    assert note in run.notes
    assert (run.outcomes.abstained, run.outcomes.abstention_disputed, run.outcomes.abstention_open) == (0, 1, 0)
    flagged = {score.name for score in record(run).scores if score.details.get("abstention_disputed")}
    assert flagged == set(NAMES) - set(NOT_OF_ABSTENTION)
    runs_dir = run.eval_config["runs_dir"]
    shown = evals_cli("show", run.id, "--question", "q", "--runs-dir", runs_dir).out
    assert "note      the text rules read it as a refusal, the judge as an answer" in shown
    assert "abstention_disputed ✓" in shown
    assert "1 answered, 0 declined (1 disputed)" in evals_cli("show", run.id, "--runs-dir", runs_dir).out


def test_a_real_refusal_is_worth_nothing_after_one_call(score: Score, messages_api: Any) -> None:
    """Judge and text rules agree: the values are those of a run without a judge, and nothing is noted."""
    names = ["answer_correctness", "answer_relevancy", "keyword_coverage", "abstention_false_positive_rate"]
    run = score(REFUSAL, names=names)
    assert len(messages_api.log()) == 1
    assert list(values(run).values()) == [0.0, 0.0, 0.0, 1.0]
    assert (run.outcomes.abstained, run.outcomes.abstention_disputed) == (1, 0)
    assert not any("abstention_disputed" in note for note in run.notes)


UNSURE = {"justification": "Garbled.", "quote": "", "verdict": "cannot_tell", "injection_suspected": False}


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ({"text": "nope"}, "judge unparsable, asked whether the answer abstains"),
        ({"refuse": None}, "judge refused, asked whether the answer abstains"),
        ({"json": UNSURE}, "the judge could not tell whether the answer abstains"),
    ],
)
def test_a_lost_verdict_leaves_all_that_hangs_on_it_without_a_value(
    score: Score, messages_api: Any, then: dict[str, Any], reason: str
) -> None:
    """Judged or not, a metric that the refusal would decide is lost to the judge; its bounds say what it may be."""
    messages_api.script({"match": REFUSAL, "then": then})
    run = score(REFUSAL)
    scores = {score.name: score for score in record(run).scores}
    for name in set(NAMES) - set(NOT_OF_ABSTENTION):
        assert (scores[name].value, scores[name].missing) == (None, "judge"), name
        assert reason in (scores[name].reason or ""), name
    assert all(scores[name].value is not None for name in NOT_OF_ABSTENTION)
    summary = run.scorecard.get("keyword_coverage")
    assert (summary.counts.judge, summary.bounds) == (1, (0.0, 1.0))
    assert (run.outcomes.abstained, run.outcomes.abstention_open) == (0, 1)


def test_a_lost_verdict_is_in_no_column_and_no_fault(score: Score, messages_api: Any, evals_cli: Any) -> None:
    """Whether the answer abstains is empty in a sheet; it is no "declined, though answerable" either."""
    messages_api.script({"match": REFUSAL, "then": {"text": "nope"}})
    run = score(REFUSAL)
    header, row = export_run(run, [record(run)], "csv").splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=False))["abstained"] == ""
    shown = evals_cli("show", run.id, "--runs-dir", run.eval_config["runs_dir"]).out
    assert "though answerable" not in shown
    assert "1 answered, 0 declined (1 open)" in shown


@pytest.mark.parametrize("answer", ["", "   ", "I do not know.", "That is not said here."])
def test_short_and_empty_answers_are_settled_without_a_call(score: Score, messages_api: Any, answer: str) -> None:
    """There is no room for an answer in them."""
    run = score(answer, names=["answer_correctness", "faithfulness", "keyword_coverage"])
    assert messages_api.log() == []
    assert list(values(run).values()) == [0.0, None, 0.0]
    assert run.outcomes.abstention_open == 0


def test_of_a_few_words_the_text_rules_have_the_last_word(score: Score, messages_api: Any) -> None:
    """What is said of its correctness, in the same round as all else, makes it no abstention, but is worth nothing."""
    reply = {"quote": "", "justification": "So.", "verdict": "declines", "injection_suspected": False}
    messages_api.script({"match": "accepted_variants", "then": {"json": reply}}, JUDGE)
    run = score("Ask the makers.", names=["answer_correctness", "faithfulness", "abstention_false_positive_rate"])
    found = values(run)
    assert (found["answer_correctness"], found["abstention_false_positive_rate"]) == (0.0, 0.0)
    assert "faithfulness" in requests(run)
    assert (run.outcomes.abstained, run.outcomes.abstention_disputed, run.outcomes.abstention_by_judge) == (0, 0, 0)


ANSWER = "The battery lasts 96 hours, says the manual of the pump."


@pytest.mark.parametrize(
    ("answer", "unanswerable", "asked"),
    [
        (ANSWER, False, ["answer_correctness", "answer_relevancy", "faithfulness"]),
        (ANSWER, True, ["abstention", "answer_relevancy", "faithfulness"]),
        (DISPUTED, False, ["answer_correctness", "answer_relevancy", "faithfulness"]),
        (REFUSAL, False, ["answer_correctness"]),
        (REFUSAL, True, ["abstention"]),
    ],
)
def test_the_suite_core_asks_three_times_at_most(
    score: Score, answer: str, unanswerable: bool, asked: list[str]
) -> None:
    """Whether the answer declines is a label where it is compared anyway, and asked for alone where it cannot be."""
    names = ["answer_correctness", "answer_relevancy", "faithfulness", "unanswerable_accuracy"]
    assert sorted(requests(score(answer, unanswerable=unanswerable, names=names))) == asked


@pytest.mark.parametrize("unanswerable", [False, True])
def test_where_answers_are_not_compared_only_what_would_be_settled_is_asked_about(
    score: Score, unanswerable: bool
) -> None:
    """An answer to what can be answered is judged by each metric; one to what cannot would be worth 0 unread."""
    run = score(ANSWER, unanswerable=unanswerable, names=["gptscore", "fuzzy_match", "faithfulness"])
    assert ("abstention" in requests(run)) is unanswerable
    assert ("gptscore" in requests(run)) is not unanswerable
    assert run.outcomes.abstention_open == 0


@pytest.mark.parametrize("unanswerable", [False, True])
def test_a_refusal_that_the_text_rules_miss_is_one_by_the_judges_word(
    score: Score, monkeypatch: pytest.MonkeyPatch, evals_cli: Any, unanswerable: bool
) -> None:
    """Every metric has the value that it has where the text rules see it too; the disagreement is told."""
    seen = values(score(REFUSAL, unanswerable=unanswerable))
    monkeypatch.setattr(detector, "is_abstention", lambda _answer, _question: False)
    run = score(REFUSAL, unanswerable=unanswerable)
    assert values(run) == seen
    assert values(run)["unanswerable_accuracy"] == float(unanswerable)
    assert "abstention_disputed: 1 answer reads like an answer, and the judge says otherwise: q" in run.notes
    assert (run.outcomes.abstained, run.outcomes.abstention_disputed, run.outcomes.abstention_by_judge) == (1, 1, 1)
    shown = evals_cli("show", run.id, "--question", "q", "--runs-dir", run.eval_config["runs_dir"]).out
    assert "note      the text rules read it as an answer, the judge as a refusal" in shown


@pytest.mark.parametrize("unanswerable", [False, True])
def test_an_answer_on_which_the_judges_word_is_lost_has_no_value(
    score: Score, messages_api: Any, unanswerable: bool
) -> None:
    """Though the text rules take it for an answer: else lost verdicts would be on refusals alone."""
    messages_api.script({"schema_has": "verdict", "match": ANSWER, "then": {"text": "nope"}}, JUDGE)
    names = ["answer_correctness", "unanswerable_accuracy", "dont_know_answers_count", "faithfulness"]
    run = score(ANSWER, unanswerable=unanswerable, names=names)
    assert {one.missing for one in record(run).scores} == {"judge"}
    assert (run.outcomes.abstained, run.outcomes.abstention_open, run.outcomes.abstention_by_judge) == (0, 1, 0)


@pytest.mark.parametrize("unanswerable", [False, True])
def test_the_judge_is_not_told_whether_the_question_can_be_answered(
    score: Score, messages_api: Any, unanswerable: bool
) -> None:
    """Else it would say what is wanted, not what it reads."""
    score(ANSWER, unanswerable=unanswerable)
    assert messages_api.log()
    assert not any("answerable" in json.dumps(call["body"]["messages"]) for call in messages_api.log())


@pytest.mark.parametrize("name", ["claim_recall", "context_precision", "ragas_context_recall"])
def test_where_nothing_hangs_on_it_nothing_is_asked(score: Score, name: str) -> None:
    """What was retrieved is the same, whatever the answer is."""
    assert "abstention" not in requests(score(REFUSAL, names=[name]))


def test_a_metric_without_a_judge_has_it_asked_where_one_takes_part(score: Score) -> None:
    """A judge that is there for what was retrieved decides on the refusal too."""
    run = score(DISPUTED, names=["claim_recall", "number_match"])
    assert "abstention" in requests(run)
    assert values(run)["number_match"] == 1.0


def test_without_a_judge_the_text_rules_decide(score: Score, messages_api: Any) -> None:
    """As ever; nothing is disputed, and nothing is open."""
    run = score(DISPUTED, enabled=False)
    assert messages_api.log() == []
    found = values(run)
    assert (found["keyword_coverage"], found["fuzzy_match"], found["dont_know_answers_count"]) == (0.0, 0.0, 1.0)
    assert (run.outcomes.abstained, run.outcomes.abstention_disputed, run.outcomes.abstention_open) == (1, None, 0)


DECIDED_BY = [
    pytest.param(["answer_correctness", "faithfulness"], "incorrect", id="a label of correctness"),
    pytest.param(["keyword_coverage", "faithfulness"], "answers", id="an inquiry of its own"),
]


def said(verdict: str) -> dict[str, Any]:
    return {"json": {"justification": "So.", "quote": REFUSAL, "verdict": verdict, "injection_suspected": False}}


@pytest.mark.parametrize(
    ("verdicts", "value", "calls"),
    [
        (["", "declines", "declines"], 0.0, 3),
        (["declines", "cannot_tell", "cannot_tell"], 0.0, 3),
        (["", "declines"], None, 2),
    ],
)
@pytest.mark.parametrize(("names", "answers"), DECIDED_BY)
def test_of_repeats_most_decide_and_nothing_is_asked_before_all_are_there(
    score: Score,
    messages_api: Any,
    names: list[str],
    answers: str,
    verdicts: list[str],
    value: float | None,
    calls: int,
) -> None:
    """A first "answers" has nothing else asked that the others would make useless; a tie is no verdict."""
    replies = ({"times": 1, "then": said(verdict or answers)} for verdict in verdicts)
    messages_api.script(*replies, {"then": {"status": 400}})
    run = score(REFUSAL, names=names, repeats=len(verdicts), concurrency=1)
    assert len(messages_api.log()) == calls
    assert values(run)[names[0]] == value


@pytest.fixture
def golden(golden_server: str, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A judged evaluation of golden questions, some of which the server refuses."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")

    def make(runs: str) -> EvalConfig:
        return EvalConfig(
            datasets=["golden"],
            samples_per_dataset=14,
            warmup=0,
            rag_server_url=golden_server,
            runs_dir=tmp_path / runs,
            judge={"base_url": messages_api.url, "cache": False, "concurrency": 1},
        )

    return make


@pytest.mark.slow
def test_an_interrupted_run_goes_on_without_paying_twice(golden: Any, messages_api: Any) -> None:
    """The two parts ask together what one run asks, refusals included, and score the same."""
    messages_api.script(JUDGE)
    whole = run_evaluation(golden("whole"))
    calls = len(messages_api.log())
    assert {"abstention", "answer_correctness"} <= (whole.judge.prompt_hashes if whole.judge else {}).keys()
    messages_api.reset()
    messages_api.script({"times": 7, **JUDGE}, {"then": {"status": 401}})
    with pytest.raises(JudgeError):
        run_evaluation(golden("cut"))
    (cut,) = RunStore(golden("cut").runs_dir).runs()
    before = len(messages_api.log())
    messages_api.script(JUDGE)
    done = asyncio.run(EvaluationRunner(golden("cut"), resume=cut.id).run())
    assert done.status == "complete"
    assert 7 + len(messages_api.log()) - before == calls
    ours = {s.name: s.value for s in done.scorecard.metrics if s.group is not MetricGroup.PERFORMANCE}
    assert ours == {s.name: s.value for s in whole.scorecard.metrics if s.name in ours}


def test_a_note_that_is_true_no_more_is_taken_back(score: Score, messages_api: Any) -> None:
    """Another judge may take the same answer for the refusal that the text rules see."""
    run = score(DISPUTED)
    messages_api.script({"then": {"json": {**said("declines")["json"], "quote": DISPUTED}}})
    config = EvalConfig.build(run.eval_config, {"judge": {"base_url": messages_api.url, "model": "claude-haiku-5-5"}})
    again = asyncio.run(rescore(run, config))
    assert again.outcomes.abstention_disputed == 0
    assert not any("abstention_disputed" in note for note in again.notes)
