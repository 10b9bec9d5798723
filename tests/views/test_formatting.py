"""Numbers, names and foreign text as people read them."""

import pytest

from evals.compare.models import MetricPair
from evals.report.compared import difference_interval, pair_values, signed
from evals.report.wording import (
    interval,
    interval_end,
    label_of,
    level,
    natural_order,
    number,
    one_line,
    plain,
    printable,
)
from evals.schemas import MetricCounts, MetricSummary


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (28.0, "answers", "28"),
        (2.5, "answers", "2.5"),
        (93.7421, "percent", "93.7 %"),
        (0.5, "ratio", "0.500"),
        (12_345.0, "ms", "12.35 s"),
        (0.0, "USD", "$0"),
        (0.0123, "USD", "$0.01230"),
        (0.00046016, "USD", "$0.0004602"),
        (0.000046080, "USD", "$0.00004608"),
        (1e-17, "USD", "$0"),
        (1.5, "USD", "$1.500"),
        (None, "percent", "–"),
    ],
)
def test_a_number_has_the_form_of_its_unit(value: float | None, unit: str, shown: str) -> None:
    """Counts are whole, percentages say so, money and time are of a size that can be read."""
    assert number(value, unit) == shown


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("unanswerable_accuracy", "right to answer or decline"),
        ("recall_at_20", "relevant found in top 20"),
        ("latency_p95", "95 % answered within"),
        ("of_a_plug_in_7", ""),
    ],
)
def test_a_metric_has_a_plain_label_with_its_own_number(name: str, label: str) -> None:
    """A metric of a plug-in is known by its name alone."""
    assert label_of(name) == label


def test_costs_that_differ_look_different() -> None:
    """A question may cost a thousandth of a cent: neither its cost nor the ends of its interval are rounded away."""
    assert [interval_end(end, "USD") for end in (0.0004575, 0.0004629)] == ["$0.0004575", "$0.0004629"]
    assert [interval_end(end, "USD") for end in (0.00004608, 0.00004678)] == ["$0.00004608", "$0.00004678"]


@pytest.mark.parametrize(
    ("difference", "unit", "shown"),
    [
        (0.000000697, "USD", "+$0.00000070"),
        (-0.0000412, "USD", "−$0.000041"),
        (0.0123, "USD", "+$0.01230"),
        (-0.25, "USD", "−$0.250"),
        (0.0, "USD", "$0"),
        (0.25, "ratio", "+0.250"),
    ],
)
def test_a_difference_is_never_rounded_to_nothing(difference: float, unit: str, shown: str) -> None:
    """One of money below ten cents has two digits, wherever they begin."""
    assert signed(difference, unit) == shown


def test_the_interval_of_a_difference_shows_on_which_side_of_nothing_it_lies() -> None:
    """A cost that is said to be worse has an interval that can be read so."""
    pair = MetricPair(
        name="cost_per_query",
        group="performance",
        unit="USD",
        higher_is_better=False,
        first=0.00004608,
        last=0.00004678,
        difference=0.0000007,
        interval=(0.00000041, 0.00000098),
        n=155,
        verdict="worse",
    )
    assert pair_values(pair) == ["$0.00004608", "$0.00004678"]
    assert difference_interval(pair) == "+$0.00000041 … +$0.00000098"


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.95, "95%"), (0.995, "99.5%"), (0.975, "97.5%"), (0.9999, "99.99%"), (0.025, "2.5%"), (0.07, "7%")],
)
def test_a_level_is_not_rounded(share: float, shown: str) -> None:
    """An interval at 99.5 % is called so, and neither 99 nor 100."""
    assert level(share) == shown


def test_an_interval_of_counts_has_decimals() -> None:
    """A count is whole, and its interval is not."""
    counts = MetricSummary(
        name="correct_answers_count",
        value=28.0,
        group="generation",
        sample_size=40,
        counts=MetricCounts(scored=40),
        ci=(21.96, 33.0),
        unit="answers",
        higher_is_better=True,
    )
    assert interval(counts) == "22.0 … 33.0"
    assert interval_end(12.0, "percent") == "12.0 %"


def test_values_are_sorted_as_people_count() -> None:
    """Numbers by their size, names by the numbers in them."""
    values = ["q10", "10", "2", "q2", "0.5", "-1", "1", "b", "0.25"]
    assert sorted(values, key=natural_order) == ["-1", "0.25", "0.5", "1", "2", "10", "b", "q2", "q10"]


def test_numbers_of_any_length_can_be_sorted() -> None:
    """Python reads no number of 5,000 digits."""
    long = ["x" + "1" * 5000, "9" * 5000, "x2"]
    assert sorted(long, key=natural_order) == ["9" * 5000, "x2", "x" + "1" * 5000]


def test_no_character_steers_a_terminal() -> None:
    """Line breaks of every kind are line breaks; controls, overrides and hidden characters are signs."""
    assert plain("a\r\nb\rc\x0cd\te") == "a\nb\nc\nd\te"
    assert printable("\x00\x1b[1m\u202e\u200b") == "\ufffd\ufffd[1m\ufffd\ufffd"
    assert one_line("a\r\n  b \x1b c d e", 7) == "a b � …"
