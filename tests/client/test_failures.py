"""How every way to fail is named, and which are worth another attempt."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from evals.schemas import EvalResponse

Ask = Callable[..., EvalResponse]
ANSWER = {"answer": "a"}


def _subclasses(cls: type[Exception]) -> Iterator[type[Exception]]:
    yield cls
    for sub in cls.__subclasses__():
        yield from _subclasses(sub)


TIMEOUTS = {"TimeoutException", "ReadTimeout", "WriteTimeout", "PoolTimeout"}
LASTING = {"UnsupportedProtocol", "DecodingError", "TooManyRedirects", "InvalidURL", "RequestError"}
LASTING |= {"HTTPStatusError", "HTTPError"}
ERRORS = sorted({*_subclasses(httpx.HTTPError), httpx.InvalidURL}, key=lambda cls: cls.__name__)


@pytest.mark.parametrize("cls", ERRORS, ids=lambda cls: cls.__name__)
def test_every_error_of_the_library_has_a_kind(cls: type[Exception], ask: Ask) -> None:
    """No exception class of the HTTP library escapes from asking; network errors are tried again."""
    error = cls("boom", request=None, response=None) if cls is httpx.HTTPStatusError else cls("boom")  # type: ignore[call-arg]
    response = ask(error, error, error)
    assert response.error.kind == ("timeout" if cls.__name__ in TIMEOUTS else "connect")
    assert response.attempts == (1 if cls.__name__ in LASTING else 3)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_passing_failures_are_asked_again(status: int, ask: Ask) -> None:
    """An answer after failures is an answer, and says what it took."""
    response = ask(httpx.Response(status), httpx.Response(status), ANSWER)
    assert (response.answer, response.error, response.attempts) == ("a", None, 3)
    assert response.waited_ms > 0


@pytest.mark.parametrize("status", [301, 304, 400, 401, 403, 404, 405, 413, 422])
def test_other_refusals_are_final(status: int, ask: Ask) -> None:
    """The status and what the server said are recorded after one attempt."""
    response = ask(httpx.Response(status, json={"detail": "no  thanks"}), ANSWER)
    assert (response.error.kind, response.error.status, response.attempts) == ("status", status, 1)
    assert "no thanks" in response.error.message
    assert response.raw == '{"detail":"no  thanks"}'
    assert response.latency_ms is None


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"answer": "cut', b'{"result": 1}', b"[]", b'"text"', b"null"])
def test_a_malformed_body_is_not_asked_for_again(body: bytes, ask: Ask) -> None:
    """The server answered, only not as the profile says."""
    response = ask(body, ANSWER)
    assert (response.error.kind, response.error.status, response.attempts) == ("malformed", 200, 1)
    assert response.raw == body.decode()


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("https://rag.test/query", "it redirects to https://rag.test/query, and nothing is sent there: correct"),
        ("/v2/query", "it redirects to /v2/query, and nothing is sent there: correct the URL, if that is right)"),
        ("https://me:secret@sso.test/login?token=s3cr3t", "it redirects to https://sso.test/login, and nothing"),
    ],
)
def test_a_redirect_is_not_followed_and_named(location: str, said: str, ask: Ask) -> None:
    """A question goes nowhere but where its user sent it; the message holds the address to use, and no login."""
    response = ask(httpx.Response(307, headers={"location": location}))
    assert response.error.message.startswith(f"HTTP 307 ({said}")
    assert "secret" not in response.error.message
    assert "s3cr3t" not in response.error.message


@pytest.mark.parametrize(
    ("allow", "said"),
    [
        ("GET, HEAD", 'HTTP 405 (POST was sent; the server allows GET, HEAD): {"detail":"Method Not Allowed"}'),
        (None, 'HTTP 405 (POST was sent; the server allows another): {"detail":"Method Not Allowed"}'),
    ],
)
def test_a_method_that_is_not_allowed_is_named_with_those_that_are(allow: str | None, said: str, ask: Ask) -> None:
    """What the server's Allow says, where it says it."""
    headers = {"allow": allow} if allow else {}
    response = ask(httpx.Response(405, json={"detail": "Method Not Allowed"}, headers=headers))
    assert response.error.message == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"result": "a", "usage": None}, "it is {result: a text, usage: null}"),
        (
            {"choices": [{"message": {"content": "a"}}], "usage": {"tokens": 3}, "ids": []},
            "it is {choices: [{message: {content: a text}}], usage: {tokens: a number}, ids: a list, and empty}",
        ),
        ({f"k{n}": n for n in range(20)}, "k11: a number, …"),
        ({"x" * 99: 1}, "it is {" + "x" * 40),
        ({}, "it is an object, and empty"),
        ([], "it is a list, and empty"),
        ([{"text": "t", "score": 1}], "it is [{text: a text, score: a number}]"),
        (["t"], "it is [a text]"),
        ("a", "it is a text"),
        (None, "it is null"),
        (0, "it is a number"),
    ],
)
def test_a_body_without_the_mapped_answer_is_named_with_its_keys(body: Any, said: str, ask: Ask) -> None:
    """Whoever writes the mapping sees where else to look."""
    response = ask(body)
    assert response.error.message.startswith("the body has no text at `answer`; it ")
    assert said in response.error.message


