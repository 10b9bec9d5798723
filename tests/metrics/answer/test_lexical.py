"""The metrics that lay an answer beside the expected one."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.records import lack, score

NAMES = ["exact_match", "keyword_coverage", "number_match", "answer_completeness"]
NO_KEYWORDS = "no keywords: the expected answer has no name, no number and no longer word"
EXPECTED = "Territory 118 has a rate change of 0.305%"


@pytest.mark.parametrize(
    ("answer", "expected", "answers", "value"),
    [
        ("  The\tPREMIUM\n is $604 ", "the premium is $604", [], 1),
        ("604", "The premium is $604.", ["$604", "604"], 1),
        ("cafe\u0301", "café", [], 1),
        *[(text, "$604", ["", " "], 0) for text in ("The premium is $604", "$604.", "604", "")],
    ],
)
def test_an_exact_match_differs_in_case_and_white_space_only(
    answer: str, expected: str, answers: list[str], value: float
) -> None:
    """The expected answer or a variant, character by character."""
    assert score("exact_match", answer, expected_answer=expected, answers=answers).value == value


@pytest.mark.parametrize(
    ("answer", "value", "missing"),
    [
        ("Territory 118.", 1 / 2, ["0.305%", "change", "rate"]),
        ("Nothing of the kind is in force.", 0, ["0.305%", "118", "change", "rate", "territory", "territory 118"]),
    ],
)
def test_keyword_coverage_is_the_share_of_the_expected_keywords(answer: str, value: float, missing: list[str]) -> None:
    """The details name what is missing."""
    result = score("keyword_coverage", answer, expected_answer=EXPECTED)
    assert result.value == pytest.approx(value)
    assert result.details == {"found": 6 - len(missing), "expected": 6, "missing": missing}


@pytest.mark.parametrize(
    ("answer", "expected", "value"),
    [
        ("The premium is $603", "$604", 0),
        ("It is 1000 a year, of 12 months", "1,000 per year", 1),
        ("0.133%", "-0.133%", 0),
        ("Rule C-1 applies.", "-1", 0),
        ("293 × 2.061", "293 × 2.061 = 603.873, so $604", 1 / 2),
        ("604, 604 and 604", "604 or 605", 1 / 2),
    ],
)
def test_number_match_is_the_share_of_the_expected_numbers(answer: str, expected: str, value: float) -> None:
    """As sets, by value; further numbers do no harm."""
    assert score("number_match", answer, expected_answer=expected).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (f"{EXPECTED}, and the table shows the others as well", 1),
        ("Territory 118.", (2 / 8 + 1 / 2) / 2),
        ("Rain fell on the hills all day, and the river rose by evening.", 1 / 2),
    ],
)
def test_completeness_is_the_mean_of_length_and_keyword_coverage(answer: str, value: float) -> None:
    """A longer answer gains nothing by its length."""
    assert score("answer_completeness", answer, expected_answer=EXPECTED).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("answer", "expected", "length"),
    [
        ("1234567", "1,234,567", 1),
        ("Rule C-1", "Rule C-1 and Rule C-2", 2 / 5),
        ("- It is **5** – no more", "one two three four five Six", 5 / 6),
        ("東京 Tower", "東京都 Tower", 3 / 4),
    ],
)
def test_the_length_counts_words_between_blanks(answer: str, expected: str, length: float) -> None:
    """Numbers and codes are one word each, marks alone are none, and Chinese counts by characters."""
    assert score("answer_completeness", answer, expected_answer=expected).details["length"] == pytest.approx(length)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("answer", "question", "reason"),
    [
        ("It is 5.", {}, "the question has no expected answer"),
        ("It is 5.", {"expected_answer": " "}, "the question has no expected answer"),
        ("It is 5.", {"expected_answer": "Nobody knows", "is_unanswerable": True}, "the question is unanswerable"),
        ("I don't know.", {"is_unanswerable": True}, "the question is unanswerable"),
        (None, {"expected_answer": "Page 5"}, "the server sent no answer"),
    ],
)
def test_without_an_answer_to_compare_there_is_no_value(
    name: str, answer: str | None, question: dict[str, Any], reason: str
) -> None:
    """Nothing expected, nothing to expect or nothing said is None with the reason."""
    assert lack(score(name, answer, **question)) == (None, "not_applicable", reason)


@pytest.mark.parametrize(
    ("name", "expected", "reason"),
    [
        ("number_match", "Large Loss Committee", "the expected answer holds no number"),
        ("number_match", "a B2B customer", "the expected answer holds no number"),
        ("keyword_coverage", "it is so", NO_KEYWORDS),
        ("answer_completeness", "it is so", NO_KEYWORDS),
    ],
)
def test_an_expected_answer_without_what_is_counted_gives_no_value(name: str, expected: str, reason: str) -> None:
    """A share of nothing is neither 0 nor 1, even where the answer abstains."""
    for answer in (expected, "I don't know."):
        assert lack(score(name, answer, expected_answer=expected)) == (None, "not_applicable", reason)


@pytest.mark.parametrize("name", NAMES)
def test_an_abstention_covers_nothing(name: str) -> None:
    """It repeats the words and numbers of the question, which would raise the mean."""
    answer = "I could not find the rate change of Territory 118 in the provided documents."
    assert score(name, answer, expected_answer=EXPECTED).value == 0


TEXTS = st.text(alphabet=st.sampled_from("aAbB yes No 12.5%,$-−*_\n’'Ä共"), max_size=40)


@settings(derandomize=True, max_examples=200)
@given(answer=TEXTS, expected=TEXTS)
def test_values_lie_between_0_and_1_and_more_text_never_loses(answer: str, expected: str) -> None:
    """Coverage is a share; an answer followed by the expected one holds everything unless it abstains."""
    for name in NAMES:
        value = score(name, answer, expected_answer=expected).value
        assert value is None or 0 <= value <= 1
        whole = score(name, f"It says:\n\n{expected}\n\n{answer}", expected_answer=expected)
        if name != "exact_match" and whole.value is not None and "abstained" not in whole.details:
            assert whole.value == 1
