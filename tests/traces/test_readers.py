"""Spans of five kinds of exports, two of each."""

import json
from typing import Any

import pytest
from trace_exports import ANSWER, EXPORTS, QUESTION, START, TEXTS, attribute, otlp, otlp_span, request

from evals.answers.readers import reader_of
from evals.answers.spans import Exchange, chunk_of, documents_of, join, text_of, time_of


def read(rows: list[dict[str, Any]]) -> Exchange | None:
    """The exchange of rows that are of one trace."""
    readers = [reader_of(row) for row in rows]
    assert None not in readers
    return join([span for reader, row in zip(readers, rows, strict=True) for span in reader(row)])  # type: ignore[misc]


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_gives_the_same_exchange(name: str) -> None:
    """Question, answer, chunks, latency, tokens, model; rows may stand in any order."""
    exchange = read(EXPORTS[name]())
    assert exchange is not None
    response = exchange.response
    assert (exchange.question, response.answer, exchange.time) == (QUESTION, ANSWER, START)
    assert [chunk.text for chunk in response.chunks or []] == list(TEXTS)
    assert all(chunk.chunk_id or chunk.document_id for chunk in response.chunks or [])
    assert response.latency_ms == pytest.approx(2000, abs=0.01)
    assert response.retrieval_latency_ms == pytest.approx(500, abs=0.01)
    assert len(response.stages or []) == 1
    assert response.usage is not None
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (812, 9)
    assert response.model == "claude-sonnet-4-5"
    assert json.loads(response.model_dump_json())["error"] is None


@pytest.mark.parametrize("name", ["otlp", "langfuse", "langfuse_files", "langsmith"])
def test_the_first_token_is_timed_where_the_export_says_when_it_came(name: str) -> None:
    """From the start of the whole exchange."""
    exchange = read(EXPORTS[name]())
    assert exchange is not None
    assert exchange.response.time_to_first_token_ms == pytest.approx(1000, abs=0.01)


@pytest.mark.parametrize(
    ("name", "value"),
    [("otlp", "up"), ("openinference", "up"), ("mlflow", "up"), ("langfuse", "up"), ("langsmith", 1.0)],
)
def test_feedback_of_people_comes_along(name: str, value: object) -> None:
    """A verdict of a model is none."""
    exchange = read(EXPORTS[name]())
    assert exchange is not None
    assert exchange.feedback == {"thumb": value}


@pytest.mark.parametrize("name", ["otlp", "openinference", "langfuse", "langsmith"])
def test_the_conversation_comes_along(name: str) -> None:
    """Of LangSmith not the session, which is the project."""
    exchange = read(EXPORTS[name]())
    assert exchange is not None
    assert exchange.metadata == {"session": "c1"}


def test_documents_without_text_are_known_by_their_ids() -> None:
    """Texts are left out of most traces: what is not there is no empty text."""
    (root, steps) = otlp()
    spans = steps["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans[0]["attributes"] = [
        attribute("gen_ai.operation.name", "retrieval"),
        attribute("gen_ai.retrieval.documents", json.dumps([{"id": "d0", "score": 0.9}, {"id": "d1"}])),
    ]
    exchange = read([root, steps])
    assert exchange is not None
    assert [(chunk.chunk_id, chunk.text) for chunk in exchange.response.chunks or []] == [("d0", None), ("d1", None)]


def test_a_failed_root_says_why() -> None:
    """In the words of the export."""
    failed = otlp_span("q", "", "a", 0, 1, attributes={"input.value": "a?"}, status={"code": 2, "message": "too busy"})
    exchange = read([request(failed)])
    assert exchange is not None
    assert exchange.response.error is not None
    assert exchange.response.error.message == "too busy"


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("openinference", {"status_code": "ERROR", "status_message": float("nan")}),
        ("langfuse", {"level": "ERROR", "statusMessage": 5}),
        ("langsmith", {"error": {"code": 7}}),
    ],
)
def test_a_failure_that_is_told_in_another_form_is_one(name: str, changed: dict[str, Any]) -> None:
    """As text of some kind."""
    rows = EXPORTS[name]()
    rows[0] |= changed
    exchange = read(rows)
    assert exchange is not None
    assert exchange.response.error is not None
    assert exchange.response.error.message


