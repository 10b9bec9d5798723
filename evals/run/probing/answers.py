"""Which text of a body is the answer."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.run.probing import words
from evals.run.probing.walk import are_blocks, are_messages, are_objects, are_texts, child, kind_key, raw
from evals.run.probing.words import last_name, snake, word_count

_NO_PROSE = re.compile(r"https?://\S+|[\d:.TZ+ -]+|[\w-]*\d[\w-]*|\S*[/\\]\S*")
_MOST_COUNTED = 30
_DEEPEST = 8
_NEAR = 0.4
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
    return snake(last_name(text.expression)) in words.NO_ANSWERS or text.expression in {"message", "msg"}


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
        return [other for other in others if other.is_named and other.weight >= first.weight * _NEAR]
    return [other for other in others if other.weight >= first.weight * _NEAR]


def _is_made_of(text: str, passages: Sequence[str]) -> bool:
    """Whether it is a prompt or context that holds several passages."""
    return sum(passage in text for passage in set(passages)) > 1


def _weighed(expression: str, text: str) -> FoundText:
    name = snake(last_name(expression.replace("join('', ", "").rstrip(")")))
    count = min(word_count(text), _MOST_COUNTED)
    named = name in words.ANSWERS or name.endswith(("_answer", "_response"))
    if count < 2 and (_NO_PROSE.fullmatch(text) or not named):
        return FoundText(expression, text, 0.0, is_named=False)
    factor = 4.0 if named else 0.1 if name in words.NO_ANSWERS else 1.5 if name in words.MAY_BE_ANSWERS else 1.0
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


def _of_objects(items: Sequence[Mapping[str, Any]], at: str, question: str, depth: int) -> Iterator[tuple[str, str]]:
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
