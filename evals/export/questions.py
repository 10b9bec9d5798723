"""Questions with their answers, as ragas and deepeval read them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from evals.export.cells import sheet_lines
from evals.schemas import EvalQuestion, EvalRecord, GoldPassage, RetrievedChunk
from evals.scoring.measured import Measured

_BAR = "\N{BROKEN BAR}"
"""Stands for the bar by which deepeval's tables join passages, and which they cannot escape."""
_COLUMNS = (
    "input",
    "actual_output",
    "expected_output",
    "retrieval_context",
    "context",
    "additional_metadata",
    "id",
    "dataset",
    "is_unanswerable",
)

_BESIDE = frozenset({"dataset", "answers", "turns", "is_unanswerable"})
"""What stands beside the fields of deepeval, which passes over it."""


def to_ragas(measured: Measured) -> Iterator[str]:
    """A line a question, as `EvaluationDataset.from_jsonl` of ragas reads it.

    Beside its fields stand ours, which it passes over.
    """
    for record in measured.records():
        yield f"{json.dumps(_ragas(record), ensure_ascii=False)}\n"


def to_deepeval(measured: Measured) -> Iterator[str]:
    """A list of test cases, each of them a golden too, under the names that deepeval reads."""
    yield "["
    for number, record in enumerate(measured.records()):
        yield f"{',' * (number > 0)}\n{json.dumps(_deepeval(record), ensure_ascii=False)}"
    yield "\n]\n"


def to_deepeval_csv(measured: Measured) -> Iterator[str]:
    """The same as a table, with passages joined by `|`."""
    rows = (_deepeval(record) for record in measured.records())
    yield from sheet_lines(_COLUMNS, ([_as_cell(row.get(name)) for name in _COLUMNS] for row in rows))


def known_of(question: EvalQuestion) -> dict[str, Any]:
    """What is known of a question but its id, its text and its golds; what is not known is left out."""
    known = {
        "dataset": question.dataset,
        "expected_answer": question.expected_answer,
        "answers": question.answers,
        "is_unanswerable": None if question.answerable_by_gold else question.is_unanswerable,
        "metadata": question.metadata,
        "turns": question.turns,
    }
    return {name: value for name, value in known.items() if value is not None and value not in ("", [], {})}


def _ragas(record: EvalRecord) -> dict[str, Any]:
    question = record.question
    beside = {name: value for name, value in known_of(question).items() if name != "expected_answer"}
    named = {
        "reference_context_ids": _names(question, "chunk_id"),
        "gold_document_ids": _names(question, "document_id"),
    }
    return {
        "user_input": question.question,
        "response": record.response.answer if record.response else None,
        "reference": question.expected_answer,
        "reference_contexts": [gold.text for gold in question.gold_passages if gold.text],
        **_retrieved(_chunks(record)),
        "id": question.id,
        **beside,
        **{column: names for column, names in named.items() if names},
    }


def _retrieved(chunks: Sequence[RetrievedChunk] | None) -> dict[str, Any]:
    """The texts, and their ids where each has one."""
    ids = [chunk.chunk_id for chunk in chunks or ()]
    texts = None if chunks is None else [chunk.text for chunk in chunks]
    return {"retrieved_contexts": texts, "retrieved_context_ids": ids if ids and all(ids) else None}


def _deepeval(record: EvalRecord) -> dict[str, Any]:
    question, chunks = record.question, _chunks(record)
    beside = {name: value for name, value in known_of(question).items() if name in _BESIDE}
    return {
        "input": question.question,
        "actual_output": record.response.answer if record.response else None,
        "expected_output": question.expected_answer,
        "retrieval_context": None if chunks is None else [chunk.text for chunk in chunks],
        "context": [gold.text for gold in question.gold_passages if gold.text] or None,
        "additional_metadata": question.metadata or None,
        "id": question.id,
        **beside,
    }


def _chunks(record: EvalRecord) -> Sequence[RetrievedChunk] | None:
    """The chunks with a text; None where none were sent."""
    chunks = record.response.chunks if record.response else None
    return None if chunks is None else [chunk for chunk in chunks if chunk.text]


def _names(question: EvalQuestion, key: str) -> list[str]:
    """The golds that are known by an id alone; none where they would be read as the ids of the passages beside them."""
    names = [name for gold in question.gold_passages if (name := _id_alone(gold, key))]
    texts = sum(bool(gold.text) for gold in question.gold_passages)
    read_so = {texts, 1} if key == "document_id" else {texts}
    return [] if texts and len(names) in read_so else names


def _id_alone(gold: GoldPassage, key: str) -> str | None:
    if gold.text:
        return None
    if key == "chunk_id":
        return gold.chunk_id
    return gold.document_id if gold.chunk_id is None else None


def _as_cell(value: Any) -> Any:
    return "|".join(text.replace("|", _BAR) for text in value) if isinstance(value, list) else value
