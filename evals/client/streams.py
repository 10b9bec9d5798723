"""Streamed answers."""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evals.client.mapping import MappingError, Streamed, find, find_or_none
from evals.client.spec import StreamFormat, StreamSpec
from evals.client.spec_check import kind_of, shape_of
from evals.schemas.response import ErrorKind
from evals.text.decoding import MAX_VALUES, parse_json

# From the bytes of a stream to its pieces, by format.


_ENDS = re.compile(r"\r\n|\n|\r")
"""The line ends of an event stream (WHATWG HTML, 9.2.5); `str.splitlines` knows more, which are text there."""

MESSAGE = "message"
"""The name of an event that is given none."""

_VERCEL = re.compile(r"\s*([0-9a-zA-Z])\s*:(.*)", re.DOTALL)


class NotInFormatError(ValueError):
    """A line is none of this format."""


@dataclass(frozen=True, slots=True)
class RawPiece:
    """A raw event of a stream.

    Attributes:
        event: Its name.
        data: Its text; None for an event without any.
    """

    event: str
    data: str | None


class JSONLines:
    """A JSON value a line; empty lines are no pieces. The other formats differ in what they make of a line.

    The bytes are UTF-8 without its byte order mark, wherever the pieces are cut; what is none becomes question marks.

    Attributes:
        cut: Whether the stream ended within a piece that is left out.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._begun: list[str] = []
        """The parts of a line that is not ended: it is not copied each time."""
        self._after_return = False
        """Whether the last character was a CR, of which a LF may be the second half."""
        self.cut = False

    def feed(self, data: bytes) -> Iterator[RawPiece]:
        """The pieces that some more bytes complete.

        Raises:
            NotInFormatError: They are not in this format.
        """
        text = self._decoder.decode(data)
        if not text:
            return
        if self._after_return:
            text = text.removeprefix("\n")
        self._after_return = text.endswith("\r")
        *lines, rest = _ENDS.split(text)
        for line in lines:
            yield from self._of_line(self._with_begun(line))
        if rest:
            self._begun.append(rest)

    def finish(self) -> Iterator[RawPiece]:
        """The piece that the end completes.

        Raises:
            NotInFormatError: What stands there is not in this format.
        """
        return self._of_line(self._with_begun(self._decoder.decode(b"", final=True)))

    def _of_line(self, line: str) -> Iterator[RawPiece]:
        if line.strip():
            yield RawPiece(MESSAGE, line)

    def _with_begun(self, line: str) -> str:
        begun, self._begun = self._begun, []
        return "".join([*begun, line])


class EventStream(JSONLines):
    """Server-sent events (WHATWG HTML, 9.2.6): fields, comments, data of several lines.

    Beyond the standard, an event with a name and no data is a piece: servers end a stream so (`event: end`). What the
    stream ends within is left out, as the standard says.
    """

    def __init__(self) -> None:
        super().__init__()
        self._event = ""
        self._data: list[str] = []

    def finish(self) -> Iterator[RawPiece]:
        """Nothing: an event that is not ended by an empty line is none."""
        self.cut = bool(self._with_begun(self._decoder.decode(b"", final=True)) or self._data or self._event)
        return iter(())

    def _of_line(self, line: str) -> Iterator[RawPiece]:
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        elif name == "event":
            self._event = value.removeprefix(" ")
        elif not line and (self._event or self._data):
            yield RawPiece(self._event or MESSAGE, "\n".join(self._data) if self._data else None)
            self._event, self._data = "", []


class PrefixedLines(JSONLines):
    """Lines such as `0:"text"`, of the data stream of Vercel's AI SDK: a kind, which is the event, and a JSON value."""

    def _of_line(self, line: str) -> Iterator[RawPiece]:
        if line.strip():
            found = _VERCEL.fullmatch(line)
            if found is None:
                raise NotInFormatError(f'a line is not of a kind and a value, such as 0:"text": {line[:80]!r}')
            yield RawPiece(found.group(1), found.group(2))


