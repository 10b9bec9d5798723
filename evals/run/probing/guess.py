"""A body that no profile fits, mapped by its shape: `guess_body`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.client.mapping import MappingError, find
from evals.run.probing.answers import FoundText, find_answers, holds_objects, is_none, near
from evals.run.probing.citing import Citing, find_citing
from evals.run.probing.passages import Passages, find_passages
from evals.run.probing.sides import find_model, find_ok, find_usage, guess_usage
from evals.run.probing.words import PASSAGES, last_name, snake

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
