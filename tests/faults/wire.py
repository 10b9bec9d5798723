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
    Fault(
        "timeouts",
        name,
        sends,
        "timeout",
        timeout_s=_SECONDS,
        is_short=name in {"no response", "a body sent slowly, byte by byte"},
    )
    for name, sends in (
        ("no response", silence()),
        ("half a status line, then nothing", silence(b"HTTP/1.1 2")),
        ("half the headers, then nothing", silence(_HEAD + b"Content-Le")),
        ("headers without a body", silence(_HEAD + _LONG)),
        ("half the body, then nothing", silence(_HEAD + _LONG + right()[:20])),
        ("the body without its last byte", silence(http(right())[:-1])),
        ("a chunk size without the chunk", silence(_HEAD + _CHUNKED + b"ff\r\n")),
        ("all chunks except the last, empty one", silence(_HEAD + _CHUNKED + _chunk(right()))),
        ("100 Continue without a final response", silence(b"HTTP/1.1 100 Continue\r\n\r\n")),
        ("endless headers, sent slowly", forever(_HEAD, again=b"X-Slow: 1\r\n", pause_s=0.05)),
        ("a body sent slowly, byte by byte", forever(_HEAD + _LONG, again=b" ", pause_s=0.02)),
        ("chunks of one byte, sent slowly", forever(_HEAD + _CHUNKED, again=b"1\r\n \r\n", pause_s=0.02)),
    )
]

_PAGE = b" " * 65_536
_ENDLESS = [
    Fault(
        "endless",
        "endless body without Content-Length",
        forever(_HEAD + b"\r\n", again=_PAGE),
        "too_large",
        is_short=True,
    ),
    Fault("endless", "endless chunks", forever(_HEAD + _CHUNKED, again=_chunk(b" " * 65_536)), "too_large"),
    Fault(
        "endless",
        "endless chunks of one byte",
        forever(_HEAD + _CHUNKED, again=_chunk(b" ") * 10_000),
        "too_large",
        max_body_bytes=65_536,
    ),
    Fault("endless", "endless status line", forever(b"HTTP/1.1 200 ", again=b"O" * 65_536), "connect"),
    Fault("endless", "one endless header", forever(_HEAD + b"X-Long: ", again=b"x" * 65_536), "connect"),
    Fault("endless", "endless headers", forever(_HEAD, again=b"X-Many: 1\r\n" * 1000), "connect"),
    Fault(
        "endless",
        "endless chunk extension",
        forever(_HEAD + _CHUNKED + b"1;", again=b"x" * 65_536),
        "timeout",
        also=("connect",),
        timeout_s=_SECONDS,
    ),
    Fault(
        "endless", "endless trailers", forever(_HEAD + _CHUNKED + b"0\r\n", again=b"X-Many: 1\r\n" * 1000), "connect"
    ),
    Fault(
        "endless",
        "endless 103 Early Hints",
        forever(again=b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100, pause_s=0.01),
        "timeout",
        timeout_s=_SECONDS,
    ),
    Fault(
        "endless",
        "endless body of a 500 response",
        forever(b"HTTP/1.1 500 Oh\r\n\r\n", again=b" " * 65_536),
        "too_large",
    ),
]

