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
Init = Callable[..., "Made"]
ANSWER = {"answer": SAID, "contexts": [each["text"] for each in SOURCES]}


class Made(NamedTuple):
    """What a command said, and the keys of `server:` that it wrote; None: no file."""

    code: int
    out: str
    err: str
    server: Any


QUERY = {"type": "object", "required": ["query"], "properties": {"query": TEXT}}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evals.run.discover._LOOK_EVERY_S", 0.01)
    row = {"question": QUESTION, "gold_passages": [{"text": SOURCES[0]["text"]}], "is_unanswerable": False}
    Path("q.jsonl").write_text(json.dumps(row))


@pytest.fixture
def init(evals_cli: Cli) -> Init:
    """Run `evals init` on a URL."""

    def run(url: str, *more: str) -> Made:
        Path("eval_config.yml").unlink(missing_ok=True)
        result = evals_cli("init", "--rag-url", url, "--questions", "q.jsonl", *more)
        written = Path("eval_config.yml")
        server = load_yaml(written.read_text())["server"] if written.exists() else None
        return Made(result.code, result.out, result.err, server)

    return run


@pytest.fixture
def init_for(init: Init, start: Start) -> Init:
    """Run `evals init` for a server that answers a POST at a path: by a function, or always the same."""

    def run(answer: Any, *more: str, path: str = "/ask") -> Made:
        route = answer if callable(answer) else lambda _: answer
        return init(f"{start({('POST', path): route})}{path}", *more)

    return run


@pytest.fixture
def init_kind(init: Init, start: Start) -> Init:
    """Run `evals init` for a server of one of the `KINDS`."""

    def run(kind: str, *more: str) -> Made:
        path, routes = KINDS[kind]
        return init(f"{start(routes)}{path}", *more)

    return run


@pytest.fixture
def figures(evals_cli: Cli) -> Callable[[], dict[str, Any]]:
    """Evaluate by what was written; returns the values of the metrics."""

    def run() -> dict[str, Any]:
        done = evals_cli("eval", "--config", "eval_config.yml", "--json")
        assert done.code == 0, done.err
        return {each["name"]: each["value"] for each in done.json["scorecard"]["metrics"]}

    return run


_GRAPHQL = json.dumps({"query": "{ask(question: {{question_json}}) {answer sources {text file}}}"})


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_is_evaluated_by_what_was_written(kind: str, init_kind: Init, figures: Cli) -> None:
    """Its answer and both passages are read, in at most fifteen lines."""
    made = init_kind(kind, *(("--body", _GRAPHQL) if kind == "graphql" else ()))
    assert made.code == 0, made.err
    assert len(Path("eval_config.yml").read_text().splitlines()) <= 15
    values = figures()
    assert (values["recall_at_1"], values["unanswerable_accuracy"]) == (1.0, 1.0)
    read = " ".join(made.err.partition("read from it:")[2].split())
    assert "at three metres" in read.partition("chunks")[0] or kind == "quoting"
    assert "chunks: 2 " in read


def test_errors_in_a_200_are_a_failure_with_a_query_to_fill_in(init_for: Init) -> None:
    """They are neither answer nor passage."""
    refused = {"errors": [{"message": "Field ask must have a selection of subfields, so there is no answer to it."}]}
    made = init_for(refused, path="/graphql")
    assert (made.code, made.server) == (3, None)
    assert "must have a selection of subfields" in made.err
    assert '--body \'{"query": "{ask(question: {{question_json}})' in made.err


@pytest.mark.parametrize(("kind", "done"), [("one event", "event == 'end'"), ("named events", None)])
def test_the_last_event_of_a_stream_is_known_by_its_name(kind: str, done: str | None, init_kind: Init) -> None:
    """Without it, a stream that breaks off would pass for an answer; an event of another name may be missing."""
    assert init_kind(kind).server.get("stream", {}).get("done") == done


_REPEATED = [{"answer": text, "sources": SOURCES} for text in ("It hangs", "It hangs at three metres.")]
_EVENTS = [f"data: {json.dumps(event)}\n\n" for event in _REPEATED]
_LAST = {"chunks": "[-1].data.sources[].{text: text, document_name: file}"}
_THOUGHTS = ['g:"I look at all that I have "\n', 'g:"for a long time."\n', '0:"It hangs "\n', '0:"at three metres."\n']
_OWN_LINES = {"format": "vercel", "delta": "event == '0' && data"}


