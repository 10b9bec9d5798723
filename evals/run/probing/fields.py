"""Which fields of a list of objects are the text, the id, the document and the score of a chunk."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evals.errors import ConfigError
from evals.secrets import remember
from evals.text.yaml_files import VARIABLE, expand_env

# Headers as they were given: what is sent, and what may be written of it.

_SCHEME = re.compile(r"(Bearer|Basic|Token|ApiKey|Digest|Key)\s+(\S.*)", re.IGNORECASE)
_OPEN = frozenset({"accept", "content-type", "accept-language", "user-agent"})


@dataclass(slots=True)
class Headers:
    """The headers of a probe.

    Attributes:
        sent: With their values.
        written: As they stand in a configuration: each value is a ${NAME}.
        variables: The names to export, which are not set yet.
        secrets: Values that are nowhere printed.
    """

    sent: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)


def read_headers(given: Iterable[str], environ: Mapping[str, str] | None = None) -> Headers:
    """Read headers such as `X-API-Key: abc`, and remember their values as secrets.

    Raises:
        ConfigError: One has no colon, or names a variable that is not set; the message does not hold its value.
    """
    headers = Headers()
    for name, value in (_name_and_value(header) for header in given):
        if VARIABLE.search(value):
            headers.written[name] = value
            headers.sent[name] = expand_env(value, headers.secrets, os.environ if environ is None else environ)
            headers.secrets.add(headers.sent[name])
            continue
        headers.sent[name] = value
        if name.lower() in _OPEN:
            headers.written[name] = value
            continue
        scheme = _SCHEME.fullmatch(value)
        variable = re.sub(r"\W", "_", name).upper() if name.lower() != "authorization" else "RAG_TOKEN"
        headers.written[name] = f"{scheme[1]} ${{{variable}}}" if scheme else f"${{{variable}}}"
        headers.variables.append(variable)
        headers.secrets |= {value, scheme[2] if scheme else value}
    for secret in headers.secrets:
        remember(secret)
    return headers


def _name_and_value(header: str) -> tuple[str, str]:
    name, _, value = header.partition(":")
    if not name.strip() or not value.strip():
        raise ConfigError("a header is not of a name and a value", 'write --header "Name: value"')
    return name.strip(), value.strip()


# The section `server:` of a configuration, as YAML of few lines.

_SECTION_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*", re.ASCII)
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def section_text(server: Mapping[str, Any]) -> str:
    """The section with a line for each part, and for each part of `map`."""
    lines = ["server:"]
    for key, value in server.items():
        if key == "map" and isinstance(value, Mapping):
            lines += [f"  {key}:", *(f"    {name}: {flow(part)}" for name, part in value.items())]
        else:
            lines.append(f"  {key}: {flow(value)}")
    return "\n".join(lines) + "\n"


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{flow(str(key))}: {flow(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, str) and _SECTION_PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())


# A body walked from its root: what stands where, as JMESPath.

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DEEPEST = 6
_SPEAKERS = frozenset({"user", "assistant", "human", "ai", "bot", "system", "agent", "tool"})
_KIND_KEYS = ("type", "kind", "role")


def child(at: str, key: str) -> str:
    """The expression of a key below another."""
    name = key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{at}.{name}" if at else name


def below(at: str, path: str) -> str:
    """The expression of a relative path below another; both may be empty."""
    if not at or not path:
        return at or path
    return f"{at}{path}" if path.startswith("[") else f"{at}.{path}"


def raw(text: str) -> str:
    """A text as JMESPath writes one."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def leaves(value: Any, at: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, Any]]:
    """Everything below objects that is no object, with its path; a list that holds nothing but one list is that one."""
    if isinstance(value, Mapping):
        for key, item in value.items() if depth else ():
            yield from leaves(item, child(at, key), depth - 1)
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        yield f"{at}[0]", value[0]
    else:
        yield at, value


def scalars_below(value: Any) -> Iterator[tuple[str, Any]]:
    """Those of them that are no lists."""
    return ((path, leaf) for path, leaf in leaves(value) if not isinstance(leaf, list))


