"""One exchange over sockets that answer byte for byte: what is sent, what is read, and how each failure is named."""

import asyncio
import gzip
import json
import socket
import tracemalloc
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from email.utils import formatdate
from typing import Any

import httpx
import pytest
from raw_server import answering

from evals.client.http import AdaptiveLimit, ExchangeError, HttpClient, Reply, check_url, retry_after_s
from evals.errors import ConfigError


def http(body: bytes = b"{}", *headers: str, status: str = "200 OK") -> bytes:
    """A response with its length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def send(url: str, count: int = 1, *, method: str = "POST", pause_s: float = 0.0, **options: Any) -> list[Any]:
    """The replies or failures of some requests, one after the other."""

    async def run() -> list[Any]:
        found: list[Any] = []
        async with HttpClient(url, **{"timeout_s": 30, **options}) as client:
            for _ in range(count):
                try:
                    found.append(await client.send(method, "/query", json={}))
                except ExchangeError as failure:
                    found.append(failure)
                await asyncio.sleep(pause_s)
        return found

    return asyncio.run(run())


def bodies(found: list[Any]) -> list[bytes]:
    """The bodies of replies."""
    assert all(isinstance(each, Reply) for each in found), found
    return [each.body for each in found]


def failure(found: Any) -> tuple[str, bool]:
    """What a failure is."""
    assert isinstance(found, ExchangeError), found
    return found.kind, found.retryable


def test_a_connection_is_used_again() -> None:
    """Three answers come over one."""
    with answering(lambda n: [http(b"%d" % n)]) as server:
        assert bodies(send(server.url, 3)) == [b"0", b"1", b"2"]
        assert {connection for connection, _ in server.asked} == {1}


def test_hosts_that_are_dropped_refused_and_unknown_are_told_apart() -> None:
    """The library makes one error of all three."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with answering(lambda _: [None]) as server:
        (dropped,) = send(server.url)
    for found, said in (
        (dropped, "ServerDisconnectedError: Server disconnected"),
        (*send(refused), f"cannot connect to {refused.removeprefix('http://')}: Connection refused"),
        (*send("http://rag.invalid:8001"), "cannot connect to rag.invalid:8001: "),
    ):
        assert failure(found) == ("connect", True)
        assert found.message.startswith(said)


def test_nothing_is_repeated_but_by_us() -> None:
    """Neither a GET on a connection that the server closed."""

    def say(n: int) -> list[bytes | None]:
        return [http()] if n == 0 else [None]

    with answering(say) as server:
        first, second = send(server.url, 2, method="GET")
        assert (bodies([first]), failure(second)) == ([b"{}"], ("connect", True))
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("identity", bytes),
    ],
)
def test_an_encoded_body_is_decoded(encoding: str, encode: Callable[[bytes], bytes]) -> None:
    """Whatever the case of its name."""
    text = json.dumps({"answer": "ä" * 70_000}).encode()
    with answering(lambda _: [http(encode(text), f"Content-Encoding: {encoding}")]) as server:
        assert bodies(send(server.url)) == [text]


