"""`csv`: a row a question."""

from collections.abc import Sequence
from typing import Any

from evals.case.case import Case
from evals.export.cells import sheet
from evals.metrics.base import Aggregation
from evals.metrics.registry import known_metric
from evals.schemas import EvalRecord, EvalRun
from evals.scoring.settings import Cases, cases_of

COLUMNS = (
    "id",
    "dataset",
    "question",
    "expected_answer",
    "answer",
    "error",
    "abstained",
    "latency_ms",
    "attempts",
    "chunks",
)


def to_csv(run: EvalRun, records: Sequence[EvalRecord]) -> str:
    """Every record as a row: what was asked and answered, each metric, why values are missing, the metadata.

    A percentile of latency has no column: of one question it is the latency, which has one.
    """
    metrics = [name for name in metric_names(run, records) if not _is_latency(name)]
    keys = sorted({key for record in records for key in record.question.metadata})
    cases = cases_of(run, records)
    rows = (
        [*_facts(record, cases), *metric_values(record, metrics), _reasons(record), *_meta(record, keys)]
        for record in records
    )
    return sheet([*COLUMNS, *metrics, "reasons", *(f"meta.{key}" for key in keys)], rows)


def metric_names(run: EvalRun, records: Sequence[EvalRecord]) -> list[str]:
    """The metrics of a run in the order of its scorecard; of its records where it was never finished."""
    carded = [summary.name for summary in run.scorecard.metrics]
    return list(dict.fromkeys([*carded, *(score.name for record in records for score in record.scores)]))


def metric_values(record: EvalRecord, names: Sequence[str]) -> list[float | None]:
    """The values of a record, in the order of the names."""
    values = {score.name: score.value for score in record.scores}
    return [values.get(name) for name in names]


def error_of(record: EvalRecord) -> str | None:
    """Why there is no answer; None where there is one."""
    if record.response is None:
        return "not asked"
    error = record.response.error
    return f"{error.kind}: {error.message}" if error else None


def _is_latency(name: str) -> bool:
    metric = known_metric(name)
    return metric is not None and metric.unit == "ms" and metric.aggregation is Aggregation.PERCENTILE


def _facts(record: EvalRecord, cases: Cases) -> list[Any]:
    question, response = record.question, record.response
    facts = [question.id, question.dataset, question.question, question.expected_answer]
    if response is None:
        return [*facts, None, error_of(record), None, None, None, None]
    chunks = None if response.chunks is None else len(response.chunks)
    return [
        *facts,
        response.answer,
        error_of(record),
        _abstained(cases.of(record)),
        response.latency_ms,
        response.attempts,
        chunks,
    ]


def _abstained(case: Case) -> bool | None:
    """Whether the answer declines; None without an answer, and where the judge's word on it is lost."""
    return None if case.response.answer is None or case.abstention_open else case.abstained


def _reasons(record: EvalRecord) -> str:
    return "; ".join(f"{score.name}: {score.reason}" for score in record.scores if score.value is None)


def _meta(record: EvalRecord, keys: Sequence[str]) -> list[Any]:
    return [record.question.metadata.get(key) for key in keys]