@pytest.mark.parametrize(
    ("content_type", "sent", "key", "value"),
    [("text/plain", _THOUGHTS, "stream", _OWN_LINES), ("text/event-stream", _EVENTS, "map", _LAST)],
    ids=["thoughts", "repeated sources"],
)
def test_neither_thoughts_nor_repeated_passages_of_a_stream_are_taken(
    content_type: str, sent: list[str], key: str, value: dict[str, str], init_for: Init
) -> None:
    """The answer is that of its own lines, and passages are those of the last event that has them."""
    made = init_for(lambda _: loopback.Streamed(content_type, [line.encode() for line in sent]))
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


@pytest.mark.parametrize(
    ("kind", "said"),
    [("quoting", "not read: query, context"), ("nested", "for the request: model: probe, knowledge_name: probe")],
)
def test_what_is_not_read_and_what_was_made_up_is_told(kind: str, said: str, init_kind: Init) -> None:
    """The echo of the question and a context are neither answer nor chunk; a model or an id is never the question."""
    made = init_kind(kind)
    assert said in made.err
    assert kind != "quoting" or made.server["map"]["answer"] == "answer"


@pytest.mark.parametrize(
    ("key", "longer"),
    [
        (
            "answer",
            "This remark of the operator is longer than any answer and says nothing about sensors or their height.",
        ),
        ("wording", " ".join(each["text"] for each in SOURCES)),
    ],
    ids=["remark", "passages"],
)
def test_a_longer_text_is_not_taken_for_the_answer(key: str, longer: str, init_for: Init) -> None:
    """Where the key of another says that it is, or where the longer one consists of passages."""
    assert init_for({"remark": longer, key: SAID, "sources": SOURCES}).server["map"]["answer"] == key


def test_positions_of_characters_are_no_numbers_of_chunks(init_for: Init) -> None:
    """A list of citations without a source is not read as one."""
    cited = [{"start": 0, "end": 2, "text": "It"}, {"start": 1, "end": 2, "text": "h"}]
    assert "citations" not in init_for({**ANSWER, "citations": cited}).server["map"]


@pytest.mark.parametrize(("cited", "base"), [([1], {}), ([1, 2], {}), ([0, 1], {"base": 0})])
def test_citations_are_counted_from_0_or_1(cited: list[int], base: dict[str, int], init_for: Init) -> None:
    """From 0 where a 0 is cited."""
    body = {"answer": "The heated anemometer draws eighteen watts.", "contexts": ANSWER["contexts"], "cited": cited}
    made = init_for(body)
    assert (made.server["map"]["citations"], made.server["citations"]) == ("cited", {"given_as": "list", **base})


_FIELD = {"detail": [{"type": "missing", "loc": ["body", "utterance"], "msg": "Field required"}]}


@pytest.mark.parametrize(
    ("name", "status", "refusal"),
    [
        ("utterance", 422, _FIELD),
        ("utterance", 422, {"error": "missing field 'utterance'"}),
        ("message", 400, {"fault": "field 'message' is required"}),
        ("input", 400, {"fault": "the property 'input' must be set"}),
        ("anliegen", 400, {"fault": "Das Feld 'anliegen' fehlt."}),
        ("anliegen", 400, {"fault": "Pflichtfeld „anliegen“ nicht gesetzt"}),
    ],
)
def test_a_refusal_that_names_a_field_is_followed(name: str, status: int, refusal: Any, init_for: Init) -> None:
    """At once, as a framework writes it, and as people do, in English and in German."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        if name not in request.body:
            raise loopback.Refusal(HTTPStatus(status), refusal)
        return ANSWER

    made = init_for(ask, path="/own")
    assert made.server["ask"] == {"path": "/own", "json": {name: "{{question}}"}}
    assert len(asked) == 2


@pytest.mark.parametrize("refusal", ["the message is missing a field", "Frage fehlt", "the 'field' is required"])
def test_a_sentence_that_names_no_field_is_not_followed(refusal: str, init_for: Init) -> None:
    """The next usual body is."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        raise loopback.Refusal(HTTPStatus.BAD_REQUEST, {"fault": refusal})

    init_for(ask)
    assert [*asked[0], *asked[1]] == ["question", "query"]


