"""Saved answers as they are read."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.datasets.answers import read_answers
from evals.errors import DatasetError


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_a_number_is_the_id_that_a_dataset_file_makes_of_it(tmp_path: Path) -> None:
    """A question may be called 7 there, so its answer may say 7 too, as number or as text."""
    path = write(tmp_path, {"question_id": 7, "answer": "a"}, {"question_id": "8", "answer": "b"})
    assert sorted(read_answers(path)) == ["7", "8"]


@pytest.mark.parametrize("question_id", [True, 1.5, None, "", []], ids=str)
def test_what_is_no_id_is_told_by_its_line(tmp_path: Path, question_id: object) -> None:
    """An answer that belongs to no question would count as missing."""
    with pytest.raises(DatasetError, match="line 1: `question_id` must be a text"):
        read_answers(write(tmp_path, {"question_id": question_id, "answer": "a"}))


def test_the_same_id_as_number_and_as_text_is_answered_twice(tmp_path: Path) -> None:
    """Both are the same question."""
    with pytest.raises(DatasetError, match=r"line 2: question '7' is answered at answers\.jsonl, line 1 already"):
        read_answers(write(tmp_path, {"question_id": 7, "answer": "a"}, {"question_id": "7", "answer": "b"}))


@pytest.mark.parametrize("line", ['{"question_id": "q1"}', '{"question_id": "q1", "answer": null, "latency_ms": 5}'])
def test_a_line_that_says_nothing_is_no_answer(tmp_path: Path, line: str) -> None:
    """It would count as answered; passages alone are something."""
    path = tmp_path / "answers.jsonl"
    path.write_text(line)
    with pytest.raises(DatasetError, match="line 1: there is neither `answer` nor `chunks` nor `error`"):
        read_answers(path)
    path.write_text('{"question_id": "q1", "chunks": []}')
    assert read_answers(path)["q1"].chunks == []
