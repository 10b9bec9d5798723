"""A server that only retrieves: a mapping without `answer`."""

from collections.abc import Callable
from typing import Any

import pytest
from whole_runs import count_outcomes

from evals.client import RAGClient, ServerSpec
from evals.client.mapping import MappingError
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, RetrievedChunk
from evals.scoring.notes import status_of
from evals.scoring.settings import ScoreSettings

Ask = Callable[..., EvalResponse]
RETRIEVER = {"answer": None, "chunks": "[].{chunk_id: id, text: text, score: score}"}


def test_what_was_retrieved_is_a_whole_response(ask: Ask) -> None:
    """It has no answer and no citations, and is no failure; an answer in the body is not looked for."""
    response = ask([{"id": 3, "text": "t [1]", "score": 0.5, "answer": "a [1]"}], map=RETRIEVER)
    assert response.chunks == [RetrievedChunk(chunk_id="3", text="t [1]", score=0.5)]
    assert (response.answer, response.citations, response.error) == (None, None, None)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": "no such index"}, "the body has no list at `hits`"),
        ({"hits": None}, "the body has no list at `hits`"),
        ({"hits": [["c-1", 0.7]]}, "server.map.chunks gives a list that holds a list"),
        ({"hits": "t"}, "server.map.chunks gives a text, not a list"),
    ],
)
def test_without_a_list_of_chunks_the_body_is_malformed(body: Any, said: str, ask: Ask) -> None:
    """There is nothing else that it could say."""
    response = ask(body, map={"answer": None, "chunks": "hits"})
    assert response.error is not None
    assert response.error.kind == "malformed"
    assert said in response.error.message


def test_a_stored_body_can_be_read_as_that_of_a_retriever(spec: Callable[..., ServerSpec]) -> None:
    """Another mapping costs no answers in this way either."""
    client = RAGClient(spec(map=RETRIEVER))
    assert client.reread('[{"text": "t"}]')["chunks"] == [RetrievedChunk(text="t")]
    with pytest.raises(MappingError):
        client.reread('{"answer": "a"}')


def test_no_question_counts_as_abstained_and_the_run_is_complete(ask: Ask) -> None:
    """Each is answered by what was retrieved."""
    response = ask([{"text": "t"}], map=RETRIEVER)
    questions = [EvalQuestion(question="Why?", is_unanswerable=flag) for flag in (True, False, None)]
    records = [EvalRecord(question=question, response=response) for question in questions]
    outcomes = count_outcomes(records, ScoreSettings(), ())
    assert (outcomes.answered, outcomes.abstained) == (3, 0)
    assert status_of(outcomes, 0.0, ended_early=False) == "complete"
