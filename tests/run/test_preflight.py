"""Is the corpus on the server?"""

import asyncio
from typing import Any

import httpx
import pytest
import respx

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.errors import CorpusMissingError
from evals.run.preflight import PROBES, check_probes, choose_probes, corpus_listed
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, ResponseError, RetrievedChunk
from evals.scoring.settings import Cases, ScoreSettings

URL = "http://rag.test"
GOLD = "Daily snapshots are kept for thirty days and weekly ones for twelve weeks."


def _question(document: str | None = "guide", *, gold: bool = True) -> EvalQuestion:
    passages = [GoldPassage(text=GOLD, document_id=document)] if gold else []
    return EvalQuestion(question="How long?", gold_passages=passages)


def _listed(reply: httpx.Response, questions: list[EvalQuestion], **over: Any) -> bool:
    async def run() -> bool:
        async with RAGClient(resolve_spec({"url": URL, **over})) as client:
            return await corpus_listed(client, questions)

    with respx.mock(assert_all_called=False) as router:
        router.get(f"{URL}/documents").mock(return_value=reply)
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


def test_a_profile_without_a_list_concludes_nothing() -> None:
    """Nothing is requested."""
    assert _listed(_documents("guide.md"), [_question()], documents=None) is False


def _check(*chunks: list[str] | None, error: bool = False) -> None:
    failed = ResponseError(kind="connect", message="gone")
    responses = [
        EvalResponse(answer="a", chunks=None if texts is None else [RetrievedChunk(text=text) for text in texts])
        for texts in chunks
    ]
    probes = [(_question(), response) for response in responses]
    if error:
        probes.append((_question(), EvalResponse(error=failed)))
    check_probes(RAGClient(URL), probes, Cases(ScoreSettings()))


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
    said = sum(texts is not None for texts in chunks)
    with pytest.raises(CorpusMissingError, match=rf"corpus not found .*\b{said} questions"):
        _check(*chunks, error=True)


def test_chunks_without_text_point_to_the_mapping_not_to_the_corpus() -> None:
    """Uploading documents would not help."""
    probe = (_question(), EvalResponse(answer="a", chunks=[RetrievedChunk(chunk_id="c1")]))
    with pytest.raises(CorpusMissingError, match="carry no text") as caught:
        check_probes(RAGClient(URL), [probe], Cases(ScoreSettings()))
    assert "server.map.chunks" in (caught.value.hint or "")


def test_the_first_questions_with_gold_are_the_probes() -> None:
    """Those without gold can prove nothing."""
    questions = [_question(gold=i % 2 == 1) for i in range(50)]
    unlisted = RAGClient(resolve_spec({"url": URL, "documents": None}))
    assert asyncio.run(choose_probes(unlisted, questions)) == questions[1 : 2 * PROBES : 2]
    assert asyncio.run(choose_probes(unlisted, questions[:1])) == []
