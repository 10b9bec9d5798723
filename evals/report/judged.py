"""What the judge said of a question: labels, quotes and reasons."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.metrics.inquiries import ANSWER_CLAIMS, ANSWER_IN_CONTEXTS, REFERENCE_CLAIMS, REFERENCE_IN_CONTEXTS
from evals.schemas import JudgeVerdict
from evals.views.formatting import plain

_CLAIMS_OF = {ANSWER_IN_CONTEXTS.name: ANSWER_CLAIMS.name, REFERENCE_IN_CONTEXTS.name: REFERENCE_CLAIMS.name}
"""By inquiry, that which found the claims that it names by their numbers alone."""


def verdict_of(verdict: JudgeVerdict, beside: Sequence[JudgeVerdict]) -> dict[str, Any]:
    """A verdict: what was asked, and the reply, or how the judge failed.

    Args:
        verdict: The verdict.
        beside: All on the same question: a reply names claims by numbers that another one gave them.
    """
    told: dict[str, Any] = {
        "request": plain(verdict.request),
        "repeat": verdict.repeat,
        "model": plain(verdict.model or ""),
        "failure": verdict.failure,
        "message": plain(verdict.message or ""),
        "suspected": verdict.injection_suspected,
        "ranks": verdict.passages,
    }
    if verdict.reply is not None:
        told["reply"] = printed(verdict.ranked_reply)
        told["claims"] = _claims(verdict, beside)
    return told


def _claims(verdict: JudgeVerdict, beside: Sequence[JudgeVerdict]) -> list[str]:
    """The texts of the claims that the reply names by numbers; empty where it names none."""
    wanted = _CLAIMS_OF.get(verdict.inquiry)
    found = (other for other in beside if other.inquiry == wanted and other.repeat == verdict.repeat)
    reply = next((other.reply for other in found if other.reply is not None), None)
    claims = reply.get("claims") if reply is not None else None
    return [plain(str(claim.get("claim", ""))) for claim in claims] if isinstance(claims, list) else []


def printed(value: Any) -> Any:
    """A value of JSON with all its texts made printable."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): printed(item) for key, item in value.items() if key != "injection_suspected"}
    if isinstance(value, list | tuple):
        return [printed(item) for item in value]
    return value
