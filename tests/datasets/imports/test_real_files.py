"""Files that the tools themselves wrote: what must come out of each was written down before they were read."""

import os
from pathlib import Path

import pytest
from whole_runs import read_answers

from evals.datasets.base import Draft
from evals.datasets.file import read_file

DATA = os.environ.get("EVALS_REAL_DATA")
HOME = Path(DATA or "") / "imports"
pytestmark = [
    pytest.mark.real_rows,
    pytest.mark.skipif(DATA is None, reason="EVALS_REAL_DATA names no folder of real rows"),
]

QUESTIONS = [
    "How long is the battery life of the Aster 2?",
    "Which ports does it have?",
    "What is the warranty period?",
    "Is it waterproof?",
    "What does the Ünderwater kit cost; and when?",
    "Who designed the case?",
]
EXPECTED = ["96 hours", "USB-C and a headphone jack", "24 months", "Yes, to 1.5 m for 30 minutes (IP68)", "€49,90"]
ANSWERED = ["It lasts 96 hours.", "USB-C and a headphone jack.", "Two years.", "Yes.", "€49,90 from May"]
GOLDS = [
    ["The Aster 2 runs for 96 hours on one charge.", "Charging takes 40 minutes."],
    ["Ports: one USB-C, one 3.5 mm headphone jack."],
    ["All Aster devices carry a warranty of 24 months."],
    ["IP68: 1.5 m for 30 minutes."],
    ["The Ünderwater kit costs €49,90, from May."],
    [],
]
SHEETS = ["excel.xlsx", "pandas.parquet", "excel-bom.csv", "excel-semicolon-cp1252.csv", "excel-tab-utf16.txt"]
RAGAS, DEEPEVAL = "response, retrieved_contexts", "actual_output, retrieval_context"
TOOLS = {f"ragas-0.4.3.{ending}": RAGAS for ending in ("jsonl", "csv")}
TOOLS |= {f"deepeval-4.3.1-goldens.{ending}": DEEPEVAL for ending in ("json", "jsonl", "csv")}


def asked(content: Draft) -> list[tuple[str, str | None]]:
    """The questions with their expected answers; those with an answer or gold are answerable."""
    for question in content.questions:
        has_gold = bool(question.expected_answer or question.gold_passages)
        assert question.is_unanswerable is (False if has_gold else None)
    return [(question.question, question.expected_answer) for question in content.questions]


def golds(content: Draft) -> list[list[str]]:
    return [[gold.text for gold in question.gold_passages] for question in content.questions]


@pytest.mark.parametrize("name", TOOLS)
def test_ragas_and_deepeval(name: str) -> None:
    """Six questions and golds, each with its answer and what was retrieved; empty columns are no metadata."""
    content, answers = read_file(HOME / name), read_answers(HOME / name)
    assert asked(content) == list(zip(QUESTIONS, [*EXPECTED, None], strict=True))
    assert golds(content) == GOLDS
    assert [question.metadata for question in content.questions] == [{}] * 6
    assert content.notes == [f"{name}: for `evals score`: {TOOLS[name]} (what a system answered)"]
    assert list(answers) == [question.id for question in content.questions]
    assert [answer.answer for answer in answers.values()] == [*ANSWERED, "I don't know."]
    chunks = [answer.chunks for answer in answers.values()]
    assert [each and [chunk.text for chunk in each] for each in chunks] == GOLDS


@pytest.mark.parametrize("name", SHEETS)
def test_sheets(name: str) -> None:
    """The same six, whatever the separator and the code page; where Source belongs only the user knows."""
    content = read_file(HOME / name)
    assert asked(content) == list(zip(QUESTIONS, [*EXPECTED, None], strict=True))
    sources = [question.metadata.get("Source") for question in content.questions]
    assert sources == [*(each[0] for each in GOLDS[:5]), None]
    assert "kept as metadata: Source" in content.notes[0]
    assert ("Windows-1252" in content.notes[0]) == ("cp1252" in name)
    said = read_file(HOME / name, {"gold_passages": "Source"})
    assert golds(said) == [each[:1] for each in GOLDS]


def test_mlflow() -> None:
    """The expected response is the reference, and expected facts are what it must draw on."""
    content = read_file(HOME / "mlflow-genai.jsonl")
    assert asked(content) == [(QUESTIONS[0], "96 hours"), (QUESTIONS[2], "24 months")]
    facts = [[key.text for key in question.key_sentences] for question in content.questions]
    assert facts == [["96 hours"], ["24 months"]]
