"""Which text of a body is the answer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.run.probing import words
from evals.run.probing.walk import are_blocks, are_messages, are_objects, child, kind_key
from evals.run.probing.words import last_name, snake, word_count

_NO_PROSE = re.compile(r"https?://\S+|[\d:.TZ+ -]+|[\w-]*\d[\w-]*|\S*[/\\]\S*")
_MOST_COUNTED = 30
_DEEPEST = 8
_NEAR = 0.4


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
        if value.strip():
            yield at or "@", value
    elif isinstance(value, Mapping) and depth:
        for key, item in value.items():
            yield from _texts(item, child(at, key), question, depth - 1)
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        yield f"{at}[0]", value[0]
    elif isinstance(value, list) and are_objects(value) and depth:
        yield from _of_objects(value, at, question, depth)


def _of_objects(items: Sequence[Mapping[str, Any]], at: str, question: str, depth: int) -> Iterator[tuple[str, str]]:
    kind = kind_key(items)
    if are_blocks(items) and kind is not None and not are_messages(items, question):
        yield from _joined(items, at, kind)
    elif are_messages(items, question):
        place = f"{at}[0]" if len(items) == 1 else f"{at}[-1]"
        yield from _texts(items[-1], place, question, depth - 1)
    elif len(items) == 1:
        yield from _texts(items[0], f"{at}[0]", question, depth - 1)
    elif kind is not None and len({item[kind] for item in items}) > 1:
        for name in dict.fromkeys(str(item[kind]) for item in items):
            first = next(item for item in items if item[kind] == name)
            rest = {key: value for key, value in first.items() if key != kind}
            yield from _texts(rest, f"{at}[?{kind}=='{name}'] | [0]", question, depth - 1)


def _joined(items: Sequence[Mapping[str, Any]], at: str, kind: str) -> Iterator[tuple[str, str]]:
    """The texts of typed blocks, of each kind together."""
    for name in dict.fromkeys(str(item[kind]) for item in items):
        blocks = [item for item in items if item[kind] == name]
        for key in dict.fromkeys(key for block in blocks for key, value in block.items() if isinstance(value, str)):
            texts = [block[key] for block in blocks if isinstance(block.get(key), str)]
            if key != kind and len(texts) == len(blocks):
                yield f"join('', {at}[?{kind}=='{name}'].{child('', key)})", "".join(texts)
