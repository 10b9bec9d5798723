"""Is the corpus on the server?"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.config import EvalConfig
from evals.errors import CorpusMissingError, ServerRefusedError
from evals.run.corpus import (
    PROBES,
    check_kind,
    check_probes,
    choose_probes,
    survey_corpus,
)
from evals.run.observer import Observer
from evals.runner import EvaluationRunner
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, ResponseError, RetrievedChunk
from evals.scoring.settings import ScoreSettings
from evals.text.numbers import counted

URL = "http://rag.test"
GOLD = "Daily snapshots are kept for thirty days and weekly ones for twelve weeks."


def _question(document: str | None = "guide", *, gold: bool = True) -> EvalQuestion:
    passages = [GoldPassage(text=GOLD, document_id=document)] if gold else []
    return EvalQuestion(question="How long?", gold_passages=passages)


def _listed(reply: httpx.Response, questions: list[EvalQuestion], **over: Any) -> bool:
    async def run() -> bool:
        async with RAGClient(
            resolve_spec({"url": URL, **over}), transport=httpx.MockTransport(lambda _: reply)
        ) as client:
            return not choose_probes(client, await survey_corpus(client, questions, Path()), questions)

    return asyncio.run(run())


def _documents(*names: str) -> httpx.Response:
    return httpx.Response(200, json={"documents": [{"id": f"id-{name}", "file_name": name} for name in names]})


@pytest.mark.parametrize(
    ("names", "document", "expected"),
    [
        (["guide.md", "other.md"], "guide", True),
        (["Guide.TXT"], "guide.md", True),
        (["folder/guide.pdf"], "guide", True),
        (["guide.md"], "id-guide.md", True),
        (["other.md"], "guide", False),
        (["guide.md"], None, False),
    ],
)
def test_the_list_tells_where_it_holds_a_gold_document(names: list[str], document: str | None, expected: bool) -> None:
    """By name without folder and ending, or by id; other names tell nothing."""
    assert _listed(_documents(*names), [_question(gold=False), _question(document)]) is expected


def test_a_server_without_documents_is_known_at_once() -> None:
    """The message names the URL, the hint both ways out."""
    with pytest.raises(CorpusMissingError, match=f"{URL} holds no documents") as raised:
        _listed(_documents(), [_question()])
    for way in ("--ingest", "--no-preflight"):
        assert way in (raised.value.hint or "")
    assert raised.value.exit_code == 2


@pytest.mark.parametrize("reply", [httpx.Response(404), httpx.Response(401), httpx.Response(200, text="<p>")])
def test_without_a_list_nothing_is_concluded(reply: httpx.Response) -> None:
    """No endpoint, no right, no JSON: the probes must tell."""
    assert _listed(reply, [_question()]) is False


def _check(*chunks: list[str] | None, error: bool = False) -> None:
    failed = ResponseError(kind="connect", message="gone")
    responses = [
        EvalResponse(answer="a", chunks=None if texts is None else [RetrievedChunk(text=text) for text in texts])
        for texts in chunks
    ]
    probes = [(_question(), response) for response in responses]
    if error:
        probes.append((_question(), EvalResponse(error=failed)))
    check_probes(RAGClient(URL), probes, ScoreSettings())


@pytest.mark.parametrize(
    "chunks",
    [
        [[f"Before. {GOLD} After."]],
        [["nothing of it here"], [GOLD]],
        [[], None, ["something else", GOLD]],
    ],
)
def test_one_gold_passage_found_is_enough(chunks: list[list[str] | None]) -> None:
    """A poor retriever is no missing corpus."""
    _check(*chunks)


@pytest.mark.parametrize("chunks", [[], [None], [None, None]])
def test_without_chunks_nothing_is_concluded_from_probes(chunks: list[list[str] | None]) -> None:
    """Failures and servers that send no chunks tell nothing."""
    _check(*chunks, error=True)


@pytest.mark.parametrize("chunks", [[[]], [["an unrelated text about ships and harbours"], []], [["x"], None]])
def test_chunks_without_any_gold_mean_that_the_corpus_is_missing(chunks: list[list[str] | None]) -> None:
    """The message counts the questions that say so."""
    said = counted(sum(texts is not None for texts in chunks), "question")
    with pytest.raises(CorpusMissingError, match=rf"corpus not found .*\b{said} retrieved"):
        _check(*chunks, error=True)


def _own(*responses: EvalResponse) -> None:
    golds = [GoldPassage(text=GOLD)]
    probes = [(EvalQuestion(question=f"How long, {n}?", gold_passages=golds), one) for n, one in enumerate(responses)]
    check_probes(RAGClient(URL), probes, ScoreSettings(), own_file=True)


MISS = EvalResponse(answer="a", chunks=[RetrievedChunk(text="an unrelated text about ships")])


def test_what_a_few_questions_of_ones_own_miss_is_a_miss() -> None:
    """Whoever writes nine questions about his documents gets a recall of 0, and a gate that fails."""
    failed = EvalResponse(error=ResponseError(kind="connect", message="gone"))
    _own(MISS)
    _own(MISS, MISS, failed)
    _own(EvalResponse(answer="a", chunks=[]))
    _own(*[MISS] * (PROBES - 1), failed)
    with pytest.raises(CorpusMissingError, match="10 questions retrieved no gold"):
        _own(*[MISS] * PROBES)


@pytest.mark.parametrize("chunk", [RetrievedChunk(), RetrievedChunk(chunk_id="c-1"), RetrievedChunk(document_id="d")])
def test_chunks_that_cannot_be_recognised_are_none_however_few_ask(chunk: RetrievedChunk) -> None:
    """A recall of 0 would be the mapping's."""
    with pytest.raises(CorpusMissingError, match="carry no text"):
        _own(EvalResponse(answer="a", chunks=[chunk]))


