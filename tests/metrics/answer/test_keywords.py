"""Which keywords a text has, and which of them an answer holds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics.answer import keywords


def test_phrases_numbers_and_words_are_keywords() -> None:
    """The three kinds of a sentence, without its stop words."""
    found = keywords("Territory 118 has a rate change of 0.305% (Rule C-1).")
    assert found.phrases == {"territory 118", "territory", "rate", "change", "rule c 1", "rule"}
    assert found.numbers == {"118", "0.305%", "1"}
    assert len(found) == 9


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("It is GRG 51.", "grg 51"),
        ("the Taldo Ridge 2.4 AWD has it", "taldo ridge 2.4 awd"),
        ("**Large Loss** Committee", "large loss committee"),
        ("The Large Loss Committee", "large loss committee"),
        ("Yes.", "yes"),
        ("No, only Quill.", "no"),
        ("Ｑｕｉｌｌ", "quill"),
        ("Ångström Group", "ångström group"),
    ],
)
def test_a_capitalised_phrase_is_found_whole(text: str, phrase: str) -> None:
    """It goes on over capitalised words and numbers, and begins with no stop word."""
    assert phrase in keywords(text).phrases


@pytest.mark.parametrize("text", ["Large.\nLoss", "Large, Loss", "Large of Loss", "large Loss", "- Large\n- Loss"])
def test_a_phrase_ends_where_something_stands_between(text: str) -> None:
    """Neighbours across punctuation, lines or small words are no phrase."""
    assert "large loss" not in keywords(text).phrases


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("The rate change for Territory 118 is 0.305%", []),
        ("TERRITORY 118: RATE CHANGE 0.305 percent", []),
        ("In **Territory** 118 the *rate* change’s 0.305%", []),
        ("Territory 117 has a rate change of 0.305%", ["118", "territory 118"]),
        ("Territory 118 has a rate change of 0.305", ["0.305%"]),
        ("Territory 118 has a separate exchange of 0.305%", ["change", "rate"]),
        ("", ["0.305%", "118", "change", "rate", "territory", "territory 118"]),
    ],
)
def test_keywords_are_looked_for_as_whole_words(answer: str, missing: list[str]) -> None:
    """The order of words, case and emphasis do not matter; parts of words do not count."""
    assert keywords("Territory 118 has a rate change of 0.305%").missing_in(answer) == missing


@settings(derandomize=True, deadline=None, max_examples=300)
@given(text=st.one_of(st.text(max_size=30), st.text(alphabet="aAbB C_*.,’'-1% \n½ﬁÄ共", max_size=30)))
def test_a_text_holds_all_of_its_own_keywords(text: str) -> None:
    """Finding keywords and looking for them agree, whatever the script."""
    assert keywords(text).missing_in(text) == []


@pytest.mark.parametrize(
    "text", ["It's 42 days", "There’s 42 days", "Don't wait 42 days: wait", "They'll. Let's! 42 days"]
)
def test_contractions_are_stop_words(text: str) -> None:
    """What is short for stop words says as little as they do."""
    assert keywords(text).phrases <= {"days", "wait"}


def test_a_name_with_an_apostrophe_is_no_contraction() -> None:
    """It begins with no stop word."""
    assert "o brien" in keywords("It was O'Brien.").phrases
