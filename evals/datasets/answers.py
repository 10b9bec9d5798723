"""Read saved answers, and people's labels of answers: JSON lines or tables.

    {"question_id": "q1", "answer": "96 hours", "chunks": [{"text": "…", "document_id": "guide"}], "latency_ms": 840}

A row of answers holds `question_id` (or `id`) and the fields of `EvalResponse`; chunks are in the order of their rank,
and may be texts alone. Rows that ragas and deepeval wrote hold question and answer at once. Predictions in the form
that SQuAD's script reads are one object of texts by the ids of questions.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

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
from evals.datasets.tables import Row, as_text, is_nothing, parsed
from evals.errors import DatasetError
from evals.schemas.response import EvalResponse
from evals.text.decoding import read_text, without_surrogates
from evals.text.numbers import counted
from evals.text.yaml_files import first_problem, nearest_hint

_FIELDS = frozenset(EvalResponse.model_fields)
_HINT = "each line is one object; retrieved passages alone need a gold file"
_SENTENCE_ENDS = (".", "!", "?", "。")
_LONGEST_MS = 366 * 24 * 3600 * 1000.0
_MOST_TOKENS = 10**9
_DURATIONS = ("latency_ms", "retrieval_latency_ms", "time_to_first_token_ms", "time_to_last_token_ms", "waited_ms")


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
    places: dict[str, str] = {}
    for where, cells in _table(path) if path.suffix.lower() in tables.TABLES else _values(path):
        if not isinstance(cells, dict):
            raise DatasetError(f"{where}: expected an object with `question_id`, not {type(cells).__name__}")
        try:
            row = flat(cells)
        except ValueError as error:
            raise DatasetError(f"{where}: {error}") from error
        question_id = _question_id(row, columns or {}, where)
        if question_id in places:
            raise DatasetError(f"{where}: question {question_id!r} is answered at {places[question_id]} already")
        places[question_id] = where
        answered = {name: value for name, value in row.items() if name != reference or plain_name(name) not in EITHER}
        yield question_id, _response(answered, columns or {}, where)
    if not places:
        raise DatasetError(f"{path.name} holds no answers")


def are_extractive(responses: Iterable[EvalResponse]) -> bool:
    """Whether answers are the predictions of an extractive system.

    They are nothing but texts; some are empty, which is how such a system abstains, and most others are no sentences.
    """
    spoken: Counter[bool] = Counter()
    empty = 0
    for response in responses:
        if response.answer is None or response != EvalResponse(answer=response.answer):
            return False
        text = response.answer.strip()
        empty += not text
        spoken[text.endswith(_SENTENCE_ENDS)] += bool(text)
    return empty > 0 and spoken[False] >= spoken[True]


def _values(path: Path) -> Iterator[Row]:
    """The rows of a list, of an object of predictions, or of a file of lines."""
    text = read_text(path)[0].strip() if path.suffix.lower() == ".json" else ""
    if text.startswith("["):
        for number, row in enumerate(tables.parse_json(text, path.name, _HINT), start=1):
            yield f"{path.name}, entry {number}", without_surrogates(row)
    elif predictions := _predictions(text):
        for key, predicted in predictions.items():
            yield f"{path.name}, {key!r}", {"question_id": key, "answer": predicted, "extractive": True}
    else:
        for where, row in tables.jsonl_rows(path, _HINT):
            yield where, without_surrogates(row)


def _predictions(text: str) -> dict[str, str]:
    """The texts by the ids of their questions, in the form that SQuAD's script reads; empty where it is another."""
    try:
        data = without_surrogates(tables.parse_json(text, ""))
    except DatasetError:
        return {}  # lines, of which each is read by itself
    texts = isinstance(data, dict) and all(isinstance(value, str) for value in data.values())
    return data if texts and not any(name in _FIELDS or is_known(name) for name in data) else {}


