"""Conversations over loopback: what one turn gives to the next, and what becomes of one of which a turn fails."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import asking
import pytest
from raw_server import answering

from evals.client.profile import resolve_spec
from evals.schemas import EvalQuestion, EvalResponse

TURNS = ["What is the X300?", "How long does it last?", "And the X200?"]
HISTORY = {"ask": {"json": {"chat": {"messages": [{"role": "system", "content": "Be brief."}, "{{messages}}"]}}}}
SESSION = {
    "ask": {"json": {"query": "{{question}}", "session_id": "{{session_id}}", "user": "{{uuid}}"}},
    "session": {"id": "session.id"},
}


def body(answer: str | None, **more: Any) -> bytes:
    """An answer as it goes over the wire."""
    content = json.dumps({"answer": answer, **more}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content


def converse(
    say: Callable[[int], Sequence[bytes]], turns: Sequence[str] = TURNS, **over: Any
) -> tuple[EvalResponse, list[Any]]:
    """What comes of a conversation, and the bodies that were sent."""
    question = EvalQuestion(question=turns[-1], turns=list(turns))
    with answering(say) as server:
        response = asking.ask({"url": server.url, "patience_s": 0, **over}, question, max_attempts=1)
        return response, [json.loads(request.partition(b"\r\n\r\n")[2]) for _, request in server.asked]


def test_the_history_of_messages_is_sent_with_each_turn() -> None:
    """At any depth, and within a list among what the profile puts there; the answers are the server's own."""
    response, sent = converse(lambda number: [body(f"a{number}")], **HISTORY)
    said = [entry["chat"]["messages"] for entry in sent]
    system = {"role": "system", "content": "Be brief."}
    user = [{"role": "user", "content": turn} for turn in TURNS]
    assistant = [{"role": "assistant", "content": f"a{number}"} for number in range(2)]
    assert said[0] == [system, user[0]]
    assert said[2] == [system, user[0], assistant[0], user[1], assistant[1], user[2]]
    assert (response.error, response.answer) == (None, "a2")
    assert [turn.answer for turn in response.turns] == ["a0", "a1"]
    assert all(turn.latency_ms for turn in response.turns)


def test_the_id_of_the_session_goes_into_the_next_turn() -> None:
    """Null in the first one; of a turn that says none, the id before it holds. An id of our own is one in all turns."""
    ids = [{"session": {"id": 7}}, {}, {}]
    response, sent = converse(lambda number: [body("a", **ids[number])], **SESSION)
    assert response.error is None
    assert [entry["session_id"] for entry in sent] == [None, 7, 7]
    assert len({entry["user"] for entry in sent}) == 1


def test_a_failed_turn_fails_the_question_and_is_named() -> None:
    """What was answered before is kept; the times are of another turn than the question's, and are left out."""
    refusal = b"HTTP/1.1 422 No\r\nContent-Length: 2\r\n\r\nno"
    response, sent = converse(lambda number: [refusal if number == 1 else body("a")], **HISTORY)
    assert (response.error.kind, response.error.status, len(sent)) == ("status", 422, 2)
    assert response.error.message.startswith("turn 2 of 3: HTTP 422")
    assert ([turn.answer for turn in response.turns], response.answer) == (["a"], None)
    assert (response.latency_ms, response.total_ms) == (None, None)
    last, _ = converse(lambda number: [refusal if number == 2 else body("a")], **HISTORY)
    assert last.error.message.startswith("turn 3 of 3: HTTP 422")
    assert len(last.turns) == 2


def test_a_session_without_an_id_fails_the_turn_that_gave_none() -> None:
    """Else the server would see the next turn as a question that has nothing to do with it."""
    response, sent = converse(lambda _: [body("a")], **SESSION)
    assert response.error.kind == "malformed"
    assert response.error.message == (
        "turn 1 of 3: the answer has nothing at `session.id` (server.session.id), which the next turn needs"
    )
    assert len(sent) == 1


def test_a_conversation_streams() -> None:
    """Each turn on its own; the id stands in one of the pieces, and the time is that of the last turn."""
    lines = [json.dumps({"id": "s"}), json.dumps({"text": "96 "}), json.dumps({"text": "hours"})]
    content = "\n".join(lines).encode()
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content
    over = {**SESSION, "session": {"id": "[].data.id | [0]"}, "stream": {"format": "ndjson", "delta": "data.text"}}
    response, sent = converse(lambda _: [reply], **over)
    assert (response.error, response.answer) == (None, "96 hours")
    assert [turn.answer for turn in response.turns] == ["96 hours", "96 hours"]
    assert [entry["session_id"] for entry in sent] == [None, "s", "s"]
    assert response.time_to_first_token_ms is not None


@pytest.mark.parametrize(
    ("over", "carried"),
    [
        ({}, False),
        (HISTORY, True),
        (SESSION, True),
        ({"ask": {"json": {"query": "{{question}}", "s": "{{session_id}}"}}}, False),
        ({"ask": {"json": {"query": "{{question}}", "s": "{{uuid}}"}}}, True),
    ],
)
def test_a_profile_says_whether_it_carries_conversations(over: Any, carried: bool) -> None:
    """By the messages, by an id of the server's or by one of our own."""
    assert resolve_spec(over).carries_conversations is carried


def test_hashes_of_profiles_are_as_they_were() -> None:
    """Saved runs are told apart by them: keys that say nothing are not in them."""
    assert resolve_spec({}).fingerprint() == resolve_spec({"stream": None, "session": None}).fingerprint()
    assert resolve_spec(SESSION).fingerprint() != resolve_spec({**SESSION, "session": None}).fingerprint()
