"""Files of labels, row by row."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evals.answers.files import LabelRow, read_labels

DATA = os.environ.get("EVALS_REAL_DATA")
ROW = {"question": "q", "answer": "a"}


def rows(tmp_path: Path, *written: Any) -> list[LabelRow]:
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(map(json.dumps, written)), encoding="utf-8")
    return read_labels(path)


@pytest.mark.parametrize(
    ("written", "label"),
    [
        (True, "yes"),
        (False, "no"),
        (1, 1.0),
        ("-2", -2.0),
        ("Partly correct", "partly_correct"),
        ("Cannot tell", "cannot_tell"),
        (None, None),
        ("N/A", None),
    ],
)
def test_a_label_is_a_word_or_a_number(tmp_path: Path, written: Any, label: Any) -> None:
    """However it is written; an empty cell is none."""
    (row,) = rows(tmp_path, {**ROW, "label": written})
    assert row.label == label


@pytest.mark.parametrize(
    ("written", "chunks"),
    [
        ({"contexts": ["one", {"text": "two"}, {"id": 3}]}, ("one", "two", "")),
        ({"documents": '["one", "two"]'}, ("one", "two")),
        ({"passages": "[guide § Tariffs] one"}, ("[guide § Tariffs] one",)),
        ({"chunks": "one"}, ("one",)),
        ({"chunks": [5]}, ("5",)),
        ({}, None),
        ({"chunks": []}, ()),
    ],
)
def test_passages_are_read_from_one_cell_or_several(tmp_path: Path, written: Any, chunks: Any) -> None:
    """A review sheet has them in one text."""
    (row,) = rows(tmp_path, {**ROW, "label": "yes", **written})
    assert row.chunks == chunks


def test_an_id_may_be_a_number_and_is_made_of_the_question_where_there_is_none(tmp_path: Path) -> None:
    """A spreadsheet keeps 7 as 7.0."""
    first, second, third = rows(tmp_path, {**ROW, "label": 1, "id": 7.0}, {**ROW, "label": 1}, {**ROW, "label": 0})
    assert "7" == first.id != second.id == third.id


@pytest.mark.real_rows
@pytest.mark.skipif(DATA is None, reason="EVALS_REAL_DATA names no folder of real rows")
@pytest.mark.parametrize(("config", "adherent"), [("delucionqa", 92), ("covidqa", 81), ("hotpotqa", 89)])
def test_rows_of_ragbench_are_read_as_they_are(config: str, adherent: int) -> None:
    """Each answer with its documents and its adherence."""
    found = read_labels(Path(DATA or "") / "hf" / "ragbench" / config / "test-00000-of-00001.parquet")
    assert len(found) == 100
    assert sum(row.label == "yes" for row in found) == adherent
    assert {row.metric for row in found} == {"faithfulness"}
    assert all(row.chunks and row.question and row.answer for row in found)
