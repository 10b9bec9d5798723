"""The expressions, patterns and templates of a specification, checked before anything is sent."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import jmespath

from evals.client.expressions import compiled
from evals.client.spec import GIVEN_NAMES, RequestSpec, ServerSpec, names_in, whole_name
from evals.errors import ConfigError
from evals.schemas.response import Citation, RetrievedChunk, TokenUsage
from evals.secrets import masked
from evals.text.yaml_files import VARIABLE

# Single values of a body: what they are worth as text or number, and what they are called in a message.


PLAUSIBLE = 1e12
"""Beyond it, in either direction, no number that a server gives is a score or a confidence."""


PLAUSIBLE_WHOLE = 10**9
"""The same of tokens, places in a text and numbers of chunks."""

_KINDS = {"NoneType": "null", "bool": "true or false", "int": "a number", "float": "a number", "str": "a text"}

_KINDS |= {"list": "a list", "dict": "an object"}


def text_or_none(value: Any) -> str | None:
    """The value as text: a number as its digits, anything else that is no text as None."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def number_or_none(value: Any) -> float | None:
    """The value as a number; None where it is none, or beyond what is plausible."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if abs(number) <= PLAUSIBLE else None  # which NaN is not either


def whole_or_none(value: Any) -> int | None:
    """The value as a whole number; None where it is none, or beyond what is plausible."""
    number = number_or_none(value)
    return int(number) if number is not None and number.is_integer() and abs(number) <= PLAUSIBLE_WHOLE else None


def is_lost(given: Any, read: float | None) -> bool:
    """Whether a number was given that is left out."""
    return read is None and isinstance(given, int | float) and not isinstance(given, bool)


def flag_or_none(value: Any) -> bool | None:
    """True or false; None for anything else, texts and numbers included."""
    return value if isinstance(value, bool) else None


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, in words."""
    return _KINDS.get(type(value).__name__, type(value).__name__)


# The items of a list in the body: chunks and citations, given as objects or as plain values.


Item = TypeVar("Item", RetrievedChunk, Citation)


CITATION_KEYS = tuple(Citation.model_fields)
"""The keys of a citation that is given as an object."""


_NAMING = ("chunk_id", "document_id", "section", "index")
"""Those of them that say what is cited."""


class UnreadableListError(Exception):
    """What the mapping finds is no list, or holds something that is no item; the message says what it is."""


def chunks_of(value: Any, notes: list[str]) -> list[RetrievedChunk]:
    """The chunks of a list; one that is nothing but a text is that.

    Args:
        value: What the mapping finds.
        notes: Where it is said what of them is left out.

    Raises:
        UnreadableListError: It is no list, or an item of it is neither an object nor a text.
    """
    chunks = _items(value, _chunk, "a text or an object")
    both = zip(value, chunks, strict=True)
    if any(isinstance(item, Mapping) and is_lost(item.get("score"), chunk.score) for item, chunk in both):
        notes.append("server.map.chunks gives a number that no score can be: it is left out")
    return chunks


def citations_of(value: Any, chunks: Sequence[RetrievedChunk] | None) -> list[Citation]:
    """The citations of a list; one that is nothing but a number is an index, and one that is a text the id of a chunk.

    A number in quotation marks is an index too, unless the chunks have such ids.

    Args:
        value: What the mapping finds.
        chunks: What was retrieved with the answer.

    Raises:
        UnreadableListError: It is no list, or an item of it is neither an object nor a text nor a whole number.
    """
    numbers_are_ids = any((chunk.chunk_id or "").isdecimal() for chunk in chunks or ())

    def citation(item: Any) -> Citation | None:
        if isinstance(item, str) and (numbers_are_ids or not item.strip().isdecimal()):
            return Citation(chunk_id=item)
        return _citation(item)

    return _items(value, citation, "a whole number, a text or an object that names its source")


