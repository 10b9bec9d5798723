"""Which fields of a list of objects are the text, the id, the document and the score of a chunk."""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

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
    for header in given:
        name, colon, value = header.partition(":")
        if not colon or not name.strip() or not value.strip():
            raise ConfigError("a header is not of a name and a value", 'write --header "Name: value"')
        _add(headers, name.strip(), value.strip(), os.environ if environ is None else environ)
    for secret in headers.secrets:
        remember(secret)
    return headers


def _add(headers: Headers, name: str, value: str, environ: Mapping[str, str]) -> None:
    if VARIABLE.search(value):
        headers.written[name] = value
        headers.sent[name] = expand_env(value, headers.secrets, environ)
        headers.secrets.add(headers.sent[name])
        return
    headers.sent[name] = value
    if name.lower() in _OPEN:
        headers.written[name] = value
        return
    scheme = _SCHEME.fullmatch(value)
    secret = scheme[2] if scheme else value
    variable = re.sub(r"\W", "_", name).upper() if name.lower() != "authorization" else "RAG_TOKEN"
    headers.written[name] = f"{scheme[1]} ${{{variable}}}" if scheme else f"${{{variable}}}"
    headers.variables.append(variable)
    headers.secrets |= {value, secret}


# The section `server:` of a configuration, as YAML of few lines.

_SECTION_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*", re.ASCII)
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})

_ON_LINES = frozenset({"map"})
"""Keys whose parts stand on lines of their own."""


def section_text(server: Mapping[str, Any]) -> str:
    """The section with a line for each part."""
    lines = ["server:"]
    for key, value in server.items():
        if key in _ON_LINES and isinstance(value, Mapping):
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
_ROLES = frozenset({"user", "assistant", "human", "ai", "bot", "system", "agent", "tool"})
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
    """Everything below objects that is neither an object nor a list, with its path."""
    if isinstance(value, Mapping):
        if depth:
            for key, item in value.items():
                yield from leaves(item, child(at, key), depth - 1)
    elif not isinstance(value, list):
        yield at, value


def lists_below(value: Any, at: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, list[Any]]]:
    """Every list below objects, with its path; a list that holds nothing but one list is that one."""
    if isinstance(value, Mapping):
        if depth:
            for key, item in value.items():
                yield from lists_below(item, child(at, key), depth - 1)
    elif isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):
            yield f"{at}[0]", value[0]
        else:
            yield at, value


def are_objects(items: Any) -> bool:
    """Whether it is a list of objects, and not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, Mapping) for item in items)


def are_texts(items: Any) -> bool:
    """Whether it is a list of texts, and not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, str) for item in items)


