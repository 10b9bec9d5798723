"""Question files as spreadsheets, Parquet, YAML, and in what a cell of each may hold."""

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from evals.datasets.base import Draft
from evals.datasets.file import read_file
from evals.errors import DatasetError

Read = Callable[..., Draft]
Spreadsheet = Callable[..., Path]


def test_a_spreadsheet_is_read_from_the_sheet_that_holds_questions(spreadsheet: Spreadsheet, tmp_path: Path) -> None:
    """Whatever stands before it; numbers come as a person wrote them, and empty cells say nothing."""
    sheets = {
        "About": [["Made for the audit"]],
        "Fragen": [
            [],
            ["ID", "Question", "Expected Answer", "is_unanswerable", "topic"],
            [1, "How many?", 96, None, "power"],
            [None, None, None, None, None],
            [2, "Is it new?", True, False, None],
            [3, "How much?", 49.9, None, "  "],
            [4, "Who?", "N/A", True, "design"],
        ],
    }
    content = read_file(spreadsheet(tmp_path / "q.xlsx", sheets))
    read = [(each.id, each.expected_answer, each.is_unanswerable, each.metadata) for each in content.questions]
    assert read == [
        ("1", "96", False, {"topic": "power"}),
        ("2", "Yes", False, {}),
        ("3", "49.9", False, {}),
        ("4", None, True, {"topic": "design"}),
    ]
    with pytest.raises(DatasetError, match=r"q.xlsx, row 4: id '1' stands at q.xlsx, row 3"):
        read_file(spreadsheet(tmp_path / "q.xlsx", {"Q": [[], ["id", "question"], [1, "a?"], [1, "b?"]]}))
    assert content.questions[1].answers == ["Yes", "true"]
    assert "read the sheet 'Fragen', not 'About'" in content.notes[0]


@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (0.125, "0%", "13%"),
        (0.125, "0.0 %", "12.5 %"),
        (1.005, "0%", "101%"),
        (0.05, "0.00%;[Red]-0.00%", "5.00%"),
        (-0.05, "[Blue]0%;-0%", "-5%"),
        (0.729166666666667, "h:mm", "17:30"),
        (0.729166666666667, "h:mm AM/PM", "5:30 PM"),
        (1.5, "[h]:mm", "36:00"),
        (45413, "dd\\.mm\\.yyyy", "01.05.2024"),
        (45413, "d. mmmm yyyy", "1. May 2024"),
        (45413.729166666666, "d/m/yy h:mm:ss", "1/5/24 17:30:00"),
        (96, "General", "96"),
        (49.9, "0.00", "49.90"),
        (1234, "#,##0", "1234"),
        (1234.5, "#,##0.00", "1234.50"),
        (7, "000", "007"),
        (-7, "000", "-007"),
    ],
)
def test_a_cell_is_what_it_shows(spreadsheet: Spreadsheet, tmp_path: Path, number: float, code: str, text: str) -> None:
    """Nobody answers 0.05 where the sheet says 5%; other numbers are written as a person would."""
    path = spreadsheet(tmp_path / "q.xlsx", {"Q": [["question", "expected_answer"], ["How much?", (number, code)]]})
    (question,) = read_file(path).questions
    assert question.expected_answer == text


def test_formulas_that_were_never_computed_are_told(tmp_path: Path) -> None:
    """A program that writes a sheet computes nothing; Excel keeps the value of each formula with it, also no text."""
    path = tmp_path / "q.xlsx"
    book = openpyxl.Workbook()
    for cells in (["question", "Expected Answer", "topic"], ["How many?", "=40+2", "power"], ["Who?", "=1", None]):
        book.active.append(cells)
    book.save(path)
    content = read_file(path)
    assert [question.expected_answer for question in content.questions] == [None, None]
    assert content.notes == [
        "q.xlsx: formulas without a value in Expected Answer: open the file in Excel and save it; "
        "kept as metadata: topic (`columns` names what is read otherwise)"
    ]
    with xlsxwriter.Workbook(tmp_path / "made.xlsx") as computed:
        sheet = computed.add_worksheet()
        sheet.write_row(0, 0, ["question", "answer", "comment"])
        sheet.write(1, 0, "How many?")
        sheet.write_formula(1, 1, "=40+2", None, 42)
        sheet.write_formula(1, 2, '=""', None, "")
    with ZipFile(tmp_path / "made.xlsx") as made, ZipFile(path, "w") as saved:
        for name in made.namelist():
            saved.writestr(name, made.read(name).replace(b'r="C2"', b'r="C2" t="str"'))  # as Excel writes an empty text
    content = read_file(path)
    assert (content.questions[0].expected_answer, content.notes) == ("42", [])


