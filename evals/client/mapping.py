"""Read the body of an answer: JMESPath expressions, and the parts of an `EvalResponse` that they select.

What is absent or null becomes None, an empty list stays an empty list, and a value of the wrong type becomes None, with
a note where a part of an answer is lost by it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from itertools import islice
from typing import Any, TypeVar
from unicodedata import normalize

import jmespath
from jmespath import functions
from jmespath.exceptions import JMESPathError
from jmespath.visitor import TreeInterpreter

from evals.client.citations import MarkerReader
from evals.client.spec import ServerSpec
from evals.errors import ConfigError
from evals.schemas.response import PART, Citation, ErrorKind, RetrievedChunk, TokenUsage
from evals.secrets import masked
from evals.text.decoding import parse_json
from evals.text.markup import without_thoughts
from evals.text.numbers import number_or_none

# Expressions.


class MappingError(Exception):
    """The body does not contain what the mapping selects.

    Attributes:
        kind: As it is recorded.
    """

    kind: ErrorKind = "malformed"


class TooLongError(MappingError):
    """A text is longer than what is analysed."""

    kind: ErrorKind = "too_large"


_TEXT: Any = {"types": ["string", "null"]}

_PATTERN: Any = {"types": ["string"]}

_LIST: Any = {"types": ["array", "null"]}


class Functions(functions.Functions):
    """The functions that expressions may call in addition to those of JMESPath, by their names after `_func_`.

    Each gives null for null: what is missing stays missing.
    """

    @functions.signature({"types": ["object", "null"]})
    def _func_zip(self, lists: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
        """The objects made of parallel lists: `zip({text: documents, score: distances})`.

        What is no list is repeated in each object, so that a flattened list keeps its parent's fields:
        `files[].zip({chunk: chunks, file: name})[]`. Null where none is a list.

        Raises:
            ValueError: The lists are of different lengths, so that it is unknown which belong together.
        """
        parallel = {key: value for key, value in (lists or {}).items() if isinstance(value, list)}
        if lists is None or not parallel:
            return None
        if len({len(items) for items in parallel.values()}) > 1:
            lengths = ", ".join(f"{key} {len(items):,}" for key, items in parallel.items())
            raise ValueError(f"zip() got lists of different lengths: {lengths} (`list[].key` leaves out what is null)")
        repeated = {key: value for key, value in lists.items() if key not in parallel}
        rows = zip(*parallel.values(), strict=True)
        return [{**repeated, **dict(zip(parallel, row, strict=True))} for row in rows]

    @functions.signature(_TEXT, _PATTERN)
    def _func_split(self, text: str | None, separator: str) -> list[str] | None:
        r"""The parts of a text between the matches of a pattern, without empty ones: `split(context, '\n\n')`."""
        if text is None:
            return None
        ends = [0, *(end for found in _pattern(separator).finditer(text) for end in found.span()), len(text)]
        parts = (text[start:end].strip() for start, end in zip(ends[::2], ends[1::2], strict=True))
        return [part for part in parts if part]

    @functions.signature(_TEXT, _PATTERN)
    def _func_matches(self, text: str | None, pattern: str) -> list[Any] | None:
        """What a pattern finds in a text or XML: `matches(@, '(?s)<p id="(?P<chunk_id>.*?)">(?P<text>.*?)</p>')`.

        Objects of its named groups, else texts: its first group, or all of it. Entities of XML are decoded.
        """
        if text is None:
            return None
        found = list(_pattern(pattern).finditer(text))
        if found and found[0].groupdict():
            return [{name: value and unescape(value) for name, value in each.groupdict().items()} for each in found]
        return [unescape(each[min(1, len(each.groups()))] or "") for each in found]

    @functions.signature({"types": []}, _LIST, _PATTERN)
    def _func_lookup(self, keys: Any, objects: Sequence[Any] | None, name: str) -> list[Any] | None:
        """The objects of a list that have these keys under a name: `lookup(cited_ids, documents, 'id')`.

        In the order of the keys. A key that no object has gives an object with nothing but that key, so that nothing
        is dropped; of several objects with a key the first is taken.
        """
        if keys is None or objects is None:
            return None
        named = [each for each in objects if isinstance(each, Mapping) and each.get(name) is not None]
        known = {str(each[name]): each for each in reversed(named)}
        return [known.get(str(key), {name: key}) for key in (keys if isinstance(keys, list) else [keys])]

    @functions.signature(_LIST)
    def _func_number(self, values: Sequence[Any] | None) -> list[dict[str, Any]] | None:
        """The distinct values of a list as they first occur, counted from 1: `number(names)[].{index: number}`.

        For servers whose markers count documents, not chunks.
        """
        if values is None:
            return None
        distinct = dict.fromkeys(value for value in values if isinstance(value, str | int | float))
        return [{"number": number, "value": value} for number, value in enumerate(distinct, start=1)]

    @functions.signature(_TEXT)
    def _func_parse_json(self, text: str | None) -> Any:
        """The value of JSON that stands in a text: `parse_json(output).answer`."""
        if text is None:
            return None
        try:
            return parse_json(text.encode())
        except ValueError as error:
            raise ValueError(f"parse_json() got no JSON: {text[:60]!r}") from error


def _pattern(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a valid pattern: {pattern!r} ({error.msg})") from error


_INTERPRETER = TreeInterpreter(jmespath.Options(custom_functions=Functions()))
"""Made once: the library would make one for each value that it looks for."""


@lru_cache(maxsize=256)
def compiled(expression: str) -> Any:
    """The syntax tree of a JMESPath expression.

    Raises:
        ConfigError: It is not valid JMESPath, or calls a function that there is not.
    """
    try:
        tree = jmespath.compile(expression).parsed
    except JMESPathError as error:
        if masked(expression) != expression:  # what the library says may hold a part of it
            raise ConfigError("not a valid JMESPath expression: it holds a value of the environment") from None
        first = str(error).partition("\n")[0]
        raise ConfigError(f"not a valid JMESPath expression: {expression!r} ({first})") from error
    for name in _called(tree):
        if name not in Functions.FUNCTION_TABLE:
            raise ConfigError(f"not a valid JMESPath expression: {expression!r} (there is no function {name}())")
    return tree


def _called(node: Any) -> Iterable[str]:
    """The names of the functions that an expression calls."""
    if isinstance(node, Mapping):
        yield from [node["value"]] if node["type"] == "function_expression" else ()
        for child in node["children"]:
            yield from _called(child)


def find(expression: str | None, body: Any) -> Any:
    """Evaluate the expression over the body; None where there is no expression.

    Raises:
        MappingError: A function in the expression met a value of the wrong type.
    """
    if expression is None:
        return None
    try:
        return _INTERPRETER.visit(compiled(expression), body)
    except (ArithmeticError, TypeError, ValueError) as error:  # the library checks some arguments and trips over others
        raise MappingError(str(error).partition("\n")[0]) from error


def find_or_none(expression: str | None, body: Any) -> Any:
    """The same, and None where the body has not the shape that the expression expects."""
    try:
        return find(expression, body)
    except MappingError:
        return None


def error_in(body: Any) -> str | None:
    """What a body says that went wrong by GraphQL's `errors` or JSON-RPC's `error`; None without either."""
    given = body if isinstance(body, Mapping) else {}
    errors, error = given.get("errors"), given.get("error") if "jsonrpc" in given else None
    first = errors[0] if isinstance(errors, list) and errors else error
    said = first.get("message") if isinstance(first, Mapping) else None
    return str(said or first) if first is not None else None


# Single values of a body, and what they are called in a message.


_MOST_WHOLE = 10**9
"""Beyond it no number is one of tokens, of a place in a text or of a chunk."""

_KINDS = {"NoneType": "null", "bool": "true or false", "int": "a number", "float": "a number", "str": "a text"}

_KINDS |= {"list": "a list", "dict": "an object"}


def text_or_none(value: Any) -> str | None:
    """The value as text: a number as its digits, anything else that is no text as None."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole_or_none(value: Any) -> int | None:
    number = number_or_none(value)
    return int(number) if number is not None and number.is_integer() and abs(number) <= _MOST_WHOLE else None


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, in words."""
    return _KINDS.get(type(value).__name__, type(value).__name__)


_MOST_KEYS, _LONGEST_KEY, _LONGEST_SHAPE = 12, 40, 300
"""A body may have thousands of keys."""


def shape_of(body: Any) -> str:
    """What a body holds, for somebody who maps it: `it has the keys answer, sources[] (text), usage (tokens)`."""
    if isinstance(body, list) and body:
        shape = f"it is a list whose first item {_described(body[0])}"
    else:
        shape = f"it {_described(body)}"
    return shape if len(shape) <= _LONGEST_SHAPE else f"{shape[:_LONGEST_SHAPE]}…"


def _described(value: Any) -> str:
    if isinstance(value, dict) and value:
        return f"has the keys {_listed(f'{key[:_LONGEST_KEY]}{_inside(item)}' for key, item in value.items())}"
    return f"is {kind_of(value)}" if value or not isinstance(value, dict | list) else f"is {kind_of(value)}, and empty"


def _inside(item: Any) -> str:
    """What a key says of its value: [] that it is a list, and the keys of an object or of the first in the list."""
    inner = next(iter(item), None) if isinstance(item, list) else item
    keys = f" ({_listed(key[:_LONGEST_KEY] for key in inner)})" if isinstance(inner, dict) and inner else ""
    return f"{'[]' if isinstance(item, list) else ''}{keys}"


def _listed(names: Iterable[str]) -> str:
    first = list(islice(names, _MOST_KEYS + 1))
    return ", ".join([*first[:_MOST_KEYS], *["…"] * (len(first) > _MOST_KEYS)])


# The items of a list: chunks, citations, and what markers stand for.


Item = TypeVar("Item")

_TEXTS = dict.fromkeys(("chunk_id", "document_id", "document_name", "section", "text"), text_or_none)

_PLACES: dict[str, Callable[[Any], Any]] = dict.fromkeys(("start", "end"), _whole_or_none)

_CHUNK_FIELDS = _TEXTS | _PLACES | {"score": number_or_none}

_NAMING = ("chunk_id", "document_id", "section", "index")
"""The keys of a citation that say what is cited."""

_CITATION_FIELDS = dict.fromkeys(_NAMING[:3], text_or_none) | _PLACES | {"index": _whole_or_none}

CHUNK_KEYS, CITATION_KEYS = tuple(_CHUNK_FIELDS), tuple(Citation.model_fields)
"""The keys of chunks and citations that are given as objects."""


class _UnreadableError(Exception):
    """The mapping selects something other than a list of items; the message names it."""


def _items(value: Any, read: Callable[[Any], Item | None], wanted: str) -> list[Item]:
    if not isinstance(value, list):
        raise _UnreadableError(f"gives {kind_of(value)}, not a list")
    items = []
    for given in value:
        item = read(given)
        if item is None:  # of objects these are only citations that name nothing
            kind = f"an object without {', '.join(_NAMING)}" if isinstance(given, Mapping) else kind_of(given)
            raise _UnreadableError(f"gives a list that holds {kind}, where each item is to be {wanted}")
        items.append(item)
    return items


def _chunks(value: Any, notes: list[str]) -> list[RetrievedChunk]:
    """The chunks of a list; one that is nothing but a text is that.

    Raises:
        _UnreadableError: It is no list, or an item of it is neither an object nor a text.
    """
    lost: dict[str, str] = {}

    def chunk(item: Any) -> RetrievedChunk | None:
        if isinstance(item, str):
            return RetrievedChunk(text=item)
        if not isinstance(item, Mapping):
            return None
        fields = {}
        for name, read in _CHUNK_FIELDS.items():
            if (given := item.get(name)) is not None:
                fields[name] = read(given)
                if fields[name] is None and name not in _PLACES and not (name == "score" and isinstance(given, str)):
                    lost[name] = "an impossible score" if _is_number(given) else f"{kind_of(given)} as {name}"
        start, end = fields.pop("start", None), fields.pop("end", None)
        if start is not None and end is not None and 0 <= start < end:
            fields["span"] = (start, end)
        return RetrievedChunk(**fields)

    chunks = _items(value, chunk, "a text or an object")
    notes += [f"{PART}chunks gives {what}, which is ignored" for what in lost.values()]
    return chunks


def _citation(item: Any) -> Citation | None:
    if not isinstance(item, Mapping):
        index = _whole_or_none(item)
        return None if index is None else Citation(index=index)
    fields = {name: read(item[name]) for name, read in _CITATION_FIELDS.items() if item.get(name) is not None}
    # What names nothing would count as a wrong citation, though it is the mapping that finds nothing in it.
    return Citation(**fields) if any(fields.get(name) is not None for name in _NAMING) else None


def _citations(value: Any, chunks: Sequence[RetrievedChunk] | None) -> list[Citation]:
    """The citations of a list; one that is nothing but a number is an index, and one that is a text the id of a chunk.

    A number in quotation marks is an index too, unless the chunks have such ids.

    Raises:
        _UnreadableError: It is no list, or an item of it is neither an object nor a text nor a whole number.
    """
    numbers_are_ids = any((chunk.chunk_id or "").isdecimal() for chunk in chunks or ())

    def citation(item: Any) -> Citation | None:
        if isinstance(item, str) and (numbers_are_ids or not item.strip().isdecimal()):
            return Citation(chunk_id=item)
        return _citation(item)

    return _items(value, citation, "a whole number, a text or an object that names its source")


def _references(value: Any) -> dict[str, Citation]:
    """What markers stand for, by what stands in them; an object without `index`, or without a source, is left out.

    Raises:
        _UnreadableError: It is no list, or an item of it is no object.
    """
    items = _items(value, lambda item: item if isinstance(item, Mapping) else None, "an object")
    both = ((text_or_none(item.get("index")), _citation({**item, "index": None})) for item in items)
    return {label: citation for label, citation in both if label is not None and citation is not None}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# Token counts.


USAGE_KEYS = tuple(TokenUsage.model_fields)

_PROMPT, _COMPLETION = (
    ("prompt_tokens", "input_tokens", "promptTokenCount"),
    ("completion_tokens", "output_tokens", "candidatesTokenCount"),
)

_CACHED = (
    *("cached_tokens", "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"),
    *("cache_read_input_tokens", "cachedContentTokenCount"),
)

_APART = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Anthropic counts what comes from its cache, or goes there, apart from `input_tokens`."""


