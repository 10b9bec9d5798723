"""Whether a quotation stands where it is said to stand."""

import pytest

from evals.judges.quotes import is_quoted

TEXT = (
    "The budget of 1,200 euros was raised in March 2025. The board did not approve the second proposal, because "
    "it came too late. **Members** may appeal within 14 days of the decision."
)


@pytest.mark.parametrize(
    "quote",
    [
        "The budget of 1,200 euros was raised in March 2025.",
        "the BUDGET of 1,200   euros was raised",
        "Members may appeal within 14 days",
        "The board did not approve the second proposal because it came to late",
    ],
)
def test_a_quotation_is_found_in_spite_of_slips_of_copying(quote: str) -> None:
    """Case, white space, Markdown and a letter may differ."""
    assert is_quoted(quote, ["something else", TEXT])


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "...",
        "The budget of 1,300 euros was raised in March 2025.",
        "The board did approve the second proposal, because it came too late.",
        "Members may appeal within 40 days of the decision",
        "The committee rejected every proposal that was made in the autumn",
    ],
)
def test_an_altered_or_invented_quotation_is_not_found(quote: str) -> None:
    """Numbers and negations must agree, however alike the rest is."""
    assert not is_quoted(quote, [TEXT])
