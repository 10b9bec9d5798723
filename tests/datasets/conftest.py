"""Small rows with the hub's exact columns, written where a data directory or a clone has them."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"

    codes: dict[str, int] = {}

    def cell(value: object, place: str) -> str:
        if value is None:
            return ""
        if isinstance(value, tuple):
            return f'<c r="{place}" s="{codes.setdefault(value[1], len(codes) + 1)}"><v>{value[0]}</v></c>'
        if isinstance(value, bool):
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            return f'<c r="{place}"><v>{value}</v></c>'
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'

    def sheet(rows: Sequence[Sequence[object]]) -> str:
        lines = (
            f'<row r="{number}">{"".join(cell(v, f"{chr(65 + at)}{number}") for at, v in enumerate(row))}</row>'
            for number, row in enumerate(rows, start=1)
        )
        return f'<worksheet xmlns="{namespace}"><sheetData>{"".join(lines)}</sheetData></worksheet>'

    def write(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
        numbered = list(enumerate(sheets, start=1))
        listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in numbered)
        links = "".join(
            f'<Relationship Id="rId{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n, _ in numbered
        )
        book = f'<Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        with ZipFile(path, "w") as file:
            file.writestr("_rels/.rels", f'<Relationships xmlns="{package}/relationships">{book}</Relationships>')
            file.writestr(
                "xl/workbook.xml",
                f'<workbook xmlns="{namespace}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
            )
            file.writestr(
                "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships">{links}</Relationships>'
            )
            for n, name in numbered:
                file.writestr(f"xl/worksheets/sheet{n}.xml", sheet(sheets[name]))
            formats = "".join(f'<numFmt numFmtId="{163 + n}" formatCode="{escape(c)}"/>' for c, n in codes.items())
            styles = "".join(f'<xf numFmtId="{163 + n}"/>' for n in codes.values())
            file.writestr(
                "xl/styles.xml",
                f'<styleSheet xmlns="{namespace}"><numFmts>{formats}</numFmts>'
                f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>',
            )
        return path

    return write
