"""A body that no profile fits, mapped by its shape: `guess_body`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.client.mapping import find, find_or_none
from evals.client.spec import CitationSpec
from evals.run.probing.fields import (
    NAMES,
    are_blocks,
    are_objects,
    are_texts,
    below,
    child,
    columns,
    is_of_citations,
    kind_key,
    last_name,
    lists_below,
    place_of_one,
    raw,
    snake,
    word_count,
)
from evals.run.probing.passages import Passages, find_model, find_ok, find_passages, find_usage, selected

# Which text of a body is the answer.


_NO_PROSE = re.compile(r"https?://\S+|[\d:.TZ+ -]+|[\w-]*\d[\w-]*|\S*[/\\]\S*")

_MOST_COUNTED = 30

_DEEPEST = 8

_ANSWERS_NEAR = 0.4

_OBJECT_WITH_TEXT = re.compile(r'^\s*\{.*"[^"]*(\s+[^"\s]+){3}[^"]*".*\}\s*$', re.MULTILINE)
"""A line of JSON with a text of some words, as passages in a prompt often are."""


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text that may be the answer.

    Attributes:
        expression: For `map.answer`.
        text: What it finds.
        weight: How much speaks for it.
        is_named: Whether its key is called as answers are.
    """

    expression: str
    text: str
    weight: float
    is_named: bool


def find_answers(body: Any, question: str, passages: Sequence[str]) -> list[FoundText]:
    """Everything that may be the answer, the likeliest first.

    Args:
        body: What was received.
        question: What was asked; its echo is no answer.
        passages: Texts of chunks; a prompt made of several of them is none either.
    """
    texts = [_weighed(expression, text) for expression, text in _texts(body, "", question, _DEEPEST)]
    prose = [each for each in texts if each.weight > 0 and each.text.strip() != question.strip()]
    own = [each for each in prose if sum(passage in each.text for passage in set(passages)) < 2]
    return sorted(own, key=lambda each: -each.weight)


def _weighed(expression: str, text: str) -> FoundText:
    name = snake(last_name(expression.replace("join('', ", "").rstrip(")")))
    count = min(word_count(text), _MOST_COUNTED)
    named = name in NAMES["answers"] or name.endswith(("_answer", "_response"))
    if count < 2 and (_NO_PROSE.fullmatch(text) or not named):
        return FoundText(expression, text, 0.0, is_named=False)
    factor = 4.0 if named else 0.1 if name in NAMES["no_answers"] else 1.5 if name in NAMES["may_be_answers"] else 1.0
    return FoundText(expression, text, count * factor, is_named=named)


def _texts(value: Any, at: str, question: str, depth: int) -> Iterator[tuple[str, str]]:
    """Texts below objects, in lists of one, in the last message, and of each kind of objects."""
    if isinstance(value, str):
        yield at or "@", value
    elif isinstance(value, Mapping) and depth:
        for key, item in value.items():
            yield from _texts(item, child(at, key), question, depth - 1)
    elif are_texts(value) and len(value) == 1:
        yield f"{at}[0]", value[0]
    elif are_objects(value) and depth:
        yield from _of_objects(value, at, question, depth)


def _of_objects(items: Sequence[Mapping[str, Any]], at: str, question: str, depth: int) -> Iterator[tuple[str, str]]:
    place = place_of_one(items, question)
    if place is None or (place == "[0]" and are_blocks(items)):
        yield from _of_kinds(items, at, question, depth)
    else:
        yield from _texts(items[-1], f"{at}{place}", question, depth - 1)


def _of_kinds(items: Sequence[Mapping[str, Any]], at: str, question: str, depth: int) -> Iterator[tuple[str, str]]:
    """The texts of the first object of each kind; of typed parts of one text those of all, joined."""
    kind, joins = kind_key(items) or "", are_blocks(items)
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for item in items if kind else ():
        by_kind.setdefault(str(item[kind]), []).append(item)
    for name, alike in by_kind.items():
        place = f"{at}[?{kind}=={raw(name)}]"
        if joins:
            yield from _joined(alike, kind, place)
        elif len(by_kind) > 1:
            first = {key: value for key, value in alike[0].items() if key != kind}
            yield from _texts(first, f"{place} | [0]", question, depth - 1)


