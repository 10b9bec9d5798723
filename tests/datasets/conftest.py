"""Small rows with the hub's exact columns, written where a data directory or a clone has them."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from evals.datasets.base import Draft
from evals.datasets.file import read_file

Row = dict[str, Any]

SQUAD = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("context", pa.string()),
        ("question", pa.string()),
        ("answers", pa.struct([("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))])),
    ]
)
HOTPOT = pa.schema(
    [
        ("id", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("type", pa.string()),
        ("level", pa.string()),
        ("supporting_facts", pa.struct([("title", pa.list_(pa.string())), ("sent_id", pa.list_(pa.int32()))])),
        ("context", pa.struct([("title", pa.list_(pa.string())), ("sentences", pa.list_(pa.list_(pa.string())))])),
    ]
)
TEXT, TEXTS = pa.string(), pa.list_(pa.string())
RAGBENCH = pa.schema(
    [
        ("id", TEXT),
        ("question", TEXT),
        ("documents", TEXTS),
        ("response", TEXT),
        ("generation_model_name", TEXT),
        ("documents_sentences", pa.list_(pa.list_(TEXTS))),
        ("unsupported_response_sentence_keys", TEXTS),
        ("adherence_score", pa.bool_()),
        ("all_relevant_sentence_keys", TEXTS),
        ("all_utilized_sentence_keys", TEXTS),
    ]
)
QASPER_ANSWER = pa.struct(
    [
        ("unanswerable", pa.bool_()),
        ("extractive_spans", TEXTS),
        ("yes_no", pa.bool_()),
        ("free_form_answer", TEXT),
        ("evidence", TEXTS),
        ("highlighted_evidence", TEXTS),
    ]
)
QASPER = pa.schema(
    [
        ("id", TEXT),
        ("title", TEXT),
        ("abstract", TEXT),
        ("full_text", pa.struct([("section_name", TEXTS), ("paragraphs", pa.list_(TEXTS))])),
        (
            "qas",
            pa.struct(
                [
                    ("question", TEXTS),
                    ("question_id", TEXTS),
                    ("answers", pa.list_(pa.struct([("answer", pa.list_(QASPER_ANSWER))]))),
                ]
            ),
        ),
    ]
)
MSMARCO = pa.schema(
    [
        ("answers", TEXTS),
        ("passages", pa.struct([("is_selected", pa.list_(pa.int32())), ("passage_text", TEXTS), ("url", TEXTS)])),
        ("query", TEXT),
        ("query_id", pa.int32()),
        ("query_type", TEXT),
        ("wellFormedAnswers", TEXTS),
    ]
)
SCHEMAS = {"squad_v2": SQUAD, "hotpotqa": HOTPOT, "ragbench": RAGBENCH, "qasper": QASPER, "msmarco": MSMARCO}
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
def hotpot_row() -> Callable[..., Row]:
    """A row of HotpotQA with two paragraphs, of which the sentences keep a leading blank as on the hub."""

    def make(row_id: str, facts: Sequence[tuple[str, int]], **changes: Any) -> Row:
        row = {
            "id": row_id,
            "question": "Which came first? ",
            "answer": "Arthur's Magazine",
            "type": "comparison",
            "level": "hard",
            "supporting_facts": {"title": [t for t, _ in facts], "sent_id": [n for _, n in facts]},
            "context": {
                "title": ["Arthur's Magazine", "First for Women"],
                "sentences": [["It began in 1844.", " It ended in 1846."], ["It began in 1989. ", " It goes on."]],
            },
        }
        return {**row, **changes}

    return make


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Write rows of a dataset as a file of a data directory; returns the directory."""

    def write(
        name: str, rows: Sequence[Row], file: str = "validation-00000-of-00001.parquet", config: str = ""
    ) -> Path:
        folder = tmp_path / "data" / name / (config or CONFIGS[name])
        folder.mkdir(parents=True, exist_ok=True)
        if file.endswith(".jsonl"):
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / file).write_text(lines, encoding="utf-8")
        else:
            pq.write_table(pa.Table.from_pylist(list(rows), schema=SCHEMAS[name]), folder / file)
        return tmp_path / "data"

    return write


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
