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
        "The board did not approve the second proposal because it came too late",
        "“The board did not approve the second proposal”",
        "14 days",
        "2025",
    ],
)
def test_a_quotation_is_found_in_spite_of_what_copying_changes(quote: str) -> None:
    """Case, white space, Markdown, quotation marks and punctuation between words may differ."""
    assert is_quoted(quote, ["something else", TEXT])


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "...",
        "**",
        "The budget of 1,300 euros was raised in March 2025.",
        "The board did approve the second proposal, because it came too late.",
        "The board did not approve the second proposal because it came to late",
        "Members may appeal within 40 days of the decision",
        "The committee rejected every proposal that was made in the autumn",
        f"{TEXT} And everybody gets free pizza, forever and ever.",
    ],
)
def test_an_altered_or_invented_quotation_is_not_found(quote: str) -> None:
    """Every word must be there, and none besides, however alike the rest is."""
    assert not is_quoted(quote, [TEXT])


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("The warranty lasts. Also we promise free pizza for everybody", "The warranty lasts."),
        ("The company was founded by a man from outer space", "a"),
        ("Revenue grew to about five million dollars", "Revenue grew to about five billion dollars in a year"),
        ("Employees may take leave of thirty days", "Employees may take leave of twenty days in each calendar year"),
        ("The drug is effective in patients", "The drug is ineffective in patients"),
        ("smokers recovered", "All non-smokers recovered"),
        ("-5 degrees", "It is 5 degrees"),
        ("5 degrees", "It is -5 degrees"),
        (".5 dollars", "It costs 5 dollars"),
        ("1.5", "1 5"),
        ("growth of 5%", "a growth of 5"),
        ("p > 0.05", "p < 0.05"),
    ],
)
def test_a_word_a_number_or_a_sign_that_differs_is_no_quotation(quote: str, text: str) -> None:
    """Also where nearly all letters are the same, and where the text is shorter than the quotation."""
    assert not is_quoted(quote, [text])


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("the board - which met - decided", "The board—which met—decided."),
        ("−5 degrees", "It is -5 degrees"),
        ("COVID-19 cases", "COVID\u201119 cases"),
        ("state of the art", "state-of-the-art methods"),
        ("final report", "The ﬁnal re\u00adport"),
        ("5 kg of rice", "5kg of rice"),
        ("the board decided", "[the board](https://x.example/a) decided"),
        ("bold text", "<b>bold</b> text"),
        ("AT&T Inc", "AT&amp;T Inc."),
        ("a paragraph goes on", "> a paragraph\n> goes on"),
        ("an important matter", "an impor-\ntant matter"),
        ("首都巴黎", "法国的首都巴黎是大城市"),
    ],
)
def test_the_same_words_in_another_dress_are_a_quotation(quote: str, text: str) -> None:
    """Dashes, Unicode forms, links, tags and hyphens at line ends may differ."""
    assert is_quoted(quote, [text])


@pytest.mark.parametrize(("text", "quoted"), [("The sky is green", False), ("The", True), ("the.", True)])
def test_words_that_say_nothing_are_a_quotation_of_themselves_only(text: str, quoted: bool) -> None:
    """An article proves nothing, unless it is all that there is."""
    assert is_quoted("the", [text]) is quoted


PAID = "Alpha shall pay Beta the amount of ten dollars within thirty days after delivery."


@pytest.mark.parametrize(
    ("quote", "text", "quoted"),
    [
        ("Alpha shall pay … within thirty days", PAID, True),
        ("Alpha shall pay ... ten dollars [...] after delivery", PAID, True),
        ("… within thirty days …", PAID, True),
        ("within thirty days … Alpha shall pay", PAID, False),
        ("Alpha shall pay … within forty days", PAID, False),
        ("Alpha shall pay … the", PAID, False),
        ("wait ... and see", "They wait ... and see.", True),
        ("The board did … approve the proposal", "The board did not approve the proposal", False),
    ],
)
def test_something_in_the_middle_may_be_left_out_where_the_quotation_says_so(
    quote: str, text: str, quoted: bool
) -> None:
    """The parts stand in their order in one text, each says something, and what is left out is not the "not"."""
    assert is_quoted(quote, [text]) is quoted
