"""The generation metrics: arithmetic over scripted verdicts, abstentions, and what is missing."""

from typing import Any

import pytest
from metrics.records import judged, lack, verdicts_on

from evals.metrics import Sample, parse_metric
from evals.metrics.generation import Faithfulness
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import VerdictRequest


def claims(*verdicts: str) -> dict[str, Any]:
    return {"claims": [{"claim": v, "justification": "", "quote": "96 hours", "verdict": v} for v in verdicts]}


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [
        (["supported"], 1.0),
        *[([verdict], 0.0) for verdict in ("not_said", "contradicted", "unsupported")],  # the last of a judge of before
        (["supported", "not_said"], 0.5),
        (["supported", "supported", "contradicted", "cannot_tell"], 2 / 3),
    ],
)
def test_faithfulness_is_the_share_of_supported_claims(verdicts: list[str], value: float) -> None:
    """Claims on which the judge could not tell do not count."""
    assert Faithfulness().score(judged({"faithfulness": claims(*verdicts)})).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("name", "reply", "missing"),
    [
        ("faithfulness", claims(), "not_applicable"),
        ("faithfulness", claims("cannot_tell"), "judge"),
        ("answer_correctness", {"verdict": "cannot_tell"}, "judge"),
    ],
)
def test_an_answer_without_claims_is_no_failure_of_the_judge(name: str, reply: dict[str, Any], missing: str) -> None:
    """Nothing said is neither faithful nor unfaithful; a judge that could not tell might have given a value."""
    result = parse_metric(name).score(judged({name: reply}))
    assert (result.value, result.missing) == (None, missing)


@pytest.mark.parametrize(("verdict", "value"), [("correct", 1.0), ("partly_correct", 0.5), ("incorrect", 0.0)])
def test_correctness_is_read_off_its_label(verdict: str, value: float) -> None:
    """Three labels, three values."""
    assert parse_metric("answer_correctness").score(judged({"answer_correctness": {"verdict": verdict}})).value == value


@pytest.mark.parametrize(
    ("name", "unanswerable", "answer", "value"),
    [
        ("faithfulness", False, "I don't know.", None),
        ("answer_correctness", False, "I don't know.", 0.0),
        ("answer_relevancy", False, "I don't know.", 0.0),
        ("answer_correctness", True, "I don't know.", None),
        ("answer_relevancy", True, "I don't know.", None),
        ("answer_correctness", True, "96 hours.", 0.0),
        ("answer_relevancy", None, "I don't know.", 0.0),
    ],
)
def test_abstentions_are_settled_without_the_judge(
    name: str, unanswerable: bool | None, answer: str, value: float | None
) -> None:
    """Abstaining on an answerable question counts as 0, or it would raise the mean; nothing is asked for it."""
    expected = None if unanswerable else "96 hours"
    case = judged(answer=answer, is_unanswerable=unanswerable, expected_answer=expected)
    assert parse_metric(name).requests(case) == []
    result = parse_metric(name).score(case)
    assert (result.value, result.missing) == (value, None if value is not None else "not_applicable")


def test_what_is_needed_is_what_is_asked_for() -> None:
    """Faithfulness never sees the reference, relevancy neither reference nor passages."""

    def shown(name: str, case: Sample) -> list[set[str]]:
        return [set(request.data) for request in parse_metric(name).requests(case)]

    assert shown("faithfulness", judged()) == [{"contexts", "question", "answer"}]
    assert shown("answer_relevancy", judged()) == [{"question", "answer"}]
    assert shown("answer_correctness", judged(expected_answer=None)) == []
    assert shown("faithfulness", judged(chunks=None)) == []


def test_a_metric_with_a_judge_asks_it_by_itself() -> None:
    """`Faithfulness(judge=…).compute(question, response)` needs no run; without a judge it has no value."""

    class Yes:
        async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
            assert request.prompt == "faithfulness"
            return verdicts_on("faithfulness", claims("supported", "not_said"))

    case = judged()
    assert Faithfulness(judge=Yes()).compute(case.question, case.response).value == 0.5
    alone = Faithfulness().compute(case.question, case.response)
    assert lack(alone) == (None, "not_applicable", "no judge was used")
