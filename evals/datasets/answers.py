"""Read saved answers (JSON lines or tables) and human labels.

    {"question_id": "q1", "answer": "96 hours", "chunks": [{"text": "…", "document_id": "guide"}], "latency_ms": 840}

A row holds `question_id` (or `id`) and the fields of `EvalResponse`; chunks are in the order of their rank, and may be
texts alone. Rows that ragas and deepeval wrote hold question and answer at once.
Predictions in the form that SQuAD's script reads are one object of texts by the ids of questions.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.datasets.columns import (
    EITHER,
    NAMES,
    SYSTEM_ANSWER,
    SYSTEM_CHUNKS,
    SYSTEM_IDS,
    flat,
    is_known,
    passages,
    plain_name,
)
from evals.datasets.file import derived_id
from evals.datasets.tables import (
    TABLES,
    Rows,
    as_list,
    as_text,
    is_nothing,
    jsonl_rows,
    listed,
    loads,
    parsed,
    read_table,
    read_tree,
)
from evals.errors import DatasetError
from evals.schemas.response import EvalResponse
from evals.text.decoding import read_text, without_surrogates
from evals.text.numbers import counted
from evals.text.yaml_files import first_problem, nearest_hint

_FIELDS = frozenset(EvalResponse.model_fields)

_HINT = "each line is one object; retrieved passages alone need a gold file"

_SENTENCE_ENDS = (".", "!", "?", "。")

_TEXTS = frozenset({"answer", "raw"})

_LONGEST_MS = 366 * 24 * 3600 * 1000.0

_MOST_TOKENS = 10**9

_DURATIONS = ("latency_ms", "retrieval_latency_ms", "time_to_first_token_ms", "time_to_last_token_ms", "waited_ms")

_IDS = ("question_id", *(name for name in NAMES["id"] if name != "question_id"))


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
    for where, row in _rows(path):
        question_id = _id_of(row, columns or {}, where)
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


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows with their places; what tools put into objects stands in columns."""
    for where, row in _table(path) if path.suffix.lower() in TABLES else _values(path):
        if not isinstance(row, dict):
            raise DatasetError(f"{where}: expected an object with `question_id`, not {type(row).__name__}")
        try:
            yield where, flat(row)
        except ValueError as error:
            raise DatasetError(f"{where}: {error}") from error


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    name, text = path.name, read_text(path)[0] if path.suffix.lower() == ".json" else ""
    if text.lstrip().startswith("["):
        for number, row in enumerate(loads(text, name, _HINT), start=1):
            yield f"{name}, entry {number}", without_surrogates(row)
    elif predictions := _predictions(text):
        for key, predicted in predictions.items():
            yield f"{name}, {key!r}", {"question_id": key, "answer": predicted, "extractive": True}
    else:
        for where, row in jsonl_rows(path, _HINT):
            yield where, without_surrogates(row)


def _predictions(text: str) -> dict[str, str]:
    """The texts by the ids of their questions, in the form that SQuAD's script reads; empty where it is another."""
    try:
        found = without_surrogates(json.loads(text))
    except (ValueError, RecursionError):
        return {}  # lines, of which each is read by itself
    texts = isinstance(found, dict) and all(isinstance(value, str) for value in found.values())
    return found if texts and not any(name in _FIELDS or is_known(name) for name in found) else {}


