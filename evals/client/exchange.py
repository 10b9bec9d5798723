"""The requests of one question: the one that asks and, for some servers, the one that retrieves the chunks."""

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from evals.client.connections import ASKED
from evals.client.mapping import MappingError, Streamed, find
from evals.client.profile import Redactor
from evals.client.retry import Attempts
from evals.client.spec import RequestSpec, ServerSpec, StreamSpec, render, render_path, render_texts
from evals.client.spec_check import text_or_none
from evals.client.streams import Collector, UnusableError
from evals.client.transport import Reply, Tracing, TransportFailure
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, ResponseError
from evals.text.decoding import TooManyValuesError, parse_json
from evals.text.yaml_files import is_left_out

RequestName = Literal["ask", "retrieve"]


@dataclass(slots=True)
class QuestionRequest:
    """One of the requests of a question, with its result.

    Attributes:
        name: Its key of a profile.
        spec: How it is made.
        attempts: What it took.
        reply: What came back; None before that.
        stream: Takes the answer of the last attempt, where it comes in pieces.
    """

    name: RequestName
    spec: RequestSpec
    attempts: Attempts
    reply: Reply | None = None
    stream: Collector | None = None

    def told(self, message: str) -> str:
        """A message about this request, which is named where it is not the one that asks."""
        return message if self.name == "ask" else f"{self.name}: {message}"


class Exchange:
    """The requests of one question, in the order in which they are made.

    A retrieval of which the answer is made goes first. Any other one follows the answer, so that the answer's time is
    that of a server that does nothing else for the question.

    Args:
        spec: Of the server.
        began: When the question was meant to be sent, by the clock of the transport; None where that is when it is.

    Attributes:
        gives: The names that the first request gives to the second, with their expressions; empty where it gives none.
        current: The request that is being made.
    """

    def __init__(self, spec: ServerSpec, began: float | None) -> None:
        self.asking = QuestionRequest("ask", spec.ask, Attempts(began=began))
        self.retrieving: QuestionRequest | None = None
        self.gives: Mapping[str, str] = {}
        self.order = [self.asking]
        if spec.retrieve is not None:
            self.retrieving, self.gives = (
                QuestionRequest("retrieve", spec.retrieve, Attempts(began=began)),
                spec.retrieve.give,
            )
            self.order.insert(0 if self.gives else 1, self.retrieving)
        self.current = self.order[0]

    def measured(self, failure: TransportFailure | None = None) -> dict[str, Any]:
        """The times and attempts as they are recorded, all of them counted from the first request of the answer.

        Args:
            failure: What came of it, where that is no answer.
        """
        retrieved = self.retrieving.reply if self.retrieving is not None else None
        times: dict[str, float | None] = {
            "latency_ms": self._latency_ms(failure),
            "total_ms": self._total_ms(failure or self.asking.reply),
            "retrieval_latency_ms": None if retrieved is None else retrieved.elapsed_ms,
            "waited_ms": sum(part.attempts.waited_s for part in self.order) * 1000,
        }
        if (stream := self.asking.stream) is not None:
            before_ms = retrieved.elapsed_ms if self.gives and retrieved else 0.0
            # Where the time was up before the first text, that time is the least it would have taken.
            times["time_to_first_token_ms"] = times["latency_ms"] if failure is not None else None
            times |= stream.times_after(before_ms)
        return {**times, "attempts": 1 + sum(max(0, part.attempts.count - 1) for part in self.order)}

    def _total_ms(self, end: Reply | TransportFailure | None) -> float | None:
        """From when the question was meant to be sent to the end of the last attempt; None where that is not known."""
        began = self.order[0].attempts.began
        if end is None or end.started is None or began is None:
            return None
        return (end.started - began) * 1000 + end.elapsed_ms

    def _latency_ms(self, failure: TransportFailure | None) -> float | None:
        """Of the answer, with the retrieval that it was made of; of one that ran out of time, the least it took."""
        parts = self.order if self.gives else [self.asking]
        received = sum(part.reply.elapsed_ms for part in parts if part.reply is not None)
        if failure is None:
            return received
        if failure.error.kind != "timeout" or self.current not in parts:
            return None
        return failure.elapsed_ms + (received if failure.started is not None else 0.0)  # without a start: of the whole


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

    Nor, where there is a login, with a header Authorization: a profile's may name a variable that is then not set.
    """
    keys: dict[str, Any] = spec.model_dump(by_alias=True)
    unsent = {"authorization"} if spec.login is not None else set()
    for part in (keys, keys["ask"], keys["retrieve"]):
        if part is not None:
            given = {name: value for name, value in part["headers"].items() if name.lower() not in unsent}
            part["headers"] = {name: value for name, value in given.items() if not is_left_out(value)}
    return keys


# From the bytes of a reply to a value that expressions are evaluated over, or the reason why there is none.


_SHOWN = 120


def body_of(part: QuestionRequest, redact: Redactor) -> Any:
    """The body of the reply to a request, as expressions see it.

    Args:
        part: A request that was answered.
        redact: Masks secrets.

    Raises:
        UnusableError: It is not what it is to be, or says itself that something is wrong.
    """
    reply, condition = part.reply, part.spec.ok_when
    if reply is None:
        raise RuntimeError(f"there is no reply to `{part.name}`")
    try:
        body = stored_body(part.spec, reply.body) if reply.stream is None else reply.stream.body()
        body = redact.value(body)
        is_ok = condition is None or find(condition, body)
    except TooManyValuesError as error:
        raise UnusableError("too_large", str(error)) from error
    except MappingError as error:
        raise UnusableError("malformed", f"{error}: {redact.body(reply.body)[:_SHOWN]}") from error
    except ValueError as error:
        kind = redact.text(reply.headers.get("content-type", "no content type"))
        message = f"the body is not JSON ({kind}): {redact.body(reply.body)[:_SHOWN]!r}"
        way = f"; `server.{part.name}.reply: text` reads a text" if kind.startswith("text/plain") else ""
        raise UnusableError("malformed", f"{message}{way}") from error
    if not is_ok:
        raise UnusableError("not_ok", f"`{condition}` does not hold: {redact.body(reply.body)[:200]}")
    return body


def why_unusable(part: QuestionRequest, error: UnusableError | MappingError, redact: Redactor) -> ResponseError:
    """The failure to record for a reply that is not an answer."""
    message, status = str(error), None
    if part.reply is not None:
        status = part.reply.status
        if isinstance(error, MappingError):
            message = f"{message}: {redact.body(part.reply.body)[:_SHOWN]}"
    return ResponseError(kind=error.kind, status=status, message=part.told(message), request=part.name)


def stored_body(spec: RequestSpec, raw: bytes) -> Any:
    """The body of a reply.

    Raises:
        ValueError: It is to be JSON, and is not.
    """
    return raw.decode("utf-8", "replace") if spec.reply == "text" else parse_json(raw)


def stored_stream(spec: StreamSpec, raw: str) -> tuple[Any, Streamed | None]:
    """The pieces of a stream that was recorded, and the answer that they make.

    Raises:
        MappingError: They cannot be read as the specification says.
    """
    stream = Collector(spec)
    try:
        stream.take(raw.encode(), 0.0)
        stream.finish(0.0)
    except UnusableError as error:
        raise MappingError(str(error)) from error
    return stream.body(), stream.streamed()


# Conversations: what one turn gives to the next, and what becomes of a conversation of which a turn failed.


class Conversation:
    """What the templates of a turn may name, from the turns before it. A single question is one of one turn.

    Args:
        spec: Of the server.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self._session = spec.session
        self._uuid: str | None = None
        self._session_id: Any = None if spec.session is None else spec.session.first
        self.messages: list[dict[str, str]] = []
        self.has_session = spec.session is None
        """Whether the server gave the conversation an id, where it gives any."""

    def values(self, message: str) -> dict[str, Any]:
        """What the names stand for in the turn with this message."""
        self._uuid = self._uuid or str(uuid.uuid4())
        messages = [*self.messages, {"role": "user", "content": message}]
        return {"uuid": self._uuid, "session_id": self._session_id, "messages": messages}

    def see_body(self, body: Any) -> None:
        """Take the session id from the body of an answer; without one, the previous id stays.

        Raises:
            MappingError: The expression cannot be evaluated over it.
        """
        found = None if self._session is None else find(self._session.id, body)
        if text_or_none(found):  # an empty one names no session; a number goes back as a number
            self._session_id, self.has_session = found, True

    def problem(self) -> ResponseError | None:
        """Why the next turn cannot be asked; None where it can."""
        if self._session is None or self.has_session:
            return None
        said = f"the answer has nothing at `{self._session.id}` (server.session.id), which the next turn needs"
        return ResponseError(kind="malformed", message=said)


