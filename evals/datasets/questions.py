"""The questions that a row of a file holds: its cells as fields, its turns, and what its references say."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pydantic import ValidationError

from evals.datasets.columns import BOOLEANS, PASSAGE_KEYS, QUESTION_COLUMNS, Columns, plain_name
from evals.datasets.tables import as_list, as_text, as_texts, is_dash, is_nothing, parsed, storable
from evals.errors import DatasetError
from evals.schemas.dataset import CONVERSATION, EvalQuestion
from evals.text.numbers import counted
from evals.text.refusals import reading
from evals.text.yaml_files import first_problem

_GOLD_PARTS = {
    "gold_document_ids": "document_id",
    "gold_chunk_ids": "chunk_id",
    "gold_sections": "section",
    "gold_pages": "section",
}
_OF_A_TURN = [name for name in QUESTION_COLUMNS if name not in {"id", "turns", "dataset", "metadata"}]


def question_fields(row: Mapping[str, Any], columns: Columns, where: str) -> dict[str, Any]:
    """The fields of the question that a row holds; those of which it says nothing are left out.

    `expected_answer` may be a list of accepted ones.

    Raises:
        DatasetError: A cell cannot be read; the message names row and column.
    """
    data: dict[str, Any] = {}
    for name, column in columns.fields.items():
        cell = row.get(column)
        says_nothing = is_nothing(cell) and not (name == "question" and cell is not None)
        if not says_nothing or (name == "expected_answer" and is_dash(cell)):
            try:
                data[name] = _READERS.get(name, as_text)(split_bars(cell, column, row))
            except ValueError as error:
                raise DatasetError(f"{where}, column {column}: {error}") from error
    if "key_sentences" in data:
        source, texts = columns.fields["key_sentences"], data["key_sentences"]
        data["key_sentences"] = [{"text": text, "source": source} if isinstance(text, str) else text for text in texts]
    _join_golds(data, where)
    if "is_answerable" in data:
        answerable = data.pop("is_answerable")
        if data.setdefault("is_unanswerable", not answerable) is answerable:
            raise DatasetError(f"{where}: it is answerable and unanswerable at once", "correct one of the two columns")
    kept = [*columns.metadata, columns.fields.get("gold_pages", "")]
    extra = {title: storable(row[title]) for title in kept if not is_nothing(row.get(title))}
    if extra and isinstance(data.setdefault("metadata", {}), Mapping):
        data["metadata"] = {**extra, **data["metadata"]}
    return data


def _join_golds(data: dict[str, Any], where: str) -> None:
    """Give passages the ids, sections and pages of other columns; ids that belong to none are golds of their own."""
    golds = data.get("gold_passages", [])
    texts = list(golds)
    for name, key in _GOLD_PARTS.items():
        values = data.pop(name, [])
        targets = golds if key == "section" else texts
        shared = values * len(targets) if key != "chunk_id" and len(values) == 1 else values
        if (
            shared
            and len(shared) == len(targets)
            and all(isinstance(gold, dict) and key not in gold for gold in targets)
        ):
            for gold, value in zip(targets, shared, strict=True):
                gold[key] = value
        elif key != "section":
            golds = [*golds, *({key: value} for value in values)]
        elif name == "gold_sections" and values:
            count = f"{counted(len(values), 'section')} for {counted(len(golds), 'gold')}"
            raise DatasetError(f"{where}: {count}", "give one for all, or one for each")
    if golds:
        data["gold_passages"] = golds


def split_bars(cell: Any, column: str, row: Mapping[str, Any]) -> Any:
    """The passages of a cell of deepeval's tables, which join them by a bar without escaping those within."""
    joined = isinstance(cell, str) and plain_name(column) in {"context", "retrieval_context"}
    return cell.split("|") if joined and {"expected_output", "actual_output"} & set(map(plain_name, row)) else cell


def passages(value: Any) -> list[Any]:
    """Texts of passages, or objects, of a cell that a system's answer or the gold stands in.

    Raises:
        ValueError: The cell begins as a list and is none.
    """
    return [passage({"text": item} if isinstance(item, str) else item) for item in as_list(value)]


