"""Faults below the body: time, connection, head, length, redirect and TLS."""

from faults.fault import Fault, forever, http, right, says, silence

_HEAD = b"HTTP/1.1 200 OK\r\n"
_LONG = b"Content-Length: 9999\r\n\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
_SECONDS = 2.0
"""To wait for what never comes whole; the other answers need a hundredth of it."""


def _chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


_TIME = [
    Fault("timeouts", name, sends, "timeout", timeout_s=_SECONDS, is_short=name in {"nothing comes", "a body drips"})
    for name, sends in (
        ("nothing comes", silence()),
        ("half a status line", silence(b"HTTP/1.1 2")),
        ("half the head", silence(_HEAD + b"Content-Le")),
        ("a head and no body", silence(_HEAD + _LONG)),
        ("half a body", silence(_HEAD + _LONG + right()[:20])),
        ("all of the body but its last byte", silence(http(right())[:-1])),
        ("the size of a chunk, and no chunk", silence(_HEAD + _CHUNKED + b"ff\r\n")),
        ("all chunks but the empty one at the end", silence(_HEAD + _CHUNKED + _chunk(right()))),
        ("only a 100 Continue", silence(b"HTTP/1.1 100 Continue\r\n\r\n")),
        ("a head drips", forever(_HEAD, again=b"X-Slow: 1\r\n", pause_s=0.05)),
        ("a body drips", forever(_HEAD + _LONG, again=b" ", pause_s=0.02)),
        ("chunks drip", forever(_HEAD + _CHUNKED, again=b"1\r\n \r\n", pause_s=0.02)),
    )
]

_PAGE = b" " * 65_536
_ENDLESS = [
    Fault("endless", "a body without a length", forever(_HEAD + b"\r\n", again=_PAGE), "too_large", is_short=True),
    Fault("endless", "chunks", forever(_HEAD + _CHUNKED, again=_chunk(b" " * 65_536)), "too_large"),
    Fault(
        "endless",
        "chunks of one byte",
        forever(_HEAD + _CHUNKED, again=_chunk(b" ") * 10_000),
        "too_large",
        max_body_bytes=65_536,
    ),
    Fault("endless", "a status line", forever(b"HTTP/1.1 200 ", again=b"O" * 65_536), "connect"),
    Fault("endless", "one header", forever(_HEAD + b"X-Long: ", again=b"x" * 65_536), "connect"),
    Fault("endless", "headers", forever(_HEAD, again=b"X-Many: 1\r\n" * 1000), "connect"),
    Fault(
        "endless",
        "the extension of a chunk",
        forever(_HEAD + _CHUNKED + b"1;", again=b"x" * 65_536),
        "timeout",
        also=("connect",),
        timeout_s=_SECONDS,
    ),
    Fault("endless", "trailers", forever(_HEAD + _CHUNKED + b"0\r\n", again=b"X-Many: 1\r\n" * 1000), "connect"),
    Fault(
        "endless",
        "interim answers",
        forever(again=b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100, pause_s=0.01),
        "timeout",
        timeout_s=_SECONDS,
    ),
    Fault("endless", "the body of an error", forever(b"HTTP/1.1 500 Oh\r\n\r\n", again=b" " * 65_536), "too_large"),
]