def references_of(value: Any, _: list[str]) -> list[tuple[str, Citation]]:
    """What markers stand for, each with what stands in it; an object without `index`, or without a source, is left out.

    Raises:
        UnreadableListError: It is no list, or an item of it is no object.
    """
    if not isinstance(value, list):
        raise UnreadableListError(f"gives {kind_of(value)}, not a list")
    references = []
    for item in value:
        if not isinstance(item, Mapping):
            raise UnreadableListError(f"gives a list that holds {kind_of(item)}, where each item is to be an object")
        label, citation = text_or_none(item.get("index")), _citation({**item, "index": None})
        if label is not None and citation is not None:
            references.append((label, citation))
    return references


def _items(value: Any, read: Callable[[Any], Item | None], wanted: str) -> list[Item]:
    if not isinstance(value, list):
        raise UnreadableListError(f"gives {kind_of(value)}, not a list")
    items = []
    for given in value:
        item = read(given)
        if item is None:
            raise UnreadableListError(f"gives a list that holds {_kind(given)}, where each item is to be {wanted}")
        items.append(item)
    return items


def _kind(item: Any) -> str:
    """What kind of thing an item is that cannot be read; of objects these are only citations that name nothing."""
    return f"an object without {', '.join(_NAMING)}" if isinstance(item, Mapping) else kind_of(item)


def _chunk(item: Any) -> RetrievedChunk | None:
    if isinstance(item, str):
        return RetrievedChunk(text=item)
    if not isinstance(item, Mapping):
        return None
    fields = {name: convert(item[name]) for name, convert in _CHUNK_FIELDS if item.get(name) is not None}
    start, end = fields.pop("start", None), fields.pop("end", None)
    if start is not None and end is not None and 0 <= start < end:
        fields["span"] = (start, end)
    return RetrievedChunk(**fields)


def _citation(item: Any) -> Citation | None:
    if not isinstance(item, Mapping):
        index = whole_or_none(item)
        return None if index is None else Citation(index=index)
    citation = Citation(
        chunk_id=text_or_none(item.get("chunk_id")),
        document_id=text_or_none(item.get("document_id")),
        section=text_or_none(item.get("section")),
        index=whole_or_none(item.get("index")),
        start=whole_or_none(item.get("start")),
        end=whole_or_none(item.get("end")),
    )
    # What names nothing would count as a wrong citation, though it is the mapping that finds nothing in it.
    return citation if any(getattr(citation, name) is not None for name in _NAMING) else None


_CHUNK_FIELDS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("chunk_id", text_or_none),
    ("document_id", text_or_none),
    ("document_name", text_or_none),
    ("section", text_or_none),
    ("text", text_or_none),
    ("start", whole_or_none),
    ("end", whole_or_none),
    ("score", number_or_none),
)


CHUNK_KEYS = tuple(name for name, _ in _CHUNK_FIELDS)
"""The keys of a chunk that is given as an object."""


# The keys that an expression gives to its items, checked before anything is sent: one that nobody reads is wrong.


Node = Mapping[str, Any]


_KNOWN: Mapping[str, Sequence[str]] = {
    "chunks": CHUNK_KEYS,
    "citations": CITATION_KEYS,
    "references": CITATION_KEYS,
    "usage": tuple(TokenUsage.model_fields),
}

_SAME = frozenset({"identity", "current"})


_IN_TURN = frozenset({"pipe", "subexpression", "projection", "value_projection", "filter_projection"})
"""Nodes whose second child works on what the first gives."""

_OF_FIRST = frozenset({"flatten", "index_expression", "expref"})

_OF_ALL = frozenset({"or_expression", "and_expression", "multi_select_list"})


_FUNCTIONS = frozenset({"not_null", "reverse", "sort_by", "max_by", "min_by", "merge", "to_array", "zip"})
"""Those that give objects with the keys that they got."""


def unknown_keys(key: str, expression: str) -> Iterator[tuple[str, str]]:
    """The keys that chunks, citations, references and usage are given and that nobody reads, as in `[].{txt: content}`.

    Args:
        key: Where the expression stands, such as `map.chunks` or `retrieve.map.chunks`.
        expression: What finds them.

    Yields:
        Each such key, with what to write instead.
    """
    within, _, part = key.rpartition(".")
    known = _KNOWN.get(part) if within in {"map", "retrieve.map"} else None
    for name in _keys(expression) if known else ():
        if known and name not in known:
            yield name, _hint(name, known)


