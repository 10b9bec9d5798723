"""A run for spreadsheets and programs, a row a question; for ragas, and for trec_eval."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import quote

from evals.metrics.base import Aggregation
from evals.metrics.registry import known_metric
from evals.metrics.retrieval import MRR
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import RetrievedChunk
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


# For ragas and trec_eval.


_BLANK = re.compile(r"[\s\x00-\x20\x7f%]")
_MRR = MRR()


def to_ragas(saved: SavedRun) -> Iterator[str]:
    """A line a question, as `EvaluationDataset.from_jsonl` of ragas reads it; it passes over the fields of ours."""
    for record in saved.records():
        question, response = record.question, record.response
        chunks = [chunk for chunk in (response.chunks if response else None) or () if chunk.text]
        row = {
            "user_input": question.question,
            "response": response.answer if response else None,
            "reference": question.expected_answer,
            "reference_contexts": [gold.text for gold in question.gold_passages if gold.text],
            "retrieved_contexts": [chunk.text for chunk in chunks]
            if response and response.chunks is not None
            else None,
            "id": question.id,
            "is_unanswerable": question.is_unanswerable,
            "metadata": question.metadata or None,
        }
        yield f"{json.dumps(row, ensure_ascii=False)}\n"


# trec_eval: a passage of the collection is a gold of the question, at the rank at which it is found.


def passage_id(passage: GoldPassage | RetrievedChunk) -> str:
    """The name of a passage: its chunk id, else a hash of its text, each behind the document where it is known."""
    inner = passage.chunk_id or (sha256(passage.text.encode()).hexdigest()[:12] if passage.text else "")
    return ".".join(part for part in (passage.document_id or "", inner) if part)


def _unique(names: Iterator[str], taken: list[str]) -> list[str]:
    """The names, each once: one that is taken gets a number, `name~2`."""
    known, unique = set(taken), []
    for name in names:
        own, number = name, 1
        while not own or own in known:
            number += 1
            own = f"{name}~{number}"
        known.add(own)
        unique.append(own)
    return unique


def _gold_ids(question: EvalQuestion) -> list[str]:
    return _unique(map(passage_id, question.gold_passages), [])


def _encoded(name: str) -> str:
    """A name for a line whose columns are parted by blanks: white space and `%` are percent-encoded."""
    return _BLANK.sub(lambda match: quote(match.group(), safe=""), name)


NOT_WHOLE = "with a relevance that is no whole number"


def has_whole_grades(question: EvalQuestion) -> bool:
    """Whether all its gold has grades as trec_eval reads them."""
    return all(gold.relevance == int(gold.relevance) for gold in question.gold_passages)


def why_left_out(record: EvalRecord, sample: Sample) -> str | None:
    """Why a question is not in the files for trec_eval; None where it is."""
    question = record.question
    if not question.gold_passages:
        return "without a gold passage"
    if not has_whole_grades(question):
        return NOT_WHOLE
    if record.response is None or record.response.error is not None:
        return "without an answer"
    if (result := _MRR.score(sample)).value is None:
        return f"without a value: {result.reason}"
    several = max(map(len, sample.matches.newly_found), default=0) > 1
    return "with a chunk that is the first to hold several golds" if several else None


def to_trec_run(saved: SavedRun) -> Iterator[str]:
    """Topic, `Q0`, passage, rank, score and the id of the run, a line a chunk; scores fall by one."""
    for record in saved.records():
        sample = saved.settings.sample_of(record)
        if why_left_out(record, sample) is not None:
            continue
        golds = _gold_ids(record.question)
        own = _unique(map(passage_id, sample.response.chunks or []), golds)
        held = sample.matches.newly_found
        names = [golds[next(iter(found))] if found else name for name, found in zip(own, held, strict=True)]
        names = names or ["nothing-retrieved"]
        for rank, name in enumerate(names, start=1):
            topic = _encoded(record.question.id)
            yield f"{topic} Q0 {_encoded(name)} {rank} {len(names) - rank + 1} {saved.run.id}\n"


def to_qrels(saved: SavedRun) -> Iterator[str]:
    """Topic, `0`, gold passage and its grade, a line a gold."""
    for record in saved.records():
        question = record.question
        if has_whole_grades(question):
            for name, gold in zip(_gold_ids(question), question.gold_passages, strict=True):
                yield f"{_encoded(question.id)} 0 {_encoded(name)} {int(gold.relevance)}\n"
