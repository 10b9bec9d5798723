"""The questions that a row of a file holds: its cells as fields, its turns, and what its references say."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from evals.datasets.columns import BOOLEANS, PASSAGE_KEYS, Columns, plain_name
from evals.datasets.tables import (
    as_list,
    as_text,
    as_texts,
    is_dash,
    is_nothing,
    located,
    parsed,
    parsed_or_text,
    storable,
)
from evals.errors import DatasetError
from evals.schemas.dataset import EvalQuestion
from evals.text.numbers import counted
from evals.text.refusals import reading

_GOLD_PARTS = {"gold_document_ids": "document_id", "gold_chunk_ids": "chunk_id"}
_GOLD_PARTS |= dict.fromkeys(("gold_sections", "gold_pages"), "section")


def question_fields(row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """The fields of the question that a row holds; those of which it says nothing are left out.

    `expected_answer` may be a list of accepted ones.

    Raises:
        DatasetError: A cell cannot be read; the message names the column.
    """
    data: dict[str, Any] = {}
    for name, column in columns.fields.items():
        cell = row.get(column)
        says_nothing = is_nothing(cell) and not (name == "question" and cell is not None)
        if not says_nothing or (name == "expected_answer" and is_dash(cell)):
            with located(f"column {column}"):
                data[name] = _READERS.get(name, as_text)(split_bars(cell, column, row))
    if "key_sentences" in data:
        source, texts = columns.fields["key_sentences"], data["key_sentences"]
        data["key_sentences"] = [{"text": text, "source": source} if isinstance(text, str) else text for text in texts]
    if golds := _golds(data):
        data["gold_passages"] = golds
    if "is_answerable" in data:
        answerable = data.pop("is_answerable")
        if data.setdefault("is_unanswerable", not answerable) is answerable:
            raise DatasetError("it is answerable and unanswerable at once", "correct one of the two columns")
    kept = [*columns.metadata, columns.fields.get("gold_pages", "")]
    extra = {title: storable(row[title]) for title in kept if not is_nothing(row.get(title))}
    if extra and isinstance(data.setdefault("metadata", {}), Mapping):
        data["metadata"] = {**extra, **data["metadata"]}
    return data


def _golds(data: dict[str, Any]) -> list[Any]:
    """The passages with the ids, sections and pages of other columns; ids that belong to none are golds themselves."""
    golds: list[Any] = data.pop("gold_passages", [])
    texts = golds
    for name, key in _GOLD_PARTS.items():
        values = data.pop(name, [])
        targets = golds if key == "section" else texts
        shared = values * len(targets) if key != "chunk_id" and len(values) == 1 else values
        fit = len(shared) == len(targets) and all(isinstance(gold, dict) and key not in gold for gold in targets)
        if shared and fit:
            for gold, value in zip(targets, shared, strict=True):
                gold[key] = value
        elif key != "section":
            golds = [*golds, *({key: value} for value in values)]
        elif name == "gold_sections" and values:
            count = f"{counted(len(values), 'section')} for {counted(len(golds), 'gold')}"
            raise DatasetError(count, "give one for all, or one for each")
    return golds


def split_bars(cell: Any, column: str, row: Mapping[str, Any]) -> Any:
    """The passages of a cell of deepeval's tables, which join them by a bar without escaping those within."""
    joined = isinstance(cell, str) and plain_name(column) in {"context", "retrieval_context"}
    return cell.split("|") if joined and {"expected_output", "actual_output"} & set(map(plain_name, row)) else cell


def passages(value: Any) -> list[Any]:
    """Texts of passages, or objects, of a cell that a system's answer or the gold stands in.

    Raises:
        ValueError: The cell begins as a list and is none.
    """
    return [passage(item) for item in as_list(value)]


def passage(item: Any) -> Any:
    """A passage as an object with our names for its keys, and its ids as texts."""
    if not isinstance(item, Mapping):
        return {"text": item} if isinstance(item, str) else item
    named = {PASSAGE_KEYS.get(str(key), str(key)): value for key, value in item.items() if value is not None}
    return {key: as_text(value) if key.endswith("_id") else value for key, value in named.items()}


