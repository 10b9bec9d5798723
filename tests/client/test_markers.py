"""Citations that stand in the answer's text only."""

from collections.abc import Callable

import pytest

from evals.client.mapping import MarkerReader
from evals.schemas import EvalResponse

Ask = Callable[..., EvalResponse]
MARKERS = {"given_as": "markers"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("yes [1]", [1]),
        ("a [1][3] b [1]", [1, 3, 1]),
        ("a [1,2]", [1, 2]),
        ("a [1, 4 , 2]", [1, 4, 2]),
        ("a [1-3]", [1, 2, 3]),
        ("a [2 - 2, 5]", [2, 5]),
        ("a [2-1]", []),
        ("a [0]", [0]),
        ("a [-1] [x] [1.5] []", []),
        ("a (1)", []),
        ("", []),
        ("a [1–3]", [1, 2, 3]),
        ("a [1; 3], b [2;4–5]", [1, 3, 2, 4, 5]),
        ("a [^1] b [^2][^3]", [1, 2, 3]),
        ("a [^note]", []),
        ("a 【1】 b 【2, 4】", [1, 2, 4]),
        ("a 【3†source】 b 【4†L5-L9】", [3, 4]),
        ("a [[2]](https://example.com/a#1) b [3](b.md)", [2, 3]),
        ("a [Doc 2] b [Source: 3] c [source 1] d [Document #4]", [2, 3, 1, 4]),
        ("a [1 and 2] b [3 & 4] c [#5]", [1, 2, 3, 4, 5]),
        ("a ［2］ b \\[3\\]", [2, 3]),
        ("a [Table 2] b [2 km] c [and 3]", []),
        ("It lasts 96 h [2].\n\nReferences\n[1] guide.md - About\n[2] faq.md\n", [2]),
        ("It lasts 96 h [2].\n\n**Sources:**\n- [2] faq.md", [2]),
        ("It lasts 96 h[^2].\n\n[^1]: guide.md\n[^2]: faq.md", [2]),
        ("It lasts 96 h.\n\nSources:\n[1] guide.md\n[3] faq.md", [1, 3]),
        ("a [1]\n\nSources:\n\n", [1]),
        ("a [1]\r\n\r\n## Sources\r\n\r\n1. \r\n", [1]),
        ("Sources:\n[1] says 96 h\nand that is all [2]", [1, 2]),
        ("[1] It lasts 96 h.\n[2] It weighs 5 kg.", [1, 2]),
        ("a [12:30] b [1/2] c [1,000.5] d [1;] e [^] f [2†", []),
    ],
)
def test_markers_are_read_as_numbers_lists_and_ranges(answer: str, expected: list[int], ask: Ask) -> None:
    """A backward range names nothing, and what is no marker is left alone."""
    citations = ask({"answer": answer}, citations=MARKERS).citations
    assert [citation.index for citation in citations or []] == expected
    assert citations is not None


def test_a_marker_says_where_it_stands(ask: Ask) -> None:
    """Start and end are those of the marker in the cleaned answer."""
    (citation,) = ask({"answer": "yes [12]."}, citations=MARKERS).citations or []
    assert (citation.index, citation.start, citation.end) == (12, 4, 8)


def test_a_huge_range_is_bounded(ask: Ask) -> None:
    """A range of a billion costs no memory."""
    citations = ask({"answer": "[1-999999999]"}, citations=MARKERS).citations or []
    assert len(citations) == 101


@pytest.mark.parametrize(
    ("given_as", "listed", "expected"),
    [
        ("auto", [{"source_index": 2}], [2]),
        ("auto", [], []),
        ("auto", None, [1]),
        ("list", None, None),
        ("list", [], []),
        ("markers", [{"source_index": 2}], [1]),
        ("none", [{"source_index": 2}], None),
    ],
)
def test_the_profile_says_where_citations_are(
    given_as: str, listed: list[dict[str, int]] | None, expected: list[int] | None, ask: Ask
) -> None:
    """Auto prefers the list and falls back to markers; none reads neither."""
    citations = ask({"answer": "a [1]", "citations": listed}, citations={"given_as": given_as}).citations
    assert (None if citations is None else [citation.index for citation in citations]) == expected


def test_no_marker_means_did_not_say_unless_markers_were_promised(ask: Ask) -> None:
    """With auto the server may never cite; with markers it did not cite here."""
    assert ask({"answer": "a"}, {"answer": "a"}).citations is None
    assert ask({"answer": "a"}, citations=MARKERS).citations == []


