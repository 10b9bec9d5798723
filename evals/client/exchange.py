"""The requests of one question: the one that asks and, of some servers, the one that brings the chunks."""

from collections.abc import Mapping
from typing import Any, Literal

from evals.client.retrying import Attempts
from evals.client.spec import RequestSpec, RetrieveSpec, ServerSpec
from evals.client.streams.collector import Collector
from evals.client.template import render, render_path, render_texts
from evals.client.transport import Reply, TransportFailure
from evals.inputs.yaml_layers import is_left_out

RequestName = Literal["ask", "retrieve"]


class QuestionRequest:
    """One of the requests, and what became of it.

    Attributes:
        name: Its key of a profile.
        spec: How it is made.
        attempts: What it took.
        reply: What came back; None before that.
        stream: Takes the answer of the last attempt, where it comes in pieces.
    """

    def __init__(self, name: RequestName, spec: RequestSpec, began: float | None) -> None:
        self.name: RequestName = name
        self.spec = spec
        self.attempts = Attempts(began=began)
        self.reply: Reply | None = None
        self.stream: Collector | None = None

    def told(self, message: str) -> str:
        """A message about this request, which is named where it is not the one that asks."""
        return message if self.name == "ask" else f"{self.name}: {message}"

    @property
    def gives(self) -> Mapping[str, str]:
        """The names that its body gives to the other request, with their expressions."""
        return self.spec.give if isinstance(self.spec, RetrieveSpec) else {}


class Exchange:
    """The requests of one question, in the order in which they are made.

    A retrieval of which the answer is made goes first. Any other one follows the answer, so that the answer's time is
    that of a server that does nothing else for the question.

    Args:
        spec: Of the server.
        began: When the question was meant to be sent, by the clock of the transport; None where that is when it is.
    """

    def __init__(self, spec: ServerSpec, began: float | None) -> None:
        self.asking = QuestionRequest("ask", spec.ask, began)
        self.retrieving = None if spec.retrieve is None else QuestionRequest("retrieve", spec.retrieve, began)
        self.feeds = self.retrieving is not None and bool(self.retrieving.gives)
        both = [self.asking] if self.retrieving is None else [self.asking, self.retrieving]
        self.order = both[::-1] if self.feeds else both
        self.current = self.order[0]
        """The one that is being made."""

    @property
    def size(self) -> int:
        """Bytes that were received."""
        return sum(len(part.reply.body) for part in self.order if part.reply is not None)

    @property
    def attempts(self) -> int:
        """How often the question was asked: 1 where each request succeeded at once."""
        return max(1, 1 + sum(part.attempts.count - 1 for part in self.order if part.attempts.count))

    @property
    def waited_ms(self) -> float:
        """Back-off between attempts."""
        return sum(part.attempts.waited_s for part in self.order) * 1000

    def latency_ms(self) -> float | None:
        """Of the answer: with the retrieval that it was made of, without one that followed it; None without a reply."""
        replies = [part.reply for part in (self.order if self.feeds else [self.asking])]
        times = [reply.elapsed_ms for reply in replies if reply is not None]
        return sum(times) if len(times) == len(replies) else None

    def retrieval_latency_ms(self) -> float | None:
        """Of the request that brings the chunks; None where there is none, or it brought none."""
        reply = self.retrieving.reply if self.retrieving is not None else None
        return None if reply is None else reply.elapsed_ms

    def late_ms(self, failure: TransportFailure) -> float | None:
        """The least that the answer would have taken that ran out of time; None where it is not the answer that did."""
        if failure.error.kind != "timeout" or (not self.feeds and self.current is not self.asking):
            return None
        if failure.started is None:  # of the whole question
            return failure.elapsed_ms
        return failure.elapsed_ms + sum(part.reply.elapsed_ms for part in self.order if part.reply is not None)

    def token_times(self, failure: TransportFailure | None = None) -> dict[str, float | None]:
        """When the first and the last text of a stream arrived, counted as `latency_ms` is.

        Where the time was up before the first one, it came later than the time that `late_ms` says.
        """
        stream = self.asking.stream
        if stream is None or stream.first_ms is None or stream.last_ms is None:
            return {"time_to_first_token_ms": self.late_ms(failure) if failure and stream is not None else None}
        before = self.retrieving.reply if self.feeds and self.retrieving is not None else None
        waited = before.elapsed_ms if before is not None else 0.0
        return {"time_to_first_token_ms": waited + stream.first_ms, "time_to_last_token_ms": waited + stream.last_ms}

    def total_ms(self, last: Reply | TransportFailure | None = None) -> float | None:
        """From when the question was meant to be sent to its answer, or to the failure given."""
        end = last or self.asking.reply
        return None if end is None else self.order[0].attempts.total_ms(end)


def rendered(spec: RequestSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the transport is to send, with the templates filled in."""
    request: dict[str, Any] = {"method": spec.method, "path": render_path(spec.path, values)}
    for key, templates in (("params", spec.query), ("headers", spec.headers), ("form", spec.form)):
        if templates:
            request[key] = render_texts(templates, values)
    if spec.body is not None:
        request["json"] = render(spec.body, values)
    return request


def without_unset_headers(spec: ServerSpec) -> dict[str, Any]:
    """The keys of a specification without the headers whose optional variable, ${NAME:-}, is not set.

    Nor, where there is a login, with a header Authorization: a profile's may name a variable that nobody sets then.
    """
    keys: dict[str, Any] = spec.model_dump(by_alias=True)
    unsent = {"authorization"} if spec.login is not None else set()
    for part in (keys, keys["ask"], keys["retrieve"]):
        if part is not None:
            given = {name: value for name, value in part["headers"].items() if name.lower() not in unsent}
            part["headers"] = {name: value for name, value in given.items() if not is_left_out(value)}
    return keys
