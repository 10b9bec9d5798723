"""A server that is busy or away for a moment, asked over real connections; and how many requests are under way."""

import asyncio
import json
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest
from raw_server import RawServer, answering

from evals import EvalConfig, run_evaluation
from evals.client import RAGClient, http
from evals.client.profile import resolve_spec
from evals.errors import EvalsError
from evals.run.asking import StopRule, ask_all
from evals.run.observer import Observer
from evals.schemas import EvalQuestion, EvalResponse

BODY = b'{"answer":"a"}'
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
BUSY = b"HTTP/1.1 %d Busy\r\nContent-Length: 0\r\n%b\r\n"


def ask(server: RawServer, questions: int, *, concurrency: int = 4, **server_keys: object) -> list[EvalResponse]:
    """Ask so many questions, all at once."""

    async def run() -> list[EvalResponse]:
        spec = resolve_spec({"url": server.url, "health": None, **server_keys})
        async with RAGClient(spec, concurrency=concurrency) as client:
            return await asyncio.gather(*(client.ask(f"q{n}") for n in range(questions)))

    return asyncio.run(run())


@pytest.mark.parametrize("status", [429, 503])
def test_a_refusal_is_no_attempt(status: int) -> None:
    """The answer that comes in the end is that of the first attempt, and what was waited for it is told."""

    def say(number: int) -> Iterable[bytes | None]:
        yield OK if number else BUSY % (status, b"")

    with answering(say) as server:
        (response,) = ask(server, 1)
    assert (response.error, response.attempts, response.answer) == (None, 1, "a")
    assert response.waited_ms >= 500
    assert response.latency_ms is not None
    assert response.latency_ms < response.waited_ms
    assert response.total_ms is not None
    assert response.total_ms >= response.waited_ms


def test_a_question_has_a_deadline() -> None:
    """Whatever is waited for, it ends there, as a timeout that names the key."""

    def say(number: int) -> Iterable[bytes | None]:
        yield BUSY % (429, b"Retry-After: 20\r\n")

    began = time.monotonic()
    with answering(say) as server:
        (response,) = ask(server, 1, deadline_s=0.3)
    assert (response.error.kind, "server.deadline_s" in response.error.message) == ("timeout", True)
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("concurrency", [1, 16])
def test_so_many_are_in_flight_and_no_more(concurrency: int) -> None:
    """A server that counts those under way sees all that are allowed, and never one more."""
    lock, flying, most = threading.Lock(), 0, 0
    full = threading.Event()

    def say(number: int) -> Iterable[bytes | None]:
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
            if flying == concurrency:
                full.set()
        full.wait(20)  # the first answers wait until as many are under way as may be
        with lock:
            flying -= 1
        yield OK

    with answering(say) as server:
        found = ask(server, 60, concurrency=concurrency)
    assert [response.error for response in found] == [None] * 60
    assert most == concurrency


def test_a_server_that_is_restarted_loses_one_round_of_attempts_and_no_question() -> None:
    """Twenty questions come while nothing listens; when something does, they are all answered."""

    def say(number: int) -> Iterable[bytes | None]:
        yield OK

    async def run(first: RawServer) -> list[EvalResponse]:
        spec = resolve_spec({"url": first.url, "health": None})
        port = int(first.url.rpartition(":")[2])
        async with RAGClient(spec, concurrency=4) as client:
            assert (await client.ask("q")).error is None
            await asyncio.to_thread(first.close)
            asked = [asyncio.create_task(client.ask(f"q{n}")) for n in range(20)]
            await asyncio.sleep(2.5)
            second = RawServer(say, port)
            try:
                return await asyncio.gather(*asked)
            finally:
                await asyncio.to_thread(second.close)

    server = RawServer(say)
    try:
        found = asyncio.run(run(server))
    finally:
        server.close()
    assert [response.error for response in found] == [None] * 20


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
CHUNK = b"%x\r\n%b\r\n" % (len(BODY), BODY)
FAULTY_EVERY = 4


