"""`evals probe`: a server looked at, asked one question, and evaluated by the section that came of it."""

import json
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from other_servers import corpus, documented, kinds, loopback, unknown

from evals import EvalConfig, run_evaluation
from evals.run.probing.plans import USUAL, built_in
from evals.text.yaml_files import read_yaml

QUESTION = "How long are daily snapshots kept?"
SECRET = "s3cret-Value-81723"
TRANSCRIPT = '{"transcript": [{"speaker": "visitor", "said": "{{question}}"}]}'
Cli = Callable[..., Any]
Start = Callable[[Any], str]


def _figures(section: Path, folder: Path) -> dict[str, float | None]:
    """What an evaluation by the section finds."""
    questions = folder / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, corpus.questions())), encoding="utf-8")
    fixed = {"dataset_file": questions, "judge": False, "preflight": False, "runs_dir": folder / "runs"}
    measured = {"metrics": ["recall_at_3"], "suite": ["core"]}
    run = run_evaluation(EvalConfig.build(read_yaml(section, "configuration"), {**fixed, **measured}))
    assert (run.status, run.error_count) == ("complete", 0)
    return {summary.name: summary.value for summary in run.scorecard.metrics}


@pytest.mark.parametrize(
    ("kind", "path", "more"), [("inquiry", "", ("--yes",)), ("dialogue", "/v7/exchange", ("--body", TRANSCRIPT))]
)
def test_a_server_that_no_profile_knows_is_evaluated(
    kind: str, path: str, more: tuple[str, ...], start: Start, evals_cli: Cli, tmp_path: Path
) -> None:
    """By a section of at most 15 lines that probe wrote alone: every figure is that of the retriever behind it."""
    section = tmp_path / "section.yml"
    url = start(getattr(unknown, kind)())
    result = evals_cli("probe", f"{url}{path}", "--question", QUESTION, *more, "-o", section)
    assert result.code == 0, result.err
    assert len(section.read_text(encoding="utf-8").splitlines()) <= 15
    assert "guess map.chunks" in result.err
    figures = _figures(section, tmp_path)
    expected = {**corpus.RETRIEVAL, **corpus.CITATION, **corpus.ABSTENTION}
    assert {name: figures[name] for name in expected} == pytest.approx(expected)


def test_what_is_sent_is_told_before_and_shown_beside_what_is_made_of_it(start: Start, evals_cli: Cli) -> None:
    """A usual path is found by GET, and stdout has the section alone."""
    result = evals_cli("probe", start(kinds.contexts()), "--question", QUESTION)
    told = result.err
    assert told.index("POST /ask with") < told.index("the server sent:") < told.index("read from it:")
    assert "I guessed path and field" in told
    assert "metrics that can be computed (core, no judge): recall_at_1" in told
    assert "not cost_per_query: the server reported no token usage" in told
    assert result.out.startswith("server:\n  profile: none\n")


@pytest.mark.parametrize("kind", ["r2r", "lightrag"])
def test_a_built_in_profile_that_fits_is_taken(kind: str, start: Start, evals_cli: Cli) -> None:
    """The section is its name and the URL; a second request of it, which brings the chunks, is told before."""
    header = ("--header", f"X-API-Key: {documented.KEY}")
    result = evals_cli("probe", start(getattr(documented, kind)()), "--question", QUESTION, "--json", *header)
    assert result.code == 0, result.err
    assert result.json["server"]["profile"] == kind
    assert len(result.json["read"]["chunks"]) == 3
    told = "POST /query/data, the second request of the profile lightrag"
    assert (told in result.err) == (kind == "lightrag")


@pytest.mark.slow
@pytest.mark.parametrize("header", [f"Authorization: Bearer {SECRET}", f"X-Own-Key: {SECRET}"])
def test_no_value_of_a_header_is_printed_or_written(header: str, start: Start, evals_cli: Cli, tmp_path: Path) -> None:
    """Not where the server repeats it, in an answer or a refusal; the section has a ${NAME} to be exported."""

    def ask(request: Any) -> dict[str, Any]:
        sent = request.headers.get("Authorization") or request.headers.get("X-Own-Key")
        if "question" not in request.body:
            raise loopback.Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, {"error": f"{sent}: missing 'question'"})
        return {"answer": f"It is kept for thirty days, said {sent}.", "contexts": ["One passage of the corpus."] * 2}

    section = tmp_path / "section.yml"
    url = f"{start({('POST', '/own'): ask})}/own"
    body = ("--body", '{"asked": "{{question}}"}')
    for more in ((), ("--json",), body, ("-o", section)):
        result = evals_cli("probe", url, "--header", header, *more)
        assert result.code == 0, result.err
        assert SECRET not in result.out + result.err
    assert SECRET not in section.read_text(encoding="utf-8")
    written = read_yaml(section, "section")["server"]["headers"]
    assert set(written.values()) <= {"Bearer ${RAG_TOKEN}", "${X_OWN_KEY}"}
    assert "export " in result.err


