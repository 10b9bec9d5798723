"""Conversations: what one turn gives to the next, and what becomes of a conversation of which a turn failed."""

import uuid
from collections.abc import Sequence
from typing import Any, Protocol

from evals.client.connections.base import ASKED
from evals.client.mapping import find
from evals.client.spec import ServerSpec
from evals.client.tracing import Tracing
from evals.client.values import text_or_none
from evals.schemas import EvalQuestion, EvalResponse, ResponseError


class AskTurn(Protocol):
    """Asks one turn."""

    async def __call__(self, question: str, conversation: "Conversation", *, is_first: bool) -> EvalResponse:
        """Ask the turn with this message."""


class Conversation:
    """What the templates of a turn may name, from the turns before it. A single question is one of one turn.

    Args:
        spec: Of the server.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self._session = spec.session
        self._uuid: str | None = None
        self._messages: list[dict[str, str]] = []
        self._session_id: Any = None if spec.session is None else spec.session.first
        self.has_session = False
        """Whether the server gave the conversation an id."""

    def values(self, message: str) -> dict[str, Any]:
        """What the names stand for in the turn with this message."""
        self._uuid = self._uuid or str(uuid.uuid4())
        messages = [*self._messages, {"role": "user", "content": message}]
        return {"uuid": self._uuid, "session_id": self._session_id, "messages": messages}

    def see_body(self, body: Any) -> None:
        """Take the id of the session from the body of an answer; where it says none, the one before holds.

        Raises:
            MappingError: The expression cannot be evaluated over it.
        """
        found = None if self._session is None else find(self._session.id, body)
        if text_or_none(found):  # an empty one names no session; a number goes back as a number
            self._session_id, self.has_session = found, True

    def go_on(self, message: str, answer: str | None) -> None:
        """Add a turn to the history."""
        self._messages.append({"role": "user", "content": message})
        if answer is not None:
            self._messages.append({"role": "assistant", "content": answer})

    def problem(self) -> ResponseError | None:
        """Why the next turn cannot be asked; None where it can."""
        if self._session is None or self.has_session:
            return None
        said = f"the answer has nothing at `{self._session.id}` (server.session.id), which the next turn needs"
        return ResponseError(kind="malformed", message=said)


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
    for number, message in enumerate(turns[:-1], start=1):
        response = await ask(message, conversation, is_first=number == 1)
        problem = response.error or conversation.problem()
        if problem is not None:
            return _failed(problem, f"turn {number} of {len(turns)}", response, before)
        conversation.go_on(message, response.answer)
        before.append(response)
    last = await ask(turns[-1], conversation, is_first=not before)
    if last.error is not None and before:
        error = _named(last.error, f"turn {len(turns)} of {len(turns)}")
        return last.model_copy(update={"error": error, "turns": before})
    return last.model_copy(update={"turns": before})


class AsksQuestions(Protocol):
    """Who asks questions and conversations: a client, or what stands for one."""

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


def _failed(problem: ResponseError, which: str, response: EvalResponse, before: list[EvalResponse]) -> EvalResponse:
    """The failure of a conversation that never came to its question: its times are of another turn."""
    return EvalResponse(
        error=_named(problem, which),
        attempts=response.attempts,
        waited_ms=response.waited_ms,
        raw=response.raw,
        raw_cut=response.raw_cut,
        turns=before,
    )


def _named(error: ResponseError, which: str) -> ResponseError:
    return error.model_copy(update={"message": f"{which}: {error.message}"})
