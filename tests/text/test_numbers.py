"""Which numbers a text holds, and how they are written so that equal ones are equal."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.quantities import Quantity, numbers, quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The premium is $604.", {"604"}),
        ("€604, £604, USD604 and 604", {"604"}),
        ("1,000 and 1,234,567.80", {"1000", "1234567.8"}),
        ("0.50 = 0.5 = .5", {"0.5"}),
        ("007", {"7"}),
        ("-0 and 0.00", {"0"}),
    ],
)
def test_currency_grouping_and_trailing_zeros_are_dropped(text: str, expected: set[str]) -> None:
    """Numbers compare by value; letters behind them are units."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2,3", {"1", "2", "3"}),
        ("in 2024,300 people", {"2024", "300"}),
        ("territories 117,118", {"117118"}),
        ("12,34", {"12", "34"}),
        ("1,000,5", {"0", "1", "5"}),
        ("at 10:30 on 2026-05-01", {"10", "30", "2026", "5", "1"}),
        ("24/7, 9/11, 1/2/2026", {"24", "7", "9", "11", "1", "2", "2026"}),
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
        "5\u2009%",
        "**5**%",
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
        ("2018-2026", {"2018", "2026"}),
        ("5-10%", {"5%", "10%"}),
        ("5 to 10%", {"5%", "10%"}),
        ("5 and 10%", {"5", "10%"}),
        ("between 5 and 10%", {"5%", "10%"}),
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


@pytest.mark.parametrize("text", ["B2B", "v4.7", "Q3", "GRG51", "x300", "no number", "", "Ä5"])
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
        ("1. Red\n1. Blue", set()),
        ("42. It is so.", {"42"}),
        ("1.\n2.", {"1", "2"}),
    ],
)
def test_the_marks_of_a_numbered_list_are_no_numbers(text: str, expected: set[str]) -> None:
    """They count on from line to line; a line that begins with a number is no list."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5 million, 5k", {"1500000", "5000"}),
        ("$1.2M, €3bn, £4m, $5 t", {"1200000", "3000000000", "4000000", "5000000000000"}),
        ("5m, 5 k, 5 B, 5G, 3D", {"5", "3"}),
        ("5-10 million", {"5000000", "10000000"}),
        ("$5-10m", {"5000000", "10000000"}),
        ("5 m euros", {"5000000"}),
        ("5 millionaires, 5 Kids", {"5"}),
        ("Form 10K, Room 8B, a 401k, MiG-29B, 4k + 3", {"10", "8", "401", "29", "4", "3"}),
        ("2 hundred thousand", {"200000"}),
    ],
)
def test_words_and_letters_that_multiply_do_so(text: str, expected: set[str]) -> None:
    """A letter alone does where it is glued to the number or behind an amount of money, but not in a name."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.234,56", {"1234.56"}),
        ("0,305", {"0.305"}),
        ("1.234.567", {"1234567"}),
        ("1.500 €", {"1500"}),
        ("1.500-2.000 Euro, € 3.500, EUR 1.234.567", {"1500", "2000", "3500", "1234567"}),
        ("1.500 $, 0.875 € and 1.5 €", {"1.5", "0.875"}),
        ("1.234 bis 1.456,70 Euro", {"1234", "1456.7"}),
        ("1.234 and 1.5, not 1.456,70", {"1.234", "1.5", "1456.7"}),
        ("12,5 %, 3,50 €, €3,50, 1,5 million", {"12.5%", "3.5", "1500000"}),
        ("10 000,50", {"10000.5"}),
        ("1,50,000 and 2,00,00,000", {"150000", "20000000"}),
    ],
)
def test_what_can_only_be_continental_or_indian_is_read_so(text: str, expected: set[str]) -> None:
    """A comma is decimal where it cannot group, or where the text shows that its commas are."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10 000", {"10000"}),
        ("About 12 345 people", {"12345"}),
        ("EUR 12 345", {"12345"}),
        ("Territory 12 345 homes", {"12", "345"}),
        ("2020 300", {"2020", "300"}),
        ("0800 123 456", {"800", "123", "456"}),
        ("5 000-10 000", {"5000", "10000"}),
        ("1\n000", {"1", "0"}),
    ],
)
def test_blanks_group_where_no_name_and_no_other_number_stands_beside(text: str, expected: set[str]) -> None:
    """Telephone numbers and the number of a name are no groups."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/2, ½ and 2/4", {"0.5"}),
        ("1/3", {"1/3"}),
        ("2 1/2 and 2½", {"2.5"}),
        ("-1/4", {"-0.25"}),
        ("5½%", {"5.5%"}),
        ("5/4", {"5", "4"}),
    ],
)
def test_a_proper_fraction_is_one_number(text: str, expected: set[str]) -> None:
    """One that has an end is a decimal number, a reduced fraction else."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("$5", "5", "dollars"),
        ("US$5", "5", "dollars/US"),
        ("$5 USD", "5", "dollars/US"),
        ("CHF 5", "5", "francs"),
        ("5 $10 notes", "5", ""),
        ("£5 million", "5000000", "pounds/sterling"),
        ("5 days", "5", "days"),
        ("five (5) days", "5", "days"),
        ("5 **days**", "5", "days"),
        ("5 working days", "5", "days"),
        ("5 km/h", "5", "km/h"),
        ("5 sq ft", "5", "square feet"),
        ("5 MW", "5", ""),
        ("5MW", "5", "megawatts"),
        ("5 m", "5", ""),
        ("1990s", "1990", ""),
        ("30s", "30", "seconds"),
        ("3x", "3", "times"),
        ("10:30 am", "10", "am"),
        ("-5 to -3 °C", "-5", "degrees/Celsius"),
        ("2nd", "2", "(ordinal)"),
        ("5\ndays", "5", ""),
    ],
)
def test_a_unit_is_what_directly_follows_or_a_currency_before(text: str, value: str, unit: str) -> None:
    """Only units that are known count, on the same line."""
    assert Quantity(value, unit) in quantities(text)


GROUPS = st.sampled_from([",", "", " ", "\u00a0", "\u2007", "\u2009", "\u202f", "'", "’"])


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    value=st.integers(0, 10**15),
    by=GROUPS,
    tenths=st.integers(0, 9),
    around=st.sampled_from(["{}", "it is {}", "({})", "{}, then", "**{}**", "of {}."]),
)
def test_a_number_is_the_same_however_it_is_grouped(value: int, by: str, tenths: int, around: str) -> None:
    """By commas, by blanks of any width, by apostrophes or not at all."""
    written = f"{value:,}".replace(",", by) + (f".{tenths}" if tenths else "")
    assert numbers(around.format(written)) == numbers(f"{value}.{tenths}")


@settings(derandomize=True, deadline=None, max_examples=200)
@given(text=st.text(alphabet=st.sampled_from("0123456789.,'/-−%$€ xkMmB½daysh°)\n\u00a0"), max_size=30))
def test_a_text_of_numbers_and_units_can_be_read(text: str) -> None:
    """Nothing that is written with them is an error, and a value read alone is that value."""
    for value, _ in quantities(text):
        assert numbers(value) == {value}
