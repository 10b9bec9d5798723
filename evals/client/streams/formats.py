"""From the bytes of a stream to its pieces, by format. Nothing is known here of what the pieces mean.

Written here: the packages that parse event streams (httpx-sse, aiohttp-sse-client) do so for one HTTP library each, and
say neither when the bytes of a piece arrived nor how much of an unfinished one is held.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from evals.client.streams.lines import Decoded, Lines
from evals.client.streams.spec import StreamFormat

MESSAGE = "message"
"""The name of an event that is given none."""
_VERCEL = re.compile(r"\s*([0-9a-zA-Z])\s*:(.*)", re.DOTALL)


class NotInFormatError(ValueError):
    """A line is none of this format."""


@dataclass(frozen=True, slots=True)
class RawPiece:
    """A piece as it was sent.

    Attributes:
        event: Its name.
        data: Its text; None for an event without any.
    """

    event: str
    data: str | None


class Format(Protocol):
    """Tells the pieces of one stream apart."""

    def feed(self, data: bytes) -> Iterator[RawPiece]:
        """The pieces that some more bytes complete.

        Raises:
            NotInFormatError: They are not in this format.
        """

    def finish(self) -> Iterator[RawPiece]:
        """The piece that the end completes.

        Raises:
            NotInFormatError: What stands there is not in this format.
        """


class EventStream:
    """Server-sent events (WHATWG HTML, 9.2.6): fields, comments, data of several lines.

    Beyond the standard, an event with a name and no data is a piece: servers end a stream so (`event: end`). What the
    stream ends within is left out, as the standard says.

    Attributes:
        cut: Whether it ended within an event.
    """

    def __init__(self) -> None:
        self._lines = Lines()
        self._event = ""
        self._data: list[str] = []
        self.cut = False

    def feed(self, data: bytes) -> Iterator[RawPiece]:
        """The events that some more bytes complete."""
        for line in self._lines.feed(data):
            if line:
                self._field(line)
            elif self._event or self._data:
                yield self._dispatched()

    def finish(self) -> Iterator[RawPiece]:
        """Nothing: an event that is not ended by an empty line is none."""
        self.cut = bool(self._lines.finish() or self._data or self._event)
        return iter(())

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value

    def _dispatched(self) -> RawPiece:
        piece = RawPiece(self._event or MESSAGE, "\n".join(self._data) if self._data else None)
        self._event, self._data = "", []
        return piece


class JSONLines:
    """A JSON value a line; empty lines are no pieces."""

    def __init__(self) -> None:
        self._lines = Lines()

    def feed(self, data: bytes) -> Iterator[RawPiece]:
        """The values of the lines that some more bytes complete."""
        return (RawPiece(MESSAGE, line) for line in self._lines.feed(data) if line.strip())

    def finish(self) -> Iterator[RawPiece]:
        """The value of a last line without an end."""
        line = self._lines.finish()
        return iter([RawPiece(MESSAGE, line)] if line.strip() else [])


class PrefixedLines:
    """Lines such as `0:"text"`, of the data stream of Vercel's AI SDK: a kind, which is the event, and a JSON value."""

    def __init__(self) -> None:
        self._lines = Lines()

    def feed(self, data: bytes) -> Iterator[RawPiece]:
        """The pieces of the lines that some more bytes complete."""
        return (_prefixed(line) for line in self._lines.feed(data) if line.strip())

    def finish(self) -> Iterator[RawPiece]:
        """The piece of a last line without an end."""
        line = self._lines.finish()
        return iter([_prefixed(line)] if line.strip() else [])


def _prefixed(line: str) -> RawPiece:
    found = _VERCEL.fullmatch(line)
    if found is None:
        raise NotInFormatError(f'a line is not of a kind and a value, such as 0:"text": {line[:80]!r}')
    return RawPiece(found.group(1), found.group(2))


class PlainText:
    """Text alone: whatever arrives at once is a piece."""

    def __init__(self) -> None:
        self._decoded = Decoded()

    def feed(self, data: bytes) -> Iterator[RawPiece]:
        """The text that some more bytes complete."""
        text = self._decoded.feed(data)
        return iter([RawPiece(MESSAGE, text)] if text else [])

    def finish(self) -> Iterator[RawPiece]:
        """What an incomplete character at the end stands for."""
        text = self._decoded.finish()
        return iter([RawPiece(MESSAGE, text)] if text else [])


FORMATS: dict[StreamFormat, type[Format]] = {
    "sse": EventStream,
    "ndjson": JSONLines,
    "vercel": PrefixedLines,
    "text": PlainText,
}
