"""Asking on a worker, here without one: its client is made once, and does as it is told with each batch."""

import json
from collections.abc import Callable, Iterator

import pytest
from raw_server import answering

from evals.client.profile import resolve_spec
from evals.errors import ConfigError
from evals.run.workers import AskConfig, Asker, Share
from evals.schemas import EvalResponse

CONTENT = b'{"answer": "a", "session_id": "s"}'
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(CONTENT) + CONTENT
FILE = {"pipes.md": b"Burst pipes are covered up to 5000 euro."}


@pytest.fixture
def ask(serve_files: Callable[..., str]) -> Iterator[Callable[..., list[EvalResponse]]]:
    """Ask a server that holds one document, by one asker."""
    how = AskConfig(resolve_spec({"url": serve_files(FILE)}), concurrency=4, max_attempts=1, documents={})
    asker = Asker(how)

    def call(questions: list[str], share: Share) -> list[EvalResponse]:
        answers = asker.ask(questions, share)
        assert (answers.refused, answers.surplus, answers.away) == (0, 0, None)
        return [EvalResponse.model_validate_json(one) for one in answers.responses]

    yield call
    asker.close()


def test_answers_come_in_the_order_of_the_questions(ask: Callable[..., list[EvalResponse]]) -> None:
    """Batch after batch, with the time that each took here."""
    for share in (Share(1), Share(4), Share(2)):
        answers = ask(["Are burst pipes covered?", "What is the colour of Mars?"], share)
        assert [bool(one.chunks) for one in answers] == [True, False]
        assert all(one.latency_ms for one in answers)


def test_a_share_of_the_rate_is_kept(ask: Callable[..., list[EvalResponse]]) -> None:
    """The second of two questions waits for its turn, which its latency leaves out."""
    first, second = ask(["Are burst pipes covered?"] * 2, Share(2, rps=5.0))
    assert first.total_ms is not None
    assert second.total_ms is not None
    assert ask(["Are burst pipes covered?"], Share(2))[0].error is None


def test_chunks_bear_the_names_that_the_server_calls_documents_by(serve_files: Callable[..., str]) -> None:
    """As they do where this process asks: the run finds out once, and tells all workers."""
    chunks = "sources[].{document_id: document_id, text: full_text}"
    spec = resolve_spec({"url": serve_files(FILE), "map": {"chunks": chunks}})
    plain = Asker(AskConfig(spec, 1, 1, {}))
    (said,) = plain.ask(["Are burst pipes covered?"], Share(1)).responses
    plain.close()
    (chunk, *_) = EvalResponse.model_validate_json(said).chunks or []
    assert chunk.document_id
    told = Asker(AskConfig(spec, 1, 1, {chunk.document_id: "pipes.md"}))
    (said,) = told.ask(["Are burst pipes covered?"], Share(1)).responses
    told.close()
    (chunk, *_) = EvalResponse.model_validate_json(said).chunks or []
    assert chunk.document_name == "pipes.md"


def test_a_variable_that_is_not_set_on_a_worker_is_named() -> None:
    """It fills in what the configuration names, as this process does."""
    spec = resolve_spec({"url": "http://127.0.0.1:1", "headers": {"Authorization": "Bearer ${NO_SUCH_TOKEN}"}})
    with pytest.raises(ConfigError, match="NO_SUCH_TOKEN"):
        Asker(AskConfig(spec, 1, 1, {}))


def test_a_worker_asks_single_questions_and_conversations() -> None:
    """The turns of one go in their order, in the session that the server gave it."""
    ask = {"json": {"query": "{{question}}", "session_id": "{{session_id}}"}}
    with answering(lambda _: [REPLY]) as server:
        asker = Asker(
            AskConfig(resolve_spec({"url": server.url, "ask": ask, "session": {"id": "session_id"}}), 1, 1, {})
        )
        try:
            answers = asker.ask(["Why?", ["What first?", "And then?"]], Share(concurrency=1, rps=None))
        finally:
            asker.close()
        sent = [json.loads(request.partition(b"\r\n\r\n")[2]) for _, request in server.asked]
    single, talk = map(EvalResponse.model_validate_json, answers.responses)
    assert (len(single.turns), len(talk.turns)) == (0, 1)
    assert [(entry["query"], entry["session_id"]) for entry in sent if entry["query"] != "Why?"] == [
        ("What first?", None),
        ("And then?", "s"),
    ]
