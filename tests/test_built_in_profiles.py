"""Every built-in profile over a server of its kind: one retriever stands behind all, so the figures are the same."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from other_servers import corpus, documented, loopback, streamed

from evals import EvalConfig, run_evaluation
from evals.client.profile import list_profiles, load_profile, measurable, profile_text, resolve_spec
from evals.errors import EvalsError
from evals.schemas import EvalRecord, EvalRun
from evals.store.runs import RunStore

ENVIRONMENT = {
    "AZURE_SEARCH_ENDPOINT": "https://search.example.com",
    "HAYHOOKS_PIPELINE": "rag",
    "OPENAI_VECTOR_STORE_ID": "vs_1",
    "OPENWEBUI_COLLECTION": "c-1",
    "RAGFLOW_CHAT_ID": "b7a29412",
}
KEYS = (
    *(
        f"{name}_API_KEY"
        for name in ("OPENAI", "AZURE_OPENAI", "LIGHTRAG", "OPENWEBUI", "RAGFLOW", "DIFY", "ANYTHINGLLM")
    ),
    *(f"{name}_API_KEY" for name in ("ONYX", "VECTARA", "COHERE", "PINECONE")),
    "AZURE_SEARCH_KEY",
)
BELOW = dict.fromkeys(("hayhooks", "langserve", "langserve-stream", "elasticsearch"), "/rag")
"""What the URL ends in, of servers that have several pipelines or indices."""
FED: Mapping[str, Any] = {
    "retrieve": {
        "path": "/search",
        "json": {"query": "{{question}}"},
        "map": {"chunks": "hits[].{chunk_id: id, document_name: file, text: text, score: score}"},
        "give": {"documents": "hits[].{id: id, data: {text: text}}"},
    },
    "ask": {"json": {"documents": "{{documents}}"}},
}
OTHERS = [
    name for name in list_profiles() if name != "rag-server" and not name.startswith(("whole_", "broken", "wrong"))
]
STREAMING = [name for name in OTHERS if name.endswith("-stream")]
NO_CHUNKS, NO_ANSWERS = {"openai-chat", "openai-chat-stream"}, {"elasticsearch"}
CITING = {
    "azure-oyd", "cohere", "hayhooks", "hayhooks-stream", "lightrag", "lightrag-stream", "onyx", "openai-responses",
    "openwebui", "openwebui-stream", "pinecone", "r2r", "ragflow", "vectara",
}  # fmt: skip
COUNTING = {
    "anythingllm", "azure-oyd", "cohere", "dify", "dify-stream", "langgraph", "openai-chat-stream", "openai-responses",
    "openwebui", "openwebui-stream", "pinecone", "r2r",
}  # fmt: skip
NAMING_THEIR_MODEL = (COUNTING - {"cohere", "dify", "dify-stream"}) | {"openai-chat"}

Evaluate = Callable[..., tuple[EvalRun, list[EvalRecord]]]


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Evaluate]:
    """Evaluate a server of the kind that a profile is for, by the profile's name and the server's URL alone."""
    for name, value in {**ENVIRONMENT, **dict.fromkeys(KEYS, documented.KEY)}.items():
        monkeypatch.setenv(name, value)
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, corpus.questions())))
    with ExitStack() as running:

        def evaluation(
            name: str, server: Mapping[str, Any] | None = None, **config: Any
        ) -> tuple[EvalRun, list[EvalRecord]]:
            url = running.enter_context(loopback.serving(_routes(name)))
            over = {**(FED if name == "cohere" else {}), **(server or {})}
            keys = {"profile": name, "url": f"{url}{BELOW.get(name, '')}", **over}
            fixed = {"dataset_file": questions, "judge": False, "runs_dir": tmp_path / "runs", "preflight": False}
            measured = {"metrics": ["recall_at_3"], "suite": ["core"]}
            run = run_evaluation(EvalConfig.build({"server": keys, **measured, **fixed, **config}))
            return run, list(RunStore(tmp_path / "runs").records(run))

        yield evaluation


def _routes(name: str) -> Any:
    return getattr(streamed if name in STREAMING else documented, name.replace("-", "_"))()


def _plain(name: str) -> str:
    return name.removesuffix("-stream").replace("-", "_")


def _values(run: EvalRun, names: Mapping[str, float]) -> dict[str, float | None]:
    return {summary.name: summary.value for summary in run.scorecard.metrics if summary.name in names}


def _answers(records: list[EvalRecord]) -> dict[str, str | None]:
    return {one.question.question: one.response.answer for one in records if one.response is not None}


@pytest.mark.parametrize("name", OTHERS)
def test_a_built_in_profile_reads_its_server(name: str, evaluate: Evaluate) -> None:
    """All that the server sends, and nothing that it does not: no token is counted that it does not tell."""
    run, records = evaluate(name)
    assert (run.status, run.outcomes.answered, run.error_count) == ("complete", 5, 0)
    assert _values(run, corpus.RETRIEVAL) == (
        dict.fromkeys(corpus.RETRIEVAL) if name in NO_CHUNKS else pytest.approx(corpus.RETRIEVAL)
    )
    assert _values(run, corpus.ABSTENTION) == (
        dict.fromkeys(corpus.ABSTENTION) if name in NO_ANSWERS else corpus.ABSTENTION
    )
    if name in CITING:
        assert _values(run, corpus.CITATION) == corpus.CITATION
        assert run.outcomes.invalid_citations == 0
    responses = [record.response for record in records if record.response is not None]
    assert {response.usage is not None for response in responses} == {name in COUNTING}
    assert {response.model for response in responses} == ({documented.MODEL} if name in NAMING_THEIR_MODEL else {None})
    assert not any(response.notes for response in responses)


@pytest.mark.parametrize("name", sorted(set(OTHERS) - CITING - NO_CHUNKS - {"txtai"}))
def test_what_a_server_does_not_say_of_its_citations_has_no_figure(name: str, evaluate: Evaluate) -> None:
    """What was retrieved is not taken for cited."""
    run, records = evaluate(name)
    assert {record.response.citations for record in records if record.response is not None} == {None}
    assert _values(run, corpus.CITATION) == dict.fromkeys(corpus.CITATION)


@pytest.mark.parametrize("name", ["cohere", "hayhooks-stream", "lightrag", "lightrag-stream", "pinecone", "txtai"])
def test_a_server_with_two_paths_is_evaluated_in_one_run(name: str, evaluate: Evaluate) -> None:
    """Retrieval, citation, abstention and performance have values; the retrieval is timed by itself."""
    run, records = evaluate(name)
    with_value = {summary.group.value for summary in run.scorecard.metrics if summary.value is not None}
    assert {"retrieval", "citation", "abstention", "performance"} <= with_value
    for record in records:
        assert record.response is not None
        assert record.response.retrieval_latency_ms is not None
        assert record.response.raw_retrieval is not None


@pytest.mark.parametrize("name", ["cohere", "pinecone"])
def test_a_retriever_and_a_generator_behind_two_paths_have_all_five_groups(
    name: str, evaluate: Evaluate, messages_api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one run with a judge: of chunks that were given to the generator, and of chunks that it retrieved itself."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script({"then": {"python": "judge"}})
    run, _ = evaluate(name, judge={"base_url": messages_api.url}, prices={documented.MODEL: {"input": 1, "output": 10}})
    with_value = {summary.group.value for summary in run.scorecard.metrics if summary.value is not None}
    assert with_value == {"retrieval", "generation", "citation", "abstention", "performance"}
    assert _values(run, corpus.RETRIEVAL) == pytest.approx(corpus.RETRIEVAL)
    assert _values(run, corpus.CITATION) == corpus.CITATION


@pytest.mark.parametrize("name", STREAMING)
def test_a_profile_that_streams_times_the_first_token(name: str, evaluate: Evaluate) -> None:
    """Of each answer, none later than its end; what its profile without a stream finds out, this one does too."""
    run, records = evaluate(name)
    assert _values(run, {"time_to_first_token_p50": 0.0})["time_to_first_token_p50"] is not None
    for record in records:
        response = record.response
        assert response is not None
        assert response.time_to_first_token_ms is not None
        assert response.time_to_last_token_ms is not None
        assert response.latency_ms is not None
        assert 0 < response.time_to_first_token_ms <= response.time_to_last_token_ms <= response.latency_ms
    plain, earlier = evaluate(name.removesuffix("-stream"))
    assert _values(plain, corpus.RETRIEVAL) == _values(run, corpus.RETRIEVAL)
    assert _answers(records) == _answers(earlier)


BROKEN = {
    "dify-stream": (
        b'data: {"event": "error", "status": 400, "code": "invalid", "message": "out of order"}\n\n',
        "not_ok",
    ),
    "langserve-stream": (b'event: error\r\ndata: {"status_code": 500, "message": "out of order"}\r\n\r\n', "not_ok"),
    "lightrag-stream": (b'{"references": []}\n{"response": "For "}\n{"error": "out of order"}\n', "not_ok"),
    "openai-chat-stream": (b'data: {"error": {"message": "out of order", "code": 500}}\n\n', "not_ok"),
    "openwebui-stream": (b'data: {"error": {"detail": "out of order"}}\n\n', "not_ok"),
    "hayhooks-stream": (b'data: {"choices": [{"delta": {"content": "For"}, "finish_reason": null}]}\n\n', "broken_off"),
}
"""What a stream brings that goes wrong, and what becomes of the question; a pipeline that fails only breaks off."""


@pytest.mark.parametrize("name", STREAMING)
def test_a_stream_that_goes_wrong_is_a_failure(name: str, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the kind that its server's words have, and never half an answer."""
    pieces, kind = BROKEN[name]
    path = load_profile(name)["ask"]["path"]
    routes = {("POST", f"{BELOW.get(name, '')}{path}"): lambda _: loopback.Streamed("text/event-stream", [pieces])}
    monkeypatch.setattr(streamed, name.replace("-", "_"), lambda: {**getattr(documented, _plain(name))(), **routes})
    run, records = evaluate(name)
    assert (run.status, run.outcomes.answered) == ("failed", 0)
    errors = [record.response.error for record in records if record.response is not None]
    assert {error.kind for error in errors if error is not None} == {kind}
    assert all(error is not None and (kind == "broken_off" or "out of order" in error.message) for error in errors)


