"""Which requests the probe may send: some freely, some with somebody's assent, some never."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.run.probing.requests import Plan
from evals.run.probing.words import names_in, parts_of

USUAL = ("/query", "/ask", "/chat", "/api/chat", "/api/query", "/api/ask", "/v1/query", "/rag", "/answer", "/search")
"""Paths that ask a question on most servers that have them."""
_CHANGES = names_in("delete purge drop reset clear remove rebuild train pull upload")
_CHANGES_ELSEWHERE = names_in("create update send")
"""Words of change except in operations of built-in profiles, such as `createChatCompletion`."""
Assent = Callable[[Sequence[Plan]], Sequence[Plan]]
"""Gets the requests that need assent; returns those that may be sent."""


@dataclass(slots=True)
class Candidates:
    """The requests that may ask the question, the likeliest first.

    Attributes:
        free: To paths of built-in profiles, to usual paths, and to the path that the user named.
        others: To all other paths; they need assent.
        never: To operations that change something, each with the word that says so.
    """

    free: list[Plan] = field(default_factory=list)
    others: list[Plan] = field(default_factory=list)
    never: dict[str, str] = field(default_factory=dict)

    @property
    def named_never(self) -> str:
        """The operations that are never called, each with its word, in one line."""
        return ", ".join(f"{name} ({word})" for name, word in self.never.items())


def sort_out(
    plans: Sequence[Plan], document: Mapping[str, Any], of_profiles: Collection[str], named: str | None
) -> Candidates:
    """Sort requests by what they need before they may be sent.

    Args:
        plans: The requests.
        document: OpenAPI, whose operationIds count beside the paths; empty without one.
        of_profiles: The paths of built-in profiles.
        named: The path in the URL; None without one.
    """
    found = Candidates()
    for plan in plans:
        words = _CHANGES if plan.path in of_profiles else _CHANGES | _CHANGES_ELSEWHERE
        told = parts_of(f"{plan.path} {_operation_id(document, plan)}")
        word = next((part for part in told if part in words), None)
        if word is not None:
            found.never[f"{plan.method} {plan.path}"] = word
        elif plan.path == named or plan.path in of_profiles or plan.path in USUAL:
            found.free.append(plan)
        else:
            found.others.append(plan)
    return found


def _operation_id(document: Mapping[str, Any], plan: Plan) -> str:
    path = plan.path.rstrip("/")
    for name, operations in document.get("paths", {}).items():
        if name.rstrip("/") == path and isinstance(operations, Mapping):
            operation = operations.get(plan.method.lower())
            return str(operation.get("operationId", "")) if isinstance(operation, Mapping) else ""
    return ""