def test_a_refusal_that_names_the_missing_field_is_heard(start: Start, evals_cli: Cli) -> None:
    """The next request has the question there, which is then no guess."""

    def ask(request: Any) -> dict[str, Any]:
        if "utterance" not in request.body:
            detail = [{"type": "missing", "loc": ["body", "utterance"], "msg": "Field required"}]
            raise loopback.Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, {"detail": detail})
        return {"answer": "It is kept for thirty days.", "contexts": ["One passage of the corpus."]}

    result = evals_cli("probe", f"{start({('POST', '/own'): ask})}/own", "--json")
    assert result.json["server"]["ask"] == {"path": "/own", "json": {"utterance": "{{question}}"}}
    assert result.err.count("I guessed the field `question`") == 1


@pytest.mark.parametrize(("status", "asked"), [(HTTPStatus.BAD_REQUEST, 4), (HTTPStatus.NOT_FOUND, 1)])
def test_a_refusal_that_names_no_field_is_followed_by_the_usual_names(
    status: HTTPStatus, asked: int, start: Start, evals_cli: Cli
) -> None:
    """Each once; a path that is not there is asked once."""

    def ask(request: Any) -> dict[str, Any]:
        if "input" not in request.body:
            raise loopback.Refusal(status, {"error": "bad request"})
        return {"answer": "It is kept for thirty days.", "contexts": ["One passage of the corpus."]}

    result = evals_cli("probe", f"{start({('POST', '/own'): ask})}/own", "--json")
    assert result.err.count("POST /own") == asked
    if asked > 1:
        assert result.json["server"]["ask"] == {"path": "/own", "json": {"input": "{{question}}"}}
    else:
        assert (result.code, """--body '{"q": "{{question}}"}'""" in result.err) == (3, True)


def test_the_path_may_be_that_of_a_prefix(start: Start, evals_cli: Cli) -> None:
    """Nothing answers there, and the document names what does below it, which needs assent."""
    url = f"{start(unknown.inquiry())}/knowledge/"
    assert evals_cli("probe", url, "--question", QUESTION).code == 2
    result = evals_cli("probe", url, "--question", QUESTION, "--json", "--yes")
    assert result.code == 0, result.err
    assert result.json["server"]["ask"]["path"] == "/knowledge/inquire"


@pytest.mark.slow
@pytest.mark.parametrize("given", [(), ("--header", "X-API-Key: wrong")])
def test_a_refused_login_names_its_header(given: tuple[str, ...], start: Start, evals_cli: Cli) -> None:
    """That of the profile that the server looks like, else the usual one; nothing else is tried."""
    refused = evals_cli("probe", start(documented.lightrag()), *given)
    assert (refused.code, refused.err.count("POST ")) == (3, 1)
    assert "the server refuses us: HTTP 403" in refused.err
    assert '--header "X-API-Key: …"' in refused.err

    def ask(_: Any) -> Any:
        raise loopback.Refusal(HTTPStatus.UNAUTHORIZED, {"error": "who are you?"})

    refused = evals_cli("probe", f"{start({('POST', '/own'): ask})}/own", *given)
    assert '--header "Authorization: Bearer …"' in refused.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("http://127.0.0.1:9",), 3, "no server answers at"),
        (("nowhere",), 2, "not a URL of a server"),
        (("http://127.0.0.1:9", "--body", "{"), 2, "--body is no JSON"),
        (("http://127.0.0.1:9", "--body", "{}"), 2, "the form of the request does not say where the question goes"),
        (("http://127.0.0.1:9", "--header", "abc"), 2, "a header is not of a name and a value"),
    ],
)
def test_what_cannot_be_probed_is_told_in_one_message(
    arguments: tuple[str, ...], code: int, said: str, evals_cli: Cli
) -> None:
    """With the way out."""
    result = evals_cli("probe", *arguments)
    assert result.code == code
    assert said in result.err
    assert "Traceback" not in result.err


