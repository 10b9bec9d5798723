"""What a worker of a cluster asks with."""

import json

from raw_server import answering

from evals.client.profile import resolve_spec
from evals.engines.asker import Asker
from evals.engines.shares import Share
from evals.schemas import EvalResponse

CONTENT = b'{"answer": "a", "session_id": "s"}'
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(CONTENT) + CONTENT


def test_a_worker_asks_single_questions_and_conversations() -> None:
    """The turns of one go in their order, in the session that the server gave it."""
    ask = {"json": {"query": "{{question}}", "session_id": "{{session_id}}"}}
    with answering(lambda _: [REPLY]) as server:
        asker = Asker(resolve_spec({"url": server.url, "ask": ask, "session": {"id": "session_id"}}), 1, 1)
        try:
            answers = asker.ask(["Why?", ["What first?", "And then?"]], Share(concurrency=1, rps=None))
        finally:
            asker.close()
        sent = [json.loads(request.partition(b"\r\n\r\n")[2]) for _, request in server.asked]
    single, talk = map(EvalResponse.model_validate_json, answers.responses)
    assert (len(single.turns), len(talk.turns)) == (0, 1)
    assert [(entry["query"], entry["session_id"]) for entry in sent if entry["query"] != "Why?"] == [
        ("What first?", None),
        ("And then?", "s"),
    ]