def _joined(blocks: Sequence[Mapping[str, Any]], kind: str, place: str) -> Iterator[tuple[str, str]]:
    for key in blocks[0]:
        texts = [block.get(key) for block in blocks]
        if key != kind and are_texts(texts):
            yield f"join('', {place}.{child('', key)})", "".join(map(str, texts))


# What an answer cites: by a list beside it, or by marks in its text; and from which number it counts.


_MARK = re.compile(r"([\[【⟦{(<^]{1,2})\s*((?:[A-Za-z]{2,10}[:\s_.#-]?)?\^?)(\d{1,3})(†[^\]】]*)?\s*([\]】⟧})>^]{1,2})")

_DEFAULT = re.compile(CitationSpec().markers)


_CLEARLY = 2
"""This many more words of the answer in the chunks by one base than by the other settle it."""

_WORD = re.compile(r"\w{4,}")


@dataclass(slots=True)
class Citing:
    """How an answer cites.

    Attributes:
        expression: For `map.citations`; None without a list.
        markers: Pattern of a mark; None for the usual one, or none.
        given_as: `list`, `markers`, or `auto` where nothing was seen.
        base: The number of the first chunk.
        base_is_sure: Whether the numbers allow of no other base.
        is_named: Whether the list is called as lists of citations are.
        seen: The numbers that are cited.
    """

    expression: str | None = None
    markers: str | None = None
    given_as: str = "auto"
    base: int = 1
    base_is_sure: bool = True
    is_named: bool = True
    seen: list[int] = field(default_factory=list)


def find_citing(
    body: Any, answer: str | None, rows: Sequence[Mapping[str, Any]], taken: Sequence[str], prefix: str = ""
) -> Citing:
    """How a body cites the chunks that were found in it.

    Args:
        body: What was received.
        answer: Its text.
        rows: The chunks that were found.
        taken: Where these stand.
        prefix: Expression that leads to the body.
    """
    if not rows or answer is None:
        return Citing()
    lists = [(path, items) for path, items in lists_below(body) if items and not _holds(path, taken)]
    found = next(filter(None, (_cited_by(path, items, rows, prefix) for path, items in lists)), None)
    found = found or _cited_by_marks(answer)
    if found.seen:
        _settle_base(answer, rows, found)
    return found


def _holds(path: str, taken: Sequence[str]) -> bool:
    """Whether a list is one of those of the chunks, or holds one."""
    return any(each == path or each.startswith((f"{path}[", f"{path}.")) for each in taken)


def _cited_by(path: str, items: Sequence[Any], rows: Sequence[Mapping[str, Any]], prefix: str) -> Citing | None:
    """A list that names chunks by their ids, documents or numbers, which are its items or fields of these."""
    at, is_named = below(prefix, path), is_of_citations(last_name(path))
    fields = columns(items) if are_objects(items) else {"@": items}
    key, name = _named_source(fields, rows)
    if key and (name != "@" or is_named or key == "chunk_id"):
        cited = "" if (key, name) == ("chunk_id", "@") else f"[].{selected({_KEYS_OF_SOURCES[key]: name})}"
        return Citing(f"{at}{cited}", given_as="list")
    numbered = (_numbered(at, name, _numbers_of(values, len(rows)), is_named) for name, values in fields.items())
    return next(filter(None, numbered), None)


