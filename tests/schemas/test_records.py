"""What records refuse, and that they do not change."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from evals.schemas import (
    Document,
    EvalQuestion,
    EvalResponse,
    GoldPassage,
    JudgeVerdict,
    KeySentence,
    MetricCounts,
    MetricGroup,
    MetricResult,
    MetricSummary,
    ParetoPoint,
    RetrievedChunk,
    TokenUsage,
    WeightedScore,
)
from evals.schemas.dataset import CalculationCheck, Fact

NOT_FINITE = [float("nan"), float("inf"), float("-inf")]
SUMMARY = {
    "name": "mrr",
    "group": "retrieval",
    "sample_size": 1,
    "counts": MetricCounts(scored=1),
    "unit": "ratio",
    "higher_is_better": True,
}


@pytest.mark.parametrize("number", NOT_FINITE)
@pytest.mark.parametrize(
    ("model", "field", "rest"),
    [
        (GoldPassage, "relevance", {"text": "t"}),
        (RetrievedChunk, "score", {}),
        (EvalResponse, "latency_ms", {}),
        (EvalResponse, "confidence", {}),
        (MetricResult, "value", {"name": "mrr", "group": "retrieval"}),
        (MetricSummary, "value", SUMMARY),
        (WeightedScore, "score", {}),
        (JudgeVerdict, "cost_usd", {"request": "faithfulness"}),
    ],
)
def test_a_number_that_json_cannot_hold_is_refused(
    model: type[BaseModel], field: str, rest: dict[str, Any], number: float
) -> None:
    """NaN and the infinities never enter a record."""
    with pytest.raises(ValidationError, match="finite"):
        model.model_validate({**rest, field: number})


@pytest.mark.parametrize(("low", "high"), [(float("nan"), 1.0), (0.0, float("inf"))], ids=["nan as low", "inf as high"])
def test_an_interval_has_finite_ends(low: float, high: float) -> None:
    """Both ends of an interval are numbers that JSON can hold."""
    with pytest.raises(ValidationError, match="finite"):
        MetricSummary.model_validate({**SUMMARY, "value": 0.5, "ci": (low, high)})


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"reason": "no gold"},
        {"missing": "transport"},
        {"missing": "transport", "reason": ""},
        {"value": 1.0, "missing": "judge", "reason": "refused"},
    ],
    ids=["nothing", "no kind", "no reason", "empty reason", "both"],
)
def test_a_result_is_a_value_or_a_reason_with_its_kind(parts: dict[str, Any]) -> None:
    """A result with neither, with half a reason or with both is refused."""
    with pytest.raises(ValidationError, match="either a value, or a reason"):
        MetricResult(name="mrr", group=MetricGroup.RETRIEVAL, **parts)


@pytest.mark.parametrize("parts", [{"value": 0.0}, {"missing": "not_applicable", "reason": "no gold passages"}])
def test_a_value_alone_or_a_reason_alone_is_a_result(parts: dict[str, Any]) -> None:
    """Zero is a value like any other, and a reason stands for a missing one."""
    result = MetricResult(name="mrr", group=MetricGroup.RETRIEVAL, **parts)
    assert (result.value is None) == (result.missing is not None)


def test_a_record_does_not_change() -> None:
    """Records are frozen: who wants another makes a copy."""
    question = EvalQuestion(question="Who?")
    with pytest.raises(ValidationError, match="frozen"):
        question.question = "Where?"  # type: ignore[misc]


@pytest.mark.parametrize("model", [EvalQuestion, EvalResponse, GoldPassage, RetrievedChunk, ParetoPoint])
def test_an_unknown_key_is_refused(model: type[BaseModel]) -> None:
    """A typing error in a key is not lost in silence."""
    with pytest.raises(ValidationError, match="Extra inputs"):
        model.model_validate({"qestion": "Who?"})


@pytest.mark.parametrize("span", [(3, 3), (5, 2), (-1, 4)])
def test_a_span_that_covers_nothing_is_refused(span: tuple[int, int]) -> None:
    """A span starts within its document and ends after its start."""
    with pytest.raises(ValidationError, match="span must be"):
        GoldPassage(text="gold", span=span)


@pytest.mark.parametrize("grade", [0.0, -1.0])
def test_a_gold_has_a_positive_grade(grade: float) -> None:
    """A passage of no relevance is no gold."""
    with pytest.raises(ValidationError, match="greater than 0"):
        GoldPassage(text="gold", relevance=grade)


@pytest.mark.parametrize("tokens", [-1, -100])
def test_token_counts_are_not_negative(tokens: int) -> None:
    """A server that counts backwards is not believed."""
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        TokenUsage(prompt_tokens=tokens, completion_tokens=1)


def test_a_calculation_names_its_result_among_the_facts() -> None:
    """A check whose answer is none of its facts could never hold."""
    with pytest.raises(ValidationError, match="not the name of one of the facts"):
        CalculationCheck(kind="calculation", facts=[Fact(name="base", numbers=["300"])], answer="premium")


def test_a_fact_needs_something_to_look_for() -> None:
    """A fact without words and numbers would never be found."""
    with pytest.raises(ValidationError, match="at least one entry"):
        Fact(name="empty")


@pytest.mark.parametrize("kind", ["unknown", "", None])
def test_a_check_of_unknown_kind_is_refused(kind: str | None) -> None:
    """Only lists, facts and calculations can be checked."""
    with pytest.raises(ValidationError, match="kind"):
        EvalQuestion.model_validate({"question": "Who?", "checks": [{"kind": kind, "name": "x"}]})


@pytest.mark.parametrize("document_id", ["", "a/b", "a b", "x" * 121])
def test_a_document_id_can_be_a_file_name(document_id: str) -> None:
    """The id is what the uploaded file is called, so it has no separators."""
    with pytest.raises(ValidationError, match="id"):
        Document(id=document_id, name="n", text="t")


def test_a_document_with_sections_is_uploaded_as_markdown() -> None:
    """The ending of the file tells the server whether there are headings to read."""
    plain = Document(id="notes", name="Notes", text="# A")
    titled = plain.model_copy(update={"sections": [{"title": "A", "start": 0, "end": 3}]})
    assert [plain.file_name, titled.file_name] == ["notes.txt", "notes.md"]


def test_a_question_survives_the_way_to_json_and_back() -> None:
    """Gold, spans, key sentences and metadata come back as they were."""
    question = EvalQuestion(
        id="q1",
        question="Who?",
        answers=["a"],
        gold_passages=[GoldPassage(text="gold", document_id="d", section="S", span=(0, 4), relevance=2)],
        key_sentences=[KeySentence(text="s", source="expected_answer")],
        is_unanswerable=False,
        metadata={"type": "list", "depth": {"n": 1}},
    )
    assert EvalQuestion.model_validate_json(question.model_dump_json()) == question


@pytest.mark.parametrize("chunks", [None, []])
def test_nothing_said_stays_apart_from_none_found(chunks: list[RetrievedChunk] | None) -> None:
    """None (the server did not say) and an empty list (it found none) survive the way to JSON and back."""
    again = EvalResponse.model_validate_json(EvalResponse(chunks=chunks).model_dump_json())
    assert again.chunks == chunks


def test_a_point_that_nothing_dominates_is_on_the_front() -> None:
    """The front is the runs that no other run dominates."""
    point = ParetoPoint(run_id="a", name="a", objectives={"latency": 1.0})
    assert point.on_front
    assert not point.model_copy(update={"dominated_by": ["b"]}).on_front


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"answers": ["Paris", "Paname"]}, "Paris"),
        ({"expected_answer": "", "answers": [" ", "Paris"]}, "Paris"),
        ({"expected_answer": "Rome", "answers": ["Paris"]}, "Rome"),
        ({"expected_answer": "Rome"}, "Rome"),
        ({"answers": []}, None),
        ({"answers": [""]}, None),
        ({"answers": ["Nobody knows."], "is_unanswerable": True}, None),
    ],
)
def test_the_first_accepted_answer_is_expected_where_a_file_names_no_other(
    given: dict[str, Any], expected: str | None
) -> None:
    """A question with variants alone has an expected answer, and keeps its variants."""
    question = EvalQuestion(question="q", **given)
    assert (question.expected_answer, question.answers) == (expected, given.get("answers", []))
    assert EvalQuestion.model_validate_json(question.model_dump_json()) == question


@pytest.mark.parametrize("known", [{"text": "gold"}, {"chunk_id": "c1"}, {"document_id": "hr.md"}], ids=str)
def test_a_gold_passage_is_known_by_its_text_or_an_id(known: dict[str, str]) -> None:
    """Judgements of relevance name a document and no words; what names nothing at all is no gold."""
    assert GoldPassage(**known).text == known.get("text", "")
    with pytest.raises(ValidationError, match="it needs a text, a chunk_id or a document_id"):
        GoldPassage(section="S")
