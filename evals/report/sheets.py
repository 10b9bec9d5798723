"""A run as a table, for spreadsheets, programs and other tools: a row a question."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import Any

from evals.metrics.base import Aggregation
from evals.metrics.registry import known_metric
from evals.schemas.results import EvalRecord
from evals.scoring.outcomes import count_outcomes
from evals.scoring.saved import SavedRun
from evals.text.foreign import printable

SheetRow = dict[str, Any]

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the start of a formula (OWASP, CSV injection)."""

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_COLUMNS = {
    "id": "string",
    "dataset": "string",
    "question": "string",
    "expected_answer": "string",
    "is_unanswerable": "bool",
    "outcome": "string",
    "answer": "string",
    "error": "string",
    "declined": "bool",
    "latency_ms": "double",
    "time_to_first_token_ms": "double",
    "attempts": "int32",
    "gold_passages": "json",
    "chunks": "json",
    "citations": "json",
}
"""The columns of every table, with their types in Parquet; `gold_passages`, `chunks` and `citations` are JSON."""

_OF_QUESTION = {"id", "dataset", "question", "expected_answer", "is_unanswerable"}
_OF_RESPONSE = {"latency_ms", "time_to_first_token_ms", "attempts"}
_GROUP = 1000


def row_of(saved: SavedRun, record: EvalRecord) -> SheetRow:
    """What a table says of a question: outcome, answer, gold, chunks, citations, values by metric, metadata."""
    question, response = record.question, record.response
    sample = saved.settings.sample_of(record)
    row: SheetRow = question.model_dump(include=_OF_QUESTION) | {
        "outcome": saved.ending(record).outcome.value,
        "error": error_of(record),
        "gold_passages": [gold.model_dump(mode="json", exclude_defaults=True) for gold in question.gold_passages]
        or None,
    }
    if response is not None and response.error is None:
        hits = set(sample.matches.hit_ranks)
        chunks: list[SheetRow] = [
            {"rank": rank, "is_gold": rank in hits, **chunk.model_dump(mode="json", exclude_none=True)}
            for rank, chunk in enumerate(response.chunks or (), start=1)
        ]
        citations = [citation.model_dump(mode="json", exclude_none=True) for citation in response.citations or ()]
        row |= {
            "answer": response.answer,
            "declined": None if response.answer is None or sample.decision.lost else sample.abstained,
            "chunks": None if response.chunks is None else chunks,
            "citations": None if response.citations is None else citations,
        }
    if response is not None:
        row |= response.model_dump(include=_OF_RESPONSE)
    values = {score.name: score.value for score in record.scores}
    return {**row, **values, **{f"meta.{key}": value for key, value in question.metadata.items()}}


def error_of(record: EvalRecord) -> str | None:
    """Why there is no answer; None where there is one."""
    if record.response is None:
        return "not asked"
    error = record.response.error
    return f"{error.kind}: {error.message}" if error else None


def metric_columns(saved: SavedRun) -> list[str]:
    """The metrics that have a column: a percentile of latency has none, as of one question it is the latency."""
    names = []
    for name in saved.results.columns:
        metric = known_metric(name)
        if metric is None or (metric.aggregation, metric.unit) != (Aggregation.PERCENTILE, "ms"):
            names.append(name)
    return names


def _metadata_keys(saved: SavedRun) -> list[str]:
    return list(dict.fromkeys(key for record in saved.records() for key in record.question.metadata))


# csv.


def cell(value: Any) -> str:
    """A value as the text of a cell: nothing for None, JSON for what has parts.

    Text that could be a formula gets an apostrophe before it; `--dataset-file` takes it off again.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    may_run = text.startswith(("\t", "\r", "\n")) or text.lstrip().startswith(_FORMULA)
    return f"'{text}" if may_run and not _NUMBER.fullmatch(text) else text


def sheet(columns: Sequence[str], rows: Iterable[SheetRow]) -> Iterator[str]:
    """The lines of a CSV document (RFC 4180)."""
    table: Iterable[list[Any]] = chain([list(columns)], ([row.get(name) for name in columns] for row in rows))
    for cells in table:
        out = io.StringIO()
        csv.writer(out).writerow(map(cell, cells))
        yield out.getvalue()


def to_csv(saved: SavedRun) -> Iterator[str]:
    """A row a question: outcome, answers, gold, chunks, citations, metrics, why values are missing, metadata."""
    streams = any(record.response and record.response.time_to_first_token_ms for record in saved.records())
    columns = [name for name in _COLUMNS if streams or name != "time_to_first_token_ms"]
    columns += [*metric_columns(saved), "reasons", *(f"meta.{key}" for key in _metadata_keys(saved))]
    return sheet(columns, (row_of(saved, record) | {"reasons": _reasons(record)} for record in saved.records()))


def _reasons(record: EvalRecord) -> str:
    return "; ".join(f"{score.name}: {score.reason}" for score in record.scores if score.value is None)


# json.


def to_json(saved: SavedRun) -> Iterator[str]:
    """The run with its keys as in its file, how many questions ended how (`outcomes_by_kind`), and all its records."""
    kinds = {
        count.outcome.value: [saved.results.ids[row] for row in count.rows] for count in count_outcomes(saved.results)
    }
    yield f"{saved.run.model_dump_json()[:-1]},\n"
    yield f'"outcomes_by_kind":{json.dumps(kinds, ensure_ascii=False)},\n"records":['
    for number, record in enumerate(saved.records()):
        yield ",\n" * (number > 0) + record.model_dump_json()
    yield "]}\n"


# parquet.


def to_parquet(saved: SavedRun) -> Iterator[bytes]:
    """A row a question, with its chunks; what has parts is JSON, and metadata are texts."""
    import pyarrow as pa  # noqa: PLC0415 - a third of a second that no other command needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    metadata = dict.fromkeys((f"meta.{key}" for key in _metadata_keys(saved)), "json")
    types = {**_COLUMNS, **dict.fromkeys(metric_columns(saved), "double"), **metadata}
    schema = pa.schema([(name, pa.string() if kind == "json" else kind) for name, kind in types.items()])
    rows = (row_of(saved, record) for record in saved.records())
    with TemporaryFile() as file:
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            while group := list(islice(rows, _GROUP)):
                cells = [{name: _typed(row.get(name), kind) for name, kind in types.items()} for row in group]
                writer.write_batch(pa.RecordBatch.from_pylist(cells, schema), row_group_size=_GROUP)
        file.seek(0)
        yield from iter(lambda: file.read(1 << 20), b"")


def _typed(value: Any, kind: str) -> Any:
    if kind != "json" or value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
