"""A judge for tests that follows rules: its verdicts come from shared words, not from understanding."""

from collections.abc import Callable
from typing import Any

from messages_api import claim_rules, draft_rules, label_rules, passage_rules

Rule = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]

_BESIDE_REFERENCE = "question expected_answer accepted_variants answer"
_RULES: dict[tuple[frozenset[str], str], Rule] = {
    (frozenset(keys.split()), name): rule
    for keys, name, rule in (
        ("question answer", "claims", claim_rules.answer_claims),
        ("question expected_answer", "claims", claim_rules.reference_claims),
        ("question expected_answer answer answer_claims reference_claims", "answer_claims", claim_rules.compared),
        ("contexts question answer", "claims", passage_rules.faithfulness),
        ("contexts question claims", "claims", passage_rules.claims_in_contexts),
        ("question expected_answer contexts", "contexts", passage_rules.context_relevance),
        ("question contexts", "verdict", passage_rules.context_sufficiency),
        ("question passages statements", "statements", passage_rules.citation_support),
        ("question answer", "verdict", label_rules.on_question),
        (_BESIDE_REFERENCE, "verdict", label_rules.beside_reference),
        (_BESIDE_REFERENCE, "criteria", label_rules.criteria),
        ("criteria expected_answer question answer", "criteria", label_rules.rubric),
        (_BESIDE_REFERENCE, "correctness", label_rules.ratings),
        ("answer", "questions", label_rules.questions),
        ("document section passage kind", "quotations", draft_rules.write),
        ("passage_a passage_b shared", "bridge", draft_rules.pair),
        ("document section passage", "attribute", draft_rules.near_miss),
        ("passages question", "passages", draft_rules.solve),
        ("question", "answer", draft_rules.closed_book),
    )
}
"""By what the judge is given and what its reply must hold: what is said."""


def respond(schema: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A reply of the form of the schema.

    What the prompts of the package ask has a rule each; all else is filled in as :func:`fill` does.
    """
    properties = schema["properties"]
    for (keys, name), rule in _RULES.items():
        if name in properties and keys == data.keys():
            flag = {"injection_suspected": False} if "injection_suspected" in properties else {}
            return {**rule(properties, data), **flag}
    return {name: "" if name == "quote" else value for name, value in fill(schema).items()}


_PLAIN: dict[str, Any] = {"boolean": False, "integer": 0, "number": 0}


def fill(schema: dict[str, Any], name: str = "value") -> Any:
    """The first value of an enum, false, 0, a short text, one item in an array; properties in their order."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {key: fill(value, key) for key, value in schema.get("properties", {}).items()}
    if schema["type"] == "array":
        return [fill(schema["items"], name)]
    return _PLAIN.get(schema["type"], f"loopback {name}")
