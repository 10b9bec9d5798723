"""Read saved answers, and people's labels of answers: JSON lines or tables.

    {"question_id": "q1", "answer": "96 hours", "chunks": [{"text": "…", "document_id": "guide"}], "latency_ms": 840}

A row of answers holds `question_id` (or `id`) and the fields of `EvalResponse`; chunks are in the order of their rank,
and may be texts alone. Rows that ragas and deepeval wrote hold question and answer at once. Predictions in the form
that SQuAD's script reads are one object of texts by the ids of questions.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.datasets import tables
from evals.datasets.columns import (
    EITHER,
    LABEL_COLUMNS,
    QUESTION_COLUMNS,
    RESPONSE_COLUMNS,
    columns_by_field,
    flat,
    is_known,
    plain_name,
)
from evals.datasets.questions import derived_id, passage, passages, split_bars
from evals.datasets.tables import PlacedError, Row, as_text, is_nothing, located, parsed
from evals.errors import DatasetError
from evals.schemas.response import EvalResponse
from evals.text.decoding import without_surrogates
from evals.text.numbers import counted
from evals.text.yaml_files import nearest_hint

_FIELDS = frozenset(EvalResponse.model_fields)
_HINT = "each line is one object; retrieved passages alone need a gold file"
_LONGEST_MS, _MOST_TOKENS = 366 * 24 * 3600 * 1000.0, 10**9
_DURATIONS = ("latency_ms", "retrieval_latency_ms", "time_to_first_token_ms", "time_to_last_token_ms", "waited_ms")
_COUNTS = ("prompt_tokens", "completion_tokens")
_ASKED = {**QUESTION_COLUMNS, "id": ("question_id", *QUESTION_COLUMNS["id"])}


def each_answer(
    path: Path, columns: Mapping[str, str] | None = None, *, reference: str | None = None
) -> Iterator[tuple[str, EvalResponse]]:
    """Read saved answers one after the other, each with the id of its question; of a file of lines none is held.

    A row without an id is to the question that it holds, by the id that a dataset file gives such a question.

    Args:
        path: The file.
        columns: By field of the question, the column that holds it, as of the dataset file.
        reference: The column of the file that holds the expected answer, and so no answer of the system.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names it; also while they are read.
    """
    named = {field: (plain_name(column),) for field, column in (columns or {}).items()}
    places: dict[str, str] = {}
    for where, cells in _table(path) if path.suffix.lower() in tables.TABLES else _values(path):
        if not isinstance(cells, dict):
            raise DatasetError(f"{where}: expected an object with `question_id`, not {type(cells).__name__}")
        with located(where, EvalResponse, kind=""):
            row = flat(cells)
            question_id = _question_id(row, named)
            row = {title: cell for title, cell in row.items() if title != reference or plain_name(title) not in EITHER}
            response = _response(row, (columns or {}).values())
        if question_id in places:
            raise DatasetError(f"{where}: question {question_id!r} is answered at {places[question_id]} already")
        places[question_id] = where
        yield question_id, response
    if not places:
        raise DatasetError(f"{path.name} holds no answers")


def _values(path: Path) -> Iterable[Row]:
    """The rows of a list, of an object of predictions, or of a file of lines."""
    if path.suffix.lower() != ".json":
        return ((where, without_surrogates(row)) for where, row in tables.jsonl_rows(path, _HINT))
    data = without_surrogates(tables.read_tree(path))
    texts = isinstance(data, dict) and all(isinstance(value, str) for value in data.values())
    if not texts or any(name in _FIELDS or is_known(name) for name in data):
        return tables.numbered(f"{path.name}, entry", data if isinstance(data, list) else [data])
    rows = ({"question_id": key, "answer": predicted, "extractive": True} for key, predicted in data.items())
    return ((f"{path.name}, {row['question_id']!r}", row) for row in rows)


def _table(path: Path) -> Iterator[Row]:
    """The rows of a table without what says nothing; lists and objects are written in their cells as JSON."""
    rows = list(tables.read_table(path, lambda title: title in _FIELDS or is_known(title))[0])
    filled = {title for _, cells in rows for title, cell in cells.items() if not is_nothing(cell)}
    lists = {title for title in filled if plain_name(title) in RESPONSE_COLUMNS["chunks"]}  # empty: an empty list
    for where, cells in rows:
        row = {title: cell for title, cell in cells.items() if title in lists or not is_nothing(cell)}
        for title in row.keys() & _FIELDS - {"answer", "raw"}:
            with located(f"{where}, {title}"):
                row[title] = parsed(row[title])
        yield where, row


def _question_id(row: Mapping[str, Any], named: Mapping[str, Sequence[str]]) -> str:
    """The id of the question as a dataset file has it: as it is given, else derived from the question in the row."""
    by_field = columns_by_field(row, {**_ASKED, **named})
    asked: dict[str, Any] = {field: row[titles[0]] for field, titles in by_field.items()}
    if not isinstance(asked.get("turns", []), list):
        raise DatasetError(f"turns must be a list of what the user says, not {asked['turns']!r:.60}")
    if isinstance(given := as_text(asked.get("id")), str) and given:
        return given
    if "id" in asked or not (isinstance(asked.get("question"), str) or asked.get("turns")):
        raise DatasetError("`question_id` must be a text or a number, the id of a question")
    return derived_id(asked)


def _response(row: Mapping[str, Any], columns: Container[str]) -> EvalResponse:
    """The response that a row holds in the fields of `EvalResponse`, or in the columns of other tools.

    Raises:
        DatasetError: A field is unknown, or a number is none that can be.
        ValueError: A value is wrong.
    """
    fields = _response_fields(row)
    unknown = [name for name in row if not (name in _FIELDS or is_known(name) or name in columns)]
    if unknown and not fields:
        raise DatasetError(f"unknown field {unknown[0]!r}", nearest_hint(unknown[0], _FIELDS))
    own = {name: value for name, value in row.items() if name in _FIELDS}
    if own.get("turns") and not isinstance(own["turns"][0], Mapping):
        del own["turns"]  # what the user says, where the row is the question's too
    fields = {**fields, **own, "answer": as_text(fields.get("answer", row.get("answer")))}
    if isinstance(fields.get("chunks"), list):
        fields["chunks"] = [passage(chunk) for chunk in fields["chunks"]]
    response = EvalResponse.model_validate(fields)
    if response.answer is None and response.chunks is None and response.error is None:
        hint = "leave out the line of a question that was not asked; one that brought no answer has an `error`"
        raise DatasetError("there is neither `answer` nor `chunks` nor `error`", hint)
    for record, names, most in ((response, _DURATIONS, _LONGEST_MS), (response.usage, _COUNTS, _MOST_TOKENS)):
        for name in names:
            number = getattr(record, name, None) or 0
            if not 0 <= number <= most:  # a sum of such would be no number
                raise PlacedError(f"{name}: must be from 0 to {most:g}, not {number:g}")
    return response


def _response_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The answer and the chunks that columns of ragas, deepeval and MLflow hold; nothing where it has no such column.

    A row that holds `answer` and no reference is of our own form.

    Raises:
        DatasetError: There are not as many ids as contexts.
        ValueError: A cell begins as a list and is none.
    """
    filled = [title for title, value in row.items() if value is not None]
    is_own = "answer" in row and "expected_answer" not in columns_by_field(filled, QUESTION_COLUMNS)
    names = RESPONSE_COLUMNS | ({} if is_own else {"answer": (*RESPONSE_COLUMNS["answer"], *EITHER)})
    columns = {field: titles[0] for field, titles in columns_by_field(filled, names).items()}
    fields: dict[str, Any] = {"answer": row[columns["answer"]]} if "answer" in columns else {}
    if "chunks" in columns:
        fields["chunks"] = passages(split_bars(row[columns["chunks"]], columns["chunks"], row))
    for field, key in (("chunk_ids", "chunk_id"), ("document_ids", "document_id")):
        if field in columns:
            ids = [as_text(item) for item in tables.as_list(row[columns[field]])]
            chunks = fields.get("chunks") or [{} for _ in ids]
            if len(ids) != len(chunks):
                count = f"{counted(len(ids), 'id')} for {counted(len(chunks), 'chunk')}"
                raise DatasetError(f"{columns[field]} holds {count}: give one for each")
            fields["chunks"] = [{**chunk, key: item} for chunk, item in zip(chunks, ids, strict=True)]
    return fields


