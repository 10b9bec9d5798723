"""Faults of single values: a wrong type in every field, and numbers that are none or cannot be."""

from typing import Any

from faults.fault import HIT, Fault, body, dumped, http, right, says

_CHUNK = {"chunk_id": f"c{HIT}", "document_id": f"d{HIT}", "text": f"Part {HIT}: {HIT + 7} euros."}
_UNREADABLE = "server.map.{}"


def _typed(field: str, said: str, value: Any, *, kind: Any = None, noted: bool = False, **read: Any) -> Fault:
    return Fault(
        "types",
        f"{field}: {said}",
        says(http(right(**{field: value}))),
        kind,
        read=read,
        noted=_UNREADABLE.format(field) if noted else None,
        is_short=noted and said == "a text",
    )


def _chunked(said: str, *, noted: bool = False, **fields: Any) -> Fault:
    """A chunk whose other fields are right."""
    note = _UNREADABLE.format("chunks") if noted else None
    sent = says(http(right(chunks=[_CHUNK | fields])))
    return Fault("types", f"chunks: {said}", sent, read={"chunks": 1}, noted=note)


_ANSWERS = [
    _typed("answer", said, value, kind="malformed")
    for said, value in (
        ("null", None),
        ("a number", 5),
        ("true", True),
        ("a list", ["Part"]),
        ("an object", {"text": "Part"}),
    )
] + [
    _typed("answer", "an empty text", "", answer=""),
    _typed("answer", "an unpaired surrogate", "Part \ud800 1", answer="Part ? 1"),
    _typed("answer", "a NUL and terminal escape codes", "Part\x00 \x1b[31m1", answer="Part\x00 \x1b[31m1"),
    Fault("types", "an empty object as the body", says(http(b"{}")), "malformed"),
    Fault("types", "null as the body", says(http(b"null")), "malformed"),
    Fault("types", "a list as the body", says(http(dumped([body(HIT)]))), "malformed"),
    Fault("types", "a text as the body", says(http(b'"Part 1"')), "malformed"),
    Fault("types", "a duplicate key", says(http(b'{"answer": "first",' + right()[1:]))),
]

_LISTS = [
    _typed(field, said, value, noted=noted, **{field: read})
    for field in ("chunks", "citations")
    for said, value, noted, read in (
        ("null", None, False, None if field == "chunks" else 1),
        ("empty", [], False, []),
        ("a number", 5, True, None),
        ("a text", "c1", True, None),
        ("an object", {"c1": 1}, True, None),
        ("a list of lists", [["c1"]], True, None),
        ("a list with true", [True], True, None),
    )
] + [
    _chunked("a number as text", text=5),
    _chunked("a list as text", noted=True, text=["x"]),
    _chunked("an object as id", noted=True, chunk_id={}),
    _chunked("a span with end before start", start=9, end=3),
    _chunked("a negative span", start=-9, end=-3),
    _chunked("a span of texts", start="a", end="b"),
    _chunked("a score that is a text", score="high"),
    _typed("citations", "a negative index", [-5], citations=1),
]

_SINGLE = [
    _typed("usage", said, value, usage=None)
    for said, value in (
        ("null", None),
        ("a number", 5),
        ("a list", [1, 2]),
        ("without completion_tokens", {"prompt_tokens": 5}),
    )
] + [
    _typed("model", "a list", ["m"], model=None),
    _typed("model", "a number", 5, model="5"),
    _typed("confidence", "a list", [1], confidence=None),
    _typed("confidence", "true", True, confidence=None),
    _typed("confidence", "a text", "sure", confidence=None),
    _typed("confidence", "a number as text", "0.5", confidence=0.5),
    _typed("stages", "a text", "dense", stages=None),
    _typed("stages", "a number", 5, stages=None),
    _typed("stages", "a list of numbers", [5], stages=[5]),
    _typed("stages", "an object of lists", {"dense": ["c1"]}, stages=[{"name": "dense", "items": ["c1"]}]),
]


def _tokens(said: str, digits: str, *, noted: bool = True) -> Fault:
    content = right().replace(b'"prompt_tokens": 100', b'"prompt_tokens": ' + digits.encode())
    return Fault(
        "numbers",
        f"tokens: {said}",
        says(http(content)),
        read={"usage": None},
        noted="usage" if noted else None,
        is_short=said == "1e308",
    )


def _confidence(said: str, digits: str, *, noted: bool = True) -> Fault:
    content = right().replace(b'"confidence": 0.75', b'"confidence": ' + digits.encode())
    note = "confidence" if noted else None
    return Fault("numbers", f"confidence: {said}", says(http(content)), read={"confidence": None}, noted=note)


def _score(said: str, digits: str, *, noted: bool = True) -> Fault:
    content = right().replace(b'"score": 0.25', b'"score": ' + digits.encode())
    return Fault("numbers", f"score: {said}", says(http(content)), noted="chunks" if noted else None)


_NUMBERS = [
    _tokens("1e308", "1e308"),
    _tokens("1e999", "1e999", noted=False),
    _tokens("31 digits", "1" + "0" * 30),
    _tokens("-1", "-1"),
    _tokens("NaN", "NaN", noted=False),
    _tokens("infinity", "Infinity", noted=False),
    _tokens("0.5", "0.5"),
    _confidence("1e308", "1e308"),
    _confidence("NaN", "NaN", noted=False),
    _confidence("infinity", "-Infinity", noted=False),
    _score("NaN", "NaN", noted=False),
    _score("1e999", "1e999", noted=False),
    _score("1e308", "1e308"),
    _score("31 digits", "1" + "0" * 30),
    _chunked("a span of 31 digits", noted=True, start=0, end=10**30),
    _typed("citations", "an index of 31 digits", [10**30], noted=True, citations=None),
]

VALUES = (*_ANSWERS, *_LISTS, *_SINGLE, *_NUMBERS)
