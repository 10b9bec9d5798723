"""Whatever stands in a row, it is read, or one message says what is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_runs import read_answers

from evals.datasets.columns import EITHER, QUESTION_COLUMNS, RESPONSE_COLUMNS
from evals.datasets.file import read_file
from evals.errors import DatasetError
from evals.schemas import EvalResponse

OTHERS = ["inputs", "outputs", "expectations", "vars", "assert", "__expected", "text", "title", "topic", "question_id"]
COLUMNS = sorted(
    {
        *(name for columns in (QUESTION_COLUMNS, RESPONSE_COLUMNS) for names in columns.values() for name in names),
        *EITHER,
        *OTHERS,
    }
)
FIELDS = sorted({*EvalResponse.model_fields, *COLUMNS})
TEXTS = st.sampled_from(
    ["a?", "", "n/a", "[", "['a' 'b']", '{"question": "b?"}', "unanswerable", "I do not know it.", "1"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(COLUMNS), inner, max_size=3)
)
SOME = settings(derandomize=True, max_examples=80)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows") / "rows.jsonl"


def read_or_told(path: Path, rows: Any, read: Callable[[Path], Any]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    try:
        content = read(path)
    except DatasetError as error:
        assert path.name in error.message  # noqa: PT017 - either outcome is right
    else:
        json.dumps(content, default=lambda record: record.model_dump(mode="json"), allow_nan=False)


@SOME
@given(st.lists(st.dictionaries(st.sampled_from(COLUMNS), VALUES, max_size=5) | VALUES, max_size=3))
def test_a_row_of_questions_is_read_or_told(path: Path, rows: list[Any]) -> None:
    """What comes out can be written to a run."""
    read_or_told(path, rows, lambda file: read_file(file).questions)


@SOME
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5) | VALUES, max_size=3))
def test_a_row_of_answers_is_read_or_told(path: Path, rows: list[Any]) -> None:
    """The same of saved answers."""
    read_or_told(path, rows, read_answers)