_RESETS = [
    Fault("resets", name, says(*pieces), "connect", is_short=name in {"no answer", "a reset in the body"})
    for name, pieces in (
        ("no answer", (None,)),
        ("a reset at once", ("reset",)),
        ("a reset in the head", (_HEAD, "reset")),
        ("a reset in the body", (_HEAD + _LONG + b"{", "reset")),
        ("the end after half the head", (_HEAD + b"Content-", None)),
        ("the end after the head", (_HEAD + _LONG, None)),
        ("the end in the body", (http(right())[:-1], None)),
        ("the end in a chunk", (_HEAD + _CHUNKED + b"ff\r\n{", None)),
        ("the end between two chunks", (_HEAD + _CHUNKED + _chunk(right()), None)),
        ("the greeting of another protocol", (b"SSH-2.0-OpenSSH_9.6\r\n", None)),
        ("a page without a head", (b"<html>Busy</html>", None)),
        ("HTTP/2", (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00" * 18, None)),
        ("random bytes", (bytes(range(256)) * 8, None)),
    )
]

_RESETS.append(
    Fault("resets", "an unknown version of HTTP", says(http(right()).replace(b"1.1", b"9.9")), "connect", also=(None,))
)

_LENGTHS = [
    Fault("lengths", "too long by one, then the end", says(http(right() + b" ")[:-1], None), "connect"),
    Fault("lengths", "below nothing", says(_HEAD + b"Content-Length: -5\r\n\r\n" + right(), None), "connect"),
    Fault("lengths", "no number", says(_HEAD + b"Content-Length: many\r\n\r\n" + right(), None), "connect"),
    Fault("lengths", "two that differ", says(_HEAD + b"Content-Length: 2\r\n" + _LONG + right(), None), "connect"),
    Fault("lengths", "of 31 digits", says(_HEAD + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n{", None), "connect"),
    Fault("lengths", "a chunk of no number", says(_HEAD + _CHUNKED + b"xyz\r\n{}\r\n", None), "connect"),
    Fault("lengths", "a chunk below nothing", says(_HEAD + _CHUNKED + b"-2\r\n{}\r\n", None), "connect"),
    Fault("lengths", "a chunk of 20 digits", says(_HEAD + _CHUNKED + b"f" * 20 + b"\r\n{}\r\n", None), "connect"),
    Fault(
        "lengths", "a chunk is longer than it says", says(_HEAD + _CHUNKED + b"1\r\n{}\r\n0\r\n\r\n", None), "connect"
    ),
    Fault("lengths", "none, and the connection ends", says(_HEAD + b"\r\n" + right(), None)),
    Fault("lengths", "an empty body", says(http(b"")), "malformed"),
    Fault("lengths", "no content", says(b"HTTP/1.1 204 No Content\r\n\r\n"), "malformed"),
    Fault("lengths", "too short by one", says(http(right()[:-1]), b"}"), "malformed", also=("connect",)),
]

_SURPLUS = [
    Fault(
        "surplus",
        name,
        says(*pieces),
        also=("connect",) if "words" in name else (),
        rps=4,
        is_short=name == "a second answer",
    )
    for name, pieces in (
        ("a second answer", (http(right()) + http(b'{"answer": "of nobody"}'),)),
        ("a second answer in a piece of its own", (http(right()), http(b'{"answer": "of nobody"}'))),
        ("words that are no answer", (http(right()), b"and so on")),
        ("an empty line", (http(right()) + b"\r\n",)),
        ("half an answer", (http(right()), http(right())[:30])),
        ("an answer after the last chunk", (_HEAD + _CHUNKED + _chunk(right()) + b"0\r\n\r\n" + http(b"{}"),)),
        ("a 103 Early Hints before the answer", (b"HTTP/1.1 103 Early Hints\r\n\r\n" + http(right()),)),
    )
]

_STATUS = (
    [
        Fault(
            "redirects",
            f"{status}, {where}",
            says(http(b"{}", *place, status=status)),
            "status",
            is_short=status.startswith("307"),
        )
        for status, where, *place in (
            ("301 Moved", "to another host", "Location: https://elsewhere.test/query"),
            ("302 Found", "to itself", "Location: /query"),
            ("303 See Other", "to a file", "Location: file:///etc/passwd"),
            ("307 Temporary", "to what is no address", "Location: http://[half"),
            ("308 Permanent", "with a login", "Location: http://me:hidden@elsewhere.test/?token=hidden"),
            ("302 Found", "to nowhere"),
        )
    ]
    + [
        Fault(
            "redirects",
            "304, of what was never sent",
            says(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
            "status",
        ),
    ]
    + [
        Fault("statuses", status, says(http(b'{"detail": "no"}', *headers, status=status)), "status")
        for status, *headers in (
            ("400 Bad Request",),
            ("404 Not Found",),
            ("413 Too Large",),
            ("429 Too Many", "Retry-After: 99999999999999999999"),
            ("500 Oh\xff no",),
            ("503 Busy", "Retry-After: -1"),
            ("599 Odd",),
            ("999 Denied",),
        )
    ]
)

_TLS = [
    Fault("TLS", "an answer without it", says(http(right())), "connect", certificate="none"),
    Fault("TLS", "a self-signed certificate", says(http(right())), "connect", certificate="self-signed"),
    Fault("TLS", "a certificate of another use", says(http(right())), "connect", certificate="another use"),
    Fault("TLS", "a certificate of another server", says(http(right())), "connect", certificate="another name"),
    Fault("TLS", "nothing in the handshake", says(), "timeout", certificate="silent", timeout_s=_SECONDS),
    Fault("TLS", "a reset behind it", says(_HEAD + _LONG + b"{", "reset"), "connect", certificate="good"),
    Fault("TLS", "an alert where none was spoken", says(b"\x15\x03\x01\x00\x02\x02\x28", None), "connect"),
]

WIRE = (*_TIME, *_ENDLESS, *_RESETS, *_LENGTHS, *_SURPLUS, *_STATUS, *_TLS)
