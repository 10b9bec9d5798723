"""Shapes that no documented body has: lists side by side and within others, streams, OpenAPI documents, refusals."""

import json
from typing import Any

import pytest

from evals.client.mapping import find
from evals.run.probing.fields import section_text
from evals.run.probing.guess import guess_body
from evals.run.probing.passages import find_ok, find_usage, says_no
from evals.run.probing.pieces import guess_stream, stream_format
from evals.run.probing.plans import missing_fields, plans_of

ONE, TWO = "The lower sensor hangs at three metres.", "The heated anemometer draws eighteen watts."
QUESTION = "How high does the sensor hang?"


def _texts(body: Any) -> list[str | None]:
    guess = guess_body(body, QUESTION)
    return [row.get("text") for row in find(guess.map["chunks"], body)]


@pytest.mark.parametrize(
    "body",
    [
        {"said": "At three metres, it seems.", "ids": ["a", "b"], "bodies": [ONE, TWO], "near": [0.9, 0.1]},
        {"said": "At three metres.", "documents": [[ONE, TWO]], "ids": [["a", "b"]], "distances": [[0.1, 0.4]]},
        {
            "said": "At three metres.",
            "files": [{"name": "a.md", "parts": [{"t": ONE}]}, {"name": "b.md", "parts": [{"t": TWO}]}],
        },
        {"said": "At three metres.", "files": [{"name": "a.md", "parts": [ONE, TWO]}]},
    ],
    ids=["parallel", "a list for each query", "nested objects", "nested texts"],
)  # fmt: skip
def test_passages_are_found_in_lists_of_any_build(body: Any) -> None:
    """Both texts, in their order; the answer stands outside."""
    assert _texts(body) == [ONE, TWO]
    assert guess_body(body, QUESTION).map["answer"] == "said"


def test_two_lists_of_such_texts_are_a_guess_with_both_named() -> None:
    """Somebody may say which is meant."""
    others = ["A journey by train needs no approval.", "Hotels are paid for in capital cities."]
    body = {"answer": "At three metres.", "left": [ONE, TWO], "right": others}
    guess = guess_body(body, QUESTION)
    (doubt,) = (doubt for doubt in guess.doubts if doubt.key == "map.chunks")
    assert {doubt.chosen, *doubt.others} == {"left", "right"}
    chosen = guess_body(body, QUESTION, {"map.chunks": doubt.others[0]})
    assert chosen.map["chunks"] == doubt.others[0]


@pytest.mark.parametrize(
    ("key", "values", "expression"),
    [
        ("cited", ["a.md"], "cited[].{document_id: @}"),
        ("cited", ["c1"], "cited"),
        ("cited", ["elsewhere.md"], None),
        ("files", ["a.md", "b.md"], None),
    ],
)
def test_a_list_of_texts_cites_chunks_or_documents(key: str, values: list[str], expression: str | None) -> None:
    """A list of names that is not called so may be what was retrieved."""
    chunks = [{"id": "c1", "file": "a.md", "text": ONE}, {"id": "c2", "file": "b.md", "text": TWO}]
    guess = guess_body({"answer": "At three metres.", "chunks": chunks, key: values}, QUESTION)
    assert guess.map.get("citations") == expression


def test_a_text_as_long_as_the_answer_makes_it_a_guess() -> None:
    """Neither is called as answers are."""
    guess = guess_body({"left": "It hangs at three metres.", "right": "Ask again some other day."}, QUESTION)
    assert [(doubt.key, doubt.others) for doubt in guess.doubts] == [("map.answer", ("right",))]


def test_a_context_in_place_of_an_answer_is_a_guess() -> None:
    """A server that was asked for its context alone sends passages within one text, and lists files without texts."""
    lines = "\n".join(json.dumps({"reference_id": str(n), "content": text}) for n, text in ((1, ONE), (2, TWO)))
    context = f"Document chunks, each of which has a reference_id:\n\n```json\n{lines}\n```\n\n[1] a.md\n[2] b.md\n"
    files = [{"reference_id": "1", "file_path": "a.md", "content": None}]
    guess = guess_body({"response": context, "references": files, "llm_generated": False}, QUESTION)
    assert [(doubt.key, doubt.chosen) for doubt in guess.doubts] == [("map.answer", "response")]
    assert "may be no answer" in guess.doubts[0].why
    assert guess_body({"response": 'It is set by {"depth": 3} in the file of settings.'}, QUESTION).doubts == []


