"""Which fields of a list of objects are the text, the id, the document and the score of a chunk."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from evals.run.probing import words
from evals.run.probing.words import last_name, snake, word_count

_FILE = re.compile(r"\S+\.[A-Za-z]{2,5}|https?://\S+")
_LEAST_WORDS = 3
_MOST_WORDS_OF_A_NAME = 3
_SEVERAL = 2
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
            weights[path] = mean * (2 if name in words.TEXTS else 0.4 if name in words.NO_TEXTS else 1)
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
    return next((path for path, values in columns.items() if _are_sections(path, values)), None)


def _are_sections(path: str, values: Sequence[Any]) -> bool:
    texts = all(value is None or isinstance(value, str) for value in values)
    return texts and snake(last_name(path)) in words.SECTIONS


def _are_labels(values: Sequence[Any]) -> bool:
    """Whether they are short and there for each item: texts of few words, or whole numbers."""
    return all(
        (isinstance(value, str) and value and word_count(value) <= 8)
        or (isinstance(value, int) and not isinstance(value, bool))
        for value in values
    )


def _name_document(short: ColumnValues, found: Fields) -> None:
    texts = {path: values for path, values in short.items() if _are_texts(values)}
    by_name = {snake(last_name(path)): path for path in reversed(texts)}
    named, ids = _named(by_name, words.DOCUMENT_NAMES), _named(by_name, words.DOCUMENT_IDS)
    document = _document(texts, named)
    if document is not None:
        found.paths["document_name"] = document
        found.unsure += [] if document in {*named, *ids} else ["document_name"]
    if ids and ids[0] != document:
        found.paths["document_id"] = ids[0]
    if document is None and not ids:
        _name_inner_document(texts, found)


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _document(texts: ColumnValues, named: Sequence[str]) -> str | None:
    """The field that names the document: one that is called so and holds files, one that holds files, one called so."""
    files = [path for path, values in texts.items() if all(map(_FILE.fullmatch, values))]
    return next(iter([*(path for path in named if path in files), *files, *named]), None)


def _named(by_name: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [by_name[name] for name in names if name in by_name]


def _name_inner_document(texts: ColumnValues, found: Fields) -> None:
    """A label that stands within another one, as a file does in `guide#3`, is the document; so is one that repeats."""
    for path, values in texts.items():
        is_short = all(word_count(value) <= _MOST_WORDS_OF_A_NAME for value in values)
        if is_short and snake(last_name(path)) not in words.CHUNK_IDS and _is_of_several(path, texts):
            found.paths["document_name"] = path
            found.unsure.append("document_name")
            return


def _is_of_several(path: str, texts: ColumnValues) -> bool:
    values = texts[path]
    others = [others for other, others in texts.items() if other != path]
    inside = any(all(map(_is_within, values, longer)) for longer in others)
    return inside or 1 < len(set(values)) < len(values)


def _is_within(part: str, whole: str) -> bool:
    return part != whole and part in whole


def _name_chunk_id(short: ColumnValues, found: Fields) -> None:
    """A label that differs from item to item: one that is called an id, else one that looks like one."""
    distinct = {path: values for path, values in short.items() if len(set(values)) == len(values)}
    ids = _called_ids(distinct)
    if ids:
        found.paths["chunk_id"] = min(ids, key=lambda path: path.count("."))
        return
    odd = (path for path, values in distinct.items() if _look_like_ids(values))
    first = next((path for path in odd if not _is_of_other(snake(last_name(path)))), None)
    if first is not None:
        found.paths["chunk_id"] = first
        found.unsure.append("chunk_id")


def _called_ids(paths: Iterable[str]) -> list[str]:
    named = {path: snake(last_name(path)) for path in paths}
    ids = [path for path, name in named.items() if name in words.CHUNK_IDS]
    return ids or [path for path, name in named.items() if name.endswith("_id") and not _is_of_other(name)]


def _is_of_other(name: str) -> bool:
    """Whether a key is called as labels of documents and places are."""
    return name in words.DOCUMENT_IDS or name in words.NO_CHUNK_IDS or "document" in name


def _look_like_ids(values: Sequence[Any]) -> bool:
    if len(values) < _SEVERAL:
        return False
    return all(isinstance(value, str) and word_count(value) == 1 and not value.isdecimal() for value in values)


def _score(columns: ColumnValues) -> str | None:
    """A field of numbers: one that is called so, else the only fractions that rise or fall from item to item."""
    numbers = {path: values for path, values in columns.items() if _are_numbers(values)}
    named = [path for path in numbers if snake(last_name(path)) in words.SCORES]
    if named:
        return min(named, key=lambda path: path.count("."))
    falling = [path for path, values in numbers.items() if len(values) > 1 and are_in_order(values)]
    return falling[0] if len(falling) == 1 else None


def _are_numbers(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def are_in_order(values: Sequence[Any]) -> bool:
    """Whether they are fractions that never rise, or never fall."""
    if not any(isinstance(value, float) for value in values):
        return False
    return all(a >= b for a, b in pairwise(values)) or all(a <= b for a, b in pairwise(values))
