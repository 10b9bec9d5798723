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
        "`sourcs[].{text: text}`; the body: it has the keys answer, sources[] (text)"
    )


@pytest.mark.parametrize("raw", [None, "", '{"answer": "It', "["])
def test_a_body_that_is_not_there_whole_is_not_described(raw: str | None) -> None:
    """A long one is saved in part."""
    found = chunks_unfound(f"a\n  {PATH}{'x' * 90}", [BARE.model_copy(update={"raw": raw})])
    assert found is not None
    assert found.endswith("x…`")
    assert "\n" not in found


def test_a_name_that_no_file_can_hold_is_described_as_elsewhere() -> None:
    """Half of a pair of surrogates, escaped in the body, is a question mark: the run could not be saved with it."""
    found = chunks_unfound(PATH, [BARE.model_copy(update={"raw": '{"answer": "x", "\\ud800": 1}'})])
    assert found is not None
    assert found.endswith("the body: it has the keys answer, ?")


def test_a_note_on_something_else_does_not_hide_it() -> None:
    """Such as one on the stream."""
    noted = BARE.model_copy(update={"notes": ["the stream ends within an event, which is left out"]})
    assert chunks_unfound(PATH, [noted]) == chunks_unfound(PATH, [BARE])


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
