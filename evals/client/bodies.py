"""From the bytes of a reply to a value that expressions are evaluated over, or the reason why there is none."""

from typing import Any

from evals.client.exchange import QuestionRequest
from evals.client.mapping import MappingError, Streamed, find
from evals.client.redaction import Redactor
from evals.client.spec import RequestSpec
from evals.client.streams.collector import Collector, UnreadableStreamError
from evals.client.streams.spec import StreamSpec
from evals.client.transport import Reply
from evals.inputs.json_body import TooManyValuesError, parse_json
from evals.schemas import ResponseError
from evals.schemas.response import ErrorKind

_SHOWN = 120


class UnusableError(Exception):
    """A reply that came is no answer."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind


def body_of(part: QuestionRequest, redact: Redactor) -> Any:
    """The body of the reply to a request, as expressions see it.

    Args:
        part: A request that was answered.
        redact: Masks secrets.

    Raises:
        UnusableError: It is not what it is to be, or says itself that something is wrong.
    """
    reply = part.reply
    if reply is None:
        raise RuntimeError(f"there is no reply to `{part.name}`")
    body = redact.value(_parsed(part, reply, redact))
    condition = part.spec.ok_when
    try:
        is_ok = condition is None or find(condition, body)
    except MappingError as error:
        raise UnusableError("malformed", f"{error}: {redact.body(reply.body)[:_SHOWN]}") from error
    if not is_ok:
        raise UnusableError("not_ok", f"`{condition}` does not hold: {redact.body(reply.body)[:200]}")
    return body


def stored_body(spec: RequestSpec, raw: str) -> Any:
    """The body of a reply that was recorded.

    Raises:
        ValueError: It is to be JSON, and is not.
    """
    return raw if spec.reply == "text" else parse_json(raw.encode())


def why_unusable(part: QuestionRequest, error: UnusableError | MappingError, redact: Redactor) -> ResponseError:
    """What is recorded of a reply that came and is no answer."""
    reply = part.reply
    status = None if reply is None else reply.status
    if isinstance(error, UnusableError):
        return ResponseError(kind=error.kind, status=status, message=part.told(str(error)), request=part.name)
    message = str(error) if reply is None else f"{error}: {redact.body(reply.body)[:_SHOWN]}"
    return ResponseError(kind=error.kind, status=status, message=part.told(message), request=part.name)


def streamed_answer(reply: Reply | None, redact: Redactor) -> Streamed | None:
    """The answer that the pieces of a stream make, without secrets; None of a reply that is no stream."""
    found = reply.stream.streamed() if reply is not None and reply.stream is not None else None
    return found if found is None or found.text is None else Streamed(redact.text(found.text), found.notes)


def stored_stream(spec: StreamSpec, raw: str) -> tuple[Any, Streamed | None]:
    """The pieces of a stream that was recorded, and the answer that they make.

    Raises:
        MappingError: They cannot be read as the specification says.
    """
    stream = Collector(spec)
    try:
        stream.take(raw.encode(), 0.0)
        stream.finish(0.0)
    except UnreadableStreamError as error:
        raise MappingError(str(error)) from error
    return stream.body(), stream.streamed()


def _parsed(part: QuestionRequest, reply: Reply, redact: Redactor) -> Any:
    if reply.stream is not None:
        return reply.stream.body()
    if part.spec.reply == "text":
        return reply.body.decode("utf-8", "replace")
    try:
        return parse_json(reply.body)
    except TooManyValuesError as error:
        raise UnusableError("too_large", str(error)) from error
    except ValueError as error:
        kind = redact.text(reply.headers.get("content-type", "no content type"))
        message = f"the body is not JSON ({kind}): {redact.body(reply.body)[:_SHOWN]!r}"
        way = f"; `server.{part.name}.reply: text` reads a text" if kind.startswith("text/plain") else ""
        raise UnusableError("malformed", f"{message}{way}") from error
