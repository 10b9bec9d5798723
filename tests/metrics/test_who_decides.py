"""Of which answers a judge has the word on whether they decline: by the metrics of the run and the question."""

import pytest

from evals.metrics.judged import judge_calls, judged_abstention
from evals.metrics.registry import select
from evals.metrics.sample import ABSTENTION, CORRECTNESS, OF_BEFORE, JudgedAbstention, judges_word
from evals.schemas import EvalQuestion, JudgeVerdict

EVERY, BY_CORRECTNESS, SETTLING = JudgedAbstention("every"), JudgedAbstention("every", True), JudgedAbstention()
ANSWERABLE = EvalQuestion(id="q", dataset="d", question="How long?", expected_answer="Two hours.")
UNANSWERABLE = EvalQuestion(id="q", dataset="d", question="How long?", is_unanswerable=True)
OPEN = EvalQuestion(id="q", dataset="d", question="How long?")
STATED = UNANSWERABLE.model_copy(update={"expected_answer": "The documents do not say."})


@pytest.mark.parametrize(
    ("suites", "names", "policy"),
    [
        (["core"], [], BY_CORRECTNESS),
        (["graphrag"], [], EVERY),
        (["all"], [], BY_CORRECTNESS),
        (["answer"], [], SETTLING),
        (["qa"], [], SETTLING),
        (["claims"], [], SETTLING),
        ([], ["faithfulness", "unanswerable_accuracy"], EVERY),
        ([], ["faithfulness"], SETTLING),
    ],
)
def test_the_metrics_of_a_run_decide(suites: list[str], names: list[str], policy: JudgedAbstention) -> None:
    """Every answer is asked about where that costs no further call, or is what the run wants to know."""
    assert judged_abstention(select(suites, names)) == policy


def test_where_every_answer_is_asked_about_that_is_one_of_the_calls() -> None:
    """Which an inquiry of its own makes, and a label does not."""
    calls = {
        name: judge_calls([type(metric) for metric in select([], ["faithfulness", name])])
        for name in ("mrr", "unanswerable_accuracy", "answer_correctness")
    }
    assert calls == {"mrr": 1, "unanswerable_accuracy": 2, "answer_correctness": 2}


@pytest.mark.parametrize(
    ("question", "inquiry"),
    [(ANSWERABLE, CORRECTNESS), (UNANSWERABLE, ABSTENTION), (OPEN, ABSTENTION), (STATED, ABSTENTION)],
)
def test_an_answer_is_compared_only_with_an_expected_one(question: EvalQuestion, inquiry: str) -> None:
    """An expected refusal would show the judge that the question cannot be answered."""
    assert BY_CORRECTNESS.inquiry(question) == inquiry
    assert EVERY.inquiry(question) == SETTLING.inquiry(question) == OF_BEFORE.inquiry(question) == ABSTENTION


@pytest.mark.parametrize("question", [ANSWERABLE, UNANSWERABLE, OPEN])
def test_what_reads_like_an_answer_is_left_to_the_text_rules_only_where_nothing_is_settled_by_it(
    question: EvalQuestion,
) -> None:
    """A refusal by the text rules is always the judge's to confirm."""
    policies = (EVERY, BY_CORRECTNESS, SETTLING, OF_BEFORE)
    assert all(policy.concerns(question, reads_as_refusal=True) for policy in policies)
    settles = bool(question.is_unanswerable)
    found = [policy.concerns(question, reads_as_refusal=False) for policy in policies]
    assert found == [True, True, settles, False]


@pytest.mark.parametrize(
    ("labels", "word"),
    [
        (["declines"], True),
        (["correct"], False),
        (["partly_correct"], False),
        (["incorrect", "declines", "declines"], True),
        (["incorrect", "declines"], None),
        (["cannot_tell"], None),
        ([], None),
    ],
)
def test_most_labels_decide(labels: list[str], word: bool | None) -> None:
    """Whatever is said of the answer but that it declines says that it answers; another inquiry says nothing."""
    verdicts = [JudgeVerdict(request=CORRECTNESS, repeat=n, reply={"verdict": label}) for n, label in enumerate(labels)]
    assert judges_word(verdicts, CORRECTNESS) is word
    assert judges_word(verdicts, ABSTENTION) is None
