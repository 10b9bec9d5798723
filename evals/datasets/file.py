"""Load a file of questions: our own format, those of other tools, SQuAD's JSON, and folders in the layout of BEIR."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.datasets.base import Draft, LoadOptions, fingerprint, gold_in, sample
from evals.datasets.columns import find_columns, flat, is_known, plain_name
from evals.datasets.questions import QuestionReader
from evals.datasets.tables import TREES, Row, csv_rows, jsonl_rows, located, numbered, read_table, read_tree, rows_in
from evals.errors import DatasetError, withdrawn_file
from evals.schemas.dataset import DOCUMENT_ID, Document, EvalDataset, EvalQuestion
from evals.store.disk_list import DiskList
from evals.text.decoding import read_text, without_surrogates
from evals.text.numbers import agree, counted, number_or_none

_NAMELESS = "file"
"""The dataset of all questions in a file, as their fingerprint has it: a copy under another name asks the same."""
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
        for question in (held[place] for place in places):
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
    rows = _rows(path, draft, scratch)
    if not rows:
        hint = "write a row for each question: columns question, expected_answer, gold_passages (docs/datasets.md)"
        raise DatasetError(f"{path.name} holds no questions", hint)
    reading = find_columns(path.name, (row for _, row in rows), columns or {}, answered=answered)
    reader = QuestionReader(reading, draft.dropped)
    draft.questions = DiskList(_unique(rows, reader), scratch)
    draft.columns = reading.used()
    notes = [*draft.notes, *reading.notes(), *reader.notes()]
    draft.notes = [f"{path.name}: {'; '.join(notes)}"] if notes else []
    return draft


def _unique(rows: Sequence[Row], reader: QuestionReader) -> Iterator[EvalQuestion]:
    places: dict[str, str] = {}
    for where, row in rows:
        question, has_id = reader.question(row, where)
        if places.setdefault(question.id, where) != where:
            what, hint = f"id {question.id!r}", "ids must be unique in a file"
            if not has_id:
                what, hint = "the same question", "leave one of them out, or give each an id"
            raise DatasetError(f"{where}: {what} stands at {places[question.id]} already", hint)
        yield question


def _rows(path: Path, draft: Draft, scratch: Path | None) -> DiskList[Row]:
    """The rows of a file or folder, without objects around their columns; documents and notes go into the draft."""
    if path.is_dir():
        path /= "queries.jsonl"
        if not path.is_file():
            raise DatasetError(f"cannot read {path.parent}: it is a folder without {path.name}")
    if path.suffix.lower() in TREES:
        return DiskList(_flat_rows(_tree_rows(path.name, read_tree(path), draft)), scratch)
    table, note = read_table(path, is_known)
    draft.notes += [note] if note else []
    rows = DiskList(_flat_rows(table), scratch)
    titles = {plain_name(title) for _, row in rows for title in row}
    if len(titles) == 2 and not any(map(is_known, titles)) and _TOPICS.fullmatch(path.name):
        raise withdrawn_file("TREC topics", path.name)
    is_beir = {"_id", "text"} <= titles and not titles & {"title", "question"}  # documents have titles
    return DiskList(_judged(path, rows, draft), scratch) if is_beir else rows


def _flat_rows(rows: Iterable[Row]) -> Iterator[Row]:
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where}: expected an object with `question`, not {type(row).__name__}")
        if isinstance(row.get("vars"), Mapping) or any(str(title).startswith("__expected") for title in row):
            raise withdrawn_file("promptfoo", where)
        with located(where):
            columns = flat({without_surrogates(str(title)): cell for title, cell in row.items() if title != ""})
        yield where, columns


def _tree_rows(name: str, data: Any, draft: Draft) -> Iterable[Row]:
    keys = data.keys() if isinstance(data, Mapping) else set()
    articles = data["data"] if "data" in keys else None
    if isinstance(articles, list) and all(isinstance(row, Mapping) and "paragraphs" in row for row in articles):
        return _squad_rows(name, articles, draft)
    if keys & {"tests", "results"} and keys & {"prompts", "evalId"}:
        raise withdrawn_file("promptfoo", name)
    questions, documents = rows_in(name, data)
    _add_documents(documents, draft)
    return questions


def _add_documents(rows: Iterable[Row], draft: Draft) -> None:
    for where, row in rows:
        with located(where, Document):
            document = Document.model_validate(row)
        if document.id in draft.documents:
            raise DatasetError(f"{where}: id {document.id!r} is that of another document", "ids must be unique")
        draft.documents[document.id] = document


# The official files of SQuAD: questions within paragraphs within articles.


def _squad_rows(name: str, articles: Iterable[Mapping[str, Any]], draft: Draft) -> list[Row]:
    """The questions as rows; their paragraphs become documents of the draft, and gold of those that have an answer."""
    rows = []
    try:
        paragraphs = [(article, paragraph) for article in articles for paragraph in article["paragraphs"]]
        for article, paragraph in paragraphs:
            title, context = str(article.get("title", "SQuAD")).replace("_", " "), paragraph["context"]
            gold = gold_in(draft.add_document(title, context, head=title), context).model_dump(exclude_defaults=True)
            for asked in paragraph["qas"]:
                answers = [answer["text"] for answer in asked.get("answers") or []]
                row = {"id": asked.get("id"), "question": asked["question"], "answers": answers}
                row |= {"gold_passages": [gold] if answers else [], "is_unanswerable": asked.get("is_impossible")}
                rows.append({**row, "metadata": {"article": title}})
    except (KeyError, TypeError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise DatasetError(f"{name}: not a file of SQuAD ({what})") from error
    return list(numbered(f"{name}, question", rows))


# The layout of BEIR: queries, judgements of relevance (qrels) and a corpus.


def _judged(path: Path, queries: Iterable[Row], draft: Draft) -> list[Row]:
    """The queries that have a relevant document, as rows of questions; all of them where nothing judges."""
    qrels, corpus = _qrels_for(path), path.with_name("corpus.jsonl")
    grades = _read_qrels(qrels) if qrels else {}
    questions = [(where, _query(row, grades)) for where, row in _with_id_and_text(queries)]
    asked = [(where, row) for where, row in questions if row["gold_passages"]] if qrels else questions
    if qrels is None:
        draft.notes.append("no judgements (qrels) are next to the queries: nothing is known of what is relevant")
    else:
        draft.notes.append(f"relevant documents by {qrels.name}: gold is known by the document alone")
        if not asked:
            count = f"{len(questions)} {agree(len(questions), 'query', 'queries')}"
            raise DatasetError(f"{qrels.name} judges none of the {count} of {path.name}")
        if unjudged := len(questions) - len(asked):
            draft.dropped["query without a relevant document"] += unjudged
    documents = (
        [(where, _document(row)) for where, row in _with_id_and_text(jsonl_rows(corpus))] if corpus.is_file() else []
    )
    ids = {row["id"] for _, row in documents}
    if unnamed := {document for judged in grades.values() for document in judged} - ids if ids else set():
        count = counted(len(unnamed), "relevant document", "is")
        draft.notes.append(f"{count} not in corpus.jsonl, such as {min(unnamed)!r}")
    if unfit := [document for document in ids if not re.match(DOCUMENT_ID, document)]:
        draft.notes.append(f"the corpus cannot be uploaded from here: {min(unfit)!r} cannot be the name of a file")
    else:
        _add_documents(documents, draft)
    return asked


def _with_id_and_text(rows: Iterable[Row]) -> Iterator[Row]:
    for where, row in rows:
        if not (isinstance(row, Mapping) and row.get("_id") is not None and isinstance(row.get("text"), str)):
            raise DatasetError(f"{where}: expected an object with `_id` and `text`")
        yield where, row


def _query(row: Mapping[str, Any], grades: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    relevant = grades.get(str(row["_id"]), {})
    golds = [{"document_id": document, "relevance": grade} for document, grade in relevant.items()]
    more = {key: value for key, value in row.items() if key not in {"_id", "text"}}
    return {**more, "id": row["_id"], "question": row["text"], "gold_passages": golds}


def _document(row: Mapping[str, Any]) -> dict[str, Any]:
    title = str(row.get("title") or "")
    text = f"{title}\n\n{row['text']}" if title else row["text"]
    return {"id": str(row["_id"]), "name": title or str(row["_id"]), "text": text}


def _qrels_for(queries: Path) -> Path | None:
    """`qrels.tsv` next to the queries, else the split `test` in the folder `qrels`, or the only one."""
    own, folder = queries.with_name("qrels.tsv"), queries.with_name("qrels")
    splits = [own] if own.is_file() else sorted(folder.glob("*.tsv"))
    chosen = [path for path in splits if path.name == "test.tsv"] or splits
    if len(chosen) > 1:
        listed = ", ".join(path.name for path in splits)
        raise DatasetError(f"{folder} holds {listed}", f"copy the one that is wanted to {own}")
    return chosen[0] if chosen else None


def _read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """By query the grades of its relevant documents; what is not relevant is left out."""
    judged: dict[str, dict[str, float]] = {}
    for where, row in csv_rows(path.name, read_text(path)[0], _QRELS.__contains__):
        query, document, grade = (str(row.get(title, "")).strip() for title in _QRELS)
        if not query or not document or (relevance := number_or_none(grade)) is None:
            raise DatasetError(
                f"{where}: expected query, document and grade", f"a header names them: {', '.join(_QRELS)}"
            )
        if relevance > 0:
            judged.setdefault(query, {})[document] = relevance
    return judged
