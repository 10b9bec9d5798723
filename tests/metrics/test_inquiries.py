"""In which order, and in how many calls, a judge is given the passages; what it says of blocks becomes one reply."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from evals.metrics.generation import Contradiction, Faithfulness
from evals.metrics.judge_tasks import (
    CONTEXT_RELEVANCE,
    FAITHFULNESS,
    numbered_contexts,
)
from evals.metrics.ragas import RagasContextPrecisionOrdered
from evals.metrics.sample import Sample
from evals.schemas import Citation, EvalQuestion, EvalResponse, JudgeVerdict, RetrievedChunk
from evals.schemas.verdicts import VerdictRequest


def case_of(texts: Sequence[str | None], question: str = "How long?", **replies: dict[str, Any]) -> Sample:
    chunks = [RetrievedChunk(text=text) for text in texts]
    verdicts = [JudgeVerdict(request=name, reply=reply) for name, reply in replies.items()]
    asked = EvalQuestion(id="q", dataset="d", question=question, expected_answer="Two hours.")
    return Sample(asked, EvalResponse(answer="It takes two hours.", chunks=chunks), verdicts, judged=True)


def texts_of(count: int) -> list[str]:
    return [f"Passage {n}." for n in range(1, count + 1)]


def test_passages_stand_in_an_order_that_the_rank_has_no_part_in() -> None:
    """A retriever that ranks otherwise has its passages judged in the same order, under the same numbers."""
    texts = texts_of(8)
    shown = numbered_contexts(case_of(texts))
    assert numbered_contexts(case_of(texts[::-1])) == shown
    assert [one["id"] for one in shown] == list(range(1, 9))
    assert [one["text"] for one in shown] != texts
    assert sorted(one["text"] for one in shown) == texts


def text_by_rank(request: VerdictRequest) -> dict[int, str]:
    """The passages of a request by the ranks that the map gives to their ids."""
    return {request.passages[one["id"] - 1]: one["text"] for one in request.data["contexts"]}


def test_a_request_keeps_the_rank_of_each_passage() -> None:
    """The map goes from the judge's ids to the ranks; a chunk without text has neither."""
    texts = ["One.", None, "Three.", "Four."]
    (request,) = FAITHFULNESS.requests(case_of(texts))
    assert text_by_rank(request) == {1: "One.", 3: "Three.", 4: "Four."}


@pytest.mark.parametrize(
    ("answer", "base", "citations", "told"),
    [
        ("Two [1]. Three [2, 3].", 1, [], "Two [{1}]. Three [{2}, {3}]."),
        ("All of it [1-3].", 1, [], "All of it [{1}, {2}, {3}]."),
        ("From zero [0].", 0, [], "From zero [{1}]."),
        ("A footnote [^2] and a source 【3†a.pdf】.", 1, [], "A footnote [{2}] and a source [{3}]."),
        ("By the list [1].", 1, [Citation(index=1, chunk_id="c3")], "By the list [{3}]."),
        ("Nothing there [4], in 1998 [1998].", 1, [Citation(index=4)], "Nothing there, in 1998 [1998]."),
    ],
)
def test_citation_marks_name_passages_by_the_ids_that_the_judge_sees(
    answer: str, base: int, citations: list[Citation], told: str
) -> None:
    """A mark of which no passage is there is left out: another passage has its number now."""
    chunks = [RetrievedChunk(text=text, chunk_id=f"c{n}") for n, text in enumerate(texts_of(3), start=1)]
    response = EvalResponse(answer=answer, chunks=chunks, citations=citations)
    case = Sample(EvalQuestion(id="q", dataset="d", question="How long?"), response, judged=True, citation_base=base)
    (request,) = FAITHFULNESS.requests(case)
    ids = {rank: place for place, rank in enumerate(request.passages, start=1)}
    assert ids != {1: 1, 2: 2, 3: 3}
    assert request.data["answer"] == re.sub(r"\{(\d)\}", lambda found: str(ids[int(found[1])]), told)


def test_replies_are_read_by_ranks() -> None:
    """What a verdict says of passages is told of the ranks that its map gives; one without a map names ranks."""
    texts = texts_of(4)
    (request,) = CONTEXT_RELEVANCE.requests(case_of(texts))
    said = [{"id": n, "verdict": "relevant" if request.passages[n - 1] == 2 else "irrelevant"} for n in (1, 2, 3, 4)]
    for verdict in (
        JudgeVerdict(request="context_relevance", reply={"contexts": said}, passages=request.passages),
        JudgeVerdict(
            request="context_relevance",
            reply={"contexts": [{"id": n, "verdict": "relevant" if n == 2 else "irrelevant"} for n in (1, 2, 3, 4)]},
        ),
    ):
        case = case_of(texts)
        case.verdicts = [verdict]
        assert RagasContextPrecisionOrdered().score(case).value == 50.0


def test_the_first_rank_stands_first_no_more_often_than_by_chance() -> None:
    """Over questions; else a judge's liking for what stands first would be a merit of the retriever."""
    first = [case_of(texts_of(5), f"Question {n}?").passages[0][0] for n in range(400)]
    assert all(50 < first.count(rank) < 115 for rank in range(1, 6))


@pytest.mark.parametrize(
    ("verdicts", "faithful", "contradicted"),
    [
        (["supported", "contradicted", "not_said", "cannot_tell"], 1 / 3, 1 / 3),
        (["not_said"], 0.0, 0.0),
        (["cannot_tell"], None, None),
        ([], None, None),
    ],
)
def test_what_is_contradicted_is_told_apart_from_what_is_not_said(
    verdicts: list[str], faithful: float | None, contradicted: float | None
) -> None:
    """Both metrics read the same reply, so that one call serves both; claims of which nobody can tell do not count."""
    claims = [{"claim": f"{verdict}.", "verdict": verdict} for verdict in verdicts]
    case = case_of(["One."], faithfulness={"claims": claims})
    grounded, denied = Faithfulness().score(case), Contradiction().score(case)
    assert (grounded.value, denied.value) == (pytest.approx(faithful), pytest.approx(contradicted))
    if contradicted:
        assert grounded.details["contradicted"] == denied.details["contradicted"] == ["contradicted."]
        assert grounded.details["unsupported"] == ["contradicted.", "not_said."]
    assert [one.name for one in Contradiction().requests(case_of(["One."]))] == ["faithfulness"]
