"""Output on terminals and pipes that do not hold every character, that are full, or that nobody reads any more."""

import codecs
import io
import json
import re
import sys
from typing import TYPE_CHECKING, TextIO

import typer

from evals.errors import StoreError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_SAMPLE = "✓ ↑ … \udc80"
"""What we print; the last stands for a byte of a file name that is no text."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_READABLE = "evals_readable"
_INSTEAD = {
    "↑": "^",
    "↓": "v",
    "→": "->",
    "✓": "*",
    "✗": "x",
    "×": "x",
    "…": "..",
    "§": "S.",
    "\u00a0": " ",
    **dict.fromkeys("–—−·•", "-"),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”", '"'),
}
"""What is written for signs that an encoding does not hold; a question mark for all others."""


def prepare_streams() -> None:
    """Let stdout and stderr hold what is printed, and end no command because nobody reads it.

    For the command line's start only: the streams belong to the process.
    """
    sys.stdout = _over_pipe(sys.stdout, quiet=False)
    sys.stderr = _over_pipe(sys.stderr, quiet=True)
    replace_what_cannot_be_printed()


def replace_what_cannot_be_printed() -> None:
    """Let stdout and stderr write something like it for what their encoding does not hold, instead of failing.

    Whose encoding holds all stays as it is.
    """
    codecs.register_error(_READABLE, _readable)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _holds(stream, _SAMPLE):
            stream.reconfigure(errors=_READABLE)


def print_json(text: str) -> None:
    """Print JSON without a loss: what stdout's encoding does not hold is escaped, which in JSON means the same."""
    if not _holds(sys.stdout, text, "strict"):
        text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    typer.echo(text)


class _Output(io.FileIO):
    """The bottom of a stream, on which a command goes on as it would have when its reader has gone.

    Args:
        descriptor: Of the process; it is not closed.
        quiet: Whether a full disk is no error either, because there is nowhere left to say so.
    """

    def __init__(self, descriptor: int, *, quiet: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._quiet = quiet
        self._failed = False

    def write(self, data: "ReadableBuffer", /) -> int:
        size = memoryview(data).nbytes
        if self._failed:
            return size
        try:
            return super().write(data)
        except BrokenPipeError:
            self._failed = True
        except OSError as error:
            self._failed = True
            if not self._quiet:
                raise StoreError(f"cannot write the output: {error.strerror or error}") from error
        return size


def _over_pipe(stream: TextIO, *, quiet: bool) -> TextIO:
    """The same stream over an `_Output`; one that is no file, as on some consoles, stays as it is."""
    raw = getattr(getattr(stream, "buffer", None), "raw", getattr(stream, "buffer", None))
    if not isinstance(stream, io.TextIOWrapper) or type(raw) is not io.FileIO:
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(raw.fileno(), quiet=quiet)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _readable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_INSTEAD.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


def _holds(stream: object, text: str, errors: str | None = None) -> bool:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding, errors or getattr(stream, "errors", None) or "strict")
    except UnicodeEncodeError:
        return False
    return True