def passage(item: Any) -> Any:
    """A passage with our names for its keys, and its ids as texts."""
    if not isinstance(item, Mapping):
        return item
    named = {PASSAGE_KEYS.get(str(key), str(key)): value for key, value in item.items() if value is not None}
    return {key: as_text(value) if key.endswith("_id") else value for key, value in named.items()}


def _expected(value: Any) -> Any:
    """One answer as text, or a list of accepted ones; what looks like a list and is none is a text."""
    if isinstance(value, bool):
        return [as_text(value), str(value).lower()]
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            items = as_list(value)
        except ValueError:
            return value
        return items if items and all(isinstance(item, str) for item in items) else value
    return as_texts(value) if isinstance(value, list | tuple) else as_text(value)


def _boolean(value: Any) -> bool:
    boolean = BOOLEANS.get(str(as_text(value)).strip().casefold())
    if boolean is None:
        raise ValueError(f"{value!r} is not true or false; yes, no, Y, N, 1 and 0 will do")
    return boolean


def _json(value: Any) -> Any:
    if isinstance(value, str) and parsed(value) == value:
        raise ValueError(f"not valid JSON ({value[:40]!r})")
    return parsed(value)


def _turns(value: Any) -> list[Any]:
    """The turns of a conversation: texts, and objects with a question."""
    turns = as_list(value) if not isinstance(value, str) or value.lstrip().startswith("[") else []
    if not turns or not isinstance(turns[0], str | Mapping):
        raise ValueError('it is no list of what a user says; write one, such as ["What is X?", "And Y?"]')
    return turns


def _ids(value: Any) -> list[Any]:
    if isinstance(value, str) and not value.lstrip().startswith("[") and {",", ";"} & set(value):
        raise ValueError(f'{value!r} may be one id or several: write a JSON list, such as ["a", "b"]')
    return as_texts(value)


_READERS = {
    "question": lambda value: value,
    "turns": _turns,
    "expected_answer": _expected,
    "gold_passages": passages,
    "gold_pages": lambda value: [f"page {page}" for page in as_texts(value)],
    "key_sentences": as_list,
    "checks": _json,
    "metadata": lambda value: storable(_json(value)),
    **dict.fromkeys(("answers", "gold_sections", "rubric"), as_texts),
    **dict.fromkeys(("gold_document_ids", "gold_chunk_ids"), _ids),
    **dict.fromkeys(("is_unanswerable", "is_answerable"), _boolean),
}


# Conversations: rows with `turns`, a list of what a user says, the last of which is the question.


def derived_id(data: Mapping[str, Any]) -> str:
    """The id of a question that is given none, the same in every file; of a conversation, it is of all that is said."""
    turns = data.get("turns") or [data.get("question", "")]
    text = "\0".join(str(turn.get("question") if isinstance(turn, Mapping) else turn) for turn in turns)
    return f"q-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:12]}"


def with_turns(data: dict[str, Any], given_id: str, where: str) -> Iterator[dict[str, Any]]:
    """The fields of the questions that a row holds: one, and of a conversation one more for each other turn with gold.

    Each of them is a question with the turns up to it, so that it is asked in a conversation of its own.

    Raises:
        DatasetError: A turn is neither a text nor an object with a question and its gold.
    """
    fields = {**data, "id": given_id}
    turns = [_turn(item, f"{where}, turn {number}") for number, item in enumerate(fields.pop("turns", ()), start=1)]
    if not turns:
        yield fields
        return
    messages = [turn.pop("question") for turn in turns]
    if not is_nothing(fields.get("question")) and fields["question"] != messages[-1]:
        raise DatasetError(f"{where}, column question: it is not the last of the turns", "leave one of the two out")
    if twice := sorted(turns[-1].keys() & fields.keys()):
        raise DatasetError(f"{where}: {twice[0]} stands in the row and in its last turn", "leave one of the two out")
    if any(turns[:-1]) and isinstance(fields.setdefault("metadata", {}), Mapping):
        fields["metadata"] = {CONVERSATION: given_id, **fields["metadata"]}
    shared: dict[str, Any] = {key: fields[key] for key in ("dataset", "metadata") if key in fields}
    for number, gold in enumerate(turns, start=1):
        asked = {"question": messages[number - 1], "turns": messages[:number]}
        if number == len(turns):
            yield {**fields, **gold, **asked}
        elif gold:
            yield {**shared, **gold, **asked, "id": f"{given_id}#{number}"}


