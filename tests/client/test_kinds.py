"""Kinds of servers that need more than one answer of one JSON object, each over loopback."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import asking
import httpx
import pytest
from asking import no_sleep
from raw_server import answering

from evals.client.profile import resolve_spec
from evals.errors import ConfigError
from evals.schemas import EvalQuestion, EvalResponse

PLAIN = {"profile": "none", "ask": {"path": "/ask", "json": {"q": "{{question}}"}}, "map": {"answer": "answer"}}
Handler = Callable[[httpx.Request], httpx.Response]


def ask(handler: Handler, turns: list[str] | None = None, **spec: Any) -> EvalResponse:
    """The answer of a server that a function imitates; nothing is waited for."""
    keys, client = {"url": "http://rag.test", **PLAIN, **spec}, {"sleep": no_sleep, "max_attempts": 2}
    question = EvalQuestion(question="Why?", turns=turns or [])
    return asking.ask(keys, question, transport=httpx.MockTransport(handler), **client)


def says(body: Any, **headers: str) -> Handler:
    """A server that always answers so."""
    content = body if isinstance(body, str) else json.dumps(body)
    return lambda _: httpx.Response(200, content=content, headers=headers)


# Jobs.


JOB = {**PLAIN["ask"], "then": {"path": "/jobs/{{id}}", "until": "status == 'done'", "failed": "error"}}


def jobs(*states: dict[str, Any] | int, asked: list[str] | None = None) -> Handler:
    """A server that starts a job, and then tells these states of it, or these statuses."""
    told = iter(states)

    def handle(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(f"{request.method} {request.url.raw_path.decode()}")
        if request.method == "POST":
            return httpx.Response(202, json={"id": "a/b", "status": "queued"})
        state = next(told)
        return httpx.Response(state) if isinstance(state, int) else httpx.Response(200, json=state)

    return handle


def test_the_answer_of_a_job_is_read_when_it_is_done() -> None:
    """Its id goes into the path; a look that fails for the moment is made again, and the job is started once."""
    asked: list[str] = []
    states = ({"status": "running"}, 503, {"status": "done", "answer": "a"})
    response = ask(jobs(*states, asked=asked), ask=JOB)
    assert (response.answer, response.error, response.attempts) == ("a", None, 1)
    assert asked == ["POST /ask", *["GET /jobs/a%2Fb"] * 3]
    assert json.loads(response.raw or "") == states[2]


def test_a_job_that_is_done_at_once_is_not_looked_after() -> None:
    """As where the answer was kept from before; then it needs no id."""
    asked: list[str] = []
    handler = jobs(asked=asked)
    response = ask(
        lambda request: handler(request) and httpx.Response(200, json={"status": "done", "answer": "a"}), ask=JOB
    )
    assert (response.answer, asked) == ("a", ["POST /ask"])


@pytest.mark.parametrize(
    ("handler", "kind", "said"),
    [
        (jobs({"status": "x", "error": "no index"}), "not_ok", "the job failed: no index"),
        (jobs(404), "status", "HTTP 404"),
        (says({"job": 7}), "malformed", "no id of a job at `id` (ask.then.id)"),
    ],
)
def test_a_job_that_ends_without_an_answer_is_a_failure(handler: Handler, kind: str, said: str) -> None:
    """That says why."""
    error = ask(handler, ask=JOB).error
    assert (error.kind, said in error.message) == (kind, True)


def test_a_job_has_the_time_of_a_request_and_its_latency_is_of_all() -> None:
    """Over a socket: the waiting between two looks is the server's."""

    def say(number: int) -> Iterable[bytes]:
        body = {"id": 7, "status": "done" if number == 2 and not for_ever else "running", "answer": "a"}
        content = json.dumps(body).encode()
        yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content

    def within(timeout_s: float) -> EvalResponse:
        job = {**JOB, "then": {**JOB["then"], "every_s": 0.05}}
        with answering(say) as server:
            return asking.ask({"url": server.url, "timeout_s": timeout_s, **PLAIN, "ask": job}, max_attempts=1)

    for_ever = False
    done = within(30)
    for_ever = True
    late = within(0.3)
    assert done.answer == "a"
    assert (done.latency_ms or 0) >= 100
    assert (late.error.kind, "within 0.3 s" in late.error.message) == ("timeout", True)


