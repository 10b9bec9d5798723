"""Lists of passages in a body, by their shape: objects, texts, parallel lists, lists within other objects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from evals.client.mapping import MappingError, find
from evals.run.probing.fields import (
    NAMES,
    Fields,
    are_blocks,
    are_messages,
    are_objects,
    are_texts,
    below,
    child,
    choose_fields,
    choose_sources,
    columns,
    is_of_citations,
    last_name,
    leaves,
    lists_below,
    snake,
    within,
    word_count,
)

_LEAST_WORDS = 4

_DEEPEST = 6


@dataclass(slots=True)
class Passages:
    """A list that may be the chunks.

    Attributes:
        at: Where the list stands; of parallel lists, what holds them.
        expression: For `map.chunks`.
        rows: What the expression finds.
        weight: How much speaks for it.
        others: Expressions with another field as the text.
        unsure: Keys of chunks that were found by how the values look alone.
        lists: Where the parallel lists stand that were put together.
    """

    at: str
    expression: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    weight: float = 0.0
    others: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)

    @property
    def taken(self) -> list[str]:
        """Where everything stands that the chunks are made of."""
        return [self.at, *self.lists]

    @property
    def texts(self) -> list[str]:
        """What the chunks say."""
        return [row["text"] for row in self.rows if isinstance(row.get("text"), str)]


def find_passages(body: Any, question: str, prefix: str = "") -> list[Passages]:
    """Everything in a body that may be the chunks, the likeliest first.

    Args:
        body: What was received.
        question: What was asked.
        prefix: Expression that leads to the body, of a part of a stream.
    """
    found = []
    for candidate in _candidates(body, "", question, _DEEPEST):
        try:
            rows = find(candidate.expression, body)
        except MappingError:  # lists of different lengths
            continue
        candidate.rows = [dict(row) if isinstance(row, Mapping) else {"text": row} for row in rows or ()]
        candidate.weight = _weight(candidate)
        if candidate.weight > 0:
            candidate.expression = below(prefix, candidate.expression)
            candidate.others = [below(prefix, other) for other in candidate.others]
            found.append(candidate)
    return sorted(found, key=lambda each: -each.weight)


def _weight(found: Passages) -> float:
    """Words, more for each key beside the text, and for a name that such lists have."""
    texts = found.texts
    if not texts or len(texts) < len(found.rows):
        return 0.0
    count = sum(map(word_count, set(texts)))
    if sum(text.rstrip().endswith("?") for text in texts) * 2 > len(texts):
        count //= 4
    keys = {key for row in found.rows for key, value in row.items() if value is not None}
    names = {snake(name) for name in found.at.replace("[", ".").replace("]", "").split(".")}
    return count * (1 + 0.5 * (len(keys) - 1)) * _weight_of_name(names)


def _weight_of_name(names: set[str]) -> float:
    return 1.5 if names & NAMES["passages"] else 0.2 if names & NAMES["no_passages"] else 1.0


def _candidates(value: Any, at: str, question: str, depth: int) -> Iterator[Passages]:
    if not depth:
        return
    if isinstance(value, Mapping):
        yield from _parallel(value, at)
        for key, item in value.items():
            yield from _candidates(item, child(at, key), question, depth - 1)
    elif are_texts(value):
        if _are_long(value):
            yield Passages(at, at or "@")
    elif are_objects(value):
        yield from _objects(value, at, question, depth)


def _objects(items: list[Mapping[str, Any]], at: str, question: str, depth: int) -> Iterator[Passages]:
    if not are_messages(items, question) and not are_blocks(items):
        yield from _flat(items, at)
    yield from _nested(items, at, question)
    if len(items) == 1:
        yield from _candidates(items[0], f"{at}[0]", question, depth - 1)
    elif are_messages(items, question):
        yield from _candidates(items[-1], f"{at}[-1]", question, depth - 1)


def _flat(items: Sequence[Mapping[str, Any]], at: str) -> Iterator[Passages]:
    fields = choose_fields(columns(items))
    if fields is not None:
        yield _made(at, f"{at}[]", fields)


def _made(at: str, items: str, fields: Fields) -> Passages:
    others = [f"{items}.{selected({**fields.paths, 'text': other})}" for other in fields.others]
    return Passages(at, f"{items}.{selected(fields.paths)}", others=others, unsure=fields.unsure)


def selected(paths: Mapping[str, str]) -> str:
    """A multi-select of JMESPath."""
    return f"{{{', '.join(f'{key}: {path}' for key, path in paths.items())}}}"


def _nested(items: Sequence[Mapping[str, Any]], at: str, question: str) -> Iterator[Passages]:
    """Lists within each item, which keep what their parent says."""
    for path, flat in within(items).items():
        if are_objects(flat) and not are_blocks(flat) and not are_messages(flat, question):
            fields = choose_fields(columns(flat))
            if fields is not None:
                yield _with_parent(items, at, path, fields, objects=True)
        elif are_texts(flat) and _are_long(flat):
            beside = _beside(items[0], path)
            if beside.paths:  # lists beside the texts that are as long
                zipped, keys = _zipped(path, beside)
                yield Passages(f"{at}[].{path}", f"{at}[].zip({zipped})[].{selected(keys)}", unsure=beside.unsure)
            yield _with_parent(items, at, path, Fields({"text": ""}), objects=False)


def _with_parent(items: Sequence[Mapping[str, Any]], at: str, path: str, fields: Fields, *, objects: bool) -> Passages:
    parent = choose_sources(columns([item for item in items if path in dict(lists_below(item))]))
    missing = {} if _documents_of(fields) else _documents_of(parent)
    place = f"{at}[].{path}"
    if not missing:
        return _made(place, f"{place}[]", fields) if objects else Passages(place, f"{place}[]")
    zipped = ", ".join([f"c: {path}", *(f"{key}: {where}" for key, where in missing.items())])
    inner = {key: below("c", where) for key, where in fields.paths.items()} | {key: key for key in missing}
    made = Fields(inner, [below("c", other) for other in fields.others], [*fields.unsure, *parent.unsure])
    return _made(place, f"{at}[].zip({{{zipped}}})[]", made)


def _documents_of(fields: Fields) -> dict[str, str]:
    """What names the document, by the key of a chunk."""
    return {key: path for key, path in fields.paths.items() if key.startswith("document")}


def _parallel(value: Mapping[str, Any], at: str) -> Iterator[Passages]:
    """Lists of one length, one of which holds the texts."""
    for path, items in lists_below(value):
        beside = _beside(value, path) if are_texts(items) and _are_long(items) else Fields()
        if beside.paths:
            zipped, keys = _zipped(path, beside)
            ends = "" if all(key == where for key, where in keys.items()) else f"[].{selected(keys)}"
            lists = [below(at, where.partition("/")[0]) for where in beside.paths.values()]
            whole = f"{below(at, f'zip({zipped})')}{ends}"
            yield Passages(below(at, path), whole, unsure=beside.unsure, lists=lists)


def _are_long(texts: Sequence[str]) -> bool:
    """Whether texts have as many words as passages have at least."""
    return sum(map(word_count, texts)) / len(texts) >= _LEAST_WORDS


def _beside(value: Mapping[str, Any], path: str) -> Fields:
    """What lists beside that of the texts say, by the paths in an item of all of them."""
    lists = dict(lists_below(value))
    count = len(lists[path])
    alike = {name: items for name, items in lists.items() if name != path and len(items) == count}
    given: dict[str, Sequence[Any]] = {}
    for other, items in alike.items():
        given |= _values_of(other, items, alike)
    found = choose_sources({_singular(name): values for name, values in given.items()})
    names = {_singular(name): name for name in given}
    return Fields({key: names[where] for key, where in found.paths.items()}, [], found.unsure)


def _values_of(name: str, items: list[Any], alike: Mapping[str, list[Any]]) -> dict[str, Sequence[Any]]:
    """What a list says of each passage; nothing where it holds lists, or cites."""
    if are_objects(items):
        return {f"{name}/{inner}": values for inner, values in columns(items).items()}
    # A list that is called as citations are may say nothing that another one does not say.
    others = [set(map(str, each)) for other, each in alike.items() if other != name]
    repeats = is_of_citations(last_name(name)) and are_texts(items) and any(set(items) <= each for each in others)
    cites = repeats or _are_places(items) or any(isinstance(item, list | Mapping) for item in items)
    return {} if cites else {name: items}


def _singular(path: str) -> str:
    whole = path.replace("[0]", "")
    return (
        whole[:-1] if "/" not in whole and whole.endswith("s") and not whole.endswith("ss") else whole.replace("/", ".")
    )


def _are_places(items: Sequence[Any]) -> bool:
    """Whether they are numbers of items: they cite."""
    whole = [str(item) for item in items if not isinstance(item, bool | float)]
    return len(whole) == len(items) and all(item.isdecimal() and int(item) <= len(items) for item in whole)


def _zipped(path: str, beside: Fields) -> tuple[str, dict[str, str]]:
    """The argument of zip, and where the keys of a chunk stand in what it gives."""
    lists, keys = {"text": path}, {"text": "text"}
    for key, where in beside.paths.items():
        other, _, inner = where.partition("/")
        name = next((known for known, listed in lists.items() if listed == other), key if not inner else f"{key}_of")
        lists[name] = other
        keys[key] = below(name, inner)
    return selected(lists), keys


# What stands beside answer and chunks: token counts, the model, and whether a 200 says that all is well.


_MOST = 1_000_000
"""Tokens of one answer; more are nanoseconds or bytes."""


def find_usage(body: Any, prefix: str = "") -> str | None:
    """The expression of token counts: an object with one of what was sent and one of what was made."""
    return _first_pair(body, prefix, _named_pair)


def guess_usage(body: Any, prefix: str = "") -> str | None:
    """The expression of three counts of which one is the sum of the others, whatever they are called.

    The greater of the two is taken for what was sent.
    """
    return _first_pair(body, prefix, _summed_pair)


_Pair = tuple[str, str]


def _first_pair(
    body: Any, prefix: str, pair_of: Callable[[Mapping[str, int], str], _Pair | None], at: str = ""
) -> str | None:
    if not isinstance(body, Mapping):
        return None
    pair = pair_of({key: number for key, number in body.items() if _is_count(number)}, at)
    if pair is not None:
        keys = {"prompt_tokens": child("", pair[0]), "completion_tokens": child("", pair[1])}
        return ".".join(filter(None, [below(prefix, at), selected(keys)]))
    return next(filter(None, (_first_pair(item, prefix, pair_of, child(at, key)) for key, item in body.items())), None)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _named_pair(counts: Mapping[str, int], at: str) -> tuple[str, str] | None:
    sent = _called(counts, NAMES["tokens_sent"])
    made = _called(counts, NAMES["tokens_made"])
    if sent is None or made is None or sent == made:
        return None
    is_of_tokens = any("token" in snake(name) for name in (*counts, last_name(at)))
    is_sum = counts[sent] + counts[made] in [counts[key] for key in set(counts) - {sent, made}]
    return (sent, made) if is_of_tokens or is_sum or snake(last_name(at)) in NAMES["token_counts"] else None


def _called(counts: Mapping[str, int], names: frozenset[str]) -> str | None:
    return next((key for key in counts if names & set(snake(key).split("_"))), None)


def _summed_pair(counts: Mapping[str, int], _: str) -> tuple[str, str] | None:
    for first, second, both in permutations(counts, 3):
        if counts[first] > counts[second] > 0 and counts[first] + counts[second] == counts[both]:
            return first, second
    return None


def find_model(body: Any, prefix: str = "") -> str | None:
    """The expression of the model's name."""
    for path, value in leaves(body):
        if isinstance(value, str) and snake(last_name(path)) in NAMES["models"]:
            return below(prefix, path)
    return None