def _turn(item: Any, where: str) -> dict[str, Any]:
    """The message of a turn as its question, with its gold."""
    turn = {"question": item} if isinstance(item, str) else item
    if not isinstance(turn, Mapping) or not isinstance(turn.get("question"), str) or is_nothing(turn["question"]):
        raise DatasetError(f"{where}: it is neither a text nor an object with a question", "see docs/datasets.md")
    if unknown := sorted(map(str, turn.keys() - set(_OF_A_TURN))):
        raise DatasetError(f"{where}: unknown key {unknown[0]!r}", f"a turn may have {', '.join(_OF_A_TURN)}")
    return question_fields(turn, Columns({key: key for key in turn}), where)


# Expected answers that are none: marks that there is no answer, and answers of a model that declined.


_MARK = re.compile(r"\W*(?:no[ _-]?answer(?:[ _-]present)?|unanswerable)\W*", re.IGNORECASE)
"""How datasets say that there is no answer: MS MARCO, RAGBench, Qasper."""
_PROSE = 3
"""Words from which an answer that declines is a sentence: "unknown" may be what is asked for."""
_OFTEN = 3
"""Questions that expect the same words, from which on a note says so: the words may be a mark."""
_ANSWERABILITY = frozenset({"is_unanswerable", "is_answerable"})
_NEGATION = re.compile(r"\b(?:no|not|none|never|nothing|cannot|without|\w*un\w+able)\b|n['’]t\b", re.IGNORECASE)
_ELIDED = re.compile(r"\w[^\w\s]*\s+\[?(?:…|\.{3})\]?\s+\w")
"""A passage of which words in the middle were left out, as quotations do."""
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
        elided: Gold passages that leave words out.
        dashes: Questions that cannot be answered by an expected answer such as "-".
        expected: How many questions without a gold passage expect an answer of several words.
    """

    columns: Columns
    dropped: Counter[str] = field(default_factory=Counter)
    elided: int = 0
    dashes: int = 0
    expected: Counter[str] = field(default_factory=Counter)

    def questions(self, row: Mapping[str, Any], where: str) -> Iterator[tuple[EvalQuestion, bool]]:
        """The questions of a row, several where it is a conversation, and whether their id was given.

        Raises:
            DatasetError: The row is wrong; the message names row and column.
        """
        data = question_fields(row, self.columns, where)
        for fields in with_turns(data, data.get("id", derived_id(data)), where):
            question = self._question(fields, where)
            self.elided += sum(bool(_ELIDED.search(gold.text)) for gold in question.gold_passages)
            if question.expected_answer and not (question.gold_passages or self.columns.fields.keys() & _ANSWERABILITY):
                self.expected[question.expected_answer] += " " in question.expected_answer.strip()
            yield question, "id" in data

    def notes(self) -> Iterator[str]:
        """What a reader must know of the questions read."""
        if self.dashes:
            count = counted(self.dashes, "question", "is")
            yield f"{count} not answerable by an expected answer such as `-`, `none` or `n/a`"
        expected, times = next(iter(self.expected.most_common(1)), ("", 0))
        if times >= _OFTEN:
            yield (
                f"{times} questions without a gold passage expect {expected[:60]!r}: if that means that no document "
                "answers them, write `-` instead, or mark them in a column is_unanswerable"
            )
        if self.elided:
            golds = counted(self.elided, "gold passage", "leaves")
            yield f"{golds} words out (…), and may be found in no chunk: give each part as a passage of its own"

    def _question(self, data: dict[str, Any], where: str) -> EvalQuestion:
        self._settle_references(data, where)
        columns = self.columns.fields
        try:
            question = EvalQuestion.model_validate(data)
        except ValidationError as error:
            problem = first_problem(error, EvalQuestion)
            key, dot, rest = problem.key.partition(".")
            hint = problem.hint or ("write the question there, or delete the row" if key == "question" else None)
            raise DatasetError(f"{where}, column {columns.get(key, key)}{dot}{rest}: {problem.what}", hint) from error
        if is_nothing(question.question):
            raise DatasetError(f"{where}, column {columns.get('question', 'question')}: it is empty")
        answered = [
            *(["gold_passages"] if question.gold_passages else []),
            *(["expected_answer"] if not _may_decline(question.expected_answer, question) else []),
            *(["answers"] if not all(_may_decline(answer, question) for answer in question.answers) else []),
        ]
        if question.is_unanswerable and answered:  # each metric would believe another half of the row
            raise DatasetError(
                f"{where}, column {answered[0]}: the question has an answer, and is_unanswerable is true",
                "is_unanswerable: true has no gold passages, and no expected answer but that it cannot be answered",
            )
        return question

    def _settle_references(self, data: dict[str, Any], where: str) -> None:
        """Take what is no expected answer out of the fields of a question, and note what it says of answerability.

        A question with an expected answer or gold is answerable where the file does not say it, unless one of its
        references declines, however short it is. A context may go with any question: it is no gold of one without an
        answer, and shows that there is one only in a file without references.
        """
        references = [*_texts(data.get("expected_answer")), *_texts(data.get("answers"))]
        if not all(isinstance(text, str) for text in references):
            return  # which the check of the types will tell
        given, question = set(references), str(data.get("question", ""))
        marks, empty = self._take_marks(given, question, data, where)
        if data.get("is_unanswerable") is None:
            columns, golds = self.columns.fields, data.get("gold_passages")
            is_context = plain_name(columns.get("gold_passages", "")) == "context"
            known = given - empty or (golds and not (is_context and columns.keys() & set(_REFERENCES)))
            declined = marks or any(reading(text, question).declines for text in given - empty)
            data["answerable_by_gold"] = bool(known) and not declined
            readings = {text: reading(text, question) for text in given - marks if len(text.split()) >= _PROSE}
            refused = {text for text, found in readings.items() if found.declines and not found.doubtful}
            self.dropped.update([DECLINED] if refused else [])
            empty |= refused
        out = marks | empty
        expected, answers = ([text for text in _texts(data.pop(name, None)) if text not in out] for name in _REFERENCES)
        if expected:
            data["expected_answer"] = expected[0]
        if variants := list(dict.fromkeys([*(expected if len(expected) > 1 else []), *answers])):
            data["answers"] = variants

    def _take_marks(
        self, given: set[str], question: str, data: dict[str, Any], where: str
    ) -> tuple[set[str], set[str]]:
        """The references that say that there is no answer, and those that say nothing; where all do, it is so."""
        golds, unanswerable = data.get("gold_passages"), data.get("is_unanswerable")
        dashes = {text for text in given if is_dash(text)}
        marks, empty = {text for text in given if _MARK.fullmatch(text.strip())}, set[str]()
        if golds or given > dashes or unanswerable is False:
            empty = {dash for dash in dashes if "none" not in dash.casefold()}  # there is an answer, and it is not here
        elif all(reading(dash, question).declines for dash in dashes):
            marks |= dashes
        if marks and unanswerable is False:
            what = f"{where}: the expected answer is {min(marks)!r}, and is_unanswerable is false"
            raise DatasetError(what, "one of the two is wrong")
        by_mark = bool(marks) and marks == given - empty and unanswerable is None
        if by_mark:
            data["is_unanswerable"] = True
            self.dashes += bool(dashes)
        elif marks and marks < given - empty:
            self.dropped["answerability: the expected answers disagree"] += 1
        is_named_gold = not _GOLDS.isdisjoint(map(plain_name, self.columns.fields.values()))
        if data.get("is_unanswerable") and golds and (by_mark or not is_named_gold):
            self.dropped["gold passage of a question without an answer"] += len(data.pop("gold_passages"))
        return marks, empty


def _texts(value: Any) -> list[Any]:
    return [item for item in (value if isinstance(value, list) else [value]) if item is not None and item != ""]


def _may_decline(answer: str | None, question: EvalQuestion) -> bool:
    """Whether it may say that there is no answer: in doubt it does, for a file is refused otherwise."""
    return not answer or bool(_NEGATION.search(answer)) or reading(answer, question.question).declines
