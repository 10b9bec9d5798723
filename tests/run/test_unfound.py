"""Chunks that the mapping looks for and finds in no answer."""

import json
from typing import Any

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


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"raw": '{"answer": "x", "\\ud800": 1}'}, "the body: it has the keys answer, ?"),
        ({"notes": ["the stream ends within an event, which is left out"]}, "sources[] (text)"),
    ],
    ids=["half of a pair of surrogates, with which the run could not be saved", "a note on something else"],
)
def test_what_the_body_has_is_said_all_the_same(fields: dict[str, Any], said: str) -> None:
    """Whatever else there is to say of the answer."""
    assert (chunks_unfound(PATH, [BARE.model_copy(update=fields)]) or "").endswith(said)


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
