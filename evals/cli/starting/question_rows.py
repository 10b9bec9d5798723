"""A first file of questions: what somebody typed, or rows to be filled in."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evals.datasets.file import read_file
from evals.schemas import EvalQuestion

UNANSWERABLE = "-"
"""Typed for an answer: the documents hold none."""
_LONGEST = 10_000
"""Bytes of a file that are read to see whether it is the template."""
_HOW = "how_to_fill"
_SHOWN = 3
_TEMPLATE = (
    {
        "question": "",
        "expected_answer": "",
        "gold_passages": "",
        "is_unanswerable": False,
        _HOW: "question: one that a document answers. expected_answer: the answer. gold_passages: a sentence of the "
        "document that says so, as it stands there: retrieval is measured by it. Then delete how_to_fill.",
    },
    {
        "question": "",
        "expected_answer": "",
        _HOW: "question: one of which you know the answer, but not where it stands: a judge compares answers. Leave "
        "expected_answer empty where you do not know that either.",
    },
    {
        "question": "",
        "is_unanswerable": True,
        _HOW: "question: one that no document answers: whether the server declines is measured. More rows are more "
        "evidence; a row without a question is refused, so delete what you do not fill.",
    },
)


def typed_row(question: str, answer: str = "", passage: str = "") -> dict[str, Any]:
    """A row of what somebody typed: what was left out is not known, and is not written. What has an answer has one.

    Args:
        question: What is asked.
        answer: The expected answer; "-" where the documents hold none.
        passage: A sentence of the documents that holds the answer.
    """
    if answer == UNANSWERABLE:
        return {"question": question, "is_unanswerable": True}
    known = {key: value for key, value in (("expected_answer", answer), ("gold_passages", passage)) if value}
    return {"question": question, **known, **({"is_unanswerable": False} if known else {})}


def rows_text(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as JSONL."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def template_text() -> str:
    """Three rows that say how they are filled in; without a question, so that none is asked or scored as it is."""
    return rows_text(_TEMPLATE)


def is_template(path: Path) -> bool:
    """Whether a file holds nothing but rows that say how they are filled in, and no question yet."""
    try:
        with path.open("rb") as file:
            rows = [json.loads(line) for line in file.read(_LONGEST).splitlines()]
    except (OSError, ValueError, RecursionError):
        return False
    return bool(rows) and all(isinstance(row, dict) and _HOW in row and not row.get("question") for row in rows)


def first_questions(path: Path, columns: Mapping[str, str]) -> list[str]:
    """The questions of a file that show the most of a server: the first that name a gold, else the first of all.

    Args:
        path: The file.
        columns: By field, the column that holds it, where its name does not say so.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    return _first(read_file(path, columns).questions)


def _first(questions: Sequence[EvalQuestion]) -> list[str]:
    told = islice((each.question for each in questions if each.gold_passages), _SHOWN)
    return list(told) or [questions[0].question]