def test_a_missing_reader_is_named(spreadsheet: Spreadsheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra; a sheet can always be saved as CSV."""
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DatasetError, match="the package openpyxl is not installed") as caught:
        read_file(spreadsheet(tmp_path / "q.xlsx", {"Q": [["question"], ["a?"]]}))
    assert caught.value.hint == "pip install 'rag-evals[excel]', or save the sheet as CSV"


def test_parquet_is_read_with_its_lists_and_numbers(tmp_path: Path) -> None:
    """Missing numbers of a data frame are no answers, and whole ones have no decimals."""
    columns = {
        "question": ["How many?", "Which?", None],
        "ground_truth": [96.0, float("nan"), None],
        "reference_contexts": [["It has 96."], None, None],
        "day": [date(2024, 5, 1), None, None],
    }
    pq.write_table(pa.table(columns), tmp_path / "q.parquet")
    first, second = read_file(tmp_path / "q.parquet").questions
    assert (first.expected_answer, second.expected_answer) == ("96", None)
    assert [gold.text for gold in first.gold_passages] == ["It has 96."]
    assert (first.metadata, second.metadata) == ({"day": "2024-05-01"}, {})


def test_a_list_of_rows_may_be_yaml(read: Read) -> None:
    """A list of questions, or an object with them and documents, as in JSON."""
    content = "questions:\n- {question: How many, answer: 96}\n- question: Since?\n  answer: 2024-05-01\n"
    assert [each.expected_answer for each in read("q.yaml", content).questions] == ["96", "2024-05-01"]


@pytest.mark.parametrize(
    ("value", "expected", "answers"),
    [
        (96, "96", []),
        (1.5, "1.5", []),
        (True, "Yes", ["Yes", "true"]),
        (False, "No", ["No", "false"]),
        (["96 hours", "96 h", None], "96 hours", ["96 hours", "96 h"]),
        ([96], "96", []),
        ("[1, 2]", "[1, 2]", []),
        ('["96 h", 96]', "96 h", ["96 h", "96"]),
        ("[]", None, []),
        ("['96 hours', '96 h']", "96 hours", ["96 hours", "96 h"]),
        ("[sic]", "[sic]", []),
        (None, None, []),
        ("NULL", None, []),
        (float("nan"), None, []),
    ],
    ids=str,
)
def test_an_expected_answer_may_be_no_text(read: Read, value: Any, expected: str | None, answers: list[str]) -> None:
    """The first of a list is the reference, and all of them are accepted; what says nothing is no reference."""
    (question,) = read("q.json", [{"question": "How long?", "expected_answer": value}]).questions
    assert (question.expected_answer, question.answers) == (expected, answers)
    assert not question.is_unanswerable


@pytest.mark.parametrize(
    ("value", "golds"),
    [
        ("The battery lasts 96 hours.", [("The battery lasts 96 hours.", None, None)]),
        ("[1] The battery lasts.", [("[1] The battery lasts.", None, None)]),
        (["a", "b"], [("a", None, None), ("b", None, None)]),
        ('["a", "b"]', [("a", None, None), ("b", None, None)]),
        ({"document_id": "hr.md"}, [("", "hr.md", None)]),
        ([{"document_id": 7}, {"chunk_id": 12.0}], [("", "7", None), ("", None, "12")]),
        ([{"content": "a", "doc_uri": "hr.md"}], [("a", "hr.md", None)]),
        ([{"text": "a", "document_id": None}, "", None], [("a", None, None)]),
        ("", []),
        (None, []),
    ],
    ids=str,
)
def test_a_gold_passage_may_be_a_text_or_an_id(read: Read, value: Any, golds: list[tuple[Any, ...]]) -> None:
    """A person writes the passage into the cell; judgements know the document alone."""
    (question,) = read("q.jsonl", {"question": "How long?", "gold_passages": value}).questions
    assert [(gold.text, gold.document_id, gold.chunk_id) for gold in question.gold_passages] == golds


def test_ids_of_gold_may_stand_in_columns_of_their_own(read: Read) -> None:
    """One, or a list; a document may be that of all chunks."""
    columns = "question,gold_document_ids,gold_chunk_ids,gold_passages\n"
    first, second = read("q.csv", f'{columns}a?,hr.md,"[""c1"", ""c2""]",\nb?,"[""hr.md"", 7]",,\n').questions
    assert [(g.document_id, g.chunk_id) for g in first.gold_passages] == [("hr.md", "c1"), ("hr.md", "c2")]
    assert [(g.text, g.document_id) for g in second.gold_passages] == [("", "hr.md"), ("", "7")]


@pytest.mark.parametrize(
    ("passages", "documents", "golds"),
    [
        ("A.", "a.pdf", [("A.", "a.pdf")]),
        (["A.", "B."], "a.pdf", [("A.", "a.pdf"), ("B.", "a.pdf")]),
        (["A.", "B."], ["a.pdf", "b.pdf"], [("A.", "a.pdf"), ("B.", "b.pdf")]),
        ([{"text": "A.", "document_id": "x.pdf"}, "B."], "a.pdf", [("A.", "x.pdf"), ("B.", "a.pdf")]),
        ([], "a.pdf", [("", "a.pdf")]),
    ],
    ids=str,
)
def test_a_passage_and_its_document_in_two_columns_are_one_gold(
    read: Read, passages: Any, documents: Any, golds: list[tuple[str, str | None]]
) -> None:
    """As sheets have them; as two golds, any chunk of the document would count as the second."""
    row = {"question": "a?", "gold_passages": passages, "gold_document_ids": documents}
    (question,) = read("q.json", [row]).questions
    assert [(gold.text, gold.document_id) for gold in question.gold_passages] == golds


@pytest.mark.parametrize("column", [{"gold_chunk_ids": "c1"}, {"gold_document_ids": ["a.pdf", "b.pdf", "c.pdf"]}])
def test_ids_that_are_not_as_many_as_the_passages_are_told(read: Read, column: dict[str, Any]) -> None:
    """Which is whose cannot be known; a document alone may hold all of them, unlike a chunk."""
    row = {"question": "a?", "gold_passages": ["A.", "B."], **column}
    with pytest.raises(DatasetError, match=r"question 1: gold_\w+ holds \d values? for 2 passages: give one for each"):
        read("q.json", [row])


@pytest.mark.parametrize("cell", ["c1,c2", "c1; c2"])
def test_a_cell_that_may_be_one_id_or_several_is_refused(read: Read, cell: str) -> None:
    """Read as one, it would be a gold that no server can find."""
    with pytest.raises(DatasetError, match=r"column gold_chunk_ids: .* may be one id or several: write a JSON list"):
        read("q.csv", f'question,gold_chunk_ids\na?,"{cell}"\n')


def test_metadata_is_what_json_can_hold(read: Read) -> None:
    """A run is written with it; numbers that are none, broken characters and columns without a name are not."""
    row = '{"question": "a?", "": 1, "tags": [NaN, "\\ud800"], "metadata": {"score": NaN, "level": 2}}'
    (question,) = read("q.jsonl", row).questions
    assert question.metadata == {"tags": [None, "?"], "score": None, "level": 2}


def test_a_cell_may_be_as_long_as_its_passages(read: Read) -> None:
    """Ten chunks of a large context in one cell are more than Python's reader takes by itself."""
    content = read("q.csv", f"question,reference_contexts\na?,{'word ' * 40_000}\n")
    assert len(content.questions[0].gold_passages[0].text) == 200_000
