"""Lists of passages in a body, by their shape: objects, texts, parallel lists, lists within other objects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from evals.client.mapping import MappingError, find
from evals.run.probing import fields as words
from evals.run.probing.fields import (
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
    last_name,
    leaves,
    lists_below,
    names_in,
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


# What stands beside answer and chunks: token counts, the model, and whether a 200 says that all is well.


_SENT = names_in("prompt input in read request sent question prefill")

_MADE = names_in("completion output out generated written wrote response reply answer produced eval")

_COUNTS = names_in("usage spent spending consumption consumed accounting billing cost costs")

_MODELS = names_in("model model_name llm llm_model engine deployment")

_WELL = names_in("ok success succeeded successful fine good completed complete done")

_ILL = names_in("error failed failure refused rejected denied invalid bad exception fault ko")

_STATES = names_in("status state outcome result verdict")

_CODES = names_in("code errcode err_code error_code errno retcode")

_FLAGS = names_in("ok success succeeded is_ok")

_ERRORS = names_in("error err error_msg error_message errors fault problem")


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


def _first_pair(
    body: Any, prefix: str, pair_of: Callable[[Mapping[str, int], str], tuple[str, str] | None]
) -> str | None:
    for at, value in _objects_sides(body, ""):
        counts = {key: number for key, number in value.items() if _is_count(number)}
        pair = pair_of(counts, at)
        if pair is not None:
            keys = {"prompt_tokens": child("", pair[0]), "completion_tokens": child("", pair[1])}
            return ".".join(filter(None, [below(prefix, at), selected(keys)]))
    return None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _objects_sides(value: Any, at: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        yield at, value
        for key, item in value.items():
            yield from _objects_sides(item, child(at, key))


def _named_pair(counts: Mapping[str, int], at: str) -> tuple[str, str] | None:
    sent = _called(counts, _SENT)
    made = _called(counts, _MADE)
    if sent is None or made is None or sent == made:
        return None
    is_of_tokens = any("token" in snake(name) for name in (*counts, last_name(at)))
    is_sum = counts[sent] + counts[made] in [counts[key] for key in set(counts) - {sent, made}]
    return (sent, made) if is_of_tokens or is_sum or snake(last_name(at)) in _COUNTS else None


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
        if isinstance(value, str) and snake(last_name(path)) in _MODELS:
            return below(prefix, path)
    return None


def find_ok(body: Any) -> str | None:
    """The condition under which a body is an answer, where it says so at its top."""
    if not isinstance(body, Mapping):
        return None
    conditions = (_when_well(child("", key), snake(key), value) for key, value in body.items())
    empty = (f"!{child('', key)}" for key, value in body.items() if snake(key) in _ERRORS and not value)
    rpc = ["!error"] if "jsonrpc" in body else []  # which has either a result or an error
    return next(filter(None, (*conditions, *empty, *rpc)), None)


def _when_well(key: str, name: str, value: Any) -> str | None:
    if name in _FLAGS and value is True:
        return key
    if name in _STATES and isinstance(value, str) and value.lower() in _WELL:
        return f"{key} == '{value}'"
    return f"{key} == `{value}`" if name in _CODES and _is_count(value) and value in {0, 200} else None


def says_no(body: Any) -> str | None:
    """What a body of a success says went wrong; None where it says nothing of the kind."""
    if not isinstance(body, Mapping):
        return None
    wrong = (f"{key} is {value!r}" for key, value in body.items() if _is_ill(snake(key), value))
    return next(wrong, None)


def _is_ill(name: str, value: Any) -> bool:
    if name in _FLAGS:
        return value is False
    if name in _STATES:
        return isinstance(value, str) and value.lower() in _ILL
    if name in _CODES:
        return isinstance(value, int) and not isinstance(value, bool) and value not in {0, 200}
    return name in _ERRORS and isinstance(value, str | Mapping) and bool(value)
