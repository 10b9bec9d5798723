"""Labels that people give to answers: the sheets, the keys that give them, and a desk at which a browser does."""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.tables import allow_long_cells
from evals.errors import ConfigError, StoreError, UnknownNameError
from evals.metrics.base import Need
from evals.metrics.registry import parse_metric
from evals.report.folder import HeldRun, RunsFolder
from evals.report.tables import cell, sheet
from evals.report.wording import place_of, plain
from evals.schemas.results import EvalRecord
from evals.store.atomic import write_output
from evals.text.decoding import read_whole

# The labels that a person can give to an answer, and the keys that give them.


DEFAULT_METRIC = "answer_correctness"

CANNOT_TELL = "cannot_tell"

_COMMANDS = frozenset("?sumtq")
"""Keys that do something else in `evals review`."""


def keys_of(metric: str) -> dict[str, str]:
    """The key of each label of a metric: its first letter, or its number where letters are not enough.

    Raises:
        ConfigError: A judge does not decide on it.
        UnknownNameError: There is no such metric.
    """
    found = parse_metric(metric)
    labels = [*(getattr(found, "scale", None) or getattr(found, "labels", None) or ("yes", "no"))]
    if Need.JUDGE not in found.needs:
        raise ConfigError(f"{metric} has no labels to give", f"review labels {DEFAULT_METRIC} and other judged metrics")
    keys = {label[0].lower() for label in labels}
    if len(keys) < len(labels) or keys & _COMMANDS:
        return {str(number): label for number, label in enumerate(labels, start=1)}
    return {label[0].lower(): label for label in labels}


# The sheet in which `review` keeps a person's labels, and which `calibrate` reads.


COLUMNS = ("id", "run", "metric", "annotator", "question", "expected_answer", "answer", "verdict", "comment")


_LINE_ENDS = ("\r\n", "\n")
"""What a line ends with in a file, and in what was read of it."""


class LabelTakenError(StoreError):
    """A label was given, changed or taken back meanwhile, and is left as it is.

    Attributes:
        found: The row that is in the sheet now; None where it was taken back.
    """

    def __init__(self, question_id: str, found: dict[str, str] | None) -> None:
        said = f"was labelled {found['verdict']!r}" if found else "has no label any more, which was taken back"
        super().__init__(f"{question_id} {said} meanwhile", "look at it again")
        self.found = found


@dataclass(frozen=True, slots=True)
class Labelling:
    """Who labels what: the labels of others in the same sheet stay as they are.

    Attributes:
        run: The id of the run.
        metric: What labels are about.
        annotator: Who gives them; may be empty.
    """

    run: str
    metric: str
    annotator: str = ""

    def owns(self, row: dict[str, str]) -> bool:
        """Whether a row of the sheet is one of these labels."""
        mine = {"run": self.run, "metric": self.metric, "annotator": self.annotator}
        return all(row.get(column) == _as_read(value) for column, value in mine.items())

    def row(self, record: EvalRecord, verdict: str, comment: str) -> dict[str, str]:
        """The row of a label."""
        question, response = record.question, record.response
        cells = (question.id, self.run, self.metric, self.annotator, question.question)
        texts = (question.expected_answer or "", (response.answer if response else "") or "", verdict, comment)
        return dict(zip(COLUMNS, (*cells, *texts), strict=True))


def sheet_path(runs_dir: Path, labelling: Labelling) -> Path:
    """The default sheet of a run's labels: `reviews/RUN.csv` in the folder of runs, or a sheet a person."""
    named = re.sub(r"[^\w.-]+", "-", f"-{labelling.annotator}") if labelling.annotator else ""
    return runs_dir / "reviews" / f"{labelling.run}{named}.csv"


