"""Lists whose items are no objects: texts, numbers, and what is neither."""

from collections.abc import Callable
from typing import Any

import pytest
from whole_runs import notes_on_answers

from evals.schemas import Citation, EvalQuestion, EvalRecord, EvalResponse, RetrievedChunk
from evals.scoring.settings import ScoreSettings

Ask = Callable[..., EvalResponse]
PLAIN = {"answer": "answer", "chunks": "contexts", "citations": "cited"}


def test_a_text_is_a_chunk_with_that_text(ask: Ask) -> None:
    """In the server's order, an empty one included: ranks do not move."""
    response = ask({"answer": "a", "contexts": ["first", "", "third"]}, map=PLAIN)
    assert response.chunks == [RetrievedChunk(text=text) for text in ("first", "", "third")]
    assert response.notes == []


@pytest.mark.parametrize(
    ("cited", "ids", "expected"),
    [
        ([1, 3.0], [], [Citation(index=1), Citation(index=3)]),
        (["c-1", "1.5"], [], [Citation(chunk_id="c-1"), Citation(chunk_id="1.5")]),
        (["2", " 3 "], ["c-1"], [Citation(index=2), Citation(index=3)]),
        (["2", "c-1"], ["7", "c-1"], [Citation(chunk_id="2"), Citation(chunk_id="c-1")]),
        ([2], ["7"], [Citation(index=2)]),
        ([0, -1], [], [Citation(index=0), Citation(index=-1)]),
        ([1, {"chunk_id": "c-1"}], [], [Citation(index=1), Citation(chunk_id="c-1")]),
    ],
)
def test_a_number_is_an_index_and_a_text_an_id(
    cited: list[Any], ids: list[str], expected: list[Citation], ask: Ask
) -> None:
    """A number in quotation marks is an index, unless the chunks of the answer have such ids."""
    contexts = [{"chunk_id": each, "text": "t"} for each in ids]
    response = ask({"answer": "a", "contexts": contexts, "cited": cited}, map=PLAIN)
    assert (response.citations, response.notes) == (expected, [])


@pytest.mark.parametrize(
    ("contexts", "kind"),
    [
        ([["c-1", 0.7]], "a list that holds a list"),
        (["first", 3], "a list that holds a number"),
        (["first", None], "a list that holds null"),
        ([True], "a list that holds true or false"),
        ("first", "a text, not a list"),
        ({"documents": []}, "an object, not a list"),
    ],
)
def test_chunks_of_another_type_are_null_and_named(contexts: Any, kind: str, ask: Ask) -> None:
    """Never an empty list, which would say that nothing was retrieved; the answer stays."""
    response = ask({"answer": "a", "contexts": contexts}, map=PLAIN)
    assert (response.answer, response.chunks, response.error) == ("a", None, None)
    (note,) = response.notes
    assert note.startswith(f"server.map.chunks gives {kind}")


@pytest.mark.parametrize(
    ("cited", "kind"),
    [
        ([[1, 2]], "a list that holds a list"),
        ([1, None], "a list that holds null"),
        ([False], "a list that holds true or false"),
        ([1.5], "a list that holds a number"),
        ([{}], "a list that holds an object without chunk_id, document_id, section, index"),
        ([{"start": 3, "end": 4}], "a list that holds an object without chunk_id"),
        ("c-1", "a text, not a list"),
    ],
)
@pytest.mark.parametrize("given_as", ["auto", "list"])
def test_citations_of_another_type_are_null_and_named(cited: Any, kind: str, given_as: str, ask: Ask) -> None:
    """Neither an empty list nor what the answer's text holds takes the place of a list that cannot be read."""
    over = {"map": PLAIN, "citations": {"given_as": given_as}}
    response = ask({"answer": "a [1]", "contexts": [], "cited": cited}, **over)
    assert (response.citations, response.error) == (None, None)
    (note,) = response.notes
    assert note.startswith(f"server.map.citations gives {kind}")


def test_a_note_is_told_once_in_a_run_with_its_count(ask: Ask) -> None:
    """Failures have no part in the count."""
    noted = ask({"answer": "a", "contexts": 3, "cited": []}, map=PLAIN)
    failed = ask(b"<html>")
    responses = [noted, noted, EvalResponse(answer="a", chunks=[], citations=[]), failed]
    records = [EvalRecord(question=EvalQuestion(question="Why?"), response=response) for response in responses]
    notes = notes_on_answers(records, ScoreSettings())
    assert notes == ["server.map.chunks gives a number, not a list: null in 2 of 3 answers"]


def test_a_note_on_answers_without_markers_names_the_way_to_count_them(ask: Ask) -> None:
    """A server that cites in its text sends no list: an answer without a marker says nothing, unless told otherwise."""
    sources = [{"chunk_id": "c1", "full_text": "a"}, {"chunk_id": "c2", "full_text": "b"}]
    answers = [{"answer": text, "sources": sources} for text in ("yes [1]", "no [2]", "perhaps")]
    records = [EvalRecord(question=EvalQuestion(question="Why?"), response=ask(body)) for body in answers]
    assert notes_on_answers(records, ScoreSettings()) == [
        "1 of 3 answers brings no citation: metrics of them are over the others "
        "(with server.citations.given_as: markers they cite nothing)"
    ]
    markers = [ask(body, citations={"given_as": "markers"}) for body in answers]
    counted = [EvalRecord(question=EvalQuestion(question="Why?"), response=response) for response in markers]
    assert notes_on_answers(counted, ScoreSettings()) == []