def _expected(value: Any) -> Any:
    """One answer as text, or a list of accepted ones; what looks like a list and is none is a text."""
    if isinstance(value, bool):
        return [as_text(value), str(value).lower()]
    items = parsed_or_text(value)
    return as_texts(items) if isinstance(items, list | tuple) else as_text(value)


def _boolean(value: Any) -> bool:
    boolean = BOOLEANS.get(str(as_text(value)).strip().casefold())
    if boolean is None:
        raise ValueError(f"{value!r} is not true or false; yes, no, Y, N, 1 and 0 will do")
    return boolean


def _turns(value: Any) -> list[str]:
    """What a user says in a conversation, turn by turn."""
    turns = as_list(value) if not isinstance(value, str) or value.lstrip().startswith("[") else []
    if any(isinstance(turn, Mapping) for turn in turns):
        hint = "give a turn that has a reference a row of its own, with the turns up to it"
        raise DatasetError("turns are texts; references of earlier turns are not read any more", hint)
    if not turns or not all(isinstance(turn, str) for turn in turns):
        raise ValueError('it is no list of what a user says; write one, such as ["What is X?", "And Y?"]')
    return turns


def _ids(value: Any) -> list[Any]:
    if isinstance(value, str) and not value.lstrip().startswith("[") and {",", ";"} & set(value):
        raise ValueError(f'{value!r} may be one id or several: write a JSON list, such as ["a", "b"]')
    return as_texts(value)


_READERS = {
    "question": lambda value: "" if is_nothing(value) else value,
    "turns": _turns,
    "expected_answer": _expected,
    "gold_passages": passages,
    "gold_pages": lambda value: [f"page {page}" for page in as_texts(value)],
    "key_sentences": as_list,
    "checks": parsed,
    "metadata": lambda value: storable(parsed(value)),
    **dict.fromkeys(("answers", "gold_sections", "rubric"), as_texts),
    **dict.fromkeys(("gold_document_ids", "gold_chunk_ids"), _ids),
    **dict.fromkeys(("is_unanswerable", "is_answerable"), _boolean),
}


def derived_id(data: Mapping[str, Any]) -> str:
    """The id of a question that is given none, the same in every file; of a conversation, it is of all that is said."""
    text = "\0".join(map(str, data.get("turns") or [data.get("question", "")]))
    return f"q-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:12]}"


# Expected answers that are none: marks that there is no answer, and answers of a model that declined.


_MARK = re.compile(r"\W*(?:no[ _-]?answer(?:[ _-]present)?|unanswerable)\W*", re.IGNORECASE)
"""How datasets say that there is no answer: MS MARCO, RAGBench, Qasper."""
_PROSE = 3
"""Words from which an answer that declines is a sentence: "unknown" may be what is asked for."""
_NEGATION = re.compile(r"\b(?:no|not|none|never|nothing|cannot|without|\w*un\w+able)\b|n['’]t\b", re.IGNORECASE)
_GOLDS = frozenset({"gold_passages", "gold_document_ids", "gold_chunk_ids"})
_REFERENCES = ("expected_answer", "answers")
DECLINED = "expected answer that declines to answer"


def declines(reference: str, question: str) -> bool:
    """Whether the expected answer is a refusal in prose: a model wrote it, and no right answer could be told by it."""
    return len(reference.split()) >= _PROSE and reading(reference, question).declines