def test_a_job_is_looked_at_soon_and_then_less_often() -> None:
    """So the latency of a quick job is not rounded up to `every_s`."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    keys = {"url": "http://server.test", **PLAIN, "ask": JOB}
    handler = jobs(*[{"status": "running"}] * 8, {"status": "done", "answer": "a"})
    assert asking.ask(keys, transport=httpx.MockTransport(handler), sleep=sleep).answer == "a"
    assert pauses[0] == pytest.approx(0.1)
    assert pauses == sorted(pauses)
    assert pauses[-1] == 1.0


def test_a_server_that_goes_away_during_a_job_is_waited_for_as_long_as_patience_says() -> None:
    """And not until the job's time is over."""
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    def handle(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(200, json={"id": 7, "status": "running"})

    keys = {"url": "http://server.test", **PLAIN, "ask": JOB, "patience_s": 5}
    client = {"sleep": sleep, "clock": lambda: now, "max_attempts": 1}
    error = asking.ask(keys, transport=httpx.MockTransport(handle), **client).error
    assert error.kind == "connect"
    assert now < 30


# Two requests on two hosts.


def two_hosts(request: httpx.Request) -> httpx.Response:
    """One server embeds and searches, the other answers by what it is sent."""
    body = json.loads(request.content)
    sent_key = request.headers.get("x-key")
    if request.url.host == "other.test":
        found = {"vector": [0.5], "hits": [{"text": f"{key}!"} for key in body.get("ids", ())]}
        return httpx.Response(200, json={**found, "key": sent_key})
    answer = f"{body.get('vector')} {sent_key}"
    return httpx.Response(200, json={"answer": answer, "sources": [{"id": "c1"}, {"id": "c2"}]})


def test_a_first_request_brings_a_vector_and_the_answer_its_chunks() -> None:
    """The other host gets no header of the server's; latency counts both."""
    embed = {"url": "http://other.test", "path": "/e", "json": {"t": "{{question}}"}, "give": {"v": "vector"}}
    response = ask(
        two_hosts,
        headers={"X-Key": "k-123456"},
        ask={"path": "/ask", "json": {"q": "{{question}}", "vector": "{{v}}"}},
        retrieve=embed,
        map={"answer": "answer", "chunks": "sources[].{chunk_id: id}"},
    )
    assert response.error is None
    assert response.answer == "[0.5] ***"
    assert [chunk.chunk_id for chunk in response.chunks or []] == ["c1", "c2"]
    assert json.loads(response.raw_retrieval or "")["key"] is None


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({"map": {"answer": "a", "chunks": "b"}}, "map.chunks and retrieve.map.chunks are both given"),
        ({"ask": {**PLAIN["ask"], "give": {"x": "y"}}, "retrieve": {"give": {"z": "y"}}}, "one request comes first"),
        ({"ask": JOB, "stream": {"delta": "data"}}, "stream and ask.then are both given"),
        ({"transport": "httpx"}, "there is no configuration key 'server.transport' any more"),
        ({"max_chunks": 5}, "there is no configuration key 'server.max_chunks' any more"),
    ],
)
def test_keys_that_contradict_each_other_or_are_gone_are_refused(over: dict[str, Any], said: str) -> None:
    """None is ignored."""
    search = {"path": "/s", "json": {"q": "{{question}}"}, "map": {"chunks": "hits"}, **over.get("retrieve", {})}
    with pytest.raises(ConfigError, match=said):
        resolve_spec({**PLAIN, **over, "retrieve": search})


# Bodies of other shapes.


