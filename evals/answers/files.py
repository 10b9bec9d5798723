"""Read saved answers, and people's labels of answers: JSON lines or tables.

    {"question_id": "q1", "answer": "96 hours", "chunks": [{"text": "…", "document_id": "guide"}], "latency_ms": 840}

A row of answers holds `question_id` (or `id`) and the fields of `EvalResponse`; chunks are in the order of their rank,
and may be texts alone. Rows that ragas and deepeval wrote hold question and answer at once. Predictions in the form
that SQuAD's script reads are one object of texts by the ids of questions.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from evals.datasets import columns, tables
from evals.datasets.columns import columns_by_field, is_known, plain_name, read_fields
from evals.datasets.tables import PlacedError, as_text, is_nothing, located
from evals.errors import DatasetError
from evals.schemas.response import EvalResponse
from evals.text.decoding import without_surrogates
from evals.text.numbers import number_or_none
from evals.text.yaml_files import nearest_hint

_FIELDS = frozenset(EvalResponse.model_fields) - {"turns"}
_LONGEST_MS, _MOST_TOKENS = 366 * 24 * 3600 * 1000.0, 10**9
_CHUNKS = columns.RESPONSE_COLUMNS["chunks"]
_NAMES = {name: (name,) for name in _FIELDS} | columns.RESPONSE_COLUMNS
_NAMES |= {"answer": (*columns.RESPONSE_COLUMNS["answer"], *columns.EITHER), "chunks": ("chunks", *_CHUNKS)}
_ASKED = {name: columns.QUESTION_COLUMNS[name] for name in ("question", "turns")}
_ASKED |= {"id": ("question_id", *columns.QUESTION_COLUMNS["id"])}
_OWN = _FIELDS.union(*_ASKED.values())
"""Columns of our own form, in which a column of another name is a slip."""


def saved_answers(
    path: Path, named: Mapping[str, str] | None = None, *, reference: str | None = None
) -> Iterator[tuple[str, EvalResponse]]:
    """Read saved answers one after the other, each with the id of its question; of a file of lines none is held.

    A row without an id is to the question that it holds, by the id that a dataset file gives such a question.

    Args:
        path: The file.
        named: By field of the question, the column that holds it, as of the dataset file.
        reference: The column of the file that holds the expected answer, and so no answer of the system.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names it; also while they are read.
    """
    named = named or {}
    asked = _ASKED | {field: (plain_name(column),) for field, column in named.items() if field in _ASKED}
    places: dict[str, str] = {}
    for where, cells in _rows(path):
        with located(where, EvalResponse, kind=""):
            row = {title: cell for title, cell in columns.flat(without_surrogates(cells)).items() if cell is not None}
            question_id = _question_id(row, columns_by_field(row, asked))
            if reference is not None and plain_name(reference) in columns.EITHER:
                row.pop(reference, None)
            response = _response(row, named.values())
        if (earlier := places.setdefault(question_id, where)) != where:
            raise DatasetError(f"{where}: question {question_id!r} is answered at {earlier} already")
        yield question_id, response
    if not places:
        raise DatasetError(f"{path.name} holds no answers")


def _rows(path: Path) -> Iterable[tables.Row]:
    """The rows of a file; those of a table without what says nothing, but an empty list where others hold chunks."""
    rows, _ = tables.read_rows(path, is_known, "`question_id`", _predictions)
    if path.suffix.lower() not in tables.TABLES:
        return rows
    held = list(rows)
    filled = {title for _, row in held for title, cell in row.items() if not is_nothing(cell)}
    empty: dict[str, Any] = {title: [] for title in filled if plain_name(title) in _CHUNKS}
    stated = ({title: cell for title, cell in row.items() if not is_nothing(cell)} for _, row in held)
    return ((where, {**empty, **cells}) for (where, _), cells in zip(held, stated, strict=True))


def _predictions(name: str, tree: Any) -> Iterable[tables.Row]:
    """The entries of a list, or the answers of an object of predictions by the ids of questions."""
    texts = tree if isinstance(tree, dict) and all(isinstance(text, str) for text in tree.values()) else {}
    if not texts or any(key in _FIELDS or is_known(key) for key in texts):
        return tables.entries(name, tree)
    rows = ({"question_id": key, "answer": text, "extractive": True} for key, text in texts.items())
    return ((f"{name}, {row['question_id']!r}", row) for row in rows)


def _question_id(row: Mapping[str, Any], asked: Mapping[str, str]) -> str:
    """The id of the question as a dataset file has it: as it is given, else derived from the question in the row."""
    fields = read_fields(row, {"id": asked["id"]} if "id" in asked else asked, kind="")
    if not isinstance(fields.get("id", ""), str) or not any(fields.values()):
        raise DatasetError("`question_id` must be a text or a number, the id of a question")
    return fields.get("id") or columns.derived_id(fields)


def _response(row: Mapping[str, Any], named: Container[str]) -> EvalResponse:
    """The response that a row holds in the fields of `EvalResponse`, or in the columns of other tools.

    Raises:
        DatasetError: A value is wrong, a field is unknown, or a number is none that can be.
    """
    known = {title for title in row if is_known(title) or title in _FIELDS}
    unknown = [title for title in row if title not in known and title not in named]
    if unknown and _OWN.issuperset(known):
        raise DatasetError(f"unknown field {unknown[0]!r}", nearest_hint(unknown[0], _FIELDS))
    response = EvalResponse.model_validate(read_fields(row, columns_by_field(row, _NAMES), kind=""))
    if response.answer is None and response.chunks is None and response.error is None:
        hint = "leave out the line of a question that was not asked; one that brought no answer has an `error`"
        raise DatasetError("there is neither `answer` nor `chunks` nor `error`", hint)
    limits = [(name, number, _LONGEST_MS) for name, number in response if name.endswith("_ms")]
    limits += [(name, number, _MOST_TOKENS) for name, number in response.usage or ()]
    for name, number, most in limits:
        if not 0 <= (number or 0) <= most:  # a sum of such would be no number
            raise PlacedError(f"{name}: must be from 0 to {most:g}, not {number:g}")
    return response


# Files of people's labels: a review sheet that was filled in, rows of one's own, or RAGBench's.


_TITLES = frozenset(chain.from_iterable(columns.LABEL_COLUMNS.values()))
_OF_ANNOTATOR = re.compile(r"(?:verdict|label)[.:].+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One label of one answer.

    Attributes:
        where: The place in the file, as messages name it.
        id: Of the question.
        label: As it stands there; None where the cell is empty.
        run: The saved run that holds the answer.
        system: Whose answer it is, where several systems answered one question.
        metric: What the label is about, where the row says so.
        question: What was asked; None where the row leaves it to the run, as with all that follows.
        answer: What was answered.
        expected_answer: What is right.
        chunks: The texts that the answer was made of.
    """

    where: str
    id: str
    label: str | float | None = None
    run: str | None = None
    system: str | None = None
    metric: str | None = None
    question: str | None = None
    answer: str | None = None
    expected_answer: str | None = None
    chunks: tuple[str, ...] | None = None


