"""Chunks that the mapping looks for and finds in no answer: a wrong path looks like a server that sends none."""

import json
from collections.abc import Iterable

from evals.client.shape import shape_of
from evals.schemas import EvalResponse
from evals.text.counts import share

UNFOUND = "server.map.chunks found nothing in "
"""How the note begins; a run that goes on makes it anew."""
_CHARS = 60


def chunks_unfound(path: str | None, responses: Iterable[EvalResponse]) -> str | None:
    """That no answer had chunks where the profile looks for them, and what the body has.

    Null may be what a server rightly sends, so that this is no reason to end.

    Args:
        path: `map.chunks` of the profile; None where it looks for none.
        responses: What came. Of a list that was there and could not be read, something else is said.

    Returns:
        None where nothing is looked for, nothing was answered, or some answer had a list.
    """
    answered = [one for one in responses if one.error is None and one.answer is not None]
    if path is None or not answered or any(one.chunks is not None or one.notes for one in answered):
        return None
    said = share(len(answered), len(answered), "answer")
    where = " ".join(path.split())
    where = where if len(where) <= _CHARS else f"{where[:_CHARS]}…"
    return f"{UNFOUND}{said}, so retrieval is not measured: nothing is at `{where}`{_of_body(answered[0].raw)}"


def _of_body(raw: str | None) -> str:
    """What the body is; nothing where it is not there whole."""
    try:
        return f"; the body: {shape_of(json.loads(raw))}" if raw else ""
    except (ValueError, RecursionError):
        return ""