def test_somebody_at_a_terminal_says_what_is_meant(
    start: Start, evals_cli: Cli, type_lines: Callable[..., None]
) -> None:
    """A number beyond the list is asked for again; what was said is no guess any more."""

    def ask(_: Any) -> dict[str, Any]:
        found = ["A passage of the left, which says this.", "Another of the left, which says that."]
        others = ["A passage of the right, which says so.", "Another of the right, which does not."]
        return {"answer": "It is kept for thirty days.", "left": found, "right": others}

    url = f"{start({('POST', '/own'): ask})}/own"
    silent = evals_cli("probe", url, "--json").json
    assert [(guess["key"], guess["chosen"]) for guess in silent["guesses"]][-1] == ("map.chunks", "left")
    type_lines("9", "nothing", "2")
    asked = evals_cli("probe", url, "--json")
    assert asked.json["server"]["map"]["chunks"] == "right"
    assert "map.chunks" not in [guess["key"] for guess in asked.json["guesses"]]
    assert asked.err.count("which one (1 to 2)") == 3


def _described(*operations: tuple[str, str, str], field: str = "query") -> Callable[[Any], dict[str, Any]]:
    """An OpenAPI document of operations, each a path, a method and an operationId, that take one text."""
    schema = {"type": "object", "required": [field], "properties": {field: {"type": "string"}}}
    body = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    paths: dict[str, Any] = {}
    for path, method, name in operations:
        taken = body if method == "post" else {"parameters": [{"name": field, "in": "query"}]}
        paths.setdefault(path, {})[method] = {"operationId": name, **taken}
    return lambda _: {"openapi": "3.1.0", "paths": paths}


