"""`parquet` and `parquet-metrics`: tables with types, in row groups, for pandas, polars and DuckDB."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from evals.metrics.base import Aggregation
from evals.metrics.registry import known_metric
from evals.report.wording import printable
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.schemas.results import EvalRecord
from evals.scoring.conclusion import Measured

# Cells of a CSV sheet that a spreadsheet shows as they are, and never runs.


_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the start of a formula, full-width forms too (OWASP, CSV injection)."""

_BREAKS = ("\t", "\r", "\n")

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def cell(value: Any) -> str:
    """A value as the text of a cell: nothing for None, the shortest exact form of a number, JSON for what has parts.

    Text that could be a formula gets an apostrophe before it; a number, in whatever form, stays one. Control characters
    are replaced.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = printable(text)
    return f"'{text}" if _may_run(text) and not _NUMBER.fullmatch(text) else text


def _may_run(text: str) -> bool:
    """Whether it begins as a formula, or may after what a spreadsheet cuts off."""
    return text.startswith(_BREAKS) or text.lstrip().startswith(_FORMULA)


def sheet(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A CSV document (RFC 4180) of a header and rows; line breaks inside cells are kept."""
    return "".join(sheet_lines(header, rows))


def sheet_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The same, row by row."""
    for row in chain([header], rows):
        out = io.StringIO()
        csv.writer(out).writerow([cell(value) for value in row])
        yield out.getvalue()


# What a format of export is.


Writer = Callable[[Measured], Iterable[str | bytes]]


def _nothing(_: Measured) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A way to write a run.

    Attributes:
        files: What makes the pieces of its one file; of a folder, that of each file by its path within.
        endings: Of names that mean this format, with the dot; of two that fit a name, the longer one counts.
        has_mark: Whether its files begin with a byte order mark, by which spreadsheets know UTF-8.
        is_binary: Whether it is no text, which a terminal cannot show.
        notes: What a reader of the files must know of what is not in them.
    """

    files: Writer | Mapping[str, Writer]
    endings: tuple[str, ...] = ()
    has_mark: bool = False
    is_binary: bool = False
    notes: Callable[[Measured], Sequence[str]] = _nothing

    @property
    def is_folder(self) -> bool:
        """Whether it is several files."""
        return isinstance(self.files, Mapping)


# `json`: everything.


def to_json(measured: Measured) -> Iterator[str]:
    """The run with its keys as in its file, as one JSON object.

    Beside them stand `diagnosis` (where questions went wrong first), `abstention` (who declined what; null where nobody
    knows what can be answered), `risk_coverage` (null where the server gives no confidence), `stages` (the recall at
    each stage of the retrieval; empty where the server lists none) and all its `records`.
    """
    yield f"{measured.run.model_dump_json()[:-1]},\n"
    for name, value in _derived(measured).items():
        yield f'"{name}":{json.dumps(value)},\n'
    yield '"records":['
    for number, record in enumerate(measured.records()):
        yield ",\n" * (number > 0) + record.model_dump_json()
    yield "]}\n"


def _derived(measured: Measured) -> dict[str, Any]:
    digest, table = measured.digest, measured.abstention
    return {
        "diagnosis": digest.diagnosis.model_dump(mode="json"),
        "abstention": table and table.model_dump(mode="json"),
        "risk_coverage": digest.risk and digest.risk.model_dump(mode="json"),
        "stages": [stage.model_dump(mode="json") for stage in digest.stages],
    }


# `csv`: a row a question.


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


# Questions with their answers, as ragas and deepeval read them.


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
