"""Data blocks: what a page shows, in pieces that the browser unpacks when it needs them."""

import gzip
import json
from base64 import b85encode
from dataclasses import dataclass
from html import escape
from typing import Any

_GZIP_LEVEL = 9
_ZSTD_LEVEL = 9
"""Beyond it, it takes twice the memory and thrice the time for a fiftieth less."""
_PIECE = 1 << 14
_LETTERS = bytes.maketrans(b"<", b".")
"""Python's base85, but for the one letter that could begin an end of the element."""


@dataclass(frozen=True, slots=True)
class Block:
    """A named value.

    Attributes:
        name: By which the browser asks for it: letters, digits, `-` and `/`.
        data: What JSON can hold.
    """

    name: str
    data: Any


def packed(block: Block) -> bytes:
    """A block as gzip of JSON, which a browser unpacks by itself; the same bytes for the same value."""
    return gzip.compress(_json(block.data), _GZIP_LEVEL, mtime=0)


def as_element(block: Block) -> str:
    """A block as an HTML element: Zstandard of JSON in letters of base85, a quarter smaller than gzip in base64."""
    from pyarrow import Codec  # noqa: PLC0415 - 60 MB that only a page needs

    packed = Codec("zstd", _ZSTD_LEVEL).compress(_json(block.data), asbytes=True)
    return f'<script type="application/octet-stream" data-block="{escape(block.name)}">{_letters(packed)}</script>\n'


def _letters(data: bytes) -> str:
    """Piece by piece, since the encoder takes fifty times the memory of what it is given."""
    pieces = (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
    return b"".join(map(b85encode, pieces)).translate(_LETTERS).decode()


def _json(data: Any) -> bytes:
    try:
        return _dumped(data, ascii_only=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold as an escape and UTF-8 cannot
        return _dumped(data, ascii_only=True).encode()


def _dumped(data: Any, *, ascii_only: bool) -> str:
    return json.dumps(data, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))
