"""What a file or folder of questions holds, whoever wrote it: rows of columns, documents, and what was left out."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.datasets import columns, trec
from evals.datasets.base import Draft
from evals.datasets.columns import is_known
from evals.datasets.tables import (
    TREES,
    Rows,
    Table,
    as_list,
    is_nothing,
    jsonl_rows,
    listed_documents,
    listed_rows,
    read_table,
    read_tree,
)
from evals.errors import DatasetError
from evals.schemas.dataset import DOCUMENT_ID, Document
from evals.store.disk_buffer import DiskList
from evals.text.decoding import without_surrogates
from evals.text.numbers import agree
from evals.text.yaml_files import first_problem

# Tests of promptfoo: its configuration, its CSV form, and what it wrote of a run.


_EXACT = frozenset({"equals"})

_LIKE = frozenset({"similar", "factuality"})

_PART = frozenset({"contains", "icontains"})

_ANY = frozenset({"contains-any", "icontains-any"})


_TYPED = re.compile(
    r"(not-)?(equals|i?contains(?:-any|-all)?|similar(?::\w+)?|factuality|starts-with|regex|is-\w+|contains-\w+|llm-rubric|"
    r"grade|fn|eval|javascript|python|file|webhook|model-graded-\w+|g-eval|levenshtein|rouge-n|bleu|latency|cost|perplexity"
    r"|answer-relevance|context-\w+|classifier|moderation|select-best)(?:\([\d.]+\))?:\s*(.*)",
    re.DOTALL,
)
"""An assertion as a cell has it: "contains: 96 hours"; what has no type is to be equal."""

_METADATA = "__metadata:"


def is_test(row: Mapping[str, Any]) -> bool:
    """Whether the row is a test: it has variables, or a column of expectations."""
    return isinstance(row.get("vars"), Mapping) or any(str(title).startswith("__expected") for title in row)


def tests_of(name: str, data: Any) -> list[Any] | None:
    """The tests of a configuration, of a list of tests, or of the results of a run, each once; None where it is none.

    Raises:
        DatasetError: They stand in another file.
    """
    if not isinstance(data, Mapping):
        there = isinstance(data, list) and data and all(isinstance(row, Mapping) and is_test(row) for row in data)
        return list(data) if there else None
    results = data.get("results")
    if isinstance(results, Mapping) and isinstance(results.get("results"), list):
        return _run_tests(results["results"])
    if not (isinstance(data.get("tests"), list | str) and ("prompts" in data or "providers" in data)):
        return None
    tests = as_list(data["tests"])
    elsewhere = next((test for test in tests if isinstance(test, str)), None)
    if elsewhere is not None:
        raise DatasetError(f"{name}: its tests stand in {elsewhere}", "name that file with --dataset-file")
    return tests


def _run_tests(results: list[Any]) -> list[Any]:
    """The test of each result; one that several prompts and providers were given counts once."""
    tests = [result.get("testCase") for result in results if isinstance(result, Mapping)]
    tests = [test for test in tests if isinstance(test, Mapping)]
    return [test for place, test in enumerate(tests) if test not in tests[:place]]


def flat(row: Mapping[str, Any], dropped: Counter[str]) -> dict[str, Any]:
    """The variables of a test as columns, with what its assertions expect.

    What must be equal is the expected answer, else what must be similar, else what must be contained; of what need be
    contained any, each is accepted.

    Args:
        row: The test, or a row of its CSV form.
        dropped: Counts the assertions that expect no answer.

    Raises:
        ValueError: The assertions are no list of objects.
    """
    nested = isinstance(row.get("vars"), Mapping)
    assertions = list(_nested_assertions(row) if nested else _cell_assertions(row))
    result = _nested_columns(row) if nested else _cell_columns(row)
    expected = _expected(assertions, dropped)
    return {**result, "expected_answer": expected} if expected else result


def _nested_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    columns = {key: value for key, value in row["vars"].items() if not _is_file(value)}
    about = {key: row[key] for key in ("description", "metadata") if not is_nothing(row.get(key))}
    return {**columns, **about}


def _cell_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    columns = {title: cell for title, cell in row.items() if not title.startswith("__")}
    about = {title.removeprefix(_METADATA): cell for title, cell in row.items() if title.startswith(_METADATA)}
    return {**columns, **about, "description": row.get("__description")}


def _nested_assertions(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for each in _assertions(row):
        for assertion in _assertions(each) if each.get("type") == "assert-set" else [each]:
            yield str(assertion.get("type")), assertion.get("value")


def _assertions(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = row.get("assert") or []
    if not (isinstance(found, list) and all(isinstance(each, Mapping) for each in found)):
        raise ValueError("`assert` must be a list of assertions")
    return found


def _cell_assertions(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for title, cell in row.items():
        if title.startswith("__expected") and not is_nothing(cell):
            found = _TYPED.fullmatch(str(cell).strip())
            kind, value = (f"{found[1] or ''}{found[2]}", found[3]) if found else ("equals", str(cell))
            yield kind, value.split(",") if kind in _ANY else value


def _expected(assertions: list[tuple[str, Any]], dropped: Counter[str]) -> Any:
    texts: dict[frozenset[str], list[Any]] = {_EXACT: [], _LIKE: [], _PART: [], _ANY: []}
    for kind, value in assertions:
        told = next((kinds for kinds in texts if kind in kinds), None)
        if told is None or isinstance(value, Mapping) or _is_file(value):
            dropped[f"assertion {kind}"] += 1
        else:
            texts[told] += [item.strip() if isinstance(item, str) else item for item in as_list(value)]
    parts = [", ".join(map(str, texts[_PART]))] if texts[_PART] else []
    return texts[_EXACT] or texts[_LIKE] or parts or texts[_ANY]


def _is_file(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("file://")


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
        if not (path / trec.QUERIES).is_file():
            raise DatasetError(f"cannot read {path}: it is a folder without {trec.QUERIES}")
        path /= trec.QUERIES
    if path.suffix.lower() in TREES:
        return _of_tree(path.name, read_tree(path), scratch)
    topics = trec.read_topics(path)
    if topics is not None:
        return _of_queries(path, topics)
    table = _read_table(path, scratch)
    if trec.is_queries({title for _, row in table.rows if isinstance(row, Mapping) for title in row}):
        return _of_queries(path, table.rows)
    source = Source(notes=[table.note] if table.note else [])
    source.rows = DiskList(None, _flat(table.rows, source.dropped), scratch)
    return source


def _read_table(path: Path, scratch: Path | None) -> Table:
    if path.suffix.lower() == ".jsonl":
        return Table(DiskList(None, jsonl_rows(path), scratch))
    return read_table(path, is_known)


def _of_tree(name: str, data: Any, scratch: Path | None) -> Source:
    source = Source()
    if is_squad(data):
        draft = Draft()
        source.rows = squad_rows(name, data, draft)
        source.documents = list(draft.documents.values())
        return source
    tests = tests_of(name, data)
    if tests is not None:
        rows = [(f"{name}, test {number}", test) for number, test in enumerate(tests, start=1)]
    else:
        source.documents = _documents(listed_documents(name, data))
        rows = list(listed_rows(name, data))
    source.rows = DiskList(None, _flat(rows, source.dropped), scratch)
    return source


def _flat(rows: Iterable[tuple[str, Any]], dropped: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where}: expected an object with `question`, not {type(row).__name__}")
        named = {without_surrogates(str(title)): cell for title, cell in row.items() if title != ""}
        try:
            yield where, flat(named, dropped) if is_test(named) else columns.flat(named)
        except ValueError as error:
            raise DatasetError(f"{where}: {error}") from error


def _of_queries(path: Path, queries: Rows) -> Source:
    source = Source()
    beside = trec.judgements_beside(path)
    source.rows = trec.questions(queries, trec.read_judgements(beside) if beside else None)
    if beside is None:
        source.notes.append("no judgements (qrels) stand beside the queries: nothing is known of what is relevant")
    elif not source.rows:
        count = f"{len(queries)} {agree(len(queries), 'query', 'queries')}"
        raise DatasetError(f"{beside.name} judges none of the {count} of {path.name}")
    else:
        source.notes.append(f"relevant documents by {beside.name}: gold is known by the document alone")
        source.dropped.update({_UNJUDGED: len(queries) - len(source.rows)} if len(queries) > len(source.rows) else {})
    corpus = trec.corpus_beside(path)
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


# The official files of SQuAD: questions within paragraphs within articles.


def is_squad(data: Any) -> bool:
    """Whether the value is such a file."""
    articles = data.get("data") if isinstance(data, Mapping) else None
    return isinstance(articles, list) and all(isinstance(each, Mapping) and "paragraphs" in each for each in articles)


def squad_rows(name: str, data: Mapping[str, Any], draft: Draft) -> list[tuple[str, dict[str, Any]]]:
    """The questions as rows; their paragraphs become documents of the draft, and gold of those that have an answer.

    Raises:
        DatasetError: A paragraph or question lacks what it must have.
    """
    try:
        rows = [row for article in data["data"] for row in _article_rows(article, draft)]
    except KeyError as error:
        raise DatasetError(f"{name}: not a file of SQuAD ({error} is missing)") from error
    except (TypeError, AttributeError) as error:
        raise DatasetError(f"{name}: not a file of SQuAD ({error})") from error
    return [(f"{name}, question {number}", row) for number, row in enumerate(rows, start=1)]


def _article_rows(article: Mapping[str, Any], draft: Draft) -> Iterator[dict[str, Any]]:
    title = str(article.get("title", "SQuAD")).replace("_", " ")
    for paragraph in article["paragraphs"]:
        context = paragraph["context"]
        document = draft.add_document(title, context, head=title)
        start = len(document.text) - len(context)
        gold = {"text": context, "document_id": document.id, "span": (start, len(document.text))}
        for asked in paragraph["qas"]:
            answers = [answer["text"] for answer in asked.get("answers") or []]
            yield {
                "id": asked.get("id"),
                "question": asked["question"],
                "answers": answers,
                "gold_passages": [gold] if answers else [],
                "is_unanswerable": asked.get("is_impossible"),
                "metadata": {"article": title},
            }