def columns(items: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The leaves of objects by their paths: a value for each object, None where it has none."""
    rows = [dict(leaves(item)) for item in items]
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
    key = kind_key(items)
    if key is not None and {item[key].lower() for item in items} <= _ROLES:
        return True
    if any(map(_holds_message, items)):
        return True
    return len(items) > 1 and any(value == question for item in items for _, value in leaves(item))


def _holds_message(item: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) and value.get("role") in _ROLES for value in item.values())


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


_FILE = re.compile(r"\S+\.[A-Za-z]{2,5}|https?://\S+")
_LEAST_WORDS = 3

_NEAR = 0.5
"""A field whose texts are at least half as long as the longest may be the text too."""


ColumnValues = Mapping[str, Sequence[Any]]


@dataclass(slots=True)
class Fields:
    """What was found.

    Attributes:
        paths: By the key of a chunk, where it stands in an item.
        others: Other fields that may be the text.
        unsure: Keys that were found by how the values look alone.
    """

    paths: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)


def choose_fields(columns: ColumnValues, text: str | None = None) -> Fields | None:
    """The fields of chunks; None where no field is a text of some words.

    Args:
        columns: Values of each field, in the order of the items.
        text: The field that is the text, where that is known.
    """
    found = Fields()
    if text is None:
        texts = _texts(columns)
        if not texts:
            return None
        (text, weight), *others = texts
        found.others = [path for path, other in others if other >= weight * _NEAR]
    found.paths["text"] = text
    rest = {path: values for path, values in columns.items() if path not in {text, *found.others}}
    _name_sources(rest, found)
    return found


def choose_sources(columns: ColumnValues) -> Fields:
    """The fields that say where chunks come from, without a text: those of a parent, or of a list beside theirs."""
    found = Fields()
    _name_sources(columns, found)
    return found


def _texts(columns: ColumnValues) -> list[tuple[str, float]]:
    """Fields that may be the text, the longest first; a name that texts have counts double."""
    weights = {}
    for path, values in columns.items():
        given = [value for value in values if isinstance(value, str)]
        mean = sum(map(word_count, given)) / len(values)
        if given and mean >= _LEAST_WORDS:
            name = snake(last_name(path))
            weights[path] = mean * (2 if name in NAMES["texts"] else 0.4 if name in NAMES["no_texts"] else 1)
    return sorted(weights.items(), key=lambda item: -item[1])


def _name_sources(columns: ColumnValues, found: Fields) -> None:
    short = {path: values for path, values in columns.items() if _are_labels(values)}
    _name_document(short, found)
    taken = set(found.paths.values())
    named = [values for path, values in short.items() if path in taken]
    _name_chunk_id({path: values for path, values in short.items() if values not in named}, found)
    others = {"section": _section(columns), "score": _score(columns)}
    found.paths |= {key: path for key, path in others.items() if path is not None}


def _section(columns: ColumnValues) -> str | None:
    for path, values in columns.items():
        texts = all(value is None or isinstance(value, str) for value in values)
        if texts and snake(last_name(path)) in NAMES["sections"]:
            return path
    return None


def _are_labels(values: Sequence[Any]) -> bool:
    """Whether they are short and there for each item: texts of few words, or whole numbers."""
    return all(
        (isinstance(value, str) and value and word_count(value) <= 8)
        or (isinstance(value, int) and not isinstance(value, bool))
        for value in values
    )


def _name_document(short: ColumnValues, found: Fields) -> None:
    texts = {path: values for path, values in short.items() if are_texts(values)}
    by_name = {snake(last_name(path)): path for path in reversed(texts)}
    named, ids = _named(by_name, IN_ORDER["document_names"]), _named(by_name, IN_ORDER["document_ids"])
    document = _document(texts, named)
    if document is not None:
        found.paths["document_name"] = document
        found.unsure += [] if document in {*named, *ids} else ["document_name"]
    if ids and ids[0] != document:
        found.paths["document_id"] = ids[0]


def _document(texts: ColumnValues, named: Sequence[str]) -> str | None:
    """The field that names the document: one that is called so and holds files, one that holds files, one called so."""
    files = [path for path, values in texts.items() if all(map(_FILE.fullmatch, values))]
    return next(iter([*(path for path in named if path in files), *files, *named]), None)


def _named(by_name: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [by_name[name] for name in names if name in by_name]


def _name_chunk_id(short: ColumnValues, found: Fields) -> None:
    """A label that differs from item to item: one that is called an id, else one that looks like one."""
    distinct = {path: values for path, values in short.items() if len(set(values)) == len(values)}
    ids = _called_ids(distinct)
    odd = [path for path, values in distinct.items() if _look_like_ids(path, values)]
    if ids:
        found.paths["chunk_id"] = min(ids, key=lambda path: path.count("."))
    elif odd:
        found.paths["chunk_id"] = odd[0]
        found.unsure.append("chunk_id")


def _called_ids(paths: Iterable[str]) -> list[str]:
    named = {path: snake(last_name(path)) for path in paths}
    ids = [path for path, name in named.items() if name in NAMES["chunk_ids"]]
    return ids or [path for path, name in named.items() if name.endswith("_id") and not _is_of_other(name)]


def _is_of_other(name: str) -> bool:
    """Whether a key is called as labels of documents and places are."""
    return name in NAMES["document_ids"] or name in NAMES["no_chunk_ids"] or "document" in name


def _look_like_ids(path: str, values: Sequence[Any]) -> bool:
    if len(values) == 1 or _is_of_other(snake(last_name(path))):
        return False
    return all(isinstance(value, str) and word_count(value) == 1 and not value.isdecimal() for value in values)


def _score(columns: ColumnValues) -> str | None:
    """A field of numbers: one that is called so, else the only fractions that rise or fall from item to item."""
    numbers = {
        path: values
        for path, values in columns.items()
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    }
    named = [path for path in numbers if snake(last_name(path)) in NAMES["scores"]]
    if named:
        return min(named, key=lambda path: path.count("."))
    falling = [path for path, values in numbers.items() if len(values) > 1 and are_in_order(values)]
    return falling[0] if len(falling) == 1 else None


def are_in_order(values: Sequence[Any]) -> bool:
    """Whether they are fractions that never rise, or never fall."""
    if not any(isinstance(value, float) for value in values):
        return False
    return all(a >= b for a, b in pairwise(values)) or all(a <= b for a, b in pairwise(values))
