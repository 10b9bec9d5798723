"""The functions that expressions may call beside those of JMESPath."""

from typing import Any

import pytest

from evals.client.mapping import MappingError, compiled, find
from evals.errors import ConfigError

SOURCES = {
    "sources": [
        {"name": "a.md", "document": ["one", "two"], "metadata": [{"page": 1}, {}], "distances": [0, 0.5]},
        {"name": "b.md", "document": ["three"], "metadata": [{"page": 9}], "distances": [None]},
    ]
}


ZIPPED = "sources[].zip({text: document, meta: metadata, score: distances, document_name: name})[]"
CASES: list[tuple[str, Any, Any]] = [
    # Parallel lists become one, in order, and with what is null in its place; zero stays zero.
    (ZIPPED + ".{text: text, section: meta.page, score: score, document_name: document_name}", SOURCES, [
        {"text": "one", "section": 1, "score": 0, "document_name": "a.md"},
        {"text": "two", "section": None, "score": 0.5, "document_name": "a.md"},
        {"text": "three", "section": 9, "score": None, "document_name": "b.md"},
    ]),
    # A vector store answers with a list for each query.
    ("zip({chunk_id: ids[0], score: distances[0]})", {"ids": [["x", "y"]], "distances": [[0.1, 0.2]]},
     [{"chunk_id": "x", "score": 0.1}, {"chunk_id": "y", "score": 0.2}]),
    # Null means that the server did not say, an empty list that there is nothing.
    *(("zip({text: a, score: b})", body, None) for body in ({"a": None}, {}, {"a": "x"})),
    *(("zip({text: a, score: b})", body, []) for body in ({"a": []}, {"a": [], "b": None})),
    ("nothing.zip({text: a})", {}, None),
    # One text of context is split by a pattern, without what is empty.
    (r"split(t, '\n\n')", {"t": "one\n\n\n\ntwo\n"}, ["one", "two"]),
    ("split(t, '---')", {"t": "one --- two---"}, ["one", "two"]),
    (r"split(t, '\[Source (\d+)\]:')", {"t": "[Source 1]: one [Source 2]: two"}, ["one", "two"]),
    *(("split(t, 'x')", {"t": text}, parts) for text, parts in (("", []), (" \n", []), ("one", ["one"]), (None, None))),
    # Two lists are joined by a key, in the order of the first; a key without an object stays, so that no rank moves.
    ("lookup(hits, docs, 'id')", {"hits": ["c", "a", "b"], "docs": [{"id": "a", "t": 1}, {"id": "c", "t": 2},
                                                                  {"id": "a", "t": 3}, 7]},
     [{"id": "c", "t": 2}, {"id": "a", "t": 1}, {"id": "b"}]),
    ('lookup(`2`, `[{"n": "2"}]`, \'n\')', {}, [{"n": "2"}]),
    ("lookup(hits, nothing, 'id')", {"hits": ["c"]}, None),
    ("lookup(nothing, docs, 'id')", {"docs": []}, None),
    # Distinct values are numbered as they first occur; what is no name has no number.
    ("number(names)[].{index: number, document_id: value}", {"names": ["b", "a", "b", None, "c", ["x"]]},
     [{"index": n, "document_id": name} for n, name in enumerate("bac", start=1)]),
    ("number(nothing)", {}, None),
    # JSON in a text is read, as of servers that wrap what a pipeline gave.
    ("parse_json(out).answer", {"out": '{"answer": "a"}'}, "a"),
    ("parse_json(out)", {"out": None}, None),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "body", "expected"), CASES)
def test_a_function_of_an_expression_gives_its_value(expression: str, body: Any, expected: Any) -> None:
    """As docs/profiles.md says."""
    assert find(expression, body) == expected


@pytest.mark.parametrize(
    ("expression", "body", "said"),
    [
        ("sources[0].zip({text: document, page: metadata[].page})", SOURCES,
         r"different lengths: text 2, page 1 .*leaves out what is null"),
        ("parse_json(out)", {"out": "oops"}, r"parse_json\(\) got no JSON: 'oops'"),
    ],
)  # fmt: skip
def test_what_a_function_cannot_read_is_told(expression: str, body: Any, said: str) -> None:
    """Of lists of different lengths it is unknown which items belong together."""
    with pytest.raises(MappingError, match=said):
        find(expression, body)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("zpi({a: a})", r"there is no function zpi\(\)"),
        ("a[].{t: splitt(x, y)}", r"there is no function splitt\(\)"),
    ],
)
def test_a_call_that_can_never_work_is_known_before_anything_is_sent(expression: str, said: str) -> None:
    """The library finds it only over a body."""
    with pytest.raises(ConfigError, match=said):
        compiled(expression)
