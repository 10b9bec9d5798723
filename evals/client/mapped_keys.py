"""The keys that an expression gives to its items, checked before anything is sent: one that nobody reads is wrong."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import jmespath

from evals.client.items import CHUNK_KEYS, CITATION_KEYS
from evals.schemas import TokenUsage

Node = Mapping[str, Any]

_KNOWN: Mapping[str, Sequence[str]] = {
    "chunks": CHUNK_KEYS,
    "citations": CITATION_KEYS,
    "references": CITATION_KEYS,
    "usage": tuple(TokenUsage.model_fields),
}
_SAME = frozenset({"identity", "current"})
_IN_TURN = frozenset({"pipe", "subexpression", "projection", "value_projection", "filter_projection"})
"""Nodes whose second child works on what the first gives."""
_OF_FIRST = frozenset({"flatten", "index_expression", "expref"})
_OF_ALL = frozenset({"or_expression", "and_expression", "multi_select_list"})
_FUNCTIONS = frozenset({"not_null", "reverse", "sort_by", "max_by", "min_by", "merge", "to_array", "zip"})
"""Those that give objects with the keys that they got."""


def unknown_keys(key: str, expression: str) -> Iterator[tuple[str, str]]:
    """The keys that chunks, citations, references and usage are given and that nobody reads, as in `[].{txt: content}`.

    Args:
        key: Where the expression stands, such as `map.chunks` or `retrieve.map.chunks`.
        expression: What finds them.

    Yields:
        Each such key, with what to write instead.
    """
    within, _, part = key.rpartition(".")
    known = _KNOWN.get(part) if within in {"map", "retrieve.map"} else None
    for name in _keys(expression) if known else ():
        if known and name not in known:
            yield name, _hint(name, known)


def _hint(key: str, known: Sequence[str]) -> str:
    """The key that was meant: one that is called so in part, as chunk_id is for id, else one that is spelt alike."""
    near = [name for name in known if key.casefold() in name.split("_")] or get_close_matches(key, known, n=1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"known: {', '.join(known)}"


def _keys(expression: str) -> list[str]:
    objects = _objects(jmespath.compile(expression).parsed, [])
    return [child["value"] for node in objects for child in node["children"]]


def _objects(node: Node, given: Sequence[Node]) -> Sequence[Node]:
    """The objects that a node builds, or hands on where `given` are those that it works on.

    What an expression builds only to look into it again has keys of its own, and is not among them.
    """
    kind, children = node["type"], node["children"]
    if kind == "multi_select_dict":
        return [node]
    if kind in _SAME:
        return given
    if kind in _IN_TURN:
        return _objects(children[1], _objects(children[0], given))
    if kind in _OF_FIRST:
        return _objects(children[0], given)
    if kind == "function_expression":
        return _objects_of_function(node, given)
    return [found for child in children for found in _objects(child, given)] if kind in _OF_ALL else []


def _objects_of_function(node: Node, given: Sequence[Node]) -> Sequence[Node]:
    children = node["children"]
    if node["value"] == "map":
        return _objects(children[0], _objects(children[1], given))
    if node["value"] not in _FUNCTIONS:
        return []
    return [found for child in children if child["type"] != "expref" for found in _objects(child, given)]
