"""What `evals init` finds out about servers without a profile, and what it never does."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from other_servers import documented, loopback
from other_servers.unlike import KINDS, QUESTION, SAID, SOURCES, TEXT, described

from evals.text.yaml_files import load_yaml

Cli = Callable[..., Any]
Start = Callable[[Any], str]
ANSWER = {"answer": SAID, "contexts": [each["text"] for each in SOURCES]}


class Made(NamedTuple):
    """What a command said, and the keys of `server:` that it wrote; None: no file."""

    code: int
    out: str
    err: str
    server: Any


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evals.run.discover._LOOK_EVERY_S", 0.01)
    row = {"question": QUESTION, "gold_passages": [{"text": SOURCES[0]["text"]}], "is_unanswerable": False}
    Path("q.jsonl").write_text(json.dumps(row))


@pytest.fixture
def init(evals_cli: Cli) -> Callable[..., Any]:
    """Run `evals init` on a URL."""

    def run(url: str, *more: str) -> Any:
        Path("eval_config.yml").unlink(missing_ok=True)
        result = evals_cli("init", "--rag-url", url, "--questions", "q.jsonl", *more)
        written = Path("eval_config.yml")
        server = load_yaml(written.read_text())["server"] if written.exists() else None
        return Made(result.code, result.out, result.err, server)

    return run


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_is_evaluated_by_what_was_written(
    kind: str, start: Start, init: Callable[..., Any], evals_cli: Cli
) -> None:
    """Its answer and both passages are read, in at most fifteen lines."""
    path, routes = KINDS[kind]
    made = init(f"{start(routes)}{path}", *(("--body", _GRAPHQL) if kind == "graphql" else ()))
    assert made.code == 0, made.err
    assert len(Path("eval_config.yml").read_text().splitlines()) <= 15
    done = evals_cli("eval", "--config", "eval_config.yml", "--json")
    assert done.code == 0, done.err
    figures = {each["name"]: each["value"] for each in done.json["scorecard"]["metrics"]}
    assert (figures["recall_at_1"], figures["unanswerable_accuracy"]) == (1.0, 1.0)
    read = " ".join(made.err.partition("read from it:")[2].split())
    assert "at three metres" in read.partition("chunks")[0] or kind == "quoting"
    assert "chunks: 2 " in read


_GRAPHQL = json.dumps({"query": "{ask(question: {{question_json}}) {answer sources {text file}}}"})


def test_errors_in_a_200_are_a_failure_with_a_query_to_fill_in(start: Start, init: Callable[..., Any]) -> None:
    """They are neither answer nor passage."""
    refused = {"errors": [{"message": "Field ask must have a selection of subfields, so there is no answer to it."}]}
    made = init(f"{start({('POST', '/graphql'): lambda _: refused})}/graphql")
    assert (made.code, made.server) == (3, None)
    assert "must have a selection of subfields" in made.err
    assert '--body \'{"query": "{ask(question: {{question_json}})' in made.err


@pytest.mark.parametrize(("kind", "done"), [("one event", "event == 'end'"), ("named events", None)])
def test_the_last_event_of_a_stream_is_known_by_its_name(
    kind: str, done: str | None, start: Start, init: Callable[..., Any]
) -> None:
    """Without it, a stream that breaks off would pass for an answer; an event of another name may be missing."""
    path, routes = KINDS[kind]
    made = init(f"{start(routes)}{path}")
    assert made.server.get("stream", {}).get("done") == done


_REPEATED = [{"answer": text, "sources": SOURCES} for text in ("It hangs", "It hangs at three metres.")]
_THOUGHTS = ['g:"I look at all that I have "\n', 'g:"for a long time."\n', '0:"It hangs "\n', '0:"at three metres."\n']


@pytest.mark.parametrize(
    ("content_type", "sent", "key", "value"),
    [
        ("text/plain", _THOUGHTS, "stream", {"format": "vercel", "delta": "event == '0' && data"}),
        (
            "text/event-stream",
            [f"data: {json.dumps(event)}\n\n" for event in _REPEATED],
            "map",
            {"chunks": "[-1].data.sources[].{text: text, document_name: file}"},
        ),
    ],
    ids=["thoughts", "repeated sources"],
)
def test_neither_thoughts_nor_repeated_passages_of_a_stream_are_taken(
    content_type: str, sent: list[str], key: str, value: dict[str, str], start: Start, init: Callable[..., Any]
) -> None:
    """The answer is that of its own lines, and passages are those of the last event that has them."""

    def ask(_: Any) -> Any:
        return loopback.Streamed(content_type, [line.encode() for line in sent])

    made = init(f"{start({('POST', '/ask'): ask})}/ask")
    assert made.server[key] == value


def test_a_stream_without_passages_is_evaluated_by_what_was_written(
    start: Start, init: Callable[..., Any], evals_cli: Cli
) -> None:
    """No key without a value is written."""
    events = [f"data: {json.dumps({'token': word})}\n\n".encode() for word in ("It ", "hangs ", "at three metres.")]
    made = init(f"{start({('POST', '/ask'): lambda _: loopback.Streamed('text/event-stream', events)})}/ask")
    assert made.code == 0, made.err
    done = evals_cli("eval", "--config", "eval_config.yml", "--json")
    assert (done.code, done.json["outcomes"]["answered"]) == (0, 1), done.err


def test_a_body_that_is_nested_beyond_reason_is_read_as_a_text(start: Start, init: Callable[..., Any]) -> None:
    """The user sees it, and that no passage is in it."""
    body = f'{{"answer": "a", "chunks": {"[" * 100_000}{"]" * 100_000}}}'.encode()
    made = init(f"{start({('POST', '/ask'): lambda _: loopback.Streamed('application/json', [body])})}/ask")
    assert (made.code, "answer: 'a'" in made.err) == (0, False)
    assert "Traceback" not in made.err


def test_texts_that_are_not_read_are_named(start: Start, init: Callable[..., Any]) -> None:
    """The echo of the question and a context are neither answer nor chunk."""
    path, routes = KINDS["quoting"]
    made = init(f"{start(routes)}{path}")
    assert made.server["map"]["answer"] == "answer"
    assert "not read: query, context" in made.err


def test_what_was_made_up_is_told(start: Start, init: Callable[..., Any]) -> None:
    """A model or an id is never the question."""
    path, routes = KINDS["nested"]
    made = init(f"{start(routes)}{path}")
    assert "made up for the request: model: probe, knowledge_name: probe" in made.err


def test_positions_of_characters_are_no_numbers_of_chunks(start: Start, init: Callable[..., Any]) -> None:
    """A list of citations without a source is not read as one."""
    body = {**ANSWER, "citations": [{"start": 0, "end": 2, "text": "It"}, {"start": 1, "end": 2, "text": "h"}]}
    made = init(f"{start({('POST', '/ask'): lambda _: body})}/ask")
    assert "citations" not in made.server["map"]


@pytest.mark.parametrize(
    ("cited", "citations"),
    [([1], {"given_as": "list"}), ([1, 2], {"given_as": "list"}), ([0, 1], {"given_as": "list", "base": 0})],
)
def test_citations_are_counted_from_0_or_1(
    cited: list[int], citations: dict[str, Any], start: Start, init: Callable[..., Any]
) -> None:
    """From 0 where a 0 is cited."""
    body = {"answer": "The heated anemometer draws eighteen watts.", "contexts": ANSWER["contexts"], "cited": cited}
    made = init(f"{start({('POST', '/ask'): lambda _: body})}/ask")
    assert (made.server["map"]["citations"], made.server["citations"]) == ("cited", citations)


@pytest.mark.parametrize("names", ["detail", "error"])
def test_a_refusal_that_names_the_missing_field_is_followed(names: str, start: Start, init: Callable[..., Any]) -> None:
    """As a framework writes it, and as people do."""

    def ask(request: Any) -> Any:
        if "utterance" not in request.body:
            detail = [{"type": "missing", "loc": ["body", "utterance"], "msg": "Field required"}]
            said = {"detail": {"detail": detail}, "error": {"error": "missing field 'utterance'"}}
            raise loopback.Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, said[names])
        return ANSWER

    made = init(f"{start({('POST', '/own'): ask})}/own")
    assert made.server["ask"] == {"path": "/own", "json": {"utterance": "{{question}}"}}


def test_at_most_six_requests_are_sent_and_the_most_telling_refusal_is_shown(
    start: Start, init: Callable[..., Any]
) -> None:
    """Also where all fail."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        status = HTTPStatus.BAD_REQUEST if "message" in request.body else HTTPStatus.INTERNAL_SERVER_ERROR
        raise loopback.Refusal(status, {"error": "the tenant must be set"} if "message" in request.body else {})

    def document(_: Any) -> Any:
        asked.append("document")
        raise loopback.Refusal(HTTPStatus.NOT_FOUND, {})

    made = init(f"{start({('POST', '/own'): ask, ('GET', '/openapi.json'): document})}/own")
    assert (made.code, len(asked)) == (3, 6)
    assert "the tenant must be set" in made.err.rpartition("error: ")[2]


