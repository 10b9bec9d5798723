"""Login by OAuth 2.0 client credentials: a token is fetched before the first request, renewed, and kept secret."""

import asyncio
import json
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import ask_all
from faults.running import make_certificates
from token_server import Refusal, TokenServer, token_server

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.errors import ConfigError, ServerRefusedError, ServerUnreachableError
from evals.schemas import EvalResponse

SECRET = "s3cret+of/the:client"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_CLIENT_SECRET", SECRET)


@pytest.fixture
def server() -> Iterator[TokenServer]:
    """Its tokens live for an hour."""
    with token_server() as one:
        yield one


def keys(url: str, token_url: str | None = None, **over: Any) -> dict[str, Any]:
    login = {
        "token_url": token_url or f"{url}/token",
        "client_id": "evals client",
        "client_secret": "${RAG_CLIENT_SECRET}",
        **over.pop("oauth2", {}),
    }
    return {
        "url": url,
        "health": {"path": "/health"},
        "info": [],
        "patience_s": 0,
        "ask": {"path": "/ask", "json": {"q": "{{question}}"}},
        "map": {"answer": "answer", "chunks": "sources"},
        "login": {"oauth2": login},
        **over,
    }


def ask(
    spec: dict[str, Any], count: int = 1, between: Callable[[], None] = lambda: None, **client: Any
) -> list[EvalResponse]:
    """Check the server, do something between, then ask so many questions at once, each by one attempt."""

    async def run() -> list[EvalResponse]:
        async with RAGClient(resolve_spec(spec), **{"concurrency": 16, "max_attempts": 1, **client}) as rag:
            await rag.health()
            between()
            return list(await asyncio.gather(*(rag.ask("How much?") for _ in range(count))))

    return asyncio.run(run())


def test_a_token_is_fetched_once_before_the_health_check_and_sent_with_all(server: TokenServer) -> None:
    """Id and secret go to the token server only, encoded as the standard says."""
    said = ask(keys(server.url, oauth2={"scope": "read ask", "audience": "rag"}), 20)
    assert [one.error for one in said] == [None] * 20
    assert server.paths[:2] == ["/token", "/health"]
    ((headers, form),) = server.asked
    assert headers["authorization"] == "Basic " + b64encode(b"evals+client:s3cret%2Bof%2Fthe%3Aclient").decode()
    assert form == {"grant_type": ["client_credentials"], "scope": ["read ask"], "audience": ["rag"]}
    assert set(server.borne) == {f"Bearer {server.given[0]}"}
    assert len(server.borne) == 21


def test_id_and_secret_may_go_in_the_form(server: TokenServer) -> None:
    """As some token servers want it; then no header holds them."""
    assert ask(keys(server.url, oauth2={"sent_as": "form"}))[0].error is None
    ((headers, form),) = server.asked
    assert "authorization" not in headers
    assert (form["client_id"], form["client_secret"]) == (["evals client"], [SECRET])


def test_a_token_that_is_refused_in_the_middle_is_renewed_once_for_all() -> None:
    """All sixteen questions are refused, one token is fetched, and every question is answered at its one attempt."""
    with token_server(None) as server:
        said = ask(keys(server.url), 16, server.revoke)
    assert [(one.error, one.attempts) for one in said] == [(None, 1)] * 16
    assert (len(server.given), server.most_at_once) == (2, 1)
    assert 1 <= server.refused <= 16


def test_a_server_that_refuses_every_token_is_not_asked_for_ever() -> None:
    """One more token is tried with each question."""
    with token_server(None, open_to=lambda _: False) as server:
        said = ask_all(keys(server.url, health=None), *["How much?"] * 10, max_attempts=1)
    assert [(one.error.kind, one.error.status) for one in said if one.error] == [("status", 401)] * 10
    assert len(server.given) == 11


