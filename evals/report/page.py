"""Scripts, styles and data blocks of a page, and the policy that allows nothing else."""

import gzip
import json
from base64 import b64encode, b85encode
from collections.abc import Iterable
from functools import cache, partial
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

# The scripts and style sheets of a page, in the order in which they stand in it.


_FOLDER = Path(__file__).resolve().parent / "assets"


LIBRARIES = ("vendor/d3.min.js", "vendor/plot.min.js", "vendor/diff.min.js")
"""The charts, and the difference between two answers word by word: 37 kB, where the differences themselves, made by
`difflib` when the page is written, would take longer and as much room as soon as there are a thousand questions."""


UNPACKER = "vendor/fzstd.min.js"
"""Unpacks Zstandard: browsers unpack gzip alone, which makes texts a fifth larger."""


STYLES = ("page.css", "scorecard.css", "questions.css", "several.css", "print.css")


@cache
def asset(name: str) -> str:
    """The text of a file."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def scripts() -> list[str]:
    """The names of our scripts in their order; `main.js` starts the page and stands last."""
    return asset("scripts.txt").split()


def libraries() -> list[str]:
    """What others wrote: the chart library, what it stands on, and what unpacks data."""
    return [asset(name) for name in (*LIBRARIES, UNPACKER)]


def script() -> str:
    """All scripts of ours in one."""
    return "\n".join(map(asset, scripts()))


def style() -> str:
    """All style sheets in one."""
    return "\n".join(map(asset, STYLES))


def plot_style() -> str:
    """The style sheet that the chart library puts into each chart; the policy of the page must know it."""
    return asset("vendor/plot-style.css")


_GZIP_LEVEL = 9


_ZSTD_LEVEL = 9
"""Beyond it, it takes twice the memory and thrice the time for a fiftieth less."""

_PIECE = 1 << 14


_LETTERS = bytes.maketrans(b"<", b".")
"""Python's base85, but for the one letter that could begin an end of the element."""


def packed(data: Any) -> bytes:
    """A value as gzip of JSON, which a browser unpacks by itself; the same bytes for the same value."""
    return gzip.compress(_json(data), _GZIP_LEVEL, mtime=0)


def as_element(name: str, data: Any) -> str:
    """A named value as an HTML element: Zstandard of JSON in base85, a quarter smaller than gzip in base64.

    Args:
        name: By which the browser asks for it: letters, digits, `-` and `/`.
        data: What JSON can hold.
    """
    from pyarrow import Codec  # noqa: PLC0415 - 60 MB that only a page needs

    packed = Codec("zstd", _ZSTD_LEVEL).compress(_json(data), asbytes=True)
    return f'<script type="application/octet-stream" data-block="{escape(name)}">{_letters(packed)}</script>'


def _letters(data: bytes) -> str:
    """Piece by piece, since the encoder takes fifty times the memory of what it is given."""
    pieces = (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
    return b"".join(map(b85encode, pieces)).translate(_LETTERS).decode()


def _json(data: Any) -> bytes:
    dumped = partial(json.dumps, data, allow_nan=False, separators=(",", ":"))
    try:
        return dumped(ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold as an escape and UTF-8 cannot
        return dumped().encode()


# What a page may load and run: nothing but the scripts and style sheets that were written into it.


def policy(scripts: Iterable[str], styles: Iterable[str], *more: str) -> str:
    """A Content-Security-Policy that allows these scripts and styles, images inside, and no more.

    Args:
        scripts: Where scripts come from, as a policy names it: by their hashes, for example.
        styles: The same of style sheets.
        more: Other parts of the policy.
    """
    allowed = [f"script-src {' '.join(scripts)}", f"style-src {' '.join(styles)}", "img-src data:"]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'", *more])


def source(text: str) -> str:
    """A script or style sheet as a policy names it: by its hash."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