def test_a_login_is_named_and_at_a_terminal_asked_for_once(
    start: Start, init: Callable[..., Any], type_lines: Callable[..., None]
) -> None:
    """By the header of the document; its value is written as a variable."""
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X-Own-Key"}}
    document = described(("/ask", "post", "ask", {"type": "object", "properties": {"question": TEXT}}))(None)

    def ask(request: Any) -> Any:
        if request.headers.get("X-Own-Key") != "s3cret-Value-90210":
            raise loopback.Refusal(HTTPStatus.UNAUTHORIZED, {"error": "who are you?"})
        return ANSWER

    routes = {
        ("GET", "/openapi.json"): lambda _: {**document, "components": {"securitySchemes": schemes}},
        ("POST", "/ask"): ask,
    }
    url = f"{start(routes)}/ask"
    refused = init(url)
    assert (refused.code, '--header "X-Own-Key: …"' in refused.err) == (3, True)
    type_lines("s3cret-Value-90210")
    made = init(url, "--no-judge")
    assert made.code == 0, made.err
    assert made.server["headers"] == {"X-Own-Key": "${X_OWN_KEY}"}
    assert "s3cret" not in made.out + made.err + Path("eval_config.yml").read_text()
    type_lines("wrong")
    assert init(url, "--no-judge").err.count("the server wants a login") == 1