# Files of people's labels: a review sheet that was filled in, rows of one's own, or RAGBench's.


_TITLES = frozenset(name for names in LABEL_COLUMNS.values() for name in names)
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
    label: str | float | None
    run: str | None
    system: str | None
    metric: str | None
    question: str | None
    answer: str | None
    expected_answer: str | None
    chunks: tuple[str, ...] | None


def read_labels(path: Path) -> list[LabelRow]:
    """The labels of a file, in its order.

    Raises:
        DatasetError: The file cannot be read, has no column of labels, or a row names no question.
    """
    if path.suffix.lower() == ".json":
        rows = list(tables.rows_in(path.name, tables.read_tree(path))[0])
    else:
        rows = list(tables.read_table(path, lambda title: plain_name(title) in _TITLES)[0])
    if not rows:
        raise DatasetError(f"{path.name} holds no rows")
    for where, row in rows:
        if not isinstance(row, dict):
            raise DatasetError(f"{where}: expected an object with a label, not {type(row).__name__}")
    titles = {str(title) for _, row in rows for title in row}
    if own := next(filter(_OF_ANNOTATOR.fullmatch, titles), None):
        raise DatasetError(
            f"{path.name}: columns such as {own!r} are not read any more",
            "write one label for each answer into a column verdict",
        )
    if "label" not in columns_by_field(titles, LABEL_COLUMNS):
        hint = "name it verdict or label; a review sheet has one to fill in"
        raise DatasetError(f"{path.name} has no column of labels", hint)
    labels = list[LabelRow]()
    for where, row in rows:
        with located(where):
            labels.append(_label_row(where, row))
    return labels


