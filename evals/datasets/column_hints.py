"""What a column of a file of questions may hold that no name tells: for hints, never to be read as that."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from evals.datasets.base import Draft
from evals.datasets.columns import BOOLEANS

_LOOKED_AT = 200
"""Questions whose cells tell what a column may hold."""
_ANSWERABLE = {"is_answerable", "is_unanswerable"}
"""Fields of which a file needs one."""

_FILE = re.compile(r"\S[^\n]{0,200}\.[A-Za-z]{2,5}|https?://\S+")
_TRUTHS = BOOLEANS.keys() - {"0", "1", "t", "f"}
_NAMES_ANSWERS = re.compile(
    r"(?:answer|antwort|response|reply|solution|lösung|ground.?truth)(?:s|en)?\b", re.IGNORECASE
)
_NAMES_PASSAGES = re.compile(
    r"passage|quote|quotation|evidence|excerpt|context|snippet|beleg|fundstelle|textstelle|zitat|auszug", re.IGNORECASE
)


def column_hints(draft: Draft) -> Iterator[tuple[str, list[str]]]:
    """The columns that are not read, each with the missing fields that its cells fit, where they fit some."""
    cells: dict[str, list[Any]] = {}
    for question in islice(draft.questions, _LOOKED_AT):
        for column, cell in question.metadata.items():
            cells.setdefault(column, []).append(cell)
    read = {*draft.columns} | (_ANSWERABLE if _ANSWERABLE & {*draft.columns} else set())
    for column, values in cells.items():
        if fields := [name for name in _fields_of_column(column, values) if name not in read]:
            yield column, fields


def _fields_of_column(title: str, cells: Sequence[Any]) -> tuple[str, ...]:
    """The fields of a question that a column may hold, by its cells, and of texts by its title; none: nothing fits.

    Two fields: its cells do not tell which.
    """
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    if not cells or (len(texts) < len(cells) and not all(isinstance(cell, bool) for cell in cells)):
        return ("expected_answer",) if cells and _NAMES_ANSWERS.search(title) else ()
    if all(str(cell).strip().lower() in _TRUTHS for cell in cells):
        return "is_answerable", "is_unanswerable"
    if all(_FILE.fullmatch(text) for text in texts):
        return ("gold_document_ids",)
    if _NAMES_ANSWERS.search(title):
        return ("expected_answer",)
    words = sum(len(text.split()) for text in texts) / len(texts)
    if _NAMES_PASSAGES.search(title):
        return ("gold_passages",) if words >= 2 else ()
    are_questions = sum(text.endswith("?") for text in texts) * 2 > len(texts)
    return ("expected_answer", "gold_passages") if words >= 4 and not are_questions else ()
