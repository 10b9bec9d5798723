"""What a file or folder of questions holds, whoever wrote it: rows of columns, documents, and what was left out."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.datasets.imports import nested
from evals.datasets.imports.columns import is_known
from evals.errors import DatasetError
from evals.inputs.problems import first_problem
from evals.inputs.rows import TREES, listed_documents, listed_rows, read_table, read_tree
from evals.schemas import Document


@dataclass
class Source:
    """Rows whose columns are still as the file calls them.

    Attributes:
        rows: Each with its place, as messages name it.
        documents: The corpus that came with them.
        dropped: What was left out, by reason.
        notes: What a reader must know of how it was read.
    """

    rows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def open_source(path: Path) -> Source:
    """Read a file of questions.

    Raises:
        DatasetError: It cannot be read, or is not well formed; the message names the place.
    """
    if path.suffix.lower() in TREES:
        return _of_tree(path.name, read_tree(path))
    table = read_table(path, is_known)
    source = Source(notes=[table.note] if table.note else [])
    source.rows = _flat(table.rows)
    return source


def _of_tree(name: str, data: Any) -> Source:
    source = Source()
    source.documents = _documents(listed_documents(name, data))
    source.rows = _flat(listed_rows(name, data))
    return source


def _flat(rows: Iterable[tuple[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    flat = []
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where}: expected an object with `question`, not {type(row).__name__}")
        try:
            flat.append((where, nested.flat(row)))
        except ValueError as error:
            raise DatasetError(f"{where}: {error}") from error
    return flat


def _documents(rows: Iterable[tuple[str, Any]]) -> list[Document]:
    documents: dict[str, Document] = {}
    for where, row in rows:
        try:
            document = Document.model_validate(row)
        except ValidationError as error:
            problem = first_problem(error, Document)
            raise DatasetError(f"{where}{', column ' if problem.key else ': '}{problem}", problem.hint) from error
        if document.id in documents:
            raise DatasetError(f"{where}: id {document.id!r} is that of another document", "ids must be unique")
        documents[document.id] = document
    return list(documents.values())