AskTurn = Callable[[str, Conversation, bool], Awaitable[EvalResponse]]
"""Asks the turn with this message of a conversation; the last argument says whether it is the first."""


async def converse(ask: AskTurn, spec: ServerSpec, turns: Sequence[str]) -> EvalResponse:
    """Ask the turns one after the other.

    Args:
        ask: Asks one.
        spec: Of the server.
        turns: What the user says, the question last.

    Returns:
        The exchange of the last turn with those before it; where one of them failed, its failure, which names it.
    """
    conversation = Conversation(spec)
    before: list[EvalResponse] = []
    for number, message in enumerate(turns, start=1):
        response, is_last = await ask(message, conversation, number == 1), number == len(turns)
        problem = response.error or (None if is_last else conversation.problem())
        if problem is not None and len(turns) > 1:
            named = f"turn {number} of {len(turns)}: {problem.message}"
            problem = problem.model_copy(update={"message": named})
        if is_last:
            return response.model_copy(update={"error": problem, "turns": before})
        if problem is not None:  # the conversation never came to its question: the times are of another turn
            kept = response.model_dump(include={"attempts", "waited_ms", "raw", "raw_cut"})
            return EvalResponse(error=problem, turns=before, **kept)
        conversation.messages.append({"role": "user", "content": message})
        if response.answer is not None:
            conversation.messages.append({"role": "assistant", "content": response.answer})
        before.append(response)
    raise ValueError("a conversation has at least one turn")


class AsksQuestions(Protocol):
    """The interface for asking questions and conversations."""

    async def ask(self, question: str) -> EvalResponse:
        """Ask one question."""

    async def converse(self, turns: Sequence[str]) -> EvalResponse:
        """Ask the turns of a conversation."""


async def ask_question(client: AsksQuestions, question: EvalQuestion) -> EvalResponse:
    """Ask a question, in its conversation where it is of one."""
    return await (client.converse(question.turns) if question.turns else client.ask(question.question))


async def ask_traced(client: AsksQuestions, question: EvalQuestion, tracing: Tracing) -> EvalResponse:
    """Ask a question of a run, as part of its traces."""
    ASKED.set(question.id)
    with tracing.question(question) as ended:
        response = await ask_question(client, question)
        ended(response)
    return response
