"""The file of questions and its journal: what is accepted and what is paid for, each the moment it is known.

The journal stands next to the questions. A line of it is a verdict of a model on a candidate, or an accepted question
with its paragraphs, which a review shows.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Self

from pydantic import ValidationError

from evals.datasets.file import read_file
from evals.errors import ConfigError, DatasetError
from evals.schemas.base import Record
from evals.schemas.dataset import EvalQuestion
from evals.schemas.verdicts import JudgeSpending, JudgeVerdict
from evals.store.atomic import write_error
from evals.store.journal import open_log
from evals.text.decoding import text_lines

_HINT = "make room there, and give the same command again: nothing is paid twice"


class JournalLine(Record):
    """A line of the journal."""

    key: str
    """Of the candidate."""
    verdict: JudgeVerdict | None = None
    accepted: str | None = None
    """The id of its question."""
    paragraphs: str = ""
    """The passages of this question."""


def journal_path(questions: Path) -> Path:
    """The journal of a file of questions."""
    return questions.with_name(f"{questions.stem}.journal.jsonl")


def journal_lines(questions: Path) -> Iterator[JournalLine]:
    """The journal of a file of questions; nothing where it has none.

    Raises:
        DatasetError: A line is damaged.
    """
    path = journal_path(questions)
    for line in text_lines(path) if path.exists() else ():
        try:
            yield JournalLine.model_validate_json(line)
        except ValidationError as error:
            raise DatasetError(f"{path} holds a line that is damaged", "put the file back from a copy") from error


def _is_question(line: bytes) -> bool:
    """Whether a last line is whole, with or without its end: people edit the file."""
    try:
        return not line.strip() or isinstance(json.loads(line), dict)
    except ValueError:
        return False


def question_line(question: EvalQuestion) -> bytes:
    """A question as a line of its file."""
    return question.model_dump_json(exclude_defaults=True).encode() + b"\n"


class QuestionJournal:
    """Questions and journal, open for appending and locked; use it as a context.

    Args:
        path: The file of questions; it is made where it does not exist.

    Attributes:
        questions: Those of the file, by id.
        accepted: By key of a candidate, the id of its question; somebody may have taken it out of the file.
        unnoted: Ids of questions in the file of which the journal knows nothing, as a kill came between.
        verdicts: By key of a candidate, what was paid for.

    Raises:
        ConfigError: The file exists and has no journal, so it was not made here.
        DatasetError: A line of the journal is damaged.
        StoreError: A file cannot be opened, or another process has it.
    """

    def __init__(self, path: Path) -> None:
        if path.exists() and path.stat().st_size and not journal_path(path).exists():
            raise ConfigError(f"{path} exists, and was not generated", "name another file with --output")
        self.path = path
        self.questions: dict[str, EvalQuestion] = {}
        self.accepted: dict[str, str] = {}
        self.verdicts = defaultdict[str, list[JudgeVerdict]](list)
        with ExitStack() as stack:
            self._journal = stack.enter_context(open_log(journal_path(path), _HINT))
            self._file = stack.enter_context(open_log(path, _HINT, _is_question))
            if path.stat().st_size and not path.read_bytes().endswith(b"\n"):  # an editor left the last one out
                _append(self._file, b"\n")
            if path.stat().st_size:
                self.questions = {question.id: question for question in read_file(path).questions}
            for line in journal_lines(path):
                self._hold(line)
            self.unnoted = self.questions.keys() - {*self.accepted.values()}
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def spent(self) -> JudgeSpending:
        """What all verdicts took."""
        return sum((verdict.spent for kept in self.verdicts.values() for verdict in kept), JudgeSpending())

    def _hold(self, line: JournalLine) -> None:
        """Take a line in; a later verdict on a request replaces an earlier one."""
        if line.accepted is not None:
            self.accepted[line.key] = line.accepted
        if line.verdict is not None:
            kept = [verdict for verdict in self.verdicts[line.key] if verdict.request != line.verdict.request]
            self.verdicts[line.key] = [*kept, line.verdict]

    def log(self, key: str, verdict: JudgeVerdict) -> None:
        """Keep a verdict.

        Raises:
            StoreError: It cannot be written.
        """
        self._keep(JournalLine(key=key, verdict=verdict))

    def accept(self, key: str, question: EvalQuestion, paragraphs: str) -> None:
        """Keep a question; one that is in the file already is only noted.

        Raises:
            StoreError: It cannot be written.
        """
        if question.id not in self.questions:
            self.questions[question.id] = question
            _append(self._file, question_line(question))
        self._keep(JournalLine(key=key, accepted=question.id, paragraphs=paragraphs))

    def _keep(self, line: JournalLine) -> None:
        self._hold(line)
        _append(self._journal, line.model_dump_json(exclude_defaults=True).encode() + b"\n")


def _append(file: BinaryIO, line: bytes) -> None:
    try:
        file.write(line)
        file.flush()
    except OSError as error:
        raise write_error(Path(file.name), error, _HINT) from error