def test_a_few_bytes_that_stand_for_gigabytes_are_refused_early() -> None:
    """Before they are in memory."""
    made = zlib.compressobj(9, wbits=31)
    bomb = b"".join(made.compress(bytes(1_000_000)) for _ in range(60)) + made.flush()
    with answering(lambda _: [http(bomb, "Content-Encoding: gzip")]) as server:
        tracemalloc.start()
        (found,) = send(server.url, max_body_bytes=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert failure(found) == ("too_large", False)
    assert peak < 30_000_000


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_cookies_stay_in_their_jar(host: str) -> None:
    """A session would let the server know what was asked before; the library keeps cookies of names, not of numbers."""

    async def run(url: str) -> None:
        async with HttpClient(url) as client:
            jar = httpx.Cookies()
            for cookies in (None, jar, jar, None, httpx.Cookies()):
                await client.send("POST", "/query", cookies=cookies)

    with answering(lambda n: [http(b"{}", f"Set-Cookie: session={n}; Path=/")]) as server:
        asyncio.run(run(server.url.replace("127.0.0.1", host)))
        sent = [b"session=1" in request if b"cookie:" in request else None for _, request in server.asked]
    assert sent == [None, None, True, None, None]


def test_what_is_sent_is_what_was_asked_for() -> None:
    """The line, the headers of the library and of ours, and the body without blanks."""
    with answering(lambda _: [http()]) as server:
        send(f"{server.url}/base/", headers={"X-Own": " a ", "user-agent": "mine"})
        head, _, body = server.asked[0][1].partition(b"\r\n\r\n")
    line, *headers = head.decode().split("\r\n")
    named = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in headers)}
    assert (line, body) == ("POST /base/query HTTP/1.1", b"{}")
    assert named == {
        "host": server.url.removeprefix("http://"), "accept": "*/*", "accept-encoding": "gzip, deflate",
        "user-agent": "mine", "content-type": "application/json", "content-length": "2", "x-own": "a",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("headers", "sent"), [({}, "Basic YUBubmE6cEBzcw=="), ({"authorization": "Bearer own"}, "Bearer own")]
)
def test_a_login_in_the_url_is_sent_unless_a_header_says_otherwise(headers: dict[str, str], sent: str) -> None:
    """The URL's login, decoded, becomes a header; the user's Authorization header goes before it."""
    with answering(lambda _: [http()]) as server:
        bodies(send(server.url.replace("://", "://a%40nna:p%40ss@"), headers=headers))
        request = server.asked[0][1].decode()
    assert [line for line in request.split("\r\n") if line.startswith("authorization")] == [f"authorization: {sent}"]
    assert "nna" not in request


def test_an_answer_cut_off_by_the_caller_leaves_a_connection() -> None:
    """Who gives up waiting does not keep others out."""

    async def run() -> bytes:
        async with HttpClient(server.url) as client:
            task = asyncio.ensure_future(client.send("POST", "/query"))
            while not server.asked:
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return (await client.send("POST", "/query")).body

    def say(n: int) -> Iterable[bytes | None]:
        if n == 0:
            server.over.wait(30)
        return [http(b"[]")]

    with answering(say) as server:
        assert asyncio.run(run()) == b"[]"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        *(({"retry-after": odd}, None) for odd in ("", "soon", "-3", ".", "²", "Fri, 99 Foo 2026 99:99:99 GMT")),
        ({}, None),
    ],
)
def test_a_server_says_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    """In seconds, in milliseconds or as a date; a date in the past means now, and garbage nothing."""
    assert retry_after_s(headers) == seconds


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:8001", "ftp://h", "http://", "http://h:99999", "http://[::1", "http://h:0"),
        *("http://my host", "http://h/a b", "http://h\n:1", "http://999.1.1.1"),
        *("http://h/?q=1", "http://h/#a"),
    ],
)
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    """The message holds the URL."""
    with pytest.raises(ConfigError, match="not a URL"):
        check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://h", "https://h:8443/a", "http://my_service:80", "http://[::1]:8001", "http://127.0.0.1:1"),
        *("http://h.", "http://münchen.de", "http://user:p%40ss@h:8001", "http://localhost:65535"),
    ],
)
def test_every_address_that_can_be_asked_is_taken(url: str) -> None:
    """Names of containers, addresses of both kinds, names of any script, logins."""
    assert check_url(url) == url


async def _places(limit: AdaptiveLimit) -> int:
    """How many requests it lets fly, when those under way have ended."""
    for _ in range(2):
        taken = 0
        with suppress(TimeoutError):
            while True:
                await asyncio.wait_for(limit.free.acquire(), 0.01)
                taken += 1
        for _ in range(taken):
            limit.release(answered=False)
    return taken


def test_the_limit_halves_with_a_refusal_and_grows_by_one_a_round() -> None:
    """Refusals of one round count once; never below one, never above what was set."""

    async def run() -> None:
        limit = AdaptiveLimit(8)
        for started in (0.0, 0.5, 0.9):
            limit.shrink(started, now=1.0)
        assert await _places(limit) == 4
        for now in (2.0, 3.0, 4.0, 5.0):
            limit.shrink(now, now)
        assert await _places(limit) == 1
        for places in (2, 3, 4):
            for _ in range(places - 1):
                await limit.free.acquire()
                limit.release(answered=True)
            assert await _places(limit) == places
        for _ in range(100):
            await limit.free.acquire()
            limit.release(answered=True)
        assert await _places(limit) == 8

    asyncio.run(run())
