"""Dates as texts write them."""

import pytest

from evals.text.numbers import dates, dates_agree, says_all, without_dates


@pytest.mark.parametrize(
    "text",
    [
        "1 March 2024",
        "1st of March 2024",
        "the 1st of March, 2024",
        "March 1, 2024",
        "Mar. 1st 2024",
        "2024-03-01",
        "on 1 march 2024.",
    ],
)
def test_one_date_is_written_in_one_way(text: str) -> None:
    """Whatever the order, the name of the month and the marks between."""
    assert dates(text) == {"2024-03-01"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("March 2024", {"2024-03-?"}),
        ("1 March", {"?-03-01"}),
        ("31.12.2025", {"2025-12-31"}),
        ("12/31/2025", {"2025-12-31"}),
        ("from 1 March 2024 to 5 April 2024", {"2024-03-01", "2024-04-05"}),
        ("03/04/2024", set()),
        ("You may 5 times", set()),
        ("section 4.3.2024.1", set()),
        ("in 2024", set()),
    ],
)
def test_what_is_not_said_of_a_date_stays_open(text: str, found: set[str]) -> None:
    """A part may be missing; where nobody knows which is the month, nothing is read."""
    assert dates(text) == found


def test_dates_are_taken_out_of_a_text() -> None:
    """So that their numbers are not taken for others."""
    assert without_dates("30 days from 1 March 2024 on") == ("30 days from , on", ("2024-03-01",))


def test_dates_agree_where_one_says_less() -> None:
    """A month contradicts none of its days, but does not say which."""
    assert dates_agree("2024-03-01", "2024-03-?")
    assert not dates_agree("2024-03-01", "2024-04-?")
    assert says_all("2024-03-?", "2024-03-01")
    assert not says_all("2024-03-01", "2024-03-?")
