"""What the pieces of a stream look like beyond what its profile says: signs that the answer is read wrong."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

CUMULATIVE = (
    "each piece of the stream begins with the one before it, so the answer repeats itself: server.stream.whole: true?"
)
DOUBLED = (
    "a piece of the stream has all of the text before it once more, so the answer stands there twice: "
    "let server.stream.delta leave that piece out"
)
UNREAD_ERROR = (
    "a piece of the stream looks like an error, which server.stream.error does not find: the answer may have broken off"
)
_ERRORS = frozenset({"error", "exception", "fatal"})
"""Names of events, and types in their data, that say that something went wrong."""
_FEW = 3
"""Of fewer pieces, one that begins with another may be chance, such as `ha` and `haha`."""
_LONG = 20
"""Characters from which a text that comes twice is no chance, were it in two pieces."""


def repetition(texts: Sequence[str]) -> str | None:
    """What is suspicious about the texts that make an answer; None where nothing is.

    Args:
        texts: In their order, none of them empty.
    """
    if _is_cumulative(texts):
        return CUMULATIVE
    return DOUBLED if _is_doubled(texts) else None


def has_unread_error(pieces: Iterable[Mapping[str, Any]]) -> bool:
    """Whether any piece says that something went wrong, by its name, its type or a key `error`.

    Args:
        pieces: Objects with `event` and `data`, of a stream that no expression found an error in.
    """
    return any(piece["event"].lower() in _ERRORS or _says_error(piece["data"]) for piece in pieces)


def _says_error(data: Any) -> bool:
    return isinstance(data, dict) and (bool(data.get("error")) or data.get("type") in ("error", "exception"))


def _is_cumulative(texts: Sequence[str]) -> bool:
    return (
        len(texts) >= _FEW
        and len(texts[-1]) >= _LONG
        and len(texts[0]) < len(texts[-1])
        and all(after.startswith(before) for before, after in pairwise(texts))
    )


def _is_doubled(texts: Sequence[str]) -> bool:
    length = 0
    for number, text in enumerate(texts):
        near = abs(length - len(text)) < _LONG <= len(text)  # so that few are put together
        if near and "".join(texts[:number]).strip() == text.strip():
            return True
        length += len(text)
    return False