def _hint(key: str, known: Sequence[str]) -> str:
    """The key that was meant: one that is called so in part, as chunk_id is for id, else one that is spelt alike."""
    near = [name for name in known if key.casefold() in name.split("_")] or get_close_matches(key, known, n=1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"known: {', '.join(known)}"


def _keys(expression: str) -> list[str]:
    objects = _objects(jmespath.compile(expression).parsed, [])
    return [child["value"] for node in objects for child in node["children"]]


def _objects(node: Node, given: Sequence[Node]) -> Sequence[Node]:
    """The objects that a node builds, or hands on where `given` are those that it works on.

    What an expression builds only to look into it again has keys of its own, and is not among them.
    """
    kind, children = node["type"], node["children"]
    if kind == "multi_select_dict":
        return [node]
    if kind in _SAME:
        return given
    if kind in _IN_TURN:
        return _objects(children[1], _objects(children[0], given))
    if kind in _OF_FIRST:
        return _objects(children[0], given)
    if kind == "function_expression":
        return _objects_of_function(node, given)
    return [found for child in children for found in _objects(child, given)] if kind in _OF_ALL else []


def _objects_of_function(node: Node, given: Sequence[Node]) -> Sequence[Node]:
    children = node["children"]
    if node["value"] == "map":
        return _objects(children[0], _objects(children[1], given))
    if node["value"] not in _FUNCTIONS:
        return []
    return [found for child in children if child["type"] != "expref" for found in _objects(child, given)]


# What a body holds, in words for somebody who maps it: its keys, and those right below them.


_KEYS, _KEYS_BELOW = 12, 5
"""So many keys are named; a body may have thousands."""

_KEY_CHARS = 40

_CHARS = 300


def shape_of(body: Any) -> str:
    """What the body is: `it has the keys id, choices[] (index, message), usage (total_tokens)`."""
    is_list = isinstance(body, list) and body
    shape = f"it is a list whose first item {_is(body[0])}" if is_list else f"it {_is(body)}"
    return shape if len(shape) <= _CHARS else f"{shape[:_CHARS]}…"


def _is(value: Any) -> str:
    if isinstance(value, dict) and value:
        return f"has the keys {_listed([f'{_short(key)}{_below(item)}' for key, item in value.items()], _KEYS)}"
    return f"is {kind_of(value)}" if value or not isinstance(value, dict | list) else f"is {kind_of(value)}, and empty"


def _below(item: Any) -> str:
    """What a key says of its value: [] that it is a list, and the keys of an object or of the first in the list."""
    brackets = "[]" if isinstance(item, list) else ""
    inner = item[0] if isinstance(item, list) and item else item
    keys = _listed(list(map(_short, inner)), _KEYS_BELOW) if isinstance(inner, dict) else ""
    return f"{brackets} ({keys})" if keys else brackets


def _listed(names: list[str], most: int) -> str:
    return ", ".join([*names[:most], *(["…"] if len(names) > most else [])])


def _short(key: str) -> str:
    return key if len(key) <= _KEY_CHARS else f"{key[:_KEY_CHARS]}…"


_OF_THE_QUESTION = frozenset({"question", "question_json", "messages"})

_ONE_BRACE = re.compile(r"(?<!\{)\{\s*(question|question_json|messages)\s*\}(?!\})")

_TEMPLATES = "the question is {{question}}, with two braces on each side"


class SpecError(ConfigError):
    """A key of a specification is unknown or has a wrong value.

    Args:
        key: Its path, such as `map.chunks`; empty where no single key is wrong.
        message: One sentence that names it.
        hint: The way out.
    """

    def __init__(self, key: str, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.key = f"server.{key}" if key else "server"


def check_spec(spec: ServerSpec, *, before_environment: bool = False) -> None:
    """Check every expression, pattern and template.

    Args:
        spec: Of a server.
        before_environment: Whether what holds a ${NAME} is left for later.

    Raises:
        SpecError: One is wrong; it names its key.
    """
    for key, expression in _expressions(spec):
        if not (before_environment and VARIABLE.search(expression)):
            _check_expression(key, expression)
    for key, pattern in _patterns(spec):
        if not (before_environment and VARIABLE.search(pattern)):
            _check_pattern(key, pattern)
    _check_templates(spec)


def _check_templates(spec: ServerSpec) -> None:
    """See that the question is sent, and that no name of a template is sent as it stands."""
    requests = {"ask": spec.ask} | ({"retrieve": spec.retrieve} if spec.retrieve is not None else {})
    known = GIVEN_NAMES | (spec.retrieve.give.keys() if spec.retrieve is not None else set())
    named: set[str] = set()
    for key, template in (one for above, request in requests.items() for one in _templates(above, request)):
        named.update(names_in(template))
        if found := _ONE_BRACE.search(template):
            raise SpecError(key, f"server.{key}: {found[0]} would be sent as it stands", _TEMPLATES)
        if (name := whole_name(template)) is not None and name not in known:
            raise SpecError(key, f"server.{key}: {template} stands for nothing", f"known: {', '.join(sorted(known))}")
    if named.isdisjoint(_OF_THE_QUESTION):
        raise SpecError("ask", "server.ask: no part of the request holds the question", _TEMPLATES)


def _templates(above: str, request: RequestSpec) -> Iterator[tuple[str, str]]:
    """Every text of a request by its key."""
    for key in ("path", "query", "headers", "form"):
        yield from _texts(f"{above}.{key}", getattr(request, key))
    yield from _texts(f"{above}.json", request.body)


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(f"{key}.{name}", item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(f"{key}.{number}", item)


def _check_expression(key: str, expression: str) -> None:
    try:
        compiled(expression)
    except ConfigError as error:
        raise SpecError(key, f"server.{key}: {error.message}", error.hint) from error
    for name, hint in unknown_keys(key, expression):
        raise SpecError(key, f"unknown key {f'server.{key}.{name}'!r}", hint)


def _check_pattern(key: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        if masked(pattern) != pattern:  # what the library says may hold a part of it
            raise SpecError(key, f"server.{key}: not a valid pattern: it holds a value of the environment") from None
        raise SpecError(key, f"server.{key}: not a valid pattern: {pattern!r} ({error.msg})") from error


def _expressions(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    """Every expression of a profile by its key."""
    yield from _given("map", spec.map.model_dump())
    yield from _given("ask", {"ok_when": spec.ask.ok_when})
    for number, endpoint in enumerate(spec.info):
        yield from _given(f"info.{number}", {"of": endpoint.of})
        yield from _given(f"info.{number}.map", endpoint.map)
    if spec.retrieve is not None:
        yield from _given("retrieve.map", spec.retrieve.map.model_dump())
        yield from _given("retrieve.give", spec.retrieve.give)
        yield from _given("retrieve", {"ok_when": spec.retrieve.ok_when})
    yield from _of_streams(spec)
    yield from _of_documents(spec)


def _of_streams(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    if spec.stream is not None:
        yield from _given("stream", spec.stream.model_dump(include={"delta", "done", "error"}))
    if spec.session is not None:
        yield from _given("session", {"id": spec.session.id})


def _of_documents(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    if spec.documents is not None:
        yield from _given("documents", {"map": spec.documents.map})
    if spec.upload is not None:
        yield from _given("upload", {"id": spec.upload.id, "document_ids": spec.upload.document_ids})
    if spec.ready is not None:
        yield from _given("ready", {"done_when": spec.ready.done_when, "failed": spec.ready.failed})


def _given(above: str, expressions: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Those expressions that there are, by their keys below another."""
    return ((f"{above}.{key}", expression) for key, expression in expressions.items() if expression is not None)


def _patterns(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    yield "citations.markers", spec.citations.markers
    for number, pattern in enumerate(spec.clean):
        yield f"clean.{number}", pattern
