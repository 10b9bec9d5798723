"""How the answer of a server without a profile is read: expressions guessed from one body, by names and by shape.

The lists of a body make tables, of which each has a column for each value of its rows. The table with the most words is
that of the chunks, and its other columns say what they are. The answer is the text whose key says so, or the longest
one elsewhere. Also what a column of questions may hold that no name tells.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from evals.client.mapping import token_usage
from evals.client.spec import StreamFormat
from evals.client.streams import END, EventReader
from evals.datasets.columns import BOOLEANS, FILE_NAME
from evals.schemas.dataset import EvalQuestion
from evals.text.decoding import parse_json
from evals.text.tokens import lists_of

NAMES, _CHUNK_NAMES = (
    {key: tuple(words.split()) for key, words in lists_of("servers")[table].items()} for table in ("names", "chunk")
)
"""Names of fields by what they hold, and by the part of a chunk that they hold."""

_DOCUMENT = {"document_name", "document_id"}
_FILE = re.compile(r"\S[^\n]{0,200}\.[A-Za-z]{2,5}|https?://\S+")
_CITES = re.compile(r"cit|refer|^refs?$|used|ground|based_on|support|pointer")
_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zäöüß]+|\d+")
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LIST = re.compile(r"(.*\[\*?\])?\.?(.*)\[\*?\]")
"""The expression of rows: that of the rows which their list is in, and its path in such a row."""
_MOST_TABLES = 200
_LAST = re.compile(r"(?:\b|_)(?:end|done|final|finish|finished|complete|completed|stop)'?\Z")
"""How the condition of a stream's last event ends, where its name says that it is the last."""

RowIndex = tuple[int, ...]
"""A place in the lists of a body, from the outermost on."""

BodyColumns = dict[str, dict[RowIndex, Any]]
"""The values of a table that are no object and no list, by their path in a row, and by row."""

BodyTables = dict[str, BodyColumns]
"""By the expression of their rows; the body is the only row of the table ""."""


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


def guess_text(raw: str, content_type: str, question: str) -> Guess:
    """Guess the mapping of a response: JSON, a stream of events, XML or plain text.

    Args:
        raw: What was received.
        content_type: As the server names it.
        question: The question; its echo is neither answer nor chunk.
    """
    form: StreamFormat | None = None
    try:
        body = parse_json(raw.encode())
    except ValueError:
        form, body = read_events(raw, content_type)
        if not body and raw.lstrip().startswith("<"):
            return _guess_xml(raw, question)
        if not body:
            return Guess({"answer": "@"}, ask={"reply": "text"}, answer=raw)
    guess = Guess(stream=None if form is None else {"format": form} if form != "sse" else {})
    left = _take_chunks(guess, tables_of(body), question)
    options = _answers(left, question, guess.rows) if form is None else _pieces(form, body, left, question, guess.rows)
    weight, expression, answer = max(options, default=(0.0, "", ""))
    if weight:
        guess.answer = answer
        if guess.stream is None or expression.startswith("join("):
            guess.map = {"answer": expression, **guess.map}
        else:
            guess.stream["delta"] = expression
    if guess.stream is not None:
        *conditions, last = _conditions(body)
        guess.stream |= {"done": last} if _LAST.search(last) and last not in conditions else {}
        if len({row["text"] for row in guess.rows}) < len(guess.rows):  # the last event repeats them
            guess.map["chunks"] = guess.map["chunks"].replace("[]", "[-1]", 1)
    _take_citations(guess, left)
    _take_usage(guess, left)
    return guess


# Names, paths, and the tables of a body.


def snake(path: str) -> str:
    """The last key of an expression in small letters with underscores: `chunk_id` of `sources[0].chunkId`."""
    keys = re.findall(r"[\w-]+", re.sub(r"\[[^\]]*\]", "", path))
    name = keys[-1] if keys else ""
    joined = "_".join(part.lower() for part in _WORDS_OF_NAME.findall(name))
    return f"_{joined}" if name.startswith("_") else joined


