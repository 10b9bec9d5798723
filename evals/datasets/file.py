"""Load a file of questions: our own format, those of other tools, SQuAD's JSON, and folders in the layout of BEIR."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from evals.datasets.base import Draft, LoadOptions, fingerprint, sample
from evals.datasets.columns import Columns, derived_id, find_columns, flat, is_known, plain_name, read_fields
from evals.datasets.tables import Row, csv_rows, is_dash, is_nothing, jsonl_rows, located, numbered, read_rows, storable
from evals.errors import DatasetError, withdrawn_file
from evals.schemas.base import Record
from evals.schemas.dataset import DOCUMENT_ID, Document, EvalDataset, EvalQuestion
from evals.store.disk_list import DiskList
from evals.text.decoding import read_text, without_surrogates
from evals.text.numbers import number_or_none
from evals.text.refusals import reading

_TOPICS = re.compile(r".*(?:topics|queries).*\.(?:tsv|txt)", re.IGNORECASE)


def load_file(path: Path, options: LoadOptions) -> EvalDataset:
    """Draw questions of a file, in the order in which they stand there; the dataset is called by the file's stem.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    draft = read_file(path := named_path(path), options.columns, options.scratch, answered=options.answered)
    held = draft.questions
    places = sample([question.id for question in held], options.samples, options.seed)

    def drawn(dataset: str, places: Iterable[int]) -> Iterator[EvalQuestion]:
        for question in (held[index] for index in places):
            yield question if question.dataset else question.model_copy(update={"dataset": dataset})

    sha256 = fingerprint(drawn("file", places))  # a copy under another name asks the same
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
    raw, note = read_rows(source, is_known, "`question`", partial(_tree_rows, draft))
    rows: Iterator[Row] = ((where, _flat(where, row)) for where, row in raw)
    first = next(rows, None)
    if first is None:
        raise DatasetError(f"{path.name} holds no questions", "write a row for each question (docs/datasets.md)")
    rows, titles = chain([first], rows), set(map(plain_name, first[1]))
    if len(titles) == 2 and not any(map(is_known, titles)) and _TOPICS.fullmatch(source.name):
        raise withdrawn_file("TREC topics", source.name)
    if {"_id", "text"} <= titles and not titles & {"title", "question"}:  # documents have titles
        rows, columns = _with_qrels(source, rows, draft), {"question": "text", **(columns or {})}
    flattened = DiskList(rows, scratch)
    layout = find_columns(path.name, (row for _, row in flattened), columns or {}, answered=answered)
    draft.questions = DiskList(_questions(flattened, layout, draft.dropped), scratch)
    draft.columns = layout.used
    notes = "; ".join([*filter(None, [note]), *draft.notes, *layout.notes])
    draft.notes = [f"{path.name}: {notes}"] if notes else []
    return draft


