"""Files of people's labels: a review sheet that was filled in, rows of one's own, or RAGBench's.

    {"question": "…", "answer": "…", "chunks": ["…"], "expected_answer": "…", "label": "correct", "annotator": "anna"}

Of a row that names a `run` only `id` and `verdict` are read: question, answer and passages are those of the run.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evals.datasets.file import derived_id
from evals.errors import DatasetError
from evals.inputs.cells import as_text, is_nothing, parsed
from evals.inputs.delimited import Rows
from evals.inputs.rows import listed_rows, read_table, read_tree

_TITLES = {
    "id": ("id", "question_id"),
    "run": ("run", "run_id"),
    "system": ("system",),
    "annotator": ("annotator",),
    "metric": ("metric",),
    "question": ("question",),
    "expected_answer": ("expected_answer", "reference", "ground_truth"),
    "answer": ("answer", "response"),
    "chunks": ("chunks", "contexts", "documents", "passages"),
    "label": ("verdict", "label", "preferred", "adherence_score"),
}
_ABOUT = {"adherence_score": "faithfulness"}
"""What a column of labels is about, where its name says it."""
_PREFERRED = "preferred"
_PASSAGE = re.compile(r"passage_\d+")
_PLACE = re.compile(r"\A\[[^\n]*\]\n")
"""The line over a passage in a review sheet that says where it is from."""
_OF_ANNOTATOR = re.compile(r"(?:verdict|label)[.:](?P<name>.+)")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One label of one answer.

    Attributes:
        where: The place in the file, as messages name it.
        id: Of the question.
        label: As it stands there; None where the cell is empty.
        annotator: Who gave it; empty where nobody says.
        run: The saved run that holds the answer.
        system: Whose answer it is, where several systems answered one question.
        metric: What the label is about, where the row says so.
        question: What was asked; None where the row leaves it to the run, as with all that follows.
        answer: What was answered.
        expected_answer: What is right.
        chunks: The texts that the answer was made of.
        compares: Whether the label says only which of several answers is better.
    """

    where: str
    id: str
    label: str | float | None
    annotator: str = ""
    run: str | None = None
    system: str | None = None
    metric: str | None = None
    question: str | None = None
    answer: str | None = None
    expected_answer: str | None = None
    chunks: tuple[str, ...] | None = None
    compares: bool = False


def read_labels(path: Path) -> list[LabelRow]:
    """The labels of a file, in its order; one row for each annotator where they stand side by side.

    Raises:
        DatasetError: The file cannot be read, has no column of labels, or a row names no question.
    """
    rows = list(_rows(path))
    titles = {title for _, row in rows for title in row}
    if not any(title in _TITLES["label"] or _OF_ANNOTATOR.fullmatch(title) for title in titles):
        raise DatasetError(
            f"{path.name} has no column of labels",
            "name it verdict or label, or verdict.NAME for each annotator; a review sheet has one to fill in",
        )
    return [label for where, row in rows for label in _labels(where, row)]


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows by their titles in small letters, without empty cells but for those of labels."""
    if path.suffix.lower() == ".json":
        placed: Rows = list(listed_rows(path.name, read_tree(path)))
    else:
        known = {title for titles in _TITLES.values() for title in titles}
        placed = read_table(path, lambda title: title.strip().lower() in known).rows
    if not placed:
        raise DatasetError(f"{path.name} holds no rows")
    for where, row in placed:
        if not isinstance(row, dict):
            raise DatasetError(f"{where}: expected an object with a label, not {type(row).__name__}")
        yield where, {str(title).strip().lower(): value for title, value in row.items()}


def _labels(where: str, row: Mapping[str, Any]) -> Iterator[LabelRow]:
    plain = _plain(where, row)
    beside = {found["name"]: value for name, value in row.items() if (found := _OF_ANNOTATOR.fullmatch(name))}
    if not beside or plain.label is not None:
        yield plain
    for name, value in beside.items():
        yield replace(plain, label=_label(where, value), annotator=name)


def _plain(where: str, row: Mapping[str, Any]) -> LabelRow:
    """The row with the label of the one annotator whose name no column bears."""
    title = next((name for name in _TITLES["label"] if name in row), "")
    return LabelRow(
        where=where,
        id=_id(where, row),
        label=_label(where, row.get(title)),
        annotator=_text(row, "annotator") or "",
        run=_text(row, "run"),
        system=_text(row, "system"),
        metric=_text(row, "metric") or _ABOUT.get(title),
        question=_text(row, "question"),
        answer=_text(row, "answer"),
        expected_answer=_text(row, "expected_answer"),
        chunks=_chunks(where, row),
        compares=title == _PREFERRED,
    )


def _text(row: Mapping[str, Any], field: str) -> str | None:
    value = next((row[title] for title in _TITLES[field] if not is_nothing(row.get(title))), None)
    return None if value is None else str(as_text(value))


def _id(where: str, row: Mapping[str, Any]) -> str:
    named, question = _text(row, "id"), _text(row, "question")
    if named is None and question is None:
        raise DatasetError(f"{where}: neither id nor question says which answer the label is of")
    return named if named is not None else derived_id(question or "")


def _label(where: str, value: Any) -> str | float | None:
    """The label as text or number; nothing for an empty cell."""
    if is_nothing(value):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str | int | float):
        raise DatasetError(f"{where}: a label is a word or a number, not {type(value).__name__}")
    try:
        return float(value)
    except ValueError:
        return str(value).strip().casefold().replace(" ", "_")


def _chunks(where: str, row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The texts in one cell, or in a column each."""
    listed = next((row[title] for title in _TITLES["chunks"] if not is_nothing(row.get(title))), None)
    if listed is None:
        return _passages(row)
    try:
        found = parsed(listed) if isinstance(listed, str) else listed
    except ValueError as error:
        raise DatasetError(f"{where}, chunks: {error}") from error
    if not isinstance(found, list):
        raise DatasetError(f"{where}: chunks must be a list of texts, not {type(found).__name__}")
    return tuple(map(_text_of, found))


def _passages(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The passages of a review sheet; the line that it writes over each is no part of it."""
    passages = [str(value) for name, value in row.items() if _PASSAGE.fullmatch(name) and not is_nothing(value)]
    return tuple(_PLACE.sub("", text) for text in passages) or None


def _text_of(chunk: Any) -> str:
    return str(chunk.get("text") or "") if isinstance(chunk, dict) else str(chunk)