def _named_source(fields: Mapping[str, Sequence[Any]], rows: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """By which key of the chunks a field of a list names some of them, and that field; two empty texts for none."""
    for key in _KEYS_OF_SOURCES:
        known = {str(row[key]) for row in rows if row.get(key) is not None}
        for name, values in fields.items():
            if set(map(str, values)) <= known:
                return key, name
    return "", ""


def _numbered(at: str, name: str, seen: list[int], is_named: bool) -> Citing | None:
    """A list of numbers of chunks, each once; or numbers within a list of citations, called as places are."""
    if name == "@":
        is_list = len(set(seen)) == len(seen) > 0
        return Citing(at, given_as="list", is_named=is_named, seen=seen) if is_list else None
    is_place = is_named and not NAMES["places"].isdisjoint(snake(last_name(name)).split("_"))
    return Citing(f"{at}[].{selected({'index': name})}", given_as="list", seen=seen) if seen and is_place else None


_KEYS_OF_SOURCES = {"chunk_id": "chunk_id", "document_id": "document_id", "document_name": "document_id"}
"""By what a chunk can be cited, and the key of the citation."""


def _numbers_of(items: Sequence[Any], most: int) -> list[int]:
    """Numbers of chunks, also as texts; none where one is no number, or beyond the last."""
    texts = [str(item) for item in items if isinstance(item, str | int) and not isinstance(item, bool)]
    all_whole = len(texts) == len(items) and all(text.isdecimal() and int(text) <= most for text in texts)
    return [int(text) for text in texts] if all_whole else []


def _cited_by_marks(answer: str) -> Citing:
    """The marks in an answer that are built as the first one is."""
    marks = list(_MARK.finditer(answer))
    alike = [mark for mark in marks if mark.group(1, 2, 5) == marks[0].group(1, 2, 5)]
    found = Citing(given_as="markers" if alike else "auto", seen=[int(mark[3]) for mark in alike])
    if not all(_DEFAULT.fullmatch(mark[0]) for mark in alike):
        opened, before, _, tail, closed = alike[0].groups()
        after = r"[^\]】]*" if tail else ""
        found.markers = rf"{re.escape(opened)}\s*{re.escape(before)}(\d+){after}\s*{re.escape(closed)}"
    return found


def _settle_base(answer: str, rows: Sequence[Mapping[str, Any]], found: Citing) -> None:
    """0 where a 0 is cited, 1 where the number of chunks is; else by which chunks share words with the answer."""
    if 0 in found.seen or max(found.seen) >= len(rows):
        found.base = 0 if 0 in found.seen else 1
        return
    words = set(map(str.lower, _WORD.findall(answer)))
    shared = [len(words & set(map(str.lower, _WORD.findall(str(row.get("text")))))) for row in rows]
    from_1, from_0 = (sum(shared[number - base] for number in found.seen) for base in (1, 0))
    found.base = 1 if from_1 >= from_0 else 0
    found.base_is_sure = abs(from_1 - from_0) >= _CLEARLY


_NEAR = 0.35


@dataclass(frozen=True, slots=True)
class Doubt:
    """A part that may be meant otherwise.

    Attributes:
        key: Of the section, such as `map.answer`.
        chosen: What is written.
        others: What it may be instead.
        why: What makes it a guess.
    """

    key: str
    chosen: str
    others: tuple[str, ...]
    why: str


@dataclass(slots=True)
class Guess:
    """A mapping.

    Attributes:
        answer: The text that was found; None of a server that only retrieves.
        rows: The chunks that were found.
        keys: Those of `server:` that say how a body is read: `map`, `citations`, and `ok_when`, which belongs to `ask`.
        doubts: What is a guess.
    """

    answer: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    map: dict[str, str] = field(default_factory=dict)
    citations: dict[str, Any] = field(default_factory=dict)
    ok_when: str | None = None
    stream: dict[str, Any] | None = None
    doubts: list[Doubt] = field(default_factory=list)


def guess_body(body: Any, question: str, chosen: Mapping[str, Any] | None = None) -> Guess:
    """Map a body by its shape.

    Args:
        body: JSON that answers a question.
        question: That was asked.
        chosen: By key of the section, what somebody said it is.
    """
    chosen, guess = chosen or {}, Guess()
    passages = find_passages(body, question)
    taken = take_chunks(guess, body, passages, chosen)
    texts = find_answers(body, question, [row["text"] for row in guess.rows if row.get("text")])
    take_answer(guess, body, texts, chosen)
    take_citing(guess, find_citing(body, guess.answer, guess.rows, taken), chosen)
    take_sides(guess, body)
    guess.ok_when = find_ok(body)
    if guess.ok_when and "==" in guess.ok_when and "'" in guess.ok_when:
        guess.doubts.append(Doubt("ask.ok_when", guess.ok_when, (), "what it says where it fails was not seen"))
    return guess


def take_chunks(guess: Guess, body: Any, passages: Sequence[Passages], chosen: Mapping[str, Any]) -> list[str]:
    """Take the likeliest list of passages, or the one that was chosen; returns where it stands."""
    picked = chosen.get("map.chunks")
    if picked is not None:
        guess.map["chunks"] = picked
        guess.rows = [row if isinstance(row, dict) else {"text": row} for row in find_or_none(picked, body) or ()]
        return next((each.taken for each in passages if picked == each.expression), [])
    if not passages:
        return []
    first = passages[0]
    guess.map["chunks"], guess.rows = first.expression, first.rows
    guess.doubts += _doubts_of_chunks(first, passages[1:])
    return first.taken


def _doubts_of_chunks(found: Passages, below: Sequence[Passages]) -> list[Doubt]:
    """What makes the chunks a guess; other lists, of other texts, may be meant as well."""
    rivals = [each for each in below if each.weight >= found.weight * _NEAR and set(each.texts) != set(found.texts)]
    others = tuple(each.expression for each in rivals)
    is_named = snake(last_name(found.at)) in NAMES["passages"]
    if others:
        why = "other lists are of such texts"
    elif found.unsure:
        why = f"{', '.join(found.unsure)} by how the values look"
    elif not is_named and len(found.rows) == 1:
        why = "a list of one item"
    else:
        return []
    return [Doubt("map.chunks", found.expression, others, why)]


def take_answer(guess: Guess, body: Any, texts: Sequence[FoundText], chosen: Mapping[str, Any]) -> None:
    """Take the likeliest text, or the one that was chosen."""
    picked = chosen.get("map.answer")
    if picked:
        found = find(picked, body)
        guess.map["answer"], guess.answer = picked, found if isinstance(found, str) else None
    elif guess.rows and texts and snake(last_name(texts[0].expression)) in NAMES["no_answers"] | {"message", "msg"}:
        others = tuple(text.expression for text in texts[:4])
        guess.doubts.append(Doubt("map.answer", "", others, "no text is called as answers are: it only retrieves"))
    elif texts:
        guess.map["answer"], guess.answer = texts[0].expression, texts[0].text
        guess.doubts += _doubts_of_answer(texts)


def _doubts_of_answer(texts: Sequence[FoundText]) -> list[Doubt]:
    """What makes the first text a guess: others are as long, and called as answers are where it is."""
    first, least = texts[0], (texts[0].weight * _ANSWERS_NEAR, texts[0].is_named)
    near = [each for each in texts[1:] if each.weight >= least[0] and each.is_named >= least[1]]
    others = tuple(each.expression for each in near if each.text != first.text)[:4]
    if others:
        why = "other texts are as long"
    elif _OBJECT_WITH_TEXT.search(first.text):
        why = "it holds objects of JSON, as a context for a model does: it may be no answer"
    elif not first.is_named and len(texts) > 1:
        why = "the longest text"
    else:
        return []
    return [Doubt("map.answer", first.expression, others, why)]


def take_citing(guess: Guess, citing: Citing, chosen: Mapping[str, Any]) -> None:
    """Take what is cited."""
    if citing.expression is not None:
        guess.map["citations"] = citing.expression
        if not citing.is_named:
            guess.doubts.append(Doubt("map.citations", citing.expression, (), "a list of numbers of chunks"))
    base = chosen.get("citations.base", citing.base)
    if citing.given_as != "auto":
        guess.citations["given_as"] = citing.given_as
    if citing.markers is not None:
        guess.citations["markers"] = citing.markers
    if base != 1:
        guess.citations["base"] = base
    if not citing.base_is_sure and "citations.base" not in chosen:
        why = "the numbers cited allow of both; these chunks share more words with the answer"
        guess.doubts.append(Doubt("citations.base", str(base), (str(1 - base),), why))


def take_sides(guess: Guess, body: Any, prefix: str = "") -> None:
    """Take token counts and the model, unless they were found already."""
    for key, found in (("usage", find_usage(body, prefix)), ("model", find_model(body, prefix))):
        if found is not None:
            guess.map.setdefault(key, found)
