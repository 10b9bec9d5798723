"""How the answer of a server without a profile is read: a mapping guessed from one body, by names and by shape."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evals.client.mapping import find_or_none
from evals.client.spec import CitationSpec, StreamFormat
from evals.client.streams import END, EventReader
from evals.datasets.columns import BOOLEANS


def names(text: str) -> frozenset[str]:
    """The names in a text, of which tables are made."""
    return frozenset(text.split())


_ANSWERS = names("answer response reply completion output_text text_response generated_answer final_answer antwort")
_MAYBE_ANSWERS = names("text content result output message data body value generated_text")
_NO_ANSWERS = names(
    "query question prompt input context instruction instructions system intent reasoning thought thoughts thinking "
    "disclaimer notice warning warnings error errors detail title description status state id url model "
    "reasoning_content rewritten_query search_query object role type created finish_reason"
)
_PASSAGES = names(
    "chunks documents passages contexts context sources source_documents results hits snippets evidence references "
    "search_results matches nodes citations quellen treffer fundstellen"
)
_NO_PASSAGES = names(
    "entities relationships suggestions followups follow_ups related questions history messages steps tools logs "
    "tool_calls keywords annotations warnings intent"
)
_FIELDS = {
    "chunk_id": ("chunk_id", "_id", "uuid", "passage_id", "segment_id", "node_id", "slug", "id", "key"),
    "document_name": (
        *("document_name", "file_name", "filename", "file_path", "filepath", "path", "file", "document", "doc"),
        *("source", "docname", "semantic_identifier", "title", "label", "name", "url", "datei", "quelle"),
    ),
    "document_id": ("document_id", "doc_id", "source_id", "file_id", "parent_id"),
    "section": ("section", "heading", "section_title", "section_name"),
    "score": ("score", "similarity", "relevance", "relevance_score", "_score", "distance", "weight", "wert"),
}
_NO_TEXTS = names("question query title description prompt summary")
_FILE = re.compile(r"\S[^\n]{0,200}\.[A-Za-z]{2,5}|https?://\S+")
_TRUTHS = BOOLEANS.keys() - {"0", "1", "t", "f"}
_NAMES_ANSWERS = re.compile(
    r"(?:answer|antwort|response|reply|solution|lösung|ground.?truth)(?:s|en)?\b", re.IGNORECASE
)
_NAMES_PASSAGES = re.compile(
    r"passage|quote|quotation|evidence|excerpt|context|snippet|beleg|fundstelle|textstelle|zitat|auszug", re.IGNORECASE
)
_PLACES = names("index number n ref rank idx source_index reference_id citation_number")
_CITES = re.compile(r"cit|refer|^refs?$|used|ground|based_on|support|pointer")
_MARK = re.compile(r"[\[【]((?:[A-Za-z]{2,10}[:\s.#-]?)?\^?)(\d{1,3})[\]】]")
_SENT = names("prompt input sent question in")
_MADE = names("completion output candidates generated answer out")
_SPEAKERS = names("user assistant human ai bot system agent tool model")
_ILL = names("error failed failure rejected invalid fail")
_KINDS = ("type", "kind", "role", "event", "object", "op")
_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zäöüß]+|\d+")
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


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
        alternatives: By key of `map`, the expressions that may be meant instead.
    """

    map: dict[str, str] = field(default_factory=dict)
    citations: dict[str, Any] = field(default_factory=dict)
    ask: dict[str, str] = field(default_factory=dict)
    stream: dict[str, str] | None = None
    answer: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    alternatives: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passages:
    """A list that may be the chunks: its expression, what that finds, the paths that it reads, and its weight."""

    expression: str
    rows: list[dict[str, Any]]
    taken: tuple[str, ...]
    weight: float