REFUSALS: list[tuple[Refusal, str]] = [
    ((401, b'{"error":"invalid_client"}', {}), r"HTTP 401: .*invalid_client"),
    ((400, b'{"error":"invalid_scope"}', {}), r"HTTP 400: .*invalid_scope"),
    ((503, b"", {}), r"HTTP 503"),
    ((200, b"<html>", {}), r"no JSON with an access_token"),
    ((200, b"[]", {}), r"access_token that"),
    ((200, b'{"access_token": ""}', {}), r"no JSON with"),
    ((200, b'{"access_token": "a b"}', {}), r"can be sent"),
    ((200, b'{"access_token": "abc", "token_type": "mac"}', {}), r"as Bearer"),
]


@pytest.mark.parametrize(("refusal", "said"), REFUSALS, ids=[said for _, said in REFUSALS])
def test_a_token_server_that_gives_none_is_said_by_name_and_ends_in_exit_code_3(refusal: Refusal, said: str) -> None:
    """The server under evaluation is not asked; the message names the token server and the keys."""
    with token_server(refuse=refusal) as server, pytest.raises(ServerRefusedError, match=said) as raised:
        ask(keys(server.url))
    assert f"no access token from {server.url}/token (server.login.oauth2)" in raised.value.message
    assert "client_secret" in (raised.value.hint or "")
    assert (raised.value.exit_code, set(server.paths)) == (3, {"/token"})


@pytest.mark.parametrize("said", ['"3600"', "0", "-1", "null", "true", '"soon"', "1e999", "1" + "0" * 400])
def test_whatever_a_token_server_says_of_its_life_the_token_is_used(said: str) -> None:
    """Where that is no positive number, the token is taken to live until it is refused."""
    body = f'{{"access_token": "tok.En-0123456789", "token_type": "Bearer", "expires_in": {said}}}'.encode()
    with token_server(refuse=(200, body, {}), open_to=lambda _: True) as server:
        responses = ask(keys(server.url), 3)
    assert [response.error for response in responses] == [None] * 3
    assert len(server.asked) == 1


def test_a_token_server_that_is_not_there_is_said_by_name(server: TokenServer) -> None:
    """With exit code 3, and nothing is asked of the server itself."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        dead = f"http://127.0.0.1:{taken.getsockname()[1]}/token"
    with pytest.raises(ServerUnreachableError, match=f"no access token from {dead}") as raised:
        ask(keys(server.url, dead))
    assert (raised.value.exit_code, server.paths) == (3, [])


def test_no_secret_follows_a_redirect(server: TokenServer) -> None:
    """The other host hears nothing."""
    away: Refusal = (307, b"", {"location": f"{server.url}/token"})
    with token_server(refuse=away) as sending, pytest.raises(ServerRefusedError, match="nothing is sent there"):
        ask(keys(server.url, f"{sending.url}/token"))
    assert server.paths == []


def test_a_token_server_that_dies_in_the_middle_fails_questions_by_name() -> None:
    """The failures are those of a connection, and no latency is made of them."""
    with token_server(None) as server, token_server(None) as tokens:
        spec = keys(server.url, f"{tokens.url}/token", health=None)
        (said,) = ask(spec, between=lambda: setattr(tokens, "refuse", (500, b"", {})))
    assert (said.error.kind, said.error.status, said.latency_ms) == ("status", 500, None)
    assert f"no access token from {tokens.url}/token" in said.error.message


def test_what_a_server_repeats_of_a_token_is_masked(server: TokenServer) -> None:
    """In the answer, in the body as received, and in messages."""
    (said,) = ask(keys(server.url))
    assert said.answer == "Four francs, Bearer ***."
    assert server.given[0] not in said.model_dump_json()
    assert server.given[0] not in ConfigError(f"so {server.given[0]} it is").message


def test_a_token_server_is_reached_with_the_same_authorities(tmp_path: Path) -> None:
    """Those of `tls.ca`; and a run says that nobody is verified where only the token server has a certificate."""
    made = make_certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made / "good.pem", made / "good.key")

    def secure(_: int, plain: Any) -> Any:
        return context.wrap_socket(plain, server_side=True)

    with token_server(secure=secure) as server:
        assert ask(keys(server.url, tls={"ca": str(made / "authority.pem")}))[0].error is None
    assert RAGClient(resolve_spec(keys("http://x", "https://y/token", tls={"verify": False}))).spec.trusts_anybody


def test_a_login_goes_before_a_header_of_the_profile(server: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile's header may name a variable that nobody sets where there is a login."""
    monkeypatch.delenv("OTHER_KEY", raising=False)
    assert ask(keys(server.url, headers={"authorization": "Bearer ${OTHER_KEY}"}))[0].error is None
    assert set(server.borne) == {f"Bearer {server.given[0]}"}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (keys("http://me:word@rag.invalid", "http://x/token"), r"holds a login as well as server\.login"),
        (keys("http://rag.invalid", "http://me:word@x/token"), r"token_url holds a login"),
        (keys("http://rag.invalid", "http://x/token?key=word"), r"not a URL of a server: .http://x/token"),
        (keys("http://rag.invalid", oauth2={"client_secret": None}), r"login\.oauth2\.client_secret"),
        (keys("http://rag.invalid", login={"oauth": {}}), r"unknown key 'server\.login\.oauth'|login\.oauth"),
    ],
)
def test_a_login_that_cannot_be_is_refused_by_its_key(spec: dict[str, Any], said: str) -> None:
    """With exit code 2, before anything is sent, and without the secret."""
    with pytest.raises(ConfigError, match=said) as raised:
        RAGClient(resolve_spec(spec))
    assert "word" not in raised.value.message


