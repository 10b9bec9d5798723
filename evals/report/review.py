"""Sheets of labels that people give to answers, and the keys that give them."""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from evals.datasets.tables import long_cells
from evals.errors import ConfigError, StoreError
from evals.metrics.judged import LabelledMetric
from evals.metrics.registry import parse_metric
from evals.report.tables import cell, sheet
from evals.schemas.results import EvalRecord
from evals.store.atomic import write_output
from evals.text.decoding import read_whole

# The labels that a person can give to an answer, and the keys that give them.


DEFAULT_METRIC = "answer_correctness"

CANNOT_TELL = "cannot_tell"


def keys_of(metric: str) -> dict[str, str]:
    """The key of each label of a metric: its first letter.

    Raises:
        ConfigError: A judge does not decide on it.
        UnknownNameError: There is no such metric.
    """
    found = parse_metric(metric)
    labels = list(found.scale) if isinstance(found, LabelledMetric) else ["yes", "no"]
    if not found.judge_calls or len({label[0] for label in labels}) < len(labels):
        raise ConfigError(f"{metric} has no labels to give", f"review labels {DEFAULT_METRIC} and other judged metrics")
    return {label[0]: label for label in labels}


# The sheet in which `review` keeps a person's labels, and which `calibrate` reads.


COLUMNS = ("id", "run", "metric", "annotator", "question", "expected_answer", "answer", "verdict", "comment")


_LINE_ENDS = ("\r\n", "\n")
"""What a line ends with in a file, and in what was read of it."""


class LabelTakenError(StoreError):
    """A label was given, changed or taken back by somebody else meanwhile, and is left as it is.

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
    """Where the labels of a run are unless told otherwise: `reviews/RUN.csv` beside the runs, or a sheet a person."""
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
    _make_folder(path)
    with _locked(path.parent):
        rows = read_sheet(path)
        key = _as_read(question_id)
        place = next((n for n, one in enumerate(rows) if labelling.owns(one) and one["id"] == key), len(rows))
        found = next(iter(rows[place:]), None)
        if _said(found) != _said(before):
            raise LabelTakenError(question_id, found)
        rows[place : place + 1] = [] if row is None else [row]
        write_sheet(path, rows)


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
    reader = csv.DictReader(io.StringIO(text, newline=""))
    with long_cells():  # an answer may be of any length
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ConfigError(f"{path} is no sheet of labels that review wrote", "name another file for the labels")
        return [{name: cell or "" for name, cell in row.items()} for row in reader]


def write_sheet(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """Write a sheet, whole or not at all.

    Raises:
        StoreError: It cannot be written; the old one is as it was.
    """
    _make_folder(path)
    write_output(path, sheet(COLUMNS, ([row[name] for name in COLUMNS] for row in rows)).encode("utf-8-sig"))


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


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make {path.parent}: {error.strerror or error}", "name another file") from error


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
