"""`review`: a sheet in which people judge answers."""

from collections.abc import Sequence
from typing import Any

from evals.export.cells import sheet
from evals.export.table import error_of, metric_names, metric_values
from evals.schemas import EvalRecord, EvalRun, RetrievedChunk
from evals.scoring.diagnosis import Finding, diagnose, facts_of, needs_verification
from evals.scoring.settings import cases_of
from evals.views.formatting import place_of, shortened

_PASSAGES = 3
_PASSAGE_LENGTH = 2000
"""More than anybody reads in a cell, and well below the 32,767 characters that a spreadsheet can hold in one."""


def to_review(run: EvalRun, records: Sequence[EvalRecord]) -> str:
    """A row a question with empty columns `verdict` and `comment` for a reader to fill in; `calibrate` reads them.

    Failures come first, in the order of the links that broke, then what needs verification, then the rest.
    """
    found = diagnose(records, cases_of(run, records), facts_of(run, records))
    findings = {finding.record.question.id: finding for finding in found if finding.link.is_failure}
    sound = [record for record in records if record.question.id not in findings]
    sound.sort(key=lambda record: needs_verification(record) is None)
    metrics = metric_names(run, records)
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
    ordered = [*(finding.record for finding in findings.values()), *sound]
    return sheet(header, (_row(run, record, findings.get(record.question.id), metrics) for record in ordered))


def _row(run: EvalRun, record: EvalRecord, finding: Finding | None, metrics: Sequence[str]) -> list[Any]:
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
