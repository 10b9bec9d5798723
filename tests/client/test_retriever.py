"""A server that only retrieves: a mapping without `answer`."""

from collections.abc import Callable

from evals.schemas import EvalResponse, RetrievedChunk

Ask = Callable[..., EvalResponse]
RETRIEVER = {"answer": None, "chunks": "[].{chunk_id: id, text: text, score: score}"}


def test_what_was_retrieved_is_a_whole_response(ask: Ask) -> None:
    """It has no answer and no citations, and is no failure; an answer in the body is not looked for."""
    response = ask([{"id": 3, "text": "t [1]", "score": 0.5, "answer": "a [1]"}], map=RETRIEVER)
    assert response.chunks == [RetrievedChunk(chunk_id="3", text="t [1]", score=0.5)]
    assert (response.answer, response.citations, response.error) == (None, None, None)
