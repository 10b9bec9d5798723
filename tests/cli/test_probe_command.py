"""`evals probe`: a server looked at, asked one question, and evaluated by the section that came of it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from other_servers import corpus, documented, kinds, loopback, unknown

from evals import EvalConfig, run_evaluation
from evals.client.profile import load_profile
from evals.inputs.yaml_layers import read_yaml

QUESTION = "How long are daily snapshots kept?"
SECRET = "s3cret-Value-81723"
TRANSCRIPT = '{"transcript": [{"speaker": "visitor", "said": "{{question}}"}]}'
Cli = Callable[..., Any]
Start = Callable[[Any], str]


@pytest.fixture
def start() -> Iterator[Start]:
    """Serve routes; returns the URL."""
    with ExitStack() as running:
        yield lambda routes: running.enter_context(loopback.serving(routes))


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
    ("kind", "path", "more"), [("inquiry", "", ()), ("dialogue", "/v7/exchange", ("--body", TRANSCRIPT))]
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
    assert told.index("POST /ask with") < told.index("what came:") < told.index("what the section makes of it:")
    assert "guess: path and field are guesses" in told
    assert "computable (suite core): recall_at_1" in told
    assert "not cost_per_query: the server reported no token usage" in told
    assert result.out.startswith("server:\n  profile: none\n")


def test_a_built_in_profile_that_fits_is_taken(start: Start, evals_cli: Cli) -> None:
    """The section is its name and the URL."""
    result = evals_cli("probe", start(documented.r2r()), "--question", QUESTION, "--json")
    assert result.code == 0, result.err
    assert result.json["server"]["profile"] == "r2r"
    assert result.json["read"]["answer"] == "For thirty days."
    assert len(result.json["read"]["chunks"]) == 3


def test_the_second_request_of_a_profile_is_sent_too(start: Start, evals_cli: Cli) -> None:
    """It is told before; the chunks are those that it brings."""
    url = start(documented.lightrag())
    result = evals_cli("probe", url, "--question", QUESTION, "--json", "--header", f"X-API-Key: {documented.KEY}")
    assert result.json["server"]["profile"] == "lightrag"
    assert len(result.json["read"]["chunks"]) == 3
    assert "POST /query/data, the second request of the profile lightrag" in result.err


def test_a_profile_that_cannot_read_the_answer_is_followed_by_the_next_of_that_path(
    start: Start, evals_cli: Cli
) -> None:
    """Two kinds of server have /query; who describes itself by no document is asked as both are."""

    def query(request: Any) -> dict[str, Any]:
        if "include_references" in request.body:
            return {"answer": "It is kept for thirty days.", "sources": []}
        source = {"chunk_id": "c1", "document_name": "backup.md", "full_text": "Kept for thirty days.", "score": 0.5}
        return {"answer": "It is kept for thirty days.", "sources": [source], "citations": None, "metrics": None}

    result = evals_cli("probe", start({("POST", "/query"): query}), "--json")
    assert result.json["server"]["profile"] == "rag-server"
    assert len(result.json["read"]["chunks"]) == 1
    assert "the profile lightrag does not read this answer" in result.err


def test_without_profiles_the_same_server_is_mapped_by_its_shape(start: Start, evals_cli: Cli) -> None:
    """Its paths are those of no usual form, so that they are given."""
    body = '{"query": "{{question}}", "rag_generation_config": {"stream": false}}'
    url = f"{start(documented.r2r())}/v3/retrieval/rag"
    result = evals_cli("probe", url, "--question", QUESTION, "--json", "--no-profiles", "--body", body)
    assert result.json["server"]["map"]["answer"] == "results.generated_answer"
    assert result.json["guesses"] == []


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
    """The next request has the question there."""

    def ask(request: Any) -> dict[str, Any]:
        if "utterance" not in request.body:
            detail = [{"type": "missing", "loc": ["body", "utterance"], "msg": "Field required"}]
            raise loopback.Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, {"detail": detail})
        return {"answer": "It is kept for thirty days.", "contexts": ["One passage of the corpus."]}

    result = evals_cli("probe", f"{start({('POST', '/own'): ask})}/own", "--json")
    assert result.json["server"]["ask"] == {"path": "/own", "json": {"utterance": "{{question}}"}}


def test_the_path_may_be_that_of_a_prefix(start: Start, evals_cli: Cli) -> None:
    """Nothing answers there, and the document names what does below it."""
    result = evals_cli("probe", f"{start(unknown.inquiry())}/knowledge/", "--question", QUESTION, "--json")
    assert result.code == 0, result.err
    assert result.json["server"]["ask"]["path"] == "/knowledge/inquire"


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


def test_a_200_that_says_it_failed_is_a_refusal(start: Start, evals_cli: Cli) -> None:
    """Its text is not taken for an answer."""
    url = start({("POST", "/own"): lambda _: {"state": "failed", "why": "the index is being built just now"}})
    result = evals_cli("probe", f"{url}/own")
    assert result.code == 3
    assert "state is 'failed'" in result.err


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


def test_no_profile_is_a_profile_without_keys() -> None:
    """What stands under `server:` is the whole specification then."""
    assert load_profile("none") == {}


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