def _usage(value: Any, notes: list[str]) -> TokenUsage | None:
    """The tokens of an object with our keys, or with those of OpenAI, Anthropic or Gemini; None without both counts."""
    if not isinstance(value, Mapping):
        return None
    given = [next((count for name in names if (count := _at(value, name)) is not None), None) for names in _ALIASES]
    whole = [_whole_or_none(count) for count in given]
    counts = [count if count is not None and count >= 0 else None for count in whole]
    if any(count is None and _is_number(number) for count, number in zip(counts, given, strict=True)):
        notes.append(f"{PART}usage gives an impossible number of tokens, which is ignored")
    prompt, completion, cached = counts
    if prompt is None or completion is None:
        return None
    if "prompt_tokens" not in value:
        prompt += sum(_whole_or_none(value.get(name)) or 0 for name in _APART)
    return TokenUsage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached and min(cached, prompt))


_ALIASES = (_PROMPT, _COMPLETION, _CACHED)


def _at(value: Mapping[str, Any], name: str) -> Any:
    above, _, key = name.rpartition(".")
    place = value.get(above) if above else value
    return place.get(key) if isinstance(place, Mapping) else None


# A whole answer.


_LONGEST_ANSWER, _LONGEST_CHUNKS = 1 << 19, 1 << 22
"""Characters in compatibility form (NFKC) of an answer, and of all chunks of one answer together."""

