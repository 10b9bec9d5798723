"""References that hold citation marks, as one does that was copied from an answer."""

import pytest

from evals.metrics import parse_metric
from evals.metrics.base import BaseMetric
from evals.schemas import EvalQuestion, EvalResponse, RetrievedChunk

COMPARING = [
    "exact_match",
    "squad_em",
    "squad_f1",
    "keyword_coverage",
    "number_match",
    "answer_completeness",
    "fuzzy_match",
]


@pytest.fixture(params=COMPARING)
def metric(request: pytest.FixtureRequest) -> BaseMetric:
    """Each metric that lays the words of an answer beside those of a reference."""
    return parse_metric(request.param)


@pytest.mark.parametrize("variants", [[], ["9 months [1]"]])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is 9 Months [1].", "It is 9 Months [1]."),
        ("It is 9 Months.", "It is 9 Months [1]."),
        ("It is 9 Months [1].", "It is 9 Months."),
        ("It is 9 Months [2].", "It is 9 Months【1†source】."),
    ],
)
def test_citation_marks_are_no_part_of_either_side(
    metric: BaseMetric, answer: str, expected: str, variants: list[str]
) -> None:
    """The two differ in nothing else, so that each metric has its best value."""
    question = EvalQuestion(question="How long?", expected_answer=expected, answers=variants, is_unanswerable=False)
    response = EvalResponse(answer=answer, chunks=[RetrievedChunk(text="9 months")] * 2)
    assert metric.compute(question, response).value == 1


@pytest.mark.parametrize("answer", ["Section [7]", "array[1]"])
def test_what_is_no_mark_stays_on_both_sides(answer: str) -> None:
    """A number that no chunk of the response has, and one that is glued to a word and not cited."""
    question = EvalQuestion(question="Which?", expected_answer=answer, is_unanswerable=False)
    response = EvalResponse(answer=answer, chunks=[RetrievedChunk(text="x")], citations=[])
    exact = parse_metric("exact_match")
    assert exact.compute(question, response).value == 1
    assert exact.compute(question, response.model_copy(update={"answer": answer[:5]})).value == 0