def _table(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a table without what says nothing; lists and objects are written in their cells as JSON."""
    rows, _ = read_table(path, lambda title: title in _FIELDS or is_known(title))
    filled = {title for _, cells in rows for title, cell in cells.items() if not is_nothing(cell)}
    lists = {title for title in filled if plain_name(title) in SYSTEM_CHUNKS}  # in which an empty cell is an empty list
    for where, cells in rows:
        row = {title: cell for title, cell in cells.items() if title in lists or not is_nothing(cell)}
        for title in row.keys() & _FIELDS - _TEXTS:
            row[title] = _parsed(row[title], where, title)
        yield where, row


def _parsed(cell: Any, where: str, title: str) -> Any:
    try:
        return parsed(cell) if isinstance(cell, str) else cell
    except ValueError as error:
        raise DatasetError(f"{where}, {title}: {error}") from error


def _id_of(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> str:
    """The id of the question as it is given, a number as in a dataset file; else that of the question in the row."""
    named = {plain_name(title): value for title, value in row.items()}
    ids, questions = (
        [plain_name(columns[field])] if field in columns else names
        for field, names in (("id", _IDS), ("question", NAMES["question"]))
    )
    given = [named[name] for name in ids if name in named]
    asked = [named[name] for name in questions if isinstance(named.get(name), str)]
    question_id = given[0] if given else derived_id(asked[0]) if asked else None
    if isinstance(question_id, float) or type(question_id) is int:
        question_id = as_text(question_id) if float(question_id).is_integer() else None
    if not isinstance(question_id, str) or not question_id:
        raise DatasetError(f"{where}: `question_id` must be a text or a whole number, the id of a question")
    return question_id


def _response(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> EvalResponse:
    try:
        response = EvalResponse.model_validate(_fields(row, columns, where))
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


def _fields(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> dict[str, Any]:
    """The fields of the response; what is neither one nor of the question may stand in a row of another tool alone."""
    try:
        theirs = answer_and_chunks(row)
    except ValueError as error:
        raise DatasetError(f"{where}: {error}") from error
    if not theirs:
        _refuse_unknown(row, columns, where)
    ours = {name: value for name, value in row.items() if name in _FIELDS}
    fields = {**theirs, **ours, "answer": theirs.get("answer", row.get("answer"))}
    if isinstance(fields.get("chunks"), list):
        fields["chunks"] = [{"text": chunk} if isinstance(chunk, str) else chunk for chunk in fields["chunks"]]
    return fields


def _refuse_unknown(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> None:
    for name in row:
        if not (name in _FIELDS or is_known(name) or name in columns.values()):
            raise DatasetError(f"{where}: unknown field {name!r}", nearest_hint(name, _FIELDS))


def answer_and_chunks(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a response that columns of ragas, deepeval and MLflow hold; none where it has no such column.

    A row that holds `answer` and no reference is of our own form.

    Raises:
        ValueError: A cell begins as a list and is none, or there are not as many ids as contexts.
    """
    titles = {plain_name(title): title for title, value in row.items() if value is not None}
    found: dict[str, Any] = {}
    for column in _first(_answer_names(row, titles), titles):
        found["answer"] = row[column]
    for column in _first(SYSTEM_CHUNKS, titles):
        found["chunks"] = passages(row[column], column, row)
    for kind, names in SYSTEM_IDS.items():
        for column in _first(names, titles):
            ids = [{kind: as_text(item)} for item in as_list(row[column])]
            found["chunks"] = _beside(found.get("chunks") or [{}] * len(ids), ids, column)
    return found


def _answer_names(row: Mapping[str, Any], titles: Mapping[str, str]) -> tuple[str, ...]:
    is_ours = "answer" in row and titles.keys().isdisjoint(NAMES["expected_answer"])
    return SYSTEM_ANSWER if is_ours else (*SYSTEM_ANSWER, *EITHER)


def _first(names: Iterable[str], titles: Mapping[str, str]) -> list[str]:
    """The first of the columns that is there, if any is."""
    return [titles[name] for name in names if name in titles][:1]


def _beside(chunks: list[dict[str, Any]], ids: list[dict[str, str]], column: str) -> list[dict[str, Any]]:
    if len(ids) != len(chunks):
        count = f"{counted(len(ids), 'id')} for {counted(len(chunks), 'chunk')}"
        raise ValueError(f"{column} holds {count}: give one for each")
    return [{**chunk, **each} for chunk, each in zip(chunks, ids, strict=True)]


# Files of people's labels: a review sheet that was filled in, rows of one's own, or RAGBench's.


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
        annotator: Who gave it; empty if not stated.
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
    annotator: str
    run: str | None
    system: str | None
    metric: str | None
    question: str | None
    answer: str | None
    expected_answer: str | None
    chunks: tuple[str, ...] | None
    compares: bool


def read_labels(path: Path) -> list[LabelRow]:
    """The labels of a file, in its order; one row for each annotator where they stand side by side.

    Raises:
        DatasetError: The file cannot be read, has no column of labels, or a row names no question.
    """
    rows = [(where, _small(where, row)) for where, row in _label_rows(path)]
    if not rows:
        raise DatasetError(f"{path.name} holds no rows")
    if not any(title in _TITLES["label"] or _OF_ANNOTATOR.fullmatch(title) for _, row in rows for title in row):
        raise DatasetError(
            f"{path.name} has no column of labels",
            "name it verdict or label, or verdict.NAME for each annotator; a review sheet has one to fill in",
        )
    return [label for where, row in rows for label in _labels(where, row)]


def _label_rows(path: Path) -> Rows:
    if path.suffix.lower() == ".json":
        return listed(path.name, read_tree(path))[0]
    known = {title for titles in _TITLES.values() for title in titles}
    return read_table(path, lambda title: title.strip().lower() in known)[0]


def _small(where: str, row: Any) -> dict[str, Any]:
    """The row by its titles in small letters."""
    if not isinstance(row, dict):
        raise DatasetError(f"{where}: expected an object with a label, not {type(row).__name__}")
    return {str(title).strip().lower(): value for title, value in row.items()}


def _labels(where: str, row: Mapping[str, Any]) -> Iterator[LabelRow]:
    """The label of the one annotator whose name no column bears, and those of the others."""
    plain = _plain(where, row)
    beside = {found["name"]: value for name, value in row.items() if (found := _OF_ANNOTATOR.fullmatch(name))}
    if not beside or plain.label is not None:
        yield plain
    for name, value in beside.items():
        yield replace(plain, label=_label(where, value), annotator=name)


def _plain(where: str, row: Mapping[str, Any]) -> LabelRow:
    title = next((name for name in _TITLES["label"] if name in row), "")
    asked, named = _text(row, "question"), _text(row, "id")
    if named is None and asked is None:
        raise DatasetError(f"{where}: neither id nor question says which answer the label is of")
    return LabelRow(
        where=where,
        id=derived_id(asked) if named is None else named,
        label=_label(where, row.get(title)),
        annotator=_text(row, "annotator") or "",
        metric=_text(row, "metric") or _ABOUT.get(title),
        question=asked,
        chunks=_chunks(where, row),
        compares=title == "preferred",
        **{field: _text(row, field) for field in ("run", "system", "answer", "expected_answer")},
    )


def _text(row: Mapping[str, Any], field: str) -> str | None:
    value = _filled(row, field)
    return None if value is None else str(as_text(value))


def _filled(row: Mapping[str, Any], field: str) -> Any:
    """The first cell of a field that says something; None where none does."""
    return next((row[title] for title in _TITLES[field] if not is_nothing(row.get(title))), None)


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
    """The texts in one cell, a list or one text as in `passages` of a review sheet; else those of `passage_1` …."""
    cell = _filled(row, "chunks")
    if cell is None:
        texts = [str(value) for name, value in row.items() if _PASSAGE.fullmatch(name) and not is_nothing(value)]
        return tuple(_PLACE.sub("", text) for text in texts) or None
    found = _parsed(cell, where, "chunks")
    if isinstance(found, str) and "passages" in row:
        return (found,)
    if not isinstance(found, list):
        raise DatasetError(f"{where}: chunks must be a list of texts, not {type(found).__name__}")
    return tuple(map(_chunk_text, found))


def _chunk_text(chunk: Any) -> str:
    return str(chunk.get("text") or "") if isinstance(chunk, dict) else str(chunk)
