"""`beir`: the folder of a retrieval benchmark in the layout of BEIR."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from evals.export.passage_ids import gold_ids, in_a_cell, passage_id
from evals.export.questions import known_of
from evals.export.trec import judged
from evals.schemas import EvalRecord
from evals.scoring.measured import Measured


def to_corpus(measured: Measured) -> Iterator[str]:
    """Every passage that the run holds a text of, gold or retrieved, each once."""
    seen: set[str] = set()
    for record in measured.records():
        for name, text in _passages(record):
            if name not in seen:
                seen.add(name)
                yield _line({"_id": in_a_cell(name), "title": "", "text": text})


def to_queries(measured: Measured) -> Iterator[str]:
    """Every question with judgements; what else is known of it stands beside its text."""
    for record in measured.records():
        question = record.question
        if judged(question):
            yield _line({"_id": in_a_cell(question.id), "text": question.question, **known_of(question)})


def to_judgements(measured: Measured) -> Iterator[str]:
    """Question, gold and grade between tabs, below a header."""
    yield "query-id\tcorpus-id\tscore\n"
    for record in measured.records():
        for name, grade in judged(record.question):
            yield f"{in_a_cell(record.question.id)}\t{in_a_cell(name)}\t{grade}\n"


def _passages(record: EvalRecord) -> Iterable[tuple[str, str]]:
    golds = zip(gold_ids(record.question), record.question.gold_passages, strict=True)
    yield from ((name, gold.text) for name, gold in golds if gold.text)
    for chunk in (record.response.chunks if record.response else None) or []:
        if chunk.text:
            yield passage_id(chunk), chunk.text


def _line(row: dict[str, Any]) -> str:
    return f"{json.dumps(row, ensure_ascii=False)}\n"
