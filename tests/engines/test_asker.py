"""Asking on a worker, here without one: its client is made once, and does as it is told with each batch."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from raw_server import answering

from evals.client.profile import resolve_spec
from evals.errors import ConfigError
from evals.schemas import EvalResponse

cluster = pytest.importorskip("evals.run.cluster", exc_type=ImportError)
CONTENT = b'{"answer": "a", "session_id": "s"}'
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(CONTENT) + CONTENT
FILE = {"pipes.md": b"Burst pipes are covered up to 5000 euro."}


@contextmanager
def asker(spec: dict[str, Any], documents: dict[str, str] | None = None) -> Iterator[Callable[..., list[EvalResponse]]]:
    """Ask as a worker does."""
    made = cluster.Asker(resolve_spec(spec), concurrency=4, max_attempts=1, documents=documents or {})
    made.setup(None)

    def ask(questions: list[str | list[str]], width: int) -> list[EvalResponse]:
        answers = made.ask(questions, width)
        assert (answers.refused, answers.away) == (0, None)
        return [EvalResponse.model_validate_json(one) for one in answers.responses]

    try:
        yield ask
    finally:
        made.teardown(None)


def test_answers_come_in_the_order_of_the_questions(serve_files: Callable[..., str]) -> None:
    """Batch after batch, with the time that each took here."""
    with asker({"url": serve_files(FILE)}) as ask:
        for width in (1, 4, 2):
            answers = ask(["Are burst pipes covered?", "What is the colour of Mars?"], width)
            assert [bool(one.chunks) for one in answers] == [True, False]
            assert all(one.latency_ms for one in answers)


def test_chunks_bear_the_names_that_the_server_calls_documents_by(serve_files: Callable[..., str]) -> None:
    """As they do where this process asks: the run finds out once, and tells all workers."""
    chunks = "sources[].{document_id: document_id, text: full_text}"
    spec = {"url": serve_files(FILE), "map": {"chunks": chunks}}
    with asker(spec) as ask:
        (plain,) = ask(["Are burst pipes covered?"], 1)
    given = (plain.chunks or [])[0].document_id or ""
    with asker(spec, {given: "pipes.md"}) as ask:
        (named,) = ask(["Are burst pipes covered?"], 1)
    assert (named.chunks or [])[0].document_name == "pipes.md"


def test_a_variable_that_is_not_set_on_a_worker_is_named() -> None:
    """It fills in what the configuration names, as this process does."""
    spec = {"url": "http://127.0.0.1:1", "headers": {"Authorization": "Bearer ${NO_SUCH_TOKEN}"}}
    with asker(spec) as ask, pytest.raises(ConfigError, match="NO_SUCH_TOKEN"):
        ask(["Why?"], 1)


def test_a_worker_asks_single_questions_and_conversations() -> None:
    """The turns of one go in their order, in the session that the server gave it."""
    sends = {"json": {"query": "{{question}}", "session_id": "{{session_id}}"}}
    with answering(lambda _: [REPLY]) as server:
        with asker({"url": server.url, "ask": sends, "session": {"id": "session_id"}}) as ask:
            single, talk = ask(["Why?", ["What first?", "And then?"]], 1)
        sent = [json.loads(request.partition(b"\r\n\r\n")[2]) for _, request in server.asked]
    assert (len(single.turns), len(talk.turns)) == (0, 1)
    assert [(entry["query"], entry["session_id"]) for entry in sent if entry["query"] != "Why?"] == [
        ("What first?", None),
        ("And then?", "s"),
    ]