def put_label(
    path: Path, labelling: Labelling, question_id: str, row: dict[str, str] | None, *, before: dict[str, str] | None
) -> None:
    """Put one label into a sheet, or take it out; whatever else is in the sheet now stays.

    Args:
        path: The sheet; it is made where there is none.
        labelling: Whose label it is, and about what.
        question_id: Of the answer.
        row: The label; None takes it out.
        before: The label that whoever gives this one knows of; None for none.

    Raises:
        LabelTakenError: Another label is there than `before`; the sheet is as it was.
        ConfigError: The file is no such sheet.
        StoreError: It cannot be read or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make {path.parent}: {error.strerror or error}", "name another file") from error
    with _locked(path.parent):
        rows = read_sheet(path)
        key = _as_read(question_id)
        place = next((n for n, one in enumerate(rows) if labelling.owns(one) and one["id"] == key), len(rows))
        found = next(iter(rows[place:]), None)
        if _said(found) != _said(before):
            raise LabelTakenError(question_id, found)
        rows[place : place + 1] = [] if row is None else [row]
        write_output(path, "".join(sheet(COLUMNS, rows)).encode("utf-8-sig"))


def labels_in(path: Path, labelling: Labelling, ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """One person's rows of a sheet by the ids of questions, in the order of the sheet; other questions are left out.

    Raises:
        ConfigError: The file is no such sheet.
        StoreError: It cannot be read.
    """
    known = {_as_read(question_id): question_id for question_id in ids}
    rows = (row for row in read_sheet(path) if labelling.owns(row))
    return {known[row["id"]]: row for row in rows if row["id"] in known}


def read_sheet(path: Path) -> list[dict[str, str]]:
    """The rows of a sheet; none where there is no such file.

    Raises:
        ConfigError: The file is no such sheet: it would be lost.
        StoreError: It cannot be read.
    """
    try:
        text = read_whole(path).decode("utf-8-sig").replace(*_LINE_ENDS)
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    allow_long_cells()  # an answer may be of any length
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise ConfigError(f"{path} is no sheet of labels that review wrote", "name another file for the labels")
    return [{name: cell or "" for name, cell in row.items()} for row in reader]


def in_drawn_order(run: str, records: Sequence[EvalRecord]) -> list[EvalRecord]:
    """The answered records in an order drawn by their ids: wherever a person stops, the labels are a random sample."""
    answered = [record for record in records if record.response is not None and record.response.answer]
    return sorted(answered, key=lambda record: sha256(f"{run}\0{record.question.id}".encode()).hexdigest())


def _said(row: dict[str, str] | None) -> tuple[str, str] | None:
    """Verdict and comment as they stand in a sheet."""
    return None if row is None else (_as_read(row["verdict"]), _as_read(row["comment"]))


def _as_read(text: str) -> str:
    """A text as it comes out of a sheet into which it was written."""
    return cell(text).replace(*_LINE_ENDS)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep others from writing sheets of this folder, where the system can lock one.

    The folder is locked because a sheet is replaced by each writing, and a lock on it would go with the old one.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system that knows no locks of folders
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# Labels that a person gives in the browser: the sheet, the keys and the order of `evals review`.

LABELLED = {
    DEFAULT_METRIC: ("Is the answer right?", "?"),
    "faithfulness": ("Do the passages support everything the answer says?", "x"),
}
"""By metric, what is asked about each answer, and the key for those who cannot tell."""

_HELD = 3


class GivenLabel(BaseModel):
    """A label as the browser sends it.

    Attributes:
        question: Id of the question.
        metric: What it is about.
        verdict: The label; None takes it back.
        comment: A note, on one line.
        before: Verdict and comment that the page showed; None for none.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(max_length=10_000)
    metric: str = Field(max_length=100)
    verdict: str | None = Field(default=None, max_length=100)
    comment: str = Field(default="", max_length=10_000)
    before: dict[str, str] | None = None