CHANGING = [
    ("/collections/purge", "run_query"),
    ("/query/all", "deleteAll"),
    ("/indexUpload", "ask"),
    ("/ask", "drop_table"),
    ("/inbox/ask", "send_mail"),
    ("/answers", "create_answer"),
]


@pytest.mark.parametrize(("path", "name"), CHANGING)
def test_an_operation_that_changes_something_is_never_called(
    path: str, name: str, start: Start, init: Callable[..., Any]
) -> None:
    """Words of its path and its operationId say so; the path in the URL is not enough."""
    called: list[Any] = []
    schema = {"type": "object", "required": ["query"], "properties": {"query": TEXT}}
    routes = {("GET", "/openapi.json"): described((path, "post", name, schema)), ("POST", path): called.append}
    for url in ((base := start(routes)), f"{base}{path}"):
        made = init(url)
        assert (made.code, called) == (2, [])
        assert path in made.err


def test_other_paths_of_a_document_are_named_and_not_called(start: Start, init: Callable[..., Any]) -> None:
    """Until the URL has one; words that only contain such a word change nothing."""
    called: list[Any] = []

    def ask(request: Any) -> Any:
        called.append(request.body)
        return ANSWER

    path = "/clearance/retrains"
    schema = {"type": "object", "required": ["query"], "properties": {"query": TEXT}}
    routes = {("GET", "/openapi.json"): described((path, "post", "dropdown", schema)), ("POST", path): ask}
    url = start(routes)
    refused = init(url)
    assert (refused.code, called, f"{url}{path}" in refused.err) == (2, [], True)
    assert init(f"{url}{path}").server["ask"] == {"path": path, "json": {"query": "{{question}}"}}


