"""What a log or an export of traces holds: the exchanges of users with a server, one after the other.

Rows of a log are read by the names of their columns (the table `log` in evals/data/columns.toml); rows of five kinds of
exports are spans. Spans of a trace may stand anywhere in the file: they wait on disk.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from evals.answers.readers import reader_of
from evals.answers.spans import (
    Exchange,
    Span,
    documents_of,
    join,
    message_of,
    name_of,
    number_of,
    text_of,
    time_of,
    usage_of,
)
from evals.datasets.columns import plain_name
from evals.datasets.tables import (
    TABLES,
    Row,
    as_text,
    entries,
    is_nothing,
    parsed,
    read_rows,
    storable,
)
from evals.errors import DatasetError
from evals.schemas.response import PART, EvalResponse, ResponseError
from evals.store.disk_list import DiskList
from evals.text.decoding import without_surrogates
from evals.text.numbers import counted, number_or_none
from evals.text.tokens import lists_of

COLUMNS = {field: tuple(names.split()) for field, names in lists_of("columns")["log"].items()}
_KNOWN = frozenset(chain.from_iterable(COLUMNS.values()))
_HINT = (
    "a row of a log holds question and answer; answers without questions are scored by "
    "score answers.jsonl --dataset-file questions.jsonl, passages by score predictions.json gold.json"
)
_EXPORTS = "give an export of OTLP JSON, Phoenix, MLflow, Langfuse or LangSmith (docs/production.md)"
_LISTS = ("data", "spans", "runs", "observations", "traces", "rows", "records")
_NO_ERROR = frozenset({"", "none", "null", "nan", "false", "0", "no", "ok"})
UNREADABLE, WITHOUT_DOCUMENTS = "with documents that cannot be read", "without documents"
_MOST_S = 366 * 24 * 3600


@dataclass
class Log:
    """The exchanges of a file, and what could not be read of it.

    Attributes:
        kind: "rows" or "traces".
        exchanges: In the order in which they came; on disk.
        total: Rows, or traces.
        notes: Remarks for the reader.
        answered: Exchanges with an answer or a failure.
        lacks: How many exchanges lack what, in words.
        thumbs: By the name of an opinion, whether all its numbers are 1, 0 and -1: others are stars.
    """

    kind: Literal["rows", "traces"]
    exchanges: DiskList[Exchange]
    total: int = 0
    notes: list[str] = field(default_factory=list)
    answered: int = 0
    lacks: Counter[str] = field(default_factory=Counter)
    thumbs: dict[str, bool] = field(default_factory=dict)

    def add(self, exchange: Exchange) -> None:
        """Keep an exchange, and count what it lacks."""
        response = exchange.response
        self.exchanges.append(exchange)
        self.answered += response.answer is not None or response.error is not None
        unreadable = response.could_not_read("chunks")
        self.lacks[UNREADABLE] += unreadable
        self.lacks[WITHOUT_DOCUMENTS] += response.chunks is None and not unreadable
        self.lacks["with documents without text"] += any(chunk.text is None for chunk in response.chunks or [])
        for name, opinion in exchange.feedback.items():
            self.thumbs[name] = self.thumbs.get(name, True) and number_or_none(opinion) in (None, 1, 0, -1)

    def described(self) -> str:
        """How much was read: "read 962 of 1,000 traces; 150 without documents; 38 without a root …"."""
        missing = "without a root that holds a question" if self.kind == "traces" else "without a question"
        lacks = {**self.lacks, missing: self.total - len(self.exchanges)}
        parts = [f"{count:,} {what}" for what, count in lacks.items() if count]
        return "; ".join([f"read {len(self.exchanges):,} of {self.total:,} {self.kind}", *parts])


def read_log(path: Path, folder: Path | None = None) -> Log:
    """Read a log or an export of traces.

    Args:
        path: JSON, JSON lines, CSV, a spreadsheet or Parquet.
        folder: Where what is read waits on disk; None for the system's folder of temporary files.

    Raises:
        DatasetError: The file cannot be read, or holds no question of a user.
        StoreError: The disk is full.
    """
    rows = iter(_rows(path))
    first = next(rows, None)
    if first is None:
        raise DatasetError(f"{path.name} holds no rows", _HINT)
    every = chain([first], rows)
    log = _traces(path, every, folder) if reader_of(first[1]) else _log_rows(every, folder)
    if not log.exchanges:
        reading = "; ".join([log.described(), *log.notes])
        raise DatasetError(f"{path.name} holds no question of a user: {reading}", _HINT)
    if not log.answered:
        raise DatasetError(f"{path.name} holds no answer", _HINT)
    return log


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows with their places."""
    if path.is_dir() or path.suffix.lower() not in {".json", ".jsonl", ".ndjson", ".log", *TABLES}:
        raise DatasetError(f"{path} is no log", "it is a file: .jsonl, .ndjson, .json, .csv, .xlsx or .parquet")
    rows, _ = read_rows(path, lambda title: plain_name(title) in _KNOWN, "a question and an answer", _listed)
    for where, row in rows:
        try:
            yield where, without_surrogates(row)
        except RecursionError as error:
            raise DatasetError(f"{where}: its values are nested too deeply", "is the export whole?") from error


def _listed(name: str, held: Any) -> Iterable[Row]:
    """The rows of a list, which may stand in an object; an export of traces may be one object."""
    if isinstance(held, Mapping) and not reader_of(held):
        held = next((held[key] for key in _LISTS if isinstance(held.get(key), list)), held)
    return entries(name, held)


