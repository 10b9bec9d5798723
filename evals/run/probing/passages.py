"""Lists of passages in a body, by their shape: objects, texts, parallel lists, lists within other objects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.client.mapping import MappingError, find
from evals.run.probing import words
from evals.run.probing.fields import Fields, choose_fields, choose_sources
from evals.run.probing.walk import (
    are_blocks,
    are_messages,
    are_objects,
    are_texts,
    below,
    child,
    columns,
    lists_below,
    within,
)
from evals.run.probing.words import last_name, snake, word_count

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
    return count * (1 + 0.5 * (_key_count(found.rows) - 1)) * _weight_of_name(found.at)


def _key_count(rows: Sequence[Mapping[str, Any]]) -> int:
    return len({key for row in rows for key, value in row.items() if value is not None})


def _weight_of_name(at: str) -> float:
    names = {snake(name) for name in at.replace("[", ".").replace("]", "").split(".")}
    return 1.5 if names & words.PASSAGES else 0.2 if names & words.NO_PASSAGES else 1.0


def _candidates(value: Any, at: str, question: str, depth: int) -> Iterator[Passages]:
    if not depth:
        return
    if isinstance(value, Mapping):
        yield from _parallel(value, at)
        for key, item in value.items():
            yield from _candidates(item, child(at, key), question, depth - 1)
    elif are_texts(value):
        if sum(map(word_count, value)) / len(value) >= _LEAST_WORDS:
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
        elif are_texts(flat) and sum(map(word_count, flat)) / len(flat) >= _LEAST_WORDS:
            yield from _texts_of_each(items, at, path)


def _texts_of_each(items: Sequence[Mapping[str, Any]], at: str, path: str) -> Iterator[Passages]:
    """Texts within each item, with the lists beside them where these are as long."""
    beside = _beside(items[0], path)
    if beside.paths:
        zipped, keys = _zipped(path, beside)
        yield Passages(f"{at}[].{path}", f"{at}[].zip({zipped})[].{selected(keys)}", unsure=beside.unsure)
    yield _with_parent(items, at, path, Fields({"text": ""}), objects=False)


def _with_parent(items: Sequence[Mapping[str, Any]], at: str, path: str, fields: Fields, *, objects: bool) -> Passages:
    parent = choose_sources(columns([item for item in items if _has_list(item, path)]))
    missing = {} if _documents_of(fields) else _documents_of(parent)
    place = f"{at}[].{path}"
    if not missing:
        return _made(place, f"{place}[]", fields) if objects else Passages(place, f"{place}[]")
    zipped = ", ".join([f"c: {path}", *(f"{key}: {where}" for key, where in missing.items())])
    inner = {key: below("c", where) for key, where in fields.paths.items()} | {key: key for key in missing}
    made = Fields(inner, [below("c", other) for other in fields.others], [*fields.unsure, *parent.unsure])
    return _made(place, f"{at}[].zip({{{zipped}}})[]", made)


def _has_list(item: Mapping[str, Any], path: str) -> bool:
    return any(found == path for found, _ in lists_below(item))


def _documents_of(fields: Fields) -> dict[str, str]:
    """What names the document, by the key of a chunk."""
    return {key: path for key, path in fields.paths.items() if key.startswith("document")}


def _parallel(value: Mapping[str, Any], at: str) -> Iterator[Passages]:
    """Lists of one length, one of which holds the texts."""
    for path, items in lists_below(value):
        if are_texts(items) and sum(map(word_count, items)) / len(items) >= _LEAST_WORDS:
            beside = _beside(value, path)
            place = below(at, path)
            if beside.paths:
                zipped, keys = _zipped(path, beside)
                ends = "" if keys == {key: key for key in keys} else f"[].{selected(keys)}"
                lists = [below(at, where.partition("/")[0]) for where in beside.paths.values()]
                whole = f"{below(at, f'zip({zipped})')}{ends}"
                yield Passages(place, whole, unsure=beside.unsure, lists=lists)
            elif path.endswith("[0]"):
                yield Passages(place, place)


def _beside(value: Mapping[str, Any], path: str) -> Fields:
    """What lists beside that of the texts say, by the paths in an item of all of them."""
    lists = dict(lists_below(value))
    count = len(lists[path])
    alike = {name: items for name, items in lists.items() if name != path and len(items) == count}
    given: dict[str, Sequence[Any]] = {}
    for other, items in alike.items():
        if not (_are_places(items) or _repeats_another(other, alike)):
            given |= _values_of(other, items)
    found = choose_sources({_singular(name): values for name, values in given.items()})
    names = {_singular(name): name for name in given}
    return Fields({key: names[where] for key, where in found.paths.items()}, [], found.unsure)


def _values_of(name: str, items: list[Any]) -> dict[str, Sequence[Any]]:
    """The leaves of a list of objects, or what a list of single values holds; nothing of other lists."""
    if are_objects(items):
        return {f"{name}/{inner}": values for inner, values in columns(items).items()}
    return {} if any(isinstance(item, list | Mapping) for item in items) else {name: items}


def _repeats_another(name: str, lists: Mapping[str, list[Any]]) -> bool:
    """Whether a list that is called as citations are says nothing that another list does not say."""
    if not words.is_of_citations(last_name(name)) or not are_texts(lists[name]):
        return False
    return any(other != name and are_texts(items) and set(lists[name]) <= set(items) for other, items in lists.items())


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