@dataclass
class QuestionReader:
    """Reads rows as questions, and counts what a reader must know of them.

    Attributes:
        columns: Of the file.
        dropped: What was left out, by reason.
        dashes: Questions that cannot be answered by an expected answer such as "-".
    """

    columns: Columns
    dropped: Counter[str] = field(default_factory=Counter)
    dashes: int = 0

    def question(self, row: Mapping[str, Any], where: str) -> tuple[EvalQuestion, bool]:
        """The question of a row, and whether its id was given; of a conversation it is the last turn.

        Raises:
            DatasetError: The row is wrong; the message names row and column.
        """
        with located(where, EvalQuestion, self.columns.fields):
            data = question_fields(row, self.columns)
            has_id = "id" in data
            data.setdefault("id", derived_id(data))
            if turns := data.get("turns"):
                if data.get("question") not in (None, "", turns[-1]):
                    raise DatasetError("the question is not the last of the turns", "leave one of the two out")
                data["question"] = turns[-1]
            return self._question(data), has_id

    def notes(self) -> list[str]:
        """What a reader must know of the questions read."""
        if not self.dashes:
            return []
        count = counted(self.dashes, "question", "is")
        return [f"{count} not answerable by an expected answer such as `-`, `none` or `n/a`"]

    def _question(self, data: dict[str, Any]) -> EvalQuestion:
        references = [*_items(data.get("expected_answer")), *_items(data.get("answers"))]
        if all(isinstance(text, str) for text in references):  # else the check of the types tells
            self._settle_references(data, references)
        question = EvalQuestion.model_validate(data)
        if question.is_unanswerable and (name := _answered_by(question)):  # each metric would believe another half
            hint = "is_unanswerable: true has no gold passages, and no expected answer but that it cannot be answered"
            raise DatasetError(f"{name} holds an answer, and is_unanswerable is true", hint)
        return question

    def _settle_references(self, data: dict[str, Any], references: list[str]) -> None:
        """Take what is no expected answer out of the fields of a question, and note what it says of answerability.

        A mark says that there is no answer; so does a dash in a row that has none, and else it says nothing. A question
        with an expected answer or gold is answerable where the file does not say it, unless one of its references
        declines, however short it is. A context may go with any question: it is no gold of one without an answer, and
        shows that there is one only in a file without references.
        """
        question, golds, stated = str(data.get("question", "")), data.get("gold_passages"), data.get("is_unanswerable")
        marks = {text for text in references if _MARK.fullmatch(text.strip())}
        dashes, empty = {text for text in references if is_dash(text)}, set[str]()
        if golds or stated is False or len(dashes) < len(references):
            empty = {dash for dash in dashes if "none" not in dash.casefold()}
        elif all(reading(dash, question).declines for dash in dashes):
            marks |= dashes
        answers = [text for text in references if text not in marks | empty]
        if marks and stated is False:
            what = f"the expected answer is {min(marks)!r}, and is_unanswerable is false"
            raise DatasetError(what, "one of the two is wrong")
        by_mark = bool(marks) and not answers and stated is None
        if by_mark:
            data["is_unanswerable"] = stated = True
            self.dashes += bool(dashes)
        elif marks and answers:
            self.dropped["answerability: the expected answers disagree"] += 1
        columns = self.columns.fields
        if stated and golds and (by_mark or _GOLDS.isdisjoint(map(plain_name, columns.values()))):
            self.dropped["gold passage of a question without an answer"] += len(data.pop("gold_passages"))
        if stated is None:
            is_context = plain_name(columns.get("gold_passages", "")) == "context"
            is_gold = golds and not (is_context and columns.keys() & set(_REFERENCES))
            declined = marks or any(reading(text, question).declines for text in answers)
            data["answerable_by_gold"] = bool(answers or is_gold) and not declined
            refused = [text for text in answers if len(text.split()) >= _PROSE and _refuses(text, question)]
            self.dropped.update([DECLINED] if refused else [])
            answers = [text for text in answers if text not in refused]
        expected, variants = (
            [text for text in _items(data.pop(name, None)) if text in answers] for name in _REFERENCES
        )
        if expected:
            data["expected_answer"] = expected[0]
        data["answers"] = list(dict.fromkeys([*(expected if len(expected) > 1 else []), *variants]))


def _items(value: Any) -> list[Any]:
    return [item for item in (value if isinstance(value, list) else [value]) if item is not None and item != ""]


def _refuses(reference: str, question: str) -> bool:
    read = reading(reference, question)
    return read.declines and not read.doubtful


def _answered_by(question: EvalQuestion) -> str | None:
    """The field that holds an answer to the question; in doubt it declines, for a file is refused otherwise."""
    texts = {"expected_answer": [question.expected_answer or ""], "answers": question.answers}
    for name, held in texts.items():
        if not all(not text or _NEGATION.search(text) or reading(text, question.question).declines for text in held):
            return name
    return "gold_passages" if question.gold_passages else None
