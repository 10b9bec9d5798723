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
    are_messages,
    are_objects,
    are_texts,
    below,
    child,
    columns,
    is_of_citations,
    kind_key,
    last_name,
    lists_below,
    raw,
    snake,
    within,
    word_count,
)
from evals.run.probing.passages import Passages, find_model, find_ok, find_passages, find_usage, guess_usage, selected

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


def _near(texts: Sequence[FoundText]) -> list[FoundText]:
    """Those beside the first that may be meant as well: of its kind, where its name settles that."""
    first = texts[0]
    others = [each for each in texts[1:] if each.text != first.text and each.weight >= first.weight * _ANSWERS_NEAR]
    return [other for other in others if other.is_named or not first.is_named]


def _weighed(expression: str, text: str) -> FoundText:
    name = snake(last_name(expression.replace("join('', ", "").rstrip(")")))
    count = min(word_count(text), _MOST_COUNTED)
    named = name in NAMES["answers"] or name.endswith(("_answer", "_response"))
    if count < 2 and (_NO_PROSE.fullmatch(text) or not named):
        return FoundText(expression, text, 0.0, is_named=False)
    factor = 4.0 if named else 0.1 if name in NAMES["no_answers"] else 1.5 if name in NAMES["may_be_answers"] else 1.0
    return FoundText(expression, text, count * factor, is_named=named)


