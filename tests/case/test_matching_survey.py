"""What a run says about matching, gathered in bounded memory."""

import pytest

from evals.case.matching import MatchSettings, evidence_of, survey
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse


def record(number: int) -> EvalRecord:
    """A record whose gold stands in a document of its own, which a chunk names with its folder."""
    gold = {"text": f"Notice of {number} days.", "document_id": f"Guide-{number}.pdf"}
    chunks = [{"text": "Other.", "document_id": f"x{number}"}, {**gold, "document_id": f"in/guide-{number}_v2.pdf"}]
    return EvalRecord(
        question=EvalQuestion.model_validate({"id": f"q{number}", "question": "Q?", "gold_passages": [gold]}),
        response=EvalResponse.model_validate({"answer": "a", "chunks": chunks}),
    )


def test_names_of_documents_are_the_same_where_they_are_too_many_to_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large run is walked once more instead."""
    records = [record(number) for number in range(12)]
    held = evidence_of(records, MatchSettings())
    monkeypatch.setattr(survey, "_NAMES", 5)
    assert evidence_of(records, MatchSettings()) == held
    assert len(held.names.alike) == 12
