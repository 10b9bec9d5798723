"""Login by OAuth 2.0 client credentials (RFC 6749, 4.4): a token is fetched, sent as Bearer, and renewed."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
from pydantic import BaseModel, Field, ValidationError

from evals.client.http import ExchangeError, HttpClient, check_url
from evals.client.profile import Redactor
from evals.client.spec import OAuth2Spec
from evals.secrets import remember
from evals.text.numbers import number_or_none

_LONGEST_FETCH_S = 30.0

_LONGEST_MARGIN_S, _MARGIN = 30.0, 0.1
"""Before the end of its life, in seconds or as a part of it, a token is not used any more: it is to arrive in time."""


class _Token(BaseModel):
    """What a token server says (RFC 6749, 5.1), where it can be sent as Bearer."""

    access_token: str = Field(pattern=r"^[\x21-\x7e]+$")
    token_type: str | None = Field(default=None, pattern="^(?i:bearer)$")
    expires_in: Any = None


@dataclass(eq=False, repr=False)
class OAuth2(httpx.Auth):
    """Sends each request with a token; once more with a new one, where the answer is 401.

    Attributes:
        spec: The token server.
        timeout_s: For fetching a token, which takes half a minute at most.
        redact: Learns every token, so that it is masked.
        client: Makes the client of a URL.
        clock: Monotonic seconds.
        http: Reaches the token server; it is to be open while requests are sent.

    Raises:
        ConfigError: The token server's address is none.
    """

    spec: OAuth2Spec
    timeout_s: float
    redact: Redactor
    client: Callable[..., HttpClient]
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        parts = urlsplit(check_url(self.spec.token_url))
        origin = urlunsplit(parts._replace(path=""))
        self.http = self.client(origin, timeout_s=min(_LONGEST_FETCH_S, self.timeout_s))
        self._path, self._lock, self._token, self._until = parts.path, asyncio.Lock(), "", -math.inf

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Send the request with the token, and again with a new one where it was refused."""
        refused = None
        for _ in range(2):
            refused = await self.token(refused)
            request.headers["Authorization"] = f"Bearer {refused}"
            request.extensions["started"] = self.clock()  # fetching a token is no part of the answer's time
            if (yield request).status_code != httpx.codes.UNAUTHORIZED:
                break

    async def token(self, refused: str | None = None) -> str:
        """The token to send, none that the server refused; one request fetches it, however many wait for it.

        Raises:
            ExchangeError: There is none to be had.
        """
        async with self._lock:
            if self._token == refused or self.clock() >= self._until:
                await self._fetch()
            return self._token

    async def _fetch(self) -> None:
        headers, asked = {"Accept": "application/json"}, self.clock()
        form = self.spec.model_dump(include={"scope", "audience"}, exclude_none=True)
        if self.spec.sent_as == "basic":
            headers["Authorization"] = f"Basic {self.spec.basic}"
        else:
            form |= {"client_id": self.spec.client_id, "client_secret": self.spec.client_secret}
        origin = f"no access token from {self.redact.text(self.spec.token_url)} (server.login.oauth2)"
        try:
            reply = await self.http.send(
                "POST", self._path, data={**form, "grant_type": "client_credentials"}, headers=headers
            )
            token = _Token.model_validate_json(reply.body)
        except ExchangeError as failure:
            # A time that ran out here is none of an answer.
            kind, message = "connect" if failure.kind == "timeout" else failure.kind, f"{origin}: {failure}"
            raise replace(failure, kind=kind, message=message, started=None, elapsed_ms=0.0, body=b"") from failure
        except ValidationError:  # its message may hold a part of the body
            message = f"{origin}: the body is no JSON with an access_token that can be sent as Bearer"
            raise ExchangeError(message) from None
        self._token, life_s = token.access_token, number_or_none(token.expires_in) or 0.0
        life_s = life_s if life_s > 0 else math.inf
        remember(self._token)
        self.redact.learn(self._token)
        self._until = asked + max(life_s - _LONGEST_MARGIN_S, (1 - _MARGIN) * life_s)
