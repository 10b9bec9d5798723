"""Chunks that the mapping looks for and finds in no answer."""

import json

import pytest

from evals.run.corpus import chunks_unfound
from evals.schemas import EvalResponse, ResponseError, RetrievedChunk

RAW = json.dumps({"answer": "It runs for 96 hours.", "sources": [{"text": "It runs."}]})
BARE = EvalResponse(answer="It runs for 96 hours.", raw=RAW)
FAILED = EvalResponse(error=ResponseError(kind="timeout", message="no answer came"))
PATH = "sourcs[].{text: text}"


def test_a_path_that_finds_nothing_is_told_with_what_the_body_has() -> None:
    """Of the answers that came; failures say nothing of the mapping."""
    assert chunks_unfound(PATH, [FAILED, BARE, BARE]) == (
        "server.map.chunks found nothing in 2 of 2 answers, so retrieval is not measured: nothing is at "
        "`sourcs[].{text: text}`; the body: it is {answer: a text, sources: [{text: a text}]}"
    )


@pytest.mark.parametrize(
    ("path", "responses"),
    [
        (None, [BARE]),
        (PATH, []),
        (PATH, [FAILED]),
        (PATH, [BARE, BARE.model_copy(update={"chunks": []})]),
        (PATH, [BARE, BARE.model_copy(update={"chunks": [RetrievedChunk(text="It runs.")]})]),
        (PATH, [BARE.model_copy(update={"notes": ["server.map.chunks is a number"]})]),
    ],
)
def test_nothing_is_said_where_nothing_is_amiss(path: str | None, responses: list[EvalResponse]) -> None:
    """No path, no answer, a list in one of them, or a note that says already what stood there."""
    assert chunks_unfound(path, responses) is None