class PlainText(JSONLines):
    """Text alone: whatever arrives at once is a piece."""

    def feed(self, data: bytes, *, final: bool = False) -> Iterator[RawPiece]:
        """The text that some more bytes complete."""
        if text := self._decoder.decode(data, final=final):
            yield RawPiece(MESSAGE, text)

    def finish(self) -> Iterator[RawPiece]:
        """What an incomplete character at the end stands for."""
        return self.feed(b"", final=True)


FORMATS: dict[StreamFormat, type[JSONLines]] = {
    "sse": EventStream,
    "ndjson": JSONLines,
    "vercel": PrefixedLines,
    "text": PlainText,
}


# What the pieces of a stream look like beyond what its profile says: signs that the answer is read wrong.


CUMULATIVE = (
    "each piece of the stream begins with the one before it, so the answer repeats itself: server.stream.whole: true?"
)


DOUBLED = (
    "an event of the stream repeats all of the text before it, so the answer is doubled: "
    "let server.stream.delta leave that event out"
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
    for piece in pieces:
        data = piece["data"] if isinstance(piece["data"], dict) else {}
        if piece["event"].lower() in _ERRORS or data.get("error") or data.get("type") in ("error", "exception"):
            return True
    return False


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


# Puts the answer of one stream together as its pieces arrive, and notes when its text came.


END = "[DONE]"
"""The data of an event that ends a stream, as OpenAI sends it and many after it."""

_CUT = "the stream ends within an event, which is left out"


_ENVELOPE = 3
"""Values of a piece that are not its data."""


class UnusableError(Exception):
    """What came is no answer that can be read.

    Attributes:
        kind: As it is recorded.
    """

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind


class Collector:
    """Takes one stream.

    Args:
        spec: How its pieces are separated and read.

    Attributes:
        received: The bytes so far.
        is_done: Whether the last piece was there: what follows is no part of the answer.
        first_ms: When the first text that is not empty arrived, from sending the request; None before.
        last_ms: The same of the last one.
    """

    def __init__(self, spec: StreamSpec) -> None:
        self._spec = spec
        self._format = FORMATS[spec.format]()
        self._pieces: list[dict[str, Any]] = []
        self._values = 0
        self._texts: list[str] = []
        self._has_text = False
        """Whether any piece had a text, were it an empty one."""
        self.received = bytearray()
        self.is_done = False
        self.first_ms: float | None = None
        self.last_ms: float | None = None

    def take(self, data: bytes, at_ms: float) -> None:
        """Take what arrived.

        Args:
            data: As it was sent, without its content-encoding.
            at_ms: When, in milliseconds from sending the request.

        Raises:
            UnusableError: It is not as the profile says, or says that something went wrong.
        """
        self.received += data
        self._see_all(self._format.feed(data), at_ms)

    def finish(self, at_ms: float) -> None:
        """Note the regular end of the stream.

        Raises:
            UnusableError: It broke off, or its last piece is not as the profile says.
        """
        if self.is_done:
            return
        self._see_all(self._format.finish(), at_ms)
        if self._spec.done is not None and not self.is_done:
            what = f"no piece for which `{self._spec.done}` is true; it brought {self.so_far}"
            raise UnusableError("broken_off", f"the stream ended with {what}")

    def _see_all(self, pieces: Iterator[RawPiece], at_ms: float) -> None:
        try:
            for piece in pieces:
                self._see(piece, at_ms)
                if self.is_done:
                    return
        except NotInFormatError as error:
            raise UnusableError("malformed", str(error)) from error

    @property
    def so_far(self) -> str:
        """A description of what arrived."""
        characters = sum(map(len, self._texts))
        if characters:
            return f"{characters:,} characters of an answer"
        return f"{len(self.received):,} bytes and no text of an answer"

    def streamed(self) -> Streamed | None:
        """The answer of the pieces; None where the profile does not look for it in each."""
        if self._spec.text_at is None:
            return None
        if not self._has_text:
            return Streamed(None, [f"no piece of the stream has a text at `{self._spec.text_at}`; {self._shape()}"])
        return Streamed("".join(self._texts), list(self._notes()))

    def body(self) -> list[dict[str, Any]]:
        """All pieces, as expressions see them; plain text is one."""
        if self._spec.format == "text":
            return [{"event": "message", "data": "".join(self._texts)}]
        return self._pieces

    def _notes(self) -> Iterator[str]:
        if self._format.cut:
            yield _CUT
        if found := repetition(self._texts):
            yield found
        if has_unread_error(self._pieces):
            yield UNREAD_ERROR

    def _see(self, raw: RawPiece, at_ms: float) -> None:
        data = raw.data or None
        if self._spec.format == "text":
            self._add(data, at_ms)
            return
        if data is not None and data.strip() == END:
            self.is_done = True
            return
        piece = {"event": raw.event, "data": self._parsed(data)}
        self._pieces.append(piece)
        self._count(data)
        if said := _found(self._spec.error_at, piece):
            raise UnusableError("not_ok", f"the stream says after {self.so_far}: {str(said)[:200]}")
        self._add(_found(self._spec.text_at, piece), at_ms)
        self.is_done = bool(_found(self._spec.done, piece))

    def _parsed(self, data: str | None) -> Any:
        if data is None or (self._spec.format == "sse" and self._spec.data == "text"):
            return data
        try:
            return parse_json(data.encode())
        except ValueError as error:
            if self._spec.format == "sse" and not data.lstrip().startswith(("{", "[", '"')):
                return data  # a word such as ping
            raise UnusableError("malformed", f"a piece of the stream is not JSON: {data[:120]!r}") from error

    def _count(self, data: str | None) -> None:
        """Bound what the pieces take in memory together, as a body's values are bounded."""
        self._values += _ENVELOPE + (sum(map(data.count, ",[{:")) if data else 0)
        if self._values > MAX_VALUES:
            raise UnusableError("too_large", f"the pieces of the stream hold over {MAX_VALUES:,} values")

    def _add(self, found: Any, at_ms: float) -> None:
        text = self._text(found)
        if text is None:
            return
        self._has_text = True
        if not text or (self._spec.whole and self._texts == [text]):
            return
        self._texts = [text] if self._spec.whole else self._texts
        if not self._spec.whole:
            self._texts.append(text)
        self.first_ms = at_ms if self.first_ms is None else self.first_ms
        self.last_ms = at_ms

    def _text(self, found: Any) -> str | None:
        """The text that was found; None where there is none."""
        if found is None or isinstance(found, bool):
            return None
        texts = found if isinstance(found, list) else [found]
        if all(isinstance(text, str) for text in texts):
            return "".join(texts) if texts else None
        what = kind_of(next(text for text in texts if not isinstance(text, str)))
        way = " (server.stream.data: text leaves it a text)" if what == "a number" else ""
        raise UnusableError("malformed", f"a piece has {what} at `{self._spec.text_at}`, not a text{way}")

    def _shape(self) -> str:
        if not self._pieces:
            return f"it holds no piece of the format {self._spec.format}"
        shapes = list(dict.fromkeys(f"{piece['event']}: {shape_of(piece['data'])}" for piece in self._pieces[:1000]))
        # An expression may forget that a piece holds `event` and `data`.
        objects = (piece["data"] for piece in self._pieces[:1000] if isinstance(piece["data"], dict))
        at = self._spec.text_at
        way = f"write `data.{at}`; " if any(isinstance(find_or_none(at, each), str) for each in objects) else ""
        return f"{way}its pieces are {'; '.join(shapes[:3])}"[:300]


def _found(expression: str | None, piece: dict[str, Any]) -> Any:
    try:
        return find(expression, piece)
    except MappingError as error:
        raise UnusableError("malformed", f"`{expression}` cannot read a piece of the stream: {error}") from error
