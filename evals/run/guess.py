"""How the answer of a server without a profile is read: expressions guessed from one body, by names and by shape.

The values of a body make columns: one for each key, also within lists. The column of texts with the most words is that
of the chunks, and other columns of the same rows say what they are. The answer is the text whose key says so, or the
longest one elsewhere.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evals.client.mapping import token_usage
from evals.client.spec import StreamFormat
from evals.client.streams import END, EventReader
from evals.text.decoding import parse_json
from evals.text.tokens import lists_of

NAMES, _CHUNK_NAMES = (
    {key: tuple(words.split()) for key, words in lists_of("servers")[table].items()} for table in ("names", "chunk")
)
"""Names of fields by what they hold, and by the part of a chunk that they hold."""

_DOCUMENT_NAMES = frozenset(_CHUNK_NAMES["document_name"] + _CHUNK_NAMES["document_id"])
_FILE = re.compile(r"\S[^\n]{0,200}\.[A-Za-z]{2,5}|https?://\S+")
_CITES = re.compile(r"cit|refer|^refs?$|used|ground|based_on|support|pointer")
_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zäöüß]+|\d+")
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MOST_COLUMNS = 1000
_LAST = re.compile(r"(?:\b|_)(?:end|done|final|finish|finished|complete|completed|stop)'?\Z")
"""How the condition of a stream's last event ends, where its name says that it is the last."""

RowIndex = tuple[int, ...]
"""A place in the lists of a body, from the outermost on."""

BodyColumns = dict[str, dict[RowIndex, Any]]
"""Values by their expression, or by their path in a row, and by their row."""


@dataclass(slots=True)
class Guess:
    """A mapping, with what it selects.

    Attributes:
        map: For `server.map`.
        citations: For `server.citations`.
        ask: Further keys of `server.ask`: `reply` of a plain text.
        stream: For `server.stream`; None: the body is no stream.
        answer: The answer that the mapping selects.
        rows: The chunks that it selects.
    """

    map: dict[str, str] = field(default_factory=dict)
    citations: dict[str, Any] = field(default_factory=dict)
    ask: dict[str, str] = field(default_factory=dict)
    stream: dict[str, str] | None = None
    answer: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)


class Table(NamedTuple):
    """Rows that may be the chunks: what speaks for them, their expression, and how the paths begin that they take."""

    weight: float
    expression: str
    rows: list[dict[str, Any]]
    taken: tuple[str, ...]


def guess_body(body: Any, question: str) -> Guess:
    """Guess the mapping of a body.

    Args:
        body: What answers the question.
        question: The question; its echo is neither answer nor chunk.
    """
    guess = Guess()
    left = _take_chunks(guess, columns_of(body), question)
    weight, path, answer = max(_answers(left, question, guess.rows), default=(0.0, "", ""))
    if weight:
        guess.map, guess.answer = {"answer": path, **guess.map}, answer
    _take_citations(guess, left)
    _take_usage(guess, left)
    return guess


# Names, paths, and the columns of a body.


def snake(path: str) -> str:
    """The last key of an expression in small letters with underscores: `chunk_id` of `sources[0].chunkId`."""
    keys = re.findall(r"[\w-]+", re.sub(r"\[[^\]]*\]", "", path.partition(" | join")[0]))
    name = keys[-1] if keys else ""
    joined = "_".join(part.lower() for part in _WORDS_OF_NAME.findall(name))
    return f"_{joined}" if name.startswith("_") else joined


def child(at: str, key: str) -> str:
    """The expression of a key below another expression."""
    return _below(at, key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False))


def _below(at: str, path: str) -> str:
    return f"{at}.{path}" if at and path and not path.startswith("[") else f"{at}{path}"


def _selected(fields: Mapping[str, str]) -> str:
    parts = (": ".join((name, path or "@")) for name, path in fields.items())
    return f"{{{', '.join(parts)}}}"


def _literal(text: str) -> str:
    escaped = text.replace("'", "\\'")
    return f"'{escaped}'"


def json_or(default: Any, text: str) -> Any:
    """The JSON of a text; the default where it is none."""
    try:
        return parse_json(text.encode())
    except ValueError:
        return default


