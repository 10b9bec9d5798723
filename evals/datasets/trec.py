"""Read queries with relevance judgements: the layouts of BEIR and TREC."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evals.datasets.columns import is_known, plain_name
from evals.datasets.tables import Rows, is_nothing, jsonl_rows
from evals.errors import DatasetError
from evals.text.decoding import read_text
from evals.text.refusals import reading

QUERIES = "queries.jsonl"

CORPUS = "corpus.jsonl"

_WORDS = ("queries", "topics")

_ENDINGS = (".txt", ".tsv", ".qrels", "")

_SPLIT = "test.tsv"


Judgements = Mapping[str, Mapping[str, float]]
"""By query, the grades of its relevant documents."""


def is_queries(titles: Iterable[str]) -> bool:
    """Whether the columns are those of queries: an id and a text, and no title, which documents have."""
    names = {plain_name(title) for title in titles}
    return {"_id", "text"} <= names and not names & {"title", "question"}


def read_topics(path: Path) -> Rows | None:
    """The rows of a file of queries without a header, an id and a text in each line; None where it is no such file.

    Raises:
        DatasetError: It cannot be read.
    """
    if path.suffix.lower() not in {".tsv", ".txt"} or not any(word in path.name.casefold() for word in _WORDS):
        return None
    lines = enumerate(read_text(path, windows=True)[0].splitlines(), start=1)
    pairs = [(f"{path.name}, line {number}", line.split("\t")) for number, line in lines if line.strip()]
    if not pairs or any(map(is_known, pairs[0][1])) or any(len(cells) != 2 for _, cells in pairs):
        return None
    return [(where, {"_id": key, "text": text}) for where, (key, text) in pairs]


def questions(rows: Rows, judgements: Judgements | None) -> Rows:
    """The queries that are judged, as questions with their relevant documents; all of them where nothing judges.

    Raises:
        DatasetError: A row is no query.
    """
    for where, row in rows:
        if not isinstance(row, Mapping) or row.get("_id") is None or "text" not in row:
            raise DatasetError(f"{where}: expected an object with `_id` and `text`")
    return [
        (where, _question(row, judgements))
        for where, row in rows
        if judgements is None or str(row["_id"]) in judgements
    ]


def _question(row: Mapping[str, Any], judgements: Judgements | None) -> dict[str, Any]:
    others = {key: value for key, value in row.items() if key not in {"_id", "text"}}
    grades = judgements[str(row["_id"])] if judgements else {}
    golds = [{"document_id": document, "relevance": grade} for document, grade in grades.items()]
    return {**others, "id": row["_id"], "question": row["text"], "gold_passages": golds}


def judgements_beside(queries: Path) -> Path | None:
    """The judgements that belong to a file of queries; None where there are none.

    That is a file of the same name with `qrels` for `queries` or `topics`; else in the folder `qrels` the split `test`,
    or the only one.

    Raises:
        DatasetError: There are several, and nothing says which.
    """
    twin = next(filter(Path.is_file, _twins(queries)), None)
    if twin is not None:
        return twin
    splits = sorted((queries.parent / "qrels").glob("*.tsv"))
    chosen = [path for path in splits if path.name == _SPLIT] or splits
    if len(chosen) > 1:
        raise DatasetError(
            f"{queries.parent / 'qrels'} holds {', '.join(path.name for path in splits)}",
            f"copy the one that is wanted to {queries.with_name('qrels.tsv')}",
        )
    return chosen[0] if chosen else None


def _twins(queries: Path) -> Iterator[Path]:
    for word in _WORDS:
        if word in queries.stem:
            yield from (queries.with_name(queries.stem.replace(word, "qrels") + ending) for ending in _ENDINGS)


def read_judgements(path: Path) -> Judgements:
    """Read judgements: query, document and grade, or the four columns of TREC. What is not relevant is left out.

    Raises:
        DatasetError: The file cannot be read, or a line is none.
    """
    found: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read_text(path)[0].split("\n"), start=1):
        cells = line.rstrip("\r").split("\t" if "\t" in line else None)
        is_header = number == 1 and not any(map(_is_number, cells))
        if is_header or not line.strip():
            continue
        if len(cells) not in {3, 4} or not _is_number(cells[-1]):
            raise DatasetError(f"{path.name}, line {number}: expected query, document and grade")
        grades = found.setdefault(cells[0], {})
        if float(cells[-1]) > 0:
            grades[cells[-2]] = float(cells[-1])
    return {query: grades for query, grades in found.items() if grades}


def _is_number(cell: str) -> bool:
    return cell.strip().lstrip("-").replace(".", "", 1).isdecimal()


def corpus_beside(queries: Path) -> Rows:
    """The documents that stand next to queries, as rows; none where there is no corpus.

    Raises:
        DatasetError: A line is no document.
    """
    path = queries.with_name(CORPUS)
    if not path.is_file():
        return []
    rows = []
    for where, row in jsonl_rows(path):
        if not (isinstance(row, Mapping) and "_id" in row and isinstance(row.get("text"), str)):
            raise DatasetError(f"{where}: expected an object with `_id` and `text`")
        title = str(row.get("title") or "")
        text = f"{title}\n\n{row['text']}" if title else row["text"]
        rows.append((where, {"id": str(row["_id"]), "name": title or str(row["_id"]), "text": text}))
    return rows


# Expected answers that are none: marks that there is no answer, and answers of a model that declined.


_MARK = re.compile(r"\W*(?:no[ _-]?answer(?:[ _-]present)?|unanswerable)\W*", re.IGNORECASE)
"""How datasets say that there is no answer: MS MARCO, RAGBench, Qasper."""


_PROSE = 3
"""Words from which an answer that declines is a sentence: "none" and "unknown" may be what is asked for."""

DECLINED = "expected answer that declines to answer"

_DISAGREE = "answerability: the expected answers disagree"

_PASSAGES = "gold passage of a question without an answer"


def is_mark(reference: str) -> bool:
    """Whether it says that the question has no answer: "No Answer Present.", "NoAnswer", "unanswerable"."""
    return _MARK.fullmatch(reference.strip()) is not None


def declines(reference: str, question: str) -> bool:
    """Whether the expected answer is a refusal in prose: a model wrote it, and no right answer could be told by it."""
    return len(reference.split()) >= _PROSE and reading(reference, question).declines


def settle(data: dict[str, Any], where: str, dropped: Counter[str], *, gold_is_said: bool, gold_answers: bool) -> None:
    """Take what is no expected answer out of the fields of a question, and note what it says of answerability.

    A question with an expected answer or gold is answerable where the file does not say it, unless one of its
    references declines, however short it is.

    Args:
        data: The fields; `expected_answer` may be a list. Changed in place.
        where: The row, for messages.
        dropped: Counts what is left out, by reason.
        gold_is_said: Whether the file calls its passages gold; a context may go with any question, and is none of one
            that it does not answer.
        gold_answers: Whether a gold passage shows that the question has an answer.

    Raises:
        DatasetError: The expected answer says that there is none, and is_unanswerable that there is one.
    """
    texts = [*_texts(data.get("expected_answer")), *_texts(data.get("answers"))]
    if not all(isinstance(text, str) for text in texts):
        return  # which the check of the types will tell
    given, out = set(texts), set(filter(is_mark, texts))
    by_mark = _unanswerable_by(out, given, data, where, dropped)
    if data.get("is_unanswerable") and (by_mark or not gold_is_said) and data.get("gold_passages"):
        dropped[_PASSAGES] += len(data.pop("gold_passages"))
    if data.get("is_unanswerable") is None:
        asked = str(data.get("question", ""))
        known = given or (gold_answers and data.get("gold_passages"))
        data["answerable_by_gold"] = bool(known) and not (out or any(reading(text, asked).declines for text in given))
        read = {text: reading(text, asked) for text in given - out if len(text.split()) >= _PROSE}
        refused = {text for text, found in read.items() if found.declines and not found.doubtful}
        dropped.update([DECLINED] if refused else [])
        out |= refused
    _keep(data, out)


def _unanswerable_by(marks: set[str], given: set[str], data: dict[str, Any], where: str, dropped: Counter[str]) -> bool:
    """Whether all references are marks, and so say what the file does not: that the question cannot be answered."""
    if not marks:
        return False
    if data.get("is_unanswerable") is False:
        raise DatasetError(
            f"{where}: the expected answer is {min(marks)!r}, and is_unanswerable is false", "one of the two is wrong"
        )
    if marks < given:
        dropped[_DISAGREE] += 1
        return False
    is_new = data.get("is_unanswerable") is None
    data["is_unanswerable"] = True
    return is_new


def _texts(value: Any) -> list[Any]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if not is_nothing(item)]


def _keep(data: dict[str, Any], out: set[str]) -> None:
    """Put back what is left: the first expected answer, and of several all as accepted variants."""
    expected, answers = (
        [text for text in _texts(data.pop(field, None)) if text not in out] for field in ("expected_answer", "answers")
    )
    if expected:
        data["expected_answer"] = expected[0]
    if variants := list(dict.fromkeys([*(expected if len(expected) > 1 else []), *answers])):
        data["answers"] = variants