def child(at: str, key: str) -> str:
    """The expression of a key below another expression."""
    return _below(at, key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False))


def _below(at: str, path: str) -> str:
    return f"{at}.{path}" if at and path and not path.startswith("[") else f"{at}{path}"


def _selected(fields: Mapping[str, str]) -> str:
    parts = (f"{name}: {path or '@'}" for name, path in fields.items())
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


def tables_of(body: Any) -> BodyTables:
    """All values of a body that are no object and no list, as tables; those of alike items of a list are of one."""
    tables: BodyTables = {}
    for at, name, row, value in _cells(body, "", "", ()):
        if at in tables or len(tables) < _MOST_TABLES:
            tables.setdefault(at, {}).setdefault(name, {})[row] = value
    return tables


def _cells(value: Any, at: str, name: str, row: RowIndex) -> Iterator[tuple[str, str, RowIndex, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _cells(item, at, child(name, key), row) if key else ()
    elif isinstance(value, list):
        kinds, path = {*map(type, value)}, _below(at, name)
        for number, item in enumerate(value):
            if kinds == {list} and len(value) > 1 and all(value):
                for position, cell in enumerate(item):
                    yield from _cells(cell, f"{path}[*]", f"[{position}]", (*row, number))
            elif len(kinds) == 1 and kinds != {list}:
                yield from _cells(item, f"{path}[]", "", (*row, number))
            else:
                yield from _cells(item, at, f"{name}[{number}]", row)
    else:
        yield at, name, row, value


# Texts that may be the answer.


def _answers(tables: BodyTables, question: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, str, str]]:
    """Weight, expression and text of what may be the answer: a text alone, the last message, all parts of one text."""
    for at, columns in tables.items():
        is_talk = _is_conversation(columns, question)
        kind = next((name for name in columns if at and name in NAMES["kinds"] and not is_talk), None)
        for name, cells in columns.items():
            path, texts = _below(at, name), {row: text for row, text in cells.items() if isinstance(text, str)}
            parts: dict[str, list[str]] = {}
            if kind is not None:
                for row, text in texts.items():
                    if isinstance(value := columns[kind].get(row), str):
                        parts.setdefault(f"join('', {at} | [?{kind}=={_literal(value)}].{name})", []).append(text)
            elif not any(map(any, texts)):  # the first everywhere
                parts[path.replace("[]", "[0]") or "@"] = [*texts.values()]
            elif is_talk:
                parts[f"{path} | [-1]"] = [*texts.values()][-1:]
            elif name and len(columns) == 1:
                parts[f"join('', {path})"] = [*texts.values()]
            for expression, text in ((expression, "".join(part)) for expression, part in parts.items()):
                yield _answer_weight(path, text, question, rows), expression, text


def _pieces(
    form: str, events: Sequence[Mapping[str, Any]], tables: BodyTables, question: str, rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[float, str, str]]:
    """The same of a stream, for `stream.delta`; for `map.answer` (join) where one event has all of the text."""
    conditions = _conditions(events)
    for at, columns in tables.items():
        for name, cells in columns.items():
            path, kinds = _below(at, name).removeprefix("[]."), defaultdict[str, dict[RowIndex, str]](dict)
            for row, text in cells.items() if path.startswith("data") else ():
                if isinstance(text, str) and (form != "vercel" or events[row[0]]["event"] == "0"):
                    kinds[conditions[row[0]]][row] = text
            for condition, texts in kinds.items():
                text, delta = "".join(texts.values()), path.replace("[]", "[0]")
                weight, only = _answer_weight(path, text, question, rows), f"?{condition}" if condition else ""
                if len({event for event, *_ in texts}) == 1:
                    yield weight, f"join('', [{only}].{path})", text
                else:
                    is_shared = condition and (path == "data" or len(kinds) > 1)
                    yield 1000 * weight, f"{condition} && {delta}" if is_shared else delta, text


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


_Option = tuple[float, str, list[dict[str, Any]], tuple[str, ...]]
"""What speaks for rows as the chunks, their expression, the rows, and how the tables begin that they take."""


def _take_chunks(guess: Guess, tables: BodyTables, question: str) -> BodyTables:
    """Take the rows for which most speaks, and give the tables that they leave."""
    options = (option for at in tables if at for option in _options(at, tables, question))
    weight, expression, rows, taken = max(options, key=lambda option: option[0], default=(0.0, "", [], ()))
    if not weight:
        return tables
    guess.map["chunks"], guess.rows = expression, rows
    return {at: columns for at, columns in tables.items() if not at.startswith(taken)}


def _options(at: str, tables: BodyTables, question: str) -> Iterator[_Option]:
    """The chunks that the rows of a table are, by each column that may be their text."""
    own, (outer, in_row) = tables[at], _place(at)
    index = list(dict.fromkeys(row for cells in own.values() for row in cells))
    zipped, lists = _zipped(outer, tables, index)
    for text in own:
        expression, columns, fields = at, own, _chunk_fields(own, text)
        taken: tuple[str, ...] = (at.rstrip("*]"),)
        name = _below(child("", snake(in_row)), text)
        more = _chunk_fields(zipped, name) if name in zipped and not _DOCUMENT & {*fields} else {}
        if _DOCUMENT & {*more}:
            keys = {path.partition(".")[0] for path in more.values()}
            used = {key: path for key, path in lists.items() if key in keys}
            expression, columns, fields = _below(outer, f"zip({_selected(used)})[]"), zipped, more
            taken = (outer.rstrip("*]"),) if outer else tuple(f"{path}[" for path in used.values())
        rows = [{part: columns[path].get(row) for part, path in fields.items()} for row in index]
        if fields != {"text": ""}:
            expression = f"{expression}.{_selected(fields)}"
        elif not outer:
            expression = in_row or "@"
        is_other = _is_conversation(columns, question) or _are_parts(columns)
        weight = 0 if is_other or any(row["text"] == question for row in rows) else _weight(rows, at, text)
        yield weight, expression, rows, taken


def _place(at: str) -> tuple[str, str]:
    """The expression of the rows that the list of a table is in, and the list's path in such a row."""
    parts = _LIST.fullmatch(at)
    return (parts[1] or "", parts[2]) if parts else ("", "")


def _zipped(outer: str, tables: BodyTables, index: Sequence[RowIndex]) -> tuple[BodyColumns, dict[str, str]]:
    """The columns of all lists of the same length, and of what the rows around them say; the lists by their names."""
    columns, lists = BodyColumns(), dict[str, str]()
    for at, cells in tables.items():
        around, in_row = _place(at)
        key = child("", snake(in_row))
        if at and snake(in_row) and around == outer and all(column.keys() <= {*index} for column in cells.values()):
            columns |= {_below(key, name): column for name, column in cells.items()}
            lists[key] = in_row
    for name, column in tables[outer].items() if outer in tables and outer else ():
        if snake(name) in _CHUNK_NAMES["document_name"] + _CHUNK_NAMES["document_id"]:
            lists[key := child("", snake(name))] = name
            columns[key] = {row: column.get(row[:-1]) for row in index}
    return columns, lists


def _is_conversation(columns: BodyColumns, question: str) -> bool:
    """Whether rows are messages: they name speakers, or repeat the question."""
    kinds = [cells.values() for name, cells in columns.items() if snake(name) in NAMES["kinds"]]
    names_speakers = any({str(value).lower() for value in values} <= {*NAMES["speakers"]} for values in kinds)
    return names_speakers or any(len(cells) > 1 and question in cells.values() for cells in columns.values())


def _are_parts(columns: BodyColumns) -> bool:
    """Whether rows are parts of one text: they say a kind and a text, and not where it is from."""
    filled = [name for name, cells in columns.items() if not all(isinstance(v, bool | None) for v in cells.values())]
    return len(filled) == 2 and any(snake(name) in NAMES["kinds"] for name in filled)


def _weight(rows: Sequence[Mapping[str, Any]], at: str, text: str) -> float:
    """How much speaks for rows: words, further fields, usual names; 0 where a row has no text of some words."""
    texts = [row["text"] for row in rows if isinstance(row["text"], str)]
    words = sum(len(text.split()) for text in set(texts))
    if len(texts) < len(rows) or words < 4 * len(set(texts)):
        return 0
    path = _below(at, text)
    names, keys = {snake(key) for key in re.findall(r"\w+", path)}, {key for row in rows for key in row if row[key]}
    listed = 1.5 if names & {*NAMES["passages"]} else 0.2 if names & {*NAMES["no_passages"]} else 1
    are_questions = sum(text.rstrip().endswith("?") for text in texts) * 2 > len(texts)
    is_other = are_questions or snake(path) in NAMES["no_passage_texts"]
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
    if "document_name" not in fields:
        files = (path for path, cells in columns.items() if all(_FILE.fullmatch(str(cell)) for cell in cells.values()))
        fields |= {"document_name": path} if (path := next((p for p in files if p not in fields.values()), "")) else {}
    return fields


def _fits(part: str, values: Sequence[Any]) -> bool:
    """Whether values may be this part of chunks; ids that repeat are those of documents."""
    given = [value for value in values if value is not None and not isinstance(value, bool)]
    if part == "score":
        return bool(given) and all(isinstance(value, int | float) for value in given)
    is_own = part != "chunk_id" or len(set(map(str, given))) == len(given)
    return bool(given) and is_own and all(isinstance(value, str | int) and len(str(value)) < 300 for value in given)


# What is cited, who answered, and whether all is well.


def _take_citations(guess: Guess, tables: BodyTables) -> None:
    """Take a list of ids or numbers of chunks, which are counted from 0 where 0 is cited; marks need no keys."""
    ids, numbers = {str(row.get("chunk_id")) for row in guess.rows}, {str(n) for n in range(len(guess.rows) + 1)}
    for at, columns in tables.items() if guess.rows and guess.answer else ():
        outer, in_row = _place(at)
        values = {str(value) for value in columns.get("", {}).values()}
        if values and not outer and (values <= ids or (_CITES.search(snake(in_row)) and values <= numbers)):
            guess.map["citations"] = in_row
            guess.citations = {"given_as": "list"} | ({"base": 0} if "0" in values - ids else {})
            return
    if guess.rows and "[0]" in (guess.answer or ""):
        guess.citations = {"base": 0}


def _take_usage(guess: Guess, tables: BodyTables) -> None:
    """Take the name of the model and the object with the numbers of tokens: of a stream, that of its last event."""
    for at, columns in tables.items():
        objects = defaultdict[str, dict[str, Any]](dict)
        for name, cells in columns.items():
            *_, last = cells.values()
            path, (owner, _, key) = _below(at, name), name.rpartition(".")
            objects[_below(at, owner)][key] = last
            if snake(path) in NAMES["models"] and isinstance(last, str):
                guess.map.setdefault("model", f"{path} | [0]" if at else path)
        for path, value in objects.items():
            if path and token_usage(value, []) is not None:
                guess.map["usage"] = f"{path} | [-1]" if at else path


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


def unread_fields(body: Any, expressions: str) -> list[str]:
    """The paths of fields with content that no expression reads.

    Args:
        body: What was received.
        expressions: All expressions, in one text.
    """
    words, cells = {*re.findall(r"\w+", expressions)}, _cells(body, "", "", ())
    filled = (
        _below(at, name) for at, name, _, value in cells if not isinstance(value, bool) and value not in (None, "")
    )
    return [path for path in dict.fromkeys(filled) if path and not {*re.findall(r"\w+", path)} <= words]


# Streams, and XML.


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


def _conditions(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """What tells each event from those of other kinds, as an expression; empty: nothing."""
    if len({event["event"] for event in events}) > 1:
        return [f"event == {_literal(event['event'])}" for event in events]
    objects = [event["data"] if isinstance(event["data"], Mapping) else {} for event in events]
    kind = next((key for key in NAMES["kinds"] if len({str(item.get(key)) for item in objects}) > 1), "")
    kinds = (item.get(kind) for item in objects)
    return [f"data.{kind} == {_literal(value)}" if isinstance(value, str) else "" for value in kinds]


def _guess_xml(raw: str, question: str) -> Guess:
    """Map XML as the object of its elements, of which those that repeat are lists."""
    texts = defaultdict[str, list[str]](list)
    for name, text in re.findall(r"<([\w:-]+)[^>]*>([^<]+)</\1>", raw):
        texts[name].append(text)
    lists = {name for name in texts if len(texts[name]) > 1 or name in NAMES["passages"]}
    guess = guess_text(
        json.dumps({name: texts[name] if name in lists else texts[name][0] for name in texts}), "", question
    )

    def element(name: re.Match[str]) -> str:
        key = name[0].strip('"')
        return f"matches(@, '(?s)<{key}[^>]*>(.*?)</{key}>'){'' if key in lists else ' | [0]'}"

    for part, path in guess.map.items():
        names, *fields = re.split(r"(?=\)\[\])", path, maxsplit=1)
        guess.map[part] = "".join([re.sub(r"^[^ {(]+$|(?<=: )[^,}]+", element, names), *fields])
    guess.ask = {"reply": "text"}
    return guess


# What a column may hold that no name tells: for hints, never to be read as that.


_QUESTIONS_LOOKED_AT = 200
"""Questions whose cells tell what a column may hold."""
_ANSWERABLE = {"is_answerable", "is_unanswerable"}
"""Fields of which a file needs one."""
_TRUTHS = BOOLEANS.keys() - {"0", "1", "t", "f"}
_NAMES_ANSWERS = re.compile(r"(?i)(?:answer|antwort|response|reply|solution|lösung|ground.?truth)(?:s|en)?\b")
_NAMES_PASSAGES = re.compile(
    r"(?i)passage|quot[ea]|evidence|excerpt|context|snippet|beleg|textstelle|fundstelle|zitat|auszug"
)


def column_hints(columns: Collection[str], questions: Iterable[EvalQuestion]) -> Iterator[tuple[str, list[str]]]:
    """The columns that became metadata, each with the fields that its cells fit and that no column holds.

    Args:
        columns: The fields that columns hold.
        questions: Of the file.
    """
    cells: defaultdict[str, list[Any]] = defaultdict(list)
    for column, cell in chain.from_iterable(
        question.metadata.items() for question in islice(questions, _QUESTIONS_LOOKED_AT)
    ):
        cells[column].append(cell)
    read = {*columns, *(() if _ANSWERABLE.isdisjoint(columns) else _ANSWERABLE)}
    for column, values in cells.items():
        if fields := [name for name in _fields_of_column(column, values) if name not in read]:
            yield column, fields


def _fields_of_column(title: str, cells: Sequence[Any]) -> tuple[str, ...]:
    """The fields of a question that a column may hold, by its cells, and of texts by its title; none: nothing fits.

    Two fields: its cells do not tell which.
    """
    texts = [str(cell).strip() for cell in cells if isinstance(cell, str | bool)]
    are_texts, words = len(texts) == len(cells), sum(len(text.split()) for text in texts) / len(cells)
    if are_texts and all(text.lower() in _TRUTHS for text in texts):
        return "is_answerable", "is_unanswerable"
    if are_texts and all(map(FILE_NAME.fullmatch, texts)):
        return ("gold_document_ids",)
    if _NAMES_ANSWERS.search(title):
        return ("expected_answer",)
    if _NAMES_PASSAGES.search(title):
        return ("gold_passages",) if words >= 2 else ()
    are_questions = sum(text.endswith("?") for text in texts) * 2 > len(texts)
    return ("expected_answer", "gold_passages") if words >= 4 and not are_questions else ()
