"""Saved answers, as they are read: one JSON object a line, or the rows of a table.

    {"question_id": "q1", "answer": "96 hours", "chunks": [{"text": "…", "document_id": "guide"}], "latency_ms": 840}

Beside `question_id` (or `id`) a row holds the fields of `EvalResponse`; chunks are in the order of their rank, and one
that is nothing but a text may be given as that. Rows that ragas and deepeval wrote hold question and answer at once.
Predictions in the form that SQuAD's script reads are one object of texts by the ids of questions.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.datasets.columns import EITHER, NAMES, SYSTEM_CHUNKS, flat, is_known, plain_name
from evals.datasets.file import answer_and_chunks, derived_id
from evals.datasets.tables import (
    TABLES,
    Rows,
    as_text,
    is_nothing,
    jsonl_rows,
    listed_rows,
    loads,
    parsed,
    read_table,
    read_tree,
)
from evals.errors import DatasetError
from evals.schemas.response import EvalResponse
from evals.text.decoding import read_text, without_surrogates
from evals.text.yaml_files import first_problem

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
    rows = list(_rows_labels(path))
    titles = {title for _, row in rows for title in row}
    if not any(title in _TITLES["label"] or _OF_ANNOTATOR.fullmatch(title) for title in titles):
        raise DatasetError(
            f"{path.name} has no column of labels",
            "name it verdict or label, or verdict.NAME for each annotator; a review sheet has one to fill in",
        )
    return [label for where, row in rows for label in _labels(where, row)]


def _rows_labels(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
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
    ending = path.suffix.lower()
    placed = _table(path) if ending in TABLES else _values(path, ending)
    for where, row in placed:
        if not isinstance(row, dict):
            raise DatasetError(f"{where}: expected an object with `question_id`, not {type(row).__name__}")
        try:
            yield where, flat(row)
        except ValueError as error:
            raise DatasetError(f"{where}: {error}") from error


def _values(path: Path, ending: str) -> Iterator[tuple[str, Any]]:
    name = path.name
    if ending == ".json":
        text, _ = read_text(path)
        if text.lstrip().startswith("["):
            for number, row in enumerate(loads(text, name, _HINT), start=1):
                yield f"{name}, entry {number}", without_surrogates(row)
            return
        if predictions := _predictions(text):
            for key, predicted in predictions.items():
                yield f"{name}, {key!r}", {"question_id": key, "answer": predicted, "extractive": True}
            return
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
    rows = read_table(path, lambda title: title in _FIELDS or is_known(title)).rows
    filled = {title for _, cells in rows for title, cell in cells.items() if not is_nothing(cell)}
    lists = {title for title in filled if plain_name(title) in SYSTEM_CHUNKS}  # in which an empty cell is an empty list
    for where, cells in rows:
        row = {title: cell for title, cell in cells.items() if title in lists or not is_nothing(cell)}
        for title in row.keys() & _FIELDS - _TEXTS:
            try:
                row[title] = parsed(row[title]) if isinstance(row[title], str) else row[title]
            except ValueError as error:
                raise DatasetError(f"{where}, {title}: {error}") from error
        yield where, row


def _id_of(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> str:
    """The id of the question as it is given, a number as in a dataset file; else that of the question in the row."""
    named = {plain_name(title): value for title, value in row.items()}
    ids = [plain_name(columns["id"])] if "id" in columns else _IDS
    given = [named[name] for name in ids if name in named]
    if not given:
        asked = [plain_name(columns["question"])] if "question" in columns else NAMES["question"]
        given = [derived_id(named[name]) for name in asked if isinstance(named.get(name), str)]
    question_id = given[0] if given else None
    if isinstance(question_id, int | float) and not isinstance(question_id, bool) and float(question_id).is_integer():
        question_id = as_text(question_id)
    if not isinstance(question_id, str) or not question_id:
        raise DatasetError(f"{where}: `question_id` must be a text or a whole number, the id of a question")
    return question_id


def _response(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> EvalResponse:
    fields = _fields(row, columns, where)
    if isinstance(fields.get("chunks"), list):
        fields["chunks"] = [{"text": chunk} if isinstance(chunk, str) else chunk for chunk in fields["chunks"]]
    response = _validated(fields, where)
    if response.answer is None and response.chunks is None and response.error is None:
        raise DatasetError(
            f"{where}: there is neither `answer` nor `chunks` nor `error`",
            "leave out the line of a question that was not asked; one that brought no answer has an `error`",
        )
    _check_numbers(response, where)
    return response


def _check_numbers(response: EvalResponse, where: str) -> None:
    """Refuse durations and counts that none can be: sums of them would be no numbers."""
    for name in _DURATIONS:
        milliseconds = getattr(response, name) or 0
        if milliseconds < 0:
            raise DatasetError(f"{where}, {name}: must not be negative, as {milliseconds:g} is")
        if milliseconds > _LONGEST_MS:
            raise DatasetError(f"{where}, {name}: {milliseconds:g} milliseconds are more than a year")
    counts = (response.usage.prompt_tokens, response.usage.completion_tokens) if response.usage else (0,)
    if max(counts) > _MOST_TOKENS:
        raise DatasetError(f"{where}, usage: {float(max(counts)):g} tokens are more than any answer takes")


def _fields(row: Mapping[str, Any], columns: Mapping[str, str], where: str) -> dict[str, Any]:
    """The fields of the response; what is neither one nor of the question may stand in a row of another tool alone."""
    try:
        theirs = answer_and_chunks(row)
    except ValueError as error:
        raise DatasetError(f"{where}: {error}") from error
    for name in row if not theirs else ():
        if not (name in _FIELDS or is_known(name) or name in columns.values()):
            close = get_close_matches(name, _FIELDS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(_FIELDS))}"
            raise DatasetError(f"{where}: unknown field {name!r}", hint)
    ours = {name: value for name, value in row.items() if name in _FIELDS}
    return {**theirs, **ours, "answer": theirs.get("answer", row.get("answer"))}


def _validated(fields: Mapping[str, Any], where: str) -> EvalResponse:
    try:
        return EvalResponse.model_validate(fields)
    except ValidationError as error:
        problem = first_problem(error, EvalResponse)
        raise DatasetError(f"{where}, {problem}", problem.hint) from error