def read_labels(path: Path) -> list[LabelRow]:
    """The labels of a file, in its order.

    Raises:
        DatasetError: The file cannot be read, has no column of labels, or a row names no question.
    """
    rows = list(tables.read_rows(path, lambda title: plain_name(title) in _TITLES, "a label")[0])
    if not rows:
        raise DatasetError(f"{path.name} holds no rows")
    titles = set(chain.from_iterable(row for _, row in rows))
    if own := next(filter(_OF_ANNOTATOR.fullmatch, titles), None):
        what = f"{path.name}: columns such as {own!r} are not read any more"
        raise DatasetError(what, "write one label for each answer into a column verdict")
    if "label" not in columns_by_field(titles, columns.LABEL_COLUMNS):
        hint = "name it verdict or label; a review sheet has one to fill in"
        raise DatasetError(f"{path.name} has no column of labels", hint)
    return [_label_row(where, row) for where, row in rows]


def _label_row(where: str, row: Mapping[str, Any]) -> LabelRow:
    held = {title: cell for title, cell in row.items() if not is_nothing(cell)}
    named = columns_by_field(held, columns.LABEL_COLUMNS)
    fields: dict[str, Any] = {field: str(as_text(held[title])) for field, title in named.items()}
    with located(where):
        if fields.keys().isdisjoint(("id", "question")):
            raise DatasetError("neither id nor question says which answer the label is of")
        if isinstance(label := held.get(named.get("label", "")), list | dict):
            raise DatasetError(f"a label is a word or a number, not {type(label).__name__}")
        if "chunks" in fields:
            fields["chunks"] = tuple(map(_text_of, columns.passages(held[named["chunks"]])))
    word = fields.pop("label", "").strip().casefold().replace(" ", "_")
    number = number_or_none(word)
    if plain_name(named.get("label", "")) == "adherence_score":
        fields.setdefault("metric", "faithfulness")
    known = {"id": columns.derived_id(fields), **fields}
    return LabelRow(where, label=word or None if number is None else number, **known)


def _text_of(chunk: Any) -> str:
    return str(chunk.get("text") or "") if isinstance(chunk, Mapping) else str(chunk)
