"""Which verdicts of the judge each result hangs on: what makes lost ones comparable with those that are there."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.metrics import Sample, parse_metric
from evals.metrics.abstention import UnanswerableAccuracy
from evals.metrics.base import BaseMetric
from evals.metrics.claims import ContextUtilization
from evals.metrics.generation import AnswerCorrectness, Faithfulness
from evals.metrics.performance import LatencyP50
from evals.metrics.qa import FactualMatch
from evals.metrics.ragas import RagasFaithfulness
from evals.schemas import EvalQuestion, EvalResponse, RetrievedChunk

MakeCase = Callable[..., Sample]
CHUNKS = [RetrievedChunk(text="It lasts 96 hours.")]
LONG = "I am sorry, but the documents that I was given do not contain this information at all."
SHORT = "I don't know."
LABEL = {"verdict": "correct", "justification": "because"}


def whether(verdict: str) -> dict[str, Any]:
    return {"abstention": {"verdict": verdict, "justification": "because"}}


@pytest.mark.parametrize(
    ("metric", "said", "answer", "needed", "missing"),
    [
        (AnswerCorrectness(), {"answer_correctness": LABEL}, "96 hours.", ["answer_correctness"], None),
        (AnswerCorrectness(), {"answer_correctness": "refused"}, "96 hours.", ["answer_correctness"], "judge"),
        (AnswerCorrectness(), {}, SHORT, [], None),
        (AnswerCorrectness(), whether("declines"), LONG, ["abstention"], None),
        (AnswerCorrectness(), {"abstention": "refused"}, LONG, ["abstention"], "judge"),
        (AnswerCorrectness(), whether("answers"), LONG, ["abstention", "answer_correctness"], "judge"),
        (UnanswerableAccuracy(), whether("declines"), LONG, ["abstention"], None),
        (UnanswerableAccuracy(), {}, SHORT, [], None),
        (RagasFaithfulness(), {"answer_claims": {"claims": []}}, "Well.", ["answer_claims"], None),
        (RagasFaithfulness(), whether("declines"), LONG, ["abstention"], None),
        (RagasFaithfulness(), {"answer_claims": "refused"}, "96 hours.", ["answer_claims"], "judge"),
        (Faithfulness(), {"faithfulness": {"claims": []}}, "Well.", ["faithfulness"], "not_applicable"),
        (LatencyP50(), {}, "96 hours.", [], "not_applicable"),
    ],
)
def test_a_result_names_the_verdicts_that_it_hangs_on(
    judged_case: MakeCase, metric: BaseMetric, said: dict[str, Any], answer: str, needed: list[str], missing: str | None
) -> None:
    """In the order in which they are needed, up to the one that is lost; none where all is settled without a judge."""
    case = judged_case(said, answer=answer, chunks=CHUNKS, asked={"is_unanswerable": False})
    result = metric.score(case)
    assert (result.judged_by, result.missing) == (needed, missing)


def test_what_is_asked_in_any_order_is_named_in_one_order(judged_case: MakeCase) -> None:
    """A chain is followed as it is declared, so that equal needs have equal names."""
    claims = {"reference_claims": {"claims": [{"claim": "r", "importance": "vital"}]}}
    result = ContextUtilization().score(judged_case({**claims, "answer_claims": "refused"}, chunks=CHUNKS))
    assert result.judged_by == ["reference_claims", "reference_in_contexts"]
    assert result.missing == "judge"


VITAL = {"claims": [{"claim": "r", "importance": "vital"}]}
OKAY = {"claims": [{"claim": "r", "importance": "okay"}]}
NONE = {"claims": []}
NOT_FOUND = {"claims": [{"id": 1, "passages": [], "verdict": "not_said"}]}
FOUND = {"claims": [{"id": 1, "passages": [{"id": 1, "quote": "q"}], "verdict": "supported"}]}


@pytest.mark.parametrize(
    ("name", "said", "needed", "reason"),
    [
        (
            "context_utilization",
            {"reference_claims": VITAL, "reference_in_contexts": NOT_FOUND, "answer_claims": "refused"},
            ["reference_claims", "reference_in_contexts"],
            "no chunk supports a claim of the expected answer",
        ),
        ("context_utilization", {"reference_claims": NONE}, ["reference_claims"], "no chunk supports a claim"),
        ("claim_f1", {"reference_claims": NONE}, ["reference_claims"], "the expected answer states no facts"),
        ("hallucination", {"answer_claims": NONE}, ["answer_claims"], "the answer makes no claims"),
        (
            "claim_precision",
            {"reference_claims": VITAL, "answer_claims": NONE, "claims_compared": "refused"},
            ["reference_claims", "answer_claims"],
            "the answer makes no claims",
        ),
    ],
)
def test_a_verdict_that_changes_nothing_any_more_is_not_missed(
    judged_case: MakeCase, name: str, said: dict[str, Any], needed: list[str], reason: str
) -> None:
    """What is known to have no value is no loss, whatever becomes of the verdicts that were still to come."""
    result = parse_metric(name).score(judged_case(said, answer="Well then.", chunks=CHUNKS))
    assert (result.missing, result.judged_by) == ("not_applicable", needed)
    assert reason in str(result.reason)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("context_utilization", {"reference_claims": VITAL, "reference_in_contexts": FOUND}),
        ("claim_f1", {"reference_claims": OKAY, "answer_claims": NONE}),
        ("hallucination", {"answer_claims": VITAL}),
    ],
)
def test_a_verdict_that_decides_is_missed(judged_case: MakeCase, name: str, said: dict[str, Any]) -> None:
    """There is something to count, and what it is worth is not known."""
    assert parse_metric(name).score(judged_case(said, answer="Well then.", chunks=CHUNKS)).missing == "judge"


def test_without_a_judge_nothing_hangs_on_one() -> None:
    """A run without a judge has results of no stratum."""
    case = Sample(EvalQuestion(id="q", question="How long?"), EvalResponse(answer=LONG))
    assert AnswerCorrectness().score(case).judged_by == []


def test_a_fact_found_by_letters_needs_no_verdict(judged_case: MakeCase) -> None:
    """What a judge would say of it makes no difference; what is not found hangs on the judge."""
    found = FactualMatch().score(judged_case({"gptscore": "refused"}, answer="It lasts 96 hours."))
    assert (found.value, found.judged_by) == (1.0, [])
    missed = FactualMatch().score(judged_case({"gptscore": "refused"}, answer="Four days and nights in all it lasts."))
    assert (missed.value, missed.missing, missed.judged_by) == (None, "judge", ["gptscore"])
