"""The sheet in which `review` keeps a person's labels, and which `calibrate` reads."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from evals.errors import ConfigError, StoreError
from evals.export.cells import sheet
from evals.inputs.files import read_whole
from evals.schemas import EvalRecord
from evals.store.atomic import write_output

COLUMNS = ("id", "run", "metric", "annotator", "question", "expected_answer", "answer", "verdict", "comment")


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
        return all(row.get(column) == value for column, value in mine.items())

    def row(self, record: EvalRecord, verdict: str, comment: str) -> dict[str, str]:
        """The row of a label."""
        question, response = record.question, record.response
        cells = (question.id, self.run, self.metric, self.annotator, question.question)
        texts = (question.expected_answer or "", (response.answer if response else "") or "", verdict, comment)
        return dict(zip(COLUMNS, (*cells, *texts), strict=True))


def read_sheet(path: Path) -> list[dict[str, str]]:
    """The rows of a sheet; none where there is no such file.

    Raises:
        ConfigError: The file is no such sheet: it would be lost.
        StoreError: It cannot be read.
    """
    try:
        text = read_whole(path).decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise ConfigError(f"{path} is no sheet of labels that review wrote", "name another file for the labels")
    return [{name: cell or "" for name, cell in row.items()} for row in reader]


def write_sheet(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """Write a sheet, whole or not at all.

    Raises:
        StoreError: It cannot be written; the old one is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make {path.parent}: {error.strerror or error}", "name another file") from error
    write_output(path, sheet(COLUMNS, ([row[name] for name in COLUMNS] for row in rows)).encode("utf-8-sig"))


def in_drawn_order(run: str, records: Sequence[EvalRecord]) -> list[EvalRecord]:
    """The answered records in an order drawn by their ids: wherever a person stops, the labels are a random sample."""
    answered = [record for record in records if record.response is not None and record.response.answer]
    return sorted(answered, key=lambda record: sha256(f"{run}\0{record.question.id}".encode()).hexdigest())
