"""A judge for tests that follows rules: its verdicts come from shared words, not from understanding."""

import re
from typing import Any

from messages_api.schema_filling import fill
from messages_api.schema_rules import resolve

_SHARE = 0.6
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
_CITATION = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been but by can did do does for from had has have he her his if in into is it its may
        not of on or our she so such than that the their them then there these they this to was we were what when where
        which who will with would you your""",
    )
)
_CLAIM_NAMES = ("claim", "text", "sentence", "statement")
_ID_NAMES = ("id", "claim_id", "index", "number")
_QUOTE_NAMES = ("quote", "evidence")
_CONTEXT_NAMES = ("context_id", "chunk_id", "context", "source")
_VERDICT_NAMES = ("verdict", "label")


def respond(schema: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A reply of the form of the schema.

    Where the schema has a list of items with a verdict and the data has contexts with claims or an answer, there is one
    item a claim: supported with the best verbatim quote if 60 % of its content words stand in one context, else
    unsupported with an empty quote. All else is filled in as :func:`fill` does.
    """
    reply: dict[str, Any] = fill(schema)
    reply |= {name: "" for name in _QUOTE_NAMES if name in reply}  # what is made up stands nowhere
    if "contexts" not in data or not ("claims" in data or "answer" in data):
        return reply
    for name, part in resolve(schema, schema)["properties"].items():
        part = resolve(part, schema)  # noqa: PLW2901
        item = resolve(part["items"], schema) if part.get("type") == "array" else {}
        if any(key in _VERDICT_NAMES for key in item.get("properties", {})):
            contexts = [_identified(context, number) for number, context in enumerate(data["contexts"], 1)]
            reply[name] = [_judged(item, schema, *claim, contexts) for claim in _claims(data)]
    return reply


def sentences(text: str) -> list[str]:
    """The sentences of a text, each verbatim."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def content_words(text: str) -> set[str]:
    """The words that carry meaning, in lower case, without citation marks."""
    return set(re.findall(r"\w+", _CITATION.sub(" ", text).lower())) - _STOP_WORDS


def find_support(claim: str, contexts: list[tuple[Any, str]]) -> tuple[Any, str] | None:
    """Id of the context that holds most of the claim's words, and its best sentence; None below 60 %."""
    words = content_words(claim)
    if not words or not contexts:
        return None
    found, text = max(contexts, key=lambda context: len(words & content_words(context[1])))
    if len(words & content_words(text)) < _SHARE * len(words):
        return None
    return found, max(sentences(text), key=lambda sentence: len(words & content_words(sentence)))


def _claims(data: dict[str, Any]) -> list[tuple[Any, str]]:
    claims = data["claims"] if "claims" in data else sentences(data["answer"])
    return [_identified(claim, number) for number, claim in enumerate(claims, 1)]


def _identified(value: Any, number: int) -> tuple[Any, str]:
    """Id and text of a claim or a context, which is a text or an object."""
    if isinstance(value, str):
        return number, value
    text = next(str(value[key]) for key in (*_CLAIM_NAMES, "content", "full_text") if key in value)
    return next((value[key] for key in (*_ID_NAMES, *_CONTEXT_NAMES) if key in value), number), text


def _judged(
    item: dict[str, Any], root: dict[str, Any], claim_id: Any, claim: str, contexts: list[tuple[Any, str]]
) -> dict[str, Any]:
    """One item of the reply, in the order of the schema."""
    support = find_support(claim, contexts)
    known: dict[str, Any] = dict.fromkeys(_CLAIM_NAMES, claim) | dict.fromkeys(_ID_NAMES, claim_id)
    known |= dict.fromkeys(_QUOTE_NAMES, support[1] if support else "")
    known |= dict.fromkeys(_VERDICT_NAMES, "supported" if support else "unsupported")
    if support:
        known |= dict.fromkeys(_CONTEXT_NAMES, support[0])
    return {key: _fitting(known.get(key), part, root, key) for key, part in item["properties"].items()}


def _fitting(value: Any, part: dict[str, Any], root: dict[str, Any], name: str) -> Any:
    """The value in the type of the schema; what is not known is filled in."""
    part = resolve(part, root)
    if value is None or (value not in part["enum"] if "enum" in part else False):
        return fill(part, root, name)
    kinds = {"string": str, "integer": int, "number": float}
    try:
        return kinds[part["type"]](value) if part.get("type") in kinds else value
    except ValueError:  # a name where the schema wants a number
        return fill(part, root, name)
