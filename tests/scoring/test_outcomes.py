"""How the questions of a run ended."""

import pytest
from whole_runs import count_outcomes, notes_on_answers

from evals.judges.models import Identity
from evals.judges.record import VerdictTally
from evals.schemas import Citation, EvalQuestion, EvalRecord, EvalResponse, GoldPassage, JudgeVerdict, RetrievedChunk
from evals.schemas.verdicts import JudgeUsage
from evals.scoring.settings import ScoreSettings, ScoringContext


def record(question_id: str = "q", **response: object) -> EvalRecord:
    question = EvalQuestion(id=question_id, question="Who?", gold_passages=[GoldPassage(text="Kings ruled there.")])
    return EvalRecord(question=question, response=EvalResponse(answer="Kings.", **response))


@pytest.mark.parametrize(
    ("chunks", "invalid"), [(None, 0), ([], 1), ([RetrievedChunk(chunk_id="a", text="Kings ruled there.")], 0)]
)
def test_a_citation_is_invalid_only_where_the_chunks_are_known(
    chunks: list[RetrievedChunk] | None, invalid: int
) -> None:
    """Nobody knows what a citation points to where the server does not say what it retrieved."""
    outcomes = count_outcomes(
        [record(chunks=chunks, citations=[Citation(index=1)])], ScoringContext(ScoreSettings()), ()
    )
    assert (outcomes.citations, outcomes.invalid_citations) == (1, invalid)


@pytest.mark.parametrize(("chunks", "noted"), [(None, True), ([], False)])
def test_answers_without_any_list_of_chunks_are_noted(chunks: list[RetrievedChunk] | None, noted: bool) -> None:
    """A mapping that finds nothing looks like a server that sends nothing; an empty list is a list."""
    notes = notes_on_answers([record(chunks=chunks)], ScoringContext(ScoreSettings()))
    assert any("server.map.chunks does not find them" in note for note in notes) == noted


def test_the_judges_share_is_for_the_questions_that_were_judged() -> None:
    """Questions that brought no answer to judge do not make the judge look cheap."""
    usage = JudgeUsage(input_tokens=10, output_tokens=2)
    verdict = JudgeVerdict(request="answer_relevancy", cost_usd=0.02, usage=usage)
    tally = VerdictTally()
    for verdicts in ([verdict], [], []):
        tally.add(verdicts)
    found = tally.record(Identity("m", "o", "p"), 1, prevented=0, left=0)
    assert found.cost_per_query_usd == pytest.approx(0.02)


@pytest.mark.parametrize("expected", ["unknown", "Unknown."])
def test_an_answer_that_is_what_is_expected_is_no_abstention(expected: str) -> None:
    """Whatever its words; without that it declines."""
    question = EvalQuestion(question="Who built it?", expected_answer=expected, is_unanswerable=False)
    cases = ScoringContext(ScoreSettings())
    assert not cases.of(EvalRecord(question=question, response=EvalResponse(answer="unknown"))).abstained
    other = question.model_copy(update={"expected_answer": "Kings"})
    assert cases.of(EvalRecord(question=other, response=EvalResponse(answer="unknown"))).abstained


@pytest.mark.parametrize(("total", "noted"), [(9_800.0, True), (120.0, False), (None, False)])
def test_users_who_wait_longer_than_the_latency_says_are_noted(total: float | None, noted: bool) -> None:
    """A tail of 91 ms is no tail where users wait ten seconds for their turn; saved answers do not say."""
    records = [record(latency_ms=91.0, total_ms=total) for _ in range(20)]
    notes = notes_on_answers(records, ScoringContext(ScoreSettings()))
    found = [note for note in notes if note.startswith("users wait longer than latency_p95 says")]
    assert len(found) == noted
    assert all("9.8 s with retries and waiting for room, 0.1 s without" in note for note in found)