def test_at_most_six_requests_are_sent_and_the_most_telling_refusal_is_shown(start: Start, init: Init) -> None:
    """Also where all fail."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        if "message" in request.body:
            raise loopback.Refusal(HTTPStatus.BAD_REQUEST, {"error": "the tenant must be set"})
        raise loopback.Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, {})

    def document(_: Any) -> Any:
        asked.append("document")
        raise loopback.Refusal(HTTPStatus.NOT_FOUND, {})

    made = init(f"{start({('POST', '/own'): ask, ('GET', '/openapi.json'): document})}/own")
    assert (made.code, len(asked)) == (3, 6)
    assert "the tenant must be set" in made.err.rpartition("error: ")[2]


def test_a_path_that_is_not_there_tells_less_than_one_that_fails(start: Start, init: Init) -> None:
    """Without a path in the URL most of the usual ones are not there."""

    def ask(_: Any) -> Any:
        raise loopback.Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "the index is empty"})

    made = init(start({("POST", "/ask"): ask}))
    assert (made.code, "the index is empty" in made.err.rpartition("error: ")[2]) == (3, True)


SECRET = "s3cret-Value-90210"


def guarded(header: str, value: str) -> Callable[[Any], Any]:
    """An answer to requests that have this header alone."""

    def ask(request: Any) -> Any:
        if request.headers.get(header) != value:
            raise loopback.Refusal(HTTPStatus.UNAUTHORIZED, {"error": "who are you?"})
        return ANSWER

    return ask


def test_a_login_is_named_and_at_a_terminal_asked_for_once(start: Start, init: Init, type_lines: Cli) -> None:
    """By the header of the document; its value is written as a variable."""
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X-Own-Key"}}
    document = {**described(("/ask", "post", "ask", QUERY))(None), "components": {"securitySchemes": schemes}}
    url = start({("GET", "/openapi.json"): lambda _: document, ("POST", "/ask"): guarded("X-Own-Key", SECRET)}) + "/ask"
    refused = init(url)
    assert (refused.code, '--header "X-Own-Key: …"' in refused.err) == (3, True)
    type_lines(SECRET)
    made = init(url, "--no-judge")
    assert made.code == 0, made.err
    assert made.server["headers"] == {"X-Own-Key": "${X_OWN_KEY}"}
    assert "s3cret" not in made.out + made.err + Path("eval_config.yml").read_text()
    type_lines("wrong")
    assert init(url, "--no-judge").err.count("the server wants a login") == 1


def test_a_token_without_its_scheme_is_refused_with_the_whole_header(start: Start, init: Init) -> None:
    """It is sent as it was given."""
    url = start({("POST", "/ask"): guarded("Authorization", f"Bearer {SECRET}")}) + "/ask"
    refused = init(url, "--header", f"Authorization: {SECRET}")
    assert (refused.code, '--header "Authorization: Bearer …"' in refused.err) == (3, True)
    made = init(url, "--header", f"Authorization: Bearer {SECRET}")
    assert made.code == 0, made.err
    assert made.server["headers"] == {"Authorization": "Bearer ${RAG_TOKEN}"}
    assert "s3cret" not in made.out + made.err


@pytest.mark.parametrize("header", [f"X-Key: Bearer {SECRET}", "X-Key: Bearer ${OWN_TOKEN}"])
def test_a_token_that_a_server_repeats_is_masked(header: str, init_for: Init, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without its scheme, and where it comes from a variable."""
    monkeypatch.setenv("OWN_TOKEN", SECRET)

    def ask(request: Any) -> Any:
        raise loopback.Refusal(HTTPStatus.BAD_REQUEST, {"error": f"bad: {request.headers['X-Key'].split()[1]}"})

    made = init_for(ask, "--header", header)
    assert (made.code, "bad: ***" in made.err, "s3cret" in made.out + made.err) == (3, True, False)


