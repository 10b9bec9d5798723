"""`RAGClient`: the only code that talks to the server under evaluation."""

import asyncio
import re
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

import httpx

from evals.client.conversation import Conversation, render_path, traceparent
from evals.client.http import (
    BUSY,
    REFUSED,
    AdaptiveLimit,
    Attempts,
    ExchangeError,
    HttpClient,
    Reply,
    Retrying,
    check_url,
)
from evals.client.mapping import READ, MappingError, ResponseReader, UnusableError, error_in, find, find_or_none
from evals.client.oauth2 import OAuth2
from evals.client.profile import Redactor, check_spec, login_hint, resolve_spec, without_unset_headers
from evals.client.spec import RequestSpec, ServerSpec, ThenSpec
from evals.client.streams import Collector
from evals.errors import ServerRefusedError, ServerUnreachableError
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, ResponseError
from evals.secrets import public_url, remember, without_secrets
from evals.text.decoding import TooManyValuesError, parse_json
from evals.text.numbers import counted
from evals.text.yaml_files import expand_env

MAX_RAW_CHARS = 256 * 1024
"""Of a body that is recorded."""

START_TIMEOUT_S = 3.0
"""For the calls before the first question: a dead server is known within seconds."""

_FIRST_LOOK_S = 0.1
"""After this long a job is looked at first, then at growing intervals up to `every_s`: its latency ends with a look."""

_LARGE = 128 * 1024
"""Bytes from which on a body is read outside the event loop, so that the times of other answers are not ours."""

_SHOWN = 120


@dataclass(slots=True, eq=False, kw_only=True)
class _Part(Attempts):
    """One of the requests of a question: the one that asks or the one that retrieves, with what came of it."""

    name: Literal["ask", "retrieve"]
    spec: RequestSpec
    http: HttpClient
    reply: Reply | None = None
    stream: Collector | None = None


@dataclass(slots=True)
class _Exchange:
    """The requests of one question in the order in which they are made.

    A retrieval that gives something to the answer goes first. Any other follows the answer, so that the answer's time
    is that of a server that does nothing else for the question.
    """

    asking: _Part
    retrieving: _Part | None
    parts: list[_Part]
    current: _Part

    def recorded(self, redact: Redactor, failure: ExchangeError | None) -> dict[str, Any]:
        """Times, attempts and the bodies that were received; latency counts from the first request it needs.

        Of a body that is too large, that is its beginning.
        """
        first, stream, end = self.parts[0], self.asking.stream, failure or self.asking.reply
        before = first.reply.elapsed_ms if first is not self.asking and first.reply is not None else 0.0
        latency = total = None
        if end is not None and (
            failure is None or (failure.kind == "timeout" and self.current in (first, self.asking))
        ):
            latency = end.elapsed_ms + (before if end.started is not None else 0.0)  # else it is that of the question
        if end is not None and end.started is not None and first.began is not None:
            total = (end.started - first.began) * 1000 + end.elapsed_ms
        fields: dict[str, Any] = {
            "latency_ms": latency,
            "total_ms": total,
            "waited_ms": 1000 * sum(part.waited_s for part in self.parts),
            "attempts": 1 + sum(max(0, part.failed - (part.reply is None)) for part in self.parts),
            "raw_cut": failure is not None and failure.kind == "too_large",
        }
        if stream is not None:
            # Where the time was up before the first text, that time is the least it would have taken.
            least = latency if failure is not None else None
            fields["time_to_first_token_ms"] = least if stream.first_ms is None else before + stream.first_ms
            fields["time_to_last_token_ms"] = None if stream.last_ms is None else before + stream.last_ms
        if self.retrieving is not None and self.retrieving.reply is not None:
            fields["retrieval_latency_ms"] = self.retrieving.reply.elapsed_ms
        for part in self.parts:
            received = part.reply or (failure if part is self.current else None)
            if received is not None and (part.reply or received.body):
                text = redact.body(received.body)
                fields["raw" if part is self.asking else "raw_retrieval"] = text[:MAX_RAW_CHARS]
                fields["raw_cut"] |= len(text) > MAX_RAW_CHARS
        return fields


