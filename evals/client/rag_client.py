"""`RAGClient`: the only code that talks to the server under evaluation."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from evals.client.connections import check_url, is_place_of
from evals.client.exchange import (
    Conversation,
    Exchange,
    QuestionRequest,
    body_of,
    converse,
    rendered,
    stored_body,
    stored_stream,
    why_unusable,
    without_unset_headers,
)
from evals.client.mapping import (
    MappingError,
    ResponseReader,
    RetrievalMappingError,
    Streamed,
    find_needed,
    find_or_none,
)
from evals.client.oauth2 import REFUSED, login_hint, login_of
from evals.client.profile import MAX_RAW_CHARS, Redactor, resolve_spec
from evals.client.retry import Attempts, Pacer, RetryPolicy
from evals.client.spec import GIVEN_NAMES, ServerSpec
from evals.client.streams import Collector, UnusableError
from evals.client.transport import Reply, Tracing, Transport, TransportFailure, with_received
from evals.errors import ServerRefusedError, ServerUnreachableError
from evals.schemas.response import EvalResponse, ResponseError
from evals.secrets import public_url, remember, without_secrets
from evals.text.decoding import parse_json
from evals.text.numbers import counted
from evals.text.yaml_files import expand_env

_LARGE = 128 * 1024
"""Bytes from which on a body is read outside the event loop, so that the times of other answers are not ours."""


START_TIMEOUT_S = 3.0
"""For the calls before the first question: a dead server is known within seconds."""


class RAGClient:
    """Asks one RAG server.

    Use as `async with RAGClient(...) as client`.

    Args:
        spec: How the server is asked; a URL means the default profile at that URL.
        concurrency: How many requests may be in flight.
        max_attempts: How often a question is asked before it counts as failed.
        rps: At most this many requests start in a second; None for no limit.
        sleep: How to wait; for tests.
        clock: Monotonic seconds; for tests.
    """

    def __init__(
        self,
        spec: ServerSpec | str,
        *,
        concurrency: int = 4,
        max_attempts: int = 3,
        rps: float | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        template = resolve_spec({"url": spec}) if isinstance(spec, str) else spec
        secrets: set[str] = set()
        self.spec = ServerSpec.model_validate(expand_env(without_unset_headers(template), secrets))
        for secret in secrets:
            if not is_place_of(self.spec.url, secret):
                remember(secret)
        self.login_hint = login_hint(template)
        check_url(self.spec.url)
        self.redact = Redactor(secrets, self.spec)
        self._opened = AsyncExitStack()
        self._reader = ResponseReader(self.spec)
        self.document_names: Mapping[str, str] = {}
        """How documents are called whose ids the server gives; empty if not stated."""
        templates = self.spec.model_dump_json(include={"ask", "retrieve"})
        self._names_more = any(name in templates for name in GIVEN_NAMES - {"question"})
        self._max_attempts = max_attempts
        self._pacer = Pacer(rps and rps / (1 if self.spec.retrieve is None else 2), sleep=sleep, clock=clock)
        self.transport = Transport(
            self.spec.url,
            headers=self.spec.headers,
            timeout_s=self.spec.timeout_s,
            concurrency=concurrency,
            max_body_bytes=self.spec.max_body_bytes,
            library=self.spec.transport,
            tls=self.spec.tls,
            redact=self.redact.text,
            clock=clock,
        )
        self._login = login_of(self.spec, self.redact, clock)
        self.transport.authorize = None if self._login is None else self._login.send
        path = self.spec.health.path if self.spec.health else None
        reach = partial(self.transport.reaches, path, START_TIMEOUT_S)
        self._policy = RetryPolicy(self.spec.patience_s, reach=reach, sleep=sleep, clock=clock)
        self._plain_policy = partial(RetryPolicy, 0.0, reach=reach, sleep=sleep, clock=clock)

    async def __aenter__(self) -> "RAGClient":
        async with AsyncExitStack() as opened:
            await opened.enter_async_context(self.transport)
            if self._login is not None:
                await opened.enter_async_context(self._login.transport)
            self._opened = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    @property
    def tracing(self) -> Tracing:
        """How what is asked is traced."""
        return self.transport.tracing

    @property
    def url(self) -> str:
        """The server's URL without credentials: neither a login, nor what a ${NAME} put into its path."""
        parts = urlsplit(public_url(self.spec.url))
        return urlunsplit(parts._replace(path=self.redact.text(parts.path)))

    def know_documents(self, names: Mapping[str, str]) -> None:
        """Set the names of documents by the server's ids; chunks without a name get theirs.

        Args:
            names: By the server's ids.
        """
        self.document_names = self._reader.document_names = names

    async def health(self) -> None:
        """Check that the server is there.

        Raises:
            ServerUnreachableError: Nothing answers, or no server that gives a token for it.
            ServerRefusedError: It answers with an error, or no token is given.
        """
        if self._login is not None:
            await self._login.check()
        if self.spec.health is None:
            return
        try:
            await self.transport.send("GET", self.spec.health.path, timeout_s=START_TIMEOUT_S)
        except TransportFailure as failure:
            message = failure.error.message
            if failure.error.kind in {"connect", "timeout"}:
                raise ServerUnreachableError(
                    f"no RAG server answers at {self.url} ({message})",
                    "start one with `evals serve` and ask it --datasets golden, name yours with --rag-url, or take the "
                    "built-in one with --embedded",
                ) from failure
            raise ServerRefusedError(
                f"the server at {self.url} is not healthy: {self.spec.health.path} answers {message}",
                (self.login_hint if failure.error.status in REFUSED else None)
                or f"`evals init` or `evals probe {self.url}` finds out how to ask another kind of server, or "
                "describe it (docs/profiles.md, --profile FILE.yml); for a login set server.headers, for another "
                "health check server.health.path (null for none)",
            ) from failure

    async def info(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the server's configuration.

        Returns:
            The facts by our names (None where the server does not say), and the raw bodies by path.
        """
        facts: dict[str, Any] = {}
        raw: dict[str, Any] = {}
        for endpoint in self.spec.info:
            try:
                body = without_secrets(self.redact.value(await self.read_json(endpoint.path)))
            except TransportFailure:
                body = None
            body = body if endpoint.of is None else find_or_none(endpoint.of, body)
            raw[self.redact.text(endpoint.path)] = body
            for name, expression in endpoint.map.items():
                value = find_or_none(expression, body)
                facts[name] = facts.get(name) if value is None else value
        return facts, raw

    async def read_json(self, path: str, *, max_attempts: int = 1) -> Any:
        """Read a JSON body with GET.

        Raises:
            TransportFailure: There is none to be had; its `error` says why (`malformed` where it is not JSON).
        """

        async def send() -> Reply:
            return await self.transport.send("GET", path, timeout_s=START_TIMEOUT_S)

        reply = await self._plain_policy().send(send, Attempts(), max_attempts)
        try:
            return parse_json(reply.body)
        except ValueError as error:
            problem = ResponseError(kind="malformed", status=reply.status, message="the body is not JSON")
            raise TransportFailure(problem, retryable=False, body=reply.body) from error

    async def ask(self, question: str) -> EvalResponse:
        """Ask one question. Never raises for what the server does: a failure is in the response's `error`."""
        return await self._ask(question, Conversation(self.spec))

    async def converse(self, turns: Sequence[str]) -> EvalResponse:
        """Ask the turns of a conversation in their order; the answer is that to the last one.

        Never raises for what the server does: a failure is in the response's `error`, which names its turn, and the
        answers before it are in its `turns`.

        Args:
            turns: What the user says, the question last.
        """
        return await converse(self._ask, self.spec, turns)

    async def _ask(self, question: str, conversation: Conversation, is_first: bool = True) -> EvalResponse:
        exchange = Exchange(self.spec, self._pacer.due() if is_first else None)
        try:
            async with asyncio.timeout(self.spec.deadline_s):
                await self._make(exchange, question, conversation)
        except TransportFailure as failure:
            return self._failed(failure, exchange)
        except TimeoutError:
            return self._failed(self._too_late(exchange), exchange)
        if sum(len(part.reply.body) for part in exchange.order if part.reply is not None) > _LARGE:
            return await asyncio.to_thread(self._read, exchange, conversation)
        return self._read(exchange, conversation)

    async def _make(self, exchange: Exchange, question: str, conversation: Conversation) -> None:
        """Make the requests of a question, each with its retries; what the first one gives goes into the second.

        Raises:
            TransportFailure: Of the first that fails.
        """
        values: dict[str, Any] = {"question": question}
        if self._names_more:
            values |= {"question_json": json.dumps(question, ensure_ascii=False), **conversation.values(question)}
        for part in exchange.order:
            exchange.current = part
            send = partial(self._send, part, rendered(part.spec, values), part is exchange.order[0])
            part.reply = await self._policy.send(send, part.attempts, self._max_attempts)
            if exchange.gives and part is exchange.retrieving:
                values |= await asyncio.to_thread(self._given, part, exchange.gives)

    async def _send(self, part: QuestionRequest, request: Mapping[str, Any], paced: bool) -> Reply:
        if paced:
            await self._pacer.wait()
        if self.spec.stream is not None and part.name == "ask":
            part.stream = Collector(self.spec.stream)
        return await self.transport.send(**request, stream=part.stream)

    def _given(self, part: QuestionRequest, gives: Mapping[str, str]) -> dict[str, Any]:
        """What the body of a request gives to the templates of the other.

        Raises:
            TransportFailure: The body cannot be read, or holds nothing to give.
        """
        try:
            body = body_of(part, self.redact)
            return {name: find_needed(name, expression, body) for name, expression in gives.items()}
        except (UnusableError, MappingError) as error:
            raise TransportFailure(why_unusable(part, error, self.redact), retryable=False) from error

    async def send_patiently(self, send: Callable[[], Awaitable[Reply]]) -> Reply:
        """Send a request, and repeat it while the server is overloaded (429, 503).

        Raises:
            TransportFailure: It failed, or was refused for `server.patience_s`.
        """
        return await self._policy.send(send, Attempts())

    @property
    def unavailable(self) -> str | None:
        """The last refusal, once the server has accepted no request for `server.patience_s`; else None."""
        return self._policy.unavailable

    @property
    def refused(self) -> int:
        """How many requests the server refused for being too many (429, 503)."""
        return self._policy.rate.refused

    def restart_pace(self) -> None:
        """Start a sequence of questions: waiting is counted from the intended start of each."""
        self._pacer.restart()

    def _read(self, exchange: Exchange, conversation: Conversation) -> EvalResponse:
        base = {**exchange.measured(), **self._raw(exchange)}
        part, stream = exchange.asking, exchange.asking.stream
        try:
            body, retrieved = body_of(part, self.redact), None
            conversation.see_body(body)
            if exchange.retrieving is not None:
                part = exchange.retrieving
                retrieved = body_of(part, self.redact)
            streamed = None if stream is None else stream.streamed()
            if streamed is not None and streamed.text is not None:
                streamed = Streamed(self.redact.text(streamed.text), streamed.notes)
            return EvalResponse(**base, **self._reader.read(body, retrieved, streamed))
        except (MappingError, UnusableError) as error:
            if isinstance(error, MappingError) and not isinstance(error, RetrievalMappingError):
                part = exchange.asking
            return EvalResponse(**base, error=why_unusable(part, error, self.redact))

    def _too_late(self, exchange: Exchange) -> TransportFailure:
        """The failure of a question that reached its deadline."""
        limit, part = self.spec.deadline_s, exchange.current
        message = f"no answer within {limit:g} s, in {counted(part.attempts.count, 'attempt')} (server.deadline_s)"
        error = ResponseError(kind="timeout", message=message)
        late = TransportFailure(error, retryable=False, elapsed_ms=limit * 1000)
        return late if part.stream is None else with_received(late, part.stream)

    def _failed(self, failure: TransportFailure, exchange: Exchange) -> EvalResponse:
        part, error = exchange.current, failure.error
        if part.name != error.request:
            error = error.model_copy(update={"request": part.name, "message": part.told(error.message)})
        return EvalResponse(error=error, **exchange.measured(failure), **self._raw(exchange, failure))

    def _raw(self, exchange: Exchange, failure: TransportFailure | None = None) -> dict[str, Any]:
        """The bodies that were received, as they are recorded; of one that is too large, its beginning."""
        raw: dict[str, Any] = {"raw_cut": failure is not None and failure.error.kind == "too_large"}
        for part in exchange.order:
            received = part.reply or (failure if part is exchange.current else None)
            if received is not None and (part.reply or received.body):
                text = self.redact.body(received.body)
                raw["raw" if part is exchange.asking else "raw_retrieval"] = text[:MAX_RAW_CHARS]
                raw["raw_cut"] |= len(text) > MAX_RAW_CHARS
        return raw

    def reread(self, raw: str, raw_retrieval: str | None = None) -> Mapping[str, Any]:
        """Read stored bodies with this client's mapping.

        Args:
            raw: Of the request that asks.
            raw_retrieval: Of the one that brings the chunks, where there was one.

        Raises:
            MappingError: They hold no answer for this mapping.
            ValueError: One is not JSON.
        """
        retrieve, retrieved, streamed = self.spec.retrieve, None, None
        if retrieve is not None and raw_retrieval is None:
            raise MappingError("the run holds no body of a second request (server.retrieve)")
        if self.spec.stream is not None:
            body, streamed = stored_stream(self.spec.stream, raw)
        else:
            body = stored_body(self.spec.ask, raw.encode())
        if retrieve is not None and raw_retrieval is not None:
            retrieved = stored_body(retrieve, raw_retrieval.encode())
        return self._reader.read(body, retrieved, streamed)
