"""An answer that holds what is expected declines nothing, and a refusal that repeats its question holds nothing."""

import pytest

from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.refusals.detector import holds_expected


@pytest.mark.parametrize(
    ("answer", "expected", "variants", "holds"),
    [
        ("I could not find it, but Paris is mentioned.", "Paris", (), True),
        ("I could not find it, but the City of Light is.", "Paris", ("City of Light",), True),
        ("The documents do not say it.", "it", (), False),
        ("No, I do not know.", "No", (), False),
        ("Nein, das weiß ich nicht.", "nein", (), False),
        ("I found 3 documents, and none says it.", "3", (), False),
        ("None of the three documents says it.", "three", (), False),
        ("I found 31 documents, and none says it.", "31", (), True),
        ("I know nothing about the capital of France.", "the capital of France", (), False),
        ("I know nothing about Parisians.", "Paris", (), False),
        ("No answer present.", "No Answer Present.", (), False),
        ("Its origin is unknown.", "unknown", (), True),
        ("", "Paris", (), False),
        ("I do not know.", None, (), False),
    ],
)
def test_the_expected_answer_counts_as_whole_words_unless_a_refusal_would_hold_it(
    answer: str, expected: str | None, variants: tuple[str, ...], holds: bool
) -> None:
    """Not yes and no, numbers below ten, words that say nothing, and parts of the question."""
    question = EvalQuestion(question="What is the capital of France?", expected_answer=expected, answers=list(variants))
    assert holds_expected(answer, question) is holds


@pytest.mark.parametrize(("is_unanswerable", "abstains"), [(True, True), (False, False), (None, False)])
def test_an_abstention_by_its_words_is_none_where_it_holds_the_expected_answer(
    is_unanswerable: bool | None, abstains: bool
) -> None:
    """Of a question that cannot be answered nothing is expected, whatever a dataset holds beside it."""
    question = EvalQuestion(question="Who built it?", expected_answer="Kings", is_unanswerable=is_unanswerable)
    answer = EvalResponse(answer="I don't know for sure whether the Kings did.")
    assert Sample(question, answer).abstained is abstains


def test_citation_marks_do_not_part_the_words_of_the_expected_answer() -> None:
    """The answer is compared as its text is elsewhere."""
    question = EvalQuestion(question="Who?", expected_answer="Ana Ruiz", is_unanswerable=False)
    response = EvalResponse(answer="I cannot tell. Ana [1] Ruiz?", chunks=[], citations=[{"index": 1}])
    assert not Sample(question, response).abstained
