"""A body without its content-encoding, piece by piece: a few bytes can stand for gigabytes."""

import zlib
from collections.abc import Iterable, Iterator

from evals.client.connections.base import BrokenExchangeError

ACCEPTED = "gzip, deflate"
"""What is asked for; a server that sends something else is told so."""
_PIECE = 65_536
_MOST_LAYERS = 5
_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class Decoder:
    """Undoes the encodings of one body.

    Args:
        encodings: The header Content-Encoding; empty where there is none.
        limit: Bytes that each layer but the last may bring: what the last one brings is counted by who reads it.

    Raises:
        BrokenExchangeError: An encoding is unknown, or there are absurdly many.
    """

    def __init__(self, encodings: str, limit: int) -> None:
        names = [name.strip().lower() for name in encodings.split(",")]
        applied = [name for name in names if name not in {"", "identity"}]
        if len(applied) > _MOST_LAYERS:
            raise BrokenExchangeError("malformed", f"the body is encoded {len(applied)} times")
        self._layers = [_Layer(name) for name in reversed(applied)]
        self._limit = limit

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What some more bytes stand for.

        Raises:
            BrokenExchangeError: They are not so encoded, or a layer inside is too large.
        """
        pieces: Iterable[bytes] = (data,)
        for layer in self._layers[:-1]:
            pieces = self._bounded(layer, pieces)
        for layer in self._layers[-1:]:
            pieces = layer.feed(pieces)
        return iter(pieces)

    def finish(self) -> None:
        """Say that the body is complete.

        Raises:
            BrokenExchangeError: An encoding is not.
        """
        for layer in self._layers:
            layer.finish()

    def _bounded(self, layer: "_Layer", pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in layer.feed(pieces):
            if layer.brought > self._limit:
                raise BrokenExchangeError("too_large", f"an encoding in the body holds over {self._limit:,} bytes")
            yield piece


class _Layer:
    """One encoding.

    Attributes:
        brought: How many bytes came out of it.
    """

    def __init__(self, name: str) -> None:
        if name not in {"gzip", "x-gzip", "deflate"}:
            said = f"the body has the content-encoding {name[:40]!r}, and {ACCEPTED} was asked for"
            raise BrokenExchangeError("malformed", said)
        self._name = name
        self._inflate: zlib._Decompress | None = None
        self.brought = 0

    def feed(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            try:
                for out in self._inflated(piece):
                    self.brought += len(out)
                    yield out
            except zlib.error as error:
                raise BrokenExchangeError("malformed", f"the body is not {self._name}: {error}") from error

    def _inflated(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._inflate is None:
                self._inflate = zlib.decompressobj(_GZIP if self._name != "deflate" else _window_of(data))
            inflate = self._inflate
            if out := inflate.decompress(data, _PIECE):
                yield out
            data = inflate.unconsumed_tail
            if inflate.eof:  # parts of a gzip follow one another
                data, self._inflate = inflate.unused_data, None

    def finish(self) -> None:
        if self._inflate is not None:
            raise BrokenExchangeError("malformed", f"the body's {self._name} breaks off")


def _window_of(data: bytes) -> int:
    """Whether a `deflate` body is one of zlib, as the standard has it, or bare, as some servers send it."""
    head = data[:2]
    is_zlib = len(head) == 2 and head[0] & 0x0F == 8 and int.from_bytes(head, "big") % 31 == 0
    return _ZLIB if is_zlib else _RAW
