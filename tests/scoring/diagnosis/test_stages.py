"""Where a gold was lost between the stages of a retrieval."""

from typing import Any

import pytest
from whole_runs import recall_by_stage

from evals.client.mapping import ResponseReader
from evals.client.profile import resolve_spec
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, RetrievedChunk
from evals.scoring.diagnosis import diagnose
from evals.scoring.diagnosis.stages import Link, RunFacts, library_of, stages_of
from evals.scoring.settings import ScoreSettings, ScoringContext

GOLD = "The notice period of the lease is ninety days to the end of any quarter of the year."
OTHER = "Dogs may be kept where the neighbours agree to that in writing before they move in."


def record(stages: list[Any] | None, sent: tuple[str, ...] = ("o",), **parts: Any) -> EvalRecord:
    """A wrong answer to a question with one gold; chunk g holds it, chunk o does not."""
    chunks = [RetrievedChunk(chunk_id=name, text=GOLD if name == "g" else OTHER) for name in sent]
    question = {"id": "q", "question": "How long is the notice period?", "expected_answer": "ninety days"}
    return EvalRecord(
        question=EvalQuestion(**{**question, **parts}, gold_passages=[GoldPassage(text=GOLD)]),
        response=EvalResponse(answer="It is thirty days.", chunks=chunks, stages=stages),
    )


def explained(one: EvalRecord, *others: EvalRecord) -> str:
    facts = RunFacts(library=library_of([one, *others]))
    (finding,) = diagnose([one], ScoringContext(ScoreSettings()), facts)
    assert finding.link is Link.NOT_RETRIEVED
    return finding.explanation.removeprefix("the reference passage is not among 1 chunk")


KNOWN = record(None, ("g",), id="other")
"""Another answer of the run, whose chunk g tells what that id stands for."""
BM25 = {"name": "bm25", "items": [{"chunk_id": "o"}, {"chunk_id": "g"}]}
RERANK = {"name": "rerank", "items": [{"chunk_id": "o"}]}


@pytest.mark.parametrize(
    ("stages", "lost"),
    [
        ([BM25, RERANK], "; at rank 2 of stage bm25, lost in stage rerank"),
        ([[OTHER, GOLD], [OTHER]], "; at rank 2 of stage 1, lost in stage 2"),
        ([RERANK, BM25], "; at rank 2 of stage bm25, not sent on"),
        ([RERANK], "; found by no stage"),
        ([{"name": "bm25", "items": [{"chunk_id": "x"}]}], ""),
        ([{"name": "bm25", "items": None, "duration_ms": 3}], ""),
        (None, ""),
    ],
    ids=["ids", "texts", "after all stages", "never", "unknown id", "times only", "no stages"],
)
def test_the_stage_that_lost_the_gold_is_named(stages: list[Any] | None, lost: str) -> None:
    """By ids that other answers of the run know, or by texts; where an id is unknown, nothing is said."""
    assert explained(record(stages), KNOWN) == lost


def test_the_recall_at_each_stage_is_over_the_questions_that_list_it() -> None:
    """In the order of the stages; what is unsure makes it a lower bound."""
    unknown = {"name": "bm25", "items": [{"chunk_id": "x"}]}
    records = [record([BM25, RERANK], id="a"), record([unknown, RERANK], id="b"), KNOWN, record([BM25], id="c")]
    found = recall_by_stage(records, ScoringContext(ScoreSettings()))
    assert [(stage.name, stage.questions, stage.unsure) for stage in found] == [("bm25", 3, 1), ("rerank", 2, 0)]
    assert [stage.recall for stage in found] == pytest.approx([2 / 3, 0])


def test_an_id_of_several_texts_stands_for_none() -> None:
    """Many servers count from 0 in each document."""
    first, second = record(None, ("g",)), record(None)
    twice = second.model_copy(update={"response": EvalResponse(chunks=[RetrievedChunk(chunk_id="g", text=OTHER)])})
    assert set(library_of([first])) == {"g"}
    assert library_of([first, twice]) == {}


def test_golds_that_are_known_by_their_document_are_found_by_plain_ids() -> None:
    """Relevance judgements name documents, and so do the stages."""
    one = record([{"stage": "dense", "ids": ["d7", "d9"]}])
    asked = one.question.model_copy(update={"gold_passages": [GoldPassage(document_id="d9")]})
    (stage,) = recall_by_stage([one.model_copy(update={"question": asked})], ScoringContext(ScoreSettings()))
    assert (stage.name, stage.recall, stage.unsure) == ("dense", 1.0, 0)


def test_lists_by_the_names_of_their_stages_are_read_too() -> None:
    """What `map.stages` finds may be an object of lists."""
    spec = resolve_spec({"url": "http://h", "map": {"answer": "answer", "stages": "trace"}})
    read = ResponseReader(spec).read({"answer": "x", "trace": {"bm25": ["a", "b"], "rerank": ["b"]}})
    assert [(name, [chunk.chunk_id for chunk in chunks]) for name, chunks in stages_of(read["stages"])] == [
        ("bm25", ["a", "b"]),
        ("rerank", ["b"]),
    ]