def _traces(path: Path, rows: Iterable[tuple[str, Mapping[str, Any]]], folder: Path | None) -> Log:
    spans = read_spans(path, rows, folder)
    log = Log("traces", DiskList(folder=folder), len(spans))
    for exchange in filter(None, map(join, spans.values())):
        log.add(exchange)
    return log


def read_spans(
    path: Path, rows: Iterable[tuple[str, Mapping[str, Any]]] | None = None, folder: Path | None = None
) -> "Traces":
    """The spans of an export by their traces.

    Args:
        path: The file.
        rows: Its rows with their places; None to read them.
        folder: Where they wait on disk.

    Raises:
        DatasetError: A row is no span.
        StoreError: The disk is full.
    """
    spans: DiskList[Span] = DiskList(folder=folder)
    places: dict[str, list[int]] = {}
    for where, row in _rows(path) if rows is None else rows:
        reader = reader_of(row)
        if reader is None:
            raise DatasetError(f"{where}: no span of a trace", _EXPORTS)
        try:
            for span in reader(row):
                places.setdefault(span.trace, []).append(len(spans))
                spans.append(span)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            lacks = f"it has no {error}" if isinstance(error, KeyError) else str(error).partition("\n")[0]
            raise DatasetError(f"{where}: the span cannot be read: {lacks}", _EXPORTS) from error
    return Traces(spans, places)


class Traces(Mapping[str, list[Span]]):
    """The spans of an export by the ids of their traces; they are on disk."""

    def __init__(self, spans: DiskList[Span], places: dict[str, list[int]]) -> None:
        self._spans, self._places = spans, places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, trace: str) -> list[Span]:
        return [self._spans[place] for place in self._places[trace]]


def _log_rows(rows: Iterable[tuple[str, Mapping[str, Any]]], folder: Path | None) -> Log:
    log = Log("rows", DiskList(folder=folder))
    titles, unread = Counter[str](), Counter[str]()
    for where, row in rows:
        log.total += 1
        titles.update(map(str, row))
        cells = _cells(row)
        if (question := _plain(cells.get("question"), "question")) is None:
            continue
        exchange = _exchange(where, row, cells, question)
        log.add(exchange)
        unread["latency"] += "latency" in map(plain_name, exchange.metadata)
        unread["time"] += "time" in cells and exchange.time is None
    if not log.exchanges and titles:
        log.notes.append(f"its columns: {', '.join(titles)}")
    if unread["latency"]:
        log.notes.append("column `latency` has no unit, and is kept as metadata: name it latency_ms or latency_s")
    if unread["time"]:
        log.notes.append(f"{counted(unread['time'], 'time')} could not be read: ISO 8601 or seconds since 1970 can")
    return log


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a row by the fields of a log; of several columns of a field the first that says something."""
    titles = {plain_name(str(title)): title for title in row}
    cells: dict[str, Any] = {}
    for name, known in COLUMNS.items():
        held = [row[titles[one]] for one in known if one in titles]
        if filled := [cell for cell in held if not is_nothing(cell)]:
            cells[name] = filled[0]
        elif name == "answer" and "" in held:
            cells[name] = ""  # an empty answer, which null is not
    return cells


def _exchange(where: str, row: Mapping[str, Any], cells: Mapping[str, Any], question: str) -> Exchange:
    failed = cells.get("error")
    failed = None if str(failed).strip().casefold() in _NO_ERROR else failed
    held = parsed(cells.get("chunks"), or_text=True)
    documents = documents_of([held] if isinstance(held, str) else held)
    answer, notes = "" if cells.get("answer") == "" else _plain(cells.get("answer"), "answer"), []
    if "answer" in cells and answer is None:
        notes.append(f"{PART}answer could not be read: it holds no text")
    if documents is not None and documents.unreadable:
        notes.append(f"{PART}chunks could not be read: {counted(documents.unreadable, 'document')}")
        documents = None
    response = EvalResponse(
        answer=None if failed is not None else answer,
        chunks=None if documents is None else list(documents.chunks),
        usage=usage_of({name: cells.get(name) for name in ("prompt_tokens", "completion_tokens")}),
        model=name_of(cells.get("model")),
        latency_ms=_latency_ms(where, cells),
        error=None if failed is None else ResponseError(kind="not_ok", message=message_of(failed)[:200]),
        notes=notes,
    )
    rest = {str(title): storable(cell) for title, cell in row.items() if plain_name(str(title)) not in _KNOWN}
    about = {name: str(cells[name]) for name in ("session", "model") if name in cells}
    opinions = {str(title): cell for title, cell in row.items() if plain_name(str(title)) in COLUMNS["feedback"]}
    return Exchange(
        name_of(cells.get("id")) or "",
        question,
        response,
        time_of(cells.get("time")),
        {name: opinion for name, opinion in opinions.items() if not is_nothing(opinion)},
        {**{title: cell for title, cell in rest.items() if not is_nothing(cell)}, **about},
    )


def _plain(cell: Any, what: Literal["question", "answer"]) -> str | None:
    """The text of a cell, which may be a number or a word of truth."""
    return text_of(as_text(cell), what)


def _latency_ms(where: str, cells: Mapping[str, Any]) -> float | None:
    for name, factor in (("latency_ms", 1.0), ("latency_s", 1000.0)):
        if name in cells:
            number = number_of(cells[name])
            if number is None or not 0 <= number * factor <= _MOST_S * 1000:
                raise DatasetError(f"{where}: {cells[name]!r} is no latency", "it is a number, of 0 or more")
            return number * factor
    return None