_RESETS = [
    Fault(
        "resets",
        name,
        says(*pieces),
        "connect",
        is_short=name in {"connection closed without a response", "connection reset within the body"},
    )
    for name, pieces in (
        ("connection closed without a response", (None,)),
        ("connection reset without a response", ("reset",)),
        ("connection reset within the headers", (_HEAD, "reset")),
        ("connection reset within the body", (_HEAD + _LONG + b"{", "reset")),
        ("connection closed within the headers", (_HEAD + b"Content-", None)),
        ("connection closed after the headers", (_HEAD + _LONG, None)),
        ("connection closed within the body", (http(right())[:-1], None)),
        ("connection closed within a chunk", (_HEAD + _CHUNKED + b"ff\r\n{", None)),
        ("connection closed between two chunks", (_HEAD + _CHUNKED + _chunk(right()), None)),
        ("an SSH greeting instead of HTTP", (b"SSH-2.0-OpenSSH_9.6\r\n", None)),
        ("HTML without status line and headers", (b"<html>Busy</html>", None)),
        ("an HTTP/2 frame", (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00" * 18, None)),
        ("random bytes instead of HTTP", (bytes(range(256)) * 8, None)),
    )
]

_RESETS.append(
    Fault(
        "resets", "an unknown HTTP version (9.9)", says(http(right()).replace(b"1.1", b"9.9")), "connect", also=(None,)
    )
)

_LENGTHS = [
    Fault(
        "lengths",
        "Content-Length one too large, then connection closed",
        says(http(right() + b" ")[:-1], None),
        "connect",
    ),
    Fault("lengths", "negative Content-Length", says(_HEAD + b"Content-Length: -5\r\n\r\n" + right(), None), "connect"),
    Fault(
        "lengths",
        "Content-Length that is not a number",
        says(_HEAD + b"Content-Length: many\r\n\r\n" + right(), None),
        "connect",
    ),
    Fault(
        "lengths",
        "two different values of Content-Length",
        says(_HEAD + b"Content-Length: 2\r\n" + _LONG + right(), None),
        "connect",
    ),
    Fault(
        "lengths",
        "Content-Length of 31 digits",
        says(_HEAD + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n{", None),
        "connect",
    ),
    Fault("lengths", "a chunk size that is not a number", says(_HEAD + _CHUNKED + b"xyz\r\n{}\r\n", None), "connect"),
    Fault("lengths", "a negative chunk size", says(_HEAD + _CHUNKED + b"-2\r\n{}\r\n", None), "connect"),
    Fault("lengths", "a chunk size of 20 digits", says(_HEAD + _CHUNKED + b"f" * 20 + b"\r\n{}\r\n", None), "connect"),
    Fault("lengths", "a chunk longer than its size", says(_HEAD + _CHUNKED + b"1\r\n{}\r\n0\r\n\r\n", None), "connect"),
    Fault("lengths", "no Content-Length, then connection closed", says(_HEAD + b"\r\n" + right(), None)),
    Fault("lengths", "an empty body", says(http(b"")), "malformed"),
    Fault("lengths", "204 No Content", says(b"HTTP/1.1 204 No Content\r\n\r\n"), "malformed"),
    Fault("lengths", "Content-Length one too small", says(http(right()[:-1]), b"}"), "malformed", also=("connect",)),
]

_SURPLUS = [
    Fault(
        "surplus",
        name,
        says(*pieces),
        also=("connect",) if "not HTTP" in name else (),
        rps=4,
        is_short=name.startswith("a second response in"),
    )
    for name, pieces in (
        ("a second response in the same packet", (http(right()) + http(b'{"answer": "of nobody"}'),)),
        ("a second response in another packet", (http(right()), http(b'{"answer": "of nobody"}'))),
        ("text that is not HTTP after the response", (http(right()), b"and so on")),
        ("an empty line after the response", (http(right()) + b"\r\n",)),
        ("half a second response", (http(right()), http(right())[:30])),
        ("a second response after the last chunk", (_HEAD + _CHUNKED + _chunk(right()) + b"0\r\n\r\n" + http(b"{}"),)),
        ("103 Early Hints before the response", (b"HTTP/1.1 103 Early Hints\r\n\r\n" + http(right()),)),
    )
]

_STATUS = (
    [
        Fault(
            "redirects",
            f"{status} {where}",
            says(http(b"{}", *place, status=status)),
            "status",
            is_short=status.startswith("307"),
        )
        for status, where, *place in (
            ("301", "to another host", "Location: https://elsewhere.test/query"),
            ("302", "to the same URL", "Location: /query"),
            ("303 See Other", "to a file URL", "Location: file:///etc/passwd"),
            ("307 Temporary", "with an invalid URL", "Location: http://[half"),
            ("308 Permanent", "to a URL with credentials", "Location: http://me:hidden@elsewhere.test/?token=hidden"),
            ("302", "without Location"),
        )
    ]
    + [
        Fault(
            "redirects",
            "304 Not Modified to an unconditional request",
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
    Fault("TLS", "a response without TLS on an https URL", says(http(right())), "connect", certificate="none"),
    Fault("TLS", "a self-signed certificate", says(http(right())), "connect", certificate="self-signed"),
    Fault("TLS", "a certificate for another purpose", says(http(right())), "connect", certificate="another use"),
    Fault("TLS", "a certificate of another host", says(http(right())), "connect", certificate="another name"),
    Fault("TLS", "no reply to the TLS handshake", says(), "timeout", certificate="silent", timeout_s=_SECONDS),
    Fault(
        "TLS",
        "connection reset within the body, over TLS",
        says(_HEAD + _LONG + b"{", "reset"),
        "connect",
        certificate="good",
    ),
    Fault("TLS", "a TLS alert on an http URL", says(b"\x15\x03\x01\x00\x02\x02\x28", None), "connect"),
]

WIRE = (*_TIME, *_ENDLESS, *_RESETS, *_LENGTHS, *_SURPLUS, *_STATUS, *_TLS)