@pytest.mark.parametrize(
    ("body", "mapping", "reply"),
    [
        (["96 h", {"docs": [["c1", "t1"], ["c2", "t2"]]}],
         {"answer": "[0]", "chunks": "[1].docs[*].{chunk_id: [0], text: [1]}"}, "json"),
        ({"answer": "96 h", "rows": {"ids": ["c1", "c2"], "texts": ["t1", "t2"]}},
         {"answer": "answer", "chunks": "rows | zip({chunk_id: ids, text: texts})"}, "json"),
        ("<r><a>96&#32;h</a><p id='c1'>t1</p>\n<p id='c2'>t2</p></r>",
         {"answer": "matches(@, '<a>(.*?)</a>') | [0]",
          "chunks": r"""matches(@, '(?s)<p id=.(?P<chunk_id>\w+).>(?P<text>.*?)</p>')"""}, "text"),
    ],
    ids=["positional lists", "columns", "XML"],
)  # fmt: skip
def test_lists_columns_and_xml_are_read(body: Any, mapping: dict[str, str], reply: str) -> None:
    """By expressions alone."""
    response = ask(says(body), ask={**PLAIN["ask"], "reply": reply}, map=mapping)
    assert (response.error, response.answer) == (None, "96 h")
    assert [(chunk.chunk_id, chunk.text) for chunk in response.chunks or []] == [("c1", "t1"), ("c2", "t2")]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"data": None, "errors": [{"message": "no field ask"}], "answer": "a"}, "no field ask"),
        ({"jsonrpc": "2.0", "error": {"code": -1, "message": "no tool"}, "answer": "a"}, "no tool"),
        ({"errors": [], "answer": "a"}, None),
        ({"error": "of another kind", "answer": "a"}, None),
    ],
)
def test_errors_of_graphql_and_json_rpc_are_failures(body: dict[str, Any], said: str | None) -> None:
    """In a 200, and unless `ok_when` decides."""
    error = ask(says(body)).error
    assert (error and (error.kind, said is not None and said in error.message)) == (said and ("not_ok", True))
    assert ask(says(body), ask={**PLAIN["ask"], "ok_when": "answer"}).answer == "a"


RPC = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "96 h"}]}}


@pytest.mark.parametrize(
    ("sent", "stream", "answer"),
    [
        ('event: sources\ndata: []\n\nevent: answer\ndata: {"text": "96 h"}\n\n', {},
         "[?event == 'answer'].data.text | [0]"),
        (f"event: message\ndata: {json.dumps(RPC)}\n\n", {}, "[].data.result.content[0].text | [0]"),
    ],
    ids=["one named event", "JSON-RPC"],
)  # fmt: skip
def test_streams_of_each_kind_give_their_answer(sent: str, stream: dict[str, Any], answer: str | None) -> None:
    """Whether it comes in one event or in many."""
    response = ask(says(sent), stream=stream, map={"answer": answer} if answer else {"answer": None})
    assert (response.error, response.answer, response.notes) == (None, "96 h", [])


def test_an_error_of_json_rpc_in_a_stream_is_a_failure() -> None:
    """As it is in a body."""
    body = 'data: {"jsonrpc": "2.0", "id": 1, "error": {"message": "no tool"}}\n\n'
    error = ask(says(body), stream={}, map={"answer": "[].data.result.text | [0]"}).error
    assert (error.kind, "no tool" in error.message) == ("not_ok", True)


# Conversations by cookie.


def test_a_conversation_may_be_kept_by_a_cookie() -> None:
    """Each turn sends back what the one before brought; the next conversation begins without."""
    sent: list[str | None] = []

    def handle(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("cookie"))
        return httpx.Response(200, json={"answer": "a"}, headers={"set-cookie": f"session={len(sent)}; Path=/"})

    for _ in range(2):
        assert ask(handle, ["What is it?", "How long?", "Why?"], session={"cookie": True}).error is None
    assert sent == [None, "session=1", "session=2", None, "session=4", "session=5"]
    assert resolve_spec({**PLAIN, "session": {"cookie": True}}).carries_conversations


