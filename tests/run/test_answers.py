"""Saved answers as they are read."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from whole_runs import read_answers

from evals.datasets.file import read_file
from evals.errors import DatasetError


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_a_number_is_the_id_that_a_dataset_file_makes_of_it(tmp_path: Path) -> None:
    """A question may be called 7 there, so its answer may say 7 too, as number or as text."""
    ids = [{"question_id": 7}, {"id": "8"}, {"question_id": 1.5}, {"question_id": "q3", "id": "x"}]
    path = write(tmp_path, *({**each, "answer": "a"} for each in ids))
    assert list(read_answers(path)) == ["7", "8", "1.5", "q3"]
    questions = read_file(write(tmp_path, {"id": 1.5, "question": "Q?"})).questions
    assert [question.id for question in questions] == ["1.5"]


def test_answers_and_ids_of_chunks_may_be_numbers(tmp_path: Path) -> None:
    """Spreadsheets keep 96 as a number, and databases count their chunks."""
    row = {"question_id": "q1", "answer": 96.0, "chunks": [{"text": "x", "chunk_id": 7, "document_id": 3}]}
    response = read_answers(write(tmp_path, row))["q1"]
    assert response.answer == "96"
    assert [(chunk.chunk_id, chunk.document_id) for chunk in response.chunks or []] == [("7", "3")]


def test_a_conversation_is_answered_by_what_the_assistant_says_last(tmp_path: Path) -> None:
    """As a multi-turn sample of ragas has it: known by all that the user says."""
    said = [("human", "Is there a fee?"), ("ai", "Yes."), ("human", "How much?"), ("ai", "5 euros.")]
    path = write(tmp_path, {"user_input": [{"type": role, "content": text} for role, text in said]})
    (question,) = read_file(path).questions
    ((question_id, response),) = read_answers(path).items()
    assert (question_id, response.answer, response.turns) == (question.id, "5 euros.", [])


Q1, A = {"question_id": "q1"}, {"question_id": "q1", "answer": "A"}
NOT_FITTING = "retrieved_doc_ids holds 2 values for 3 passages: give one for each"
NO_TURNS = "turns: it is no list of what a user says"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question_id": None, "answer": "a"}, ": `question_id` must be a text"),
        ({"question_id": "", "answer": "a"}, ": `question_id` must be a text"),
        ({"question_id": [], "answer": "a"}, ": `question_id` must be a text"),
        (Q1, ": there is neither `answer` nor `chunks` nor `error`"),
        ({**Q1, "answer": None, "latency_ms": 5}, ": there is neither `answer` nor `chunks` nor `error`"),
        ({**Q1, "retrieved_docs": ["x", "y", "z"], "retrieved_doc_ids": ["a.md", "b.md"]}, f": {NOT_FITTING}"),
        ({**Q1, "retrieved_docs": [1.5], "retrieved_doc_ids": ["a.md"]}, ", chunks.0: must hold keys and values"),
        ({**Q1, "retrieved_docs": [["x"]], "retrieved_doc_ids": ["a.md"]}, ", chunks.0: must hold keys and values"),
        ({**Q1, "retrieved_docs": False, "retrieved_doc_ids": ["a.md"]}, ", chunks.0: must hold keys and values"),
        ({**A, "latency_ms": 1e308}, ", latency_ms: must be from 0 to 3.16224e+10, not 1e+308"),
        ({**A, "latency_ms": -1}, ", latency_ms: must be from 0 to 3.16224e+10, not -1"),
        ({**A, "waited_ms": 1e12}, ", waited_ms: must be from 0 to 3.16224e+10, not 1e+12"),
        ({**A, "usage": {"prompt_tokens": 10**30, "completion_tokens": 1}}, "prompt_tokens: must be from 0 to 1e+09"),
        *(({"question": "Q?", "answer": "A", "turns": turns}, f", {NO_TURNS}") for turns in (True, 3, "text", {}, [3])),
    ],
)
def test_what_is_wrong_with_an_answer_is_told_with_its_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    """No id, nothing that was answered, ids that are not as many as the passages, numbers and turns that are none."""
    with pytest.raises(DatasetError, match=rf"answers\.jsonl, line 1.*{re.escape(said)}"):
        read_answers(write(tmp_path, row))


TOOLS: list[tuple[str, dict[str, Any], str | None, list[str | None] | None]] = [
    ("ragas", {"user_input": "Q?", "response": "r", "retrieved_contexts": ["x"], "reference": "A"}, "r", ["x"]),
    ("ragas 0.1", {"question": "Q?", "answer": "r", "contexts": ["x"], "ground_truth": "A"}, "r", ["x"]),
    ("deepeval", {"input": "Q?", "actual_output": "r", "expected_output": "A", "retrieval_context": "x|y", "name": "n"},
     "r", ["x", "y"]),
    ("MLflow", {"inputs": {"question": "Q?"}, "outputs": {"response": "r"}, "expectations": {"expected_response": "A"}},
     "r", None),
    ("nothing found", {"user_input": "Q?", "response": "r", "retrieved_contexts": []}, "r", []),
    ("passages alone", {"id": "q1", "question": "Q?", "chunks": []}, None, []),
    ("predictions", {"id": "q1", "question": "Q?", "prediction": "r"}, "r", None),
    ("by hand", {"question": "Q?", "Generated answer": "r", "Retrieved chunks": ["x", {"text": "y"}]}, "r", ["x", "y"]),
    ("by hand, passages", {"id": 1, "prompt": "Q?", "rag_answer": "r", "retrieved_passages": '["x"]', "expected": "A"},
     "r", ["x"]),
    ("ids alone", {"user_input": "Q?", "response": "r", "retrieved_context_ids": ["c1"]}, "r", [None]),
]  # fmt: skip


def test_ids_of_what_was_retrieved_stand_in_columns_of_their_own(tmp_path: Path) -> None:
    """Of chunks and of documents, beside the texts or alone, in their order."""
    row = {"id": "q1", "retrieved_chunk_ids": ["c1", "c2"], "retrieved_doc_ids": ["a.md", "b.md"]}
    found = read_answers(write(tmp_path, row, {**row, "id": "q2", "retrieved_docs": ["x", "y"]}))
    alone, beside = found["q1"].chunks or [], found["q2"].chunks or []
    assert [(chunk.chunk_id, chunk.document_id) for chunk in alone] == [("c1", "a.md"), ("c2", "b.md")]
    assert [(chunk.text, chunk.chunk_id) for chunk in beside] == [("x", "c1"), ("y", "c2")]


@pytest.mark.parametrize(("row", "answer", "chunks"), [tool[1:] for tool in TOOLS], ids=[tool[0] for tool in TOOLS])
def test_what_a_system_answered_is_read_of_the_files_of_tools(
    tmp_path: Path, row: dict[str, Any], answer: str | None, chunks: list[str | None] | None
) -> None:
    """The same file serves as questions and as answers: both are known by the question."""
    path = write(tmp_path, row)
    (question,) = read_file(path).questions
    ((question_id, response),) = read_answers(path).items()
    assert question_id == question.id
    texts = None if response.chunks is None else [chunk.text for chunk in response.chunks]
    assert (response.answer, texts) == (answer, chunks)


@pytest.mark.parametrize("name", ["answers.csv", "answers.json"])
def test_saved_answers_may_be_a_table_or_a_list(tmp_path: Path, name: str) -> None:
    """Lists and objects are written in cells as JSON; an empty cell says nothing."""
    path = tmp_path / name
    rows = [
        {"id": "1", "answer": "a", "chunks": [{"text": "x", "document_id": "d"}, "y"], "latency_ms": 840},
        {"id": "2", "answer": "b", "chunks": None, "latency_ms": None},
    ]
    if name.endswith(".json"):
        path.write_text(json.dumps(rows))
    else:
        cells = [["id", "answer", "chunks", "latency_ms"], ["1", "a", json.dumps(rows[0]["chunks"]), "840"], ["2", "b"]]
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows(cells)
    first, second = read_answers(path).values()
    assert [(chunk.text, chunk.document_id) for chunk in first.chunks or []] == [("x", "d"), ("y", None)]
    assert (first.latency_ms, second.answer, second.chunks, second.latency_ms) == (840, "b", None, None)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", 'id,chunks\n1,"[""x"""\n', r"a\.csv, row 1 \(line 2\), chunks: not valid JSON"),
        ("a.csv", "id,lattency_ms\n1,5\n", r"a\.csv, row 1 \(line 2\): unknown field 'lattency_ms'"),
        ("a.json", "[5]", r"a\.json, entry 1: expected an object"),
        ("a.json", "[", r"a\.json: not valid JSON"),
        ("a.jsonl", '{"user_input": "Q?", "retrieved_contexts": "[\'x\'"}', "1, retrieved_contexts: not valid JSON"),
        ("a.jsonl", '{"inputs": "{\'x\'", "answer": "a"}', r"a\.jsonl, line 1: not valid JSON"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_told_by_its_row(tmp_path: Path, name: str, content: str, message: str) -> None:
    """As of a file of questions."""
    (tmp_path / name).write_text(content)
    with pytest.raises(DatasetError, match=message):
        read_answers(tmp_path / name)


def test_columns_of_the_questions_tell_which_question_is_answered(tmp_path: Path) -> None:
    """What is said of the dataset file holds for answers that were saved beside the questions."""
    path = write(tmp_path, {"Frage": "Q?", "nr": 7, "answer": "a"})
    assert list(read_answers(path, {"id": "nr", "question": "Frage"})) == ["7"]
    (question,) = read_file(path, {"question": "Frage"}).questions
    assert list(read_answers(write(tmp_path, {"Frage": "Q?", "answer": "a"}), {"question": "Frage"})) == [question.id]
