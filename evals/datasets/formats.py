"""Open a file or folder of questions in any supported format."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.datasets import columns, trec
from evals.datasets.base import Draft, gold_in
from evals.datasets.columns import is_known
from evals.datasets.tables import TREES, Rows, as_list, is_nothing, jsonl_rows, listed, numbered, read_table, read_tree
from evals.errors import DatasetError
from evals.schemas.dataset import DOCUMENT_ID, Document
from evals.store.disk_list import DiskList
from evals.text.decoding import without_surrogates
from evals.text.numbers import agree
from evals.text.yaml_files import first_problem

_UNJUDGED = "query without a relevant document"


def open_rows(path: Path, draft: Draft, scratch: Path | None = None) -> Rows:
    """Read a file of questions, or a folder of queries, corpus and judgements.

    Args:
        path: The file or folder; of one with a row a line none is held.
        draft: Takes the documents that came with them, what was left out, and what a reader must know.
        scratch: Folder for what lies on disk meanwhile; that of the system where None.

    Returns:
        Rows whose columns are still as the file calls them; they may lie on disk, to be walked more than once.

    Raises:
        DatasetError: It cannot be read, or is not well formed; the message names the place.
    """
    if path.is_dir():
        path /= trec.QUERIES
        if not path.is_file():
            raise DatasetError(f"cannot read {path.parent}: it is a folder without {trec.QUERIES}")
    if path.suffix.lower() in TREES:
        rows = _tree_rows(path.name, read_tree(path), draft)
    else:
        rows, are_queries = _table_rows(path, draft, scratch)
        if are_queries:
            return _queries(path, rows, draft)
    return DiskList(_columns(rows, draft.dropped), scratch)


def _table_rows(path: Path, draft: Draft, scratch: Path | None) -> tuple[Rows, bool]:
    """The rows of a file with a row after another, and whether they are queries, without a word on their answers."""
    topics = trec.read_topics(path)
    if topics is not None:
        return topics, True
    if path.suffix.lower() == ".jsonl":
        rows: Rows = DiskList(jsonl_rows(path), scratch)
    else:
        rows, note = read_table(path, is_known)
        draft.notes += [note] if note else []
    return rows, trec.is_queries({title for _, row in rows if isinstance(row, Mapping) for title in row})


def _tree_rows(name: str, data: Any, draft: Draft) -> Rows:
    if is_squad(data):
        return squad_rows(name, data, draft)
    tests = tests_of(name, data)
    if tests is not None:
        return numbered(f"{name}, test", tests)
    rows, documents = listed(name, data)
    draft.documents = _documents(documents)
    return rows


def _columns(rows: Iterable[tuple[str, Any]], dropped: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where}: expected an object with `question`, not {type(row).__name__}")
        named = {without_surrogates(str(title)): cell for title, cell in row.items() if title != ""}
        try:
            yield where, columns_of_test(named, dropped) if is_test(named) else columns.flat(named)
        except ValueError as error:
            raise DatasetError(f"{where}: {error}") from error


def _queries(path: Path, queries: Rows, draft: Draft) -> Rows:
    beside = trec.judgements_beside(path)
    rows = trec.questions(queries, trec.read_judgements(beside) if beside else None)
    if beside is None:
        draft.notes.append("no judgements (qrels) are next to the queries: nothing is known of what is relevant")
    elif not rows:
        count = f"{len(queries)} {agree(len(queries), 'query', 'queries')}"
        raise DatasetError(f"{beside.name} judges none of the {count} of {path.name}")
    else:
        draft.notes.append(f"relevant documents by {beside.name}: gold is known by the document alone")
        draft.dropped += Counter({_UNJUDGED: len(queries) - len(rows)})  # where there are any
    corpus = trec.corpus_beside(path)
    unfit = next((row["id"] for _, row in corpus if not re.match(DOCUMENT_ID, row["id"])), None)
    if unfit is None:
        draft.documents = _documents(corpus)
    else:
        draft.notes.append(f"the corpus cannot be uploaded from here: {unfit!r} cannot be the name of a file")
    return rows


def _documents(rows: Iterable[tuple[str, Any]]) -> dict[str, Document]:
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
    return documents


# Tests of promptfoo: its configuration, its CSV form, and what it wrote of a run.


_EXPECT = ({"equals"}, {"similar", "factuality"}, {"contains", "icontains"}, {"contains-any", "icontains-any"})
"""The assertions that name an answer; the first of these that a test has is taken."""

_ANY = _EXPECT[-1]

Assertions = Sequence[tuple[str, Any]]
"""What a test asserts: types with their values."""


_TYPED = re.compile(
    r"(not-)?(equals|i?contains(?:-any|-all)?|similar(?::\w+)?|factuality|starts-with|regex|is-\w+|contains-\w+|llm-rubric|"
    r"grade|fn|eval|javascript|python|file|webhook|model-graded-\w+|g-eval|levenshtein|rouge-n|bleu|latency|cost|perplexity"
    r"|answer-relevance|context-\w+|classifier|moderation|select-best)(?:\([\d.]+\))?:\s*(.*)",
    re.DOTALL,
)
"""An assertion as a cell has it: "contains: 96 hours"; what has no type is to be equal."""


def is_test(row: Any) -> bool:
    """Whether the row is a test: it has variables, or a column of expectations."""
    if not isinstance(row, Mapping):
        return False
    return isinstance(row.get("vars"), Mapping) or any(str(title).startswith("__expected") for title in row)


def tests_of(name: str, data: Any) -> list[Any] | None:
    """The tests of a configuration, of a list of tests, or of the results of a run, each once; None where it is none.

    Raises:
        DatasetError: They stand in another file.
    """
    if not isinstance(data, Mapping):
        there = isinstance(data, list) and data and all(map(is_test, data))
        return list(data) if there else None
    results = data.get("results")
    if isinstance(results, Mapping) and isinstance(results.get("results"), list):
        return _of_run(results["results"])
    configured = isinstance(data.get("tests"), list | str) and data.keys() & {"prompts", "providers"}
    return _tests_there(name, as_list(data["tests"])) if configured else None


def _of_run(results: list[Any]) -> list[Any]:
    """The test of each result; one that several prompts and providers were given counts once."""
    tests = [result.get("testCase") for result in results if isinstance(result, Mapping)]
    return [test for place, test in enumerate(tests) if isinstance(test, Mapping) and test not in tests[:place]]


def _tests_there(name: str, tests: list[Any]) -> list[Any]:
    elsewhere = next((test for test in tests if isinstance(test, str)), None)
    if elsewhere is not None:
        raise DatasetError(f"{name}: its tests are in {elsewhere}", "name that file with --dataset-file")
    return tests


def columns_of_test(row: Mapping[str, Any], dropped: Counter[str]) -> dict[str, Any]:
    """The variables of a test as columns, with what its assertions expect.

    What must be equal is the expected answer, else what must be similar, else what must be contained; of what need be
    contained any, each is accepted. Rubrics (`llm-rubric`) are the question's own.

    Args:
        row: The test, or a row of its CSV form.
        dropped: Counts the assertions that are neither.

    Raises:
        ValueError: The assertions are no list of objects.
    """
    result, assertions = (_of_object if isinstance(row.get("vars"), Mapping) else _of_cells)(row)
    rubric = [value for kind, value in assertions if _is_rubric(kind, value)]
    expected = _expected([each for each in assertions if not _is_rubric(*each)], dropped)
    found = {"rubric": rubric, "expected_answer": expected}
    return result | {field: value for field, value in found.items() if value}


def _is_rubric(kind: str, value: Any) -> bool:
    """Whether an assertion is decided by a judge, in words that stand here."""
    return kind == "llm-rubric" and isinstance(value, str) and not _is_file(value)


def _of_object(row: Mapping[str, Any]) -> tuple[dict[str, Any], Assertions]:
    variables = {key: value for key, value in row["vars"].items() if not _is_file(value)}
    about = {key: row[key] for key in ("description", "metadata") if not is_nothing(row.get(key))}
    sets = (_assertions(each) if each.get("type") == "assert-set" else [each] for each in _assertions(row))
    found = [(str(each.get("type")), each.get("value")) for each in chain.from_iterable(sets)]
    return {**variables, **about}, found


def _of_cells(row: Mapping[str, Any]) -> tuple[dict[str, Any], Assertions]:
    named = {title.removeprefix("__metadata:"): cell for title, cell in row.items()}
    variables = {title: cell for title, cell in named.items() if not title.startswith("__")}
    cells = [cell for title, cell in row.items() if title.startswith("__expected") and not is_nothing(cell)]
    return {**variables, "description": row.get("__description")}, [_of_cell(str(cell)) for cell in cells]


def _assertions(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = row.get("assert") or []
    if not (isinstance(found, list) and all(isinstance(each, Mapping) for each in found)):
        raise ValueError("`assert` must be a list of assertions")
    return found


def _of_cell(cell: str) -> tuple[str, Any]:
    found = _TYPED.fullmatch(cell.strip())
    kind, value = (f"{found[1] or ''}{found[2]}", found[3]) if found else ("equals", cell)
    return kind, value.split(",") if kind in _ANY else value


def _expected(assertions: Assertions, dropped: Counter[str]) -> list[Any]:
    texts: list[list[Any]] = [[] for _ in _EXPECT]
    for kind, value in assertions:
        told = next((place for place, kinds in enumerate(_EXPECT) if kind in kinds), None)
        if told is None or isinstance(value, Mapping) or _is_file(value):
            dropped[f"assertion {kind}"] += 1
        else:
            texts[told] += [item.strip() if isinstance(item, str) else item for item in as_list(value)]
    equal, alike, parts, any_of = texts
    return equal or alike or ([", ".join(map(str, parts))] if parts else any_of)


def _is_file(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("file://")


# The official files of SQuAD: questions within paragraphs within articles.


def is_squad(data: Any) -> bool:
    """Whether the value is such a file."""
    articles = data.get("data") if isinstance(data, Mapping) else None
    return isinstance(articles, list) and all(isinstance(each, Mapping) and "paragraphs" in each for each in articles)


def squad_rows(name: str, data: Mapping[str, Any], draft: Draft) -> Rows:
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
    return numbered(f"{name}, question", rows)


def _article_rows(article: Mapping[str, Any], draft: Draft) -> Iterator[dict[str, Any]]:
    title = str(article.get("title", "SQuAD")).replace("_", " ")
    for paragraph in article["paragraphs"]:
        context = paragraph["context"]
        document = draft.add_document(title, context, head=title)
        gold = gold_in(document, context).model_dump(exclude_defaults=True)
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
