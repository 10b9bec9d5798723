"""`csv`: a row a question."""

from collections.abc import Iterator, Sequence
from typing import Any

from evals.export.cells import sheet_lines
from evals.metrics.base import Aggregation
from evals.metrics.registry import known_metric
from evals.schemas import EvalRecord
from evals.scoring.measured import Measured

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
_ABSTAINED = {"y": True, "n": False, "?": None}


def to_csv(measured: Measured) -> Iterator[str]:
    """Every record as a row: what was asked and answered, each metric, why values are missing, the metadata.

    A percentile of latency has no column: of one question it is the latency, which has one, as the time to the first
    token has in runs that measure it.
    """
    names = metric_names(measured)
    times = ["time_to_first_token_ms"] if any(map(_is_of_stream, names)) else []
    metrics = [name for name in names if not _is_latency(name)]
    keys, declines = measured.digest.keys, measured.digest.declines
    rows = (
        [
            *facts(record, said),
            *_times(record, times),
            *metric_values(record, metrics),
            _reasons(record),
            *_meta(record, keys),
        ]
        for record, said in zip(measured.records(), declines, strict=True)
    )
    yield from sheet_lines([*COLUMNS, *times, *metrics, "reasons", *(f"meta.{key}" for key in keys)], rows)


def facts(record: EvalRecord, said: str) -> list[Any]:
    """The values of `COLUMNS`; `said` is whether the answer abstains, as the digest writes it."""
    question, response = record.question, record.response
    asked = [question.id, question.dataset, question.question, question.expected_answer]
    if response is None:
        return [*asked, None, error_of(record), None, None, None, None]
    chunks = None if response.chunks is None else len(response.chunks)
    return [
        *asked,
        response.answer,
        error_of(record),
        _ABSTAINED[said],
        response.latency_ms,
        response.attempts,
        chunks,
    ]


def metric_names(measured: Measured) -> list[str]:
    """The metrics of a run in the order of its scorecard; of its records where it was never finished."""
    carded = [summary.name for summary in measured.run.scorecard.metrics]
    return list(dict.fromkeys([*carded, *measured.digest.metrics]))


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


def _is_of_stream(name: str) -> bool:
    metric = known_metric(name)
    return metric is not None and metric.of_stream


def _times(record: EvalRecord, names: Sequence[str]) -> list[float | None]:
    return [getattr(record.response, name, None) for name in names]


def _reasons(record: EvalRecord) -> str:
    return "; ".join(f"{score.name}: {score.reason}" for score in record.scores if score.value is None)


def _meta(record: EvalRecord, keys: Sequence[str]) -> list[Any]:
    return [record.question.metadata.get(key) for key in keys]
