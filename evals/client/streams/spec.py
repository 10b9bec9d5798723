"""The keys of `server.stream`: how the pieces of an answer are told apart and put together."""

from typing import Literal

from evals.schemas.base import Record

StreamFormat = Literal["sse", "ndjson", "vercel", "text"]

DELTAS: dict[StreamFormat, str] = {"vercel": "event == '0' && data", "text": "data"}
"""Where the text of a piece stands in formats that settle it."""
ERRORS: dict[StreamFormat, str] = {"vercel": "event == '3' && data"}


class StreamSpec(Record):
    """How an answer comes in pieces; expressions see a piece as an object with `event` and `data`.

    `map` and `ask.ok_when` see the list of all pieces.
    """

    format: StreamFormat = "sse"
    """sse: server-sent events; ndjson: a JSON value a line; vercel: lines such as 0:"text"; text: nothing but text."""
    delta: str | None = None
    """JMESPath to a piece's share of the answer, a text or a list of texts; what finds none adds nothing. Vercel lines
    and plain text have one of their own. Where it is null, `map.answer` finds the answer in the list of pieces."""
    whole: bool = False
    """Whether each piece holds the answer from its beginning, so that the last one has all of it."""
    data: Literal["json", "text"] = "json"
    """What the data of an event are; text is left as it is, so that a piece 96 is no number."""
    done: str | None = None
    """JMESPath that is true of the last piece; a stream that ends without it has broken off. [DONE] always ends one."""
    error: str | None = None
    """JMESPath to what a piece says went wrong: the answer is a failure (not_ok) then."""

    @property
    def text_at(self) -> str | None:
        """Where the text of a piece stands."""
        return self.delta or DELTAS.get(self.format)

    @property
    def error_at(self) -> str | None:
        """Where a piece says what went wrong."""
        return self.error or ERRORS.get(self.format)
