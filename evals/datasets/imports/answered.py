"""What a system answered, in the columns of other tools."""

from collections.abc import Iterable, Mapping
from typing import Any

from evals.datasets.imports.columns import EITHER, NAMES, SYSTEM_ANSWER, SYSTEM_CHUNKS, SYSTEM_IDS, plain_name
from evals.datasets.imports.fields import passages
from evals.inputs.cells import as_list, as_text
from evals.text.counts import counted


def answer_and_chunks(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a response that columns of ragas, deepeval and MLflow hold; none where it has no such column.

    A row that holds `answer` and no reference is of our own form.

    Raises:
        ValueError: A cell begins as a list and is none, or there are not as many ids as contexts.
    """
    titles = {plain_name(title): title for title, value in row.items() if value is not None}
    is_ours = "answer" in row and titles.keys().isdisjoint(NAMES["expected_answer"])
    column = _first((*SYSTEM_ANSWER, *(() if is_ours else EITHER)), titles)
    found = {"answer": None if column is None else row[column], "chunks": _chunks(row, titles)}
    return {name: value for name, value in found.items() if value is not None}


def _first(names: Iterable[str], titles: Mapping[str, str]) -> str | None:
    return next((titles[name] for name in names if name in titles), None)


def _chunks(row: Mapping[str, Any], titles: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """What was retrieved: its texts, its ids, or both, in the order of the ranks."""
    column = _first(SYSTEM_CHUNKS, titles)
    chunks = None if column is None else passages(row[column], column, row)
    for field, names in SYSTEM_IDS.items():
        column = _first(names, titles)
        if column is not None:
            ids = [{field: as_text(item)} for item in as_list(row[column])]
            chunks = _beside(chunks or [{}] * len(ids), ids, column)
    return chunks


def _beside(chunks: list[dict[str, Any]], ids: list[dict[str, str]], column: str) -> list[dict[str, Any]]:
    if len(ids) != len(chunks):
        raise ValueError(
            f"{column} holds {counted(len(ids), 'id')} for {counted(len(chunks), 'chunk')}: give one for each"
        )
    return [{**chunk, **key} for chunk, key in zip(chunks, ids, strict=True)]
