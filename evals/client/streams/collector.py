"""Puts the answer of one stream together as its pieces arrive, and notes when its text came."""

from collections.abc import Iterator
from typing import Any

from evals.client.mapping import MappingError, Streamed, find
from evals.client.shape import shape_of
from evals.client.streams.doubts import UNREAD_ERROR, has_unread_error, repetition
from evals.client.streams.formats import FORMATS, EventStream, NotInFormatError, RawPiece
from evals.client.streams.spec import StreamSpec
from evals.client.values import kind_of
from evals.inputs.json_body import MAX_VALUES, parse_json
from evals.schemas.response import ErrorKind

END = "[DONE]"
"""The data of an event that ends a stream, as OpenAI sends it and many after it."""
_CUT = "the stream ends within an event, which is left out"
_ENVELOPE = 3
"""Values that a piece is beside its data."""


class UnreadableStreamError(Exception):
    """A stream holds no answer that can be read.

    Attributes:
        kind: As it is recorded.
    """

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind


class Collector:
    """Takes one stream.

    Args:
        spec: How its pieces are told apart and read.

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
            UnreadableStreamError: It is not as the profile says, or says that something went wrong.
        """
        self.received += data
        try:
            for piece in self._format.feed(data):
                self._see(piece, at_ms)
                if self.is_done:
                    return
        except NotInFormatError as error:
            raise UnreadableStreamError("malformed", str(error)) from error

    def finish(self, at_ms: float) -> None:
        """Say that the stream ended as HTTP has it.

        Raises:
            UnreadableStreamError: It broke off, or its last piece is not as the profile says.
        """
        if self.is_done:
            return
        try:
            for piece in self._format.finish():
                self._see(piece, at_ms)
        except NotInFormatError as error:
            raise UnreadableStreamError("malformed", str(error)) from error
        if self._spec.done is not None and not self.is_done:
            what = f"no piece for which `{self._spec.done}` is true; it brought {self.so_far}"
            raise UnreadableStreamError("broken_off", f"the stream ended with {what}")

    @property
    def characters(self) -> int:
        """How long the answer is so far."""
        return sum(map(len, self._texts))

    @property
    def so_far(self) -> str:
        """What the stream brought, in words."""
        if self.characters:
            return f"{self.characters:,} characters of an answer"
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
        if isinstance(self._format, EventStream) and self._format.cut:
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
            raise UnreadableStreamError("not_ok", f"the stream says after {self.so_far}: {str(said)[:200]}")
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
            raise UnreadableStreamError("malformed", f"a piece of the stream is not JSON: {data[:120]!r}") from error

    def _count(self, data: str | None) -> None:
        """Bound what the pieces take in memory together, as a body's values are bounded."""
        self._values += _ENVELOPE + (sum(map(data.count, ",[{:")) if data else 0)
        if self._values > MAX_VALUES:
            raise UnreadableStreamError("too_large", f"the pieces of the stream hold over {MAX_VALUES:,} values")

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
        raise UnreadableStreamError("malformed", f"a piece has {what} at `{self._spec.text_at}`, not a text{way}")

    def _shape(self) -> str:
        if not self._pieces:
            return f"it holds no piece of the format {self._spec.format}"
        shapes = list(dict.fromkeys(f"{piece['event']}: {shape_of(piece['data'])}" for piece in self._pieces[:1000]))
        return f"{self._way()}its pieces are {'; '.join(shapes[:3])}"[:300]

    def _way(self) -> str:
        """What to write, where the expression forgets that a piece holds `event` and `data`."""
        at = self._spec.text_at
        return f"write `data.{at}`; " if any(_has_text(at, piece["data"]) for piece in self._pieces[:1000]) else ""


def _found(expression: str | None, piece: dict[str, Any]) -> Any:
    try:
        return find(expression, piece)
    except MappingError as error:
        raise UnreadableStreamError(
            "malformed", f"`{expression}` cannot read a piece of the stream: {error}"
        ) from error


def _has_text(expression: str | None, data: Any) -> bool:
    try:
        return isinstance(data, dict) and isinstance(find(expression, data), str)
    except MappingError:
        return False
