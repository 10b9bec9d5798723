"""`review`: a sheet in which people judge answers."""

from collections.abc import Iterator, Sequence
from typing import Any

from evals.export.cells import sheet_lines
from evals.export.table import error_of, metric_names, metric_values
from evals.schemas import EvalRecord, EvalRun, RetrievedChunk
from evals.scoring.diagnosis import needs_verification
from evals.scoring.digest.broken_links import BrokenLink
from evals.scoring.measured import Measured
from evals.views.formatting import place_of, shortened

_PASSAGES = 3
_PASSAGE_LENGTH = 2000
"""More than anybody reads in a cell, and well below the 32,767 characters that a spreadsheet can hold in one."""


def to_review(measured: Measured) -> Iterator[str]:
    """A row a question with empty columns `verdict` and `comment` for a reader to fill in; `calibrate` reads them.

    Failures come first, in the order of the links that broke, then what needs verification, then the rest.
    """
    digest, records = measured.digest, measured.source
    failures = {one.number: one for one in digest.failures}
    disputed = [number for number in digest.to_verify if number not in failures]
    rest = {*failures, *disputed}
    ordered = [*failures, *disputed, *(number for number in range(len(records)) if number not in rest)]
    metrics = metric_names(measured)
    passages = [f"passage_{rank}" for rank in range(1, _PASSAGES + 1)]
    header = [
        "id",
        "failure",
        "needs_verification",
        "question",
        "expected_answer",
        "answer",
        *passages,
        *metrics,
        "run",
        "verdict",
        "comment",
    ]
    rows = (_row(measured.run, records[number], failures.get(number), metrics) for number in ordered)
    yield from sheet_lines(header, rows)


def _row(run: EvalRun, record: EvalRecord, finding: BrokenLink | None, metrics: Sequence[str]) -> list[Any]:
    question, response = record.question, record.response
    chunks = (response.chunks if response else None) or []
    passages = [_passage(chunk) for chunk in chunks[:_PASSAGES]]
    return [
        question.id,
        finding.explanation if finding else error_of(record),
        "yes" if needs_verification(record) else None,
        question.question,
        question.expected_answer,
        response.answer if response else None,
        *passages,
        *[None] * (_PASSAGES - len(passages)),
        *metric_values(record, metrics),
        run.id,
        None,
        None,
    ]


def _passage(chunk: RetrievedChunk) -> str:
    return f"[{place_of(chunk)}]\n{shortened(chunk.text or '', _PASSAGE_LENGTH)}"