def lists_below(value: Any) -> Iterator[tuple[str, list[Any]]]:
    """Those of them that are lists."""
    return ((path, leaf) for path, leaf in leaves(value) if isinstance(leaf, list))


def are_objects(items: Any) -> bool:
    """Whether it is a list of objects, and not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, Mapping) for item in items)


def are_texts(items: Any) -> bool:
    """Whether it is a list of texts, and not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, str) for item in items)


def columns(items: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The leaves of objects by their paths: a value for each object, None where it has none."""
    rows = [dict(scalars_below(item)) for item in items]
    paths = dict.fromkeys(path for row in rows for path in row)
    return {path: [row.get(path) for row in rows] for path in paths}


def kind_key(items: Sequence[Mapping[str, Any]]) -> str | None:
    """The key that says of what kind each item is; None where there is none."""
    return next((key for key in _KIND_KEYS if all(isinstance(item.get(key), str) for item in items)), None)


def within(items: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """What the lists within objects hold together, by their paths."""
    found: dict[str, list[Any]] = {}
    for path, inner in (each for item in items for each in lists_below(item)):
        found.setdefault(path, []).extend(inner)
    return found


def are_messages(items: Sequence[Mapping[str, Any]], question: str) -> bool:
    """Whether objects are those of a conversation: they say who speaks, or one of them repeats the question."""
    parts = [part for item in items for part in scalars_below(item)]
    return _say_who_speaks(items) or (len(items) > 1 and question in [value for _, value in parts])


def _say_who_speaks(items: Sequence[Mapping[str, Any]]) -> bool:
    key, roles = (
        kind_key(items),
        [value.get("role") for item in items for value in item.values() if isinstance(value, Mapping)],
    )
    kinds = {str(item[key]).lower() for item in items} if key else {""}
    return kinds <= _SPEAKERS or any(role in _SPEAKERS for role in roles)


def place_of_one(items: Sequence[Mapping[str, Any]], question: str) -> str | None:
    """The index of the object that is meant: the only one, or the last message; None of other lists."""
    if len(items) == 1:
        return "[0]"
    return "[-1]" if are_messages(items, question) else None


def are_blocks(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects are typed parts of one text: a kind, a text, and nothing that says where it is from."""
    key = kind_key(items)
    if key is None:
        return False
    others = [value for item in items for name, value in item.items() if name != key]
    if any(isinstance(value, Mapping | int | float) and value != {} for value in others):
        return False
    return any(isinstance(value, str) and " " in value for value in others)


# Names that parts of answers often bear.

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STEP = re.compile(r"[\w-]+")

_FILE_OF_NAMES = Path(__file__).resolve().parents[2] / "data" / "probing.toml"

IN_ORDER: Mapping[str, list[str]] = {
    part: names.split() for part, names in tomllib.loads(_FILE_OF_NAMES.read_text("utf-8")).items()
}
"""Names by the part that they play, the surest first."""

NAMES: Mapping[str, frozenset[str]] = {part: frozenset(names) for part, names in IN_ORDER.items()}

_CITES = re.compile(r"cit|refer|^refs?$|used|ground|based_on|support")


def last_name(path: str) -> str:
    """The last key of a path: `full_text` of `sources[0].full_text`."""
    steps: list[str] = _STEP.findall(re.sub(r"\[[^\]]*\]", "", path))
    return steps[-1] if steps else ""


def snake(name: str) -> str:
    """The name in small letters with underscores, so that `chunkId` is `chunk_id`."""
    joined = "_".join(parts_of(name))
    return f"_{joined}" if name.startswith("_") else joined


def parts_of(name: str) -> list[str]:
    """The words of a name in small letters, split at separators and at the humps of camelCase."""
    return [part.lower() for part in _PARTS.findall(name)]


def is_of_citations(name: str) -> bool:
    """Whether a key is called as lists of what was cited are."""
    return _CITES.search(snake(name)) is not None


def word_count(text: str) -> int:
    """How many words a text has, by its white space."""
    return len(text.split())


Columns = Mapping[str, Sequence[Any]]

_FILE = re.compile(r"\S+\.[A-Za-z]{2,5}|https?://\S+")
_LEAST_WORDS, _MOST_IN_A_LABEL = 3, 8


@dataclass(slots=True)
class Fields:
    """The fields of the chunks in a list.

    Attributes:
        paths: By the key of a chunk, where it stands in an item.
        unsure: Keys that were found by how the values look alone.
    """

    paths: dict[str, str] = field(default_factory=dict)
    unsure: list[str] = field(default_factory=list)


def choose_fields(columns: Columns) -> Fields | None:
    """The fields of chunks; None where no field is a text of some words.

    Args:
        columns: Values of each field, in the order of the items.
    """
    weights = {path: _weight_of_text(path, values) for path, values in columns.items()}
    text = max(weights, key=lambda path: weights[path], default=None)
    if text is None or not weights[text]:
        return None
    found = choose_sources({path: values for path, values in columns.items() if path != text})
    return Fields({"text": text, **found.paths}, found.unsure)


def choose_sources(columns: Columns) -> Fields:
    """The fields that say where chunks come from: those with the name of a part, else those whose values look so."""
    found, left = Fields(), dict(columns)
    for key, part in _PARTS_OF_A_CHUNK.items():
        best, is_named = _field_of(part, left)
        if best is not None:
            found.paths[key] = best
            found.unsure += [] if is_named or key == "score" else [key]
            left = {path: values for path, values in left.items() if values != left[best]}
    return found


def _field_of(part: "_Part", columns: Columns) -> tuple[str | None, bool]:
    """The field of a part of a chunk, and whether it is called so.

    First comes a field that looks so, then the surest name, then what is nested least.
    """
    names = {path: snake(last_name(path)) for path, values in columns.items() if part.fits(values)}
    looking = [path for path, name in names.items() if name not in part.never and part.looks_so(columns[path])]
    named = {path: IN_ORDER[part.names].index(name) for path, name in names.items() if name in NAMES[part.names]}

    def preference(path: str) -> tuple[bool, int, int]:
        return path not in looking, named.get(path, 0), path.count(".")

    return min(named or looking, key=preference, default=None), bool(named)


def _weight_of_text(path: str, values: Sequence[Any]) -> float:
    """Words of a field's texts on average; a name that texts have counts double. 0 of a field that is no text."""
    given = [value for value in values if isinstance(value, str)]
    mean = sum(map(word_count, given)) / len(values)
    name = snake(last_name(path))
    factor = 2 if name in NAMES["texts"] else 0.4 if name in NAMES["no_texts"] else 1
    return mean * factor if given and mean >= _LEAST_WORDS else 0.0


def _are_labels(values: Sequence[Any]) -> bool:
    """Whether they are short texts, one for each item."""
    return are_texts(values) and all(value and word_count(value) <= _MOST_IN_A_LABEL for value in values)


def _are_ids(values: Sequence[Any]) -> bool:
    """Whether they are labels or whole numbers that differ from item to item."""
    texts = [str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool)]
    return len(texts) == len(values) == len(set(texts)) and _are_labels(texts)


def _are_words(values: Sequence[Any]) -> bool:
    return len(values) > 1 and all(isinstance(each, str) and len(each.split()) == 1 for each in values)


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _are_ordered_fractions(values: Sequence[Any]) -> bool:
    is_ordered = list(values) in (sorted(values), sorted(values, reverse=True))
    return len(values) > 1 and is_ordered and any(isinstance(value, float) for value in values)


class _Part(NamedTuple):
    """How the field of a part of a chunk is known."""

    names: str
    fits: Callable[[Sequence[Any]], bool]
    looks_so: Callable[[Sequence[Any]], bool] = lambda _: False
    never: frozenset[str] = frozenset()


_PARTS_OF_A_CHUNK: Mapping[str, _Part] = {
    "document_name": _Part("document_names", _are_labels, lambda values: all(map(_FILE.fullmatch, values))),
    "document_id": _Part("document_ids", _are_labels),
    "chunk_id": _Part("chunk_ids", _are_ids, _are_words, NAMES["document_ids"] | NAMES["no_chunk_ids"]),
    "section": _Part("sections", lambda values: all(value is None or isinstance(value, str) for value in values)),
    "score": _Part("scores", _are_numbers, _are_ordered_fractions),
}
