"""A stream mapped by its events."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evals.client.spec import StreamFormat
from evals.client.streams import END, EventReader
from evals.run.probing.fields import below, child, leaves, raw
from evals.run.probing.guess import Citing, Doubt, Guess, find_citing, take_chunks, take_citing, take_sides
from evals.run.probing.passages import find_passages

_JSON_LINES = ("ndjson", "jsonl", "json-lines", "jsonlines", "json-seq")

_KINDS = ("type", "event", "kind", "object", "op")


@dataclass(slots=True)
class Pieces:
    """Pieces of one kind.

    Attributes:
        where: Condition over a piece, as JMESPath; empty where one is not needed.
        data: Of each.
    """

    where: str
    data: list[Any]


def stream_format(content_type: str, raw: str) -> StreamFormat | None:
    """In which format a body came in pieces; None where it is one piece."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/event-stream" or raw.lstrip().startswith(("data:", "event:")):
        return "sse"
    if any(name in kind for name in _JSON_LINES) or _are_json_lines(raw):
        return "ndjson"
    return "text" if kind == "text/plain" else None


def _are_json_lines(raw: str) -> bool:
    lines = [line.strip() for line in raw.splitlines() if line.strip()]
    return len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines)


def guess_stream(raw: str, form: StreamFormat, question: str, chosen: Mapping[str, Any]) -> Guess:
    """Map a stream by its events: the text that comes in many pieces, and what the other pieces hold.

    Args:
        raw: What was received.
        form: How its pieces are separated.
        question: That was asked.
        chosen: By key of the section, what somebody said it is.
    """
    guess = Guess(stream={"format": form} if form != "sse" else {})
    if form == "text":
        guess.answer = raw
        return guess
    events = EventReader(form).feed(raw.encode(), final=True)
    parsed = [{"event": name, "data": _data(data)} for name, data in events if data != END]
    kinds = _kinds(parsed)
    delta = _delta(kinds)
    if delta is not None:
        _take_delta(guess, *delta, kinds)
    others = [kind for kind in kinds if delta is None or kind is not delta[0]]
    _take_others(guess, parsed, others, question, chosen)
    return guess


def _take_others(
    guess: Guess, parsed: Sequence[Any], others: Sequence[Pieces], question: str, chosen: Mapping[str, Any]
) -> None:
    """Take passages, citations and other fields from the pieces that are not the answer's."""
    found = [each for kind in others for each in find_passages(kind.data[-1], question, _at(kind))]
    found.sort(key=lambda each: -each.weight)
    taken = take_chunks(guess, parsed, found, chosen)
    citing = [find_citing(kind.data[-1], guess.answer, guess.rows, taken, _at(kind)) for kind in others] or [Citing()]
    take_citing(guess, next((each for each in citing if each.expression), citing[0]), chosen)
    for kind in others:
        take_sides(guess, kind.data[-1], _at(kind))


def _data(data: str | None) -> Any:
    try:
        return json.loads(data) if data is not None else None
    except ValueError:
        return data


def _kinds(parsed: Sequence[Mapping[str, Any]]) -> list[Pieces]:
    """The pieces by their event, else by the key that says their kind, else by the keys that they have."""
    by_kind: dict[tuple[str, str], Pieces] = {}
    events = {piece["event"] for piece in parsed}
    for piece in parsed:
        condition = _condition(piece, events)
        keys = ",".join(piece["data"]) if isinstance(piece["data"], Mapping) and not condition else ""
        by_kind.setdefault((condition, keys), Pieces(condition, [])).data.append(piece["data"])
    return list(by_kind.values())


def _condition(piece: Mapping[str, Any], events: set[str]) -> str:
    if len(events) > 1:
        return f"event == {raw(piece['event'])}"
    data = piece["data"]
    if isinstance(data, Mapping):
        for key in _KINDS:
            if isinstance(data.get(key), str) and len(data) > 1:
                return f"{child('data', key)} == {raw(data[key])}"
    return ""


def _delta(kinds: Sequence[Pieces]) -> tuple[Pieces, str] | None:
    """The kind and the path of the text: the longest of those that change from piece to piece, else the longest."""
    several: dict[bool, list[tuple[int, Pieces, str]]] = {True: [], False: []}
    for kind in kinds:
        for path, texts in _text_paths(kind.data).items():
            if any(" " in text for text in ["".join(texts), *texts]):
                several[len(set(texts)) > 1].append((len("".join(texts)), kind, path))
    found = several[True] or several[False]
    return max(found, key=lambda each: each[0])[1:] if found else None


def _text_paths(data: Sequence[Any]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for value in data:
        for path, text in _texts(value):
            texts.setdefault(path, []).append(text)
    return texts


def _texts(value: Any) -> list[tuple[str, str]]:
    """Texts of a piece below objects, and below lists of one object, as choices are."""
    found = [(path, text) for path, text in leaves(value) if isinstance(text, str)]
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, list) and len(item) == 1 and isinstance(item[0], Mapping):
                found += [(below(f"{child('', key)}[0]", path), text) for path, text in _texts(item[0])]
    return found


def _take_delta(guess: Guess, kind: Pieces, path: str, kinds: Sequence[Pieces]) -> None:
    texts = _text_paths(kind.data)[path]
    elsewhere = any(path in _text_paths(other.data) for other in kinds if other is not kind)
    place = below("data", path)
    if kind.where and (elsewhere or not path):  # other kinds of pieces have such a text too
        place = f"{kind.where} && {place}"
    guess.stream = {**(guess.stream or {}), "delta": place}
    if len(texts) > 1 and all(later.startswith(earlier) for earlier, later in pairwise(texts)):
        guess.stream["whole"] = True
        guess.answer = texts[-1]
    else:
        guess.answer = "".join(texts)
    if len(texts) == 1:
        guess.doubts.append(Doubt("stream.delta", place, (), "the answer came in one piece"))


def _at(kind: Pieces) -> str:
    """The data of the last piece of a kind, in the list of all pieces."""
    if kind.where:
        return f"[?{kind.where}] | [-1].data"
    keys = next((data for data in kind.data if isinstance(data, Mapping)), {})
    return f"[?{child('data', next(iter(keys)))}] | [-1].data" if keys else "[-1].data"
