"""Data of a page takes little room, and writing it little memory."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.conftest import unpacked

from evals.report.document import RunsPage, as_element, packed
from evals.text.folding import tokens
from evals.text.matching.words import words_of


@given(st.text(max_size=400) | st.binary(max_size=40).map(bytes.hex))
def test_a_block_in_a_page_holds_its_value_and_no_tag(text: str) -> None:
    """Whatever it says, and however long its bytes are: nothing in it can end the element."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    element = as_element("a/b", [text])
    _, _, letters = element.partition('data-block="a/b">')
    letters = letters.removesuffix("</script>")
    assert "<" not in letters
    assert unpacked(letters) == [text]


def test_a_block_takes_less_room_than_gzip_in_base64() -> None:
    """By a tenth at least, for texts as long as those of questions."""
    words = [f"{first}{second}" for first in ("bra", "cle", "dro", "fin") for second in ("ban", "cot", "dell", "fer")]
    texts = [" ".join(words[(place * number) % 16] for place in range(1, 200)) for number in range(1, 300)]
    assert len(as_element("a", texts)) < 0.9 * len(b64encode(packed(texts)))


@pytest.mark.parametrize("remembered", [words_of, tokens])
def test_texts_of_questions_are_not_held_beyond_their_block(a_run: Callable[..., Any], remembered: Any) -> None:
    """What matching derives of a text takes forty times its room."""
    page = RunsPage([a_run(questions={"q1": {"gold_passages": [{"text": "some words of a gold passage"}]}})])
    tokens("some words of a gold passage")
    words_of("some words of a gold passage")
    page.details["abcd1234/details/0"]()
    assert remembered.characters == 0
