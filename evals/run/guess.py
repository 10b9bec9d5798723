"""How the answer of a server without a profile is read: a mapping guessed from one body, by names and by shape."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from evals.client.mapping import find_or_none, token_usage
from evals.client.spec import StreamFormat
from evals.client.streams import END, EventReader
from evals.text.tokens import lists_of

NAMES, _CHUNK_NAMES = (
    {key: tuple(words.split()) for key, words in lists_of("servers")[table].items()} for table in ("names", "chunk")
)
"""Names of fields by what they hold, and by the part of a chunk that they hold."""

_FILE = re.compile(r"\S[^\n]{0,200}\.[A-Za-z]{2,5}|https?://\S+")
_CITES = re.compile(r"cit|refer|^refs?$|used|ground|based_on|support|pointer")
_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zäöüß]+|\d+")
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LAST = re.compile(r"(?:\b|_)(?:end|done|final|finish|finished|complete|completed|stop)'?\Z")
"""How the condition of a stream's last event ends, where its name says that it is the last."""

Node = tuple[str, Any]
"""A value in a body, with the expression that finds it."""


@dataclass(slots=True)
class Guess:
    """A mapping, with what it finds.

    Attributes:
        map: For `server.map`.
        citations: For `server.citations`.
        ask: Further keys of `server.ask`: `reply` of a plain text.
        stream: For `server.stream`; None: the body is no stream.
        answer: The answer that the mapping finds.
        rows: The chunks that it finds.
    """

    map: dict[str, str] = field(default_factory=dict)
    citations: dict[str, Any] = field(default_factory=dict)
    ask: dict[str, str] = field(default_factory=dict)
    stream: dict[str, str] | None = None
    answer: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)


class Passages(NamedTuple):
    """A list that may be the chunks: its weight, its expression, what that finds, and the paths that it reads."""

    weight: float
    expression: str
    rows: list[dict[str, Any]]
    taken: tuple[str, ...]


def guess_body(body: Any, question: str, at: str = "", whole: Any = None) -> Guess:
    """Guess the mapping of a body.

    Args:
        body: What answers the question.
        question: The question; its echo is neither answer nor chunk.
        at: The expression that leads to the body, where it is a part of `whole`.
        whole: What expressions are evaluated on; None: the body.
    """
    guess, taken = Guess(), tuple[str, ...]()
    nodes, fields = list(walk(body, at, partial(_main_items, question))), _fields(body, at)
    lists = _passages(nodes, question, body if whole is None else whole)
    if best := max(lists, key=lambda passages: passages.weight, default=None):
        guess.map["chunks"], guess.rows, taken = best.expression, best.rows, best.taken
    texts = _answers(nodes, question, guess.rows, taken)
    if text := max(texts, key=lambda text: text[0], default=None):
        _, path, guess.answer = text
        guess.map = {"answer": path, **guess.map}
    fields = [(path, value) for path, value in fields if not any(place.startswith(path) for place in taken)]
    _take_citations(guess, fields)
    models = (path for path, value in fields if isinstance(value, str) and snake(path) in NAMES["models"])
    usages = (path for path, value in fields if path and token_usage(value, []) is not None)
    for key, expression in (("model", next(models, None)), ("usage", next(usages, None))):
        guess.map |= {key: expression} if expression else {}
    return guess


# Names, paths, and the one walk over a body.


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
    return f"{{{', '.join(f'{name}: {path}' for name, path in fields.items())}}}"