def _texts(value: Any, at: str, question: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at or "@", value
    elif isinstance(value, Mapping) and depth:
        for key, item in value.items():
            yield from _texts(item, child(at, key), question, depth - 1)
    elif are_texts(value) and len(value) == 1:
        yield f"{at}[0]", value[0]
    elif are_objects(value) and depth:
        yield from _of_objects(value, at, question, depth)


def _of_objects(items: list[Mapping[str, Any]], at: str, question: str, depth: int) -> Iterator[tuple[str, str]]:
    """The texts of the last message, of an only object, or of each kind of objects."""
    kind = kind_key(items)
    if are_messages(items, question) or (len(items) == 1 and not are_blocks(items)):
        place = f"{at}[0]" if len(items) == 1 else f"{at}[-1]"
        yield from _texts(items[-1], place, question, depth - 1)
    elif kind is not None:
        yield from _of_kinds(items, kind, at, question, depth)


def _of_kinds(
    items: Sequence[Mapping[str, Any]], kind: str, at: str, question: str, depth: int
) -> Iterator[tuple[str, str]]:
    """The texts of objects that say of what kind they are, of each kind by itself; those of blocks together."""
    names = dict.fromkeys(str(item[kind]) for item in items)
    for name in names:
        alike = [{key: value for key, value in item.items() if key != kind} for item in items if item[kind] == name]
        place = f"{at}[?{kind}=={raw(name)}]"
        if not are_blocks(items):
            if len(names) > 1:
                yield from _texts(alike[0], f"{place} | [0]", question, depth - 1)
            continue
        for key in alike[0]:
            texts = [block.get(key) for block in alike]
            if are_texts(texts):
                yield f"join('', {place}.{child('', key)})", "".join(map(str, texts))


# What an answer cites: by a list beside it, or by marks in its text; and from which number it counts.


_MARK = re.compile(r"([\[【⟦{(<^]{1,2})\s*((?:[A-Za-z]{2,10}[:\s_.#-]?)?\^?)(\d{1,3})(†[^\]】]*)?\s*([\]】⟧})>^]{1,2})")

_DEFAULT = re.compile(CitationSpec().markers)


_CLEARLY = 2
"""So many more words of the answer in the chunks by one base than by the other settle it."""

_WORD = re.compile(r"\w{4,}")


@dataclass(slots=True)
class Citing:
    """What was found.

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
    """What is cited in a body.

    Args:
        body: What was received.
        answer: Its text.
        rows: The chunks that were found.
        taken: Where these stand.
        prefix: Expression that leads to the body.
    """
    found = Citing()
    if not rows or answer is None:
        return found
    _by_list(body, rows, taken, prefix, found)
    if found.expression is None:
        _by_marks(answer, found)
    if found.seen:
        _settle_base(answer, rows, found)
    return found


def _by_list(body: Any, rows: Sequence[Mapping[str, Any]], taken: Sequence[str], prefix: str, found: Citing) -> None:
    for path, items in lists_below(body):
        if items and not _holds(path, taken) and _take_list(path, items, rows, prefix, found):
            return


def _take_list(path: str, items: Sequence[Any], rows: Sequence[Mapping[str, Any]], prefix: str, found: Citing) -> bool:
    """Take a list that names chunks: by their numbers, their ids, or objects that hold these."""
    at = below(prefix, path)
    whole = _whole_numbers(items)
    if whole is not None and max(whole) <= len(rows) and len(set(whole)) == len(whole):
        found.expression, found.seen = at, whole
        found.is_named = is_of_citations(last_name(path))
    elif are_texts(items):
        documents = _known(rows, "document_id") | _known(rows, "document_name")
        if set(items) <= _known(rows, "chunk_id"):
            found.expression = at
        elif is_of_citations(last_name(path)) and set(items) <= documents:
            found.expression = f"{at}[].{{document_id: @}}"
    elif are_objects(items):
        found.expression = _by_ids(items, rows, at)
        if found.expression is None and is_of_citations(last_name(path)):
            found.expression = _by_places(items, len(rows), at, found)
    if found.expression is not None:
        found.given_as = "list"
    return found.expression is not None


def _holds(path: str, taken: Sequence[str]) -> bool:
    """Whether a list is one of those of the chunks, or holds one."""
    return any(each == path or each.startswith((f"{path}[", f"{path}.")) for each in taken)


def _by_ids(items: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], at: str) -> str | None:
    for key in ("chunk_id", "document_id", "document_name"):
        known = _known(rows, key)
        for place, inside, values in _columns_within(items) if known else ():
            if values and set(map(str, values)) <= known:
                name = "document_id" if key == "document_name" else key
                return f"{at}[]{place}.{selected({name: inside})}"
    return None


def _by_places(items: Sequence[Mapping[str, Any]], count: int, at: str, found: Citing) -> str | None:
    for place, inside, values in _columns_within(items):
        whole = _whole_numbers(values)
        if whole is not None and NAMES["places"] & set(snake(last_name(inside)).split("_")) and max(whole) <= count:
            found.seen = whole
            return f"{at}[]{place}.{selected({'index': inside})}"
    return None


def _columns_within(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, list[Any]]]:
    """The leaves of objects, and those of lists of objects in them."""
    listed = {f".{path}[]": inner for path, inner in within(items).items() if are_objects(inner)}
    for place, rows in {"": items, **listed}.items():
        for inside, values in columns(rows).items():
            yield place, inside, [value for value in values if value is not None]


def _known(rows: Sequence[Mapping[str, Any]], key: str) -> set[str]:
    return {str(row[key]) for row in rows if row.get(key) is not None}


def _whole_numbers(items: Sequence[Any]) -> list[int] | None:
    """Numbers of items, also as texts; None where one is none, or there is none."""
    texts = [str(item) for item in items if isinstance(item, str | int) and not isinstance(item, bool)]
    all_whole = len(texts) == len(items) and all(text.isdecimal() and len(text) < 5 for text in texts)
    return [int(text) for text in texts] if texts and all_whole else None


def _by_marks(answer: str, found: Citing) -> None:
    marks = list(_MARK.finditer(answer))
    if not marks:
        return
    opened, prefix, _, tail, closed = marks[0].groups()
    alike = [mark for mark in marks if (mark[1], mark[2], mark[5]) == (opened, prefix, closed)]
    found.seen, found.given_as = [int(mark[3]) for mark in alike], "markers"
    if not all(_DEFAULT.fullmatch(mark[0]) for mark in alike):
        after = r"[^\]】]*" if tail else ""
        found.markers = rf"{re.escape(opened)}\s*{re.escape(prefix)}(\d+){after}\s*{re.escape(closed)}"


def _settle_base(answer: str, rows: Sequence[Mapping[str, Any]], found: Citing) -> None:
    """0 where a 0 is cited, 1 where the number of chunks is; else by which chunks share words with the answer."""
    if 0 in found.seen or max(found.seen) >= len(rows):
        found.base = 0 if 0 in found.seen else 1
        return
    words = set(map(str.lower, _WORD.findall(answer)))
    shared = [len(words & set(map(str.lower, _WORD.findall(str(row.get("text")))))) for row in rows]
    by_base = {base: sum(shared[number - base] for number in found.seen) for base in (1, 0)}
    found.base = max(by_base, key=lambda base: by_base[base])
    found.base_is_sure = by_base[found.base] >= by_base[1 - found.base] + _CLEARLY


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
        return next((each.taken for each in passages if picked in {each.expression, *each.others}), [])
    if not passages:
        return []
    first = passages[0]
    guess.map["chunks"], guess.rows = first.expression, first.rows
    # Other lists, of other texts, may be meant as well.
    rivals = [each for each in passages[1:] if set(each.texts) != set(first.texts)]
    others = (*first.others, *(each.expression for each in rivals if each.weight >= first.weight * _NEAR))
    why = _why_unsure(first, others)
    if why is not None:
        guess.doubts.append(Doubt("map.chunks", first.expression, others, why))
    return first.taken


def _why_unsure(found: Passages, others: Sequence[str]) -> str | None:
    """What makes the chunks a guess; None where nothing does."""
    if others:
        return "other lists or fields are of such texts"
    if found.unsure:
        return f"{', '.join(found.unsure)} by how the values look"
    is_named = snake(last_name(found.at)) in NAMES["passages"]
    return None if is_named or len(found.rows) > 1 else "a list of one item"


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
    first, others = texts[0], tuple(text.expression for text in _near(texts)[:4])
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
    usage = find_usage(body, prefix)
    if usage is None and "usage" not in guess.map:
        usage = guess_usage(body, prefix)
        if usage is not None:
            guess.doubts.append(Doubt("map.usage", usage, (), "one count is the sum of two"))
    model = find_model(body, prefix)
    if usage is not None:
        guess.map.setdefault("usage", usage)
    if model is not None:
        guess.map.setdefault("model", model)