def test_a_page_instead_of_json_is_named_by_its_type(ask: Ask) -> None:
    """The message tells a login page from a broken server."""
    response = ask(httpx.Response(200, html="<h1>Log in</h1>"))
    assert "text/html" in response.error.message
    assert "Log in" in response.error.message


@pytest.mark.parametrize(("size", "kind"), [(100, None), (101, "too_large")])
def test_a_body_beyond_the_bound_is_too_large(size: int, kind: str | None, ask: Ask) -> None:
    """A body of exactly the bound is read; a longer one is not, and not asked for again."""
    body = b'{"answer":"' + b"a" * (size - 13) + b'"}'
    assert len(body) == size
    response = ask(body, body, max_body_bytes=100)
    assert (response.error and response.error.kind) == kind
    assert response.attempts == 1


@pytest.mark.parametrize(
    ("ok_when", "body", "kind"),
    [
        ("code == `0`", {"code": 0}, None),
        ("code == `0`", {"code": 102, "message": "no such chat"}, "not_ok"),
        *(("ok", body, "not_ok") for body in ({"ok": False}, {})),
        ("ok", {"ok": True}, None),
        ("length(error) == `0`", {"error": 3}, "malformed"),
    ],
)
def test_an_error_in_a_200_body_is_seen(ok_when: str, body: dict[str, Any], kind: str | None, ask: Ask) -> None:
    """What the profile calls not ok is a failure even where the answer has text."""
    response = ask(body | ANSWER, ANSWER, ask={"ok_when": ok_when})
    assert (response.error and response.error.kind) == kind
    assert response.attempts == 1


@pytest.mark.parametrize(
    ("header", "waited"), [("2", 2.0), ("3600", 30.0), ("9" * 400, 30.0), ("0", 0.0)], ids=["2", "hour", "inf", "0"]
)
def test_the_server_says_how_long_to_wait_up_to_a_ceiling(
    header: str, waited: float, ask: Ask, waits: list[float]
) -> None:
    """More than 30 seconds are never waited at once."""
    busy = httpx.Response(429, headers={"Retry-After": header})
    response = ask(busy, busy, ANSWER)
    assert waits == [waited, waited]
    assert (response.attempts, response.waited_ms) == (3, 2000 * waited)


def test_the_wait_grows_where_the_server_says_nothing(ask: Ask, waits: list[float]) -> None:
    """It doubles from half a second to eight, with jitter; the last failure waits not."""
    bad = httpx.Response(500, headers={"Retry-After": "garbage"})
    response = ask(*[bad] * 7, client={"max_attempts": 7})
    assert (response.attempts, len(waits)) == (7, 6)
    for waited, least in zip(waits, [0.5, 1, 2, 4, 8, 8], strict=True):
        assert least <= waited <= min(8, least + 0.25)
    assert response.waited_ms == pytest.approx(1000 * sum(waits))


def test_latency_is_that_of_the_last_attempt_alone(ask: Ask) -> None:
    """Neither earlier attempts nor the back-off between them are in it."""
    ticks = iter([10.0, 17.0, 100.0, 100.25])
    response = ask(httpx.Response(500), ANSWER, client={"clock": lambda: next(ticks)})
    assert response.latency_ms == pytest.approx(250)
    assert response.waited_ms > 0


def test_a_long_body_is_cut_and_marked_as_cut(ask: Ask) -> None:
    """The raw body is bounded and nothing is written into it; a short one is whole."""
    response = ask({"answer": "a" * 300_000})
    assert response.raw == '{"answer": "' + "a" * (256 * 1024 - 12)
    assert response.raw_cut
    assert not ask({"answer": "a"}).raw_cut


def test_a_timeout_counts_as_at_least_the_timeout(ask: Ask) -> None:
    """It is tried again, and its latency is never less than what was waited for."""
    response = ask(*[httpx.ReadTimeout("slow")] * 3, timeout_s=5)
    assert (response.error.kind, response.error.message) == ("timeout", "no complete answer within 5 s")
    assert response.attempts == 3
    assert response.latency_ms == 5000
