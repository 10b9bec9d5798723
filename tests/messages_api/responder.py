"""A judge for tests that follows rules: its verdicts come from shared words, not from understanding."""

from collections.abc import Callable
from typing import Any

from messages_api import claim_rules, label_rules, passage_rules
from messages_api.schema_filling import fill
from messages_api.schema_rules import resolve
from messages_api.shared_words import content_words, find_support, sentences

Rule = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]

_CLAIM_NAMES = ("claim", "text", "sentence", "statement")
_ID_NAMES = ("id", "claim_id", "index", "number")
_QUOTE_NAMES = ("quote", "evidence")
_CONTEXT_NAMES = ("context_id", "chunk_id", "context", "source")
_VERDICT_NAMES = ("verdict", "label")
_BESIDE_REFERENCE = "question expected_answer accepted_variants answer"
_RULES: dict[tuple[frozenset[str], str], Rule] = {
    (frozenset(keys.split()), name): rule
    for keys, name, rule in (
        ("question answer", "claims", claim_rules.answer_claims),
        ("question expected_answer", "claims", claim_rules.reference_claims),
        ("question expected_answer answer answer_claims reference_claims", "answer_claims", claim_rules.compared),
        ("contexts question claims", "claims", passage_rules.claims_in_contexts),
        ("question expected_answer contexts", "contexts", passage_rules.context_relevance),
        ("question passages statements", "statements", passage_rules.citation_support),
        ("question answer", "verdict", label_rules.on_question),
        (_BESIDE_REFERENCE, "verdict", label_rules.beside_reference),
        (_BESIDE_REFERENCE, "criteria", label_rules.criteria),
        ("criteria expected_answer question answer", "criteria", label_rules.rubric),
        (_BESIDE_REFERENCE, "correctness", label_rules.ratings),
        ("answer", "questions", label_rules.questions),
    )
}
"""By what the judge is given and what its reply must hold: what is said."""


def respond(schema: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A reply of the form of the schema.

    What the prompts of the package ask has a rule each. Elsewhere, where the schema has a list of items with a verdict
    and the data has contexts with claims or an answer, there is one item a claim: supported with the best verbatim
    quote if 60 % of its content words stand in one context, else not said (or unsupported, where that is the label)
    with an empty quote. All else is filled in as :func:`fill` does.
    """
    properties = resolve(schema, schema).get("properties", {})
    for (keys, name), rule in _RULES.items():
        if name in properties and keys == data.keys():
            return {**rule(properties, data), "injection_suspected": False}
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


def _claims(data: dict[str, Any]) -> list[tuple[Any, str]]:
    claims = data["claims"] if "claims" in data else filter(content_words, sentences(data["answer"]))
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
    known |= dict.fromkeys(_VERDICT_NAMES, "supported" if support else _hardly(item))
    if support:
        known |= dict.fromkeys(_CONTEXT_NAMES, support[0])
    return {key: _fitting(known.get(key), part, root, key) for key, part in item["properties"].items()}


def _hardly(item: dict[str, Any]) -> str:
    """The label of a claim of which nothing is found."""
    labels = next(part.get("enum", []) for name, part in item["properties"].items() if name in _VERDICT_NAMES)
    return "not_said" if "not_said" in labels else "unsupported"


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