def _label_row(where: str, row: Mapping[str, Any]) -> LabelRow:
    columns = columns_by_field((title for title in row if not is_nothing(row[title])), LABEL_COLUMNS)
    cells = {field: row[titles[0]] for field, titles in columns.items()}
    texts = {field: str(as_text(cell)) for field, cell in cells.items()}
    if texts.keys().isdisjoint(("id", "question")):
        raise DatasetError("neither id nor question says which answer the label is of")
    is_adherence = "label" in columns and plain_name(columns["label"][0]) == "adherence_score"
    return LabelRow(
        where=where,
        id=texts.get("id") or derived_id(texts),
        label=_label(cells.get("label")),
        metric=texts.get("metric") or ("faithfulness" if is_adherence else None),
        chunks=_chunks(cells),
        **{field: texts.get(field) for field in ("run", "system", "question", "answer", "expected_answer")},
    )


def _label(cell: Any) -> str | float | None:
    """The label as text or number; None for an empty cell."""
    if is_nothing(cell):
        return None
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if not isinstance(cell, str | int | float):
        raise DatasetError(f"a label is a word or a number, not {type(cell).__name__}")
    try:
        return float(cell)
    except ValueError:
        return str(cell).strip().casefold().replace(" ", "_")


def _chunks(cells: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The texts of a list of texts or chunks, or the one text of a review sheet."""
    if "chunks" not in cells:
        return (str(cells["passages"]),) if "passages" in cells else None
    with located("chunks"):
        chunks = parsed(cells["chunks"])
    if not isinstance(chunks, list):
        raise DatasetError(f"chunks must be a list of texts, not {type(chunks).__name__}")
    return tuple(str(chunk.get("text") or "") if isinstance(chunk, dict) else str(chunk) for chunk in chunks)