def test_names_and_ids_may_be_numbers() -> None:
    """Of spans and of models."""
    rows = EXPORTS["langfuse"]()
    numbers = {row["id"]: n for n, row in enumerate(rows)}
    for row in rows[:3]:
        parent = row["parentObservationId"]
        row |= {
            "id": numbers[row["id"]],
            "parentObservationId": None if parent is None else numbers[parent],
            "model": 5,
        }
    exchange = read(rows)
    assert exchange is not None
    assert (exchange.response.model, len(exchange.response.chunks or [])) == ("5", 2)


@pytest.mark.parametrize(
    "row",
    [
        {"question": "a", "answer": "b"},
        {"trace_id": "t", "question": "a"},
        {"trace_id": "t", "type": "chat", "question": "a"},
        {"trace_id": "t", "name": "n", "value": 1, "question": "a"},
        {"context": {"trace_id": "t"}, "question": "a"},
        {"run_type": "x", "question": "a"},
        {"data": [], "info": "x"},
        {},
    ],
)
def test_a_row_of_a_log_is_no_trace(row: dict[str, Any]) -> None:
    """Also where it names its trace."""
    assert reader_of(row) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (" ", None),
        ('{"query": "a?"}', "a?"),
        ('{"broken": ', '{"broken":'),
        ({"input": {"question": "a?"}}, "a?"),
        ({"only": "a?"}, "a?"),
        ({"one": "a", "two": "b"}, None),
        ([{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b"}], "a?"),
        ([{"role": "user", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "a?"}]}], "a?"),
        ([["human", "a?"]], "a?"),
        ({"messages": [{"kwargs": {"content": "a?", "type": "human"}}]}, "a?"),
        ([{"role": "system", "content": "x"}], None),
        (7, None),
        (None, None),
    ],
)
def test_the_question_is_found_in_every_form(value: object, text: str | None) -> None:
    """As text, JSON, an object, or the last message of the user."""
    assert text_of(value, "question") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"choices": [{"message": {"role": "assistant", "content": "b"}}]}, "b"),
        ({"output": {"content": "b"}}, "b"),
        ({"result": "b", "source_documents": []}, "b"),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "b"),
        ([{"type": "text", "text": "b"}, {"type": "text", "text": "c"}], "b\nc"),
        ({"tool_calls": []}, None),
    ],
)
def test_the_answer_is_found_in_every_form(value: object, text: str | None) -> None:
    """As text, an object, a reply of a model or the last message of the assistant."""
    assert text_of(value, "answer") == text


@pytest.mark.parametrize(
    ("item", "known"),
    [
        ("a text", (None, None, "a text")),
        ({"text": "t", "id": 7}, ("7", None, "t")),
        ({"page_content": "t", "metadata": {"source": "a.md"}}, (None, "a.md", "t")),
        ({"document": {"content": "t", "id": "x"}, "score": 0.5}, ("x", None, "t")),
        ({"node": {"text": "t", "id_": "x"}, "score": 0.5}, (None, None, "t")),
        ({"text": " ", "id": "x"}, ("x", None, None)),
        ({"score": 0.5}, None),
        (7, None),
        ("", None),
    ],
)
def test_a_document_is_known_by_text_or_id(item: object, known: tuple[str | None, ...] | None) -> None:
    """Without both it is unreadable."""
    chunk = chunk_of(item)
    assert (chunk and (chunk.chunk_id, chunk.document_id, chunk.text)) == known


@pytest.mark.parametrize(
    ("value", "count", "unreadable"),
    [([], 0, 0), (["a", {"score": 1}], 1, 1), ({"documents": ["a"]}, 1, 0), ({"k": 3}, 0, 1), ("no list", 0, 1)],
)
def test_documents_that_cannot_be_read_are_counted(value: object, count: int, unreadable: int) -> None:
    """Nothing found is an empty list; what is there and cannot be read is not."""
    documents = documents_of(value)
    assert documents is not None
    assert (len(documents.chunks), documents.unreadable) == (count, unreadable)


@pytest.mark.parametrize(
    "value",
    [
        1790000000,
        "1790000000000",
        1790000000.0 * 1e6,
        str(1790000000 * 10**9),
        "2026-09-21T14:13:20Z",
        "2026-09-21 14:13:20",
    ],
)
def test_times_are_read_in_every_unit(value: object) -> None:
    """Seconds, milliseconds, microseconds, nanoseconds; dates without a zone are UTC."""
    assert time_of(value) == pytest.approx(START)
