"""Labels that a person gives in the browser: the sheet, the keys and the order of `evals review`."""

from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from evals.errors import ConfigError, UnknownNameError
from evals.report.folder import RunsFolder
from evals.report.review import (
    CANNOT_TELL,
    DEFAULT_METRIC,
    Labelling,
    in_drawn_order,
    keys_of,
    labels_in,
    put_label,
    sheet_path,
)
from evals.report.wording import place_of, plain
from evals.scoring.conclusion import Measured

LABELLED = {
    DEFAULT_METRIC: ("Is the answer right?", "?"),
    "faithfulness": ("Do the passages support all that it says?", "x"),
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


class _Order(NamedTuple):
    """The answers of a run in the order in which they are labelled: the place of each among the records, by its id."""

    measured: Measured
    places: dict[str, int]


class LabelDesk:
    """The labels that one person gives.

    Args:
        folder: The runs.
        annotator: Who it is; may be empty.
    """

    def __init__(self, folder: RunsFolder, annotator: str = "") -> None:
        self._folder, self._annotator = folder, annotator
        self._orders: dict[str, _Order] = {}
        self._lock = Lock()

    def overview(self, run_id: str) -> dict[str, Any]:
        """What there is to label in a run, and what is labelled already.

        Raises:
            RunNotFoundError: There is no such run.
            ConfigError: The file of labels is none.
            StoreError: Records or labels cannot be read.
        """
        ids = list(self._order(run_id).places)
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
        measured, places = self._order(run_id)
        if not 0 <= number < len(places):
            raise UnknownNameError("answer", str(number), ["0", str(len(places) - 1)])
        record = measured.source[list(places.values())[number]]
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
        measured, places = self._order(run_id)
        if label.question not in places:
            raise UnknownNameError("answer", label.question, places)
        labelling = Labelling(run_id, label.metric, self._annotator)
        row = None
        if label.verdict:
            record = measured.source[places[label.question]]
            row = labelling.row(record, label.verdict, " ".join(label.comment.split()))
        with self._lock:
            put_label(self._sheet(run_id), labelling, label.question, row, before=label.before)
        return verdict_and_comment(row)

    def _sheet(self, run_id: str) -> Path:
        return sheet_path(self._folder.store.folder, Labelling(run_id, "", self._annotator))

    def _order(self, run_id: str) -> _Order:
        """The order of `evals review`; it is drawn once for each state of the records."""
        measured = self._folder.measured(run_id).measured
        with self._lock:
            order = self._orders.pop(run_id, None)
            if order is None or order.measured is not measured:
                numbers = {record.question.id: number for number, record in enumerate(measured.source)}
                drawn = in_drawn_order(run_id, measured.source)
                order = _Order(measured, {record.question.id: numbers[record.question.id] for record in drawn})
            self._orders[run_id] = order
            for stale in list(self._orders)[:-_HELD]:
                del self._orders[stale]
            return order


def verdict_and_comment(row: dict[str, str] | None) -> dict[str, str] | None:
    """What a page shows of a row of the sheet; None for none."""
    return row and {"verdict": row["verdict"], "comment": row["comment"]}
