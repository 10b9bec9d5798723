"""Lists of passages in a body, by their shape, and other fields of a body: usage, model, a verdict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    last_name,
    lists_below,
    place_of_one,
    scalars_below,
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
        at: Where the list stands; of parallel lists, that of the texts.
        expression: For `map.chunks`.
        unsure: Keys of chunks that were found by how the values look alone.
        taken: Where everything stands that the chunks are made of.
        rows: What the expression finds.
        weight: How much speaks for it.
    """

    at: str
    expression: str
    unsure: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    weight: float = 0.0

    @property
    def texts(self) -> list[str]:
        """The texts of the chunks."""
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
            found.append(candidate)
    return sorted(found, key=lambda each: -each.weight)


def _weight(found: Passages) -> float:
    """Words, more for each key next to the text, and for a name that such lists have; fewer of suggested questions."""
    texts = found.texts
    if not texts or len(texts) < len(found.rows):
        return 0.0
    count = sum(map(word_count, set(texts)))
    if sum(text.rstrip().endswith("?") for text in texts) * 2 > len(texts):
        count //= 4
    keys = {key for row in found.rows for key, value in row.items() if value is not None}
    names = set(map(snake, found.at.replace("[", ".").replace("]", "").split(".")))
    factor = 1.5 if names & NAMES["passages"] else 0.2 if names & NAMES["no_passages"] else 1.0
    return count * (1 + 0.5 * (len(keys) - 1)) * factor


def _candidates(value: Any, at: str, question: str, depth: int) -> Iterator[Passages]:
    if _are_passages(value):
        yield Passages(at, at or "@", taken=[at])
    elif isinstance(value, Mapping) and depth:
        yield from _within([value], at, question)
        for key, item in value.items():
            yield from _candidates(item, child(at, key), question, depth - 1)
    elif are_objects(value) and depth:
        if fields := _chunk_fields(value, question):
            yield Passages(at, f"{at}[].{selected(fields.paths)}", fields.unsure, [at])
        yield from _within(value, f"{at}[]", question)
        if place := place_of_one(value, question):
            yield from _candidates(value[-1], f"{at}{place}", question, depth - 1)


def _chunk_fields(items: Any, question: str) -> Fields | None:
    """The fields of chunks in a list of objects; None of messages, of parts of one text and of other lists."""
    if not are_objects(items) or are_messages(items, question) or are_blocks(items):
        return None
    return choose_fields(columns(items))


def _are_passages(items: Any) -> bool:
    """Whether it is a list of texts that have as many words as passages have at least."""
    return are_texts(items) and sum(map(word_count, items)) / len(items) >= _LEAST_WORDS


def selected(paths: Mapping[str, str]) -> str:
    """A multi-select of JMESPath."""
    return f"{{{', '.join(f'{key}: {path}' for key, path in paths.items())}}}"


def _within(items: Sequence[Mapping[str, Any]], at: str, question: str) -> Iterator[Passages]:
    """Lists within each item; in a single object that is in no list, only texts with lists next to them."""
    for path, flat in within(items).items():
        place = below(at, path)
        if _are_passages(flat):
            yield from _texts_within(items, at, path)
        elif at.endswith("[]") and (fields := _chunk_fields(flat, question)):
            each, parent = f"{place}[]", {} if _names_document(fields) else _document_of(items)
            if parent:
                each = f"{at}.zip({selected({'c': path, **parent})})[]"
                fields.paths = {key: f"c.{where}" for key, where in fields.paths.items()} | {key: key for key in parent}
            yield Passages(place, f"{each}.{selected(fields.paths)}", fields.unsure, [place])


def _names_document(fields: Fields) -> bool:
    return any(key.startswith("document") for key in fields.paths)