@pytest.fixture
def _short_retry_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries follow within milliseconds."""
    monkeypatch.setattr(http, "_BACKOFF", lambda _state: 0.02)


def ask_questions(
    server: RawServer, questions: int, concurrency: int, **server_keys: object
) -> tuple[dict[int, EvalResponse], StopRule]:
    """Ask numbered questions as a run asks them; the responses by number, and the rule that stops the asking."""
    found: dict[int, EvalResponse] = {}
    stop = StopRule(concurrency)

    async def run() -> None:
        spec = resolve_spec({"url": server.url, "health": None, **server_keys})
        todo = [EvalQuestion(question=str(number)) for number in range(questions)]
        async with RAGClient(spec, concurrency=concurrency) as client:
            asking = ask_all(
                client.ask, todo, concurrency=concurrency, stop=stop, unavailable=lambda: client.retrying.unavailable
            )
            async for question, response in asking:
                found[int(question.question)] = response

    asyncio.run(run())
    return found, stop


def number_of(request: bytes) -> int:
    """The number that a request asks."""
    return int(json.loads(request.partition(b"\r\n\r\n")[2])["query"])


@pytest.mark.usefixtures("_short_retry_waits")
@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(["reset"], id="connection reset"),
        pytest.param([CHUNKED + b"\r\n" + CHUNK + b"0\r\nX-More: 1\r\n: 2\r\n\r\n"], id="extra trailers"),
        pytest.param([CHUNKED + b"Content-Length: 3\r\n\r\n" + CHUNK + b"0\r\n\r\n"], id="length beside chunks"),
        pytest.param([OK[: -len(BODY) // 2], "reset"], id="reset after half of the body"),
    ],
)
def test_a_server_that_breaks_every_fourth_question_is_asked_all_others(
    pieces: list[bytes | Literal["reset"] | None],
) -> None:
    """There are more faulty questions than slots; each fails after its own attempts, and the server is not gone."""

    def say(number: int) -> Iterable[bytes | Literal["reset"] | None]:
        return pieces if number_of(server.asked[number][1]) % FAULTY_EVERY == 1 else [OK]

    with answering(say) as server:
        found, stop = ask_questions(server, 80, 16, patience_s=1)
    assert stop.reason is None
    assert sorted(found) == list(range(80))
    assert [number for number, response in found.items() if response.error and number % FAULTY_EVERY != 1] == []
    assert all(response.attempts <= 3 for response in found.values())


@pytest.mark.usefixtures("_short_retry_waits")
@pytest.mark.parametrize("patience_s", [0.0, 0.5])
def test_a_server_that_is_gone_ends_the_asking(patience_s: float) -> None:
    """Nothing was answered for as long as the patience lasts, and no new connection can be made."""

    def say(number: int) -> Iterable[bytes | Literal["reset"] | None]:
        if number < 10:
            return [OK]
        server.stop_listening()
        return ["reset"]

    server = RawServer(say)
    try:
        found, stop = ask_questions(server, 200, 1, patience_s=patience_s)
    finally:
        server.close()
    assert (stop.reason or "").startswith("the server is gone: ")
    assert 10 < len(found) < 15


@pytest.mark.usefixtures("_short_retry_waits")
@pytest.mark.parametrize(("status", "is_gone"), [(200, False), (503, True)])
def test_the_health_check_decides_whether_a_server_that_resets_everything_is_gone(status: int, is_gone: bool) -> None:
    """Where it passes, each question is asked and fails for itself."""

    def say(number: int) -> Iterable[bytes | Literal["reset"] | None]:
        request = server.asked[number][1]
        if request.startswith(b"GET /health "):
            return [BUSY % (status, b"")]
        return [OK] if number_of(request) < 10 else ["reset"]

    with answering(say) as server:
        found, stop = ask_questions(server, 30, 2, patience_s=0.2, health={"path": "/health"})
    assert (stop.reason is not None) == is_gone
    assert (len(found) < 30) == is_gone


@pytest.mark.usefixtures("_short_retry_waits")
@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_rejects_everything_is_overloaded_and_not_gone(status: int) -> None:
    """It answers, only not the question."""

    def say(number: int) -> Iterable[bytes | Literal["reset"] | None]:
        return [OK] if number < 10 else [BUSY % (status, b"")]

    with answering(say) as server:
        found, stop = ask_questions(server, 200, 1, patience_s=0.3)
    assert (stop.reason or "").startswith(f"the server is overloaded: HTTP {status}")
    assert 10 < len(found) < 15


@pytest.mark.usefixtures("_short_retry_waits")
def test_the_patience_with_a_server_that_is_gone_begins_when_it_goes() -> None:
    """What it rejected before is no time in which it was away."""
    at: list[float] = []

    def say(number: int) -> Iterable[bytes | Literal["reset"] | None]:
        at.append(time.monotonic())
        if number == 0:
            return [OK]
        if time.monotonic() - at[0] < 0.6:
            return [BUSY % (429, b"")]
        server.stop_listening()
        return ["reset"]

    server = RawServer(say)
    try:
        _, stop = ask_questions(server, 200, 1, patience_s=0.8)
    finally:
        server.close()
    assert (stop.reason or "").startswith("the server is gone: ")
    assert time.monotonic() - at[-1] > 0.8


@pytest.mark.usefixtures("_short_retry_waits")
def test_waiting_for_a_server_that_is_gone_is_told_once(tmp_path: Path) -> None:
    """With its place and the time, however many questions wait for it; a rejection alone is not worth a line."""
    phases: list[str] = []

    class Phases(Observer):
        def phase(self, message: str) -> None:
            phases.append(message)

    def say(number: int) -> Iterable[bytes | Literal["reset"] | None]:
        if number < 6:
            return [BUSY % (429, b"")] if number == 3 else [OK]
        server.stop_listening()
        return ["reset"]

    questions = tmp_path / "q.jsonl"
    questions.write_text("".join(f'{{"question": "What is {number}?"}}\n' for number in range(50)))
    server = RawServer(say)
    place = server.url.removeprefix("http://")
    spec = {"profile": "none", "url": server.url, "patience_s": 0.5, "map": {"answer": "answer"}}
    spec |= {"ask": {"path": "/query", "json": {"query": "{{question}}"}}}
    keys = {"server": spec, "dataset_file": questions, "judge": False, "runs_dir": tmp_path, "concurrency": 4}
    try:
        with suppress(EvalsError):
            run_evaluation(EvalConfig.build({**keys, "preflight": False}), Phases())
    finally:
        server.close()
    assert [phase for phase in phases if "waiting" in phase] == [f"{place} does not answer; waiting up to 0.5 s"]