def _are(kind: type, items: Any) -> bool:
    """Whether these are a list of items of this kind, and not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, kind) for item in items)


def columns_of(body: Any, at: str = "") -> BodyColumns:
    """All values of a body that are no object and no list, those of alike items of a list in one column."""
    columns: BodyColumns = {}
    for path, row, value in _cells(body, at, ()):
        if path in columns or len(columns) < _MOST_COLUMNS:
            columns.setdefault(path, {})[row] = value
    return columns


def _cells(value: Any, at: str, row: RowIndex) -> Iterator[tuple[str, RowIndex, Any]]:
    if not isinstance(value, Mapping | list):
        yield at, row, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _cells(item, child(at, key), row) if key else ()
    elif _are(list, value) and len(value) > 1:
        for number, cells in enumerate(value):
            for position, cell in enumerate(cells):
                yield from _cells(cell, f"{at}[*][{position}]", (*row, number))
    else:
        are_alike = len({*map(type, value)}) == 1 and not _are(list, value)
        for number, item in enumerate(value):
            yield from _cells(item, *((f"{at}[]", (*row, number)) if are_alike else (f"{at}[{number}]", row)))


def _rows_of(path: str) -> tuple[str, str]:
    """The expression of the innermost rows that a column belongs to, and its path in a row; none: empty, and all."""
    rows = re.match(r".*\[\*?\]", path)
    end = rows.end() if rows else 0
    return path[:end], path[end:].removeprefix(".")


def _list_of(rows_at: str) -> str:
    return re.sub(r"\[\*?\]$", "", rows_at)


# Texts that may be the answer.


def _answers(
    columns: BodyColumns, question: str, rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[float, str, str]]:
    """Weight, expression and text of what may be the answer: a text alone, the last message, all parts of one text."""
    for path, cells in columns.items():
        texts = {row: text for row, text in cells.items() if isinstance(text, str)}
        at, name = _rows_of(path)
        own = _own_columns(columns, at) if at else {}
        is_talk = _is_conversation(own, question)
        kind = next((key for key in own if key in NAMES["kinds"] and not is_talk), None)
        parts: dict[str, list[str]] = {}
        if kind is None and not any(map(any, texts)):  # the first everywhere
            parts[path.replace("[]", "[0]") or "@"] = [*texts.values()]
        elif is_talk:
            parts[f"{path} | [-1]"] = [*texts.values()][-1:]
        elif kind is not None:
            for row, text in texts.items():
                if isinstance(value := own[kind].get(row), str):
                    parts.setdefault(f"join('', {at} | [?{kind}=={_literal(value)}].{name})", []).append(text)
        elif name and len(own) == 1:
            parts[f"join('', {path})"] = [*texts.values()]
        for expression, text in ((expression, "".join(part)) for expression, part in parts.items()):
            yield _answer_weight(path, text, question, rows), expression, text


def _answer_weight(path: str, text: str, question: str, rows: Sequence[Mapping[str, Any]]) -> float:
    """How much speaks for a text: words, more where its key says so; 0 where it is something else."""
    name, words, chunks = snake(path), min(len(text.split()), 30), {str(row["text"]) for row in rows}
    if text == question:
        return 0
    if name in NAMES["answers"] or name.endswith(("_answer", "_response")):
        return 8 * words
    quotes = text in chunks or sum(chunk in text for chunk in chunks) > 1
    if words < 2 or name in NAMES["no_answers"] or quotes:
        return 0
    return 1.5 * words if name in NAMES["maybe_answers"] else words


# Rows that may be the chunks.


def _take_chunks(guess: Guess, columns: BodyColumns, question: str) -> BodyColumns:
    """Take the rows for which most speaks, and give the columns that they leave."""
    tables = [_table(path, columns, question) for path in columns if _rows_of(path)[0]]
    table = max(tables, key=lambda table: table.weight, default=None)
    if table is None or not table.weight:
        return columns
    guess.map["chunks"], guess.rows = table.expression, table.rows
    return {path: cells for path, cells in columns.items() if not path.startswith(table.taken)}


def _own_columns(columns: BodyColumns, at: str) -> BodyColumns:
    """The columns of some rows, by their path in a row."""
    return {name: cells for path, cells in columns.items() for rows_at, name in [_rows_of(path)] if rows_at == at}


def _table(path: str, columns: BodyColumns, question: str) -> Table:
    """The table whose texts are a column."""
    rows_at, text = _rows_of(path)
    own, list_at = _own_columns(columns, rows_at), _list_of(rows_at)
    rows = list(dict.fromkeys(row for cells in own.values() for row in cells))
    expression, fields = rows_at, _chunk_fields(own, text)
    taken: tuple[str, ...] = (f"{list_at}[",)
    if not {"document_id", "document_name"} & {*fields}:
        zipped, lists = _zipped(rows_at, columns, rows)
        name = _below(child("", snake(list_at)), text)
        more = _chunk_fields(zipped, name) if name in zipped else {}
        if {"document_id", "document_name"} & {*more}:
            outer = _rows_of(list_at)[0]
            used = {
                name: at
                for name, at in lists.items()
                if any(f"{part}.".startswith(f"{name}.") for part in more.values())
            }
            expression, own, fields = _below(outer, f"zip({_selected(used)})[]"), zipped, more
            taken = (f"{_list_of(outer)}[",) if outer else tuple(f"{at}[" for at in used.values())
    chunks = [{part: own[name].get(row) for part, name in fields.items()} for row in rows]
    if fields == {"text": ""}:
        expression = rows_at if _rows_of(list_at)[0] else list_at or "@"
    else:
        expression = f"{expression}.{_selected(fields)}"
    is_none = _is_conversation(own, question) or _are_parts(own) or any(chunk["text"] == question for chunk in chunks)
    return Table(0 if is_none else _weight(chunks, rows_at, snake(text)), expression, chunks, taken)


def _zipped(rows_at: str, columns: BodyColumns, rows: Sequence[RowIndex]) -> tuple[BodyColumns, dict[str, str]]:
    """The columns of lists as long as that of these rows, and of what their object says; and these lists by name."""
    outer, zipped, lists = _rows_of(_list_of(rows_at))[0], BodyColumns(), dict[str, str]()
    for path, cells in columns.items():
        at, name = _rows_of(path)
        list_at = _list_of(at)
        if at and _rows_of(list_at)[0] == outer and cells.keys() <= {*rows}:
            part, filled = list_at, cells
        elif outer and at == outer and snake(path) in _DOCUMENT_NAMES:
            part, filled, name = path, {row: cells.get(row[:-1]) for row in rows}, ""
        else:
            continue
        if key := child("", snake(part)) if snake(part) else "":
            zipped[_below(key, name)], lists[key] = filled, part.removeprefix(outer).removeprefix(".")
    return zipped, lists


def _is_conversation(own: BodyColumns, question: str) -> bool:
    """Whether rows are messages: they name speakers, or repeat the question."""
    kinds = [cells.values() for name, cells in own.items() if snake(name) in NAMES["kinds"]]
    names_speakers = any({str(value).lower() for value in values} <= {*NAMES["speakers"]} for values in kinds)
    return names_speakers or any(len(cells) > 1 and question in cells.values() for cells in own.values())


def _are_parts(own: BodyColumns) -> bool:
    """Whether rows are parts of one text: they say a kind and a text, and not where it is from."""
    filled = [
        name for name, cells in own.items() if not all(isinstance(value, bool | None) for value in cells.values())
    ]
    return len(filled) == 2 and any(snake(name) in NAMES["kinds"] for name in filled)


def _weight(rows: Sequence[Mapping[str, Any]], path: str, name: str) -> float:
    """How much speaks for rows: words, further fields, usual names; 0 where a row has no text of some words."""
    texts = [row["text"] for row in rows if isinstance(row["text"], str)]
    words = sum(len(text.split()) for text in set(texts))
    if len(texts) < len(rows) or words < 4 * len(set(texts)):
        return 0
    names, keys = {snake(key) for key in re.findall(r"\w+", path)}, {key for row in rows for key in row if row[key]}
    listed = 1.5 if names & {*NAMES["passages"]} else 0.2 if names & {*NAMES["no_passages"]} else 1
    are_questions = sum(text.rstrip().endswith("?") for text in texts) * 2 > len(texts)
    is_other = are_questions or name in NAMES["no_passage_texts"]
    return words * (1 + 0.5 * (len(keys) - 1)) * listed * (0.25 if is_other else 1)


def _chunk_fields(columns: BodyColumns, text: str) -> dict[str, str]:
    """The parts of chunks by their columns, of which one is the text: by name, a document also by its look."""
    fields = {"text": text}
    for part, names in _CHUNK_NAMES.items():
        fitting = [
            (names.index(name), path.count("."), path)
            for path, cells in columns.items()
            for name in (snake(path), snake(path).removesuffix("s"))
            if name in names and path not in fields.values() and _fits(part, [*cells.values()])
        ]
        fields |= {part: min(fitting)[2]} if fitting else {}
    files = [path for path, cells in columns.items() if all(_FILE.fullmatch(str(value)) for value in cells.values())]
    if "document_name" not in fields and (left := [path for path in files if path not in fields.values()]):
        fields["document_name"] = left[0]
    return fields


def _fits(part: str, values: Sequence[Any]) -> bool:
    given = [value for value in values if value is not None and not isinstance(value, bool)]
    if part == "score":
        return bool(given) and all(isinstance(value, int | float) for value in given)
    if part == "chunk_id" and len(set(map(str, given))) < len(given):
        return False  # as of documents
    return bool(given) and all(isinstance(value, str | int) and len(str(value)) < 300 for value in given)


# What is cited, and whether all is well.


def _take_citations(guess: Guess, columns: BodyColumns) -> None:
    """Take a list of ids or numbers of chunks, which are counted from 0 where 0 is cited; marks need no keys."""
    if not guess.rows or guess.answer is None:
        return
    ids, numbers = {str(row.get("chunk_id")) for row in guess.rows}, {str(n) for n in range(len(guess.rows) + 1)}
    for path, cells in columns.items():
        (at, name), values = _rows_of(path), {str(value) for value in cells.values()}
        if at.count("[]") == 1 and not name and (values <= ids or (_CITES.search(snake(at)) and values <= numbers)):
            guess.map["citations"] = _list_of(at)
            guess.citations = {"given_as": "list"} | ({"base": 0} if "0" in values - ids else {})
            return
    if "[0]" in guess.answer:
        guess.citations = {"base": 0}


def _take_usage(guess: Guess, columns: BodyColumns) -> None:
    """Take the name of the model and the object with the numbers of tokens."""
    objects: dict[str, dict[str, Any]] = {}
    for path, cells in columns.items():
        *_, last = cells.values()
        at, _, key = path.rpartition(".")
        objects.setdefault(at, {})[key] = last
        if snake(path) in NAMES["models"] and isinstance(last, str):
            guess.map.setdefault("model", f"{path} | [0]" if "[]" in path else path)
    for at, value in objects.items():
        if at and token_usage(value, []) is not None:
            guess.map["usage"] = f"{at} | [-1]" if "[]" in at else at


def failure_in(body: Any) -> str | None:
    """What a body with status 200 says went wrong; None: nothing."""
    for key, value in body.items() if isinstance(body, Mapping) else ():
        name = snake(key)
        if name in NAMES["errors"] and value:
            return f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        is_ill = name in {"status", "state"} and str(value).lower() in NAMES["ill"]
        if is_ill or (name in NAMES["success"] and value is False):
            return f"{key} is {value!r}"
    return None


def _says_something(value: Any) -> bool:
    return not isinstance(value, bool) and value not in (None, "")


def unread_fields(body: Any, expressions: str) -> list[str]:
    """The paths of fields with content that no expression reads.

    Args:
        body: What was received.
        expressions: All expressions, in one text.
    """
    words, columns = {*re.findall(r"\w+", expressions)}, columns_of(body)
    filled = [path for path, cells in columns.items() if any(map(_says_something, cells.values()))]
    return [path for path in filled if path and not {*re.findall(r"\w+", path)} <= words]


# Streams, and texts that are no JSON.


def guess_text(raw: str, content_type: str, question: str) -> Guess:
    """Guess the mapping of a response: JSON, a stream of events, XML or plain text."""
    with suppress(ValueError):
        return guess_body(parse_json(raw.encode()), question)
    form, events = read_events(raw, content_type)
    if form is not None and events:
        return _guess_stream(form, events, question)
    if "html" in content_type or not raw.strip():
        return Guess()
    if raw.lstrip().startswith("<"):
        return _guess_xml(raw)
    return Guess(map={"answer": "@"}, ask={"reply": "text"}, answer=raw)


def read_events(raw: str, content_type: str = "") -> tuple[StreamFormat | None, list[dict[str, Any]]]:
    """The format of a stream and its events, each with `event` and `data`; no events: it is none."""
    lines = [line for line in raw.splitlines() if line.strip()]
    form: StreamFormat | None = None
    if "event-stream" in content_type or raw.lstrip().startswith(("data:", "event:", ":")):
        form = "sse"
    elif len(lines) > 1 and all(re.match(r'[0-9a-z]:["\[{\d]', line) for line in lines):
        form = "vercel"
    elif len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines):
        form = "ndjson"
    events = EventReader(form).feed(f"{raw}\n\n".encode(), final=True) if form is not None else ()
    return form, [{"event": name, "data": json_or(data, data)} for name, data in events if data and data != END]


def _guess_stream(form: str, events: list[dict[str, Any]], question: str) -> Guess:
    """Map a stream: the text that comes in pieces, else that of one event; the rest is read from all events."""
    guess, conditions = Guess(), [_condition(event, events) for event in events]
    left = _take_chunks(guess, columns_of(events), question)
    if len({row["text"] for row in guess.rows}) < len(guess.rows):  # the last event repeats them
        guess.map["chunks"] = guess.map["chunks"].replace("[]", "[-1]", 1)
    guess.stream = {"format": form} if form != "sse" else {}
    pieces: dict[tuple[str, str], dict[int, str]] = {}
    for path, cells in left.items():
        for (event, *_), text in cells.items():
            is_answer = path.startswith("[].data") and (form != "vercel" or conditions[event] == "event == '0'")
            if isinstance(text, str) and is_answer:
                texts = pieces.setdefault((path.removeprefix("[]."), conditions[event]), {})
                texts[event] = texts.get(event, "") + text
    weights = {
        key: _answer_weight(key[0], "".join(texts.values()), question, guess.rows) for key, texts in pieces.items()
    }
    key = max(
        (key for key in pieces if weights[key]), key=lambda key: (len(pieces[key]) > 1, weights[key]), default=None
    )
    if key is not None:
        (path, condition), guess.answer = key, "".join(pieces[key].values())
        delta, is_shared = path.replace("[]", "[0]"), path == "data" or sum(path == other for other, _ in pieces) > 1
        if len(pieces[key]) > 1:
            guess.stream["delta"] = f"{condition} && {delta}" if condition and is_shared else delta
        else:
            guess.map["answer"] = f"join('', {f'[?{condition}] | ' if condition else ''}[].{path})"
    if conditions.count(conditions[-1]) == 1 and _LAST.search(conditions[-1]):
        guess.stream["done"] = conditions[-1]
    _take_citations(guess, {})
    _take_usage(guess, left)
    return guess


def _condition(event: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> str:
    """What tells events of this kind from others, as an expression; empty: nothing."""
    if len({other["event"] for other in events}) > 1:
        return f"event == {_literal(event['event'])}"
    objects = [other["data"] for other in events if isinstance(other["data"], Mapping)]
    kinds = (key for key in NAMES["kinds"] if len({str(item.get(key)) for item in objects}) > 1)
    kind = next(kinds, "")
    value = event["data"].get(kind) if isinstance(event["data"], Mapping) else None
    return f"data.{kind} == {_literal(value)}" if isinstance(value, str) else ""


def _guess_xml(raw: str) -> Guess:
    """Map XML by its elements: one that repeats is a chunk, the longest other text the answer."""
    texts: dict[str, list[str]] = {}
    for name, text in re.findall(r"<([\w:-]+)[^>]*>([^<]+)</\1>", raw):
        if len(text.split()) > 1:
            texts.setdefault(name, []).append(text)
    guess, lists = Guess(ask={"reply": "text"}), [name for name in texts if len(texts[name]) > 1]
    if single := [name for name in texts if name not in lists]:
        name = max(single, key=lambda name: (snake(name) in NAMES["answers"], len(texts[name][0])))
        guess.answer, guess.map["answer"] = texts[name][0], f"{_elements(name)} | [0]"
    if lists := lists or [name for name in texts if name in NAMES["passages"]]:
        name = max(lists, key=lambda name: sum(map(len, texts[name])))
        guess.rows, guess.map["chunks"] = [{"text": text} for text in texts[name]], _elements(name)
    return guess


def _elements(name: str) -> str:
    return f"matches(@, '(?s)<{name}[^>]*>(.*?)</{name}>')"
