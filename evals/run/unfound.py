"""Chunks that the mapping looks for and finds in no answer: a wrong path looks like a server that sends none."""

from collections.abc import Iterable

from evals.client.shape import shape_of
from evals.inputs.json_body import parse_stored
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
    if path is None:
        return None
    count, raw = 0, None
    for one in filter(_is_answered, responses):
        if one.chunks is not None or one.could_not_read("chunks"):
            return None
        raw = one.raw if not count else raw
        count += 1
    return _said(path, count, raw) if count else None


def _is_answered(response: EvalResponse) -> bool:
    return response.error is None and response.answer is not None


def _said(path: str, count: int, raw: str | None) -> str:
    said = share(count, count, "answer")
    where = " ".join(path.split())
    where = where if len(where) <= _CHARS else f"{where[:_CHARS]}…"
    return f"{UNFOUND}{said}, so retrieval is not measured: nothing is at `{where}`{_of_body(raw)}"


def _of_body(raw: str | None) -> str:
    """What the body is; nothing where it is not there whole."""
    try:
        return f"; the body: {shape_of(parse_stored(raw.encode()))}" if raw else ""
    except ValueError:
        return ""
