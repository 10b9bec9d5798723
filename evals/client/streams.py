"""Answers that arrive in pieces: events of a stream, and the answer that their texts make."""

import codecs
import re
from collections.abc import Iterator
from io import IncrementalNewlineDecoder
from itertools import pairwise
from typing import Any

from evals.client.mapping import MappingError, Streamed, UnusableError, error_in, find, kind_of, shape_of
from evals.client.spec import StreamFormat, StreamSpec
from evals.text.decoding import MAX_VALUES, parse_json

END = "[DONE]"
"""The data of an event that ends a stream, as OpenAI sends it and many after it."""

CUT = "the stream ends within an event, which is left out"

UNFINISHED = "the answer may be cut off: the stream ended without [DONE] or a finish_reason"

CUMULATIVE = (
    "each piece of the stream begins with the one before it, so the answer repeats itself: server.stream.whole: true?"
)

UNREAD_ERROR = (
    "a piece of the stream looks like an error, which server.stream.error does not find: the answer may have broken off"
)

_LINE_OF_AI_SDK = re.compile(r"\s*([0-9a-zA-Z])\s*:(.*)", re.DOTALL)

_ERRORS = frozenset({"error", "exception", "fatal"})
"""Names of events, and types in their data, that say that something went wrong."""

_FINISH = re.compile(rb'"finish_reason"\s*:\s*(null)?')

_FEW, _LONG = 3, 20
"""Of fewer pieces, or of a shorter answer, one that begins with another may be chance, such as `ha` and `haha`."""

_ENVELOPE = 3
"""Values of a piece that are not its data."""


class EventReader:
    """Separates the events of a stream, wherever its bytes are cut on their way.

    The bytes are UTF-8 without its byte order mark; what is none becomes question marks.

    Args:
        form: `sse`: fields, comments and data of several lines as in WHATWG HTML, 9.2.6; beyond it an event with a name
            and no data counts, as some servers end a stream so. `ndjson`: a value a line. `vercel`: a kind, which is
            the name of the event, and a value a line. `text`: whatever arrives at once.

    Attributes:
        cut: Whether the stream ended within an event that is left out.
    """

    def __init__(self, form: StreamFormat) -> None:
        self._form = form
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        # Lines end in CR, LF or both (WHATWG HTML, 9.2.5); `str.splitlines` knows more ends, which are text there.
        self._decoder = decoder if form == "text" else IncrementalNewlineDecoder(decoder, translate=True)
        self._begun: list[str] = []
        """The parts of a line that is not ended: it is not copied each time."""
        self._name, self._data = "", list[str]()
        self.cut = False

    def feed(self, data: bytes, *, final: bool = False) -> Iterator[tuple[str, str | None]]:
        """The events that some more bytes complete, each with its name and its data.

        Raises:
            UnusableError: They are not in this format.
        """
        text = self._decoder.decode(data, final)
        if self._form == "text":
            yield from [("message", text)] if text else ()
            return
        *lines, rest = text.split("\n")
        for line in lines:
            whole, self._begun = "".join([*self._begun, line]), []
            yield from self._line(whole)
        if rest:
            self._begun.append(rest)
        if final and self._form == "sse":  # an event that no empty line ends is none
            self.cut = bool(self._begun or self._data or self._name)
        elif final:
            yield from self._line("".join(self._begun))

    def _line(self, line: str) -> Iterator[tuple[str, str | None]]:
        if self._form == "sse":
            name, _, value = line.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
            elif name == "event":
                self._name = value.removeprefix(" ")
            elif not line and (self._name or self._data):
                yield self._name or "message", "\n".join(self._data) if self._data else None
                self._name, self._data = "", []
        elif line.strip():
            typed = _LINE_OF_AI_SDK.fullmatch(line) if self._form == "vercel" else None
            if typed is None and self._form == "vercel":
                raise UnusableError(f'a line is not of a kind and a value, such as 0:"text": {line[:80]!r}')
            yield ("message", line) if typed is None else (typed[1], typed[2])


