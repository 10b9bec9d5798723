"""Load a file of questions, in our format or that of another tool."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.datasets.base import Draft, LoadOptions, fingerprint, sample
from evals.datasets.columns import NAMES, Reading, plain_name, question_data, reading_of
from evals.datasets.formats import open_rows
from evals.datasets.tables import is_nothing
from evals.datasets.trec import settle
from evals.errors import DatasetError
from evals.schemas.dataset import CONVERSATION, EvalDataset, EvalQuestion
from evals.store.disk_list import DiskList
from evals.text.numbers import counted
from evals.text.refusals import reading
from evals.text.yaml_files import first_problem

# Conversations: rows with `turns`, a list of what a user says, the last of which is the question.


_NOT_OF_A_TURN = frozenset({"id", "turns", "dataset", "metadata"})

_OF_A_TURN = [field for field in NAMES if field not in _NOT_OF_A_TURN]


def questions_of(data: dict[str, Any], given_id: str, where: str) -> Iterator[dict[str, Any]]:
    """The fields of the questions that a row holds: one, and of a conversation one more for each other turn with gold.

    Each of them is a question with the turns up to it, so that it is asked in a conversation of its own.

    Args:
        data: The fields of the row.
        given_id: Of the row.
        where: The place of the row, for messages.

    Raises:
        DatasetError: A turn is neither a text nor an object with a question and its gold.
    """
    if "turns" not in data:
        yield {**data, "id": given_id}
        return
    turns = [_turn(item, f"{where}, turn {number}") for number, item in enumerate(data.pop("turns"), start=1)]
    messages = [turn.pop("question") for turn in turns]
    _refuse_doubles(data, messages[-1], turns[-1], where)
    if any(turns[:-1]):
        metadata = data.get("metadata", {})  # what is no mapping is left for the check of its type
        data["metadata"] = {CONVERSATION: given_id, **metadata} if isinstance(metadata, Mapping) else metadata
    shared: dict[str, Any] = {key: data[key] for key in ("dataset", "metadata") if key in data}
    for number, gold in enumerate(turns[:-1], start=1):
        if gold:
            yield {**shared, **gold, **_said(messages[:number]), "id": f"{given_id}#{number}"}
    yield {**data, **turns[-1], **_said(messages), "id": given_id}


def _said(messages: list[str]) -> dict[str, Any]:
    return {"question": messages[-1], "turns": messages}


def _refuse_doubles(data: Mapping[str, Any], question: str, last: Mapping[str, Any], where: str) -> None:
    said = data.get("question")
    if not is_nothing(said) and said != question:
        raise DatasetError(f"{where}, column question: it is not the last of the turns", "leave one of the two out")
    if twice := sorted(last.keys() & data.keys()):
        raise DatasetError(f"{where}: {twice[0]} stands in the row and in its last turn", "leave one of the two out")


def _turn(item: Any, where: str) -> dict[str, Any]:
    """The message of a turn as its question, with its gold."""
    if isinstance(item, str):
        item = {"question": item}
    if not isinstance(item, Mapping) or not isinstance(item.get("question"), str) or is_nothing(item["question"]):
        raise DatasetError(f"{where}: it is neither a text nor an object with a question", "see docs/datasets.md")
    unknown = sorted(map(str, item.keys() - set(_OF_A_TURN)))
    if unknown:
        raise DatasetError(f"{where}: unknown key {unknown[0]!r}", f"a turn may have {', '.join(_OF_A_TURN)}")
    return question_data(item, Reading({key: key for key in item}), where)


def key_of(data: Mapping[str, Any]) -> object:
    """What the id of a row without one is derived from: of a conversation, all that is said."""
    turns = data.get("turns")
    if not turns:
        return data.get("question", "")
    return "\0".join(str(turn.get("question") if isinstance(turn, Mapping) else turn) for turn in turns)


_NEGATION = re.compile(r"\b(?:no|not|none|never|nothing|cannot|without|\w*un\w+able)\b|n['’]t\b", re.IGNORECASE)


_ELIDED = re.compile(r"\w[^\w\s]*\s+\[?(?:…|\.{3})\]?\s+\w")
"""A passage of which words in the middle were left out, as quotations do."""


_NAMELESS = "file"
"""The dataset of all questions in a file, as their fingerprint has it: a copy under another name asks the same."""

_HINT_EMPTY = "write the question there, or delete the row"

_REFERENCES = frozenset({"expected_answer", "answers"})

_SAID_TO_BE_GOLD = frozenset({"gold_passages", "gold_document_ids", "gold_chunk_ids"})


def load_file(path: Path, options: LoadOptions) -> EvalDataset:
    """Draw questions of a file, in the order in which they stand there; the dataset is called by the file's stem.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    draft = read_file(path, options.columns, options.scratch, answered=options.answered)
    held = draft.questions
    places = sample([question.id for question in held], options.samples, options.seed)
    drawn = fingerprint(map(partial(_of, _NAMELESS), (held[place] for place in places)))
    asked = map(partial(_of, path.stem), (held[place] for place in sorted(places)))
    draft.available, draft.questions = len(held), DiskList(asked, options.scratch)
    return draft.dataset(path.stem, (), path.name, drawn)


