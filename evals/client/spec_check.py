"""Check expressions, patterns and templates of a profile before anything is sent."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, TypeVar

import jmespath

from evals.client.expressions import compiled
from evals.client.spec import GIVEN_NAMES, ServerSpec, names_in, whole_name
from evals.errors import ConfigError
from evals.schemas.response import Citation, RetrievedChunk, TokenUsage
from evals.secrets import masked
from evals.text.numbers import number_or_none
from evals.text.yaml_files import VARIABLE

# Single values of a body: what they are worth as text or number, and what they are called in a message.


PLAUSIBLE_WHOLE = 10**9
"""The same of tokens, places in a text and numbers of chunks."""

_KINDS = {"NoneType": "null", "bool": "true or false", "int": "a number", "float": "a number", "str": "a text"}

_KINDS |= {"list": "a list", "dict": "an object"}


def text_or_none(value: Any) -> str | None:
    """The value as text: a number as its digits, anything else that is no text as None."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def whole_or_none(value: Any) -> int | None:
    """The value as a whole number; None where it is none, or beyond what is plausible."""
    number = number_or_none(value)
    return int(number) if number is not None and number.is_integer() and abs(number) <= PLAUSIBLE_WHOLE else None


def is_lost(given: Any, read: float | None) -> bool:
    """Whether a number was given that is left out."""
    return read is None and isinstance(given, int | float) and not isinstance(given, bool)


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, in words."""
    return _KINDS.get(type(value).__name__, type(value).__name__)


# The items of a list in the body: chunks and citations, given as objects or as plain values.


Item = TypeVar("Item")


CITATION_KEYS = tuple(Citation.model_fields)
"""The keys of a citation that is given as an object."""


_NAMING = ("chunk_id", "document_id", "section", "index")
"""Those of them that say what is cited."""


class UnreadableListError(Exception):
    """The mapping selects something other than a list of items; the message names it."""


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
        notes.append("server.map.chunks gives an impossible score, which is ignored")
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
    items = _items(value, lambda item: item if isinstance(item, Mapping) else None, "an object")
    both = ((text_or_none(item.get("index")), _citation({**item, "index": None})) for item in items)
    return [(label, citation) for label, citation in both if label is not None and citation is not None]


def _items(value: Any, read: Callable[[Any], Item | None], wanted: str) -> list[Item]:
    if not isinstance(value, list):
        raise UnreadableListError(f"gives {kind_of(value)}, not a list")
    items = []
    for given in value:
        item = read(given)
        if item is None:  # of objects these are only citations that name nothing
            kind = f"an object without {', '.join(_NAMING)}" if isinstance(given, Mapping) else kind_of(given)
            raise UnreadableListError(f"gives a list that holds {kind}, where each item is to be {wanted}")
        items.append(item)
    return items


def _chunk(item: Any) -> RetrievedChunk | None:
    if isinstance(item, str):
        return RetrievedChunk(text=item)
    if not isinstance(item, Mapping):
        return None
    fields = {name: read(item[name]) for name, read in _CHUNK_FIELDS.items() if item.get(name) is not None}
    start, end = fields.pop("start", None), fields.pop("end", None)
    if start is not None and end is not None and 0 <= start < end:
        fields["span"] = (start, end)
    return RetrievedChunk(**fields)


def _citation(item: Any) -> Citation | None:
    if not isinstance(item, Mapping):
        index = whole_or_none(item)
        return None if index is None else Citation(index=index)
    fields = {name: read(item[name]) for name, read in _CITATION_FIELDS.items() if item.get(name) is not None}
    # What names nothing would count as a wrong citation, though it is the mapping that finds nothing in it.
    return Citation(**fields) if any(fields.get(name) is not None for name in _NAMING) else None


_TEXTS = dict.fromkeys(("chunk_id", "document_id", "document_name", "section", "text"), text_or_none)

_PLACES: dict[str, Callable[[Any], Any]] = dict.fromkeys(("start", "end"), whole_or_none)

_CHUNK_FIELDS = _TEXTS | _PLACES | {"score": number_or_none}

_CITATION_FIELDS = dict.fromkeys(_NAMING[:3], text_or_none) | _PLACES | {"index": whole_or_none}

CHUNK_KEYS = tuple(_CHUNK_FIELDS)
"""The keys of a chunk that is given as an object."""


# The keys that an expression gives to its items, checked before anything is sent: one that nobody reads is wrong.


Node = Mapping[str, Any]


_KNOWN: Mapping[str, Sequence[str]] = {
    "chunks": CHUNK_KEYS,
    "citations": CITATION_KEYS,
    "references": CITATION_KEYS,
    "usage": tuple(TokenUsage.model_fields),
}


def unknown_keys(key: str, expression: str) -> Iterator[tuple[str, str]]:
    """The keys that chunks, citations, references and usage are given but not read, as in `[].{txt: content}`.

    Args:
        key: Where the expression stands, such as `map.chunks` or `retrieve.map.chunks`.
        expression: What finds them.

    Yields:
        Each such key, with what to write instead.
    """
    within, _, part = key.rpartition(".")
    known = _KNOWN.get(part, ()) if within in {"map", "retrieve.map"} else ()
    node = jmespath.compile(expression).parsed
    for name in (name for name in _last_keys(node) if known and name not in known):
        # What is called so in part, as chunk_id is for id, is nearer than what is spelt alike.
        near = [each for each in known if name.casefold() in each.split("_")] + get_close_matches(name, known, n=1)
        yield name, (f"did you mean {near[0]!r}? " if near else "") + f"known: {', '.join(known)}"


def _last_keys(node: Node) -> list[str]:
    """The keys of the objects that an expression ends with, of each of its alternatives; not those within calls."""
    if node["type"] == "multi_select_dict":
        return [child["value"] for child in node["children"]]
    if node["type"] == "function_expression":
        return []
    last = node["children"] if node["type"] == "or_expression" else node["children"][:2][-1:]  # a filter has a third
    return [key for child in last if isinstance(child, Mapping) for key in _last_keys(child)]


# What a body holds, in words for somebody who maps it: its keys, and those right below them.


_MOST_KEYS, _LONGEST_KEY, _LONGEST_SHAPE = 12, 40, 300
"""A body may have thousands of keys."""


def shape_of(body: Any) -> str:
    """What the body is: `it has the keys id, choices[] (index, message), usage (total_tokens)`."""
    is_list = isinstance(body, list) and body
    shape = f"it is a list whose first item {_is(body[0])}" if is_list else f"it {_is(body)}"
    return shape if len(shape) <= _LONGEST_SHAPE else f"{shape[:_LONGEST_SHAPE]}…"


def _is(value: Any) -> str:
    if isinstance(value, dict) and value:
        return f"has the keys {_listed(f'{key[:_LONGEST_KEY]}{_below(item)}' for key, item in value.items())}"
    return f"is {kind_of(value)}" if value or not isinstance(value, dict | list) else f"is {kind_of(value)}, and empty"


def _below(item: Any) -> str:
    """What a key says of its value: [] that it is a list, and the keys of an object or of the first in the list."""
    inner = next(iter(item), None) if isinstance(item, list) else item
    keys = f" ({_listed(key[:_LONGEST_KEY] for key in inner)})" if isinstance(inner, dict) and inner else ""
    return f"{'[]' if isinstance(item, list) else ''}{keys}"


def _listed(names: Iterable[str]) -> str:
    first = list(islice(names, _MOST_KEYS + 1))
    return ", ".join([*first[:_MOST_KEYS], *["…"] * (len(first) > _MOST_KEYS)])


_EXPRESSIONS = re.compile(
    r"(retrieve\.)?map\.\w+|(ask|retrieve)\.ok_when|retrieve\.give\..+|info\.\d+\.(of|map\..+)|session\.id|"
    r"stream\.(delta|done|error)|documents\.map|upload\.(id|document_ids)|ready\.(done_when|failed)"
)
"""The keys that hold JMESPath."""

_PATTERNS = re.compile(r"citations\.markers|clean\.\d+")

_REQUESTS = re.compile(r"(ask|retrieve)\.(path|((query|headers|form)\.|json).*)")
"""Those that hold templates."""

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
    texts = dict(_texts("", spec.model_dump(by_alias=True)))
    for keys, check in ((_EXPRESSIONS, _check_expression), (_PATTERNS, _check_pattern)):
        for key, text in texts.items():
            if keys.fullmatch(key) and not (before_environment and VARIABLE.search(text)):
                check(key, text)
    _check_templates(spec, {key: text for key, text in texts.items() if _REQUESTS.fullmatch(key)})


def _check_templates(spec: ServerSpec, templates: Mapping[str, str]) -> None:
    """See that the question is sent, and that no name of a template is sent as it stands."""
    known = GIVEN_NAMES | (spec.retrieve.give.keys() if spec.retrieve is not None else set())
    for key, template in templates.items():
        if found := _ONE_BRACE.search(template):
            raise SpecError(key, f"server.{key}: {found[0]} would be sent as it stands", _TEMPLATES)
        if (name := whole_name(template)) is not None and name not in known:
            raise SpecError(key, f"server.{key}: {template} stands for nothing", f"known: {', '.join(sorted(known))}")
    if _OF_THE_QUESTION.isdisjoint(name for template in templates.values() for name in names_in(template)):
        raise SpecError("ask", "server.ask: no part of the request holds the question", _TEMPLATES)


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text by its keys."""
    if isinstance(value, str):
        yield key, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from _texts(f"{key}.{name}" if key else str(name), item)


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


# What can be measured of a server, as far as its specification tells.


def measurable(spec: ServerSpec) -> list[str]:
    """The kinds of metrics that a server of this specification allows, such as `retrieval` and `citations`.

    Latency always can. That a part is looked for does not mean that the server sends it.
    """
    answers, given_as, listed = spec.gives_answers, spec.citations.given_as, spec.map.citations is not None
    parts = {
        "retrieval": spec.map.chunks is not None or spec.retrieve is not None,
        "answers": answers,
        "abstention": answers,
        "citations": answers and (given_as in {"auto", "markers"} or (given_as == "list" and listed)),
        "cost": spec.map.usage is not None,
        "stages": spec.map.stages is not None,
        "ingestion": spec.upload is not None,
        "first token": spec.stream is not None and spec.stream.text_at is not None,
    }
    return [part for part, there in parts.items() if there]