def find_ok(body: Any) -> str | None:
    """The condition under which a body is an answer, where it says so at its top."""
    if not isinstance(body, Mapping):
        return None
    conditions = (_when_well(child("", key), snake(key), value) for key, value in body.items())
    empty = (f"!{child('', key)}" for key, value in body.items() if snake(key) in NAMES["errors"] and not value)
    rpc = ["!error"] if "jsonrpc" in body else []  # which has either a result or an error
    return next(filter(None, (*conditions, *empty, *rpc)), None)


def _when_well(key: str, name: str, value: Any) -> str | None:
    if name in NAMES["flags"] and value is True:
        return key
    if name in NAMES["states"] and isinstance(value, str) and value.lower() in NAMES["well"]:
        return f"{key} == '{value}'"
    return f"{key} == `{value}`" if name in NAMES["codes"] and _is_count(value) and value in {0, 200} else None


def says_no(body: Any) -> str | None:
    """What a body of a success says went wrong; None where it says nothing of the kind."""
    if not isinstance(body, Mapping):
        return None
    wrong = (f"{key} is {value!r}" for key, value in body.items() if _is_ill(snake(key), value))
    return next(wrong, None)


def _is_ill(name: str, value: Any) -> bool:
    if name in NAMES["flags"]:
        return value is False
    if name in NAMES["states"]:
        return isinstance(value, str) and value.lower() in NAMES["ill"]
    if name in NAMES["codes"]:
        return isinstance(value, int) and not isinstance(value, bool) and value not in {0, 200}
    return name in NAMES["errors"] and isinstance(value, str | Mapping) and bool(value)
