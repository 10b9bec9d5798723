"""A user's own questions: JSON, JSONL or CSV with the fields of `EvalQuestion`; only `question` is required."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from evals.case.abstention.detector import is_abstention
from evals.datasets.base import Draft, LoadOptions, fingerprint, make_dataset
from evals.datasets.sampling import sample
from evals.errors import DatasetError
from evals.inputs.problems import first_problem
from evals.inputs.rows import Rows, csv_rows, json_documents, json_rows, jsonl_rows, loads
from evals.schemas import Document, EvalDataset, EvalQuestion

_Checked = TypeVar("_Checked", EvalQuestion, Document)
_FIELDS = frozenset(EvalQuestion.model_fields)
_AS_JSON = frozenset({"answers", "gold_passages", "key_sentences", "checks", "metadata"})
_READERS: Mapping[str, Callable[[str, str], Rows]] = {
    ".jsonl": jsonl_rows,
    ".csv": csv_rows({name: name in _AS_JSON for name in _FIELDS}),
}
_NEGATION = re.compile(r"\b(?:no|not|none|never|nothing|cannot|without|\w*un\w+able)\b|n['’]t\b", re.IGNORECASE)
_NAMELESS = "file"
"""The dataset of all questions in a file, as their fingerprint has it: a copy under another name asks the same."""


@dataclass
class QuestionFile:
    """What a file holds."""

    questions: list[EvalQuestion] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)


def load_file(path: Path, options: LoadOptions) -> EvalDataset:
    """Draw questions of a file, in the order in which they stand there; the dataset is called by the file's stem.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    content = read_file(path)
    places = sample([question.id for question in content.questions], options.samples, options.seed)
    asked = [content.questions[place] for place in sorted(places)]
    draft = Draft(
        _of(path.stem, asked),
        {document.id: document for document in content.documents},
        available=len(content.questions),
    )
    drawn = fingerprint(_of(_NAMELESS, [content.questions[place] for place in places]))
    return make_dataset(path.stem, (), draft, source=path.name, sha256=drawn)


def _of(dataset: str, questions: Iterable[EvalQuestion]) -> list[EvalQuestion]:
    """The questions, of this dataset where they name none."""
    return [each if each.dataset else each.model_copy(update={"dataset": dataset}) for each in questions]


def read_file(path: Path) -> QuestionFile:
    """Read a file of questions.

    A JSON file holds a list of questions, or an object with `questions` and, to ingest them, `documents`.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DatasetError(f"cannot read {path}: {reason}") from error
    ending = path.suffix.lower()
    documents: list[Document] = []
    if ending == ".json":
        data = loads(text, path.name)
        documents = _documents(json_documents(path.name, data))
        questions = _questions(json_rows(path.name, data))
    elif ending in _READERS:
        questions = _questions(_READERS[ending](path.name, text))
    else:
        raise DatasetError(f"{path.name}: the file must end with .json, .jsonl or .csv")
    if not questions:
        raise DatasetError(f"{path.name} holds no questions")
    return QuestionFile(questions, documents)


def _questions(rows: Rows) -> list[EvalQuestion]:
    questions: dict[str, EvalQuestion] = {}
    places: dict[str, str] = {}
    for where, row in rows:
        question, named = _question(row, where)
        if question.id in questions:
            raise _twice(question, where, places[question.id], named=named)
        places[question.id] = where
        questions[question.id] = question
    return list(questions.values())


def _twice(question: EvalQuestion, where: str, earlier: str, *, named: bool) -> DatasetError:
    if named:
        return DatasetError(f"{where}: id {question.id!r} stands at {earlier} already", "ids must be unique in a file")
    place, _, number = where.rpartition(" ")
    return DatasetError(
        f"{place}s {earlier.rpartition(' ')[2]} and {number} hold the same question",
        "leave one of them out, or give each an id",
    )


def _question(row: Any, where: str) -> tuple[EvalQuestion, bool]:
    """The question of a row, and whether its id was given."""
    if not isinstance(row, dict):
        raise DatasetError(f"{where}: expected an object with `question`, not {type(row).__name__}")
    for name in row:
        if name not in _FIELDS:
            close = get_close_matches(str(name), _FIELDS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "put what is yours under `metadata`"
            raise DatasetError(f"{where}: unknown column {name!r}", hint)
    named = row.get("id") is not None and bool(str(row["id"]).strip())
    if not named:
        text = str(row.get("question", "")).encode(errors="surrogatepass")
        row = {**row, "id": f"q-{sha256(text).hexdigest()[:12]}"}
    elif not isinstance(row["id"], str):
        row = {**row, "id": str(row["id"])}
    question = _checked(EvalQuestion, row, where)
    if not question.question.strip():
        raise DatasetError(f"{where}, column question: it is empty")
    _refuse_contradiction(question, where)
    return question, named


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
    return bool(_NEGATION.search(answer)) or is_abstention(answer, question.question)


def _documents(rows: Rows) -> list[Document]:
    documents: dict[str, Document] = {}
    for where, row in rows:
        document = _checked(Document, row, where)
        if document.id in documents:
            raise DatasetError(f"{where}: id {document.id!r} is that of another document", "ids must be unique")
        documents[document.id] = document
    return list(documents.values())


def _checked(model: type[_Checked], row: Any, where: str) -> _Checked:
    try:
        return model.model_validate(row)
    except ValidationError as error:
        problem = first_problem(error, model)
        raise DatasetError(f"{where}{', column ' if problem.key else ': '}{problem}", problem.hint) from error