def test_a_secret_parameter_is_sent_and_not_written(start: Start, init: Callable[..., Any]) -> None:
    """It becomes a variable."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.query)
        return ANSWER

    made = init(f"{start({('GET', '/find'): ask})}/find?q=x&api_key=s3cret-Value-90210")
    assert asked == [{"q": QUESTION, "api_key": "s3cret-Value-90210"}]
    assert made.server["ask"]["query"] == {"q": "{{question}}", "api_key": "${API_KEY}"}
    assert "export API_KEY=" in made.out
    assert "s3cret" not in made.out + made.err


def test_a_slash_at_the_end_of_the_path_is_kept(start: Start, init: Callable[..., Any]) -> None:
    """Some servers know no other path."""
    made = init(f"{start({('POST', '/ask/'): lambda _: ANSWER})}/ask/")
    assert made.server["ask"]["path"] == "/ask/"


@pytest.mark.parametrize("path", ["/ask", "/v1/query"])
def test_a_usual_path_of_a_document_is_asked(path: str, start: Start, init: Callable[..., Any]) -> None:
    """Without a path in the URL; a health check that the document lists is written."""
    schema = {"type": "object", "required": ["query"], "properties": {"query": TEXT}}
    document = described((path, "post", "x", schema), ("/health", "get", "h", {"properties": {}}))
    made = init(start({("GET", "/openapi.json"): document, ("POST", path): lambda _: ANSWER}))
    assert (made.server["ask"]["path"], made.server["health"]) == (path, {"path": "/health"})


@pytest.mark.parametrize(
    ("kind", "path"), [("lightrag", "/query"), ("hayhooks", "/rag/run"), ("langserve", "/rag/invoke")]
)
def test_a_built_in_profile_is_named_where_it_reads_the_answer(
    kind: str, path: str, start: Start, init: Callable[..., Any]
) -> None:
    """Its chunks too, of a second request where it has one, and below a path that is not its own."""
    question = "What may a hotel cost in a capital?"
    Path("q.jsonl").write_text(json.dumps({"question": question}))
    header = ("--header", f"X-API-Key: {documented.KEY}") if kind == "lightrag" else ()
    made = init(f"{start(getattr(documented, kind)())}{path}", *header)
    assert made.code == 0, made.err
    assert made.server["profile"] == kind
    assert "chunks: 3" in made.err


def test_a_path_alone_is_no_sign_of_a_profile(start: Start, init: Callable[..., Any]) -> None:
    """`/run` with an answer is not Hayhooks."""
    made = init(f"{start({('POST', '/run'): lambda _: ANSWER})}/run")
    assert made.server["profile"] == "none"
    assert made.server["map"] == {"answer": "answer", "chunks": "contexts"}


def test_no_passages_name_the_lines_for_a_second_request(start: Start, init: Callable[..., Any]) -> None:
    """At most five, which are valid below `server:`."""
    made = init(f"{start({('POST', '/ask'): lambda _: {'answer': SAID}})}/ask")
    lines = made.err.partition("add below server:\n")[2].splitlines()[:4]
    assert lines[0] == "  retrieve:"
    assert load_yaml("\n".join(lines))["retrieve"]["path"] == "/search"


def test_metrics_of_questions_and_server_are_told_apart(start: Start, init: Callable[..., Any]) -> None:
    """What the questions lack is not asked of the server."""
    made = init(f"{start({('POST', '/ask'): lambda _: ANSWER})}/ask")
    told = " ".join(made.err.partition("metrics that these questions")[2].split())
    assert "recall_at_5" in told.partition(" not ")[0]
    assert "answer_correctness: the question has no expected answer" in told


def test_columns_that_are_not_known_are_shown_with_an_example(start: Start, init: Callable[..., Any]) -> None:
    """In the user's own names."""
    Path("q.jsonl").write_text(
        json.dumps({"question": QUESTION, "Solution": "Drei Meter.", "Beleg": "Es sind drei Meter."})
    )
    made = init(f"{start({('POST', '/ask'): lambda _: ANSWER})}/ask")
    told = " ".join(made.err.split())
    assert "columns: {expected_answer: Solution}" in told
    assert "columns: {gold_passages: Beleg}" in told