def json_or(default: Any, text: str) -> Any:
    """The JSON of a text; the default where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return default


def _json_within(text: str) -> Any:
    """The object or list that a text holds as JSON; None: it holds none."""
    return json_or(None, text) if text.lstrip()[:1] in {"{", "["} else None


def _every_item(value: Any, at: str) -> Iterable[Node]:
    return [(f"{at}[]", item) for item in value] if isinstance(value, list) else ()


def walk(value: Any, at: str = "", enter: Callable[[Any, str], Iterable[Node]] = _every_item) -> Iterator[Node]:
    """A body, and everything in its objects and lists.

    Args:
        value: The body.
        at: Its expression.
        enter: Gives the items of a value that is no object, with their expressions.
    """
    yield at, value
    is_object = isinstance(value, Mapping)
    inner = ((child(at, key), item) for key, item in value.items()) if is_object else enter(value, at)
    for path, item in inner:
        yield from walk(item, path, enter)


def _fields(body: Any, at: str = "") -> list[Node]:
    """What stands below objects alone."""
    return [(path, value) for path, value in walk(body, at) if "[]" not in path]


def _main_items(question: str, value: Any, at: str) -> Iterator[Node]:
    """What stands for the items of a value, for `walk`.

    Of a list the only item, the last message, the first object of each kind, each position of unlike values. Parts of
    one text are joined, and JSON within a text is entered.
    """
    if isinstance(value, str) and (inner := _json_within(value)) is not None:
        yield f"parse_json({at or '@'})", inner
    elif _are(Mapping, value) and _are_messages(value, question):
        yield f"{at}[-1]" if len(value) > 1 else f"{at}[0]", value[-1]
    elif _are(Mapping, value):
        yield from _objects_by_kind(value, at)
    elif isinstance(value, list) and (len(value) == 1 or not _are(str, value)):
        yield from ((f"{at}[{place}]", item) for place, item in enumerate(value[:8]))


def _objects_by_kind(items: Sequence[Mapping[str, Any]], at: str) -> Iterator[Node]:
    """The joined text of the objects of each kind, or the first of them where other kinds stand next to it."""
    kind = _kind_key(items)
    for name in dict.fromkeys(item[kind] if kind else None for item in items):
        alike = [item for item in items if not kind or item[kind] == name]
        path = f"{at}[?{kind}=='{name}']" if kind else f"{at}[]"
        if _are_blocks(alike):
            key = next(key for key, value in alike[0].items() if key != kind and isinstance(value, str))
            yield f"join('', {child(path, key)})", "".join(str(item.get(key) or "") for item in alike)
        elif len(items) == 1 or len(alike) < len(items):
            yield f"{at}[0]" if len(items) == 1 else f"{path} | [0]", alike[0]


def _are(kind: type, items: Any) -> bool:
    """Whether these are a list of items of this kind, and not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, kind) for item in items)


def _kind_key(items: Sequence[Mapping[str, Any]]) -> str | None:
    return next((key for key in NAMES["kinds"] if all(isinstance(item.get(key), str) for item in items)), None)


def _are_messages(items: Sequence[Mapping[str, Any]], question: str) -> bool:
    """Whether objects are a conversation: they name speakers, or repeat the question."""
    key, speakers = _kind_key(items), {*NAMES["speakers"]}
    kinds = {str(item[key]).lower() for item in items} if key else {""}
    inner = {str(value.get("role")) for item in items for value in item.values() if isinstance(value, Mapping)}
    echoes = len(items) > 1 and any(question in item.values() for item in items)
    return echoes or kinds <= speakers or bool(inner & speakers)


