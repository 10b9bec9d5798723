"""Login by OAuth 2.0 client credentials (RFC 6749, 4.4): a token is fetched, sent as Bearer, and renewed."""

import asyncio
import math
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

import httpx

from evals.client.http import ExchangeError, HttpClient, check_url
from evals.client.profile import Redactor
from evals.client.spec import OAuth2Spec, ServerSpec
from evals.errors import ConfigError, ServerRefusedError, ServerUnreachableError
from evals.secrets import remember
from evals.text.decoding import parse_json
from evals.text.numbers import number_or_none

_HINT = "look at server.login.oauth2: token_url, client_id, client_secret, scope, audience, sent_as"

_LONGEST_FETCH_S = 30.0

_LONGEST_MARGIN_S, _MARGIN = 30.0, 0.1
"""Before the end of its life, in seconds or as a part of it, a token is not used any more: it is to arrive in time."""


class OAuth2(httpx.Auth):
    """Sends each request with a token; once more with another one, where the answer is 401.

    Args:
        spec: The server, with the environment's values filled in.
        oauth2: Its token server.
        redact: Learns every token, so that it is masked.
        client: Makes the client of a URL.
        clock: Monotonic seconds.

    Attributes:
        http: Reaches the token server; it is to be open while requests are sent.

    Raises:
        ConfigError: The token server's address is none, or one of the two addresses holds a login.
    """

    def __init__(
        self,
        spec: ServerSpec,
        oauth2: OAuth2Spec,
        redact: Redactor,
        client: Callable[..., HttpClient],
        clock: Callable[[], float],
    ) -> None:
        if "@" in urlsplit(spec.url).netloc:
            raise ConfigError("server.url and server.login both hold a login", "leave one of them out")
        origin, self._path = _split(oauth2.token_url)
        self._oauth2, self._redact, self._clock = oauth2, redact, clock
        self._origin = f"no access token from {redact.text(origin + self._path)} (server.login.oauth2)"
        self.http = client(origin, timeout_s=min(_LONGEST_FETCH_S, spec.timeout_s))
        self._lock = asyncio.Lock()
        self._token, self._until = "", -math.inf
        self._is_taken = True
        """Whether the server under evaluation took the token: one that was fetched for a refused one need not be."""

    async def check(self) -> None:
        """Fetch the first token.

        Raises:
            ServerUnreachableError: Nothing answers at the token server.
            ServerRefusedError: It gives no token.
        """
        try:
            await self._current()
        except ExchangeError as failure:
            error = ServerUnreachableError if failure.kind == "connect" else ServerRefusedError
            raise error(failure.message, _HINT) from failure

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Send the request with the token, and again with a new one where it was refused."""
        token = await self._current()
        response = yield self._signed(request, token)
        if response.status_code == httpx.codes.UNAUTHORIZED:
            refused, token = token, await self._current(refused=token)
            if token == refused:
                return
            response = yield self._signed(request, token)
        if response.status_code != httpx.codes.UNAUTHORIZED and token == self._token:
            self._is_taken = True

    def _signed(self, request: httpx.Request, token: str) -> httpx.Request:
        request.headers["Authorization"] = f"Bearer {token}"
        request.extensions["started"] = self._clock()  # fetching a token is no part of the answer's time
        return request

    async def _current(self, refused: str | None = None) -> str:
        """The token to send; one request fetches it, however many wait for it.

        Args:
            refused: One that the server refused, which is not sent again. Where it was itself fetched for a refused
                one, and was never taken, a new one would be refused as well, so that it is given back.
        """
        async with self._lock:
            is_refused = self._token == refused
            if self._is_taken if is_refused else self._clock() >= self._until:
                await self._fetch()
                self._is_taken = refused is None
            return self._token

    async def _fetch(self) -> None:
        """Fetch a token.

        Raises:
            ExchangeError: There is none to be had.
        """
        oauth2, headers, asked = self._oauth2, {"Accept": "application/json"}, self._clock()
        form = oauth2.model_dump(include={"scope", "audience"}, exclude_none=True)
        if oauth2.sent_as == "basic":
            headers["Authorization"] = f"Basic {oauth2.basic}"
        else:
            form |= {"client_id": oauth2.client_id, "client_secret": oauth2.client_secret}
        form["grant_type"] = "client_credentials"
        try:
            reply = await self.http.send("POST", self._path, data=form, headers=headers)
            self._token, life_s = token_of(reply.body)
        except ExchangeError as failure:
            is_redirect = failure.status is not None and 300 <= failure.status < 400
            why = f"HTTP {failure.status}, and no secret follows a redirect" if is_redirect else failure.message
            # A time that ran out here is none of an answer.
            kind = "connect" if failure.kind == "timeout" else failure.kind
            message = f"{self._origin}: {why}"
            raise replace(failure, kind=kind, message=message, started=None, elapsed_ms=0.0, body=b"") from failure
        remember(self._token)
        self._redact.learn(self._token)
        self._until = asked + max(life_s - _LONGEST_MARGIN_S, (1 - _MARGIN) * life_s)


def _split(url: str) -> tuple[str, str]:
    """The scheme and host of the token server, and the path there."""
    try:
        parts = urlsplit(check_url(url))
    except ConfigError as error:
        problem = error.message.replace("a URL of a server", "the URL of a token server, without parameters")
        raise ConfigError(f"server.login.oauth2.token_url: {problem}", "give one such as https://HOST/token") from None
    if "@" in parts.netloc:
        hint = "give the login as client_id and client_secret"
        raise ConfigError("server.login.oauth2.token_url holds a login", hint)
    return urlunsplit(parts._replace(path="")), parts.path or "/"


def token_of(content: bytes) -> tuple[str, float]:
    """The token in what a token server says (RFC 6749, 5.1), and how many seconds it is valid, where it says so.

    Raises:
        ExchangeError: It holds none that can be sent as Bearer.
    """
    try:
        body = parse_json(content)
    except ValueError:
        raise ExchangeError("the body is not JSON") from None  # what the library says may hold a part of it
    given = body if isinstance(body, dict) else {}
    token = given.get("access_token")
    if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]+", token):
        raise ExchangeError("the body holds no access_token that can be sent")
    if str(given.get("token_type") or "bearer").lower() != "bearer":
        raise ExchangeError("its token is of another type than Bearer")
    seconds = number_or_none(given.get("expires_in"))
    return token, seconds if seconds is not None and seconds > 0 else math.inf
