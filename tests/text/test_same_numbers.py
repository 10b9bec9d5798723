"""Which numbers of one text are in another, with their units, in digits or in words."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.notation import contradict
from evals.text.quantities import Quantity, asks_for_share, distinct, missing, spelt_out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$604, or 604", {("604", "dollars")}),
        ("US$604, $604 and 604", {("604", "dollars/US")}),
        ("604 days or 604 hours", {("604", "days"), ("604", "hours")}),
    ],
)
def test_a_number_counts_once_with_what_is_known_of_it(text: str, expected: set[tuple[str, str]]) -> None:
    """Said again without its unit it is no further number."""
    assert distinct(text) == expected


@pytest.mark.parametrize(
    ("one", "other", "is_contradiction"),
    [
        ("days", "hours", True),
        ("days", "", False),
        ("dollars", "dollars/US", False),
        ("dollars/Canada", "dollars/US", True),
        ("pounds/weight", "pounds", False),
        ("metres", "square metres", True),
    ],
)
def test_units_contradict_where_neither_leads_on_from_the_other(one: str, other: str, is_contradiction: bool) -> None:
    """It does not matter which of the two is expected."""
    assert contradict(one, other) == contradict(other, one) == is_contradiction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twenty-five days", {("25", "days")}),
        ("Two hundred and five thousand and one", {("205001", "")}),
        ("a hundred dollars", {("100", "dollars")}),
        ("two million euros", {("2000000", "euros")}),
        ("seven percent", {("7%", "")}),
        ("one of them", set()),
        ("one day", {("1", "days")}),
        ("the twenty-first century", {("20", ""), ("21", "(ordinal)/word")}),
        ("someone weighed tents", set()),
        ("three quarters", {("3", ""), ("0.75", "")}),
        ("a third", {("3", "(ordinal)/word"), ("1/3", "")}),
        ("half", {("0.5", "")}),
    ],
)
def test_numbers_in_words_are_read_with_their_units(text: str, expected: set[tuple[str, str]]) -> None:
    """Generously: what nobody asks for does no harm."""
    assert spelt_out(text) == expected


SMALL = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def _spell(number: int) -> str:
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = f" {_spell(number % size)}" if number % size else ""
            return f"{_spell(number // size)} {name}{rest}"
    if number < 20:
        return SMALL[number]
    return TENS[number // 10 - 2] + (f"-{SMALL[number % 10]}" if number % 10 else "")


@settings(derandomize=True, deadline=None, max_examples=200)
@given(number=st.integers(0, 10**12 - 1))
def test_every_whole_number_is_read_from_its_words(number: int) -> None:
    """Up to the billions, written as one would read it aloud."""
    assert Quantity(str(number), "days") in spelt_out(f"It took {_spell(number)} days.")


@settings(derandomize=True, deadline=None, max_examples=100)
@given(hundreds=st.integers(1, 10**6))
def test_an_amount_is_found_however_its_scale_and_currency_are_written(hundreds: int) -> None:
    """Each way to write it holds each other way, and no other currency and no other scale does."""
    amount = hundreds * 100
    in_thousands, in_millions = Decimal(amount) / 1000, Decimal(amount) / 10**6
    ways = [f"${amount:,}", f"{amount} dollars", f"USD {amount:,}.00", f"${in_thousands}k", f"${in_millions:f}M"]
    ways += [f"{in_millions:f} million US dollars", f"${in_millions:f} mn", f"{in_thousands} thousand dollars"]
    for one in ways:
        assert not any(missing(distinct(one), other) for other in ways)
        assert missing(distinct(one), f"€{amount}")
        assert missing(distinct(one), f"${in_millions:f} billion")


@pytest.mark.parametrize(
    "text",
    [
        "two hundred " * 9000,
        f"{'1' * 9000} to 5%",
        f"{'1' * 9000} 1/2",
        "5 " + "million " * 900,
        "5-" + "9" * 9000,
    ],
)
def test_numbers_without_an_end_are_read(text: str) -> None:
    """Integers of thousands of digits are texts, which Python would not read."""
    assert missing(distinct("7 days"), text) == {("7", "days")}


TEXTS = st.text(alphabet=st.sampled_from("0123456789.,'/-−%$€ xkMmB½daysh°)\n\u00a0"), max_size=30)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(text=TEXTS, further=TEXTS)
def test_every_text_holds_its_own_numbers(text: str, further: str) -> None:
    """Also where more is said on lines of their own behind it."""
    assert not missing(distinct(text), text)
    assert not missing(distinct(text), f"{text}\n\n{further}")


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What fraction of the claims was paid?", True),
        ("What is the PROBABILITY of a loss?", True),
        ("Which share does Acme hold?", True),
        ("What is the share of renewables?", True),
        ("What is the share price?", False),
        ("What were earnings per share of Acme?", False),
        ("How many shares were sold?", False),
        ("What percentage of the claims was paid?", False),
    ],
)
def test_a_question_for_a_share_is_told_from_one_about_shares(question: str, asks: bool) -> None:
    """A percentage is asked for in percent."""
    assert asks_for_share(question) == asks