def guess_body(body: Any, question: str, at: str = "", whole: Any = None) -> Guess:
    """Guess the mapping of a body.

    Args:
        body: What answers the question.
        question: The question; its echo is neither answer nor chunk.
        at: The expression that leads to the body, where it is a part of `whole`.
        whole: What expressions are evaluated on; None: the body.
    """
    whole, guess = body if whole is None else whole, Guess()
    passages = sorted(_passages(body, at, question, whole), key=lambda each: -each.weight)
    if passages:
        best = passages[0]
        guess.map["chunks"], guess.rows = best.expression, best.rows
        rivals = [each for each in passages[1:] if each.weight > 0.3 * best.weight and each.rows != best.rows]
        guess.alternatives["chunks"] = [each.expression for each in rivals[:3]]
    taken = passages[0].taken if passages else ()
    texts = sorted(_answers(body, at, question, guess.rows, taken), key=lambda each: -each[0])
    if texts:
        _, guess.map["answer"], guess.answer = texts[0]
        guess.alternatives["answer"] = [path for weight, path, _ in texts[1:4] if weight >= 0.4 * texts[0][0]]
    guess.map = {key: guess.map[key] for key in ("answer", "chunks") if key in guess.map}
    _take_citations(guess, body, at, taken)
    for path, value in _leaves(body, at):
        if isinstance(value, str) and snake(path) in {"model", "model_name", "llm_model", "model_version"}:
            guess.map.setdefault("model", path)
    if usage := _usage(body, at):
        guess.map["usage"] = usage
    return guess


# Names and paths.


def is_of_passages(path: str) -> bool:
    """Whether a key names passages, such as `passages` or `retrieved_chunks`; their ids are none."""
    words = snake(path).split("_")
    return bool({snake(path), *words} & {*_PASSAGES, "texts", "docs", "excerpts"}) and not {"id", "ids"} & set(words)


def snake(path: str) -> str:
    """The last key of an expression in small letters with underscores: `chunk_id` of `sources[0].chunkId`."""
    keys = re.findall(r"[\w-]+", re.sub(r"\[[^\]]*\]", "", path.partition(" | join")[0]))
    name = keys[-1] if keys else ""
    joined = "_".join(part.lower() for part in _WORDS_OF_NAME.findall(name))
    return f"_{joined}" if name.startswith("_") else joined


def child(at: str, key: str) -> str:
    """The expression of a key below another expression."""
    name = key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{at}.{name}" if at else name


def _below(at: str, path: str) -> str:
    if not at or not path:
        return at or path
    return f"{at}{path}" if path.startswith("[") else f"{at}.{path}"


def _selected(fields: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{name}: {path}' for name, path in fields.items())}}}"


def _json_within(text: str) -> Any:
    """The object or list that a text holds as JSON; None: it holds none."""
    value = None
    if text.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError):
            value = json.loads(text)
    return value if isinstance(value, dict | list) else None


def _leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    """All that is no object, below objects alone."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, child(at, key))
    else:
        yield at, value


def _are_objects(items: Any) -> bool:
    return isinstance(items, list) and bool(items) and all(isinstance(item, Mapping) for item in items)


def _are_texts(items: Any) -> bool:
    return isinstance(items, list) and bool(items) and all(isinstance(item, str) for item in items)


def _kind_key(items: Sequence[Mapping[str, Any]]) -> str | None:
    return next((key for key in _KINDS if all(isinstance(item.get(key), str) for item in items)), None)


def _are_messages(items: Sequence[Mapping[str, Any]], question: str) -> bool:
    """Whether objects are a conversation: they name speakers, or repeat the question."""
    key = _kind_key(items)
    kinds = {str(item[key]).lower() for item in items} if key else {""}
    inner = [value.get("role") for item in items for value in item.values() if isinstance(value, Mapping)]
    echoes = len(items) > 1 and any(question in item.values() for item in items)
    return echoes or kinds <= _SPEAKERS or any(role in _SPEAKERS for role in inner)


def _are_blocks(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects are parts of one text: a kind, one text and nothing that says where it is from."""
    texts = [[value for value in item.values() if isinstance(value, str)] for item in items]
    values = [value for item in items for value in item.values() if not isinstance(value, str | list | bool | None)]
    is_prose = any(" " in text for each in texts for text in each)
    return is_prose and not values and all(len(each) == 1 + bool(_kind_key(items)) for each in texts)


def _nodes(value: Any, at: str, question: str) -> Iterator[tuple[str, Any]]:
    """Everything in a body with its expression.

    A list is entered where one item is meant: the only one, the last message, the first of each kind, each position of
    a list of unlike values. Parts of one text are joined, and JSON within a text is entered.
    """
    yield at, value
    if isinstance(value, str):
        if (inner := _json_within(value)) is not None:
            yield from _nodes(inner, f"parse_json({at or '@'})", question)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _nodes(item, child(at, key), question)
    elif _are_objects(value):
        yield from _nodes_of_objects(value, at, question)
    elif isinstance(value, list) and (len(value) == 1 or not _are_texts(value)):
        for place, item in enumerate(value[:8]):
            yield from _nodes(item, f"{at}[{place}]", question)


