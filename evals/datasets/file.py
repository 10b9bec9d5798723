"""Load a file of questions: our own format, those of other tools, SQuAD's JSON, and folders in the layout of BEIR."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evals.datasets.base import Draft, LoadOptions, fingerprint, gold_in, sample
from evals.datasets.columns import Columns, find_columns, flat, is_known, plain_name
from evals.datasets.questions import derived_id, read_question
from evals.datasets.tables import Row, csv_rows, jsonl_rows, located, numbered, read_rows
from evals.errors import DatasetError, withdrawn_file
from evals.schemas.base import Record
from evals.schemas.dataset import DOCUMENT_ID, Document, EvalDataset, EvalQuestion
from evals.store.disk_list import DiskList
from evals.text.decoding import read_text, without_surrogates
from evals.text.numbers import number_or_none

_NAMELESS = "file"
"""The dataset of all questions in a file, as their fingerprint has it: a copy under another name asks the same."""
_ABOUT = frozenset({"name", "version", "description", "licence", "license", "metadata"})
"""Keys of an object that say what the file is; nothing reads them."""
_TOPICS = re.compile(r".*(?:topics|queries).*\.(?:tsv|txt)", re.IGNORECASE)
_QRELS = ("query-id", "corpus-id", "score")
"""The columns of BEIR's judgements."""


def load_file(path: Path, options: LoadOptions) -> EvalDataset:
    """Draw questions of a file, in the order in which they stand there; the dataset is called by the file's stem.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    path = named_path(path)
    draft = read_file(path, options.columns, options.scratch, answered=options.answered)
    held = draft.questions
    places = sample([question.id for question in held], options.samples, options.seed)

    def drawn(dataset: str, places: Iterable[int]) -> Iterator[EvalQuestion]:
        for question in (held[index] for index in places):
            yield question if question.dataset else question.model_copy(update={"dataset": dataset})

    sha256 = fingerprint(drawn(_NAMELESS, places))
    draft.available, draft.questions = len(held), DiskList(drawn(path.stem, sorted(places)), options.scratch)
    return draft.dataset(path.stem, source=path.name, sha256=sha256)


def named_path(path: Path) -> Path:
    """The path with a name, which a folder that is given as "." has not."""
    return path if path.stem.strip(".") else path.resolve()


def read_file(
    path: Path, columns: Mapping[str, str] | None = None, scratch: Path | None = None, *, answered: bool = False
) -> Draft:
    """Read a file of questions, or a folder of queries with judgements of relevance.

    Args:
        path: The file or folder.
        columns: By field, the column that holds it, where its name does not say so.
        scratch: Folder for what lies on disk meanwhile; that of the system where None.
        answered: Whether it is the file of the answers that are scored, too.

    Returns:
        The questions in the order of the file, on disk, and the corpus that came with them.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    path, draft = named_path(path), Draft()
    source = path / "queries.jsonl" if path.is_dir() else path
    if path.is_dir() and not source.is_file():
        raise DatasetError(f"cannot read {path}: it is a folder without {source.name}")
    held, note = read_rows(source, is_known, "`question`", partial(_tree_rows, draft))
    rows = DiskList(((where, _flat(where, row)) for where, row in held), scratch)
    titles = {plain_name(title) for _, row in rows for title in row}
    if len(titles) == 2 and not any(map(is_known, titles)) and _TOPICS.fullmatch(source.name):
        raise withdrawn_file("TREC topics", source.name)
    if {"_id", "text"} <= titles and not titles & {"title", "question"}:  # documents have titles
        rows, columns = DiskList(_judged(source, rows, draft), scratch), {"question": "text", **(columns or {})}
    if not rows:
        hint = "write a row for each question: columns question, expected_answer, gold_passages (docs/datasets.md)"
        raise DatasetError(f"{path.name} holds no questions", hint)
    reading = find_columns(path.name, (row for _, row in rows), columns or {}, answered=answered)
    draft.questions, draft.columns = DiskList(_unique(rows, reading, draft.dropped), scratch), reading.used
    notes = "; ".join([*filter(None, [note]), *draft.notes, *reading.notes()])
    draft.notes = [f"{path.name}: {notes}"] if notes else []
    return draft


def _unique(rows: Iterable[Row], columns: Columns, counts: Counter[str]) -> Iterator[EvalQuestion]:
    places: dict[str, str] = {}
    for where, row in rows:
        question = read_question(row, where, columns, counts)
        if (earlier := places.setdefault(question.id, where)) != where:
            is_derived = question.id == derived_id({"turns": question.turns, "question": question.question})
            what = "the same question" if is_derived else f"id {question.id!r}"
            raise DatasetError(f"{where}: {what} stands at {earlier} already", "leave one out, or give each its own id")
        yield question


