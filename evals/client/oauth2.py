"""Login by OAuth 2.0 client credentials (RFC 6749, 4.4): a token is fetched, sent as Bearer, and renewed."""

import asyncio
import math
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from evals.client.connections import check_url
from evals.client.profile import Redactor
from evals.client.spec import OAuth2Spec, ServerSpec
from evals.client.transport import Reply, SendWith, Transport, TransportFailure
from evals.errors import ConfigError, ServerRefusedError, ServerUnreachableError
from evals.schemas.response import ResponseError
from evals.secrets import remember
from evals.text.decoding import parse_json
from evals.text.numbers import number_or_none
from evals.text.yaml_files import VARIABLE

# What a server that refuses us may lack: the headers of a profile whose values come from the environment.


REFUSED = frozenset({401, 403})
"""The statuses by which a server says that it does not know us, or does not let us in."""


def login_hint(spec: ServerSpec, environ: Mapping[str, str] | None = None) -> str | None:
    """The environment variable to set or check; None if no header uses one.

    Args:
        spec: With ${NAME} as written.
        environ: Instead of this process's environment.
    """
    env = os.environ if environ is None else environ
    values = [value for part in (spec, spec.ask, spec.retrieve) if part is not None for value in part.headers.values()]
    names = list(dict.fromkeys(name for value in values for name, _ in VARIABLE.findall(value)))
    if unset := [name for name in names if not env.get(name)]:
        return f"export {' and '.join(unset)}, or set server.headers"
    return f"look at the key in {' and '.join(names)}, or set server.headers" if names else None


# The token in use: renewed before it expires, and never twice at once.


_LONGEST_MARGIN_S = 30.0


_MARGIN = 0.1
"""Part of a token's life at whose end it is not used any more, so that it is valid still when it arrives."""


@dataclass(slots=True, eq=False)
class Token:
    """A token as its server gave it.

    Attributes:
        value: The secret.
        until: When it is not used any more, by the clock of the login.
        replaces_refused: Whether it was fetched because the one before was refused.
        is_taken: Whether the server under evaluation took it once.
    """

    value: str
    until: float
    replaces_refused: bool = False
    is_taken: bool = False


_UNAUTHORIZED = 401

_SENDABLE = re.compile(r"[\x21-\x7e]+")

_LONGEST_FETCH_S = 30.0

_LONGEST_BODY = 1024 * 1024

_HINT = "look at server.login.oauth2: token_url, client_id, client_secret, scope, audience, sent_as"


