"""Data blocks: what a page shows, in pieces that the browser unpacks when it needs them."""

import gzip
import json
from base64 import b64encode
from dataclasses import dataclass
from html import escape
from typing import Any

_LEVEL = 9


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
    """A block as gzip of JSON, the same bytes for the same value."""
    return gzip.compress(_json(block.data), _LEVEL, mtime=0)


def as_element(block: Block) -> str:
    """A block as an HTML element. Base64 holds no character that could end it."""
    data = b64encode(packed(block)).decode()
    return f'<script type="application/octet-stream" data-block="{escape(block.name)}">{data}</script>\n'


def _json(data: Any) -> bytes:
    try:
        return _dumped(data, ascii_only=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold as an escape and UTF-8 cannot
        return _dumped(data, ascii_only=True).encode()


def _dumped(data: Any, *, ascii_only: bool) -> str:
    return json.dumps(data, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))
