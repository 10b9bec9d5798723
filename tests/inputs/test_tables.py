"""Tables as text: encodings, separators, headers."""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.datasets.tables import as_list, csv_rows, is_nothing
from evals.errors import DatasetError
from evals.text.decoding import read_text, text_lines

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\x1c\x1d\x1e\x85\u2028\u2029"), max_size=12)
TABLES = st.lists(st.tuples(CELLS.filter(str.strip), CELLS), min_size=1, max_size=5)


def known(title: str) -> bool:
    return title in {"question", "answer"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables") / "q.csv"


@settings(derandomize=True, max_examples=150)
@given(TABLES, st.sampled_from(",;\t|"), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_a_table_is_read_whatever_separates_and_encodes_it(
    path: Path, table: list[tuple[str, str]], sign: str, encoding: str
) -> None:
    """Separators within cells are cells, wherever they stand."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sign).writerows([("question", "answer"), *table])
    path.write_bytes(text.getvalue().encode(encoding))
    rows = csv_rows("q.csv", read_text(path)[0], known)
    assert [tuple(row.values()) for _, row in rows] == table


@pytest.mark.parametrize(
    ("header", "sign", "titles"),
    [
        ("question", ",", ["question"]),
        ("question;note, on the question", ";", ["question", "note, on the question"]),
        ("question,note; on the question", ",", ["question", "note; on the question"]),
        ("Frage\tAntwort", "\t", ["Frage", "Antwort"]),
        ('"question";"answer"', ";", ["question", "answer"]),
    ],
)
def test_the_separator_is_the_one_that_finds_known_columns(header: str, sign: str, titles: list[str]) -> None:
    """Where no column is known, it is the one that finds most of them."""
    ((where, row),) = csv_rows("q.csv", f"{header}\n{sign.join('a' for _ in titles)}", known)
    assert (where, list(row)) == ("q.csv, row 1 (line 2)", titles)


@pytest.mark.parametrize(
    ("cell", "text"),
    [("'=1+1", "=1+1"), ("'-5 %", "-5 %"), ("' +49", " +49"), ("'tis", "'tis"), ("'", "'"), ("=1", "=1")],
)
def test_the_apostrophe_before_a_formula_is_taken_off(cell: str, text: str) -> None:
    """Exported tables put it there, so that a spreadsheet runs nothing; it is no part of the text."""
    ((_, row),) = csv_rows("q.csv", f"question\n{cell}\n", known)
    assert row == {"question": text}


def test_only_what_is_not_utf_8_is_windows_1252_and_that_is_said(path: Path) -> None:
    """It is a guess: every file could be, so whoever reads the text must know."""
    path.write_bytes("question\n€49,90 – für".encode("cp1252"))
    assert read_text(path, windows=True) == ("question\n€49,90 – für", "read as Windows-1252, for it is not UTF-8")
    with pytest.raises(DatasetError, match="it is not UTF-8 text"):
        read_text(path)
    path.write_bytes("question\n€49,90 – für".encode())
    assert read_text(path, windows=True)[1] is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_of_a_pipe_are_read_from_the_first_on(encoding: str) -> None:
    """A shell hands over what a command prints; unlike a file, it can be opened only once."""
    reader, writer = os.pipe()
    os.write(writer, "one\ntwo\n".encode(encoding))
    os.close(writer)
    assert list(text_lines(Path(f"/dev/fd/{reader}"))) == ["one\n", "two\n"]
    os.close(reader)


PASSAGES = st.lists(st.text(min_size=1).filter(lambda text: not is_nothing(text)), min_size=1, max_size=5)


@settings(derandomize=True, max_examples=200)
@given(PASSAGES, st.sampled_from([json.dumps, repr]))
def test_a_list_is_read_however_it_was_printed(passages: list[str], printer: Callable[[list[str]], str]) -> None:
    """JSON, or a literal of Python."""
    assert as_list(printer(passages)) == passages


@settings(derandomize=True, max_examples=200)
@given(PASSAGES.filter(lambda passages: len(passages) > 1))
def test_a_list_without_commas_is_refused(passages: list[str]) -> None:
    """As numpy prints it: Python would read it as one passage."""
    with pytest.raises(DatasetError, match="not valid JSON"):
        as_list(f"[{chr(10).join(map(repr, passages))}]")
