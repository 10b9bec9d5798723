"""Files for other tools: what they hold is read back by our own importers as the same questions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evals.scoring.conclusion import measured

from evals.datasets.file import read_file
from evals.export import export_files, export_run, write_export
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, GoldPassage, RetrievedChunk

Build = Callable[..., Any]
Found = tuple[EvalRun, list[EvalRecord]]
LONG = "The Aster 2 runs for 96 hours on one charge, and charging takes 40 minutes."


@pytest.fixture
def found(build_run: Build) -> Found:
    """A run of questions of many kinds: with accepted variants, not answerable, unanswered, not asked."""
    questions = [
        EvalQuestion(
            id="a b",
            question='How long, "in hours"?\nSay it.',
            dataset="aster",
            expected_answer="96 hours",
            answers=["96 hours", "four days"],
            gold_passages=[GoldPassage(text=LONG), GoldPassage(text="Ports: USB-C.")],
            is_unanswerable=False,
            metadata={"kind": "number", "page": 7},
        ),
        EvalQuestion(id="q2", question="Who designed it?", dataset="aster", is_unanswerable=True),
        EvalQuestion(
            id="q3",
            question="Ünderwater; and when?",
            dataset="aster",
            expected_answer="May, 1.5 m",
            answerable_by_gold=True,
        ),
    ]
    chunks = [RetrievedChunk(chunk_id="c1", text=LONG), RetrievedChunk(chunk_id="c2", text="Ports: USB-C.")]
    answered = EvalResponse(answer="It lasts 96 hours.", chunks=chunks)
    run, _ = build_run("a", {})
    return run, [
        EvalRecord(question=questions[0], response=answered),
        EvalRecord(question=questions[1], response=EvalResponse(answer="I don't know.", chunks=[])),
        EvalRecord(question=questions[2]),
    ]


def known(question: EvalQuestion) -> dict[str, Any]:
    """What a question says, with the texts of its golds."""
    golds = [gold.text for gold in question.gold_passages]
    return {**question.model_dump(exclude={"gold_passages"}), "golds": golds}


@pytest.mark.parametrize(
    ("form", "name", "lost"),
    [
        ("ragas", "x.ragas.jsonl", {}),
        ("deepeval", "x.deepeval.json", {}),
        ("deepeval-csv", "x.csv", {"answers": []}),
    ],
)
def test_a_dataset_is_read_back_as_the_same_questions(
    found: Found, form: str, name: str, lost: dict[str, Any], tmp_path: Path
) -> None:
    """With their ids, accepted answers, golds and metadata, but for the variants that a table has no column for."""
    write_export(tmp_path / name, export_run(*found, form), form)
    asked = [known(record.question) | lost for record in found[1]]
    assert [known(one) for one in read_file(tmp_path / name).questions] == asked


def test_a_bar_in_a_passage_does_not_part_it(found: Found, tmp_path: Path) -> None:
    """Deepeval's tables cannot escape one; another sign stands for it."""
    run, records = found
    golds = [GoldPassage(text="a | b, of 12")]
    question = records[0].question.model_copy(update={"gold_passages": golds})
    write_export(tmp_path / "x.csv", export_run(run, [EvalRecord(question=question)], "deepeval-csv"), "deepeval-csv")
    assert [gold.text for gold in read_file(tmp_path / "x.csv").questions[0].gold_passages] == ["a ¦ b, of 12"]


def test_ragas_gets_its_fields(found: Found) -> None:
    """Those of a `SingleTurnSample`, in each line."""
    first, second, third = map(json.loads, export_run(*found, "ragas").splitlines())
    assert first["retrieved_contexts"] == [LONG, "Ports: USB-C."]
    assert first["retrieved_context_ids"] == ["c1", "c2"]
    assert (first["response"], first["reference"]) == ("It lasts 96 hours.", "96 hours")
    assert second["retrieved_contexts"] == []
    assert (third["response"], third["retrieved_contexts"]) == (None, None)


def test_a_folder_of_beir_is_read_back_as_the_same_questions(found: Found, tmp_path: Path) -> None:
    """Those with gold; a passage is a document of the corpus, and the judgement names it."""
    run, records = found
    export_files(measured(run, records), "beir", tmp_path / "x.beir")
    (read,) = read_file(tmp_path / "x.beir").questions
    asked = records[0].question
    assert read.model_dump(exclude={"gold_passages"}) == asked.model_dump(exclude={"gold_passages"})
    corpus = [json.loads(line) for line in (tmp_path / "x.beir" / "corpus.jsonl").read_text().splitlines()]
    texts = {row["_id"]: row["text"] for row in corpus}
    assert [texts[gold.document_id or ""] for gold in read.gold_passages] == [LONG, "Ports: USB-C."]
    assert (tmp_path / "x.beir" / "qrels" / "test.tsv").read_text().startswith("query-id\tcorpus-id\tscore\na b\t")


def test_a_document_that_is_gold_by_its_id_stays_one_in_beir(build_run: Build, tmp_path: Path) -> None:
    """What was read in this layout is written as it was."""
    golds = [{"document_id": "d1", "relevance": 2}, {"document_id": "d2"}]
    run, records = build_run(
        "a", {"q1": {"mrr": 1.0}}, questions={"q1": {"gold_passages": golds, "answerable_by_gold": True}}
    )
    export_files(measured(run, records), "beir", tmp_path / "x.beir")
    assert list(read_file(tmp_path / "x.beir").questions) == [records[0].question]
