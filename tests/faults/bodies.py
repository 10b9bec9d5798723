"""Faults of the body as a whole: bombs, encodings, depth and size."""

import gzip
import zlib
from collections.abc import Callable
from typing import Any

from faults.fault import MEGABYTE, Fault, Sends, dumped, http, right, says


def _raw_deflate(data: bytes) -> bytes:
    made = zlib.compressobj(wbits=-15)
    return made.compress(data) + made.flush()


def _bomb(layers: int) -> bytes:
    """Two hundred million spaces in a few hundred bytes."""
    made = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = b"".join(made.compress(b" " * MEGABYTE) for _ in range(200)) + made.flush()
    for _ in range(layers - 1):
        data = gzip.compress(data)
    return data


def _later(make: Callable[[], bytes], *headers: str, status: str = "200 OK") -> Sends:
    """To send a response whose body is made when it is asked for: some are large."""
    return lambda _: [http(make(), *headers, status=status)]


def _encoded(content: bytes, encoding: str) -> Sends:
    return says(http(content, f"Content-Encoding: {encoding}"))


_GZIP = gzip.compress(right())
_BOMBS = [
    Fault(
        "bombs",
        "200 MB, compressed by gzip",
        _later(lambda: _bomb(1), "Content-Encoding: gzip"),
        "too_large",
        is_short=True,
    ),
    Fault(
        "bombs",
        "200 MB, compressed by gzip twice",
        _later(lambda: _bomb(2), "Content-Encoding: gzip, gzip"),
        "malformed",
    ),
    Fault("bombs", "Content-Encoding with a hundred entries", _encoded(_GZIP, ", ".join(["gzip"] * 100)), "malformed"),
    Fault(
        "bombs",
        "200 MB, compressed by zlib",
        _later(lambda: zlib.compress(b" " * (200 * MEGABYTE)), "Content-Encoding: deflate"),
        "too_large",
    ),
    Fault(
        "bombs",
        "100 MB in a hundred gzip members",
        _later(lambda: gzip.compress(b" " * MEGABYTE) * 100, "Content-Encoding: gzip"),
        "malformed",
    ),
    Fault(
        "bombs",
        "200 MB, compressed by gzip, with status 500",
        _later(lambda: _bomb(1), "Content-Encoding: gzip", status="500 Oh"),
        "too_large",
    ),
]

_ENCODINGS = [
    Fault("encodings", "gzip", _encoded(_GZIP, "gzip")),
    Fault("encodings", "zlib", _encoded(zlib.compress(right()), "deflate")),
    Fault("encodings", "deflate without a zlib header", _encoded(_raw_deflate(right()), "deflate"), "malformed"),
    Fault(
        "encodings",
        "gzip in two members",
        _encoded(gzip.compress(right()[:9]) + gzip.compress(right()[9:]), "gzip"),
        "malformed",
    ),
    Fault("encodings", "truncated gzip", _encoded(_GZIP[:-9], "gzip"), "malformed", is_short=True),
    Fault("encodings", "gzip with a wrong checksum", _encoded(_GZIP[:-8] + b"wrong" + _GZIP[-3:], "gzip"), "malformed"),
    Fault("encodings", "gzip followed by text", _encoded(_GZIP + b"and so on", "gzip"), "malformed", is_short=True),
    Fault("encodings", "plain text labelled as gzip", _encoded(right(), "gzip"), "malformed"),
    Fault("encodings", "gzip without Content-Encoding", says(http(_GZIP)), "malformed"),
    Fault("encodings", "an encoding that the client does not accept (br)", _encoded(right(), "br"), "malformed"),
    Fault("encodings", "an unknown encoding", _encoded(right(), "zebra"), "malformed"),
    Fault("encodings", "UTF-16", says(http(right().decode().encode("utf-16")))),
    Fault("encodings", "UTF-32", says(http(right().decode().encode("utf-32")))),
    Fault("encodings", "UTF-8 with a byte order mark", says(http(b"\xef\xbb\xbf" + right()))),
    Fault("encodings", "Latin-1", says(http('{"answer": "caf\xe9"}'.encode("latin-1"))), "malformed"),
    Fault(
        "encodings",
        "an HTML page",
        says(http(b"<html>Log in</html>", "Content-Type: text/html")),
        "malformed",
        is_short=True,
    ),
    Fault("encodings", "two JSON values in sequence", says(http(right() + right())), "malformed"),
]


