"""The lines of a text that arrives in pieces of bytes."""

import codecs
import re
from collections.abc import Iterator

_ENDS = re.compile(r"\r\n|\n|\r")
"""The line ends of an event stream (WHATWG HTML, 9.2.5); `str.splitlines` knows more, which are text there."""


class Decoded:
    """UTF-8 without its byte order mark, wherever the pieces are cut; what is no UTF-8 becomes question marks."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")

    def feed(self, data: bytes) -> str:
        """The text that some more bytes complete."""
        return self._decoder.decode(data)

    def finish(self) -> str:
        """What an incomplete character at the end stands for."""
        return self._decoder.decode(b"", final=True)


class Lines:
    """Tells the lines of a text apart as it arrives; one that is not ended is kept in parts, not copied each time."""

    def __init__(self) -> None:
        self._decoded = Decoded()
        self._begun: list[str] = []
        self._after_return = False
        """Whether the last character was a CR, of which a LF may be the second half."""

    def feed(self, data: bytes) -> Iterator[str]:
        """The lines that some more bytes complete, without their ends."""
        text = self._decoded.feed(data)
        if not text:
            return
        if self._after_return:
            text = text.removeprefix("\n")
        self._after_return = text.endswith("\r") if text else False
        *lines, rest = _ENDS.split(text)
        for line in lines:
            yield self._with_begun(line)
        if rest:
            self._begun.append(rest)

    def finish(self) -> str:
        """What stands after the last end of a line."""
        return self._with_begun(self._decoded.finish())

    def _with_begun(self, line: str) -> str:
        if self._begun:
            line = "".join([*self._begun, line])
            self._begun = []
        return line
