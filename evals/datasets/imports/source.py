"""What a file or folder of questions holds, whoever wrote it: rows of columns, documents, and what was left out."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.datasets.base import Draft
from evals.datasets.imports import judged, nested, promptfoo, squad
from evals.datasets.imports.columns import is_known
from evals.errors import DatasetError
from evals.inputs.delimited import Rows
from evals.inputs.json_body import without_surrogates
from evals.inputs.problems import first_problem
from evals.inputs.rows import TREES, Table, jsonl_rows, listed_documents, listed_rows, read_table, read_tree
from evals.schemas import Document
from evals.schemas.dataset import DOCUMENT_ID
from evals.store.spill import SpilledList
from evals.text.counts import agree

_UNJUDGED = "query without a relevant document"


@dataclass
class Source:
    """Rows whose columns are still as the file calls them.

    Attributes:
        rows: Each with its place, as messages name it; they may lie on disk, to be walked more than once.
        documents: The corpus that came with them.
        dropped: What was left out, by reason.
        notes: What a reader must know of how it was read.
    """

    rows: Sequence[tuple[str, dict[str, Any]]] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def open_source(path: Path, scratch: Path | None = None) -> Source:
    """Read a file of questions, or a folder of queries, corpus and judgements.

    Args:
        path: The file or folder; of one with a row a line none is held.
        scratch: Folder for what lies on disk meanwhile; that of the system where None.

    Raises:
        DatasetError: It cannot be read, or is not well formed; the message names the place.
    """
    if path.is_dir():
        if not (path / judged.QUERIES).is_file():
            raise DatasetError(f"cannot read {path}: it is a folder without {judged.QUERIES}")
        path /= judged.QUERIES
    if path.suffix.lower() in TREES:
        return _of_tree(path.name, read_tree(path), scratch)
    topics = judged.read_topics(path)
    if topics is not None:
        return _of_queries(path, topics)
    table = _read_table(path, scratch)
    if judged.is_queries({title for _, row in table.rows if isinstance(row, Mapping) for title in row}):
        return _of_queries(path, table.rows)
    source = Source(notes=[table.note] if table.note else [])
    source.rows = SpilledList(None, _flat(table.rows, source.dropped), scratch)
    return source


def _read_table(path: Path, scratch: Path | None) -> Table:
    if path.suffix.lower() == ".jsonl":
        return Table(SpilledList(None, jsonl_rows(path), scratch))
    return read_table(path, is_known)


def _of_tree(name: str, data: Any, scratch: Path | None) -> Source:
    source = Source()
    if squad.is_squad(data):
        draft = Draft()
        source.rows = squad.squad_rows(name, data, draft)
        source.documents = list(draft.documents.values())
        return source
    tests = promptfoo.tests_of(name, data)
    if tests is not None:
        rows = [(f"{name}, test {number}", test) for number, test in enumerate(tests, start=1)]
    else:
        source.documents = _documents(listed_documents(name, data))
        rows = list(listed_rows(name, data))
    source.rows = SpilledList(None, _flat(rows, source.dropped), scratch)
    return source


def _flat(rows: Iterable[tuple[str, Any]], dropped: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where}: expected an object with `question`, not {type(row).__name__}")
        named = {without_surrogates(str(title)): cell for title, cell in row.items() if title != ""}
        try:
            yield where, promptfoo.flat(named, dropped) if promptfoo.is_test(named) else nested.flat(named)
        except ValueError as error:
            raise DatasetError(f"{where}: {error}") from error


def _of_queries(path: Path, queries: Rows) -> Source:
    source = Source()
    beside = judged.judgements_beside(path)
    source.rows = judged.questions(queries, judged.read_judgements(beside) if beside else None)
    if beside is None:
        source.notes.append("no judgements (qrels) stand beside the queries: nothing is known of what is relevant")
    elif not source.rows:
        count = f"{len(queries)} {agree(len(queries), 'query', 'queries')}"
        raise DatasetError(f"{beside.name} judges none of the {count} of {path.name}")
    else:
        source.notes.append(f"relevant documents by {beside.name}: gold is known by the document alone")
        source.dropped.update({_UNJUDGED: len(queries) - len(source.rows)} if len(queries) > len(source.rows) else {})
    corpus = judged.corpus_beside(path)
    unfit = next((row["id"] for _, row in corpus if not re.match(DOCUMENT_ID, row["id"])), None)
    if unfit is None:
        source.documents = _documents(corpus)
    else:
        source.notes.append(f"the corpus cannot be uploaded from here: {unfit!r} cannot be the name of a file")
    return source


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
