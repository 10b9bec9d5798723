"""The questions of a run as columns: what a list shows, and what it is searched and filtered by."""

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Any

from evals.report.wrong_by import slice_keys
from evals.schemas import EvalRecord, EvalResponse
from evals.scoring.diagnosis import Link
from evals.scoring.measured import Measured
from evals.views.formatting import one_line

_TEXT = 240
"""Characters of a question, and of the answers beside it, that the list holds."""
_ID = 120


def questions_of_run(measured: Measured, per_block: int) -> dict[str, Any]:
    """Columns over all questions, in their order.

    Args:
        measured: The run.
        per_block: How many questions a block of details has.
    """
    ids, questions, answers, errors = _texts(measured.records())
    scored = not measured.run.is_unscored
    return {
        "perBlock": per_block,
        "count": len(ids),
        "ids": ids,
        "questions": questions,
        "answers": answers,
        "errors": errors,
        "links": _links(measured, len(ids)) if scored else [None] * len(ids),
        "labels": {link.value: link.label for link in Link},
        "metrics": list(_metrics(measured, len(ids))) if scored else [],
        "slices": list(_slices(measured)) if scored else [],
    }


def _texts(records: Iterable[EvalRecord]) -> tuple[list[str], list[str], list[str], list[str | None]]:
    """Ids, questions, answers and the kinds of errors, each cut to what a list shows."""
    ids: list[str] = []
    questions: list[str] = []
    answers: list[str] = []
    errors: list[str | None] = []
    for record in records:
        question, response = record.question, record.response
        ids.append(one_line(question.id, _ID))
        questions.append(_cut(question.question))
        answers.append(_cut((response.answer if response else None) or ""))
        errors.append(_error(response))
    return ids, questions, answers, errors


def _error(response: EvalResponse | None) -> str | None:
    if response is None:
        return "not asked"
    return None if response.error is None else response.error.kind


def _cut(text: str) -> str:
    return one_line(text[: 4 * _TEXT], _TEXT)


def _links(measured: Measured, count: int) -> list[str | None]:
    found = dict(measured.digest.found.links())
    return [found[number].value if number in found else None for number in range(count)]


def _metrics(measured: Measured, count: int) -> Iterator[dict[str, Any]]:
    """The metrics that any question has a value of: its value by question, None for none."""
    columns = measured.columns
    for summary in measured.run.scorecard.metrics:
        column = columns.scores.get(summary.name)
        if column is None or column.is_empty:
            continue
        values: list[float | None] = [None] * count
        for number, value in zip(columns.numbers, column.values, strict=True):
            values[number] = None if isnan(value) else _rounded(value)
        yield {
            "name": summary.name,
            "unit": summary.unit,
            "group": summary.group.value,
            "better": summary.higher_is_better,
            "values": values,
        }


def _rounded(value: float) -> float:
    """Six digits, which is more than is shown."""
    return float(f"{value:.6g}")


def _slices(measured: Measured) -> Iterator[dict[str, Any]]:
    """By key, the values, and by question the place of its own among them, -1 for none."""
    for key in slice_keys(measured):
        values = measured.values(key)
        table = list(dict.fromkeys(value for value in values if value is not None))
        places = {value: place for place, value in enumerate(table)}
        yield {
            "key": one_line(key, _ID),
            "values": [one_line(value, _ID) for value in table],
            "places": [-1 if value is None else places[value] for value in values],
        }