def _document_of(items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Where objects name the document of what stands within them."""
    paths = choose_sources(columns(items)).paths
    return {key: where for key, where in paths.items() if key.startswith("document")}


def _texts_within(items: Sequence[Mapping[str, Any]], at: str, path: str) -> Iterator[Passages]:
    """Texts in a list within each item, with the parallel lists of the same length."""
    place, beside = below(at, path), _lists_beside(items[0], path)
    fields = choose_sources(columns(_rows(items, beside)))
    parent = _document_of(items) if at.endswith("[]") and not _names_document(fields) else {}
    paths = {**fields.paths, **{key: key for key in parent}}
    used = {where.partition(".")[0] for where in paths.values()}
    if zipped := {name: where for name, where in {**beside, **parent}.items() if name in used}:
        taken = [place, *(below(at, where) for where in zipped.values())]
        each = below(at, f"zip({selected({'text': path, **zipped})})[]")
        yield Passages(place, f"{each}.{selected({'text': 'text', **paths})}", fields.unsure, taken)
    if at.endswith("[]"):
        yield Passages(place, f"{place}[]", taken=[place])


def _lists_beside(item: Mapping[str, Any], path: str) -> dict[str, str]:
    """The lists of an object that are as long as that of the texts, by a name for their items."""
    lists = dict(lists_below(item))
    return {_singular(name): name for name in lists if name != path and len(lists[name]) == len(lists[path])}


def _singular(path: str) -> str:
    """A name for an item of the list at a path."""
    name = last_name(path)
    return child("", name[:-1] if name.endswith("s") and not name.endswith("ss") else name)


def _rows(items: Sequence[Mapping[str, Any]], lists: Mapping[str, str]) -> list[dict[str, Any]]:
    """What lists within each item say, place by place."""
    found = [dict(lists_below(item)) for item in items]
    rows = (row for each in found for row in zip(*(each.get(at, ()) for at in lists.values()), strict=False))
    return [dict(zip(lists, row, strict=True)) for row in rows]


# What stands beside answer and chunks: token counts, the model, and whether a 200 says that all is well.

_MOST = 1_000_000
"""Tokens of one answer; more are nanoseconds or bytes."""


def find_usage(body: Any, prefix: str = "", at: str = "") -> str | None:
    """The expression of token counts: an object with one of what was sent and one of what was made."""
    if not isinstance(body, Mapping):
        return None
    counts = [key for key, number in body.items() if _is_count(number)]
    sent, made = (_called(counts, NAMES[part]) for part in ("tokens_sent", "tokens_made"))
    if sent and made and sent != made and _are_of_tokens(counts, last_name(at)):
        keys = {"prompt_tokens": child("", sent), "completion_tokens": child("", made)}
        return ".".join(filter(None, [below(prefix, at), selected(keys)]))
    return next(filter(None, (find_usage(item, prefix, child(at, key)) for key, item in body.items())), None)


def _are_of_tokens(counts: Sequence[str], name: str) -> bool:
    return snake(name) in NAMES["token_counts"] or any("token" in snake(each) for each in (*counts, name))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _called(counts: Sequence[str], names: frozenset[str]) -> str | None:
    return next((key for key in counts if names & set(snake(key).split("_"))), None)


def find_model(body: Any, prefix: str = "") -> str | None:
    """The expression of the model's name."""
    for path, value in scalars_below(body):
        if isinstance(value, str) and snake(last_name(path)) in NAMES["models"]:
            return below(prefix, path)
    return None


def find_ok(body: Any) -> str | None:
    """The condition under which a body is an answer, where it says so at its top."""
    if not isinstance(body, Mapping):
        return None
    said = [(key, value, form) for key, value in body.items() for is_well, form in [_verdict(key, value)] if is_well]
    said.sort(key=lambda each: each[2].startswith("!"))  # a state says more than an error that is not there
    conditions = [form.format(key=child("", key), value=value) for key, value, form in said]
    return next(iter(conditions + ["!error"] * ("jsonrpc" in body)), None)


def says_no(body: Any) -> str | None:
    """What a body of a success says went wrong; None where it says nothing of the kind."""
    pairs = body.items() if isinstance(body, Mapping) else ()
    return next((f"{key} is {value!r}" for key, value in pairs if _verdict(key, value)[0] is False), None)


def _verdict(key: str, value: Any) -> tuple[bool | None, str]:
    """Whether a key says that all is well, None where it says nothing of it; and the condition that all is well."""
    name, kind = snake(key), type(value)
    if name in NAMES["flags"] and kind is bool:
        return value, "{key}"
    if name in NAMES["states"] and kind is str:
        is_known = value.lower() in NAMES["well"] | NAMES["ill"]
        return (value.lower() in NAMES["well"] if is_known else None), "{key} == '{value}'"
    if name in NAMES["codes"] and kind is int:
        return value in {0, 200}, "{key} == `{value}`"
    if name in NAMES["errors"] and kind not in {bool, int, float, list}:
        return not value, "!{key}"
    return None, ""
