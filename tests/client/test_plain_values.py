"""Lists whose items are no objects: texts, numbers, and what is neither."""

from collections.abc import Callable

from evals.schemas import EvalResponse, RetrievedChunk

Ask = Callable[..., EvalResponse]
PLAIN = {"answer": "answer", "chunks": "contexts", "citations": "cited"}


def test_a_text_is_a_chunk_with_that_text(ask: Ask) -> None:
    """In the server's order, an empty one included: ranks do not move."""
    response = ask({"answer": "a", "contexts": ["first", "", "third"]}, map=PLAIN)
    assert response.chunks == [RetrievedChunk(text=text) for text in ("first", "", "third")]
    assert response.notes == []