class Collector:
    """Puts the answer of one stream together as its events arrive, and notes when its text came.

    Args:
        spec: How its events are separated and read.

    Attributes:
        received: The bytes so far.
        is_done: Whether the last event was there: what follows is no part of the answer.
        first_ms: When the first text that is not empty arrived, from sending the request; None before.
        last_ms: The same of the last one.
    """

    def __init__(self, spec: StreamSpec) -> None:
        self._spec = spec
        self._reader = EventReader(spec.format)
        self._events: list[dict[str, Any]] = []
        self._values = 0
        self._texts: list[str] = []
        self._has_text = False
        """Whether any event had a text, were it an empty one."""
        self.received = bytearray()
        self.is_done = False
        self.first_ms: float | None = None
        self.last_ms: float | None = None

    def take(self, data: bytes, at_ms: float, *, final: bool = False) -> None:
        """Take what arrived.

        Args:
            data: As it was sent, without its content-encoding.
            at_ms: When, in milliseconds from sending the request.
            final: Whether nothing follows.

        Raises:
            UnusableError: It is not as the profile says, or says that something went wrong.
        """
        self.received += data
        for name, text in self._reader.feed(data, final=final):
            self._see(name, text or None, at_ms)
            if self.is_done:
                return

    def finish(self, at_ms: float) -> None:
        """Note the regular end of the stream.

        Raises:
            UnusableError: It broke off, or its last event is not as the profile says.
        """
        if self.is_done:
            return
        self.take(b"", at_ms, final=True)
        if self._spec.done is not None and not self.is_done:
            what = f"no piece for which `{self._spec.done}` is true; it brought {self.so_far}"
            raise UnusableError(f"the stream ended with {what}", "broken_off")

    @property
    def so_far(self) -> str:
        """A description of what arrived."""
        if characters := sum(map(len, self._texts)):
            return f"{characters:,} characters of an answer"
        return f"{len(self.received):,} bytes and no text of an answer"

    def body(self) -> list[dict[str, Any]]:
        """All events, as expressions see them; plain text is one."""
        return [{"event": "message", "data": "".join(self._texts)}] if self._spec.format == "text" else self._events

    def streamed(self) -> Streamed | None:
        """The answer of the events, with notes on it; None where the profile does not look for it in each."""
        if self._spec.text_at is None:
            return None
        texts = self._texts
        if not self._has_text:
            return Streamed(None, [f"no piece of the stream has a text at `{self._spec.text_at}`; {self._shape()}"])
        is_long = len(texts) >= _FEW and len(texts[0]) < len(texts[-1]) >= _LONG
        doubts = {
            CUT: self._reader.cut,
            UNFINISHED: not self.is_done and {finish[1] for finish in _FINISH.finditer(self.received)} == {b"null"},
            CUMULATIVE: is_long and all(after.startswith(before) for before, after in pairwise(texts)),
            UNREAD_ERROR: any(map(_is_error, self._events)),
        }
        return Streamed("".join(texts), [note for note, holds in doubts.items() if holds])

    def _see(self, name: str, data: str | None, at_ms: float) -> None:
        if self._spec.format == "text":
            self._add(data, at_ms)
            return
        if data is not None and data.strip() == END:
            self.is_done = True
            return
        event = {"event": name, "data": self._parsed(data)}
        self._events.append(event)
        self._values += _ENVELOPE + (sum(map(data.count, ",[{:")) if data else 0)
        if self._values > MAX_VALUES:  # as those of a body are bounded
            raise UnusableError(f"the pieces of the stream hold over {MAX_VALUES:,} values", "too_large")
        if failure := _selected(self._spec.error_at, event) or error_in(event["data"]):
            raise UnusableError(f"the stream says after {self.so_far}: {str(failure)[:200]}", "not_ok")
        self._add(_selected(self._spec.text_at, event), at_ms)
        self.is_done = bool(_selected(self._spec.done, event))

    def _parsed(self, data: str | None) -> Any:
        if data is None or (self._spec.format == "sse" and self._spec.data == "text"):
            return data
        try:
            return parse_json(data.encode())
        except ValueError as error:
            if self._spec.format == "sse" and not data.lstrip().startswith(("{", "[", '"')):
                return data  # a word such as ping
            raise UnusableError(f"a piece of the stream is not JSON: {data[:120]!r}") from error

    def _add(self, given: Any, at_ms: float) -> None:
        """Add the text, or the list of texts, that an event gives."""
        if given is None or isinstance(given, bool) or given == []:
            return
        texts = given if isinstance(given, list) else [given]
        for odd in (text for text in texts if not isinstance(text, str)):
            hint = " (server.stream.data: text leaves it a text)" if kind_of(odd) == "a number" else ""
            raise UnusableError(f"a piece has {kind_of(odd)} at `{self._spec.text_at}`, not a text{hint}")
        text, self._has_text = "".join(texts), True
        if text and not (self._spec.whole and self._texts == [text]):
            if self._spec.whole:
                self._texts.clear()
            self._texts.append(text)
            self.first_ms = at_ms if self.first_ms is None else self.first_ms
            self.last_ms = at_ms

    def _shape(self) -> str:
        """What the events look like, for somebody who writes the expression of their text."""
        if not self._events:
            return f"it holds no piece of the format {self._spec.format}"
        shapes = dict.fromkeys(f"{event['event']}: {shape_of(event)}" for event in self._events[:1000])
        return f"its pieces are {'; '.join(list(shapes)[:3])}"[:300]


def _selected(expression: str | None, event: dict[str, Any]) -> Any:
    try:
        return find(expression, event)
    except MappingError as error:
        raise UnusableError(f"`{expression}` cannot read a piece of the stream: {error}") from error


def _is_error(event: dict[str, Any]) -> bool:
    """Whether an event says that something went wrong, by its name, its type or a key `error`."""
    data = event["data"] if isinstance(event["data"], dict) else {}
    return event["event"].lower() in _ERRORS or bool(data.get("error")) or data.get("type") in ("error", "exception")