def _padded(size: int) -> bytes:
    """The right body with so much white space that it has this length."""
    content = right()
    return content + b" " * (size - len(content))


def _nested(opening: bytes, closing: bytes, depth: int) -> bytes:
    return right()[:-1] + b', "more": ' + opening * depth + b"1" + closing * depth + b"}"


def _many(field: str, item: Any, count: int) -> bytes:
    """A body with a list of many like items, without the memory of making them."""
    items = b",".join([dumped(item)] * count)
    return right(**{field: ["here"]}).replace(b'"here"', items)


def _many_signs() -> bytes:
    return right(answer="".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(500_000)))


def _long_chunks() -> bytes:
    return right(chunks=[{"text": f"{number} {number * 7919:x} " * 125} for number in range(9_001)])


_SIZES = [
    Fault("depth", "100,000 nested lists", _later(lambda: _nested(b"[", b"]", 100_000)), "malformed", is_short=True),
    Fault("depth", "100,000 nested objects", _later(lambda: _nested(b'{"a":', b"}", 100_000)), "malformed"),
    Fault("depth", "101 nested lists", _later(lambda: _nested(b"[", b"]", 101)), "malformed"),
    Fault("depth", "90 nested lists", _later(lambda: _nested(b"[", b"]", 90))),
    Fault("depth", "500,000 opening brackets", _later(lambda: b"[" * 500_000), "malformed"),
    Fault("sizes", "a body of exactly 16 MiB", _later(lambda: _padded(16 * MEGABYTE))),
    Fault("sizes", "a body of 16 MiB and one byte", _later(lambda: _padded(16 * MEGABYTE + 1)), "too_large"),
    Fault(
        "sizes", "a list of five million empty lists", _later(lambda: b"[" + b"[]," * 5_000_000 + b"[]]"), "too_large"
    ),
    Fault(
        "sizes",
        "a list of two million small objects",
        _later(lambda: b"[" + b'{"a":1},' * 2_000_000 + b"{}]"),
        "too_large",
    ),
    Fault(
        "sizes", "an object with a million keys", _later(lambda: dumped({str(n): n for n in range(10**6)})), "too_large"
    ),
    Fault(
        "sizes",
        "50,000 chunks",
        _later(lambda: _many("chunks", {"text": "c"}, 50_000)),
        read={"chunks": 50_000},
        is_short=True,
    ),
    Fault("sizes", "50,000 citations", _later(lambda: _many("citations", 1, 50_000)), read={"citations": 50_000}),
    Fault("sizes", "an answer of 506,000 characters", _later(lambda: right(answer="Part 1 costs 8 euros. " * 23_000))),
    Fault(
        "sizes", "an answer of a single word of 524,288 characters", _later(lambda: right(answer="x" * (MEGABYTE // 2)))
    ),
    Fault("sizes", "an answer of 15 MB", _later(lambda: right(answer="Part 1 is. " * 1_430_000)), "too_large"),
    Fault(
        "sizes",
        "an answer of 300,000 ligatures that each expand to 18 letters",
        _later(lambda: right(answer="\ufdfa" * 300_000)),
        "too_large",
        is_short=True,
    ),
    Fault("sizes", "an answer of 500,000 characters, 20,000 of them distinct", _later(_many_signs)),
    Fault("sizes", "9,001 chunks with 15 MB of text", _later(_long_chunks), noted="longer than 4,194,304 characters"),
    Fault("sizes", "a number of 5,000 digits", says(http(b'{"answer": ' + b"9" * 5000 + b"}")), "malformed"),
]

BODIES = (*_BOMBS, *_ENCODINGS, *_SIZES)
