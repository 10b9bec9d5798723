"""Saved answers, as they are read: one JSON object a line.

    {"question_id": "q1", "answer": "96 hours", "chunks": [{"text": "…", "document_id": "guide"}], "latency_ms": 840}

Beside `question_id` a line holds the fields of `EvalResponse`; chunks are in the order of their rank, and one that is
nothing but a text may be given as that.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.errors import DatasetError
from evals.inputs.json_body import without_surrogates
from evals.inputs.problems import first_problem
from evals.schemas import EvalResponse

_FIELDS = {"question_id", *EvalResponse.model_fields}
_DURATIONS = ("latency_ms", "retrieval_latency_ms", "time_to_first_token_ms", "waited_ms")


def read_answers(path: Path) -> dict[str, EvalResponse]:
    """Read saved answers, by the ids of their questions.

    Raises:
        DatasetError: The file cannot be read, or a line is wrong: the message names it.
    """
    responses: dict[str, EvalResponse] = {}
    lines: dict[str, str] = {}
    for where, row in _rows(path):
        question_id = row.get("question_id")
        if isinstance(question_id, int) and not isinstance(question_id, bool):
            question_id = str(question_id)  # as the id in a dataset file
        if not isinstance(question_id, str) or not question_id:
            raise DatasetError(f"{where}: `question_id` must be a text or a whole number, the id of a question")
        if question_id in lines:
            raise DatasetError(f"{where}: question {question_id!r} is answered at {lines[question_id]} already")
        lines[question_id] = where
        responses[question_id] = _response(row, where)
    if not responses:
        raise DatasetError(f"{path.name} holds no answers")
    return responses


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    where = f"{path.name}, line {number}"
                    yield where, _object(line, where)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"cannot read {path}: it is not UTF-8 text") from error


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        row = without_surrogates(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{where}: not valid JSON ({error})", "each line is one object; retrieved passages alone need a gold file"
        ) from error
    if not isinstance(row, dict):
        raise DatasetError(f"{where}: expected an object with `question_id`, not {type(row).__name__}")
    return row


def _response(row: Mapping[str, Any], where: str) -> EvalResponse:
    for name in row:
        if name not in _FIELDS:
            close = get_close_matches(name, _FIELDS, n=1)
            raise DatasetError(
                f"{where}: unknown field {name!r}",
                f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(_FIELDS))}",
            )
    fields = {name: value for name, value in row.items() if name != "question_id"}
    if isinstance(fields.get("chunks"), list):
        fields["chunks"] = [{"text": chunk} if isinstance(chunk, str) else chunk for chunk in fields["chunks"]]
    response = _validated(fields, where)
    if response.answer is None and response.chunks is None and response.error is None:
        raise DatasetError(
            f"{where}: there is neither `answer` nor `chunks` nor `error`",
            "leave out the line of a question that was not asked; one that brought no answer has an `error`",
        )
    for name in _DURATIONS:
        if (getattr(response, name) or 0) < 0:
            raise DatasetError(f"{where}, {name}: must not be negative, as {getattr(response, name):g} is")
    return response


def _validated(fields: Mapping[str, Any], where: str) -> EvalResponse:
    try:
        return EvalResponse.model_validate(fields)
    except ValidationError as error:
        problem = first_problem(error, EvalResponse)
        raise DatasetError(f"{where}, {problem}", problem.hint) from error
