"""Queries with judgements of relevance: the layouts of BEIR and TREC, in which documents are named by their ids."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from evals.datasets.columns import is_known, plain_name
from evals.datasets.tables import Rows, is_nothing, jsonl_rows
from evals.errors import DatasetError
from evals.text.decoding import read_text
from evals.text.refusals.detector import is_abstention, is_clear_refusal

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
    for word in _WORDS:
        if word in queries.stem:
            twin = queries.with_name(queries.stem.replace(word, "qrels"))
            for ending in _ENDINGS:
                if (found := twin.with_name(twin.name + ending)).is_file():
                    return found
    splits = sorted((queries.parent / "qrels").glob("*.tsv"))
    chosen = [path for path in splits if path.name == _SPLIT] or splits
    if len(chosen) > 1:
        raise DatasetError(
            f"{queries.parent / 'qrels'} holds {', '.join(path.name for path in splits)}",
            f"copy the one that is wanted to {queries.with_name('qrels.tsv')}",
        )
    return chosen[0] if chosen else None


def read_judgements(path: Path) -> Judgements:
    """Read judgements: query, document and grade, or the four columns of TREC. What is not relevant is left out.

    Raises:
        DatasetError: The file cannot be read, or a line is none.
    """
    found: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read_text(path)[0].split("\n"), start=1):
        cells = line.rstrip("\r").split("\t") if "\t" in line else line.split()
        if not line.strip() or (number == 1 and not any(map(_is_number, cells))):
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
    """The documents that stand beside queries, as rows; none where there is no corpus.

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
    return len(reference.split()) >= _PROSE and is_abstention(reference, question)


def _is_refusal(reference: str, question: str) -> bool:
    """Whether an expected answer of a user is clearly a refusal; a finding ("no defects were found") is none."""
    return len(reference.split()) >= _PROSE and is_clear_refusal(reference, question)


def _is_answerable(references: Collection[str], question: str, golds: Any, gold_answers: bool) -> bool:
    """Whether there is a reference or a gold that answers, and no reference may decline, however short it is."""
    known = references or (gold_answers and golds)
    return bool(known) and not any(is_mark(text) or is_abstention(text, question) for text in references)


def settle(data: dict[str, Any], where: str, dropped: Counter[str], *, gold_is_said: bool, gold_answers: bool) -> None:
    """Take what is no expected answer out of the fields of a question, and note what it says of answerability.

    A question with an expected answer or gold is answerable where the file does not say it, unless one of its
    references declines.

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
    said = data.get("is_unanswerable")
    expected, answers = _texts(data.get("expected_answer")), _texts(data.get("answers"))
    if not all(isinstance(text, str) for text in (*expected, *answers)):
        return  # which the check of the types will tell
    given, asked = {*expected, *answers}, str(data.get("question", ""))
    marks = {text for text in given if is_mark(text)}
    if marks and said is False:
        raise DatasetError(
            f"{where}: the expected answer is {min(marks)!r}, and is_unanswerable is false", "one of the two is wrong"
        )
    if marks and marks < given:
        dropped[_DISAGREE] += 1
    elif marks and said is None:
        data["is_unanswerable"] = said = True
        gold_is_said = False
    if said and not gold_is_said and (passages := data.pop("gold_passages", None)):
        dropped[_PASSAGES] += len(passages)
    out = set(marks)
    if said is None:
        out |= {text for text in given if _is_refusal(text, asked)}
        data["answerable_by_gold"] = _is_answerable(given, asked, data.get("gold_passages"), gold_answers)
    if out - marks:
        dropped[DECLINED] += 1
    _keep(data, [text for text in expected if text not in out], [text for text in answers if text not in out])


def _texts(value: Any) -> list[Any]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if not is_nothing(item)]


def _keep(data: dict[str, Any], expected: list[str], answers: list[str]) -> None:
    """Put back what is left: the first expected answer, and of several all as accepted variants."""
    variants = list(dict.fromkeys([*(expected if len(expected) > 1 else []), *answers]))
    data.pop("expected_answer", None)
    data.pop("answers", None)
    if expected:
        data["expected_answer"] = expected[0]
    if variants:
        data["answers"] = variants
