"""Which numbers a text holds, and how they are written so that equal ones are equal."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.numbers import numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The premium is $604.", {"604"}),
        ("€604, £604, USD604 and 604", {"604"}),
        ("1,000 and 1,234,567.80", {"1000", "1234567.8"}),
        ("1'000'000.5 or 1\u00a0000\u00a0000.5", {"1000000.5"}),
        ("0.50 = 0.5 = .5", {"0.5"}),
        ("007", {"7"}),
        ("-0 and 0.00", {"0"}),
        ("1.5 million, 5k", {"1.5", "5"}),
        ("it lasts 24h", {"24"}),
    ],
)
def test_currency_grouping_and_trailing_zeros_are_dropped(text: str, expected: set[str]) -> None:
    """Numbers compare by value; words that multiply are not read."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.000,5", {"1", "5"}),
        ("0,305", {"0", "305"}),
        ("1,2,3", {"1", "2", "3"}),
        ("in 2024,300 people", {"2024", "300"}),
        ("territories 117,118", {"117118"}),
        ("territories 117, 118", {"117", "118"}),
        ("12,34", {"12", "34"}),
        ("1,000,5", {"0", "1", "5"}),
        ("release 4.5.1", {"1", "4", "5"}),
        ("at 10:30 on 2026-05-01", {"10", "30", "2026", "5", "1"}),
        ("1/3", {"1", "3"}),
    ],
)
def test_what_is_no_english_number_is_read_part_by_part(text: str, expected: set[str]) -> None:
    """A comma groups only before exactly three digits and behind one to three that begin with no 0."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "5%",
        "5 %",
        "5％",
        "5 percent",
        "5 per cent",
        "5-percent",
        "5 pct",
        "5 per-cent",
        "5\u2009%",
        "**5**%",
        r"5\%",
        "5.0%",
    ],
)
def test_a_percent_sign_belongs_to_its_number(text: str) -> None:
    """However it is written, five percent is not five."""
    assert numbers(text) == {"5%"}


@pytest.mark.parametrize("text", ["5", "5 percentage points", "5 pctx", "% 5", "5 and %", "5\n%"])
def test_without_a_percent_sign_it_is_a_plain_number(text: str) -> None:
    """Percentage points and stray signs are none."""
    assert numbers(text) == {"5"}


@pytest.mark.parametrize(
    "text",
    ["-5", "−5", "–5", "‑5", "－5", "(-5)", "**-5**", "x = -5", "|-5|", "-$5", "$-5", "−€ 5", '"-5"', "from -5.0 on"],
)
def test_a_minus_directly_before_a_number_is_its_sign(text: str) -> None:
    """All dashes that are used for a minus count, before or after a currency sign."""
    assert numbers(text) == {"-5"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rule C-1", {"1"}),
        ("COVID-19", {"19"}),
        ("2018-2026", {"2018", "2026"}),
        ("2592–2628", {"2592", "2628"}),
        ("10%-20%", {"10%", "20%"}),
        ("5-10%", {"5%", "10%"}),
        ("5–10 %", {"5%", "10%"}),
        ("5 to 10%", {"5%", "10%"}),
        ("from 0.5 to 1.25 percent", {"0.5%", "1.25%"}),
        ("5 and 10%", {"5", "10%"}),
        ("100 - 10%", {"100", "10%"}),
        ("5 to 10", {"5", "10"}),
        ("5 10%", {"5", "10%"}),
        ("293 - 10", {"293", "10"}),
        ("- 604", {"604"}),
        ("(3)-4", {"3", "4"}),
        ("--5", {"5"}),
        ("(604)", {"604"}),
        ("±5, +5", {"5"}),
    ],
)
def test_a_hyphen_in_a_range_an_id_or_before_a_blank_is_no_minus(text: str, expected: set[str]) -> None:
    """Neither ranges, ids, bullets nor subtractions make a number negative, nor do brackets."""
    assert numbers(text) == expected


@pytest.mark.parametrize("text", ["B2B", "v4.7", "Q3", "GRG51", "x300", "no number", "", "½", "Ä5"])
def test_digits_behind_a_letter_are_no_number(text: str) -> None:
    """They are a part of a word."""
    assert numbers(text) == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("293x2.061", {"293", "2.061"}),
        ("293×2.061=603.873", {"293", "2.061", "603.873"}),
        ("10²", {"10"}),
        ("共604元", {"604"}),
        ("٣٤% und １２", {"34%", "12"}),
    ],
)
def test_numbers_of_calculations_and_other_scripts_are_read(text: str, expected: set[str]) -> None:
    """A sign of multiplication separates, and digits of all scripts count."""
    assert numbers(text) == expected


@settings(derandomize=True, deadline=None, max_examples=200)
@given(value=st.integers(0, 10**15), cents=st.integers(0, 99), percent=st.booleans(), negative=st.booleans())
def test_every_way_to_write_a_number_gives_the_same(value: int, cents: int, percent: bool, negative: bool) -> None:
    """Grouped or not, with a currency sign or not, in a sentence or alone."""
    sign, unit = "-" * negative, "%" * percent
    written = [f"{sign}{value}.{cents:02d}{unit}", f"it is {sign}{value:,}.{cents:02d}{unit}, as was said"]
    written += [f"{sign}${value:,}.{cents:02d}0{unit}."]
    assert len({numbers(text) for text in written}) == 1
    assert len(numbers(written[0])) == 1


@settings(derandomize=True, deadline=None, max_examples=300)
@given(text=st.text(alphabet=st.sampled_from("0123456789.,'-−%$ xaÄ共٣\u00a0*()\n"), max_size=30))
def test_any_text_can_be_read_and_its_numbers_read_again(text: str) -> None:
    """What was read, written as it is returned, is read as the same."""
    for number in numbers(text):
        assert numbers(number) == {number}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Red\n2. Blue", set()),
        ("Two colours:\n  1) Red, 5 cm\n  2) Blue", {"5"}),
        ("- (3) Red\n- (4) Blue", set()),
        ("1. Red\n1. Blue", set()),
        ("42. It is so.", {"42"}),
        ("12. It is so.\n40. It was so.", {"12", "40"}),
        ("1.\n2.", {"1", "2"}),
        ("1.5 Red\n2.5 Blue", {"1.5", "2.5"}),
    ],
)
def test_the_marks_of_a_numbered_list_are_no_numbers(text: str, expected: set[str]) -> None:
    """They count on from line to line; a line that begins with a number is no list."""
    assert numbers(text) == expected
