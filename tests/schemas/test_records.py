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
    MetricCounts,
    MetricResult,
    MetricSummary,
    RetrievedChunk,
    TokenUsage,
    WeightedScore,
)
from evals.schemas.dataset import CalculationCheck, Fact

SUMMARY = {
    "name": "mrr",
    "group": "retrieval",
    "sample_size": 1,
    "counts": MetricCounts(scored=1),
    "unit": "ratio",
    "higher_is_better": True,
}


MRR = {"name": "mrr", "group": "retrieval"}
FACTS = [{"name": "base", "numbers": ["300"]}]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(
    ("model", "field", "rest"),
    [
        (GoldPassage, "relevance", {"text": "t"}),
        (RetrievedChunk, "score", {}),
        (EvalResponse, "latency_ms", {}),
        (EvalResponse, "confidence", {}),
        (MetricResult, "value", MRR),
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


@pytest.mark.parametrize(
    ("model", "fields", "said"),
    [
        (MetricSummary, {**SUMMARY, "value": 0.5, "ci": (float("nan"), 1.0)}, "finite"),
        (MetricResult, MRR, "either a value, or a reason"),
        (MetricResult, {**MRR, "reason": "no gold"}, "either a value, or a reason"),
        (MetricResult, {**MRR, "missing": "transport", "reason": ""}, "either a value, or a reason"),
        (MetricResult, {**MRR, "value": 1.0, "missing": "judge", "reason": "r"}, "either a value, or a reason"),
        *((kind, {"qestion": "Who?"}, "Extra inputs") for kind in (EvalQuestion, EvalResponse, GoldPassage)),
        *((GoldPassage, {"text": "gold", "span": span}, "span must be") for span in ((3, 3), (5, 2), (-1, 4))),
        (GoldPassage, {"text": "gold", "relevance": 0.0}, "greater than 0"),
        (TokenUsage, {"prompt_tokens": -1, "completion_tokens": 1}, "greater than or equal to 0"),
        (CalculationCheck, {"kind": "calculation", "facts": FACTS, "answer": "premium"}, "not the name of one of the"),
        (Fact, {"name": "empty"}, "at least one entry"),
        (EvalQuestion, {"question": "Who?", "checks": [{"kind": "unknown", "name": "x"}]}, "kind"),
        *((Document, {"id": name, "name": "n", "text": "t"}, "id") for name in ("", "a/b", "a b", "x" * 121)),
    ],
)
def test_what_cannot_be_is_refused(model: type[BaseModel], fields: dict[str, Any], said: str) -> None:
    """A typing error in a key is not lost in silence, nor a value that nothing can be made of."""
    with pytest.raises(ValidationError, match=said):
        model.model_validate(fields)


@pytest.mark.parametrize("chunks", [None, []])
def test_nothing_said_stays_apart_from_none_found(chunks: list[RetrievedChunk] | None) -> None:
    """None (the server did not say) and an empty list (it found none) survive the way to JSON and back."""
    again = EvalResponse.model_validate_json(EvalResponse(chunks=chunks).model_dump_json())
    assert again.chunks == chunks


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