def _nodes_of_objects(items: Sequence[Mapping[str, Any]], at: str, question: str) -> Iterator[tuple[str, Any]]:
    if _are_messages(items, question):
        yield from _nodes(items[-1], f"{at}[-1]" if len(items) > 1 else f"{at}[0]", question)
        return
    kind = _kind_key(items)
    for name in dict.fromkeys(item[kind] if kind else None for item in items):
        alike = [item for item in items if not kind or item[kind] == name]
        path = f"{at}[?{kind}=='{name}']" if kind else f"{at}[]"
        if _are_blocks(alike):
            key = next(key for key, value in alike[0].items() if key != kind and isinstance(value, str))
            joined = "".join(str(item.get(key) or "") for item in alike)
            yield from _nodes(joined, f"join('', {child(path, key)})", question)
        elif len(items) == 1 or (kind and len(alike) < len(items)):
            yield from _nodes(alike[0], f"{at}[0]" if len(items) == 1 else f"{path} | [0]", question)


# Texts that may be the answer.


def _answers(
    body: Any, at: str, question: str, rows: Sequence[Mapping[str, Any]], taken: Sequence[str]
) -> Iterator[tuple[float, str, str]]:
    """Weight, expression and text of all that may be the answer: words, more where the key says so."""
    chunks = {str(row.get("text")) for row in rows}
    for path, text in _nodes(body, at, question):
        name = snake(path)
        is_named = name in _ANSWERS or name.endswith(("_answer", "_response"))
        if not isinstance(text, str) or _json_within(text) is not None or text == question:
            continue
        words = min(len(text.split()), 30)
        is_of_chunks = any(
            path.startswith((f"{place}[", f"{place}.", f"join('', {place}[")) for place in taken if place
        )
        quotes = text in chunks or sum(chunk in text for chunk in chunks) > 1
        if is_of_chunks or not (is_named or (words > 1 and name not in _NO_ANSWERS and not quotes)):
            continue
        yield words * (8 if is_named else 1.5 if name in _MAYBE_ANSWERS else 1), path or "@", text


# Lists that may be the chunks.


def _passages(body: Any, at: str, question: str, whole: Any) -> Iterator[Passages]:
    for path, value in _nodes(body, at, question):
        for expression, taken in _lists(value, path, question):
            chunks = find_or_none(expression, whole)
            rows = [dict(row) if isinstance(row, Mapping) else {"text": row} for row in chunks or () if row is not None]
            if (weight := _weight(rows, taken[0], question)) > 0:
                yield Passages(expression, rows, taken, weight)


def _weight(rows: Sequence[Mapping[str, Any]], path: str, question: str) -> float:
    """How much speaks for a list: words, further fields, a usual name; 0 where a row has no text of some words."""
    texts = [row["text"] for row in rows if isinstance(row.get("text"), str)]
    words = sum(len(text.split()) for text in set(texts))
    if not rows or len(texts) < len(rows) or words < 4 * len(set(texts)) or question in texts:
        return 0
    names = {snake(step) for step in re.split(r"[.\[]", path)}
    weight = words * (1 + 0.5 * (len({key for row in rows for key, item in row.items() if item is not None}) - 1))
    weight *= 1.5 if names & _PASSAGES else 0.2 if names & _NO_PASSAGES else 1
    return weight * (0.25 if sum(text.rstrip().endswith("?") for text in texts) * 2 > len(texts) else 1)