def _table(path: Path) -> Iterator[Row]:
    """The rows of a table without what says nothing; lists and objects are written in their cells as JSON."""
    rows = list(tables.read_table(path, lambda title: title in _FIELDS or is_known(title))[0])
    filled = {title for _, cells in rows for title, cell in cells.items() if not is_nothing(cell)}
    lists = {title for title in filled if plain_name(title) in RESPONSE_COLUMNS["chunks"]}  # empty: an empty list
    for where, cells in rows:
        row = {title: cell for title, cell in cells.items() if title in lists or not is_nothing(cell)}
        for title in row.keys() & _FIELDS - {"answer", "raw"}:
            try:
                row[title] = parsed(row[title])
            except ValueError as error:
                raise DatasetError(f"{where}, {title}: {error}") from error
        yield where, row


def _question_id(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> str:
    """The id of the question as it is given, a number as in a dataset file; else that of the question in the row."""
    named = {field: (plain_name(column),) for field, column in columns.items()}
    by_field = columns_by_field(row, {**QUESTION_COLUMNS, "id": ("question_id", *QUESTION_COLUMNS["id"]), **named})
    asked: dict[str, Any] = {field: row[by_field[field][0]] for field in ("question", "turns") if field in by_field}
    if "turns" in asked and not isinstance(asked["turns"], list):
        raise DatasetError(f"{where}: turns must be a list of what the user says, not {asked['turns']!r:.60}")
    if "id" in by_field:
        question_id = row[by_field["id"][0]]
        if type(question_id) in {int, float} and float(question_id).is_integer():
            question_id = as_text(question_id)
    else:
        question_id = derived_id(asked) if isinstance(asked.get("question"), str) or asked.get("turns") else None
    if not isinstance(question_id, str) or not question_id:
        raise DatasetError(f"{where}: `question_id` must be a text or a whole number, the id of a question")
    return question_id


def _response(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> EvalResponse:
    try:
        fields = _response_fields(row)
    except ValueError as error:
        raise DatasetError(f"{where}: {error}") from error
    strange = [name for name in row if not (name in _FIELDS or is_known(name) or name in columns.values())]
    if strange and not fields:
        raise DatasetError(f"{where}: unknown field {strange[0]!r}", nearest_hint(strange[0], _FIELDS))
    own = {name: value for name, value in row.items() if name in _FIELDS}
    if own.get("turns") and not isinstance(own["turns"][0], Mapping):
        del own["turns"]  # what the user says, where the row is the question's too
    fields = {**fields, **own, "answer": as_text(fields.get("answer", row.get("answer")))}
    if isinstance(fields.get("chunks"), list):
        fields["chunks"] = [{"text": chunk} if isinstance(chunk, str) else passage(chunk) for chunk in fields["chunks"]]
    try:
        response = EvalResponse.model_validate(fields)
    except ValidationError as error:
        problem = first_problem(error, EvalResponse)
        raise DatasetError(f"{where}, {problem}", problem.hint) from error
    if response.answer is None and response.chunks is None and response.error is None:
        raise DatasetError(
            f"{where}: there is neither `answer` nor `chunks` nor `error`",
            "leave out the line of a question that was not asked; one that brought no answer has an `error`",
        )
    _check_numbers(response, where)
    return response


def _check_numbers(response: EvalResponse, where: str) -> None:
    """Refuse durations and counts that none can be: sums of them would be no numbers."""
    limits = {name: (getattr(response, name), _LONGEST_MS) for name in _DURATIONS}
    for name in ("prompt_tokens", "completion_tokens") if response.usage else ():
        limits[name] = (getattr(response.usage, name), _MOST_TOKENS)
    for name, (number, most) in limits.items():
        if not 0 <= (number or 0) <= most:
            raise DatasetError(f"{where}, {name}: must be from 0 to {most:g}, not {number:g}")


def _response_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The answer and the chunks that columns of ragas, deepeval and MLflow hold; nothing where it has no such column.

    A row that holds `answer` and no reference is of our own form.

    Raises:
        ValueError: A cell begins as a list and is none, or there are not as many ids as contexts.
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
                raise ValueError(f"{columns[field]} holds {count}: give one for each")
            fields["chunks"] = [{**chunk, key: item} for chunk, item in zip(chunks, ids, strict=True)]
    return fields


# Files of people's labels: a review sheet that was filled in, rows of one's own, or RAGBench's.


_TITLES = frozenset(name for names in LABEL_COLUMNS.values() for name in names)
_BY = re.compile(r"(?:verdict|label)[.:](?P<annotator>.+)", re.IGNORECASE)
"""The column of the labels of one of several annotators."""


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One label of one answer.

    Attributes:
        where: The place in the file, as messages name it.
        id: Of the question.
        label: As it stands there; None where the cell is empty.
        annotator: Who gave it; empty if not stated.
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
    annotator: str
    run: str | None
    system: str | None
    metric: str | None
    question: str | None
    answer: str | None
    expected_answer: str | None
    chunks: tuple[str, ...] | None


def read_labels(path: Path) -> list[LabelRow]:
    """The labels of a file, in its order; one row for each annotator where they stand side by side.

    Raises:
        DatasetError: The file cannot be read, has no column of labels, or a row names no question.
    """
    if path.suffix.lower() == ".json":
        rows = tables.rows_in(path.name, tables.read_tree(path))[0]
    else:
        rows = list(tables.read_table(path, lambda title: plain_name(title) in _TITLES)[0])
    if not rows:
        raise DatasetError(f"{path.name} holds no rows")
    for where, row in rows:
        if not isinstance(row, dict):
            raise DatasetError(f"{where}: expected an object with a label, not {type(row).__name__}")
    titles = {str(title) for _, row in rows for title in row}
    if "label" not in columns_by_field(titles, LABEL_COLUMNS) and not any(map(_BY.fullmatch, titles)):
        raise DatasetError(
            f"{path.name} has no column of labels",
            "name it verdict or label, or verdict.NAME for each annotator; a review sheet has one to fill in",
        )
    return [label for where, row in rows for label in _labels(where, row)]


def _labels(where: str, row: Mapping[str, Any]) -> Iterator[LabelRow]:
    """The label of the one annotator whose name no column bears, and those of the others."""
    columns = columns_by_field((title for title in row if not is_nothing(row[title])), LABEL_COLUMNS)
    cells = {field: row[titles[0]] for field, titles in columns.items()}
    texts = {field: str(as_text(cells[field])) if field in cells else None for field in LABEL_COLUMNS}
    if texts["id"] is None and texts["question"] is None:
        raise DatasetError(f"{where}: neither id nor question says which answer the label is of")
    is_adherence = [*map(plain_name, columns.get("label", ()))][:1] == ["adherence_score"]
    plain = LabelRow(
        where=where,
        id=texts["id"] or derived_id({"question": texts["question"]}),
        label=_label(where, cells.get("label")),
        annotator=texts["annotator"] or "",
        metric=texts["metric"] or ("faithfulness" if is_adherence else None),
        chunks=_chunks(where, cells),
        **{field: texts[field] for field in ("run", "system", "question", "answer", "expected_answer")},
    )
    by_annotator = {match["annotator"].casefold(): row[title] for title in row if (match := _BY.fullmatch(title))}
    if not by_annotator or plain.label is not None:
        yield plain
    for annotator, cell in by_annotator.items():
        yield replace(plain, label=_label(where, cell), annotator=annotator)


def _label(where: str, cell: Any) -> str | float | None:
    """The label as text or number; None for an empty cell."""
    if is_nothing(cell):
        return None
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if not isinstance(cell, str | int | float):
        raise DatasetError(f"{where}: a label is a word or a number, not {type(cell).__name__}")
    try:
        return float(cell)
    except ValueError:
        return str(cell).strip().casefold().replace(" ", "_")


def _chunks(where: str, cells: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The texts of a list of texts or chunks, or the one text of a review sheet."""
    if "chunks" not in cells:
        return (str(cells["passages"]),) if "passages" in cells else None
    try:
        chunks = parsed(cells["chunks"])
    except ValueError as error:
        raise DatasetError(f"{where}, chunks: {error}") from error
    if not isinstance(chunks, list):
        raise DatasetError(f"{where}: chunks must be a list of texts, not {type(chunks).__name__}")
    return tuple(str(chunk.get("text") or "") if isinstance(chunk, dict) else str(chunk) for chunk in chunks)
