"""The request that asks a question."""

import json
import uuid
from collections.abc import Callable
from datetime import date
from urllib.parse import parse_qsl

import httpx
import pytest
import respx

from evals.errors import ConfigError
from evals.schemas import EvalResponse

Ask = Callable[..., EvalResponse]
ANSWER = {"answer": "a"}
QUESTIONS = ['say "hi" \\ there', "two\nlines\t", "snow ☃ and 🦜", "{{uuid}} and {{question}}", "${HOME} \\1 \\g<0>"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_default_profile_sends_the_question_verbatim(question: str, ask: Ask, mocked: respx.MockRouter) -> None:
    """The body holds the question as it is, asks for chunks and shares no session."""
    ask(ANSWER, question=question)
    request = mocked.calls.last.request
    assert (request.method, request.url.path) == ("POST", "/query")
    assert json.loads(request.content) == {
        "query": question,
        "session_id": None,
        "is_temporary": True,
        "include_chunks": True,
    }


def test_placeholders_are_filled_in_path_query_headers_and_body(ask: Ask, mocked: respx.MockRouter) -> None:
    """One fresh id and the question can stand anywhere; in the path they are quoted."""
    mocked.route(path__startswith="/ask").mock(return_value=httpx.Response(200, json=ANSWER))
    over = {
        "method": "GET",
        "path": "/ask/{{uuid}}/{{question}}",
        "query": {"q": "{{ question }}"},
        "headers": {"X-Id": "{{uuid}}"},
        "json": [{"deep": ["{{uuid}}", 1, None]}],
    }
    ask(question="a/b c?", ask=over)
    request = mocked.calls.last.request
    fresh = str(uuid.UUID(request.headers["x-id"]))
    assert request.url.raw_path.decode() == f"/ask/{fresh}/a%2Fb%20c%3F?q=a%2Fb+c%3F"
    assert json.loads(request.content) == [{"deep": [fresh, 1, None]}]


def test_numbers_and_booleans_are_sent_as_they_are_written(ask: Ask, mocked: respx.MockRouter) -> None:
    """In the URL and in headers, as in JSON; nobody need put them into quotation marks."""
    query = {"limit": 10, "rerank": True, "alpha": 0.5, "q": "{{question}}", "api-version": date(2024, 10, 21)}
    ask(ANSWER, headers={"X-Tenant": 7}, ask={"query": query, "headers": {"X-Debug": False, "X-Top": 3}})
    request = mocked.calls.last.request
    assert dict(request.url.params) == {"limit": "10", "rerank": "true", "alpha": "0.5", "q": "Why?"} | {
        "api-version": "2024-10-21"
    }
    assert [request.headers[name] for name in ("x-tenant", "x-debug", "x-top")] == ["7", "false", "3"]


def test_a_form_is_sent_with_its_templates_filled_in(ask: Ask, mocked: respx.MockRouter) -> None:
    """Numbers and truth values as they are written; what a question holds breaks out of no field."""
    ask(ANSWER, question="a&b=c d?", ask={"json": None, "form": {"q": "{{question}}", "k": 5, "deep": True}})
    request = mocked.calls.last.request
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert dict(parse_qsl(request.content.decode())) == {"q": "a&b=c d?", "k": "5", "deep": "true"}


def test_a_request_has_one_body(ask: Ask) -> None:
    """A form and JSON at once are refused."""
    with pytest.raises(ConfigError, match="ask: json and form are both given"):
        ask(ANSWER, ask={"form": {"q": "{{question}}"}})


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_can_stand_in_json_within_a_text(question: str, ask: Ask, mocked: respx.MockRouter) -> None:
    """As for servers that take their input as one."""
    body = {"input": '{"query": {{question_json}}}', "q": "{{question}}"}
    ask(ANSWER, question=question, ask={"json": body})
    assert json.loads(json.loads(mocked.calls.last.request.content)["input"]) == {"query": question}


def test_an_answer_that_is_plain_text_is_read_as_one(ask: Ask) -> None:
    """It is `@` to the mapping, also where it looks like JSON."""
    text = {"ask": {"reply": "text"}, "map": {"answer": "@", "chunks": None, "citations": None, "stages": None}}
    for answer in ("Four minutes.", "42", ""):
        assert ask(httpx.Response(200, text=answer), **text).answer == answer
    refused = ask(httpx.Response(200, text="Four minutes."), map=text["map"]).error
    assert "text/plain" in refused.message
    assert "server.ask.reply: text" in refused.message


def test_a_header_of_an_optional_variable_is_sent_only_where_it_is_set(
    ask: Ask, mocked: respx.MockRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a profile can name a key that not every server wants."""
    keys = {"headers": {"Authorization": "Bearer ${RAG_KEY:-}", "X-Mode": "${RAG_MODE:-fast}"}}
    ask(ANSWER, **keys)
    assert "authorization" not in mocked.calls.last.request.headers
    assert mocked.calls.last.request.headers["x-mode"] == "fast"
    monkeypatch.setenv("RAG_KEY", "k-123")
    monkeypatch.setenv("RAG_MODE", "slow")
    response = ask({"answer": "k-123 is slow"}, **keys)
    assert mocked.calls.last.request.headers["authorization"] == "Bearer k-123"
    assert mocked.calls.last.request.headers["x-mode"] == "slow"
    assert response.answer == "*** is slow"