def _lists(value: Any, at: str, question: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Expressions of the chunks that a value may hold, each with the paths that it reads."""
    if isinstance(value, Mapping):
        yield from _parallel_lists([value], at)
    elif _are_texts(value):
        yield at or "@", (at,)
    elif _are_objects(value) and not _are_messages(value, question):
        fields = None if _kind_key(value) and _are_blocks(value) else chunk_fields(_columns(value))
        if fields:
            yield f"{at}[].{_selected(fields)}", (at,)
        yield from _parallel_lists(value, f"{at}[]")
        yield from _inner_lists(value, f"{at}[]", question)
    elif isinstance(value, list) and len(value) > 1 and all(isinstance(item, list) for item in value):
        columns = {f"[{place}]": list(column) for place, column in enumerate(zip(*value, strict=False))}
        if fields := chunk_fields(columns):
            yield f"{at}[*].{_selected(fields)}", (at,)


def _inner_lists(items: Sequence[Mapping[str, Any]], at: str, question: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Chunks in lists within objects, with the name of the object where they have none of a document."""
    parent = {key: path for key, path in (chunk_fields(_columns(items), text="") or {}).items() if "document" in key}
    inner_lists: dict[str, list[Any]] = {}
    for item in items:
        for path, inner in _leaves(item, ""):
            if isinstance(inner, list):
                inner_lists.setdefault(path, []).extend(inner)
    for path, inner in inner_lists.items():
        place = _below(at, path)
        fields = chunk_fields(_columns(inner)) if _are_objects(inner) and not _are_messages(inner, question) else None
        if _are_texts(inner):
            yield f"{place}[]", (place,)
            fields = {"text": ""}
        if fields and parent and not any("document" in key for key in fields):
            own = {key: f"c.{where}" if where else "c" for key, where in fields.items()}
            zipped = _selected({"c": path, **parent})
            yield f"{at}.zip({zipped})[].{_selected({**own, **{key: key for key in parent}})}", (place,)
        elif fields and fields["text"]:
            yield f"{place}[].{_selected(fields)}", (place,)


def _parallel_lists(items: Sequence[Mapping[str, Any]], at: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Texts in one list, and what belongs to them in others of the same length, also within a list for each query."""
    lists = {path: value for path, value in _leaves(items[0], "") if isinstance(value, list) and value}
    lists |= {f"{path}[0]": value[0] for path, value in lists.items() if len(value) == 1 and _are_list(value[0])}
    for texts in (value for value in lists.values() if _are_texts(value)):
        aligned = {path: value for path, value in lists.items() if len(value) == len(texts) and not _are_list(value[0])}
        columns: dict[str, list[Any]] = {}
        for path, value in aligned.items():
            inner = _columns(value) if _are_objects(value) else {"": value}
            columns |= {_below(snake(path), key): column for key, column in inner.items()}
        fields = chunk_fields(columns) or {}
        used = {path: snake(path) for path in aligned if any(re.match(rf"{snake(path)}\b", f) for f in fields.values())}
        if len(used) > 1:
            zipped = _below(at, f"zip({_selected({name: path for path, name in used.items()})})")
            yield f"{zipped}[].{_selected(fields)}", tuple(_below(at, path) for path in used)
            return


def _are_list(value: Any) -> bool:
    return isinstance(value, list)


def _columns(items: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of objects by path, one for each object."""
    rows = [{path: value for path, value in _leaves(item, "") if not isinstance(value, list)} for item in items]
    return {path: [row.get(path) for row in rows] for path in dict.fromkeys(path for row in rows for path in row)}


def chunk_fields(columns: Mapping[str, Sequence[Any]], text: str | None = None) -> dict[str, str] | None:
    """The parts of chunks by their columns: the text with most words, the others by name, a document by its look.

    Args:
        columns: Values by path.
        text: The column of the text; None: the one with most words.

    Returns:
        Path by part; None: no column is a text of some words.
    """
    weights = {path: _words_of_column(path, values) for path, values in columns.items()}
    if text is None:
        text = max(weights, key=lambda path: weights[path], default="")
        if weights.get(text, 0) < 3:
            return None
    fields = {"text": text}
    for part, names in _FIELDS.items():
        fitting = [
            (names.index(name), path.count("."), path)
            for path, values in columns.items()
            for name in (snake(path), snake(path).removesuffix("s"))
            if name in names and path not in fields.values() and _fits(part, values)
        ]
        if fitting:
            fields[part] = min(fitting)[2]
    left = {path: values for path, values in columns.items() if path not in fields.values()}
    if "document_name" not in fields:
        files = [path for path, values in left.items() if values and all(_FILE.fullmatch(str(each)) for each in values)]
        fields |= {"document_name": files[0]} if files else {}
    if "chunk_id" not in fields:
        ids = [path for path, values in left.items() if snake(path).endswith("id") and _fits("chunk_id", values)]
        fields |= {"chunk_id": ids[0]} if ids and ids[0] not in fields.values() else {}
    return fields


def _fits(part: str, values: Sequence[Any]) -> bool:
    given = [value for value in values if value is not None and not isinstance(value, bool)]
    if part == "score":
        return bool(given) and all(isinstance(value, int | float) for value in given)
    if part == "chunk_id" and len(set(map(str, given))) < len(given):
        return False  # as of documents
    return bool(given) and all(isinstance(value, str | int) and len(str(value)) < 300 for value in given)


def _words_of_column(path: str, values: Sequence[Any]) -> float:
    texts = [value for value in values if isinstance(value, str)]
    mean = sum(len(text.split()) for text in texts) / len(values) if texts else 0.0
    return mean * (2 if snake(path) in _MAYBE_ANSWERS | _PASSAGES else 0.4 if snake(path) in _NO_TEXTS else 1)


# Columns of a file of questions.


def fields_of_column(title: str, cells: Sequence[Any]) -> tuple[str, ...]:
    """The fields of a question that a column may hold, by its cells, and of texts by its title; none: nothing fits.

    Two fields: its cells do not tell which.
    """
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    if not cells or (len(texts) < len(cells) and not all(isinstance(cell, bool) for cell in cells)):
        return ("expected_answer",) if cells and _NAMES_ANSWERS.search(title) else ()
    if all(str(cell).strip().lower() in _TRUTHS for cell in cells):
        return "is_answerable", "is_unanswerable"
    if all(_FILE.fullmatch(text) for text in texts):
        return ("gold_document_ids",)
    if _NAMES_ANSWERS.search(title):
        return ("expected_answer",)
    words = sum(len(text.split()) for text in texts) / len(texts)
    if _NAMES_PASSAGES.search(title):
        return ("gold_passages",) if words >= 2 else ()
    are_questions = sum(text.endswith("?") for text in texts) * 2 > len(texts)
    return ("expected_answer", "gold_passages") if words >= 4 and not are_questions else ()


# What is cited, what it cost, and whether all is well.


def _take_citations(guess: Guess, body: Any, at: str, taken: Sequence[str]) -> None:
    """Take a list of citations, and from which number chunks are counted; marks in the text need no keys."""
    if not guess.rows or guess.answer is None:
        return
    marks = list(_MARK.finditer(guess.answer))
    numbers = [int(mark[2]) for mark in marks]
    if marks and not re.fullmatch(CitationSpec().markers, marks[0][0]):
        guess.citations = {"given_as": "markers", "markers": rf"\[{marks[0][1]}\s*(\d+)\]"}
    for path, items in _leaves(body, at):
        if not isinstance(items, list) or not items or any(place.startswith(path) for place in taken):
            continue
        if cited := _cited(path, _columns(items) if _are_objects(items) else {"@": items}, guess.rows):
            guess.map["citations"], numbers = cited
            guess.citations["given_as"] = "list"
            break
    if numbers and _starts_at_0(numbers, guess):
        guess.citations["base"] = 0


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
        is_place = name == "@" or snake(name) in _PLACES
        if is_named and is_place and len(numbers) == len(values):
            return path if name == "@" else f"{path}[].{_selected({'index': name})}", numbers
    return None


def _starts_at_0(numbers: Sequence[int], guess: Guess) -> bool:
    """Whether chunks are counted from 0: 0 is cited, or these chunks share clearly more words with the answer."""
    if 0 in numbers or max(numbers) >= len(guess.rows):
        return 0 in numbers
    words = set(re.findall(r"\w{4,}", (guess.answer or "").lower()))
    shared = [len(words & set(re.findall(r"\w{4,}", str(row.get("text")).lower()))) for row in guess.rows]
    return sum(shared[number] for number in numbers) >= 2 + sum(shared[number - 1] for number in numbers)


def _usage(value: Any, at: str) -> str | None:
    """The expression of token counts: an object with what was sent and what was made."""
    if not isinstance(value, Mapping):
        return None
    counts = {key: set(snake(key).split("_")) for key, item in value.items() if type(item) is int}
    sent = next((key for key, words in counts.items() if words & _SENT), None)
    made = next((key for key, words in counts.items() if words & _MADE and key != sent), None)
    if sent and made and ("token" in "".join([at, *counts]).lower() or re.search(r"usage|spent|cost|verbrauch", at)):
        return f"{at}.{_selected({'prompt_tokens': child('', sent), 'completion_tokens': child('', made)})}".lstrip(".")
    return next(filter(None, (_usage(item, child(at, key)) for key, item in value.items())), None)


def failure_in(body: Any) -> str | None:
    """What a body with status 200 says went wrong; None: nothing."""
    for key, value in body.items() if isinstance(body, Mapping) else ():
        name = snake(key)
        if name in {"errors", "error", "error_message"} and value:
            return f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        is_ill = name in {"status", "state"} and str(value).lower() in _ILL
        if is_ill or (name in {"ok", "success", "succeeded"} and value is False):
            return f"{key} is {value!r}"
    return None


def unread_fields(body: Any, expressions: str, at: str = "") -> Iterator[str]:
    """The fields with content that no expression reads, as paths.

    Args:
        body: What was received.
        expressions: All expressions, in one text.
        at: The path of the body.
    """
    if isinstance(body, Mapping):
        for key, item in body.items():
            yield from unread_fields(item, expressions, child(at, key))
    elif isinstance(body, list) and any(isinstance(item, Mapping | list) for item in body):
        yield from dict.fromkeys(path for item in body for path in unread_fields(item, expressions, f"{at}[]"))
    elif at and body not in (None, "", []) and not isinstance(body, bool):
        keys = re.findall(r"\w+", at)
        if not set(keys) <= set(re.findall(r"\w+", expressions)):
            yield at


# Streams, and texts that are no JSON.


def guess_text(raw: str, content_type: str, question: str) -> Guess:
    """Guess the mapping of a response: JSON, a stream of events, XML or plain text."""
    with suppress(ValueError):
        return guess_body(json.loads(raw), question)
    form, events = read_events(raw, content_type)
    if form is not None and events:
        return _guess_stream(form, events, question)
    if raw.lstrip().startswith("<") and "html" not in content_type:
        return _guess_xml(raw)
    if "html" in content_type or not raw.strip():
        return Guess()
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
    return form, [{"event": name, "data": _parsed(data)} for name, data in events if data and data != END]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _guess_stream(form: str, events: Sequence[Mapping[str, Any]], question: str) -> Guess:
    """Map a stream by its kinds of events: the text that comes in pieces, else the event that holds an answer."""
    kinds: dict[str, list[Any]] = {}
    for event in events:
        kinds.setdefault(_condition(event, events), []).append(event["data"])
    by_kind = [
        guess_body(data[-1], question, f"[?{condition}] | [-1].data" if condition else "[-1].data", events)
        for condition, data in kinds.items()
    ]
    guess = _guess_pieces(form, kinds, question) or max(by_kind, key=lambda each: len(each.answer or ""))
    guess.stream = {**({"format": form} if form != "sse" else {}), **(guess.stream or {})}
    for other in by_kind:
        if len(other.rows) > len(guess.rows):
            guess.map["chunks"], guess.rows = other.map["chunks"], other.rows
        for key in {"usage", "model"} & set(other.map):
            guess.map[key] = other.map[key]
    _take_citations(guess, {}, "", ())
    return guess


def _guess_pieces(form: str, kinds: Mapping[str, Sequence[Any]], question: str) -> Guess | None:
    """The longest text that comes in more than one event of a kind; None: there is none."""
    pieces: dict[tuple[str, str], list[str]] = {}
    for condition, data in kinds.items():
        for path, text in (node for value in data for node in _nodes(value, "data", question)):
            if isinstance(text, str) and snake(path) not in _NO_ANSWERS:
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
    if len({each["event"] for each in events}) > 1:
        return f"event == '{event['event']}'"
    objects = [each["data"] for each in events if isinstance(each["data"], Mapping)]
    data = event["data"] if isinstance(event["data"], Mapping) else {}
    for key in _KINDS:
        if isinstance(data.get(key), str) and len({str(each.get(key)) for each in objects}) > 1:
            return f"data.{key} == '{data[key]}'"
    own = next((key for key in data if not all(each.get(key) for each in objects) and data[key]), None)
    return child("data", own) if own else ""


def _guess_xml(raw: str) -> Guess:
    """Map XML by its elements: one that repeats is a chunk, the longest other text the answer."""
    texts_by_element: dict[str, list[str]] = {}
    for name, text in re.findall(r"<([\w:-]+)[^>]*>([^<]+)</\1>", raw):
        if len(text.split()) > 1:
            texts_by_element.setdefault(name, []).append(text)
    guess = Guess(ask={"reply": "text"})
    single = {name: texts[0] for name, texts in texts_by_element.items() if len(texts) == 1}
    if single:
        name = max(single, key=lambda each: (snake(each) in _ANSWERS, len(single[each])))
        guess.answer = single[name]
        guess.map["answer"] = f"matches(@, '(?s)<{name}[^>]*>(.*?)</{name}>') | [0]"
    several = {name: texts for name, texts in texts_by_element.items() if len(texts) > 1 or name in _PASSAGES}
    if several:
        name = max(several, key=lambda each: sum(map(len, several[each])))
        guess.rows = [{"text": text} for text in several[name]]
        guess.map["chunks"] = f"matches(@, '(?s)<{name}[^>]*>(.*?)</{name}>')"
    return guess
