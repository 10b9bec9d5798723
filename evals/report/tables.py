"""Table rows of a saved run: one dictionary a question, from which sheets, Parquet files and other tools choose."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import Any

from evals.metrics.base import Aggregation
from evals.metrics.registry import known_metric
from evals.report.wording import place_of, printable, shortened
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.results import EvalRecord
from evals.scoring.conclusion import Measured
from evals.scoring.diagnosis.outcome import needs_verification

Row = dict[str, Any]

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
    text = printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    may_run = text.startswith(_BREAKS) or text.lstrip().startswith(_FORMULA)
    return f"'{text}" if may_run and not _NUMBER.fullmatch(text) else text


def sheet(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """The lines of a CSV document (RFC 4180); line breaks inside cells are kept."""
    for row in chain([columns], ([row.get(name) for name in columns] for row in rows)):
        out = io.StringIO()
        csv.writer(out).writerow(map(cell, row))
        yield out.getvalue()


# A format of export.

Writer = Callable[[Measured], Iterable[str | bytes]]


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
    notes: Callable[[Measured], Sequence[str]] = lambda _: ()

    @property
    def is_folder(self) -> bool:
        """Whether it is several files."""
        return isinstance(self.files, Mapping)


# `json`: everything.


def to_json(measured: Measured) -> Iterator[str]:
    """The run with its keys as in its file, as one JSON object.

    In addition to them are `diagnosis` (where questions went wrong first), `abstention` (who declined what; null where
    knows what can be answered), `risk_coverage` (null where the server gives no confidence), `stages` (the recall at
    each stage of the retrieval; empty where the server lists none) and all its `records`.
    """
    digest = measured.digest
    derived = {"diagnosis": digest.diagnosis, "abstention": measured.abstention, "risk_coverage": digest.risk}
    yield f"{measured.run.model_dump_json()[:-1]},\n"
    for name, value in derived.items():
        yield f'"{name}":{"null" if value is None else value.model_dump_json()},\n'
    yield f'"stages":{json.dumps([stage.model_dump(mode="json") for stage in digest.stages])},\n"records":['
    for number, record in enumerate(measured.records()):
        yield ",\n" * (number > 0) + record.model_dump_json()
    yield "]}\n"


# A record as a row.

_TIME = "time_to_first_token_ms"

_TEXTS = ("id", "dataset", "question", "expected_answer", "answer", "error")

_TYPES = {
    **dict.fromkeys(_TEXTS, "string"),
    "abstained": "bool",
    "latency_ms": "double",
    "attempts": "int32",
    "chunks": "int32",
}
"""The columns of every table with the types that they have in Parquet."""

_ABSTAINED = {"y": True, "n": False, "?": None}


def row_of(record: EvalRecord, declines: str = "?") -> Row:
    """What a table says of a record: what was asked and answered, the values of metrics by name, and the metadata.

    Args:
        record: The question with what happened to it.
        declines: Whether the answer abstains, as the summary of a run writes it.
    """
    question, response = record.question, record.response
    row: Row = {
        "id": question.id,
        "dataset": question.dataset,
        "question": question.question,
        "expected_answer": question.expected_answer,
        "error": error_of(record),
    }
    if response is not None:
        row |= {
            "answer": response.answer,
            "abstained": _ABSTAINED[declines],
            "latency_ms": response.latency_ms,
            "attempts": response.attempts,
            "chunks": None if response.chunks is None else len(response.chunks),
            _TIME: response.time_to_first_token_ms,
        }
    values = {score.name: score.value for score in record.scores}
    return {**row, **values, **{f"meta.{key}": value for key, value in question.metadata.items()}}


def error_of(record: EvalRecord) -> str | None:
    """Why there is no answer; None where there is one."""
    if record.response is None:
        return "not asked"
    error = record.response.error
    return f"{error.kind}: {error.message}" if error else None


def metric_names(measured: Measured) -> list[str]:
    """The metrics of a run in the order of its scorecard; of its records where it was never finished."""
    carded = [summary.name for summary in measured.run.scorecard.metrics]
    return list(dict.fromkeys([*carded, *measured.digest.metrics]))


def _rows(measured: Measured) -> Iterator[tuple[EvalRecord, Row]]:
    for record, declines in zip(measured.records(), measured.digest.declines, strict=True):
        yield record, row_of(record, declines)


# `csv` and `review`: sheets for people.


def to_csv(measured: Measured) -> Iterator[str]:
    """Every record as a row: what was asked and answered, each metric, why values are missing, the metadata.

    A percentile of latency has no column: of one question it is the latency, which has one, as the time to the first
    token has in runs that measure it.
    """
    known = {name: known_metric(name) for name in metric_names(measured)}
    times = [_TIME] if any(metric is not None and metric.of_stream for metric in known.values()) else []
    percentile = (Aggregation.PERCENTILE, "ms")
    metrics = [name for name, one in known.items() if one is None or (one.aggregation, one.unit) != percentile]
    rows = (row | {"reasons": _reasons(record)} for record, row in _rows(measured))
    meta = [f"meta.{key}" for key in measured.digest.keys]
    return sheet([*_TYPES, *times, *metrics, "reasons", *meta], rows)


def _reasons(record: EvalRecord) -> str:
    return "; ".join(f"{score.name}: {score.reason}" for score in record.scores if score.value is None)


_PASSAGES = 3

_PASSAGE_LENGTH = 2000
"""More than anybody reads in a cell, and well below the 32,767 characters that a spreadsheet can hold in one."""


def to_review(measured: Measured) -> Iterator[str]:
    """A row a question with empty columns `verdict` and `comment` for a reader to fill in; `calibrate` reads them.

    Failures come first, in the order of the links that broke, then what needs verification, then the rest.
    """
    digest, records = measured.digest, measured.source
    failures = {one.number: one for one in digest.failures}
    ordered = dict.fromkeys([*failures, *digest.to_verify, *range(len(records))])
    passages = [f"passage_{rank}" for rank in range(1, _PASSAGES + 1)]

    def row(number: int) -> Row:
        record, broken = records[number], failures.get(number)
        chunks = (record.response.chunks if record.response else None) or []
        texts = (f"[{place_of(chunk)}]\n{shortened(chunk.text or '', _PASSAGE_LENGTH)}" for chunk in chunks)
        return {
            **row_of(record),
            **dict(zip(passages, texts, strict=False)),
            "failure": broken.explanation if broken else error_of(record),
            "needs_verification": "yes" if needs_verification(record) else None,
            "run": measured.run.id,
        }

    asked = ["id", "failure", "needs_verification", "question", "expected_answer", "answer"]
    return sheet([*asked, *passages, *metric_names(measured), "run", "verdict", "comment"], map(row, ordered))


# `parquet` and `parquet-metrics`: tables with types, in row groups, for pandas, polars and DuckDB.

_GROUP = 1000
"""Rows of a group: as much of a run as is held at a time."""

_EXACT = 2**53
"""Up to it a double holds every whole number."""


def to_parquet(measured: Measured) -> Iterator[bytes]:
    """A row a question: what was asked and answered, a column a metric, and next to it why it has no value.

    What cannot be told is null. A key of the metadata has the type of its values, or is JSON where they are of several.
    """
    kinds = _kinds(measured)
    columns = {"run": "string", **_TYPES, _TIME: "double"}
    for name in metric_names(measured):
        columns |= {name: "double", f"{name}_reason": "string"}
    rows = (
        row
        | {f"{score.name}_reason": score.reason for score in record.scores if score.value is None}
        | {name: _typed(row.get(name), kind) for name, kind in kinds.items()}
        | {"run": measured.run.id}
        for record, row in _rows(measured)
    )
    return _parquet(columns | kinds, rows)


def to_parquet_metrics(measured: Measured) -> Iterator[bytes]:
    """A row for each metric of each question: its value, or why there is none and of which kind that is."""
    columns = ("run", "id", "dataset", "metric", "group", "value", "reason", "missing")
    values = (
        (record.question.id, record.question.dataset, one.name, one.group.value, one.value, one.reason, one.missing)
        for record in measured.records()
        for one in record.scores
    )
    rows = (dict(zip(columns, (measured.run.id, *row), strict=True)) for row in values)
    return _parquet({name: "double" if name == "value" else "string" for name in columns}, rows)


def _kinds(measured: Measured) -> dict[str, str]:
    """By column of the metadata, the type that holds all its values."""
    seen: dict[str, set[str]] = {key: set() for key in measured.digest.keys}
    for record in measured.records():
        for key, value in record.question.metadata.items():
            if value is not None:
                seen.setdefault(key, set()).add(_kind(value))
    return {f"meta.{key}": next(iter(kinds), "string") if len(kinds) < 2 else "json" for key, kinds in seen.items()}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "double" if abs(value) <= _EXACT else "json"
    return "string" if isinstance(value, str) else "json"


def _typed(value: Any, kind: str) -> Any:
    if value is None or kind in {"bool", "string"}:
        return value
    return float(value) if kind == "double" else json.dumps(value, ensure_ascii=False)


def _parquet(columns: Mapping[str, str], rows: Iterator[Row]) -> Iterator[bytes]:
    """The bytes of a file: a group of rows is held at a time, and the file itself lies on disk."""
    import pyarrow as pa  # noqa: PLC0415 - a third of a second that no other command needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([(name, pa.string() if kind == "json" else kind) for name, kind in columns.items()])
    with TemporaryFile() as file:
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            while group := list(islice(rows, _GROUP)):
                writer.write_batch(pa.RecordBatch.from_pylist(group, schema), row_group_size=_GROUP)
        file.seek(0)
        yield from iter(lambda: file.read(1 << 20), b"")


# `ragas`, `deepeval` and `deepeval-csv`: questions with their answers, as these read them.

_BAR = "\N{BROKEN BAR}"
"""Stands for the bar by which deepeval's tables join passages, and which they cannot escape."""