def _flat(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(row.get("vars"), Mapping) or any(title.startswith("__expected") for title in row):
        raise withdrawn_file("promptfoo", where)
    with located(where):
        return flat({without_surrogates(title): cell for title, cell in row.items() if title})


def _tree_rows(draft: Draft, name: str, tree: Any) -> Iterable[Row]:
    """The questions of a JSON or YAML file; documents go into the draft."""
    parts = tree if isinstance(tree, Mapping) else {"questions": tree}
    articles = parts.get("data")
    if isinstance(articles, list) and all(isinstance(row, Mapping) and "paragraphs" in row for row in articles):
        return numbered(f"{name}, question", _squad_rows(name, articles, draft))
    if parts.keys() & {"tests", "results"} and parts.keys() & {"prompts", "evalId"}:
        raise withdrawn_file("promptfoo", name)
    with located(name, _Tree, kind=""):
        parts = {str(key): value for key, value in parts.items() if key not in _ABOUT}
        file = _Tree.model_validate(parts)
    _add_documents(numbered(f"{name}, document", file.documents), draft)
    return numbered(f"{name}, question", file.questions)


class _Tree(Record):
    """The value of a JSON or YAML file."""

    questions: list[Any]
    documents: list[Any] = []


def _add_documents(rows: Iterable[Row], draft: Draft) -> None:
    for where, row in rows:
        with located(where, Document):
            document = Document.model_validate(row)
            if document.id in draft.documents:
                raise DatasetError(f"id {document.id!r} is that of another document", "ids must be unique")
        draft.documents[document.id] = document


def _squad_rows(name: str, articles: Iterable[Mapping[str, Any]], draft: Draft) -> Iterator[dict[str, Any]]:
    """The questions of SQuAD's JSON; their paragraphs become documents, and gold of those that have an answer."""
    try:
        pairs = [(article, paragraph) for article in articles for paragraph in article["paragraphs"]]
        for article, paragraph in pairs:
            title, context = str(article.get("title", "SQuAD")).replace("_", " "), paragraph["context"]
            gold = gold_in(draft.add_document(title, context, head=title), context).model_dump(exclude_defaults=True)
            for asked in paragraph["qas"]:
                row = {key: asked.get(key) for key in ("id", "question", "answers", "is_impossible")}
                yield {**row, "gold_passages": [gold] if row["answers"] else [], "metadata": {"article": title}}
    except (KeyError, TypeError, AttributeError) as error:
        raise DatasetError(f"{name}: not a file of SQuAD ({type(error).__name__}: {error})") from error


# The layout of BEIR: queries, judgements of relevance (qrels) and a corpus.


def _judged(path: Path, queries: Sequence[Row], draft: Draft) -> Sequence[Row]:
    """The queries that have a relevant document, with these as gold; all of them where nothing judges."""
    own, splits = path.with_name("qrels.tsv"), sorted(path.parent.glob("qrels/*.tsv"))
    chosen = [own] if own.is_file() else [split for split in splits if split.name == "test.tsv"] or splits
    if len(chosen) > 1:
        listed = ", ".join(split.name for split in splits)
        raise DatasetError(f"{splits[0].parent} holds {listed}", f"copy the one that is wanted to {own}")
    if (corpus := path.with_name("corpus.jsonl")).is_file():
        _add_documents(_documents(corpus, draft), draft)
    if not chosen:
        draft.notes.append("no judgements (qrels) are next to the queries: nothing is known of what is relevant")
        return queries
    draft.notes.append(f"relevant documents by {chosen[0].name}: gold is known by the document alone")
    golds = _read_qrels(chosen[0])
    pairs = ((where, row, golds.get(str(row.get("_id")))) for where, row in queries)
    judged = [(where, {**row, "gold_passages": relevant}) for where, row, relevant in pairs if relevant]
    draft.dropped["query without a relevant document"] += len(queries) - len(judged)
    if not judged:
        raise DatasetError(f"{chosen[0].name} judges none of the queries of {path.name}")
    return judged


def _documents(corpus: Path, draft: Draft) -> Iterator[Row]:
    """The documents of a corpus, without those whose id cannot be the name of a file."""
    for where, row in jsonl_rows(corpus):
        if not (isinstance(row, Mapping) and row.get("_id") is not None and isinstance(row.get("text"), str)):
            raise DatasetError(f"{where}: expected an object with `_id` and `text`")
        title, name = str(row.get("title") or ""), str(row["_id"])
        is_fit = re.match(DOCUMENT_ID, name) is not None
        draft.dropped["document whose id cannot be the name of a file"] += not is_fit
        if is_fit:
            yield where, {"id": name, "name": title or name, "text": "\n\n".join(filter(None, [title, row["text"]]))}


def _read_qrels(path: Path) -> dict[str, list[dict[str, Any]]]:
    """By query its relevant documents as gold passages; what is not relevant is left out."""
    judged: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for where, row in csv_rows(path.name, read_text(path)[0], _QRELS.__contains__):
        query, document, grade = (str(row.get(title, "")).strip() for title in _QRELS)
        if not query or not document or (relevance := number_or_none(grade)) is None:
            hint = f"a header names them: {', '.join(_QRELS)}"
            raise DatasetError(f"{where}: expected query, document and grade", hint)
        if relevance > 0:
            judged[query][document] = {"document_id": document, "relevance": relevance}
    return {query: list(golds.values()) for query, golds in judged.items()}