@pytest.mark.parametrize("name", ["lightrag", "lightrag-stream"])
def test_what_lightrag_does_not_find_is_no_failure(name: str, evaluate: Evaluate) -> None:
    """Its 200 says failure then; the model is what its health check says."""
    run, records = evaluate(name)
    assert run.server.snapshot_start["/health"]["llm_model"] == documented.MODEL
    assert run.server.changed is False
    (unfound,) = [record.response for record in records if record.question.is_unanswerable]
    assert unfound is not None
    assert (unfound.error, unfound.chunks) == (None, [])


@pytest.mark.parametrize("name", ["lightrag", "openwebui", "dify"])
def test_a_wrong_key_is_told_as_such(name: str, evaluate: Evaluate) -> None:
    """One message, and the exit code of a server that refuses."""
    header = {"X-API-Key": "wrong"} if name == "lightrag" else {"Authorization": "Bearer wrong"}
    with pytest.raises(EvalsError, match=r"the server refuses the login: HTTP 40[13]") as raised:
        evaluate(name, {"headers": header})
    assert raised.value.exit_code == 3


@pytest.mark.parametrize("name", ["lightrag", "lightrag-stream"])
def test_a_key_that_a_server_may_want_is_named_where_it_wants_one(
    name: str, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header and the variable, which may be unset: other servers of this kind want no key."""
    monkeypatch.delenv("LIGHTRAG_API_KEY")
    with pytest.raises(EvalsError, match="the server refuses the login: HTTP 403") as raised:
        evaluate(name)
    assert "export LIGHTRAG_API_KEY, or set server.headers" in (raised.value.hint or "")


@pytest.mark.parametrize("name", ["openwebui", "txtai"])
def test_documents_are_given_to_a_server_as_it_takes_them(
    name: str, tmp_path: Path, evals_cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the requests that follow an upload; a second time there is nothing to do."""
    for key, value in {"OPENWEBUI_COLLECTION": "c-1", "OPENWEBUI_API_KEY": documented.KEY}.items():
        monkeypatch.setenv(key, value)
    chunks = (*corpus.BACKUP, *corpus.WIND)
    folder = tmp_path / "documents"
    taken: dict[str, str] = {}
    folder.mkdir()
    for chunk in chunks:
        (folder / f"{chunk.number}-{chunk.document}").write_text(chunk.text)
    with loopback.serving(getattr(documented, f"filling_{name}")(taken)) as url:
        flags = ["--profile", name, "--rag-url", url, "--runs-dir", tmp_path / "runs", "--no-check", "--json"]
        said = [evals_cli("ingest", folder, *flags) for _ in range(2)]
    assert [one.code for one in said] == [0, 0], said[0].err
    assert [json.loads(one.out)["uploaded"] for one in said] == [len(chunks), 0]
    assert taken == {f"{chunk.number}-{chunk.document}": chunk.text for chunk in chunks}


@pytest.mark.parametrize("name", [*OTHERS, "rag-server"])
def test_a_built_in_profile_says_what_it_is_for_and_what_its_server_cannot_tell(name: str) -> None:
    """In one line and in a comment; it is a specification as it stands."""
    text = profile_text(name)
    assert text.startswith("about: ")
    comment = " ".join(line.partition("#")[2].strip() for line in text.splitlines() if line.startswith("#"))
    assert "annot tell" in comment
    assert load_profile(name).keys() <= resolve_spec({"profile": name}).model_dump().keys()


def test_what_can_be_measured_is_what_a_profile_looks_for() -> None:
    """A part that a server cannot tell is not promised."""
    told = {name: measurable(resolve_spec({"profile": name})) for name in [*OTHERS, "rag-server"]}
    assert told["elasticsearch"] == ["retrieval"]
    assert told["openai-chat"] == ["answers", "abstention", "citations", "cost"]
    assert told["lightrag"] == ["retrieval", "answers", "abstention", "citations", "ingestion"]
    assert told["openai-chat-stream"] == [*told["openai-chat"], "first token"]
    assert {name for name, parts in told.items() if "first token" in parts} == set(STREAMING)
    assert told["rag-server"][-2:] == ["stages", "ingestion"]
    assert {name for name, parts in told.items() if "cost" in parts} >= COUNTING
    assert {name for name, parts in told.items() if "citations" in parts} >= CITING