def test_no_document_gets_a_variable_of_the_environment(
    start: Start, init: Init, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither now nor in a run: what it names is no `${NAME}` in the configuration."""
    monkeypatch.setenv("OWN_TOKEN", SECRET)
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        return ANSWER

    schema = {
        "required": ["query", "tenant"],
        "properties": {"query": TEXT, "tenant": {**TEXT, "default": "${OWN_TOKEN}"}},
    }
    init(f"{start({('GET', '/openapi.json'): described(('/ask', 'post', 'ask', schema)), ('POST', '/ask'): ask})}/ask")
    assert [body["tenant"] for body in asked] == ["$OWN_TOKEN}"]
    assert "${" not in Path("eval_config.yml").read_text()


def test_a_secret_parameter_is_sent_and_not_written(start: Start, init: Init) -> None:
    """It becomes a variable."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.query)
        return ANSWER

    made = init(f"{start({('GET', '/find'): ask})}/find?q=x&api_key={SECRET}")
    assert asked == [{"q": QUESTION, "api_key": SECRET}]
    assert made.server["ask"]["query"] == {"q": "{{question}}", "api_key": "${API_KEY}"}
    assert "export API_KEY=" in made.out
    assert "s3cret" not in made.out + made.err


CHANGING = [
    ("/collections/purge", "run_query"),
    ("/query/all", "deleteAll"),
    ("/indexUpload", "ask"),
    ("/ask", "drop_table"),
    ("/inbox/ask", "send_mail"),
    ("/answers", "create_answer"),
]


@pytest.mark.parametrize(("path", "name"), CHANGING)
def test_an_operation_that_changes_something_is_never_called(path: str, name: str, start: Start, init: Init) -> None:
    """Words of its path and its operationId say so; the path in the URL is not enough."""
    called: list[Any] = []
    routes = {("GET", "/openapi.json"): described((path, "post", name, QUERY)), ("POST", path): called.append}
    for url in ((base := start(routes)), f"{base}{path}"):
        made = init(url)
        assert (made.code, called) == (2, [])
        assert path in made.err


def test_other_paths_of_a_document_are_named_and_not_called(start: Start, init: Init) -> None:
    """Until the URL has one; words that only contain such a word change nothing."""
    called: list[Any] = []

    def ask(request: Any) -> Any:
        called.append(request.body)
        return ANSWER

    path = "/clearance/retrains"
    url = start({("GET", "/openapi.json"): described((path, "post", "dropdown", QUERY)), ("POST", path): ask})
    refused = init(url)
    assert (refused.code, called, f"{url}{path}" in refused.err) == (2, [], True)
    assert init(f"{url}{path}").server["ask"] == {"path": path, "json": {"query": "{{question}}"}}


@pytest.mark.parametrize("path", ["/ask", "/v1/query"])
def test_a_usual_path_of_a_document_is_asked(path: str, start: Start, init: Init) -> None:
    """Without a path in the URL; a health check that the document lists is written."""
    document = described((path, "post", "x", QUERY), ("/health", "get", "h", {"properties": {}}))
    made = init(start({("GET", "/openapi.json"): document, ("POST", path): lambda _: ANSWER}))
    assert (made.server["ask"]["path"], made.server["health"]) == (path, {"path": "/health"})


@pytest.mark.parametrize(
    ("kind", "path", "header"),
    [
        ("lightrag", "/query", "x-api-key: {}"),
        ("hayhooks", "/rag/run", None),
        ("langserve", "/rag/invoke", None),
        ("vectara", "/v2/corpora/default/query", "X-API-Key: {}"),
        ("dify", "/v1/chat-messages", "authorization: Bearer {}"),
    ],
)
def test_a_built_in_profile_is_named_where_it_reads_the_answer(
    kind: str, path: str, header: str | None, start: Start, init: Init
) -> None:
    """Its chunks too, of a second request where it has one, and below a path that is not its own; with one login."""
    Path("q.jsonl").write_text(json.dumps({"question": "What may a hotel cost in a capital?"}))
    more = ("--header", header.format(documented.KEY)) if header else ()
    made = init(f"{start(getattr(documented, kind)())}{path}", *more)
    assert made.code == 0, made.err
    assert made.server["profile"] == kind
    assert "chunks: 3" in made.err
    assert made.out.count("export ") == (header is not None)


@pytest.mark.parametrize("path", ["/run", "/ask/"])
def test_a_path_is_kept_as_it_is_and_no_sign_of_a_profile(path: str, init_for: Init) -> None:
    """`/run` with an answer is not Hayhooks, and some servers know no path but one with a slash at its end."""
    server = init_for(ANSWER, path=path).server
    assert (server["ask"]["path"], server["profile"]) == (path, "none")
    assert server["map"] == {"answer": "answer", "chunks": "contexts"}


def test_a_body_of_a_document_has_what_is_required_and_what_brings_passages(start: Start, init: Init) -> None:
    """The question where its name says so, whatever else is a text; no stream; nothing that is neither."""
    flags = {name: {"type": "boolean"} for name in ("stream", "include_sources", "verbose")}
    turns = {"type": "array", "items": {"type": "object", "required": ["text"], "properties": {"text": TEXT}}}
    fields = {"tenant": TEXT, "turns": turns, "top": {"type": "integer", "default": 3}, "note": TEXT, **flags}
    document = described(("/ask", "post", "ask", {"required": ["tenant", "turns", "top"], "properties": fields}))
    made = init(f"{start({('GET', '/openapi.json'): document, ('POST', '/ask'): lambda _: ANSWER})}/ask")
    body = {"tenant": "probe", "turns": [{"text": "{{question}}"}], "top": 3, "stream": False, "include_sources": True}
    assert made.server["ask"]["json"] == body
    assert "made up for the request: tenant: probe" in made.err


def test_no_passages_name_the_lines_for_a_second_request(init_for: Init) -> None:
    """At most five, which are valid below `server:`."""
    lines = init_for({"answer": SAID}).err.partition("add below server:\n")[2].splitlines()[:4]
    assert lines[0] == "  retrieve:"
    assert load_yaml("\n".join(lines))["retrieve"]["path"] == "/search"


def test_an_empty_list_that_was_sent_is_told_with_what_fills_it(start: Start, init: Init, figures: Cli) -> None:
    """A generator quotes the first passage that it is given; the two keys of the note give it those of the search."""
    expected = {"query": TEXT, "passages": {"type": "array", "items": TEXT}}
    schema = {"type": "object", "required": list(expected), "properties": expected}
    hits = {"hits": [{"body": each["text"], "file": each["file"], "rank": 1} for each in SOURCES]}
    routes = {
        ("GET", "/openapi.json"): described(
            ("/generate", "post", "generate", schema), ("/search", "post", "search", QUERY)
        ),
        ("POST", "/generate"): lambda asked: {"text": next(iter(asked.body["passages"]), "Nothing was given to me.")},
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
    assert figures()["recall_at_1"] == 1.0


@pytest.mark.parametrize("status", [503, 429, 502, 504])
def test_a_server_that_is_overloaded_is_to_be_asked_later(status: int, init_for: Init) -> None:
    """Its reply is shown, and no other body is tried."""
    asked: list[Any] = []

    def ask(request: Any) -> Any:
        asked.append(request.body)
        raise loopback.Refusal(HTTPStatus(status), {"detail": "warming up"})

    made = init_for(ask, path="/own")
    assert (made.code, made.server, asked) == (3, None, [{"question": QUESTION}])
    told = " ".join(made.err.rpartition("error: ")[2].split())
    assert f"the server is overloaded or not ready; POST /own: HTTP {status}" in told
    assert all(words in told for words in ("warming up", "try again later"))
    assert "correct the path" not in told


COLUMNS = [
    ({"Source document": "checkin.md"}, "columns: {gold_document_ids: Source document}"),
    ({"Supporting quote": "Early check-in costs 25 euros."}, "columns: {gold_passages: Supporting quote}"),
    ({"Where": "Early check-in costs 25 euros."}, "columns: {expected_answer: Where} or {gold_passages: Where}"),
    ({"In book": "yes"}, "columns: {is_answerable: In book} or {is_unanswerable: In book}"),
    ({"Im Handbuch": "nein"}, "columns: {is_answerable: Im Handbuch} or {is_unanswerable: Im Handbuch}"),
    ({"Fehlt": True}, "columns: {is_answerable: Fehlt} or {is_unanswerable: Fehlt}"),
    ({"Reviewer": "Ada", "Ablage": "Gebühren.pdf"}, "columns: {gold_document_ids: Ablage}"),
    ({"Solution": "Drei Meter.", "Beleg": "Es sind drei Meter."}, "columns: {expected_answer: Solution}"),
    ({"Solution": "Drei Meter.", "Beleg": "Es sind drei Meter."}, "columns: {gold_passages: Beleg}"),
    ({"Solution": "50 Cent"}, "columns: {expected_answer: Solution}"),
    *(({name: "17"}, None) for name in ("Quote no.", "Reviewer")),
    ({"Rating": 4}, None),
    ({"Asked on": "2026-01-02"}, None),
    ({"Next": "And what does it cost then?"}, None),
]


@pytest.mark.parametrize(("cells", "hint"), COLUMNS)
def test_a_hint_on_a_column_is_what_its_cells_hold(cells: dict[str, Any], hint: str | None, init_for: Init) -> None:
    """Where they do not tell, both fields are named; where they fit nothing, none is: a wrong one would be followed."""
    Path("q.jsonl").write_text(json.dumps({"question": QUESTION, **cells}))
    made = init_for(ANSWER)
    assert (made.code, "holds what it seems to" in made.err) == (0, hint is not None)
    assert (hint or "") in " ".join(made.err.split())


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
_QUEUED = {"job": "j-1", "state": "queued"}


@pytest.mark.parametrize(
    ("started", "path", "headers", "then"),
    [
        ({"request_id": "r", **_QUEUED}, "/v2/jobs/j-1", {}, {"path": _JOBS, "id": "job"}),
        ({"job_id": "j-1", "state": "In progress"}, "/v2/jobs/j-1", {}, {"path": _JOBS, "id": "job_id"}),
        ({"vorgang": 17, "state": "queued"}, "/jobs/17", {}, {"path": "/jobs/{{id}}", "id": "vorgang"}),
        ({"id": "j-1", "state": "queued"}, "/v2/done/j-1", _AT, {"path": "/v2/done/{{id}}"}),
    ],
    ids=["job", "job_id", "any key", "location"],
)
def test_a_job_is_read_at_its_place(started: Any, path: str, headers: Any, then: Any, start: Start, init: Init) -> None:
    """Below the path that starts it, at its location, or below /jobs."""
    made = init(f"{start(_queue(started, path, HTTPStatus.OK, **headers))}/v2/jobs")
    assert made.code == 0, made.err
    end = {"until": "state == 'finished'", "failed": "state == 'failed'", "every_s": 1}
    assert made.server["ask"]["then"] == {**then, **end}


@pytest.mark.parametrize(("started", "path"), [(_QUEUED, "/v2/jobs/j-1"), ({"ticket": "t9"}, "/v2/jobs/t9")])
def test_an_accepted_job_is_evaluated(started: Any, path: str, start: Start, init: Init, figures: Cli) -> None:
    """With any key for its id; 202 says that it is a job, also where its state is that of the next look."""
    made = init(f"{start(_queue(started, path, HTTPStatus.ACCEPTED))}/v2/jobs")
    assert made.server["ask"]["then"]["until"] == "state == 'finished'"
    assert "not read: job" not in made.err
    assert figures()["recall_at_1"] == 1.0


_TO_WRITE = 'ask.then: {path: "/v2/jobs/{{id}}", id: job, until: "state == \'done\'", every_s: 1}'


@pytest.mark.parametrize(
    ("path", "ends", "said"),
    [
        ("/v2/jobs/j-1", "running", _TO_WRITE),
        ("/elsewhere/j-1", "finished", _TO_WRITE),
        ("/v2/jobs/j-1", "failed", "the job of /v2/jobs failed: HTTP 200, but state is 'failed'"),
    ],
)
def test_a_job_that_does_not_end_well_is_no_answer(path: str, ends: str, said: str, start: Start, init: Init) -> None:
    """It is to be written by its path and the key of its id; a failure is not the end that runs wait for."""
    made = init(f"{start(_queue(_QUEUED, path, HTTPStatus.ACCEPTED, ends))}/v2/jobs")
    told = " ".join(made.err.rpartition("error: ")[2].split())
    assert (made.code, made.server) == (3, None)
    assert said in told
    assert ("/v2/jobs starts a job that was not seen to end" in told) == (said == _TO_WRITE)


@pytest.mark.parametrize(("flag", "is_judged"), [("--judge", True), ("--no-judge", False), ("--force", False)])
def test_judged_metrics_are_given_with_a_judge_alone(flag: str, is_judged: bool, init_for: Init) -> None:
    """Without one they are named with the reason."""
    Path("q.jsonl").write_text(json.dumps({"question": QUESTION, "expected_answer": "At three metres."}))
    told = init_for(ANSWER, flag).err
    given, _, missing = " ".join(told.partition("this server give:")[2].split()).partition(" not ")
    for name in ("faithfulness", "answer_correctness", "answer_relevancy"):
        assert (name in given, name in missing) == (is_judged, not is_judged)
    assert ("no judge was used" in missing) is not is_judged


def test_metrics_of_questions_and_server_are_told_apart(init_for: Init) -> None:
    """What the questions lack is not asked of the server."""
    told = " ".join(init_for(ANSWER).err.partition("metrics that these questions")[2].split())
    assert "recall_at_5" in told.partition(" not ")[0]
    assert "answer_correctness: the question has no expected answer" in told