def test_chunks_without_text_point_to_the_mapping_not_to_the_corpus() -> None:
    """Uploading documents would not help."""
    probe = (_question(), EvalResponse(answer="a", chunks=[RetrievedChunk(chunk_id="c1")]))
    with pytest.raises(CorpusMissingError, match="carry no text") as caught:
        check_probes(RAGClient(URL), [probe], ScoreSettings())
    assert "server.map.chunks" in (caught.value.hint or "")


def _failed(status: int | None, kind: str = "status", message: str = "HTTP") -> EvalResponse:
    return EvalResponse(error=ResponseError.model_validate({"kind": kind, "status": status, "message": message}))


def _check_kind(first: EvalResponse, second: EvalResponse, *others: str) -> list[str]:
    """The questions that are asked once the first one was."""
    client, asked = RAGClient(URL), list[str]()

    async def ask(question: str) -> EvalResponse:
        asked.append(question)
        return second

    client.ask = ask  # type: ignore[method-assign]
    questions = [EvalQuestion(id=str(n), question=one) for n, one in enumerate(("Why?", *(others or ("Why?", "How?"))))]
    asyncio.run(check_kind(client, questions[0], first, questions))
    return asked


@pytest.mark.parametrize(
    "response",
    [_failed(200, "malformed", "the body has no text at `answer`"), _failed(404), _failed(405), _failed(422)],
)
def test_two_questions_that_fail_alike_for_good_are_of_another_kind_of_server(response: EvalResponse) -> None:
    """The error names the server, what it was asked and said, and the ways out; the exit code is that of a server."""
    with pytest.raises(ServerRefusedError) as raised:
        _check_kind(response, response)
    problem = raised.value
    assert problem.exit_code == 3
    assert response.error is not None
    for said in (URL, "'rag-server'", "POST /query", response.error.message):
        assert said in problem.message
    for way in ("server.ask", "--rag-url", "docs/profiles.md", "--profile"):
        assert way in (problem.hint or "")


@pytest.mark.parametrize(
    "response",
    [
        EvalResponse(answer="a"),
        _failed(None, "timeout"),
        _failed(None, "connect"),
        _failed(500),
        _failed(429),
        _failed(401),
        _failed(200, "not_ok"),
        _failed(200, "too_large"),
    ],
)
def test_what_waiting_may_mend_or_another_rule_ends_is_no_other_kind_of_server(response: EvalResponse) -> None:
    """Answers, passing failures, a refused login, and what one question alone may bring."""
    assert _check_kind(response, response) == []


@pytest.mark.parametrize("second", [EvalResponse(answer="a"), _failed(422), _failed(500), _failed(200, "malformed")])
def test_one_question_that_fails_shows_nothing(second: EvalResponse) -> None:
    """The second must be another one, and fail in the same way."""
    assert _check_kind(_failed(404), second) == ["How?"]
    assert _check_kind(_failed(404), _failed(404), "Why?") == []


@pytest.mark.parametrize(
    ("names", "documents", "missing"),
    [
        (["guide.md", "other.md"], ["guide", "Other.txt"], []),
        (["guide.md"], ["guide", "annex", "guide", "index"], ["annex", "index"]),
        (["guide.md", "2b41f0aa-annex.md"], ["guide", "annex"], []),
        (["x17.md"], ["guide", "annex"], None),
        (["guide.md"], [], None),
        (None, ["guide"], None),
    ],
    ids=["all there", "two missing", "renamed", "other names", "no names", "no list"],
)
def test_what_the_list_lacks_is_known_where_names_are_comparable(
    names: list[str] | None, documents: list[str], missing: list[str] | None
) -> None:
    """One gold document that is listed by its name shows that the others would be too."""
    transport = httpx.MockTransport(lambda _: httpx.Response(401) if names is None else _documents(*names))

    async def run() -> list[str] | None:
        async with RAGClient(resolve_spec({"url": URL}), transport=transport) as client:
            return (await survey_corpus(client, [_question(name) for name in documents], Path())).missing

    assert asyncio.run(run()) == missing


@pytest.mark.parametrize("told", [{}, {"preflight": False}, {"shard": "2/2"}])
def test_documents_are_known_by_the_servers_ids_whether_they_are_checked_or_not(
    told: dict[str, Any], golden_server: str, tmp_path: Path
) -> None:
    """Else a chunk that says an id alone would be of an unknown document, in all shards but the first."""

    async def known() -> tuple[dict[str, str], bool]:
        config = EvalConfig.build(
            {"server": {"url": golden_server}, "datasets": "golden", "judge": False, "warmup": 0},
            {"samples_per_dataset": 20, "runs_dir": tmp_path, **told},
        )
        runner = EvaluationRunner(config, Observer())
        async with AsyncExitStack() as stack:
            server, workload = await runner.connect(stack), await runner.load()
            await runner.survey(server, workload)
            return dict(server.client.reader.document_names), server.corpus.missing is not None

    names, is_checked = asyncio.run(known())
    assert names
    assert is_checked is (told == {})