@pytest.mark.parametrize(
    ("pattern", "answer", "expected"),
    [
        (r"\[doc(\d+)\]", "see [doc3]", [(3, None)]),
        (r"\[(e[0-9a-f]+)\]", "see [e41ac2d]", [(None, "e41ac2d")]),
        (r"#\d+", "see #4", [(None, "#4")]),
        (r"\[(?:(\d+)|x)\]", "see [x] [2]", [(2, None)]),
        (r"<([^>]+)>", "see <a;b, c> <1; 2>", [(None, "a;b"), (None, "c"), (1, None), (2, None)]),
    ],
)
def test_a_profile_can_have_markers_of_its_own(
    pattern: str, answer: str, expected: list[tuple[int | None, str | None]], ask: Ask
) -> None:
    """The first group is what is cited, the whole match where there is none; a group that took no part is nothing."""
    citations = ask({"answer": answer}, citations=MARKERS | {"markers": pattern}).citations or []
    assert [(citation.index, citation.chunk_id) for citation in citations] == expected


CHUNKS = [{"full_text": "a"}, {"full_text": "b"}]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The charter of [1998] says so [2].", [2]),
        ("Founded [1856-1859] [1, 1998]", [1]),
        ("Use `rows[0]` first [1].", [1]),
        ("```python\nx = rows[2]\n```\nThat is all [1].", [1]),
        ("As it says `[1]`, `[1, 2]`", [1, 1, 2]),
        ("As it says `[^1]`, `【2】`", [1, 2]),
        ("Founded [1856–1859] [^1]", [1]),
        ("One ` alone [2], and [57] that is not there", [2, 57]),
    ],
)
def test_years_and_code_cite_nothing(answer: str, expected: list[int], ask: Ask) -> None:
    """A year would be an invalid citation, and an index in code one of a chunk; a number beyond the list stays one."""
    citations = ask({"answer": answer, "sources": CHUNKS}, citations=MARKERS).citations or []
    assert [citation.index for citation in citations] == expected


@pytest.mark.parametrize("pattern", [r"\[doc(\d+)\]", r"#(\d+)"])
def test_markers_of_another_form_are_taken_at_their_word(pattern: str, ask: Ask) -> None:
    """Who writes a pattern that no year and no code looks like means each of its matches."""
    answer = "`[doc1998]` `#1998`"
    (citation,) = ask({"answer": answer, "sources": CHUNKS}, citations=MARKERS | {"markers": pattern}).citations or []
    assert citation.index == 1998


REFERENCES = [{"id": "1", "file": "a.md"}, {"id": "e41", "file": "b.md"}, {"file": "c.md"}, {"id": "9"}]
LABELLED = {"given_as": "markers", "markers": r"\[(\w+)\]"}


def test_markers_can_stand_for_what_a_list_says(ask: Ask) -> None:
    """Not for places in the list of chunks; they keep their own place in the text."""
    mapped = {"references": "refs[].{index: id, document_id: file}"}
    body = {"answer": "x [1] y [e41]", "refs": REFERENCES}
    first, second = ask(body, map=mapped, citations=LABELLED).citations or []
    assert (first.document_id, first.index, first.start, first.end) == ("a.md", None, 2, 5)
    assert (second.document_id, second.chunk_id) == ("b.md", None)


@pytest.mark.parametrize("refs", [REFERENCES, [], None])
def test_a_marker_that_stands_for_nothing_is_an_invalid_citation(refs: object, ask: Ask) -> None:
    """It never becomes a place in the list of chunks by chance."""
    mapped = {"references": "refs[].{index: id, document_id: file}"}
    body = {"answer": "x [2]", "refs": refs, "sources": [{"full_text": "a"}, {"full_text": "b"}]}
    (citation,) = ask(body, map=mapped, citations=LABELLED).citations or []
    assert (citation.chunk_id, citation.index, citation.document_id) == ("2", None, None)


def test_references_that_cannot_be_read_are_noted(ask: Ask) -> None:
    """The note says what stood there."""
    response = ask({"answer": "x [2]", "refs": ["a"]}, map={"references": "refs"}, citations=LABELLED)
    assert response.notes == [
        "server.map.references gives a list that holds a text, where each item is to be an object"
    ]


@pytest.mark.parametrize(("chunks", "cited"), [(1000, [1000]), (999, [])])
def test_a_number_from_1000_on_is_a_year_unless_there_is_such_a_chunk(chunks: int, cited: list[int]) -> None:
    """Counted from the base."""
    reader = MarkerReader(r"\[(\d+)\]", 1, labels=False)
    assert [citation.index for citation in reader.read("The charter of [1000].", chunks)] == cited
