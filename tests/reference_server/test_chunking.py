"""Chunks are verbatim slices that lose nothing and never cross a heading."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.reference_server.documents import read_document, split, title_of

_LINES = st.one_of(
    st.text(alphabet="ab .!?\t\u2003\r\x0b#-|`é", max_size=60),
    st.sampled_from(["", "# One", "## Two words ##", "#", "```", "~~~", "- item", "| a | b |", "Long. Text." * 9]),
)
_TEXTS = st.lists(_LINES, max_size=25).map("\n".join)


@settings(max_examples=200)
@given(text=_TEXTS, limit=st.integers(1, 12))
def test_plain_text_chunks_are_slices_that_lose_nothing(text: str, limit: int) -> None:
    """Every chunk of a text file is a bounded slice, and together they hold all that is not blank."""
    pieces = list(split(text, "x.txt", limit))
    slices = [text[start:end] for _, start, end in pieces]
    assert "".join("".join(slices).split()) == "".join(text.split())
    assert all(s == s.strip() and 0 < len(s.split()) <= limit for s in slices)
    assert all(before[2] <= after[1] for before, after in pairwise(pieces))
    assert all(section is None for section, *_ in pieces)


@settings(max_examples=200)
@given(text=_TEXTS, limit=st.integers(1, 12))
def test_markdown_chunks_lose_nothing_but_heading_lines(text: str, limit: int) -> None:
    """What is between the chunks of a Markdown file is blank or a heading line."""
    rest, position = "", 0
    for _, start, end in split(text, "x.md", limit):
        rest, position = rest + text[position:start] + "\n", end
    rest += text[position:]
    left = [line for line in rest.split("\n") if line.strip()]
    assert all(re.match(r" {0,3}#{1,6}([ \t]|\s*$)", line) for line in left)


def test_a_chunk_never_crosses_a_heading() -> None:
    """Short sections stay chunks of their own, named by the nearest heading."""
    text = "before\n\n# A #\n\none\n\n## B\n\ntwo\n\nthree\n### C\nfour\n"
    found = [(text[start:end], section) for section, start, end in split(text, "x.md", 180)]
    assert found == [("before", None), ("one", "A"), ("two\n\nthree", "B"), ("four", "C")]


def test_a_long_table_is_split_between_rows() -> None:
    """No row of a table is cut in two."""
    rows = [f"| name {i} | value {i} |" for i in range(30)]
    text = "\n".join(rows)
    parts = [text[start:end].split("\n") for _, start, end in split(text, "x.txt", 20)]
    assert len(parts) > 1
    assert [row for part in parts for row in part] == rows


def test_a_long_paragraph_is_split_between_sentences() -> None:
    """A paragraph on one line is cut where sentences end."""
    text = " ".join(f"Sentence number {i} is here." for i in range(20))
    assert all(text[start:end].endswith("here.") for _, start, end in split(text, "x.txt", 12))


def test_the_title_is_the_first_heading_or_the_file_name() -> None:
    """Without a top-level heading the file name is made readable."""
    assert title_of("## Sub\n# Real Title\n", "a.md") == "Real Title"
    assert title_of("no heading", "user-guide_v2.md") == "user guide v2"
    assert title_of("# not a heading here", "a-b.txt") == "a b"


def test_chunk_ids_depend_on_name_position_and_text() -> None:
    """The same file gives the same ids; another name, other ids."""
    first = read_document(b"# A\n\nsame\n\n# B\n\nsame\n", "a.md", 180).chunks
    again = read_document(b"# A\n\nsame\n\n# B\n\nsame\n", "a.md", 180).chunks
    other = read_document(b"# A\n\nsame\n\n# B\n\nsame\n", "b.md", 180).chunks
    assert first == again
    ids = [chunk.chunk_id for chunk in (*first, *other)]
    assert len(set(ids)) == 4
    assert all(re.fullmatch(r"[0-9a-f]{16}", i) for i in ids)
    assert [chunk.chunk_index for chunk in first] == [0, 1]