def test_an_empty_list_that_was_sent_is_told_with_what_fills_it(
    start: Start, init: Callable[..., Any], evals_cli: Cli
) -> None:
    """A generator quotes the first passage that it is given; the two keys of the note give it those of the search."""

    def generate(request: Any) -> Any:
        return {"text": next(iter(request.body["passages"]), "Nothing was given to me.")}

    wanted = {"query": TEXT, "passages": {"type": "array", "items": TEXT}}
    schema = {"type": "object", "required": list(wanted), "properties": wanted}
    searched = {"type": "object", "required": ["query"], "properties": {"query": TEXT}}
    hits = {"hits": [{"body": each["text"], "file": each["file"], "rank": 1} for each in SOURCES]}
    routes = {
        ("GET", "/openapi.json"): described(
            ("/generate", "post", "generate", schema), ("/search", "post", "search", searched)
        ),
        ("POST", "/generate"): generate,
        ("POST", "/search"): lambda _: hits,
    }
    made = init(f"{start(routes)}/generate")
    assert made.server["ask"]["json"] == {"query": "{{question}}", "passages": []}
    told = " ".join(made.err.split())
    assert "made up for the request: passages: []" in told
    give = "{passages: 'hits[].{text: body, document_name: file}[].text'}"
    assert f"give: {give} to retrieve" in told
    assert 'write "{{passages}}" in ask.json' in told
    written = Path("eval_config.yml").read_text()
    written = written.replace("passages: []", 'passages: "{{passages}}"')
    Path("eval_config.yml").write_text(written.replace("retrieve: {", f"retrieve: {{give: {give}, "))
    done = evals_cli("eval", "--config", "eval_config.yml", "--json")
    assert {each["name"]: each["value"] for each in done.json["scorecard"]["metrics"]}["recall_at_1"] == 1.0


@pytest.mark.parametrize("status", [503, 429, 502, 504])
def test_a_server_that_is_overloaded_is_to_be_asked_later(status: int, start: Start, init: Callable[..., Any]) -> None:
    """Its reply is shown, and no other body is tried."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        raise loopback.Refusal(HTTPStatus(status), {"detail": "warming up"})

    made = init(f"{start({('POST', '/own'): ask})}/own")
    assert (made.code, made.server, asked) == (3, None, [{"question": QUESTION}])
    told = " ".join(made.err.rpartition("error: ")[2].split())
    assert f"the server is overloaded or not ready; POST /own: HTTP {status}" in told
    assert "warming up" in told
    assert "try again later" in told
    assert "correct the path" not in told


def test_a_token_without_its_scheme_is_refused_with_the_whole_header(start: Start, init: Callable[..., Any]) -> None:
    """It is sent as it was given."""

    def ask(request: Any) -> Any:
        if request.headers.get("Authorization") != "Bearer s3cret-Value-90210":
            raise loopback.Refusal(HTTPStatus.UNAUTHORIZED, {"error": "who are you?"})
        return ANSWER

    url = f"{start({('POST', '/ask'): ask})}/ask"
    refused = init(url, "--header", "Authorization: s3cret-Value-90210")
    assert (refused.code, '--header "Authorization: Bearer …"' in refused.err) == (3, True)
    made = init(url, "--header", "Authorization: Bearer s3cret-Value-90210")
    assert made.code == 0, made.err
    assert made.server["headers"] == {"Authorization": "Bearer ${RAG_TOKEN}"}
    assert "s3cret" not in made.out + made.err


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("message", "field 'message' is required"),
        ("input", "the property 'input' must be set"),
        ("anliegen", "Das Feld 'anliegen' fehlt."),
        ("anliegen", "Pflichtfeld „anliegen“ nicht gesetzt"),
    ],
)
def test_a_field_is_followed_by_its_name_in_a_sentence(
    name: str, refusal: str, start: Start, init: Callable[..., Any]
) -> None:
    """At once, where the sentence quotes it, in English and in German."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        if name not in request.body:
            raise loopback.Refusal(HTTPStatus.BAD_REQUEST, {"fault": refusal})
        return ANSWER

    made = init(f"{start({('POST', '/own'): ask})}/own")
    assert made.server["ask"] == {"path": "/own", "json": {name: "{{question}}"}}
    assert len(asked) == 2


