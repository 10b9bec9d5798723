"""Numbers of texts that are not held."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics.embedders import Places


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.text(max_size=4)))
def test_a_text_has_the_number_of_its_first_coming(texts: list[str]) -> None:
    """As a dictionary would say."""
    places, known = Places(), dict[str, int]()
    for text in texts:
        assert places.find(text) == known.get(text)
        assert places.add(text) is (text not in known)
        known.setdefault(text, len(known))
        assert places.find(text) == known[text]
    assert len(places) == len(known)


def test_numbers_stay_when_the_table_grows() -> None:
    """It begins with room for 512."""
    places = Places()
    assert all(places.add(str(number)) for number in range(5000))
    assert [places.find(str(number)) for number in range(5000)] == list(range(5000))
    assert places.find("5000") is None