_MOST_OF_ONE = 18
"""Characters that one becomes in that form."""

_CUT_OFF = re.compile(
    rb'"(?:finish_?reason|stop_?reason|done_reason)"\s*:\s*"(length|max_tokens|max_output_tokens)"', re.IGNORECASE
)
"""How servers say that an answer stopped at the limit of its length."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """The answer that the pieces of a stream make.

    Attributes:
        text: None where no piece had one.
        notes: Remarks on it; why there is no text, if there is none.
    """

    text: str | None
    notes: list[str]


class RetrievalMappingError(MappingError):
    """A mapping error of the request that retrieves the chunks."""


class ResponseReader:
    """Reads the bodies of one kind of server.

    Args:
        spec: Of the server.

    Attributes:
        document_names: Names of documents by the server's ids: what a chunk that has an id alone is recognised by.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self._map = spec.map
        self._only_retrieves = not spec.gives_answers
        self._retrieved = None if spec.retrieve is None else spec.retrieve.map
        self._given_as = spec.citations.given_as
        self._keeps_thoughts = spec.clean == []
        self._clean = [re.compile(pattern) for pattern in spec.clean or ()]
        has_labels = spec.map.references is not None
        self._markers = MarkerReader(spec.citations.markers, spec.citations.base, labels=has_labels)
        self.document_names: Mapping[str, str] = {}

    def read(
        self, body: Any, retrieved: Any = None, streamed: Streamed | None = None, raw: bytes = b""
    ) -> dict[str, Any]:
        """Read the fields of an `EvalResponse` from the body.

        Args:
            body: Of the request that asks.
            retrieved: The body of the request that retrieves, of a server that has one.
            streamed: The answer, where the pieces of a stream make it; `body` is the list of all pieces then.
            raw: The body as it was received.

        Raises:
            MappingError: There is no answer in it; of what only retrieves, no list of chunks.
        """
        notes: list[str] = []
        refused = find(self._map.refused, body)
        if refused is not None and not isinstance(refused, bool):
            notes.append(f"{PART}refused found {kind_of(refused)}, not true or false")
            refused = None
        answer = self._answer(body, streamed, notes, refused=refused)
        if cut := _CUT_OFF.search(raw):
            notes.append(f"the answer was cut off: the server says {cut[0].decode()}")
        stages = None
        if self._retrieved is None:
            chunks = self._read_chunks(self._map.chunks, body, notes, needed=self._only_retrieves)
        else:
            try:
                chunks = self._read_chunks(self._retrieved.chunks, retrieved, notes, needed=True)
                stages = find(self._retrieved.stages, retrieved)
            except MappingError as error:
                raise RetrievalMappingError(str(error)) from error
        given = find(self._map.confidence, body)
        confidence = number_or_none(given)
        if confidence is None and _is_number(given):
            notes.append(f"{PART}confidence gives an impossible number, which is ignored")
        return {
            "answer": answer,
            "chunks": chunks,
            "citations": self._read_citations(body, answer, chunks, notes),
            "usage": _usage(find(self._map.usage, body), notes),
            "model": text_or_none(find(self._map.model, body)),
            "confidence": confidence,
            "stages": _stages(find(self._map.stages, body) if stages is None else stages),
            "refused": refused,
            "notes": notes,
        }

    def _answer(self, body: Any, streamed: Streamed | None, notes: list[str], *, refused: bool | None) -> str | None:
        """The answer's text, cleaned; None where the server is not asked for one. A refusal may come without a text."""
        if streamed is not None:
            if streamed.text is None and not refused:
                raise MappingError("; ".join(streamed.notes))
            notes += streamed.notes if streamed.text is not None else []
            answer = streamed.text or ""
        elif self._map.answer is None:
            return None
        else:
            found = find(self._map.answer, body)
            answer = "" if found is None and refused else found
            if not isinstance(answer, str):
                raise MappingError(f"the body has no text at `{self._map.answer}`; {shape_of(body)}")
        if not self._keeps_thoughts:
            answer, thoughts = without_thoughts(answer)
            if thoughts:
                notes.append(f"thoughts of {len(thoughts):,} characters are taken off the answer (server.clean)")
        for pattern in self._clean:
            answer = pattern.sub("", answer)
        if _first_beyond([answer], _LONGEST_ANSWER) is not None:
            raise TooLongError(f"the answer is longer than {_LONGEST_ANSWER:,} characters: not analysed")
        return answer

    def _read_chunks(
        self, expression: str | None, body: Any, notes: list[str], *, needed: bool
    ) -> list[RetrievedChunk] | None:
        chunks = self._read_list("chunks", find(expression, body), lambda value: _chunks(value, notes), notes)
        if chunks is None:
            if needed:
                raise MappingError(notes[0] if notes else f"the body has no list at `{expression}`; {shape_of(body)}")
            return None
        beyond = _first_beyond([chunk.text or "" for chunk in chunks], _LONGEST_CHUNKS)
        if beyond is not None:
            longer = f"longer than {_LONGEST_CHUNKS:,} characters in all"
            notes.append(f"chunks: {longer}, and those from number {beyond + 1} on are left out")
            chunks = chunks[:beyond]
        if not self.document_names:
            return chunks
        names = (chunk.document_name or self.document_names.get(chunk.document_id or "") for chunk in chunks)
        both = zip(chunks, names, strict=True)
        return [chunk.model_copy(update={"document_name": name}) for chunk, name in both]

    def _read_citations(
        self, body: Any, answer: str | None, chunks: list[RetrievedChunk] | None, notes: list[str]
    ) -> list[Citation] | None:
        if answer is None or self._given_as == "none":
            return None
        if self._given_as in {"list", "auto"}:
            given = find(self._map.citations, body)
            if given is not None or self._given_as == "list":
                return self._read_list("citations", given, lambda value: _citations(value, chunks), notes)
        marked = self._markers.read(answer, len(chunks or ()))
        if self._map.references is not None:
            given = find(self._map.references, body)
            known = self._read_list("references", given, _references, notes) or {}
            marked = [_referred(citation, known) for citation in marked]
        # Without a list, no marker may mean that this server never cites: that is "did not say", not "none".
        return marked or (None if self._given_as == "auto" else [])

    def _read_list(self, name: str, value: Any, read: Callable[[Any], Item], notes: list[str]) -> Item | None:
        """What the server lists; None where it says nothing, or nothing that can be read, which is noted."""
        if value is None:
            return None
        try:
            return read(value)
        except _UnreadableError as error:
            notes.append(f"{PART}{name} {error}")
            return None


def _first_beyond(texts: Sequence[str], most: int) -> int | None:
    """The place of the text with which texts become longer than this many characters; None where they do not."""
    if _MOST_OF_ONE * sum(map(len, texts)) <= most:
        return None
    total = 0
    for place, text in enumerate(texts):
        total += len(text) if text.isascii() or len(text) > most else len(normalize("NFKC", text))
        if total > most:
            return place
    return None


def _referred(citation: Citation, references: Mapping[str, Citation]) -> Citation:
    """What a marker stands for; one that is not among the references cites what there is not."""
    label = citation.chunk_id if citation.index is None else str(citation.index)
    known = references.get(label or "")
    if known is None:
        return citation.model_copy(update={"chunk_id": label, "index": None})
    return known.model_copy(update={"start": citation.start, "end": citation.end})


def _stages(value: Any) -> list[Any] | None:
    """A list of stages; lists by the names of their stages become one."""
    if isinstance(value, Mapping):
        return [{"name": name, "items": items} for name, items in value.items()]
    return value if isinstance(value, list) else None
