"""Columns of a run as bytes: a line of JSON with names and tables, then the arrays, little-endian, in a row."""

import json
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evals.scoring.digest.columns import ResultKind, ScoreColumn
from evals.scoring.digest.run_columns import GOLD, Labels, RunColumns

_LABELS = ("clusters", "models", "errors")


def pack(columns: RunColumns) -> bytes:
    """The columns as bytes."""
    scores = list(columns.scores.values())
    arrays = [
        columns.numbers,
        columns.texts,
        *(columns.gold[name] for name in GOLD),
        array("B", columns.flags),
        *(getattr(columns, name).places for name in _LABELS),
        *(part for score in scores for part in (score.values, score.kinds)),
    ]
    head = {
        "ids": columns.ids,
        "labels": {name: getattr(columns, name).table for name in _LABELS},
        "scores": [{"name": score.name, "kinds": [_plain(kind) for kind in score.table]} for score in scores],
        "arrays": [part.typecode for part in arrays],
    }
    return b"".join([json.dumps(head).encode(), b"\n", *map(_little, arrays)])


def unpack(data: bytes, ids: Sequence[str] = ()) -> RunColumns:
    """The columns of bytes that `pack` made.

    Args:
        data: The bytes.
        ids: Of all records, where they are held anyway: the columns hold the same strings then, not others like them.
    """
    line = data.index(b"\n") + 1
    head = json.loads(data[:line])
    arrays = _arrays(memoryview(data)[line:], head)
    columns = RunColumns(head["ids"], next(arrays), next(arrays), {name: next(arrays) for name in GOLD})
    if ids:
        columns.ids = [ids[number] for number in columns.numbers]
    columns.flags = bytearray(next(arrays).tobytes())
    columns.clusters, columns.models, columns.errors = (Labels(next(arrays), head["labels"][name]) for name in _LABELS)
    for score in head["scores"]:
        values, kinds = next(arrays), next(arrays)
        columns.scores[score["name"]] = ScoreColumn(
            score["name"], values, kinds, [_kind(one) for one in score["kinds"]]
        )
    return columns


def _arrays(data: memoryview, head: Mapping[str, Any]) -> "Iterator[array[Any]]":
    start, count = 0, len(head["ids"])
    for code in head["arrays"]:
        part = array(code)
        end = start + count * part.itemsize
        part.frombytes(data[start:end])
        if sys.byteorder != "little":
            part.byteswap()
        yield part
        start = end


def _little(part: "array[Any]") -> bytes:
    if sys.byteorder == "little":
        return part.tobytes()
    swapped = array(part.typecode, part)
    swapped.byteswap()
    return swapped.tobytes()


def _plain(kind: ResultKind) -> list[Any]:
    return [kind.missing, kind.reason, kind.judged_by, dict(kind.details)]


def _kind(plain: list[Any]) -> ResultKind:
    missing, reason, judged_by, details = plain
    return ResultKind(missing, reason, tuple(judged_by), details)