def _flat(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(row.get("vars"), Mapping) or any(title.startswith("__expected") for title in row):
        raise withdrawn_file("promptfoo", where)
    with located(where):
        return flat({without_surrogates(title): cell for title, cell in row.items() if title})


# Files that are one value of JSON or YAML: our own with its documents, and SQuAD's.


_ABOUT = frozenset({"name", "version", "description", "licence", "license", "metadata"})
"""Keys of an object that say what the file is; nothing reads them."""


class _Tree(Record):
    """The value of a JSON or YAML file."""

    questions: list[Any]
    documents: list[Any] = []


def _tree_rows(draft: Draft, name: str, tree: Any) -> Iterable[Row]:
    """The questions of a JSON or YAML file; documents go into the draft."""
    parts = tree if isinstance(tree, Mapping) else {"questions": tree}
    articles = parts.get("data")
    if isinstance(articles, list) and all(isinstance(row, Mapping) and "paragraphs" in row for row in articles):
        return numbered(f"{name}, question", _squad_rows(name, articles, draft))
    if parts.keys() & {"tests", "results"} and parts.keys() & {"prompts", "evalId"}:
        raise withdrawn_file("promptfoo", name)
    with located(name, _Tree, kind=""):
        file = _Tree.model_validate({str(key): value for key, value in parts.items() if key not in _ABOUT})
    _add_documents(numbered(f"{name}, document", file.documents), draft)
    return numbered(f"{name}, question", file.questions)


def _add_documents(rows: Iterable[Row], draft: Draft) -> None:
    for where, row in rows:
        with located(where, Document):
            document = Document.model_validate(row)
            if draft.documents.setdefault(document.id, document) is not document:
                raise DatasetError(f"id {document.id!r} is that of another document", "ids must be unique")


def _squad_rows(name: str, articles: Iterable[Mapping[str, Any]], draft: Draft) -> Iterator[dict[str, Any]]:
    """The questions of SQuAD's JSON; their paragraphs become documents, and gold of those that have an answer."""
    try:
        for article, paragraph in [(row, paragraph) for row in articles for paragraph in row["paragraphs"]]:
            title = str(article.get("title", "SQuAD")).replace("_", " ")
            gold = draft.add_document(title, paragraph["context"], head=title).model_dump(exclude_defaults=True)
            for asked in paragraph["qas"]:
                row = {key: asked.get(key) for key in ("id", "question", "answers", "is_impossible")}
                yield {**row, "gold_passages": [gold] if row["answers"] else [], "metadata": {"article": title}}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DatasetError(f"{name}: not a file of SQuAD ({type(error).__name__}: {error})") from error


# The layout of BEIR: queries, judgements of relevance (qrels) and a corpus.


_QRELS = ("query-id", "corpus-id", "score")
"""The columns of BEIR's judgements."""


def _with_qrels(path: Path, queries: Iterable[Row], draft: Draft) -> Iterator[Row]:
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
        yield from queries
        return
    draft.notes.append(f"relevant documents by {chosen[0].name}: gold is known by the document alone")
    golds, judged = _read_qrels(chosen[0]), 0
    for where, row in queries:
        if relevant := golds.get(str(row.get("_id"))):
            judged += 1
            yield where, {**row, "gold_passages": list(relevant.values())}
        draft.dropped["query without a relevant document"] += not relevant
    if not judged:
        raise DatasetError(f"{chosen[0].name} judges none of the queries of {path.name}")


def _documents(corpus: Path, draft: Draft) -> Iterator[Row]:
    """The documents of a corpus, without those whose id cannot be the name of a file."""
    for where, row in jsonl_rows(corpus):
        if not (isinstance(row, Mapping) and row.get("_id") is not None and isinstance(row.get("text"), str)):
            raise DatasetError(f"{where}: expected an object with `_id` and `text`")
        title, name = str(row.get("title") or ""), str(row["_id"])
        if re.match(DOCUMENT_ID, name):
            yield where, {"id": name, "name": title or name, "text": "\n\n".join(filter(None, [title, row["text"]]))}
        else:
            draft.dropped["document whose id cannot be the name of a file"] += 1


def _read_qrels(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """By query and document the gold passages; what is not relevant is left out."""
    golds: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for where, row in csv_rows(path.name, read_text(path)[0], _QRELS.__contains__):
        query, document, grade = (str(row.get(title, "")).strip() for title in _QRELS)
        if not query or not document or (relevance := number_or_none(grade)) is None:
            hint = f"a header names them: {', '.join(_QRELS)}"
            raise DatasetError(f"{where}: expected query, document and grade", hint)
        if relevance > 0:
            golds[query][document] = {"document_id": document, "relevance": relevance}
    return golds


# Rows as questions.


def _questions(rows: Iterable[Row], columns: Columns, counts: Counter[str]) -> Iterator[EvalQuestion]:
    """The questions of rows; what is left out is counted, by reason."""
    places: dict[str, str] = {}
    for where, row in rows:
        with located(where, EvalQuestion, columns.fields):
            data = _question_fields(row, columns)
            _settle_references(data, columns.fields, counts)
            question = EvalQuestion.model_validate({"id": derived_id(data), **data})
        if (earlier := places.setdefault(question.id, where)) != where:
            what = f"id {question.id!r}" if data.get("id") else "the same question"
            raise DatasetError(f"{where}: {what} stands at {earlier} already", "leave one out, or give each its own id")
        yield question


def _question_fields(row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    reference = columns.fields.get("expected_answer")
    held = {
        title: cell for title, cell in row.items() if not is_nothing(cell) or (title == reference and is_dash(cell))
    }
    data = read_fields(held, columns.fields)
    if turns := data.get("turns"):
        data.setdefault("question", turns[-1])
    if texts := data.get("key_sentences"):
        source = columns.fields["key_sentences"]
        data["key_sentences"] = [{"text": text, "source": source} if isinstance(text, str) else text for text in texts]
    if "is_answerable" in data:
        answerable = data.pop("is_answerable")
        if data.setdefault("is_unanswerable", not answerable) is answerable:
            raise DatasetError("it is answerable and unanswerable at once", "correct one of the two columns")
    kept = [*columns.metadata, columns.fields.get("gold_pages", "")]
    extra = {title: storable(held[title]) for title in kept if title in held}
    if extra and isinstance(data.setdefault("metadata", {}), Mapping):
        data["metadata"] = {**extra, **data["metadata"]}
    return data


# Expected answers that are none: marks that there is no answer, and answers of a model that declined.


_MARK = re.compile(r"\W*(?:no[ _-]?answer(?:[ _-]present)?|unanswerable)\W*", re.IGNORECASE)
"""How datasets say that there is no answer: MS MARCO, RAGBench, Qasper."""
_PROSE = 3
"""Words from which an answer that declines is a sentence: "unknown" may be what is asked for."""
_NEGATION = re.compile(r"\b(?:no|not|none|never|nothing|cannot|without|\w*un\w+able)\b|n['’]t\b", re.IGNORECASE)
DECLINED = "expected answer that declines to answer"


def declines(reference: str, question: str, *, surely: bool = False) -> bool:
    """Whether the expected answer is a refusal in prose: a model wrote it, and no right answer could be told by it."""
    read = reading(reference, question)
    return len(reference.split()) >= _PROSE and read.declines and not (surely and read.doubtful)


def _settle_references(data: dict[str, Any], columns: Mapping[str, str], counts: Counter[str]) -> None:
    """Keep what of the references is an expected answer; what the others say of answerability goes into the fields.

    A mark says that there is no answer; so does a dash in a row that has none, and else it says nothing. A question
    with an expected answer or gold is answerable where the file does not say it, unless one of its references
    declines, however short it is. A question without an answer has no gold. A context may go with any question: it
    shows that there is an answer only in a file without references.
    """
    given, variants = data.pop("expected_answer", []), data.pop("answers", [])
    references = {text for text in [*given, *variants] if isinstance(text, str)}
    question, golds, stated = str(data.get("question", "")), data.get("gold_passages"), data.get("is_unanswerable")
    declining = {text for text in references if reading(text, question).declines}
    alone = all(map(is_dash, references)) and not golds and stated is not False
    marks = {text for text in references if _MARK.fullmatch(text.strip()) or (alone and text in declining)}
    silent = {text for text in references if is_dash(text) and "none" not in text.casefold() and not alone}
    answers = references - marks - silent
    told = {text for text in answers - declining if not _NEGATION.search(text)}
    if wrong := marks if stated is False else told if stated else set():
        what = f"the expected answer is {min(wrong)!r}, and is_unanswerable is {str(stated).lower()}"
        raise DatasetError(what, "one of the two is wrong")
    if marks and answers:
        counts["answerability: the expected answers disagree"] += 1
    elif marks and stated is None:
        data["is_unanswerable"] = stated = True
        counts["expected answer that says that there is none (`-`, `none`, `n/a`)"] += alone
    if stated:
        counts["gold passage of a question without an answer"] += len(data.pop("gold_passages", []))
    elif stated is None:
        is_context = plain_name(columns.get("gold_passages", "")) == "context"
        is_shown = golds and not (is_context and columns.keys() & {"expected_answer", "answers"})
        data["answerable_by_gold"] = bool(answers or is_shown) and not marks and answers.isdisjoint(declining)
        refused = {text for text in answers if declines(text, question, surely=True)}
        counts[DECLINED] += bool(refused)
        answers -= refused
    dropped = [*(references - answers)]
    given, variants = ([text for text in listed if text not in dropped] for listed in (given, variants))
    data["expected_answer"] = next(iter(given), None)
    texts = [*(given if len(given) > 1 else []), *variants]
    data["answers"] = [text for number, text in enumerate(texts) if text not in texts[:number]]
