"""Output on terminals and pipes that do not hold every character."""

import io
import json
import re
import sys

import typer

_SAMPLE = "✓ ↑ … \udc80"
"""What we print; the last stands for a byte of a file name that is no text."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def replace_what_cannot_be_printed() -> None:
    """Let stdout and stderr write a question mark for what their encoding does not hold, instead of failing.

    For the command line's start only: the streams belong to the process. Whose encoding holds all stays as it is.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _holds(stream, _SAMPLE):
            stream.reconfigure(errors="replace")


def print_json(text: str) -> None:
    """Print JSON without a loss: what stdout's encoding does not hold is escaped, which in JSON means the same."""
    if not _holds(sys.stdout, text, "strict"):
        text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    typer.echo(text)


def _holds(stream: object, text: str, errors: str | None = None) -> bool:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding, errors or getattr(stream, "errors", None) or "strict")
    except UnicodeEncodeError:
        return False
    return True
