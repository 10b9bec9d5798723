"""What becomes of the parts of an answer: None where the server did not say, empty where it said none."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from evals.client import RAGClient, ServerSpec
from evals.client.mapping import MappingError, ResponseReader, find
from evals.schemas import Citation, EvalResponse, RetrievedChunk, TokenUsage

Ask = Callable[..., EvalResponse]
MISSING = object()


def _with(key: str, value: Any) -> dict[str, Any]:
    return {"answer": "a"} | ({} if value is MISSING else {key: value})


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        *((sources, None) for sources in (MISSING, None, {}, "text", 3)),
        ([], []),
        ([None, 1, "x"], [RetrievedChunk(), RetrievedChunk()]),
        ([{}], [RetrievedChunk()]),
        ([{"chunk_id": 7, "document_id": 8.5, "section": True}], [RetrievedChunk(chunk_id="7", document_id="8.5")]),
        ([{"full_text": "", "excerpt": "e"}], [RetrievedChunk(text="e")]),
        ([{"full_text": ["no"], "document_name": {}}], [RetrievedChunk()]),
        ([{"full_text": "f", "excerpt": "e"}], [RetrievedChunk(text="f")]),
    ],
)
def test_chunks_are_none_where_nothing_is_said(sources: Any, expected: Any, ask: Ask) -> None:
    """Missing, null and wrong types are None; an empty list stays one; a wrong field costs only itself."""
    assert ask(_with("sources", sources)).chunks == expected


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [
        (0, 5, (0, 5)),
        ("2", 4.0, (2, 4)),
        *((start, end, None) for start, end in ((5, 5), (6, 5), (-1, 5), (0, None), (None, 5), (0.5, 5))),
    ],
)
def test_a_chunk_has_a_place_only_where_it_has_a_beginning_and_an_end_behind_it(
    start: Any, end: Any, span: Any, ask: Ask
) -> None:
    """Whatever else a server says of a place is none."""
    over = {"map": {"answer": "answer", "chunks": "sources[].{text: text, start: from, end: to}"}}
    (chunk,) = ask(_with("sources", [{"text": "t", "from": start, "to": end}]), **over).chunks or []
    assert (chunk.text, chunk.span) == ("t", span)


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        *((citations, None) for citations in (MISSING, None, "x")),
        ([], []),
        ([{"source_index": 2, "document_id": 5}], [Citation(index=2, document_id="5")]),
        ([{"source_index": "3", "chunk_id": "c"}], [Citation(index=3, chunk_id="c")]),
        ([{"source_index": 1.5, "section": "S"}], [Citation(section="S")]),
    ],
)
def test_citations_are_none_where_nothing_is_said(citations: Any, expected: Any, ask: Ask) -> None:
    """Null means not produced, an empty list means that nothing was cited."""
    assert ask(_with("citations", citations)).citations == expected


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        *((metrics, None) for metrics in (MISSING, None, [], {"token_usage": None})),
        ({"token_usage": {"prompt_tokens": 3}}, None),
        *(({"token_usage": {"prompt_tokens": odd, "completion_tokens": 2}}, None) for odd in (None, -1)),
        ({"token_usage": {"prompt_tokens": "3", "completion_tokens": 2.0}}, (3, 2)),
        ({"token_usage": {"prompt_tokens": 0, "completion_tokens": 0}}, (0, 0)),
    ],
)
def test_usage_is_none_unless_both_counts_are_there(metrics: Any, expected: Any, ask: Ask) -> None:
    """Unknown is never zero, and half a count is none."""
    usage = expected and TokenUsage(prompt_tokens=expected[0], completion_tokens=expected[1])
    assert ask(_with("metrics", metrics)).usage == usage


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        *((odd, None) for odd in (b"null", b"NaN", b"-Infinity", b"1e999", b"1" + b"0" * 400)),
        *((odd, None) for odd in (b'"high"', b'"nan"', b"true")),
        (b'"0.5"', 0.5),
        (b"0", 0.0),
        (b"-2.5", -2.5),
    ],
)
def test_a_score_is_a_finite_number_or_none(score: bytes, expected: float | None, ask: Ask) -> None:
    """Zero stays zero; whatever is no number is None."""
    response = ask(b'{"answer":"a","sources":[{"score":' + score + b"}]}")
    assert response.chunks == [RetrievedChunk(score=expected)]


def test_clean_patterns_are_removed_before_anything_looks_at_the_answer(ask: Ask) -> None:
    """Neither the prefix nor the marker in the removed part is seen."""
    response = ask({"answer": "<think>[9]</think>assistant: yes [1]"}, clean=["<think>.*?</think>", "^assistant: "])
    assert response.answer == "yes [1]"
    assert [citation.index for citation in response.citations or []] == [1]


@pytest.mark.parametrize(
    ("expression", "body"),
    [
        ("length(a)", {"a": 1}),
        ("contains(a, `1`)", {"a": "text"}),
        ("avg(a)", {"a": [10**400]}),
        ("a[::0]", {"a": [1]}),
    ],
)
def test_an_expression_that_trips_over_the_body_is_a_mapping_error(expression: str, body: Any) -> None:
    """Whichever error the library raises, the caller sees one kind."""
    with pytest.raises(MappingError):
        find(expression, body)


def test_a_stored_body_can_be_read_again(spec: Callable[..., ServerSpec]) -> None:
    """A wrong mapping costs no answers: the raw body holds all that another one needs."""
    client = RAGClient(spec(map={"answer": "other"}))
    assert client.reread('{"answer": "a", "other": "b"}')["answer"] == "b"
    with pytest.raises(MappingError):
        client.reread('{"answer": "a"}')


@pytest.mark.parametrize("letter", ["a", "\ufdfa"])
def test_an_answer_that_is_too_long_to_be_analysed_is_a_failure(letter: str, spec: Callable[..., ServerSpec]) -> None:
    """It is measured as it is analysed: one letter can stand for 18."""
    reader, length = ResponseReader(spec()), (1 << 19) // len(unicodedata.normalize("NFKC", letter))
    assert reader.read({"answer": letter * length})["answer"] == letter * length
    with pytest.raises(MappingError, match="longer than 524,288 characters: not analysed") as caught:
        reader.read({"answer": letter * (length + 1)})
    assert caught.value.kind == "too_large"


def test_chunks_beyond_what_is_analysed_are_left_out_with_a_note(spec: Callable[..., ServerSpec]) -> None:
    """The first ones stay, in their order."""
    body = {"answer": "a", "sources": [{"full_text": f"{number}" * (1 << 19)} for number in range(10)]}
    found = ResponseReader(spec()).read(body)
    assert [chunk.text[0] for chunk in found["chunks"]] == list("01234567")
    assert found["notes"] == [
        "chunks: longer than 4,194,304 characters in all, and those from number 9 on are left out"
    ]


RETRIEVER = {"answer": None, "chunks": "[].{chunk_id: id, text: text, score: score}"}


def test_what_was_retrieved_is_a_whole_response(ask: Ask) -> None:
    """It has no answer and no citations, and is no failure; an answer in the body is not looked for."""
    response = ask([{"id": 3, "text": "t [1]", "score": 0.5, "answer": "a [1]"}], map=RETRIEVER)
    assert response.chunks == [RetrievedChunk(chunk_id="3", text="t [1]", score=0.5)]
    assert (response.answer, response.citations, response.error) == (None, None, None)


TEXTS = {"answer": "answer", "chunks": "contexts", "citations": "cited"}


def test_a_text_is_a_chunk_with_that_text(ask: Ask) -> None:
    """In the server's order, an empty one included: ranks do not move."""
    response = ask({"answer": "a", "contexts": ["first", "", "third"]}, map=TEXTS)
    assert response.chunks == [RetrievedChunk(text=text) for text in ("first", "", "third")]
    assert response.notes == []