class LabelDesk:
    """The labels that one person gives.

    Args:
        folder: The runs.
        annotator: Who it is; may be empty.
    """

    def __init__(self, folder: RunsFolder, annotator: str = "") -> None:
        self._folder, self._annotator = folder, annotator
        self._drawn = lru_cache(_HELD)(_places)  # once for each state of the records
        self._lock = Lock()

    def overview(self, run_id: str) -> dict[str, Any]:
        """What there is to label in a run, and what is labelled already.

        Raises:
            RunNotFoundError: There is no such run.
            ConfigError: The file of labels is none.
            StoreError: Records or labels cannot be read.
        """
        ids = list(self._drawn(self._folder.measured(run_id)))
        sheet = self._sheet(run_id)
        questions, labels = [], {}
        for metric, (asks, key) in LABELLED.items():
            questions.append({"metric": metric, "asks": asks, "keys": {**keys_of(metric), key: CANNOT_TELL}})
            found = labels_in(sheet, Labelling(run_id, metric, self._annotator), ids)
            labels[metric] = {question_id: verdict_and_comment(row) for question_id, row in found.items()}
        about = {"run": run_id, "annotator": self._annotator, "sheet": str(sheet)}
        return {**about, "ids": ids, "questions": questions, "labels": labels}

    def answer(self, run_id: str, number: int) -> dict[str, Any]:
        """An answer with its evidence, and nothing of what a metric or the judge says of it.

        Args:
            run_id: The run.
            number: Of the answer in the order of labelling, from 0.

        Raises:
            RunNotFoundError: There is no such run.
            UnknownNameError: It has no answer of this number.
        """
        held = self._folder.measured(run_id)
        places = list(self._drawn(held).values())
        if not 0 <= number < len(places):
            raise UnknownNameError("answer", str(number), ["0", str(len(places) - 1)])
        record = held.measured.source[places[number]]
        question, response = record.question, record.response
        chunks = (response.chunks if response else None) or []
        return {
            "id": question.id,
            "question": plain(question.question),
            "expected": plain(question.expected_answer or ""),
            "answer": plain((response.answer if response else None) or ""),
            "passages": [{"place": plain(place_of(chunk)), "text": plain(chunk.text or "")} for chunk in chunks],
        }

    def give(self, run_id: str, label: GivenLabel) -> dict[str, str] | None:
        """Save a label at once, or take it back.

        Returns:
            What the sheet now says of the answer: verdict and comment; None for none.

        Raises:
            LabelTakenError: The sheet holds another label than the page showed.
            ConfigError: It is no label of the metric, or the file is no sheet of labels.
            RunNotFoundError: There is no such run.
            UnknownNameError: There is no such question or metric.
            StoreError: The sheet cannot be written.
        """
        if label.metric not in LABELLED:
            raise UnknownNameError("metric to label", label.metric, LABELLED)
        known = {*keys_of(label.metric).values(), CANNOT_TELL}
        if label.verdict is not None and label.verdict not in known:
            raise UnknownNameError("label", label.verdict, known)
        if label.before is not None and label.before.keys() != {"verdict", "comment"}:
            raise ConfigError("`before` must hold verdict and comment, or be null")
        held = self._folder.measured(run_id)
        places = self._drawn(held)
        if label.question not in places:
            raise UnknownNameError("answer", label.question, places)
        labelling = Labelling(run_id, label.metric, self._annotator)
        row = None
        if label.verdict:
            record = held.measured.source[places[label.question]]
            row = labelling.row(record, label.verdict, " ".join(label.comment.split()))
        with self._lock:
            put_label(self._sheet(run_id), labelling, label.question, row, before=label.before)
        return verdict_and_comment(row)

    def _sheet(self, run_id: str) -> Path:
        return sheet_path(self._folder.store.folder, Labelling(run_id, "", self._annotator))


def _places(held: HeldRun) -> dict[str, int]:
    """The answers in the order of `evals review`: the place of each among the records, by its id."""
    records = held.measured.source
    numbers = {record.question.id: number for number, record in enumerate(records)}
    return {one.question.id: numbers[one.question.id] for one in in_drawn_order(held.measured.run.id, records)}


def verdict_and_comment(row: dict[str, str] | None) -> dict[str, str] | None:
    """What a page shows of a row of the sheet; None for none."""
    return row and {"verdict": row["verdict"], "comment": row["comment"]}
