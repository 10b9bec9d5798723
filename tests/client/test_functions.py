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


def test_parallel_lists_become_one_with_the_fields_of_their_parent() -> None:
    """In order, and with what is null in its place; zero stays zero."""
    zipped = "sources[].zip({text: document, meta: metadata, score: distances, document_name: name})[]"
    chunks = "{text: text, section: meta.page, score: score, document_name: document_name}"
    assert find(f"{zipped}.{chunks}", SOURCES) == [
        {"text": "one", "section": 1, "score": 0, "document_name": "a.md"},
        {"text": "two", "section": None, "score": 0.5, "document_name": "a.md"},
        {"text": "three", "section": 9, "score": None, "document_name": "b.md"},
    ]


def test_the_lists_of_one_body_are_zipped_in_place() -> None:
    """As a vector store answers, with a list for each query."""
    body = {"ids": [["x", "y"]], "documents": [["one", "two"]], "distances": [[0.1, 0.2]]}
    found = find("zip({chunk_id: ids[0], text: documents[0], score: distances[0]})", body)
    assert found == [{"chunk_id": "x", "text": "one", "score": 0.1}, {"chunk_id": "y", "text": "two", "score": 0.2}]


@pytest.mark.parametrize(
    ("body", "expected"),
    [({"a": None}, None), ({}, None), ({"a": []}, []), ({"a": [], "b": None}, []), ({"a": "x"}, None)],
)
def test_missing_lists_are_missing_and_empty_ones_empty(body: Any, expected: Any) -> None:
    """Null means that the server did not say, an empty list that there is nothing."""
    assert find("zip({text: a, score: b})", body) == expected
    assert find("nothing.zip({text: a})", body) is None


def test_lists_of_different_lengths_are_no_parallel_ones() -> None:
    """Nobody knows which belong together, as where a projection left out what is null."""
    with pytest.raises(MappingError, match=r"different lengths: text 2, page 1 .*leaves out what is null"):
        find("sources[0].zip({text: document, page: metadata[].page})", SOURCES)


@pytest.mark.parametrize(
    ("separator", "context", "expected"),
    [
        (r"\n\n", "one\n\n\n\ntwo\n", ["one", "two"]),
        ("---", "one --- two---", ["one", "two"]),
        (r"\[Source (\d+)\]:", "[Source 1]: one [Source 2]: two", ["one", "two"]),
        ("x", "", []),
        ("x", " \n", []),
        ("x", "one", ["one"]),
        ("x", None, None),
    ],
)
def test_one_text_of_context_is_split_into_chunks(separator: str, context: Any, expected: Any) -> None:
    """By a pattern, without what is empty; no context stays missing."""
    assert find(f"split(context, '{separator}')", {"context": context}) == expected


def test_two_lists_are_joined_by_a_key() -> None:
    """In the order of the first; a key without an object stays, so that no rank moves."""
    body = {"hits": ["c", "a", "b"], "docs": [{"id": "a", "t": 1}, {"id": "c", "t": 2}, {"id": "a", "t": 3}, 7]}
    assert find("lookup(hits, docs, 'id')", body) == [{"id": "c", "t": 2}, {"id": "a", "t": 1}, {"id": "b"}]
    assert find('lookup(`2`, `[{"n": "2"}]`, \'n\')', {}) == [{"n": "2"}]
    assert find("lookup(hits, nothing, 'id')", body) is None
    assert find("lookup(nothing, docs, 'id')", body) is None


def test_distinct_values_are_counted_as_they_first_occur() -> None:
    """For markers that number documents: what is no name has no number."""
    body = {"names": ["b", "a", "b", None, "c", ["x"]]}
    found = find("number(names)[].{index: number, document_id: value}", body)
    assert found == [{"index": n, "document_id": name} for n, name in enumerate("bac", start=1)]
    assert find("number(nothing)", body) is None


def test_json_in_a_text_is_read() -> None:
    """As of servers that wrap what a pipeline gave."""
    assert find("parse_json(out).answer", {"out": '{"answer": "a"}'}) == "a"
    assert find("parse_json(out)", {"out": None}) is None
    with pytest.raises(MappingError, match=r"parse_json\(\) got no JSON: 'oops'"):
        find("parse_json(out)", {"out": "oops"})


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