def test_nothing_of_a_login_is_in_a_file_or_on_the_screen(
    server: TokenServer, tmp_path: Path, evals_cli: Callable[..., Any]
) -> None:
    """A whole run, of a server that repeats its token in every answer."""
    (tmp_path / "q.jsonl").write_text('{"question": "How much?", "reference_answer": "Four francs."}\n')
    server_section = json.dumps(keys(server.url, oauth2={"client_secret": SECRET}))
    (tmp_path / "c.yml").write_text(f"server: {server_section}\njudge: false\n")
    asked = ["--config", str(tmp_path / "c.yml"), "--dataset-file", str(tmp_path / "q.jsonl")]
    done = evals_cli("eval", *asked, "--runs-dir", str(tmp_path / "runs"), "--no-preflight")
    assert done.code == 0, done.err
    files = [path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert files
    for secret in (SECRET, *server.given):
        assert not [file for file in files if secret.encode() in file]
        assert secret not in done.out + done.err


@pytest.mark.parametrize(("life_s", "times"), [(100, [0.0, 89.9, 90.0, 179.9, 180.0]), (3600, [0.0, 3569.0, 3571.0])])
def test_a_token_is_renewed_a_tenth_of_its_life_before_the_end(life_s: int, times: list[float]) -> None:
    """At most half a minute before; counted from when it was asked for."""
    now = [0.0]

    async def run() -> None:
        async with RAGClient(resolve_spec(keys(server.url)), clock=lambda: now[0]) as client:
            for now[0] in times:
                assert (await client.ask("How much?")).error is None

    with token_server(life_s) as server:
        asyncio.run(run())
    renewed = [sum(later >= until for until in (times[2], 2 * times[2])) for later in times]
    assert server.borne == [f"Bearer {server.given[each]}" for each in renewed]


def test_fetching_a_token_is_no_part_of_an_answers_time() -> None:
    """The first question waits for its token, and its latency does not."""
    ticks = iter(range(100))
    with token_server(None) as server:
        (response,) = ask_all(keys(server.url), "How much?", clock=lambda: float(next(ticks)))
    assert response.error is None
    assert response.latency_ms == 1000.0


def test_a_login_is_in_no_fingerprint() -> None:
    """It says who asks, not how."""
    with_login = keys("http://rag.invalid")
    without = {key: value for key, value in with_login.items() if key != "login"}
    assert resolve_spec(with_login).fingerprint() == resolve_spec(without).fingerprint()
