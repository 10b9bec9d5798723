"""A user's own questions: JSON, JSONL or CSV with the fields of `EvalQuestion`; only `question` is required."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.errors import DatasetError
from evals.schemas import Document, EvalQuestion

_FIELDS = frozenset(EvalQuestion.model_fields)
_AS_JSON = frozenset({"answers", "gold_passages", "key_sentences", "checks", "metadata"})
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass
class QuestionFile:
    """What a file holds."""

    questions: list[EvalQuestion] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)


def read_file(path: Path) -> QuestionFile:
    """Read a file of questions.

    A JSON file holds a list of questions, or an object with `questions` and, to ingest them, `documents`.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DatasetError(f"cannot read {path}: {reason}") from error
    readers = {".json": _json_rows, ".jsonl": _jsonl_rows, ".csv": _csv_rows}
    if path.suffix.lower() not in readers:
        raise DatasetError(f"{path.name}: the file must end with .json, .jsonl or .csv")
    result = QuestionFile(documents=_documents(path, text) if path.suffix.lower() == ".json" else [])
    seen: dict[str, str] = {}
    for where, row in readers[path.suffix.lower()](path, text):
        question = _question(row, where)
        if question.id in seen:
            raise DatasetError(
                f"{where}: id {question.id!r} stands at {seen[question.id]} already",
                "ids must be unique in a file",
            )
        seen[question.id] = where
        result.questions.append(question)
    if not result.questions:
        raise DatasetError(f"{path.name} holds no questions")
    return result


def _json_rows(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    data = _loads(text, path.name)
    rows = data.get("questions") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise DatasetError(f"{path.name}: expected a list of questions, or an object with `questions`")
    for number, row in enumerate(rows, start=1):
        yield f"{path.name}, question {number}", row


def _jsonl_rows(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path.name}, line {number}"
            yield where, _loads(line, where)


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            where = f"{path.name}, row {number}"
            if None in cells:
                raise DatasetError(f"{where}: more cells than the header has columns")
            yield (
                where,
                {name: _cell(name, cell, where) for name, cell in cells.items() if cell not in (None, "")},
            )
    except csv.Error as error:
        where = f"{path.name}, row {number + 1} (line {reader.reader.line_num})"
        raise DatasetError(f"{where}: not valid CSV ({error})") from error


def _cell(name: str, cell: str, where: str) -> Any:
    if name in _AS_JSON:
        return _loads(cell, f"{where}, column {name}")
    if name == "is_unanswerable":
        if cell.strip().lower() not in _WORDS:
            raise DatasetError(f"{where}, column {name}: {cell!r} is not true or false")
        return _WORDS[cell.strip().lower()]
    return cell


def _question(row: Any, where: str) -> EvalQuestion:
    if not isinstance(row, dict):
        raise DatasetError(f"{where}: expected an object with `question`, not {type(row).__name__}")
    for name in row:
        if name not in _FIELDS:
            close = get_close_matches(str(name), _FIELDS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "put what is yours under `metadata`"
            raise DatasetError(f"{where}: unknown column {name!r}", hint)
    if row.get("id") is None or not str(row["id"]).strip():
        text = str(row.get("question", "")).encode(errors="surrogatepass")
        row = {**row, "id": f"q-{sha256(text).hexdigest()[:12]}"}
    elif not isinstance(row["id"], str):
        row = {**row, "id": str(row["id"])}
    try:
        question = EvalQuestion.model_validate(row)
    except ValidationError as error:
        raise DatasetError(_first_problem(error, where)) from error
    if not question.question.strip():
        raise DatasetError(f"{where}, column question: it is empty")
    return question if question.dataset else question.model_copy(update={"dataset": "file"})


def _documents(path: Path, text: str) -> list[Document]:
    data = _loads(text, path.name)
    rows = (data.get("documents") if isinstance(data, dict) else None) or []
    if not isinstance(rows, list):
        raise DatasetError(f"{path.name}: `documents` must be a list, not {type(rows).__name__}")
    documents: dict[str, Document] = {}
    for number, row in enumerate(rows, start=1):
        where = f"{path.name}, document {number}"
        try:
            document = Document.model_validate(row)
        except ValidationError as error:
            raise DatasetError(_first_problem(error, where)) from error
        if document.id in documents:
            raise DatasetError(f"{where}: id {document.id!r} is that of another document", "ids must be unique")
        documents[document.id] = document
    return list(documents.values())


def _first_problem(error: ValidationError, where: str) -> str:
    problem = error.errors(include_url=False)[0]
    column = ".".join(str(part) for part in problem["loc"])
    return f"{where}{', column ' if column else ''}{column}: {problem['msg']}"


def _loads(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{where}: not valid JSON ({error})") from error
