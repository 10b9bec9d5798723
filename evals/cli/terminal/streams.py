"""Output on terminals and pipes that do not hold every character, that are full, or that nobody reads any more."""

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


def prepare_streams() -> None:
    """Let stdout and stderr take whatever is printed, and end no command because nobody reads it.

    For the command line's start only: the streams belong to the process.
    """
    sys.stdout = _prepared(sys.stdout, quiet=False)
    sys.stderr = _prepared(sys.stderr, quiet=True)


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


def _prepared(stream: TextIO, *, quiet: bool) -> TextIO:
    """The same stream over an `_Output`, with a question mark for what its encoding does not hold.

    What is no file, as on some consoles, stays as it is.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if not _holds(stream, _SAMPLE, stream.errors or "strict"):
        stream.reconfigure(errors="replace")
    raw = getattr(stream.buffer, "raw", stream.buffer)
    if type(raw) is not io.FileIO:
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(raw.fileno(), quiet=quiet)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _holds(stream: object, text: str, errors: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8", errors)
    except UnicodeEncodeError:
        return False
    return True
