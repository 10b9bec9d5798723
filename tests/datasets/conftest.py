"""Small rows with the hub's exact columns, written where a data directory or a clone has them."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from evals.datasets.base import Draft, LoadOptions
from evals.datasets.file import read_file
from evals.datasets.registry import get_loader
from evals.schemas import EvalDataset

Row = dict[str, Any]

CONFIGS = {"squad_v2": "squad_v2", "hotpotqa": "distractor", "qasper": "qasper", "msmarco": "v2.1"}


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Draft]:
    """Read a file of this name: of a text, of bytes, or of rows as JSON; keywords are columns that are named."""

    def file(name: str, content: Any, **columns: str) -> Draft:
        path = tmp_path / name
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_file(path, columns)

    return file


@pytest.fixture
def squad_row() -> Callable[..., Row]:
    """A row of SQuAD v2; its answers are given as texts."""

    def make(row_id: str, *answers: str, title: str = "New_York", context: str = "Kings rule. Queens too.") -> Row:
        starts = [max(0, context.find(answer)) for answer in answers]
        return {
            "id": row_id,
            "title": title,
            "context": context,
            "question": f" Who rules {row_id}? ",
            "answers": {"text": list(answers), "answer_start": starts},
        }

    return make


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Write rows of a dataset as a Parquet file of a data directory; returns the directory."""

    def write(name: str, rows: Sequence[Row], file: str = "validation-0.parquet", config: str = "") -> Path:
        folder = tmp_path / "data" / name / (config or CONFIGS[name])
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(list(rows)), folder / file)
        return tmp_path / "data"

    return write


@pytest.fixture
def load(request: pytest.FixtureRequest, put: Callable[..., Path]) -> Callable[..., EvalDataset]:
    """Load rows of the dataset of the module, its `DATASET`, in a data directory; spans cut out their golds."""
    name = request.module.DATASET

    def read(*rows: Row, **options: Any) -> EvalDataset:
        dataset = get_loader(name).load(LoadOptions(data_dir=put(name, rows), **options))
        texts = {document.id: document.text for document in dataset.documents}
        for gold in chain.from_iterable(question.gold_passages for question in dataset.questions):
            assert texts[gold.document_id or ""][slice(*gold.span or ())] == gold.text
        return dataset

    return read


@pytest.fixture(scope="session")
def spreadsheet() -> Callable[[Path, Mapping[str, Sequence[Sequence[object]]]], Path]:
    """Write an .xlsx file with the sheets given, each a list of rows.

    None is a cell that is not there, a pair is a number with the code of its format.
    """

    def write(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
        with xlsxwriter.Workbook(path) as book:
            for name, rows in sheets.items():
                sheet = book.add_worksheet(name)
                for (row, cells), column in ((pair, at) for pair in enumerate(rows) for at in range(len(pair[1]))):
                    value = cells[column]
                    number, code = value if isinstance(value, tuple) else (value, None)
                    sheet.write(row, column, number, book.add_format({"num_format": code}) if code else None)
        return path

    return write
