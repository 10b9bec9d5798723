"""What a page may load and run: nothing but the scripts and style sheets that were written into it."""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256


def policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """A Content-Security-Policy that allows these scripts and style sheets by their hashes, images inside, no more."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_source, scripts))}",
            f"style-src {' '.join(map(_source, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