# What an answer says of itself.


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("<think>Hm.\nWell.</think>\n\nIt lasts.", "It lasts."),
        ("Hm. Well.</think>It lasts.", "It lasts."),
        ("<thinking>Hm.</thinking>It <thinking>no</thinking>lasts.", "It lasts."),
        ('<details type="reasoning" done="true"><summary>Thought</summary>Hm.</details>\nIt lasts.', "It lasts."),
        ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>It lasts.<|return|>",
         "It lasts."),
        ("<think>Hm. It was cut", ""),
        ("Models write `<think>` and `</think>`.", None),
        ("It lasts: 3 < 4 and <b>more</b>.", None),
        ("<details>It lasts.</details>", None),
    ],
)  # fmt: skip
def test_thoughts_are_taken_off_whatever_the_profile(answer: str, left: str | None) -> None:
    """With a note; the body is kept as it came. `clean: []` leaves them, and `clean` takes off more."""
    response = ask(says({"answer": answer}))
    assert response.answer == (answer if left is None else left)
    assert [note.partition(" of ")[0] for note in response.notes] == ([] if left is None else ["thoughts"])
    assert json.loads(response.raw or "") == {"answer": answer}
    assert ask(says({"answer": answer}), clean=[]).answer == answer
    assert ask(says({"answer": f"{answer}\n# References\n[1]"}), clean=[r"(?s)\n# Ref.*\Z"]).answer == response.answer


def test_thoughts_are_taken_off_a_stream() -> None:
    """Though they come in pieces."""
    pieces = "".join(f"data: {json.dumps(text)}\n\n" for text in ("<th", "ink>Hm", ".</thi", "nk>It", " lasts."))
    response = ask(says(pieces), stream={"delta": "data"}, map={"answer": None})
    assert response.answer == "It lasts."


@pytest.mark.parametrize(
    ("body", "noted"),
    [
        ({"choices": [{"finish_reason": "length"}]}, True),
        ({"stop_reason": "max_tokens"}, True),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, True),
        ({"choices": [{"finish_reason": "stop"}]}, False),
        ({"text": '"finish_reason": "length"'}, False),
    ],
)
def test_a_truncated_answer_is_noted(body: dict[str, Any], noted: bool) -> None:
    """By what OpenAI, Anthropic and Google say; a text that quotes it says nothing."""
    notes = ask(says({"answer": "It la", **body})).notes
    assert [note.startswith("the answer was cut off") for note in notes] == [True] * noted


@pytest.mark.parametrize(
    ("end", "noted"), [("", True), ("data: [DONE]\n\n", False), ('data: {"finish_reason": "stop"}\n\n', False)]
)
def test_a_stream_without_its_end_is_noted(end: str, noted: bool) -> None:
    """Where each piece says that it is not the last."""
    sent = f'data: {{"text": "It la", "finish_reason": null}}\n\n{end}'
    response = ask(says(sent), stream={"delta": "data.text"}, map={"answer": None})
    assert response.answer == "It la"
    assert [note.startswith("the answer may be cut off") for note in response.notes] == [True] * noted


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        ({"text": ["a"]}, "server.map.chunks gives a list as text, which is ignored"),
        ({"text": {"a": 1}}, "server.map.chunks gives an object as text, which is ignored"),
        ({"text": "a", "chunk_id": [1]}, "server.map.chunks gives a list as chunk_id, which is ignored"),
        ({"text": None}, None),
        ({"text": 5}, None),
    ],
)
def test_a_part_of_a_chunk_that_cannot_be_read_is_noted(chunk: dict[str, Any], said: str | None) -> None:
    """As the page of profiles promises; null is no part."""
    response = ask(says({"answer": "a", "chunks": [chunk]}), map={"answer": "answer", "chunks": "chunks"})
    assert response.notes == ([said] if said else [])


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 90, "completion_tokens": 9}, (90, 9, None)),
        ({"prompt_tokens": 90, "completion_tokens": 9, "cached_tokens": 0}, (90, 9, 0)),
        ({"prompt_tokens": 90, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 64}}, (90, 9, 64)),
        ({"input_tokens": 90, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 64}}, (90, 9, 64)),
        ({"input_tokens": 10, "output_tokens": 9, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 16},
         (90, 9, 64)),
        ({"promptTokenCount": 90, "candidatesTokenCount": 9, "cachedContentTokenCount": 64}, (90, 9, 64)),
    ],
)  # fmt: skip
def test_tokens_are_read_in_the_shapes_of_the_vendors(usage: dict[str, Any], counts: tuple[int, ...]) -> None:
    """Anthropic counts what comes from its cache apart."""
    found = ask(says({"answer": "a", "usage": usage}), map={"answer": "answer", "usage": "usage"}).usage
    assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens) == counts
