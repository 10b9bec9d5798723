"""Saved answers, as they are read: one JSON object a line, or the rows of a table.

    {"question_id": "q1", "answer": "96 hours", "chunks": [{"text": "…", "document_id": "guide"}], "latency_ms": 840}

Beside `question_id` (or `id`) a row holds the fields of `EvalResponse`; chunks are in the order of their rank, and one
that is nothing but a text may be given as that. Rows that ragas and deepeval wrote hold question and answer at once.
Predictions in the form that SQuAD's script reads are one object of texts by the ids of questions.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.datasets.file import derived_id
from evals.datasets.imports.answered import answer_and_chunks
from evals.datasets.imports.columns import EITHER, NAMES, SYSTEM_CHUNKS, is_known, plain_name
from evals.datasets.imports.nested import flat
from evals.errors import DatasetError
from evals.inputs.cells import as_text, is_nothing, parsed
from evals.inputs.decoding import read_text, text_lines
from evals.inputs.json_body import without_surrogates
from evals.inputs.problems import first_problem
from evals.inputs.rows import TABLES, read_table
from evals.schemas import EvalResponse

_FIELDS = frozenset(EvalResponse.model_fields)
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
            yield from ((f"{name}, entry {number}", row) for number, row in enumerate(_loads(text, name), start=1))
            return
        if predictions := _predictions(text):
            for key, predicted in predictions.items():
                yield f"{name}, {key!r}", {"question_id": key, "answer": predicted, "extractive": True}
            return
    for number, line in enumerate(text_lines(path), start=1):
        if line.strip():
            where = f"{name}, line {number}"
            yield where, _loads(line, where)


def _predictions(text: str) -> dict[str, str]:
    """The texts by the ids of their questions, in the form that SQuAD's script reads; empty where it is another."""
    try:
        found = without_surrogates(json.loads(text))
    except (ValueError, RecursionError):
        return {}  # lines, of which each is read by itself
    texts = isinstance(found, dict) and all(isinstance(value, str) for value in found.values())
    return found if texts and not any(name in _FIELDS or is_known(name) for name in found) else {}


def _loads(text: str, where: str) -> Any:
    try:
        return without_surrogates(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{where}: not valid JSON ({error})", "each line is one object; retrieved passages alone need a gold file"
        ) from error


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
