"""Remembering what was made of texts."""

from evals.text.remembering import remembered


def test_a_text_is_read_once_until_as_many_characters_as_are_held_have_passed() -> None:
    """What bounds the memory is the size of the texts, not their number."""
    read: list[str] = []

    @remembered(1000)
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    assert [length("a" * 300), length("a" * 300)] == [300, 300]
    assert len(read) == 1
    for letter in "bcd":
        length(letter * 300)
    assert length("a" * 300) == 300
    assert len(read) == 5


def test_a_text_longer_than_all_that_is_held_is_not_remembered() -> None:
    """It would put out everything else."""

    @remembered(100)
    def itself(text: str) -> list[str]:
        return [text]

    long = "x" * 200
    assert itself(long) == [long]
    assert itself(long) is not itself(long)