class OAuth2Login:
    """Fetches tokens and adds them to requests.

    Args:
        spec: The server, with the environment's values filled in.
        oauth2: Its token server.
        redact: Learns every token, so that it is masked.
        clock: Monotonic seconds.

    Attributes:
        transport: Reaches the token server; it is to be open while requests are sent.

    Raises:
        ConfigError: The token server's address is none, or holds a login.
    """

    def __init__(
        self, spec: ServerSpec, oauth2: OAuth2Spec, redact: Redactor, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        origin, self._path = _split(oauth2.token_url)
        self._oauth2 = oauth2
        self._redact = redact
        self._shown = redact.text(origin + self._path)
        self.transport = Transport(
            origin,
            timeout_s=min(_LONGEST_FETCH_S, spec.timeout_s),
            concurrency=1,
            max_body_bytes=_LONGEST_BODY,
            library=spec.transport,
            tls=spec.tls,
            redact=redact.text,
            clock=clock,
        )
        self._clock = clock
        self._token: Token | None = None
        self._fetching = asyncio.Lock()

    async def check(self) -> None:
        """Fetch the first token.

        Raises:
            ServerUnreachableError: Nothing answers at the token server.
            ServerRefusedError: It gives no token.
        """
        try:
            await self._current()
        except TransportFailure as failure:
            error = ServerUnreachableError if failure.error.kind == "connect" else ServerRefusedError
            raise error(failure.error.message, _HINT) from failure

    async def send(self, send: SendWith) -> Reply:
        """Send a request with the token; once more with another one, where the answer is 401.

        Raises:
            TransportFailure: There is no token to be had, or the request failed.
        """
        token = await self._current()
        try:
            return await _sent(send, token)
        except TransportFailure as failure:
            if failure.error.status != _UNAUTHORIZED:
                raise
            other = await self._current(refused=token)
            if other is token:
                raise
        return await _sent(send, other)

    async def _current(self, refused: Token | None = None) -> Token:
        """The token to send, of one request however many wait for it.

        Args:
            refused: One that the server refused, which is not sent again. Where it was itself fetched for a refused
                one, and was never taken, a new one would be refused as well, so that it is given back.
        """
        async with self._fetching:
            token = self._token
            if token is not None and token is not refused and self._clock() < token.until:
                return token
            if token is not None and token is refused and token.replaces_refused and not token.is_taken:
                return token
            self._token = await self._fetch()
            self._token.replaces_refused = refused is not None
            return self._token

    async def _fetch(self) -> Token:
        oauth2, headers, asked = self._oauth2, {"Accept": "application/json"}, self._clock()
        form = {"grant_type": "client_credentials"}
        form |= oauth2.model_dump(include={"scope", "audience"}, exclude_none=True)
        if oauth2.sent_as == "basic":
            headers["Authorization"] = f"Basic {oauth2.basic}"
        else:
            form |= {"client_id": oauth2.client_id, "client_secret": oauth2.client_secret}
        try:
            reply = await self.transport.send("POST", self._path, headers=headers, form=form)
        except TransportFailure as failure:
            raise self._refused(failure) from failure
        try:
            value, life_s = token_of(reply.body)
        except ValueError as error:
            problem = ResponseError(kind="malformed", status=reply.status, message=self._told(str(error)))
            raise TransportFailure(problem, retryable=False) from None
        remember(value)
        self._redact.learn(value)
        return Token(value, asked + max(life_s - _LONGEST_MARGIN_S, (1 - _MARGIN) * life_s))

    def _refused(self, failure: TransportFailure) -> TransportFailure:
        status, said = failure.error.status, failure.error.message
        if status is not None and 300 <= status < 400:
            said = f"HTTP {status}, and no secret follows a redirect"
        # A time that ran out here is none of an answer.
        kind = "connect" if failure.error.kind == "timeout" else failure.error.kind
        error = ResponseError(kind=kind, status=status, message=self._told(said))
        return TransportFailure(error, retryable=failure.retryable, retry_after_s=failure.retry_after_s)

    def _told(self, said: str) -> str:
        return f"no access token from {self._shown} (server.login.oauth2): {said}"


def login_of(spec: ServerSpec, redact: Redactor, clock: Callable[[], float] = time.perf_counter) -> OAuth2Login | None:
    """The login of a server that needs a token; None if the specification has none.

    Raises:
        ConfigError: It cannot be used.
    """
    if spec.login is None:
        return None
    if "@" in urlsplit(check_url(spec.url)).netloc:
        raise ConfigError("server.url and server.login both hold a login", "leave one of them out")
    return OAuth2Login(spec, spec.login.oauth2, redact, clock)


async def _sent(send: SendWith, token: Token) -> Reply:
    answer = await send({"Authorization": f"Bearer {token.value}"})
    token.is_taken = True
    return answer


def _split(url: str) -> tuple[str, str]:
    """The scheme and host of the token server, and the path there."""
    try:
        parts = urlsplit(check_url(url))
    except ConfigError as error:
        said = error.message.replace("a URL of a server", "the URL of a token server, without parameters")
        raise ConfigError(f"server.login.oauth2.token_url: {said}", "give one such as https://HOST/token") from None
    if "@" in parts.netloc:
        raise ConfigError(
            "server.login.oauth2.token_url holds a login", "give the login as client_id and client_secret"
        )
    return urlunsplit(parts._replace(path="")), urlsplit(url).path or "/"


def token_of(content: bytes) -> tuple[str, float]:
    """The token in what a token server says (RFC 6749, 5.1), and how many seconds it is valid, where it says so.

    Raises:
        ValueError: It holds none that can be sent as Bearer.
    """
    try:
        body = parse_json(content)
    except ValueError:
        raise ValueError("the body is not JSON") from None  # what the library says may hold a part of it
    value = body.get("access_token") if isinstance(body, Mapping) else None
    if not isinstance(value, str) or not _SENDABLE.fullmatch(value):
        raise ValueError("the body holds no access_token that can be sent")
    if str(body.get("token_type") or "bearer").lower() != "bearer":
        raise ValueError("its token is of another type than Bearer")
    seconds = number_or_none(body.get("expires_in"))
    return value, seconds if seconds is not None and seconds > 0 else math.inf
