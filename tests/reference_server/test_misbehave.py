"""Each way to misbehave, as an HTTP client sees it."""

import time
from collections.abc import Callable

import httpx
import pytest
from misbehaving import parse_switch
from servers import PATIENCE_S

Serve = Callable[..., httpx.Client]
QUESTION = {"query": "How long are daily snapshots kept?", "include_chunks": True}


def test_slow_answers_late(serve: Serve) -> None:
    """The answer is complete, only late."""
    client = serve("slow:0.3")
    started = time.perf_counter()
    assert client.post("/query", json=QUESTION).json()["citations"]
    assert time.perf_counter() - started >= 0.3


def test_status_answers_that_status_to_queries_only(serve: Serve) -> None:
    """Other endpoints keep working."""
    client = serve("status:503")
    answers = [client.post("/query", json=QUESTION) for _ in range(3)]
    assert [a.status_code for a in answers] == [503] * 3
    assert "detail" in answers[0].json()
    assert client.get("/documents").status_code == 200


def test_ratelimit_names_the_time_to_wait(serve: Serve) -> None:
    """The first N queries get 429 with Retry-After."""
    client = serve("ratelimit:1:7")
    first, second = client.post("/query", json=QUESTION), client.post("/query", json=QUESTION)
    assert (first.status_code, first.headers["retry-after"], second.status_code) == (429, "7", 200)


@pytest.mark.parametrize("kind", ["truncated", "dropped"])
def test_broken_connections_are_protocol_errors(kind: str, serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """The client sees a protocol error and the server logs nothing."""
    client = serve(kind)
    for _ in range(2):
        with pytest.raises(httpx.RemoteProtocolError):
            client.post("/query", json=QUESTION)
    assert client.get("/health").status_code == 200
    assert [r for r in caplog.records if r.name.startswith("uvicorn")] == []


def test_hang_never_answers_and_does_not_hold_up_shutdown(serve: Serve) -> None:
    """The client runs into its timeout while other endpoints answer."""
    client = serve("hang")
    with pytest.raises(httpx.ReadTimeout):
        client.post("/query", json=QUESTION, timeout=httpx.Timeout(PATIENCE_S, read=0.3))
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("kind", "field"), [("no-chunks", "sources"), ("no-citations", "citations"), ("no-usage", "metrics")]
)
def test_parts_of_the_answer_can_be_missing(kind: str, field: str, serve: Serve) -> None:
    """One field is null and the others are as ever."""
    body = serve(kind).post("/query", json=QUESTION).json()
    assert [name for name, value in body.items() if value is None] == [field]
    assert "30 days" in body["answer"]


def test_unhealthy_fails_the_health_check_only(serve: Serve) -> None:
    """GET /health answers 503 and queries are answered."""
    client = serve("unhealthy")
    assert client.get("/health").status_code == 503
    assert client.post("/query", json=QUESTION).status_code == 200


def test_every_picks_the_same_questions_each_time(serve: Serve) -> None:
    """About one question in K is hit, and always the same ones."""
    client = serve("every:3:status:418")

    def codes(order: list[int]) -> dict[int, int]:
        return {i: client.post("/query", json={"query": f"question {i}"}).status_code for i in order}

    forward, backward = codes(list(range(60))), codes(list(range(59, -1, -1)))
    assert forward == backward
    assert 8 <= list(forward.values()).count(418) <= 32


_ARGUMENTS = [
    "slow",
    "slow:x",
    "slow:nan",
    "status:200",
    "status:304",
    "status:500:0",
    "html:1",
    "ratelimit",
    "wrong-chunks",
]
_SHARES = ["wrong-chunks:0", "wrong-chunks:1.5", "wrong-chunks:x", "wrong-chunks:0.5:x", "wrong-chunks:0.5:1:2"]
_NESTED = ["every:0:html", "every:2", "every:2:unhealthy", "every:2:every:2:html"]


@pytest.mark.parametrize("text", ["", "nonsense", *_ARGUMENTS, *_SHARES, *_NESTED])
def test_unknown_switches_are_refused(text: str) -> None:
    """A switch that means nothing is an error with a sentence."""
    with pytest.raises(ValueError, match="is not a way to misbehave"):
        parse_switch(text)
