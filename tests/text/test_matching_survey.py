"""What a run says about matching, gathered in bounded memory."""

import pytest

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse
from evals.text.matching import MatchSettings, MatchStats, evidence_of


def record(number: int) -> EvalRecord:
    """A record whose gold stands in a document of its own, which a chunk names with its folder."""
    gold = {"text": f"Notice of {number} days.", "document_id": f"Guide-{number}.pdf"}
    chunks = [{"text": "Other.", "document_id": f"x{number}"}, {**gold, "document_id": f"in/guide-{number}_v2.pdf"}]
    return EvalRecord(
        question=EvalQuestion.model_validate({"id": f"q{number}", "question": "Q?", "gold_passages": [gold]}),
        response=EvalResponse.model_validate({"answer": "a", "chunks": chunks}),
    )


def test_a_gold_of_the_first_question_need_not_name_a_document_for_later_ones_to_be_known() -> None:
    """Names of chunks are held only once a gold has named a document; all are walked again then."""
    nameless = EvalRecord(
        question=EvalQuestion.model_validate({"id": "a", "question": "Q?", "gold_passages": [{"text": "Notice."}]}),
        response=record(0).response,
    )
    names = evidence_of([nameless, *(record(number) for number in range(12))], MatchSettings()).names
    assert names == evidence_of([record(number) for number in range(12)], MatchSettings()).names
    assert len(names.used) == 12 * 8


@pytest.mark.parametrize("again", [0, 3])
def test_what_is_gathered_as_answers_arrive_is_what_their_records_say(again: int) -> None:
    """In whatever order they come; where one is answered a second time, otherwise, the records decide."""
    records = [record(number) for number in range(40)]
    gathered = MatchStats()
    other = EvalResponse.model_validate(
        {"chunks": [{"text": "Other.", "document_id": "Guide-39.pdf", "chunk_id": "a"}]}
    )
    for one in records[:again]:
        gathered.add(one.question, other)
    for one in reversed(records):
        assert one.response is not None
        gathered.add(one.question, one.response)
    found = gathered.evidence([one.question for one in records], records, MatchSettings())
    assert found == evidence_of(records, MatchSettings())
    assert found.names.comparable is True


def test_an_answer_without_chunks_says_nothing_of_matching() -> None:
    """A failure, and an answer that comes in its place, count once."""
    records = [record(number) for number in range(5)]
    gathered = MatchStats()
    for one in records:
        assert one.response is not None
        gathered.add(one.question, EvalResponse(answer="a"))
        gathered.add(one.question, one.response)
    found = gathered.evidence([one.question for one in records], records, MatchSettings())
    assert found == evidence_of(records, MatchSettings())
