"""`RAGClient`: the only code that talks to the server under evaluation."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from evals.client.address import check_url, is_place_of
from evals.client.endurance import Endurance
from evals.client.mapping import MappingError, ResponseReader, Streamed, find
from evals.client.pacing import Pacer
from evals.client.profile import resolve_spec
from evals.client.redaction import MAX_RAW_CHARS, Redactor
from evals.client.retrying import Attempts, send_with_retries
from evals.client.spec import AskSpec, ServerSpec
from evals.client.streams.collector import Collector, UnreadableStreamError
from evals.client.streams.sending import send_streamed, with_received
from evals.client.template import render, render_path
from evals.client.transport import Reply, Transport, TransportFailure
from evals.credentials.known import remember
from evals.credentials.stored import public_url, without_secrets
from evals.errors import ServerRefusedError, ServerUnreachableError
from evals.inputs.json_body import TooManyValuesError, parse_json
from evals.inputs.yaml_layers import expand_env
from evals.schemas import EvalResponse, ResponseError
from evals.text.counts import counted

_LARGE = 128 * 1024
"""Bytes from which on a body is read beside the event loop, so that the times of other answers are not ours."""
START_TIMEOUT_S = 3.0
"""For the calls before the first question: a dead server is known within seconds."""


class RAGClient:
    """Asks one RAG server.

    Use as `async with RAGClient(...) as client`.

    Args:
        spec: How the server is asked; a URL means the default profile at that URL.
        concurrency: How many requests may be in flight.
        max_attempts: How often a question is asked before it counts as failed.
        rps: At most so many requests start in a second; None for no limit.
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
        self.spec = ServerSpec.model_validate(expand_env(template.model_dump(by_alias=True), secrets))
        for secret in secrets:
            if not is_place_of(self.spec.url, secret):
                remember(secret)
        check_url(self.spec.url)
        self.redact = Redactor(secrets, self.spec)
        self._reader = ResponseReader(self.spec)
        self._asks_uuid = "uuid" in self.spec.ask.model_dump_json()
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._pacer = Pacer(rps, sleep=sleep, clock=clock)
        self._endurance = Endurance(self.spec.patience_s, concurrency=concurrency, sleep=sleep, clock=clock)
        self.transport = Transport(
            self.spec.url,
            headers=self.spec.headers,
            timeout_s=self.spec.timeout_s,
            concurrency=concurrency,
            max_body_bytes=self.spec.max_body_bytes,
            library=self.spec.transport,
            redact=self.redact.text,
            clock=clock,
        )

    async def __aenter__(self) -> "RAGClient":
        await self.transport.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.transport.__aexit__()

    @property
    def url(self) -> str:
        """The server's URL without credentials: neither a login, nor what a ${NAME} put into its path."""
        parts = urlsplit(public_url(self.spec.url))
        return urlunsplit(parts._replace(path=self.redact.text(parts.path)))

    async def health(self) -> None:
        """Check that the server is there.

        Raises:
            ServerUnreachableError: Nothing answers.
            ServerRefusedError: It answers with an error.
        """
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
                "set server.headers for a server that wants a login, server.health.path for another health check (null "
                "for none); another kind of server needs a profile of its own: docs/profiles.md, --profile FILE.yml",
            ) from failure

    async def info(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the server's configuration.

        Returns:
            The facts by our names (None where the server does not say), and the raw bodies by path.
        """
        facts: dict[str, Any] = {}
        raw: dict[str, Any] = {}
        for endpoint in self.spec.info:
            body = without_secrets(self.redact.value(await self.get_json(endpoint.path)))
            raw[self.redact.text(endpoint.path)] = body
            for name, expression in endpoint.map.items():
                value = self._fact(expression, body)
                facts[name] = facts.get(name) if value is None else value
        return facts, raw

    async def get_json(self, path: str) -> Any:
        """Read a JSON body with GET; None where there is none to be had."""
        try:
            return await self.read_json(path)
        except TransportFailure:
            return None

    async def read_json(self, path: str, *, max_attempts: int = 1) -> Any:
        """Read a JSON body with GET.

        Raises:
            TransportFailure: There is none to be had; its `error` says why (`malformed` where it is not JSON).
        """

        async def send() -> Reply:
            return await self.transport.send("GET", path, timeout_s=START_TIMEOUT_S)

        reply = await send_with_retries(send, max_attempts, Attempts(), self._sleep)
        try:
            return parse_json(reply.body)
        except ValueError as error:
            problem = ResponseError(kind="malformed", status=reply.status, message="the body is not JSON")
            raise TransportFailure(problem, retryable=False, body=reply.body) from error

    async def ask(self, question: str) -> EvalResponse:
        """Ask one question. Never raises for what the server does: a failure is in the response's `error`."""
        attempts = Attempts(began=self._pacer.due())
        request = self._request(self.spec.ask, question)

        streams: list[Collector] = []  # that of the last attempt

        async def send() -> Reply:
            await self._pacer.wait()
            if self.spec.stream is None:
                return await self.transport.send(**request)
            streams[:] = [Collector(self.spec.stream)]
            return await send_streamed(self.transport, streams[0], request)

        async def endured() -> Reply:
            return await self._endurance.send(send, attempts)

        try:
            async with asyncio.timeout(self.spec.deadline_s):
                reply = await send_with_retries(endured, self._attempts_left(), attempts, self._sleep)
        except TransportFailure as failure:
            return self._failed(failure, attempts)
        except TimeoutError:
            late = self._too_late(attempts)
            return self._failed(with_received(late, streams[0]) if streams else late, attempts)
        if len(_received(reply)) > _LARGE:
            return await asyncio.to_thread(self._read, reply, attempts)
        return self._read(reply, attempts)

    @property
    def away(self) -> str | None:
        """What the server said last when it had taken nothing for `server.patience_s`; None before that."""
        return self._endurance.away

    @property
    def refused(self) -> int:
        """How many requests the server refused for being too many (429, 503), or while it was away."""
        return self._endurance.rate.refused

    def _attempts_left(self) -> int:
        return 1 if self.away else self._max_attempts

    def _too_late(self, attempts: Attempts) -> TransportFailure:
        limit = self.spec.deadline_s
        message = f"no answer within {limit:g} s, in {counted(attempts.count, 'attempt')} (server.deadline_s)"
        return TransportFailure(
            ResponseError(kind="timeout", message=message), retryable=False, elapsed_ms=limit * 1000
        )

    def restart_pace(self) -> None:
        """Say that a sequence of questions begins: waiting is counted from when each of them is meant to be sent."""
        self._pacer.restart()

    def _request(self, ask: AskSpec, question: str) -> dict[str, Any]:
        values = {"question": question, "uuid": str(uuid.uuid4()) if self._asks_uuid else ""}
        request: dict[str, Any] = {"method": ask.method, "path": render_path(ask.path, values)}
        for key, template in (("params", ask.query or None), ("headers", ask.headers), ("json", ask.body)):
            if template is not None:
                request[key] = render(template, values)
        return request

    def _read(self, reply: Reply, attempts: Attempts) -> EvalResponse:
        base: dict[str, Any] = {
            "latency_ms": reply.elapsed_ms,
            "total_ms": attempts.total_ms(reply),
            "attempts": attempts.count,
            "waited_ms": attempts.waited_s * 1000,
            **self._bounded(_received(reply)),
            **_token_times(reply.stream),
        }
        try:
            body = self.redact.value(reply.stream.body() if reply.stream else parse_json(reply.body))
        except TooManyValuesError as error:
            problem = ResponseError(kind="too_large", status=reply.status, message=str(error))
            return EvalResponse(**base, error=problem)
        except ValueError:
            kind = self.redact.text(reply.headers.get("content-type", "no content type"))
            message = f"the body is not JSON ({kind}): {base['raw'][:120]!r}"
            return EvalResponse(**base, error=ResponseError(kind="malformed", status=reply.status, message=message))
        try:
            if self.spec.ask.ok_when is not None and not find(self.spec.ask.ok_when, body):
                message = f"`{self.spec.ask.ok_when}` does not hold: {base['raw'][:200]}"
                return EvalResponse(**base, error=ResponseError(kind="not_ok", status=reply.status, message=message))
            return EvalResponse(**base, **self._reader.read(body, self._streamed(reply.stream)))
        except MappingError as error:
            message = f"{error}: {base['raw'][:120]}"
            return EvalResponse(**base, error=ResponseError(kind="malformed", status=reply.status, message=message))

    def _failed(self, failure: TransportFailure, attempts: Attempts) -> EvalResponse:
        return EvalResponse(
            error=failure.error,
            total_ms=attempts.total_ms(failure),
            latency_ms=failure.elapsed_ms if failure.error.kind == "timeout" else None,
            attempts=attempts.count,
            waited_ms=attempts.waited_s * 1000,
            time_to_first_token_ms=failure.first_token_ms,
            **(self._bounded(failure.body, cut=failure.error.kind == "too_large") if failure.body else {}),
        )

    def _streamed(self, stream: Collector | None) -> Streamed | None:
        """The answer whose pieces were put together, without secrets."""
        found = stream.streamed() if stream is not None else None
        if found is None or found.text is None:
            return found
        return Streamed(self.redact.text(found.text), found.notes)

    def _bounded(self, body: bytes | bytearray, *, cut: bool = False) -> dict[str, Any]:
        """A received body as it is recorded."""
        text = self.redact.body(body)
        return {"raw": text[:MAX_RAW_CHARS], "raw_cut": cut or len(text) > MAX_RAW_CHARS}

    def _fact(self, expression: str, body: Any) -> Any:
        try:
            return find(expression, body)
        except MappingError:
            return None  # the path exists but holds something else: the server does not say

    def reread(self, raw: str) -> Mapping[str, Any]:
        """Read a stored body with this client's mapping.

        Raises:
            MappingError: The body holds no answer for this mapping.
            ValueError: It is not JSON.
        """
        if self.spec.stream is None:
            return self._reader.read(parse_json(raw.encode()))
        stream = Collector(self.spec.stream)
        try:
            stream.take(raw.encode(), 0.0)
            stream.finish(0.0)
        except UnreadableStreamError as error:
            raise MappingError(str(error)) from error
        return self._reader.read(stream.body(), stream.streamed())


def _received(reply: Reply) -> bytes | bytearray:
    return reply.body if reply.stream is None else reply.stream.received


def _token_times(stream: Collector | None) -> dict[str, Any]:
    """When the first and the last text of a stream arrived."""
    if stream is None:
        return {}
    return {"time_to_first_token_ms": stream.first_ms, "time_to_last_token_ms": stream.last_ms}
