"""The generation metrics: arithmetic over scripted verdicts, abstentions, and what is missing."""

from typing import Any

import pytest

from evals.metrics.generation import AnswerCorrectness, AnswerRelevancy, Faithfulness
from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict, MetricResult, RetrievedChunk
from evals.schemas.verdicts import VerdictRequest

ABSTENTION = "I don't know."


def question(**fields: Any) -> EvalQuestion:
    return EvalQuestion(**{"id": "q", "question": "How long?", "expected_answer": "96 hours", **fields})


def response(answer: str = "96 hours.", **fields: Any) -> EvalResponse:
    return EvalResponse(**{"answer": answer, "chunks": [RetrievedChunk(text="It lasts 96 hours.")], **fields})


def measure(metric: Any, verdicts: list[JudgeVerdict], *, judged: bool = True, **fields: Any) -> MetricResult:
    asked = fields.get("question", question())
    result: MetricResult = metric.score(Sample(asked, fields.get("response", response()), verdicts, judged=judged))
    return result


def claims(*verdicts: str) -> JudgeVerdict:
    listed = [{"claim": v, "justification": "", "quote": "96 hours", "verdict": v} for v in verdicts]
    return JudgeVerdict(request="faithfulness", reply={"claims": listed, "injection_suspected": False})


def label(request: str, verdict: str, **fields: Any) -> JudgeVerdict:
    return JudgeVerdict(request=request, reply={"verdict": verdict, "justification": "", "quote": ""}, **fields)


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [
        (["supported"], 1.0),
        (["not_said"], 0.0),
        (["contradicted"], 0.0),
        (["unsupported"], 0.0),  # of a judge of before
        (["supported", "not_said"], 0.5),
        (["supported", "supported", "contradicted", "cannot_tell"], 2 / 3),
    ],
)
def test_faithfulness_is_the_share_of_supported_claims(verdicts: list[str], value: float) -> None:
    """Claims on which the judge could not tell do not count."""
    assert measure(Faithfulness(), [claims(*verdicts)]).value == pytest.approx(value)


def test_an_answer_without_claims_has_no_faithfulness() -> None:
    """Nothing said is neither faithful nor unfaithful, and no failure of the judge."""
    result = measure(Faithfulness(), [claims()])
    assert (result.value, result.missing) == (None, "not_applicable")
    assert measure(Faithfulness(), [claims("cannot_tell")]).missing == "judge"


@pytest.mark.parametrize(("verdict", "value"), [("correct", 1.0), ("partly_correct", 0.5), ("incorrect", 0.0)])
def test_correctness_is_read_off_its_label(verdict: str, value: float) -> None:
    """Three labels, three values; a fourth says that the judge could not tell."""
    assert measure(AnswerCorrectness(), [label("answer_correctness", verdict)]).value == value
    undecided = measure(AnswerCorrectness(), [label("answer_correctness", "cannot_tell")])
    assert (undecided.value, undecided.missing) == (None, "judge")


@pytest.mark.parametrize(
    ("metric", "unanswerable", "answer", "value"),
    [
        (Faithfulness, False, ABSTENTION, None),
        (AnswerCorrectness, False, ABSTENTION, 0.0),
        (AnswerRelevancy, False, ABSTENTION, 0.0),
        (AnswerCorrectness, True, ABSTENTION, None),
        (AnswerRelevancy, True, ABSTENTION, None),
        (AnswerCorrectness, True, "96 hours.", 0.0),
        (AnswerRelevancy, None, ABSTENTION, 0.0),
    ],
)
def test_abstentions_are_settled_without_the_judge(
    metric: Any, unanswerable: bool | None, answer: str, value: float | None
) -> None:
    """Abstaining on an answerable question counts as 0, or it would raise the mean; nothing is asked for it."""
    expected = None if unanswerable else "96 hours"
    asked = question(is_unanswerable=unanswerable, expected_answer=expected)
    case = Sample(asked, response(answer), judged=True)
    assert metric().requests(case) == []
    result = metric().score(case)
    assert result.value == value
    assert result.missing == (None if value is not None else "not_applicable")


def test_what_is_needed_is_what_is_asked_for() -> None:
    """Faithfulness never sees the reference, relevancy neither reference nor passages."""
    case = Sample(question(), response(), judged=True)
    assert set(Faithfulness().requests(case)[0].data) == {"contexts", "question", "answer"}
    assert set(AnswerRelevancy().requests(case)[0].data) == {"question", "answer"}
    assert AnswerCorrectness().requests(Sample(question(expected_answer=None), response(), judged=True)) == []
    assert Faithfulness().requests(Sample(question(), response(chunks=None), judged=True)) == []


def test_a_metric_with_a_judge_asks_it_by_itself() -> None:
    """`Faithfulness(judge=…).compute(question, response)` needs no run."""

    class Yes:
        async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
            assert request.prompt == "faithfulness"
            return [claims("supported", "not_said")]

    assert Faithfulness(judge=Yes()).compute(question(), response()).value == 0.5
