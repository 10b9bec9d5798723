"""The pieces of a stream, told apart as the standard of each format says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.client.mapping import UnusableError
from evals.client.spec import StreamFormat
from evals.client.streams import EventReader

Pieces = list[tuple[str, str | None]]


def pieces_of(name: StreamFormat, *parts: bytes) -> Pieces:
    """What the parts, arriving one after the other, make."""
    reader = EventReader(name)
    return [piece for part in (*parts, None) for piece in reader.feed(part or b"", final=part is None)]


STANDARD: list[tuple[str, Pieces]] = [
    ("data: YHOO\ndata: +2\ndata: 10\n\n", [("message", "YHOO\n+2\n10")]),
    (
        ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
        [("message", "first event"), ("message", "second event"), ("message", " third event")],
    ),
    ("data\n\ndata\ndata\n\ndata:", [("message", ""), ("message", "\n")]),
    ("data:test\n\ndata: test\n\n", [("message", "test"), ("message", "test")]),
    ("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n", [("add", "73857293"), ("remove", "2153")]),
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("stream", "expected"), STANDARD)
def test_the_examples_of_the_standard_are_read_as_it_says(stream: str, expected: Pieces, end: str) -> None:
    """WHATWG HTML, 9.2.6, with each of the three line ends."""
    assert pieces_of("sse", stream.replace("\n", end).encode()) == expected


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("\ufeffdata: a\n\n", [("message", "a")]),
        ("data: \ufeffa\n\n", [("message", "\ufeffa")]),
        ("retry: 10\nwhat: ever\nid: 3\n\n", []),
        ("event: token\ndata: a\n\ndata: b\n\n", [("token", "a"), ("message", "b")]),
        ("data: a: b\n\n", [("message", "a: b")]),
        ("data: a\u2028b\x0bc\n\n", [("message", "a\u2028b\x0bc")]),
        ("data: a\n", []),
        ("data: a", []),
        ("\n\n\n: ping\n\n:\n\n", []),
        ("event: end\r\n\r\n", [("end", None)]),
    ],
)
def test_fields_comments_and_marks_of_an_event_stream(stream: str, expected: Pieces) -> None:
    """Only data make an event, or a name; a mark at the beginning is none of it; an unfinished event is none."""
    assert pieces_of("sse", stream.encode()) == expected


def test_the_other_formats_are_lines_and_text() -> None:
    """A last line without an end counts; what is no line of the format is refused."""
    assert pieces_of("ndjson", b'{"a": 1}\r\n\n{"b":', b" 2}") == [("message", '{"a": 1}'), ("message", '{"b": 2}')]
    assert pieces_of("vercel", b'0:"a"\n8:[{"x": ":"}]\nd:{}') == [("0", '"a"'), ("8", '[{"x": ":"}]'), ("d", "{}")]
    assert pieces_of("text", "ü\n".encode()[:1], "ü\n".encode()[1:], b"b") == [("message", "ü\n"), ("message", "b")]
    with pytest.raises(UnusableError, match="<html>"):
        pieces_of("vercel", b"<html>\n")


WORDS = st.text(st.sampled_from('aü🦜 :"{}\n\r\u2028'), max_size=12)


@given(st.lists(st.tuples(st.sampled_from(["", "token"]), WORDS), max_size=6), st.integers(1, 7), st.data())
def test_where_a_stream_is_cut_on_its_way_makes_no_difference(
    events: list[tuple[str, str]], size: int, data: st.DataObject
) -> None:
    """Within a character, between CR and LF, or within the name of a field."""
    ends = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines = [
        line
        for name, text in events
        for line in ([f"event: {name}"] if name else []) + [f"data: {part}" for part in _split(text)] + [""]
    ]
    sent = "".join(f"{line}{ends}" for line in lines).encode()
    expected = [(name or "message", "\n".join(_split(text))) for name, text in events]
    assert pieces_of("sse", sent) == expected
    assert pieces_of("sse", *(sent[at : at + size] for at in range(0, len(sent), size))) == expected


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