def _of(dataset: str, question: EvalQuestion) -> EvalQuestion:
    """The question, of this dataset where it names none."""
    return question if question.dataset else question.model_copy(update={"dataset": dataset})


def read_file(
    path: Path, columns: Mapping[str, str] | None = None, scratch: Path | None = None, *, answered: bool = False
) -> Draft:
    """Read a file of questions, or a folder of queries with judgements of relevance.

    Args:
        path: The file.
        columns: By field, the column that holds it, where its name does not say so.
        scratch: Folder for what lies on disk meanwhile; that of the system where None.
        answered: Whether it is the file of the answers that are scored, too.

    Returns:
        The questions in the order of the file, on disk, and the corpus that came with them.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    draft = Draft()
    rows = open_rows(path, draft, scratch)
    if not rows:
        raise DatasetError(f"{path.name} holds no questions")
    reading = reading_of(path.name, (row for _, row in rows), columns or {}, answered=answered)
    elided: list[str] = []
    draft.questions = DiskList(_questions(rows, reading, draft.dropped, elided), scratch)
    draft.columns = reading.used()
    notes = [*draft.notes, *reading.notes()]
    if elided:
        golds = counted(len(elided), "gold passage", "leaves")
        notes.append(f"{golds} words out (…), and may be found in no chunk: give each part as a passage of its own")
    draft.notes = [f"{path.name}: {'; '.join(notes)}"] if notes else []
    return draft


def _questions(
    rows: Sequence[tuple[str, Mapping[str, Any]]], reading: Reading, dropped: Counter[str], elided: list[str]
) -> Iterator[EvalQuestion]:
    numbers: dict[str, int] = {}
    for number, (where, row) in enumerate(rows):
        for question, named in _of_row(row, reading, where, dropped):
            first = numbers.setdefault(question.id, number)
            if first != number:
                raise _twice(question, where, rows[first][0], named=named)
            elided += [question.id for gold in question.gold_passages if _ELIDED.search(gold.text)]
            yield question


def _twice(question: EvalQuestion, where: str, earlier: str, *, named: bool) -> DatasetError:
    what, hint = f"id {question.id!r}", "ids must be unique in a file"
    if not named:
        what, hint = "the same question", "leave one of them out, or give each an id"
    return DatasetError(f"{where}: {what} stands at {earlier} already", hint)


def _of_row(
    row: Mapping[str, Any], reading: Reading, where: str, dropped: Counter[str]
) -> Iterator[tuple[EvalQuestion, bool]]:
    """The questions of a row, which are several where it is a conversation, and whether its id was given."""
    data = question_data(row, reading, where)
    named = "id" in data
    for each in questions_of(data, data.get("id", derived_id(key_of(data))), where):
        yield _question(each, reading, where, dropped), named


def _question(data: dict[str, Any], reading: Reading, where: str, dropped: Counter[str]) -> EvalQuestion:
    fields = reading.fields
    settle(
        data,
        where,
        dropped,
        gold_is_said=not _SAID_TO_BE_GOLD.isdisjoint(map(plain_name, fields.values())),
        gold_answers=plain_name(fields.get("gold_passages", "")) != "context" or _REFERENCES.isdisjoint(fields),
    )
    try:
        question = EvalQuestion.model_validate(data)
    except ValidationError as error:
        problem = first_problem(error, EvalQuestion)
        key, dot, rest = problem.key.partition(".")
        column = f"{reading.fields.get(key, key)}{dot}{rest}"
        hint = problem.hint or (_HINT_EMPTY if data.get("question") == "" else None)
        raise DatasetError(f"{where}, column {column}: {problem.what}", hint) from error
    if is_nothing(question.question):
        raise DatasetError(f"{where}, column {reading.fields.get('question', 'question')}: it is empty")
    _refuse_contradiction(question, where)
    return question


def derived_id(question: object) -> str:
    """The id of a question that is given none: the same in every file and at every place."""
    return f"q-{sha256(str(question).encode(errors='surrogatepass')).hexdigest()[:12]}"


def _refuse_contradiction(question: EvalQuestion, where: str) -> None:
    """Stop where what cannot be answered has an answer: each metric would believe another half of the row."""
    if not question.is_unanswerable:
        return
    answers = {
        "gold_passages": bool(question.gold_passages),
        "expected_answer": bool(question.expected_answer) and not _declines(question.expected_answer or "", question),
        "answers": not all(_declines(answer, question) for answer in question.answers),
    }
    column = next((name for name, there in answers.items() if there), None)
    if column:
        raise DatasetError(
            f"{where}, column {column}: the question has an answer, and is_unanswerable is true",
            "is_unanswerable: true has no gold passages, and no expected answer but that it cannot be answered",
        )


def _declines(answer: str, question: EvalQuestion) -> bool:
    """Whether it may say that there is no answer: in doubt it does, for a file is refused otherwise."""
    return bool(_NEGATION.search(answer)) or reading(answer, question.question).declines