@pytest.mark.parametrize(
    ("pieces", "stream"),
    [
        (["{'x': 'It '}", "{'x': 'hangs '}", "{'x': 'low.'}"], {"delta": "data.x"}),
        (["{'x': 'It '}", "{'x': 'It hangs '}", "{'x': 'It hangs low.'}"], {"delta": "data.x", "whole": True}),
        (
            ["{'type': 'a', 'x': 'It '}", "{'type': 'a', 'x': 'hangs low.'}", "{'type': 'done', 'x': 'bye'}"],
            {"delta": "data.type == 'a' && data.x"},
        ),
    ],
)
def test_a_stream_is_read_by_its_events(pieces: list[str], stream: dict[str, Any]) -> None:
    """The text that comes in pieces is the answer, whether each has its share or all of it so far."""
    sse = "".join(f"data: {piece.replace(chr(39), chr(34))}\n\n" for piece in pieces)
    guess = guess_stream(sse, "sse", QUESTION, {})
    assert (guess.stream, guess.answer) == (stream, "It hangs low." if "type" not in pieces[0] else guess.answer)
    lines = "\n".join(piece.replace("'", '"') for piece in pieces)
    assert stream_format("application/octet-stream", lines) == "ndjson"
    assert guess_stream(lines, "ndjson", QUESTION, {}).stream == {"format": "ndjson", **stream}


def test_counts_are_known_by_name() -> None:
    """Numbers that are not called tokens are none."""
    assert find_usage({"usage": {"input_tokens": 3, "output_tokens": 4}}) == (
        "usage.{prompt_tokens: input_tokens, completion_tokens: output_tokens}"
    )
    assert find_usage({"in": 3, "out": 4}) is None


@pytest.mark.parametrize(
    ("well", "condition", "ill"),
    [
        ({"ok": True}, "ok", {"ok": False}),
        ({"state": "fine"}, "state == 'fine'", {"state": "failed"}),
        ({"code": 0}, "code == `0`", {"code": 102}),
        ({"error": None}, "!error", {"error": "no"}),
        ({"jsonrpc": "2.0", "result": {"text": "a"}}, "!error", {"jsonrpc": "2.0", "error": {"message": "no session"}}),
    ],
)
def test_a_body_says_whether_all_is_well(well: Any, condition: str, ill: Any) -> None:
    """The condition holds of the one and not of the other."""
    assert (find_ok(well), says_no(well)) == (condition, None)
    assert find(condition, well)
    assert not find(condition, ill)
    assert says_no(ill) is not None


def test_the_operation_that_asks_is_found_with_what_it_requires() -> None:
    """A list of messages holds the question; other operations come after it, or not at all."""
    message = {"type": "object", "required": ["who", "says"], "properties": {
        "who": {"type": "string", "enum": ["user", "bot"]}, "says": {"type": "string"}}}  # fmt: skip
    talk = {
        "type": "object",
        "properties": {"talk": {"type": "array", "items": message}, "stream": {"type": "boolean"}},
    }

    def operation(schema: Any) -> Any:
        return {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}

    upload = operation({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}})
    document = {"paths": {"/upload": upload, "/chat": operation(talk), "/{id}/chat": operation(talk)}}
    first, second = plans_of(document)
    assert (first.path, second.path) == ("/chat", "/upload")
    assert first.body == {"talk": [{"who": "user", "says": "{{question}}"}], "stream": False}


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ({"detail": [{"type": "missing", "loc": ["body", "a", "b"], "msg": "Field required"}]}, ("a", "b")),
        ({"error": "missing field 'wording'"}, ("wording",)),
        ({"fault": "ask.utterance is missing"}, ("ask", "utterance")),
        ({"error": "wording is required"}, ("wording",)),
        ({"error": "a field is required"}, None),
        ({"error": "the parameter is missing"}, None),
        ("nothing is named here", None),
    ],
)
def test_a_refusal_names_the_field_that_it_misses(said: Any, path: tuple[str, ...] | None) -> None:
    """As a framework writes it, and as people do."""
    assert missing_fields(json.dumps(said).encode()) == ([path] if path else [])


def test_a_section_has_a_line_for_each_part() -> None:
    """What YAML would read otherwise is in quotation marks."""
    server = {
        "url": "http://h:1",
        "ask": {"path": "/a", "json": {"q": "{{question}}", "on": True}},
        "map": {"answer": "no"},
    }
    assert section_text(server).splitlines() == [
        "server:",
        '  url: "http://h:1"',
        '  ask: {path: /a, json: {q: "{{question}}", "on": true}}',
        "  map:",
        '    answer: "no"',
    ]
