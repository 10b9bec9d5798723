"""A body that no profile fits, mapped by its shape: `guess_body`."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.client.mapping import MappingError, find
from evals.client.spec import CitationSpec
from evals.run.probing import fields
from evals.run.probing.fields import (
    PASSAGES,
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
    names_in,
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

_WORDS_OF_A_PASSAGE = 4


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


def find_answers(body: Any, question: str, passages: Sequence[str], at: str = "", taken: str = "") -> list[FoundText]:
    """Everything that may be the answer, the likeliest first.

    Args:
        body: What was received.
        question: What was asked; its echo is no answer.
        passages: Texts of chunks, which are none either, nor is a prompt made of them.
        at: Expression that leads to the body.
        taken: Where the chunks stand; below it is no answer.
    """
    texts = [_weighed(expression, text) for expression, text in _texts(body, at, question, _DEEPEST)]
    prose = [each for each in texts if each.weight > 0 and each.text.strip() != question.strip()]
    own = [each for each in prose if not (_is_made_of(each.text, passages) or _is_passage(each, passages, taken))]
    return sorted(own, key=lambda each: -each.weight)


def _is_passage(found: FoundText, passages: Sequence[str], taken: str) -> bool:
    """Whether it is one of the passages; an answer may be what a passage says, but it stands elsewhere."""
    return bool(taken) and found.text in passages and found.expression.startswith(taken)


def is_none(text: FoundText) -> bool:
    """Whether its key is called as texts are that are no answers."""
    return snake(last_name(text.expression)) in fields.NO_ANSWERS or text.expression in {"message", "msg"}


def holds_objects(text: str) -> bool:
    """Whether lines of it are objects of JSON with a text in them, as passages in a prompt often are."""
    return any(_is_object_with_text(line.strip()) for line in text.splitlines())


def _is_object_with_text(line: str) -> bool:
    if not (line.startswith("{") and line.endswith("}")):
        return False
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and any(
        isinstance(value, str) and word_count(value) >= _WORDS_OF_A_PASSAGE for value in found.values()
    )


def near(texts: Sequence[FoundText]) -> list[FoundText]:
    """Those beside the first that may be meant as well; none where the name of the first settles it."""
    if not texts:
        return []
    first, *others = [texts[0], *(each for each in texts[1:] if each.text != texts[0].text)]
    if first.is_named:
        return [other for other in others if other.is_named and other.weight >= first.weight * _ANSWERS_NEAR]
    return [other for other in others if other.weight >= first.weight * _ANSWERS_NEAR]


def _is_made_of(text: str, passages: Sequence[str]) -> bool:
    """Whether it is a prompt or context that holds several passages."""
    return sum(passage in text for passage in set(passages)) > 1


def _weighed(expression: str, text: str) -> FoundText:
    name = snake(last_name(expression.replace("join('', ", "").rstrip(")")))
    count = min(word_count(text), _MOST_COUNTED)
    named = name in fields.ANSWERS or name.endswith(("_answer", "_response"))
    if count < 2 and (_NO_PROSE.fullmatch(text) or not named):
        return FoundText(expression, text, 0.0, is_named=False)
    factor = 4.0 if named else 0.1 if name in fields.NO_ANSWERS else 1.5 if name in fields.MAY_BE_ANSWERS else 1.0
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
        yield from _of_objects_answers(value, at, question, depth)


def _of_objects_answers(
    items: Sequence[Mapping[str, Any]], at: str, question: str, depth: int
) -> Iterator[tuple[str, str]]:
    if are_messages(items, question) or (len(items) == 1 and not are_blocks(items)):
        place = f"{at}[0]" if len(items) == 1 else f"{at}[-1]"
        yield from _texts(items[-1], place, question, depth - 1)
        return
    kind = kind_key(items)
    if kind is not None:
        yield from _of_kinds(items, kind, at, question, depth)


def _of_kinds(
    items: Sequence[Mapping[str, Any]], kind: str, at: str, question: str, depth: int
) -> Iterator[tuple[str, str]]:
    """The texts of objects that say of what kind they are, of each kind by itself."""
    names = dict.fromkeys(str(item[kind]) for item in items)
    for name in names:
        alike, place = [item for item in items if item[kind] == name], f"{at}[?{kind}=={raw(name)}]"
        if are_blocks(items):
            yield from _joined(alike, place, kind)
        elif len(names) > 1:
            yield from _texts(_without(alike[0], kind), f"{place} | [0]", question, depth - 1)


def _without(item: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != kind}


def _joined(blocks: Sequence[Mapping[str, Any]], place: str, kind: str) -> Iterator[tuple[str, str]]:
    """The texts of typed blocks of one kind, together."""
    for key in set(blocks[0]) - {kind}:
        texts = [block.get(key) for block in blocks]
        if are_texts(texts):
            yield f"join('', {place}.{child('', key)})", "".join(map(str, texts))


# What an answer cites: by a list beside it, or by marks in its text; and from which number it counts.


_MARK = re.compile(r"([\[【⟦{(<^]{1,2})\s*((?:[A-Za-z]{2,10}[:\s_.#-]?)?\^?)(\d{1,3})(†[^\]】]*)?\s*([\]】⟧})>^]{1,2})")

_DEFAULT = re.compile(CitationSpec().markers)


_CLEARLY = 2
"""So many more words of the answer in the chunks by one base than by the other settle it."""

_PLACES = names_in("index number position place n ref rank")

_WORD = re.compile(r"\w{4,}")


@dataclass(slots=True)
class Citing:
    """What was found.

    Attributes:
        expression: For `map.citations`; None without a list.
        references: For `map.references`; None where marks stand for places.
        markers: Pattern of a mark; None for the usual one, or none.
        given_as: `list`, `markers`, or `auto` where nothing was seen.
        base: The number of the first chunk.
        base_is_sure: Whether the numbers allow of no other base.
        is_named: Whether the list is called as lists of citations are.
        seen: The numbers that are cited.
    """

    expression: str | None = None
    references: str | None = None
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
        if found.given_as == "markers":
            _stand_for(body, taken, prefix, found)
    if found.seen and found.references is None:
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
    elif all(isinstance(item, str) for item in items):
        found.expression = _of_texts(set(items), rows, at, path)
    elif are_objects(items):
        found.expression = _of_objects(items, rows, at, path, found)
    if found.expression is not None:
        found.given_as = "list"
    return found.expression is not None


def _of_texts(items: set[str], rows: Sequence[Mapping[str, Any]], at: str, path: str) -> str | None:
    """The expression of texts that are ids of chunks; or names of documents, where the list is called so."""
    if items <= _known(rows, "chunk_id"):
        return at
    documents = _known(rows, "document_id") | _known(rows, "document_name")
    return f"{at}[].{{document_id: @}}" if is_of_citations(last_name(path)) and items <= documents else None


def _holds(path: str, taken: Sequence[str]) -> bool:
    """Whether a list is one of those of the chunks, or holds one."""
    return any(each == path or each.startswith((f"{path}[", f"{path}.")) for each in taken)


def _of_objects(
    items: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], at: str, path: str, found: Citing
) -> str | None:
    """The expression of objects that name what is cited: by ids that the chunks have, or by their places."""
    named = _by_ids(items, rows, at)
    if named is not None or not is_of_citations(last_name(path)):
        return named
    return _by_places(items, len(rows), at, found)


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
        if whole is not None and _PLACES & set(snake(last_name(inside)).split("_")) and max(whole) <= count:
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


def _stand_for(body: Any, taken: Sequence[str], prefix: str, found: Citing) -> None:
    """A list beside the chunks, whose items bear the numbers of the marks and name a source."""
    for path, items in lists_below(body):
        named = _numbered_files(items, found.seen) if are_objects(items) and not _holds(path, taken) else None
        if named is not None:
            found.references = f"{below(prefix, path)}[].{named}"
            return


def _numbered_files(items: Sequence[Mapping[str, Any]], seen: Sequence[int]) -> str | None:
    given, cited = columns(items), set(map(str, seen))
    labels = [name for name, values in given.items() if cited <= set(map(str, values))]
    files = [name for name in given if name not in labels and snake(last_name(name)).endswith(("path", "name", "file"))]
    return f"{{index: {labels[0]}, document_id: {files[0]}}}" if labels and files else None


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
    texts = find_answers(
        body, question, [row["text"] for row in guess.rows if row.get("text")], taken=taken[0] if taken else ""
    )
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
        guess.rows = _rows(picked, body)
        return next((each.taken for each in passages if picked in {each.expression, *each.others}), [])
    if not passages:
        return []
    first = passages[0]
    guess.map["chunks"], guess.rows = first.expression, first.rows
    others = (*first.others, *_rivals(passages))
    why = _why_unsure(first, others)
    if why is not None:
        guess.doubts.append(Doubt("map.chunks", first.expression, others, why))
    return first.taken


def _rivals(passages: Sequence[Passages]) -> list[str]:
    """Other lists, of other texts, that may be meant as well."""
    first = passages[0]
    others = [each for each in passages[1:] if set(each.texts) != set(first.texts)]
    return [each.expression for each in others if each.weight >= first.weight * _NEAR or each.at == first.at]


def _why_unsure(found: Passages, others: Sequence[str]) -> str | None:
    """What makes the chunks a guess; None where nothing does."""
    if others:
        return "other lists or fields are of such texts"
    if found.unsure:
        return f"{', '.join(found.unsure)} by how the values look"
    is_named = snake(last_name(found.at)) in PASSAGES
    return None if is_named or len(found.rows) > 1 else "a list of one item"


def _rows(expression: str, body: Any) -> list[dict[str, Any]]:
    try:
        found = find(expression, body)
    except MappingError:
        return []
    return [row if isinstance(row, dict) else {"text": row} for row in found or ()] if isinstance(found, list) else []


def take_answer(guess: Guess, body: Any, texts: Sequence[FoundText], chosen: Mapping[str, Any]) -> None:
    """Take the likeliest text, or the one that was chosen."""
    picked = chosen.get("map.answer")
    if picked:
        found = find(picked, body)
        guess.map["answer"], guess.answer = picked, found if isinstance(found, str) else None
    elif guess.rows and texts and is_none(texts[0]):
        why = "no text is called as answers are: it only retrieves"
        guess.doubts.append(Doubt("map.answer", "", _expressions(texts), why))
    elif texts:
        guess.map["answer"], guess.answer = texts[0].expression, texts[0].text
        guess.doubts += _doubts_of_answer(texts)


def _doubts_of_answer(texts: Sequence[FoundText]) -> list[Doubt]:
    first, others = texts[0], near(texts)
    if others:
        return [Doubt("map.answer", first.expression, _expressions(others), "other texts are as long")]
    if holds_objects(first.text):
        why = "it holds objects of JSON, as a context for a model does: it may be no answer"
        return [Doubt("map.answer", first.expression, (), why)]
    is_clear = first.is_named or len(texts) == 1
    return [] if is_clear else [Doubt("map.answer", first.expression, (), "the longest text")]


def _expressions(texts: Sequence[FoundText]) -> tuple[str, ...]:
    return tuple(text.expression for text in texts[:4])


def take_citing(guess: Guess, citing: Citing, chosen: Mapping[str, Any]) -> None:
    """Take what is cited."""
    if citing.expression is not None:
        guess.map["citations"] = citing.expression
        if not citing.is_named:
            guess.doubts.append(Doubt("map.citations", citing.expression, (), "a list of numbers of chunks"))
    if citing.references is not None:
        guess.map["references"] = citing.references
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
