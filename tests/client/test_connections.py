"""What both kinds of connections keep to, over sockets that answer byte for byte."""

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, get_args

import pytest
from raw_server import RawServer, answering

from evals.client.transport import HttpLibrary, Reply, Transport, TransportFailure

LIBRARIES = get_args(HttpLibrary)
Say = Callable[[int], Iterable[bytes | None]]


def http(body: bytes = b"{}", *headers: str, status: str = "200 OK") -> bytes:
    """A response with its length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def _send(url: str, count: int, pause_s: float, options: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    async with Transport(url, **options) as transport:
        for _ in range(count):
            try:
                found.append(await transport.send("POST", "/query", json={}))
            except TransportFailure as failure:
                found.append(failure)
            await asyncio.sleep(pause_s)
    return [*found, transport.surplus.count]


def ask(server: RawServer, library: str, count: int = 1, *, pause_s: float = 0.0, **options: Any) -> list[Any]:
    """The replies or failures of some requests one after the other, and how many had a surplus."""
    options = {"library": library, "concurrency": 1, "timeout_s": 30, **options}
    return asyncio.run(_send(server.url, count, pause_s, options))


def replies(found: list[Any]) -> list[bytes]:
    """The bodies of replies."""
    assert all(isinstance(each, Reply) for each in found), found
    return [each.body for each in found]


def failure(found: Any) -> tuple[str, bool]:
    """What a failure is."""
    assert isinstance(found, TransportFailure), found
    return found.error.kind, found.retryable


pytestmark = pytest.mark.parametrize("library", LIBRARIES)


def test_a_connection_is_used_again(library: str) -> None:
    """Three answers come over one."""
    with answering(lambda n: [http(b"%d" % n)]) as server:
        *found, surplus = ask(server, library, 3)
        assert (replies(found), surplus) == ([b"0", b"1", b"2"], 0)
        assert {connection for connection, _ in server.asked} == {1}


@pytest.mark.parametrize("apart", [False, True])
def test_a_second_answer_on_a_connection_is_no_answer_to_the_next_question(library: str, apart: bool) -> None:
    """Whether it comes in one piece with the first or later: the connection is given up."""

    def say(n: int) -> list[bytes]:
        answer, surplus = http(b'"%d"' % n), http(b'"of nobody"')
        return [answer, surplus] if apart else [answer + surplus]

    with answering(say) as server:
        *found, surplus = ask(server, library, 3, pause_s=0.02)
        assert replies(found) == [b'"0"', b'"1"', b'"2"']
        assert surplus == 3 or (apart and surplus)
        assert [connection for connection, _ in server.asked] == [1, 2, 3]


@pytest.mark.parametrize(
    ("pieces", "kind", "retryable"),
    [
        ([None], "connect", True),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", None], "connect", True),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", None], "connect", True),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", None], "connect", True),
        ([b"SSH-2.0-OpenSSH_9.6\r\n", None], "connect", True),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\nhello"], "malformed", False),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Encoding: zebra\r\n\r\n{}"], "malformed", False),
        ([http(gzip.compress(b"{}")[:-9], "Content-Encoding: gzip")], "malformed", False),
        ([http(b"{}", status="503 Busy")], "status", True),
        ([http(b"{}", "Location: /there", status="302 Found")], "status", False),
    ],
)
def test_every_way_to_break_has_the_same_kind(
    pieces: list[bytes | None], kind: str, retryable: bool, library: str
) -> None:
    """By whichever library; the next question is asked on another connection, or a whole one."""
    with answering(lambda n: pieces if n == 0 else [http()]) as server:
        first, second, _ = ask(server, library, 2)
        assert failure(first) == (kind, retryable)
        assert replies([second]) == [b"{}"]


def server_waits(server: RawServer) -> Iterable[bytes | None]:
    """Nothing, until the test is over."""
    server.over.wait(30)
    return [None]


def test_a_body_that_drips_runs_into_the_deadline(library: str) -> None:
    """However often a piece comes."""

    def drip(_: int) -> Iterable[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        while not server.over.wait(0.01):
            yield b" "

    with answering(drip) as server:
        first, _ = ask(server, library, timeout_s=0.2)
        assert failure(first) == ("timeout", True)


def test_a_body_that_never_ends_is_cut(library: str) -> None:
    """At the bound, not when memory is full."""

    def pour(_: int) -> Iterable[bytes]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while not server.over.is_set():
            yield b" " * 10_000

    with answering(pour) as server:
        first, _ = ask(server, library, max_body_bytes=50_000)
        assert failure(first) == ("too_large", False)


def _deflated(data: bytes) -> bytes:
    made = zlib.compressobj(wbits=-15)
    return made.compress(data) + made.flush()


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", lambda data: gzip.compress(data[:3]) + gzip.compress(data[3:])),
        ("deflate", zlib.compress),
        ("deflate", _deflated),
        ("identity", bytes),
        ("", bytes),
    ],
)
def test_an_encoded_body_is_decoded(encoding: str, encode: Callable[[bytes], bytes], library: str) -> None:
    """Whatever the case of its name, and in parts."""
    text = json.dumps({"answer": "ä" * 70_000}).encode()
    with answering(lambda _: [http(encode(text), f"Content-Encoding: {encoding}")]) as server:
        *found, _ = ask(server, library)
        assert replies(found) == [text]


def test_a_few_bytes_that_stand_for_gigabytes_are_refused_early(library: str) -> None:
    """Before they are in memory."""
    made = zlib.compressobj(9, wbits=31)
    bomb = b"".join(made.compress(bytes(1_000_000)) for _ in range(60)) + made.flush()
    with answering(lambda _: [http(bomb, "Content-Encoding: gzip")]) as server:
        tracemalloc.start()
        first, _ = ask(server, library, max_body_bytes=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert failure(first) == ("too_large", False)
    assert peak < 30_000_000


def test_no_cookie_of_one_answer_is_sent_with_the_next_question(library: str) -> None:
    """A session would let the server know what was asked before."""
    with answering(lambda _: [http(b"{}", "Set-Cookie: session=1; Path=/")]) as server:
        ask(server, library, 2)
        assert all(b"ookie" not in request for _, request in server.asked)


def test_the_request_is_the_same(library: str) -> None:
    """Both send the same line, headers and body."""
    with answering(lambda _: [http()]) as server:
        url = f"{server.url}/base"
        asyncio.run(_send(url, 1, 0, {"library": library, "headers": {"X-Own": "a", "user-agent": "mine"}}))
        head, _, body = server.asked[0][1].partition(b"\r\n\r\n")
        line, *headers = head.decode().split("\r\n")
        named = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in headers)}
        named.pop("connection", None)
        assert (line, body) == ("POST /base/query HTTP/1.1", b"{}")
        assert named == {
            "host": url.removeprefix("http://").removesuffix("/base"),
            "accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "mine",
            "content-type": "application/json", "content-length": "2", "x-own": "a",
        }  # fmt: skip


def test_an_answer_cut_off_by_the_caller_leaves_a_place(library: str) -> None:
    """Who gives up waiting does not keep others out."""

    async def run() -> bytes:
        async with Transport(server.url, library=library, concurrency=1) as transport:
            send = partial(transport.send, "POST", "/query", json={})
            task = asyncio.ensure_future(send())
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return (await send()).body

    with answering(lambda n: server_waits(server) if n == 0 else [http(b"[]")]) as server:
        assert asyncio.run(run()) == b"[]"
