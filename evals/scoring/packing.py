"""Columns of a run as bytes: a line of JSON with names and tables, then the arrays, little-endian, in a row."""

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evals.scoring.run_columns import GOLD, ResultKind, RunColumns, ScoreColumn
from evals.store.record_index import little_endian

_ARRAYS = ("numbers", "texts", "flags", "clusters", "repeats")

_TEXTS = ("models", "errors")


def pack(columns: RunColumns) -> bytes:
    """The columns as bytes."""
    scores = columns.scores.values()
    arrays = [getattr(columns, name) for name in _ARRAYS]
    arrays += [columns.gold[name] for name in GOLD]
    arrays += [part for score in scores for part in (score.values, score.codes)]
    head = {
        "ids": columns.ids,
        "texts": {name: pack_texts(getattr(columns, name)) for name in _TEXTS},
        "scores": [[score.name, score.table] for score in scores],
        "arrays": [part.typecode for part in arrays],
    }
    return b"".join([json.dumps(head).encode(), b"\n", *(little_endian(part).tobytes() for part in arrays)])


def unpack(data: bytes, ids: Sequence[str] = ()) -> RunColumns:
    """The columns of bytes that `pack` made.

    Args:
        data: The bytes.
        ids: Of all records, where they are held anyway: the columns hold the same strings then, not others like them.
    """
    line = data.index(b"\n") + 1
    head = json.loads(data[:line])
    arrays = _arrays(memoryview(data)[line:], head)
    columns = RunColumns()
    for name in _ARRAYS:
        setattr(columns, name, next(arrays))
    columns.gold = {name: next(arrays) for name in GOLD}
    columns.ids = [ids[number] for number in columns.numbers] if ids else head["ids"]
    for name in _TEXTS:
        setattr(columns, name, unpack_texts(head["texts"][name]))
    for name, table in head["scores"]:
        kinds = [ResultKind(missing, reason, tuple(by), details) for missing, reason, by, details in table]
        columns.scores[name] = ScoreColumn(name, next(arrays), next(arrays), kinds)
    return columns


def pack_texts(texts: Sequence[str | None]) -> list[Any]:
    """A table of texts of which many are the same, and the place of each in it."""
    table = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return [list(table), [table[text] for text in texts]]


def unpack_texts(packed: list[Any]) -> list[Any]:
    """The texts of which `pack_texts` made a table; each is held once."""
    table, places = packed
    return [table[place] for place in places]


def _arrays(data: memoryview, head: Mapping[str, Any]) -> "Iterator[array[Any]]":
    start, count = 0, len(head["ids"])
    for code in head["arrays"]:
        part = array(code)
        end = start + count * part.itemsize
        part.frombytes(data[start:end])
        yield little_endian(part)
        start = end