CHANGING = [
    ("/collections/purge", "post", "run_query"),
    ("/query/all", "post", "deleteAll"),
    ("/search-index", "get", "reset_search_index_get"),
    ("/indexUpload", "post", "ask"),
    ("/ask", "post", "drop_table"),
    ("/inbox/ask", "post", "sendMessage"),
    ("/answers", "post", "create_answer"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "given"),
    [("probe", ()), ("probe", ("--yes",)), ("probe", ("--dry-run", "--yes")), ("init", ()), ("init", ("--yes",))],
)
@pytest.mark.parametrize(("path", "method", "name"), CHANGING)
def test_an_operation_that_changes_something_is_never_called(
    path: str, method: str, name: str, command: str, given: tuple[str, ...], start: Start, evals_cli: Cli,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Whole words of its path and its operationId say so; neither --yes nor the path in the URL is enough."""
    monkeypatch.chdir(tmp_path)
    called: list[Any] = []

    def change(request: Any) -> dict[str, Any]:
        called.append(request)
        return {"deleted": 17, "answer": "ok, as it was said"}

    routes = {("GET", "/openapi.json"): _described((path, method, name)), (method.upper(), path): change}
    url = start(routes)
    for target in (url, f"{url}{path}") if method == "post" else (url,):
        result = evals_cli(command, *(("--rag-url",) if command == "init" else ()), target, *given)
        assert called == []
        assert result.code == (0 if "--dry-run" in given else 2), result.err
        assert f"{method.upper()} {path}" in result.out + result.err


def _answering(called: list[str]) -> Callable[[Any], dict[str, Any]]:
    def answer(request: Any) -> dict[str, Any]:
        called.append(request.body["query"])
        return {"answer": "It is kept for thirty days.", "contexts": ["One passage of the corpus."]}

    return answer


UNKNOWN = ("/clearance/retrains", "post", "dropdown_undeleted")


@pytest.mark.parametrize("command", ["probe", "init"])
def test_an_unknown_path_is_called_with_assent_only(
    command: str, start: Start, evals_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal that is --yes, or the path in the URL; parts of words change nothing."""
    monkeypatch.chdir(tmp_path)
    called: list[str] = []
    path = UNKNOWN[0]
    url = start({("GET", "/openapi.json"): _described(UNKNOWN), ("POST", path): _answering(called)})
    words = (command, "--rag-url") if command == "init" else (command,)
    refused = evals_cli(*words, url)
    assert (refused.code, called) == (2, [])
    assert f"POST {path}" in refused.err
    assert "--yes" in refused.err
    for given in ((url, "--yes"), (f"{url}{path}",)):
        Path("eval_config.yml").unlink(missing_ok=True)
        assert evals_cli(*words, *given).code == 0
    assert len(called) == 2


@pytest.mark.parametrize("path", ["/ask", "/v1/query", "/v3/retrieval/rag"])
def test_the_paths_of_profiles_and_the_usual_ones_are_asked_without_assent(
    path: str, start: Start, evals_cli: Cli
) -> None:
    """Here by the form that the document describes."""
    called: list[str] = []
    url = start({("GET", "/openapi.json"): _described((path, "post", "x")), ("POST", path): _answering(called)})
    assert evals_cli("probe", url, "--no-profiles").code == 0
    assert len(called) == 1


@pytest.mark.parametrize("command", ["probe", "init"])
def test_somebody_at_a_terminal_picks_the_path_that_is_called(
    command: str, start: Start, evals_cli: Cli, type_lines: Callable[..., None], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Enter picks none; what was not picked is not called."""
    monkeypatch.chdir(tmp_path)
    called: list[str] = []

    def wrong(_: Any) -> dict[str, Any]:
        called.append("wrong")
        return {"answer": "ok, as it was said"}

    document = _described(("/knowledge/query", "post", "query"), ("/knowledge/inquire", "post", "x"))
    routes = {("POST", "/knowledge/query"): wrong, ("POST", "/knowledge/inquire"): _answering(called)}
    url = start({("GET", "/openapi.json"): document, **routes})
    words = ("init", "--rag-url", url, "--questions", "golden", "--no-judge") if command == "init" else ("probe", url)
    before = ("y",) if command == "init" else ()
    type_lines(*before, "")
    assert evals_cli(*words).code == 2
    assert called == []
    type_lines(*before, "3", "2", "", "")
    done = evals_cli(*words)
    assert done.code == 0, done.err
    assert "wrong" not in called
    assert called


def test_a_dry_run_lists_what_would_be_sent(start: Start, evals_cli: Cli) -> None:
    """Nothing but GET is sent."""
    called: list[str] = []
    operations = (UNKNOWN, CHANGING[0], ("/ask", "post", "ask"))
    routes = {("POST", path): _answering(called) for path, _, _ in operations}
    result = evals_cli("probe", start({("GET", "/openapi.json"): _described(*operations), **routes}), "--dry-run")
    assert (result.code, called) == (0, [])
    assert result.out.splitlines() == [
        'POST /ask with {"query": "{{question}}"} (OpenAPI)',
        f'needs --yes: POST {UNKNOWN[0]} with {{"query": "{{{{question}}}}"}} (OpenAPI)',
        "never: POST /collections/purge (purge)",
    ]


def _page(_: Any) -> Any:
    return loopback.Streamed("text/html", [b"<!doctype html>"])


@pytest.mark.parametrize("is_page", [True, False])
@pytest.mark.parametrize("given", [(), ("--header", f"Authorization: Bearer {documented.KEY}")])
def test_open_webui_is_named_by_its_profile_which_needs_variables(
    is_page: bool, given: tuple[str, ...], start: Start, evals_cli: Cli
) -> None:
    """Its web page answers every other GET; its chat is not asked without a collection."""
    routes = dict(documented.openwebui())
    if is_page:
        known = (*(spec.ask.path for spec in built_in()), *USUAL, "/openapi.json", "/evals-probe-finds-nothing-here")
        routes |= {("GET", path): _page for path in known}

    def files(_: Any) -> Any:
        raise loopback.Refusal(HTTPStatus.UNAUTHORIZED, {"detail": "Not authenticated"})

    result = evals_cli("probe", start({**routes, ("GET", "/api/v1/files/"): files}), *given)
    assert result.code == 3, result.err
    assert "it looks like openwebui: Open WebUI" in result.err
    assert "--profile openwebui (it reads OPENWEBUI_API_KEY" in result.err


GERMAN = {
    "antwort": "Sie werden dreißig Tage lang aufbewahrt.",
    "treffer": [
        {"text": "Ein Abschnitt, der das sagt.", "wert": 0.9, "quelle": {"datei": "a.md", "kapitel": "Fristen"}},
        {"text": "Ein anderer, der es nicht sagt.", "wert": 0.4, "quelle": {"datei": "b.md", "kapitel": "Fristen"}},
    ],
    "verbrauch": {"rein": 120, "raus": 9},
    "leer": None,
}


@pytest.mark.parametrize("streams", [False, True])
def test_fields_that_are_not_read_are_listed(streams: bool, start: Start, evals_cli: Cli) -> None:
    """In a stream too; what holds nothing is no field."""

    def ask(_: Any) -> Any:
        pieces = [{"treffer": GERMAN["treffer"]}, *({"bit": f"{word} "} for word in str(GERMAN["antwort"]).split())]
        events = [f"data: {json.dumps(piece)}\n\n".encode() for piece in [*pieces, {"verbrauch": GERMAN["verbrauch"]}]]
        return loopback.Streamed("text/event-stream", events) if streams else GERMAN

    url = f"{start({('POST', '/own'): ask})}/own"
    unread = ["treffer[].quelle.kapitel", "verbrauch.rein", "verbrauch.raus"]
    told = evals_cli("probe", url)
    assert f"not read: {', '.join(unread)}" in told.err
    assert evals_cli("probe", url, "--json").json["unread"] == unread