class RAGClient:
    """Asks one RAG server.

    Use as `async with RAGClient(...) as client`.

    Args:
        spec: How the server is asked; a URL means the default profile at that URL.
        concurrency: How many requests may be in flight.
        max_attempts: How often a question is asked before it counts as failed.
        rps: At most this many requests of questions start in a second; None for no limit.
        transport: Sends requests instead of aiohttp, such as `httpx.MockTransport`; for tests.
        sleep: How to wait; for tests.
        clock: Monotonic seconds; for tests.

    Attributes:
        spec: The server, with the environment's values filled in.
        template: The same with ${NAME} as it was written.
        http: Sends single requests to it.
        redact: Masks secrets.
        reader: Reads its answers, with the names of documents by the server's ids.
        retrying: Repeats requests, and knows how many the server refused, and whether patience with it ended.
        login_hint: What to set where the server refuses us; None where no header names a variable.
        sleep: How to wait.
        clock: Monotonic seconds.
        run_id: The run whose questions are asked: each is sent with a trace of its own; None for none.
    """

    def __init__(
        self,
        spec: ServerSpec | str,
        *,
        concurrency: int = 4,
        max_attempts: int = 3,
        rps: float | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.template = resolve_spec({"url": spec}) if isinstance(spec, str) else spec
        secrets: set[str] = set()
        self.spec = ServerSpec.model_validate(expand_env(without_unset_headers(self.template), secrets))
        # Where the server is, is no secret; what is no URL may be one, and is not quoted.
        url = re.fullmatch(r"(?i)((https?://(([^/@?#\s]+?)(?::\d+)?))(?:/[^@?#\s]*?)?)/*", self.spec.url)
        for secret in secrets:
            if url is None or secret.rstrip("/") not in url.groups():
                remember(secret)
        check_url(self.spec.url)
        check_spec(self.spec)  # again, with what variables stand for
        self.login_hint, self.redact = login_hint(self.template), Redactor(secrets, self.spec)
        self._max_attempts, self.sleep, self.clock = max_attempts, sleep, clock
        common: dict[str, Any] = self.spec.model_dump(include={"timeout_s", "max_body_bytes"})
        common |= {"tls": self.spec.tls, "redact": self.redact.text, "transport": transport, "clock": clock}
        client: Callable[..., HttpClient] = partial(HttpClient, **common)
        login, retrieve = self.spec.login, self.spec.retrieve
        self._login = None if login is None else OAuth2(login.oauth2, self.spec.timeout_s, self.redact, client, clock)
        self.http = client(self.spec.url, headers=self.spec.headers, auth=self._login)
        self._retrieving = client(retrieve.url) if retrieve is not None and retrieve.url is not None else self.http
        self._clients = {self.http, self._retrieving, self._login.http if self._login is not None else self.http}
        self.run_id: str | None = None
        self.reader = ResponseReader(self.spec)
        self._pause_s, self._next_start = (1 if retrieve is None else 2) / rps if rps else 0.0, 0.0
        health = self.spec.health.path if self.spec.health is not None else None
        reach = partial(self.http.reaches, health, START_TIMEOUT_S)
        name = self.redact.text(urlsplit(self.http.base).netloc)
        self.retrying = Retrying(AdaptiveLimit(concurrency), self.spec.patience_s, reach, sleep, clock, name)

    async def __aenter__(self) -> "RAGClient":
        for client in self._clients:
            await client.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self._clients:
            await client.__aexit__()

    @property
    def url(self) -> str:
        """The server's URL without credentials: neither a login, nor what a ${NAME} put into its path."""
        parts = urlsplit(public_url(self.spec.url))
        return urlunsplit(parts._replace(path=self.redact.text(parts.path)))

    # Before the first question.

    async def health(self) -> None:
        """Check that the server answers.

        Raises:
            ServerUnreachableError: Nothing answers, or no server that gives a token for it.
            ServerRefusedError: It answers with an error, or no token is given.
        """
        try:
            if self._login is not None:
                await self._login.token()
        except ExchangeError as failure:
            unreached = failure.kind == "connect"
            keys = "look at server.login.oauth2: token_url, client_id, client_secret, scope, audience, sent_as"
            raise (ServerUnreachableError if unreached else ServerRefusedError)(failure.message, keys) from failure
        if self.spec.health is None:
            return
        try:
            await self.http.send("GET", self.spec.health.path, timeout_s=START_TIMEOUT_S)
        except ExchangeError as failure:
            if failure.kind in {"connect", "timeout"}:
                hint = "start one with `evals serve` and ask it --datasets golden, name yours with --rag-url, or take "
                hint += "the built-in one with --embedded"
                raise ServerUnreachableError(f"no RAG server answers at {self.url} ({failure})", hint) from failure
            starting = "wait until it has started; if it has, " if failure.status in BUSY else ""
            described = "or describe it (docs/profiles.md, --profile FILE.yml); for a login set server.headers, for "
            described += "another health check server.health.path (null for none)"
            kind = (
                f"{starting}`evals init --rag-url {self.url}` finds out how to ask another kind of server, {described}"
            )
            login = self.login_hint if failure.status in REFUSED else None
            message = f"the server at {self.url} is not healthy: {self.spec.health.path} answers {failure}"
            raise ServerRefusedError(message, login or kind) from failure

    async def info(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the server's configuration.

        Returns:
            The facts by our names (None where the server does not say), and the raw bodies by path.
        """
        facts: dict[str, Any] = {}
        raw: dict[str, Any] = {}
        for endpoint in self.spec.info:
            body = None
            with suppress(ExchangeError):
                body = without_secrets(self.redact.value(await self.read_json(endpoint.path)))
            body = find_or_none(endpoint.of or "@", body)
            raw[self.redact.text(endpoint.path)] = body
            for name, expression in endpoint.map.items():
                value = find_or_none(expression, body)
                facts[name] = facts.get(name) if value is None else value
        return facts, raw

    async def read_json(self, path: str, *, max_attempts: int = 1) -> Any:
        """Read a JSON body with GET.

        Raises:
            ExchangeError: There is none to be had; its `error` says why (`malformed` where it is not JSON).
        """
        send = partial(self.http.send, "GET", path, timeout_s=START_TIMEOUT_S)
        reply = await self.retrying.alone(patience_s=0.0, is_known=False).send(send, Attempts(), max_attempts)
        try:
            return parse_json(reply.body)
        except ValueError as error:
            raise ExchangeError("the body is not JSON", status=reply.status, body=reply.body) from error

    # Questions.

    async def ask(self, question: str | EvalQuestion) -> EvalResponse:
        """Ask one question, in its conversation where it has `turns`.

        Never raises for what the server does: a failure is in the response's `error`.
        """
        if isinstance(question, str):
            return await self.converse([question])
        trace = traceparent(self.run_id, question.id) if self.run_id is not None else None
        return await self.converse(question.turns or [question.question], trace)

    async def converse(self, turns: Sequence[str], trace: str | None = None) -> EvalResponse:
        """Ask the turns of a conversation in their order; the answer is that to the last one.

        Never raises for what the server does: a failure is in the response's `error`, which names its turn, and the
        answers before it are in its `turns`.

        Args:
            turns: What the user says, the question last.
            trace: The header `traceparent` of their requests; None for none.
        """
        conversation, before = Conversation(self.spec.session, trace), list[EvalResponse]()
        for number, message in enumerate(turns, start=1):
            response = await self._ask(message, conversation)
            if len(turns) == 1:
                return response
            error = response.error or (conversation.problem() if number < len(turns) else None)
            if error is not None:
                error = error.model_copy(update={"message": f"turn {number} of {len(turns)}: {error.message}"})
            if number == len(turns):
                return response.model_copy(update={"error": error, "turns": before})
            if error is not None:  # the conversation never came to its question: the times are of another turn
                kept = response.model_dump(include={"attempts", "waited_ms", "raw", "raw_cut"})
                return EvalResponse(error=error, turns=before, **kept)
            conversation.add(message, response.answer)
            before.append(response)
        raise ValueError("a conversation has at least one turn")

    async def _ask(self, message: str, conversation: Conversation) -> EvalResponse:
        exchange, given = self._exchange(), dict[str, Any]()
        parts = exchange.parts
        try:
            async with asyncio.timeout(self.spec.deadline_s):
                for part in parts:  # what the first one gives goes into the second
                    exchange.current = part
                    request = conversation.request(part.spec, message, given)
                    send = partial(self._send, part, request, conversation.cookies, paced=part is parts[0])
                    part.reply = await self.retrying.send(send, part, self._max_attempts)
                    if part is not parts[-1] and part.spec.give:
                        given = await asyncio.to_thread(self._given, part, part.reply)
            size = sum(len(part.reply.body) for part in parts if part.reply is not None)
            read = partial(self._read, exchange, conversation)
            return await asyncio.to_thread(read) if size > _LARGE else read()
        except UnusableError as error:
            return self._failed(exchange, error)
        except TimeoutError:
            return self._failed(exchange, self._too_late(exchange.current))

    def _exchange(self) -> _Exchange:
        asking = _Part(name="ask", spec=self.spec.ask, http=self.http)
        if self.spec.retrieve is None:
            return _Exchange(asking, None, [asking], asking)
        retrieving = _Part(name="retrieve", spec=self.spec.retrieve, http=self._retrieving)
        parts = [retrieving, asking] if self.spec.retrieves_first else [asking, retrieving]
        return _Exchange(asking, retrieving, parts, parts[0])

    async def _send(self, part: _Part, request: Mapping[str, Any], cookies: httpx.Cookies, *, paced: bool) -> Reply:
        """Make one attempt, with the job that it starts, where it starts one."""
        if paced and self._pause_s:  # starts are spaced evenly
            now = self.clock()
            start = max(now, self._next_start)
            self._next_start = start + self._pause_s
            if start > now:
                await self.sleep(start - now)
        if self.spec.stream is not None and part.name == "ask":
            part.stream = Collector(self.spec.stream)
        reply = await part.http.send(**request, stream=part.stream, cookies=cookies)
        then = self.spec.ask.then if part.name == "ask" else None
        return reply if then is None else await self._result_of(then, reply, part, cookies)

    async def _result_of(self, then: ThenSpec, started: Reply, part: _Part, cookies: httpx.Cookies) -> Reply:
        """The reply with the result of a job, whose time counts from the request that started the job.

        Raises:
            UnusableError: The job failed, is not done in time, or cannot be seen.
        """
        reply, status = started, self._body_of(part, started, is_checked=False)
        job, is_done = find_or_none(then.id, status), find_or_none(then.until, status)
        if job is None and not is_done:
            message = f"the body has no id of a job at `{then.id}` (ask.then.id)"
            raise ExchangeError(f"{message}: {self.redact.body(started.body)[:_SHOWN]}", status=started.status)
        look = partial(self.http.send, "GET", render_path(then.path, {"id": job}), cookies=cookies)
        looking = self.retrying.alone(is_known=True)
        pause_s = min(_FIRST_LOOK_S, then.every_s)
        try:
            async with asyncio.timeout(max(0.0, self.spec.timeout_s - started.elapsed_ms / 1000)):
                while not is_done:
                    if failed := find_or_none(then.failed, status):
                        raise ExchangeError(f"the job failed: {str(failed)[:200]}", "not_ok", reply.status)
                    await self.sleep(pause_s)
                    pause_s = min(1.5 * pause_s, then.every_s)
                    reply = await looking.send(look, Attempts(), sys.maxsize)  # the job is not started again
                    status = self._body_of(part, reply, is_checked=False)
                    is_done = find_or_none(then.until, status)
        except TimeoutError:
            message, elapsed_ms = f"the job was not done within {self.spec.timeout_s:g} s", self.spec.timeout_s * 1000
            raise ExchangeError(message, "timeout", started=started.started, elapsed_ms=elapsed_ms) from None
        elapsed_ms = (reply.started - started.started) * 1000 + reply.elapsed_ms
        return replace(reply, elapsed_ms=elapsed_ms, started=started.started)

    def _given(self, part: _Part, reply: Reply) -> dict[str, Any]:
        """What the body of a request gives to the templates of the other.

        Raises:
            UnusableError: The body cannot be read, or holds nothing to give.
        """
        body = self._body_of(part, reply)
        given = {name: find_or_none(expression, body) for name, expression in part.spec.give.items()}
        for name, value in given.items():
            if value is None:
                raise MappingError(f"the body has nothing at `{part.spec.give[name]}` to give as {name}")
        return given

    # What came back.

    def _read(self, exchange: _Exchange, conversation: Conversation, *, is_checked: bool = True) -> EvalResponse:
        """The response that complete replies make.

        Raises:
            UnusableError: No answer that can be read.
        """
        asking, bodies = exchange.asking, dict[str, Any]()
        for part in exchange.parts:
            exchange.current = part
            bodies[part.name] = None if part.reply is None else self._body_of(part, part.reply, is_checked=is_checked)
        exchange.current = asking
        if self.spec.session is not None:
            conversation.take(bodies["ask"])
        streamed = asking.stream.streamed() if asking.stream is not None else None
        if streamed is not None and streamed.text is not None:
            streamed = streamed._replace(text=self.redact.text(streamed.text))
        raw = asking.reply.body if asking.reply is not None else b""
        fields = self.reader.read(bodies["ask"], bodies.get("retrieve"), streamed, raw)
        return EvalResponse(**exchange.recorded(self.redact, None), **fields)

    def _body_of(self, part: _Part, reply: Reply, *, is_checked: bool = True) -> Any:
        """The body of a reply, as expressions see it.

        Raises:
            UnusableError: It is not what it is to be, or says itself that something is wrong.
        """
        condition, problem = part.spec.ok_when, None
        try:
            if part.stream is not None:
                body: Any = part.stream.body()
            else:
                body = parse_json(reply.body) if part.spec.reply == "json" else reply.body.decode("utf-8", "replace")
            body = self.redact.value(body)
        except TooManyValuesError as error:
            raise UnusableError(str(error), "too_large", reply.status) from error
        except ValueError as error:
            kind = self.redact.text(reply.headers.get("content-type", "no content type"))
            is_text = kind.startswith(("text/plain", "text/xml", "application/xml"))
            hint = f"; `server.{part.name}.reply: text` reads a text" if is_text else ""
            message = f"the body is not JSON ({kind}): {self.redact.body(reply.body)[:_SHOWN]!r}{hint}"
            raise UnusableError(message, status=reply.status) from error
        if is_checked and condition is not None:
            problem = None if find(condition, body) else f"`{condition}` does not hold"
        elif is_checked and isinstance(body, dict) and not body.keys().isdisjoint(("errors", "error")):
            problem = error_in(body)
            problem = problem and f"the body says {problem[:_SHOWN]!r} (with `ok_when` it would be read all the same)"
        if problem is not None:
            message = f"{problem}: {self.redact.body(reply.body)[:200]}"
            raise UnusableError(message, "not_ok", reply.status)
        return body

    def _too_late(self, part: _Part) -> ExchangeError:
        """The failure of a question that reached its deadline."""
        limit, attempts = self.spec.deadline_s, counted(part.failed + 1, "attempt")
        message, received = f"no answer within {limit:g} s, in {attempts} (server.deadline_s)", b""
        if part.stream is not None and part.stream.received:
            message, received = f"{message}: the stream brought {part.stream.so_far}", bytes(part.stream.received)
        return ExchangeError(message, "timeout", elapsed_ms=limit * 1000, body=received)

    def _failed(self, exchange: _Exchange, failure: UnusableError) -> EvalResponse:
        """The response of a question without an answer, whose message names the request that does not ask."""
        # Of two bodies, the reader of both knows which is the wrong one.
        part = exchange.retrieving if failure.request == "retrieve" and exchange.retrieving else exchange.current
        message, reply = failure.message, part.reply
        status = reply.status if failure.status is None and reply is not None else failure.status
        if isinstance(failure, MappingError) and reply is not None:
            message += f": {self.redact.body(reply.body)[:_SHOWN]}"
        message = message if part.name == "ask" else f"{part.name}: {message}"
        error = ResponseError(kind=failure.kind, status=status, message=message, request=part.name)
        received = failure if isinstance(failure, ExchangeError) else None
        return EvalResponse(error=error, **exchange.recorded(self.redact, received))

    def reread(self, raw: str, raw_retrieval: str | None = None) -> Mapping[str, Any]:
        """Read stored bodies with this client's mapping.

        Args:
            raw: Of the request that asks.
            raw_retrieval: Of the one that brings the chunks, where there was one.

        Raises:
            UnusableError: They hold no answer for this mapping.
        """
        exchange = self._exchange()
        if self.spec.retrieve is not None and self.spec.retrieve.map is not None and raw_retrieval is None:
            raise MappingError("the run holds no body of a second request (server.retrieve)")
        for part in exchange.parts:
            text = raw if part.name == "ask" else raw_retrieval
            part.reply = None if text is None else Reply(httpx.codes.OK, {}, text.encode(), 0.0, 0.0)
        if self.spec.stream is not None:
            exchange.asking.stream = Collector(self.spec.stream)
            exchange.asking.stream.take(raw.encode(), 0.0)
            exchange.asking.stream.finish(0.0)
        response = self._read(exchange, Conversation(self.spec.session), is_checked=False)
        return {name: getattr(response, name) for name in READ}
