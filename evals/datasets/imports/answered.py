"""What a system answered, in the columns of other tools."""

from collections.abc import Mapping
from typing import Any

from evals.datasets.imports.columns import EITHER, NAMES, plain_name
from evals.datasets.imports.fields import passages
from evals.inputs.cells import as_list, as_text

_ANSWER = ("response", "actual_output")
CHUNKS = ("retrieved_contexts", "retrieval_context", "contexts")
"""Lists of the texts that were retrieved, the best first."""
_CHUNK_IDS = "retrieved_context_ids"


def answer_and_chunks(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a response that columns of ragas, deepeval and MLflow hold; none where it has no such column.

    Raises:
        ValueError: A cell begins as a list and is none, or there are not as many ids as contexts.
    """
    titles = {plain_name(title): title for title, value in row.items() if value is not None}
    answer = next((row[titles[name]] for name in _ANSWER if name in titles), _beside_reference(row, titles))
    column = next((titles[name] for name in CHUNKS if name in titles), None)
    chunks = None if column is None else passages(row[column], column, row)
    if _CHUNK_IDS in titles:
        ids = [{"chunk_id": as_text(item)} for item in as_list(row[titles[_CHUNK_IDS]])]
        chunks = [{**chunk, **key} for chunk, key in zip(chunks or [{}] * len(ids), ids, strict=True)]
    return {name: value for name, value in (("answer", answer), ("chunks", chunks)) if value is not None}


def _beside_reference(row: Mapping[str, Any], titles: Mapping[str, str]) -> Any:
    """What may be an answer or the reference, where another column holds the reference."""
    if titles.keys().isdisjoint(NAMES["expected_answer"]):
        return None
    return next((row[titles[name]] for name in EITHER if name in titles), None)