def _are_blocks(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects are parts of one text: a kind, one text and nothing that says where it is from."""
    texts = [[value for value in item.values() if isinstance(value, str)] for item in items]
    values = [value for item in items for value in item.values() if not isinstance(value, str | list | bool | None)]
    is_prose = any(" " in text for row in texts for text in row)
    return is_prose and not values and all(len(row) == 1 + bool(_kind_key(items)) for row in texts)


# Texts that may be the answer.


def _answers(
    nodes: Sequence[Node], question: str, rows: Sequence[Mapping[str, Any]], taken: Sequence[str]
) -> Iterator[tuple[float, str, str]]:
    """Weight, expression and text of all that may be the answer: words, more where the key says so."""
    chunks = {str(row.get("text")) for row in rows}
    below_chunks = tuple(
        start for place in taken if place for start in (f"{place}[", f"{place}.", f"join('', {place}[")
    )
    for path, text in nodes:
        if not isinstance(text, str) or text == question or _json_within(text) is not None:
            continue
        name, words = snake(path), min(len(text.split()), 30)
        is_named = name in NAMES["answers"] or name.endswith(("_answer", "_response"))
        quotes = text in chunks or sum(chunk in text for chunk in chunks) > 1
        may_be = words > 1 and name not in NAMES["no_answers"] and not quotes
        if (is_named or may_be) and not path.startswith(below_chunks):
            yield words * (8 if is_named else 1.5 if name in NAMES["maybe_answers"] else 1), path or "@", text


# Lists that may be the chunks.


def _passages(nodes: Iterable[Node], question: str, whole: Any) -> Iterator[Passages]:
    for path, value in nodes:
        for expression, taken in _lists(value, path, question):
            chunks = find_or_none(expression, whole)
            rows = [dict(row) if isinstance(row, Mapping) else {"text": row} for row in chunks or () if row is not None]
            if weight := _weight(rows, taken[0], question):
                yield Passages(weight, expression, rows, taken)


def _weight(rows: Sequence[Mapping[str, Any]], path: str, question: str) -> float:
    """How much speaks for a list: words, further fields, a usual name; 0 where a row has no text of some words."""
    texts = [row["text"] for row in rows if isinstance(row.get("text"), str)]
    words = sum(len(text.split()) for text in set(texts))
    if not rows or len(texts) < len(rows) or words < 4 * len(set(texts)) or question in texts:
        return 0
    keys = {key for row in rows for key, item in row.items() if item is not None}
    names = {snake(step) for step in re.split(r"[.\[]", path)}
    named = 1.5 if names & {*NAMES["passages"]} else 0.2 if names & {*NAMES["no_passages"]} else 1
    are_questions = sum(text.rstrip().endswith("?") for text in texts) * 2 > len(texts)
    return words * (1 + 0.5 * (len(keys) - 1)) * named * (0.25 if are_questions else 1)


def _lists(value: Any, at: str, question: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Expressions of the chunks that a value may hold, each with the paths that it reads."""
    columns: dict[str, list[Any]] = {}
    if isinstance(value, Mapping):
        yield from _parallel_lists(value, at)
    elif _are(str, value):
        yield at or "@", (at,)
    elif _are(list, value) and len(value) > 1:
        columns = {f"[{place}]": list(column) for place, column in enumerate(zip(*value, strict=False))}
    elif _are(Mapping, value) and not _are_messages(value, question):
        columns = {} if _kind_key(value) and _are_blocks(value) else _columns(value)
    if fields := chunk_fields(columns):
        yield f"{at}[{'*' if '[0]' in columns else ''}].{_selected(fields)}", (at,)
    if _are(Mapping, value) and not _are_messages(value, question):
        yield from _parallel_lists(value[0], f"{at}[]")
        yield from _inner_lists(value, f"{at}[]", question)


def _inner_lists(items: Sequence[Mapping[str, Any]], at: str, question: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Chunks in lists within objects, with the name of the object where they have none of a document."""
    parent = {key: path for key, path in (chunk_fields(_columns(items), text="") or {}).items() if "document" in key}
    lists: dict[str, list[Any]] = {}
    for path, inner in (node for item in items for node in _fields(item) if isinstance(node[1], list)):
        lists.setdefault(path, []).extend(inner)
    for path, inner in lists.items():
        place = _below(at, path)
        fields = chunk_fields(_columns(inner)) if _are(Mapping, inner) and not _are_messages(inner, question) else None
        if _are(str, inner):
            yield f"{place}[]", (place,)
            fields = {"text": ""}
        if fields and parent and not any("document" in key for key in fields):
            own = {key: _below("c", where) for key, where in fields.items()}
            zipped = _selected({"c": path, **parent})
            yield f"{at}.zip({zipped})[].{_selected(own | {key: key for key in parent})}", (place,)
        elif fields and fields["text"]:
            yield f"{place}[].{_selected(fields)}", (place,)


def _parallel_lists(item: Mapping[str, Any], at: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Texts in one list, and what belongs to them in others of the same length, also within a list for each query."""
    lists = {path: value for path, value in _fields(item) if isinstance(value, list) and value}
    lists |= {f"{path}[0]": value[0] for path, value in lists.items() if len(value) == 1 and _are(list, value)}
    for texts in (value for value in lists.values() if _are(str, value)):
        aligned = {path: value for path, value in lists.items() if len(value) == len(texts) and not _are(list, value)}
        columns: dict[str, list[Any]] = {}
        for path, value in aligned.items():
            inner = _columns(value) if _are(Mapping, value) else {"": value}
            columns |= {_below(snake(path), key): column for key, column in inner.items()}
        fields = chunk_fields(columns) or {}
        used = {path: snake(path) for path in aligned if any(re.match(rf"{snake(path)}\b", f) for f in fields.values())}
        if len(used) > 1:
            zipped = _below(at, f"zip({_selected({name: path for path, name in used.items()})})")
            yield f"{zipped}[].{_selected(fields)}", tuple(_below(at, path) for path in used)
            return


def _columns(items: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of objects by path, one for each object."""
    rows = [{path: value for path, value in _fields(item) if not isinstance(value, list | Mapping)} for item in items]
    return {path: [row.get(path) for row in rows] for path in dict.fromkeys(path for row in rows for path in row)}


def chunk_fields(columns: Mapping[str, Sequence[Any]], text: str | None = None) -> dict[str, str] | None:
    """The parts of chunks by their columns: the text with most words, the others by name, a document by its look.

    Args:
        columns: Values by path.
        text: The column of the text; None: the one with most words.

    Returns:
        Path by part; None: no column is a text of some words.
    """
    if text is None:
        weights = {path: _words_of_column(path, values) for path, values in columns.items()}
        text = max(weights, key=lambda path: weights[path], default="")
        if weights.get(text, 0) < 3:
            return None
    fields = {"text": text}
    for part, names in _CHUNK_NAMES.items():
        fitting = [
            (names.index(name), path.count("."), path)
            for path, values in columns.items()
            for name in (snake(path), snake(path).removesuffix("s"))
            if name in names and path not in fields.values() and _fits(part, values)
        ]
        fields |= {part: min(fitting)[2]} if fitting else {}
    left = {path: values for path, values in columns.items() if path not in fields.values()}
    files = [path for path, values in left.items() if values and all(_FILE.fullmatch(str(value)) for value in values)]
    ids = [path for path, values in left.items() if snake(path).endswith("id") and _fits("chunk_id", values)]
    for part, paths in (("document_name", files), ("chunk_id", ids)):
        if paths and paths[0] not in fields.values():
            fields.setdefault(part, paths[0])
    return fields


def _fits(part: str, values: Sequence[Any]) -> bool:
    given = [value for value in values if value is not None and not isinstance(value, bool)]
    if part == "score":
        return bool(given) and all(isinstance(value, int | float) for value in given)
    if part == "chunk_id" and len(set(map(str, given))) < len(given):
        return False  # as of documents
    return bool(given) and all(isinstance(value, str | int) and len(str(value)) < 300 for value in given)


def _words_of_column(path: str, values: Sequence[Any]) -> float:
    name, words = snake(path), sum(len(value.split()) for value in values if isinstance(value, str))
    is_usual = name in NAMES["maybe_answers"] or name in NAMES["passages"]
    return words / max(1, len(values)) * (2 if is_usual else 0.4 if name in NAMES["no_passage_texts"] else 1)


# What is cited, and whether all is well.


def _take_citations(guess: Guess, fields: Iterable[Node]) -> None:
    """Take a list of citations, and that chunks are counted from 0 where 0 is cited; marks in the text need no keys."""
    if not guess.rows or guess.answer is None:
        return
    lists = ((path, items) for path, items in fields if isinstance(items, list) and items)
    cited = (
        _cited(path, _columns(items) if _are(Mapping, items) else {"@": items}, guess.rows) for path, items in lists
    )
    if (citations := next(filter(None, cited), None)) is not None:
        guess.map["citations"], numbers = citations
        guess.citations = {"given_as": "list"} | ({"base": 0} if 0 in numbers else {})
    elif "[0]" in guess.answer:
        guess.citations = {"base": 0}


def _cited(
    path: str, columns: Mapping[str, Sequence[Any]], rows: Sequence[Mapping[str, Any]]
) -> tuple[str, list[int]] | None:
    """The expression of a list of citations, and the numbers of chunks in it: by ids, by documents, by places."""
    is_named = _CITES.search(snake(path)) is not None
    for part, key in (("chunk_id", "chunk_id"), ("document_id", "document_id"), ("document_name", "document_id")):
        known = {str(row[part]) for row in rows if row.get(part) is not None}
        for name, values in columns.items():
            if set(map(str, values)) <= known and (is_named or part == "chunk_id"):
                bare = part == "chunk_id" and name == "@"
                return path if bare else f"{path}[].{_selected({key: name})}", []
    for name, values in columns.items():
        numbers = [int(value) for value in values if str(value).isdecimal() and int(value) <= len(rows)]
        is_place = name == "@" or snake(name) in NAMES["places"]
        if is_named and is_place and len(numbers) == len(values):
            return path if name == "@" else f"{path}[].{_selected({'index': name})}", numbers
    return None


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
    words = {*re.findall(r"\w+", expressions)}
    contents = (
        path for path, value in walk(body) if not isinstance(value, Mapping | list | bool) and value not in (None, "")
    )
    paths = dict.fromkeys(path.removesuffix("[]") for path in contents)
    return [path for path in paths if path and not {*re.findall(r"\w+", path)} <= words]


# Streams, and texts that are no JSON.


def guess_text(raw: str, content_type: str, question: str) -> Guess:
    """Guess the mapping of a response: JSON, a stream of events, XML or plain text."""
    with suppress(ValueError):
        return guess_body(json.loads(raw), question)
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


def _guess_stream(form: str, events: Sequence[Mapping[str, Any]], question: str) -> Guess:
    """Map a stream by its kinds of events: the text that comes in pieces, else the event that holds an answer."""
    kinds: dict[str, list[Any]] = {}
    for event in events:
        kinds.setdefault(_condition(event, events), []).append(event["data"])
    by_kind = [
        guess_body(data[-1], question, f"[?{condition}] | [-1].data" if condition else "[-1].data", events)
        for condition, data in kinds.items()
    ]
    guess = _guess_pieces(form, kinds, question) or max(by_kind, key=lambda kind_guess: len(kind_guess.answer or ""))
    guess.stream = {**({"format": form} if form != "sse" else {}), **(guess.stream or {})}
    *_, last = kinds
    if len(kinds[last]) == 1 and _LAST.search(last) and form != "vercel":
        guess.stream["done"] = last
    for kind_guess in by_kind:
        if len(kind_guess.rows) > len(guess.rows):
            guess.map["chunks"], guess.rows = kind_guess.map["chunks"], kind_guess.rows
        guess.map |= {key: kind_guess.map[key] for key in ("model", "usage") if key in kind_guess.map}
    _take_citations(guess, ())
    return guess


def _guess_pieces(form: str, kinds: Mapping[str, Sequence[Any]], question: str) -> Guess | None:
    """The longest text that comes in more than one event of a kind; None: there is none."""
    pieces: dict[tuple[str, str], list[str]] = {}
    for condition, data in kinds.items():
        for path, text in (node for value in data for node in walk(value, "data", partial(_main_items, question))):
            if isinstance(text, str) and snake(path) not in NAMES["no_answers"]:
                pieces.setdefault((condition, path), []).append(text)
    joined = {key: "".join(texts) for key, texts in pieces.items() if len(texts) > 1 and " " in "".join(texts)}
    if form == "vercel":
        joined = {key: text for key, text in joined.items() if key[0] == "event == '0'"}
    if not joined:
        return None
    condition, path = max(joined, key=lambda key: len(joined[key]))
    guess = Guess(answer=joined[condition, path], stream={})
    if form != "vercel":
        is_shared = path == "data" or any(path == other and condition != where for where, other in pieces)
        guess.stream = {"delta": f"{condition} && {path}" if condition and is_shared else path}
    return guess


def _condition(event: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> str:
    """What tells events of this kind from others, as an expression; empty: nothing."""
    if len({other["event"] for other in events}) > 1:
        return f"event == '{event['event']}'"
    objects = [other["data"] for other in events if isinstance(other["data"], Mapping)]
    data = event["data"] if isinstance(event["data"], Mapping) else {}
    for key in NAMES["kinds"]:
        if isinstance(data.get(key), str) and len({str(other.get(key)) for other in objects}) > 1:
            return f"data.{key} == '{data[key]}'"
    own = next((key for key in data if not all(other.get(key) for other in objects) and data[key]), None)
    return child("data", own) if own else ""


def _guess_xml(raw: str) -> Guess:
    """Map XML by its elements: one that repeats is a chunk, the longest other text the answer."""
    texts: dict[str, list[str]] = {}
    for name, text in re.findall(r"<([\w:-]+)[^>]*>([^<]+)</\1>", raw):
        if len(text.split()) > 1:
            texts.setdefault(name, []).append(text)
    guess = Guess(ask={"reply": "text"})
    single = [name for name in texts if len(texts[name]) == 1]
    several = [name for name in texts if len(texts[name]) > 1 or name in NAMES["passages"]]
    if single:
        name = max(single, key=lambda name: (snake(name) in NAMES["answers"], len(texts[name][0])))
        guess.answer, guess.map["answer"] = texts[name][0], f"{_elements(name)} | [0]"
    if several:
        name = max(several, key=lambda name: sum(map(len, texts[name])))
        guess.rows, guess.map["chunks"] = [{"text": text} for text in texts[name]], _elements(name)
    return guess


def _elements(name: str) -> str:
    return f"matches(@, '(?s)<{name}[^>]*>(.*?)</{name}>')"
