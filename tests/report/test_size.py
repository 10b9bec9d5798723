"""Data of a page takes little room, and writing it little memory."""

from base64 import b64encode

from hypothesis import given
from hypothesis import strategies as st
from report.conftest import unpacked

from evals.report.document import as_element, packed


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