_DEEPEVAL = ("input", "actual_output", "expected_output", "retrieval_context", "context", "additional_metadata", "id")

_BESIDE_DEEPEVAL = ("dataset", "is_unanswerable", "answers", "turns")


def to_ragas(measured: Measured) -> Iterator[str]:
    """A line a question, as `EvaluationDataset.from_jsonl` of ragas reads it.

    In addition to its fields stand ours, which it passes over.
    """
    return (json_line(_ragas(record)) for record in measured.records())


def to_deepeval(measured: Measured) -> Iterator[str]:
    """A list of test cases, each of them a golden too, under the names that deepeval reads."""
    yield "["
    for number, record in enumerate(measured.records()):
        yield f"{',' * (number > 0)}\n{json.dumps(_deepeval(record), ensure_ascii=False)}"
    yield "\n]\n"


def to_deepeval_csv(measured: Measured) -> Iterator[str]:
    """The same as a table, with passages joined by `|`."""
    rows = (
        {
            name: "|".join(text.replace("|", _BAR) for text in value) if isinstance(value, list) else value
            for name, value in _deepeval(record).items()
        }
        for record in measured.records()
    )
    return sheet([*_DEEPEVAL, *_BESIDE_DEEPEVAL[:2]], rows)


def json_line(row: Row) -> str:
    """A row as a line of JSON."""
    return f"{json.dumps(row, ensure_ascii=False)}\n"


