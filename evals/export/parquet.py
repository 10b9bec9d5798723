"""`parquet` and `parquet-metrics`: tables with types, in row groups, for pandas, polars and DuckDB."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from evals.export.table import COLUMNS, facts, metric_names
from evals.schemas import EvalRecord
from evals.scoring.measured import Measured

_GROUP = 1000
"""Rows of a group: as much of a run as is held at a time."""
_TYPES = {"abstained": "bool", "latency_ms": "double", "attempts": "int32", "chunks": "int32"}
_EXACT = 2**53
"""Up to it a double holds every whole number."""
_TIME = "time_to_first_token_ms"
_METRIC_COLUMNS = ("run", "id", "dataset", "metric", "group", "value", "reason", "missing")


def to_parquet(measured: Measured) -> Iterator[bytes]:
    """A row a question: what was asked and answered, a column a metric, and beside it why it has no value.

    What cannot be told is null. A key of the metadata has the type of its values, or is JSON where they are of several.
    """
    names, kinds = metric_names(measured), _kinds(measured)
    columns = [("run", "string"), *((name, _TYPES.get(name, "string")) for name in COLUMNS), (_TIME, "double")]
    for name in names:
        columns += [(name, "double"), (f"{name}_reason", "string")]
    columns += [(f"meta.{key}", kind) for key, kind in kinds.items()]
    said = zip(measured.records(), measured.digest.declines, strict=True)
    rows = (
        [
            measured.run.id,
            *facts(record, declines),
            record.response.time_to_first_token_ms if record.response else None,
            *_scores(record, names),
            *(_value(record.question.metadata.get(key), kind) for key, kind in kinds.items()),
        ]
        for record, declines in said
    )
    yield from _table(columns, rows)


def to_parquet_metrics(measured: Measured) -> Iterator[bytes]:
    """A row for each metric of each question: its value, or why there is none and of which kind that is."""
    columns = [(name, "double" if name == "value" else "string") for name in _METRIC_COLUMNS]
    rows = (
        [
            measured.run.id,
            record.question.id,
            record.question.dataset,
            score.name,
            score.group.value,
            score.value,
            score.reason,
            score.missing,
        ]
        for record in measured.records()
        for score in record.scores
    )
    yield from _table(columns, rows)


def _scores(record: EvalRecord, names: Sequence[str]) -> Iterator[float | str | None]:
    scores = {score.name: score for score in record.scores}
    for name in names:
        score = scores.get(name)
        yield score.value if score else None
        yield score.reason if score and score.value is None else None


def _kinds(measured: Measured) -> dict[str, str]:
    """By key of the metadata, the type that holds all its values."""
    seen: dict[str, set[str]] = {key: set() for key in measured.digest.keys}
    for record in measured.records():
        for key, value in record.question.metadata.items():
            if value is not None:
                seen.setdefault(key, set()).add(_kind(value))
    return {key: next(iter(kinds), "string") if len(kinds) < 2 else "json" for key, kinds in seen.items()}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "double" if abs(value) <= _EXACT else "json"
    return "string" if isinstance(value, str) else "json"


def _value(value: Any, kind: str) -> Any:
    if value is None or kind in {"bool", "string"}:
        return value
    return float(value) if kind == "double" else json.dumps(value, ensure_ascii=False)


class _Sink:
    """A file that hands on what is written to it."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(self._parts[-1])

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def taken(self) -> Iterator[bytes]:
        parts, self._parts = self._parts, []
        return iter(parts)


def _table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The bytes of a file, as they are written: no more than a group of rows is held."""
    import pyarrow as pa  # noqa: PLC0415 - a third of a second that no other command needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    made: dict[str, Callable[[], pa.DataType]] = {
        "bool": pa.bool_, "double": pa.float64, "int32": pa.int32, "string": pa.string, "json": pa.string,
    }  # fmt: skip
    schema = pa.schema([(name, made[kind]()) for name, kind in columns])
    sink = _Sink()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        for group in _groups(rows):
            cells = zip(*group, strict=True)
            arrays = [pa.array(cell, field.type) for cell, field in zip(cells, schema, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema), row_group_size=_GROUP)
            yield from sink.taken()
    yield from sink.taken()


def _groups(rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Sequence[Any]]]:
    left = iter(rows)
    while group := list(islice(left, _GROUP)):
        yield group