@pytest.mark.parametrize("refusal", ["the message is missing a field", "Frage fehlt", "the 'field' is required"])
def test_a_sentence_that_names_no_field_is_not_followed(refusal: str, start: Start, init: Callable[..., Any]) -> None:
    """The next usual body is."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        raise loopback.Refusal(HTTPStatus.BAD_REQUEST, {"fault": refusal})

    init(f"{start({('POST', '/own'): ask})}/own")
    assert [*asked[0], *asked[1]] == ["question", "query"]


COLUMNS = [
    ({"Source document": "checkin.md"}, "columns: {gold_document_ids: Source document}"),
    ({"Supporting quote": "Early check-in costs 25 euros."}, "columns: {gold_passages: Supporting quote}"),
    ({"Where": "Early check-in costs 25 euros."}, "columns: {expected_answer: Where} or {gold_passages: Where}"),
    ({"In book": "yes"}, "columns: {is_answerable: In book} or {is_unanswerable: In book}"),
    ({"Im Handbuch": "nein"}, "columns: {is_answerable: Im Handbuch} or {is_unanswerable: Im Handbuch}"),
    ({"Fehlt": True}, "columns: {is_answerable: Fehlt} or {is_unanswerable: Fehlt}"),
    ({"Reviewer": "Ada", "Ablage": "Gebühren.pdf"}, "columns: {gold_document_ids: Ablage}"),
    ({"Solution": "50 Cent"}, "columns: {expected_answer: Solution}"),
]


@pytest.mark.parametrize(("cells", "hint"), COLUMNS)
def test_a_hint_on_a_column_is_what_its_cells_hold(
    cells: dict[str, Any], hint: str, start: Start, init: Callable[..., Any]
) -> None:
    """Where they do not tell, both fields are named."""
    Path("q.jsonl").write_text(json.dumps({"question": QUESTION, **cells}))
    made = init(f"{start({('POST', '/ask'): lambda _: ANSWER})}/ask")
    assert hint in " ".join(made.err.split())


@pytest.mark.parametrize(
    "cells",
    [
        {"Reviewer": "Ada"},
        {"Rating": 4},
        {"Quote no.": "17"},
        {"Asked on": "2026-01-02"},
        {"Next": "And what does it cost then?"},
    ],
)
def test_no_hint_is_given_on_a_column_that_fits_nothing(
    cells: dict[str, Any], start: Start, init: Callable[..., Any]
) -> None:
    """A wrong one would be followed."""
    Path("q.jsonl").write_text(json.dumps({"question": QUESTION, **cells}))
    made = init(f"{start({('POST', '/ask'): lambda _: ANSWER})}/ask")
    assert (made.code, "holds what it seems to" in made.err) == (0, False)


def _queue(started: Mapping[str, Any], path: str, status: HTTPStatus, ends: str = "finished", **headers: str) -> Any:
    """A server that answers by a job, which is shown at a path and is done at the second look."""
    looks: list[Any] = []

    def submit(request: Any) -> Any:
        if "question" not in request.body:
            raise loopback.Refusal(HTTPStatus.BAD_REQUEST, {"error": "missing field 'question'"})
        looks.clear()
        raise loopback.Refusal(status, started, **headers)

    def look(request: Any) -> Any:
        looks.append(request)
        return {"state": "running"} if len(looks) < 2 else {"state": ends, "result": ANSWER}

    return {("POST", "/v2/jobs"): submit, ("GET", path): look}


_AT, _JOBS = {"Location": "/v2/done/j-1"}, "/v2/jobs/{{id}}"


@pytest.mark.parametrize(
    ("started", "path", "headers", "then"),
    [
        ({"request_id": "r", "job": "j-1", "state": "queued"}, "/v2/jobs/j-1", {}, {"path": _JOBS, "id": "job"}),
        ({"job_id": "j-1", "state": "In progress"}, "/v2/jobs/j-1", {}, {"path": _JOBS, "id": "job_id"}),
        ({"vorgang": 17, "state": "queued"}, "/jobs/17", {}, {"path": "/jobs/{{id}}", "id": "vorgang"}),
        ({"id": "j-1", "state": "queued"}, "/v2/done/j-1", _AT, {"path": "/v2/done/{{id}}"}),
    ],
    ids=["job", "job_id", "any key", "location"],
)
def test_a_job_is_read_where_it_is_shown(
    started: Any, path: str, headers: Any, then: Any, start: Start, init: Callable[..., Any]
) -> None:
    """Below the path that starts it, at its location, or below /jobs."""
    made = init(f"{start(_queue(started, path, HTTPStatus.OK, **headers))}/v2/jobs")
    assert made.code == 0, made.err
    end = {"until": "state == 'finished'", "failed": "state == 'failed'", "every_s": 1}
    assert made.server["ask"]["then"] == {**then, **end}


def test_a_job_with_any_key_for_its_id_is_evaluated(start: Start, init: Callable[..., Any], evals_cli: Cli) -> None:
    """By what was written."""
    made = init(f"{start(_queue({'job': 'j-1', 'state': 'queued'}, '/v2/jobs/j-1', HTTPStatus.ACCEPTED))}/v2/jobs")
    assert "not read: job" not in made.err
    done = evals_cli("eval", "--config", "eval_config.yml", "--json")
    assert {each["name"]: each["value"] for each in done.json["scorecard"]["metrics"]}["recall_at_1"] == 1.0


def test_an_accepted_job_without_a_state_is_read_by_that_of_the_next_look(
    start: Start, init: Callable[..., Any]
) -> None:
    """202 says that it is a job."""
    made = init(f"{start(_queue({'ticket': 't9'}, '/v2/jobs/t9', HTTPStatus.ACCEPTED))}/v2/jobs")
    assert made.server["ask"]["then"]["until"] == "state == 'finished'"


@pytest.mark.parametrize(("path", "ends"), [("/v2/jobs/j-1", "running"), ("/elsewhere/j-1", "finished")])
def test_a_job_that_is_not_seen_to_end_is_to_be_written(
    path: str, ends: str, start: Start, init: Callable[..., Any]
) -> None:
    """By its path and the key of its id."""
    routes = _queue({"job": "j-1", "state": "queued"}, path, HTTPStatus.ACCEPTED, ends)
    made = init(f"{start(routes)}/v2/jobs")
    told = " ".join(made.err.rpartition("error: ")[2].split())
    assert (made.code, made.server) == (3, None)
    assert "/v2/jobs starts a job that was not seen to end" in told
    assert 'ask.then: {path: "/v2/jobs/{{id}}", id: job, until: "state == \'done\'", every_s: 1}' in told


def test_a_job_that_failed_is_no_answer(start: Start, init: Callable[..., Any]) -> None:
    """Its state is not the end that runs wait for."""
    routes = _queue({"job": "j-1", "state": "queued"}, "/v2/jobs/j-1", HTTPStatus.ACCEPTED, "failed")
    made = init(f"{start(routes)}/v2/jobs")
    assert (made.code, "the job of /v2/jobs failed: HTTP 200, but state is 'failed'" in made.err) == (3, True)


@pytest.mark.parametrize(("flag", "is_judged"), [("--judge", True), ("--no-judge", False), ("--force", False)])
def test_judged_metrics_are_given_with_a_judge_alone(
    flag: str, is_judged: bool, start: Start, init: Callable[..., Any]
) -> None:
    """Without one they are named with the reason."""
    Path("q.jsonl").write_text(json.dumps({"question": QUESTION, "expected_answer": "At three metres."}))
    told = init(f"{start({('POST', '/ask'): lambda _: ANSWER})}/ask", flag).err
    given, _, missing = " ".join(told.partition("this server give:")[2].split()).partition(" not ")
    for name in ("faithfulness", "answer_correctness", "answer_relevancy"):
        assert (name in given, name in missing) == (is_judged, not is_judged)
    assert ("no judge was used" in missing) is not is_judged