def known_of(question: EvalQuestion) -> Row:
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


def _texts_of(record: EvalRecord) -> tuple[list[str] | None, list[str | None]]:
    """The texts of the chunks, None where none were sent, and their ids; chunks without a text are left out."""
    sent = record.response.chunks if record.response else None
    chunks = [chunk for chunk in sent or () if chunk.text]
    return None if sent is None else [chunk.text or "" for chunk in chunks], [chunk.chunk_id for chunk in chunks]


def _ragas(record: EvalRecord) -> Row:
    question = record.question
    texts, ids = _texts_of(record)
    golds = {
        "reference_context_ids": _names(question, lambda gold: gold.chunk_id),
        "gold_document_ids": _names(question, lambda gold: None if gold.chunk_id else gold.document_id, also=1),
    }
    known = known_of(question)
    known.pop("expected_answer", None)
    return {
        "user_input": question.question,
        "response": record.response.answer if record.response else None,
        "reference": question.expected_answer,
        "reference_contexts": [gold.text for gold in question.gold_passages if gold.text],
        "retrieved_contexts": texts,
        "retrieved_context_ids": ids if ids and all(ids) else None,
        "id": question.id,
        **known,
        **{column: names for column, names in golds.items() if names},
    }


def _names(question: EvalQuestion, id_of: Callable[[GoldPassage], str | None], also: int = 0) -> list[str]:
    """The golds that are known by an id alone; none where they would be read as the ids of the passages next to them.

    Args:
        question: The question.
        id_of: The id of a gold.
        also: A number of ids that would be read so too.
    """
    names = [name for gold in question.gold_passages if not gold.text and (name := id_of(gold))]
    texts = sum(bool(gold.text) for gold in question.gold_passages)
    return [] if texts and len(names) in {texts, also} else names


def _deepeval(record: EvalRecord) -> Row:
    """A test case; what stands next to the fields of deepeval it passes over."""
    question = record.question
    fields = (
        question.question,
        record.response.answer if record.response else None,
        question.expected_answer,
        _texts_of(record)[0],
        [gold.text for gold in question.gold_passages if gold.text] or None,
        question.metadata or None,
        question.id,
    )
    beside = {name: value for name, value in known_of(question).items() if name in _BESIDE_DEEPEVAL}
    return {**dict(zip(_DEEPEVAL, fields, strict=True)), **beside}
