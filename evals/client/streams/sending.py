"""One attempt at an answer that comes in pieces."""

from collections.abc import Mapping
from typing import Any

from evals.client.streams.collector import Collector
from evals.client.transport import Reply, Transport, TransportFailure
from evals.schemas import ResponseError


async def send_streamed(transport: Transport, stream: Collector, request: Mapping[str, Any]) -> Reply:
    """Make one exchange whose answer comes in pieces.

    Args:
        transport: Makes it.
        stream: Takes the answer; a new one for each attempt.
        request: As `Transport.send` takes it.

    Raises:
        TransportFailure: There is no complete answer. It holds what was received. Once a text arrived, it is not
            retryable: the server began to answer, and a user would have seen half of it.
    """
    try:
        return await transport.send(**request, stream=stream)
    except TransportFailure as failure:
        if failure.error.kind == "status":
            raise
        raise with_received(failure, stream) from failure


def with_received(failure: TransportFailure, stream: Collector) -> TransportFailure:
    """The failure of a stream, with what had come of it."""
    return TransportFailure(
        _told(failure.error, stream),
        retryable=failure.retryable and stream.first_ms is None,
        elapsed_ms=failure.elapsed_ms,
        started=failure.started,
        body=failure.body or bytes(stream.received),
    )


def _told(error: ResponseError, stream: Collector) -> ResponseError:
    """What went wrong, with how far the stream had come."""
    if error.kind == "timeout" and stream.received:
        return error.model_copy(update={"message": f"{error.message}: the stream brought {stream.so_far}"})
    if error.kind == "connect" and stream.received:
        message = f"the stream broke off; it brought {stream.so_far} ({error.message})"
        return error.model_copy(update={"kind": "broken_off", "message": message})
    return error
