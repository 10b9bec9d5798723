"""What is taken off a text before it is compared."""

import pytest

from evals.text.markup import citation_marks, numbers_of, plain, without_citation_marks, without_thoughts

POSSIBLE, CITED = frozenset({1, 2, 3}), frozenset({3})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>It lasts <b>96</b>&nbsp;hours.</p>", " It lasts 96\u00a0hours. "),
        ("H<sub>2</sub>O", "H2O"),
        ("in 2019<sup>1</sup>", "in 2019 1 "),
        ('<a href="x">a</a>', "a"),
        ("AT&amp;T &lt;3", "AT&T <3"),
        ("a < b and c > d", "a < b and c > d"),
        ("List<String> x", "List<String> x"),
        ("co\u00advered, co\u00ad\n  vered, z\u200bero", "covered, covered, zero"),
        ("in 2019¹ and m²", "in 2019 ¹ and m²"),
    ],
)
def test_html_and_what_is_not_seen_is_taken_off(text: str, expected: str) -> None:
    """Tags of blocks part words, tags inside a line do not; what is no tag stays."""
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "answer", "thoughts"),
    [
        ("<think>maybe 48</think>96 hours", "96 hours", "maybe 48"),
        ("the user wants hours</think>\n96 hours", "96 hours", "the user wants hours"),
        ("<thinking>a</thinking>b", "b", "a"),
        ('<details type="reasoning" done="true">a</details>\nb', "b", "a"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "b", "a"),
        ("plain <b>text</b>", "plain <b>text</b>", ""),
    ],
)
def test_thoughts_are_told_from_the_answer(text: str, answer: str, thoughts: str) -> None:
    """In each of the forms that models write them."""
    assert without_thoughts(text) == (answer, thoughts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It lasts [1] 96 hours [1, 2].", "It lasts 96 hours."),
        ("Since [1998] it [9] lasts", "Since [1998] it [9] lasts"),
        ("a[0] and array[1] but 96 hours[3]", "a[0] and array[1] but 96 hours"),
        ("`x [1]` and ```y [2]```", "`x [1]` and ```y [2]```"),
        ("five. [[1]](https://example.org/a)", "five."),
        ("five. [Document 7] six 【4†source】", "five. six"),
        ("five [^2]", "five"),
    ],
)
def test_marks_of_citations_are_taken_off(text: str, expected: str) -> None:
    """Numbers that a source can have; a link, a named source and 【1】 always."""
    assert without_citation_marks(text, POSSIBLE, CITED) == expected


def test_marks_say_where_they_stand_and_what_they_name() -> None:
    """From the blanks before on."""
    (mark,) = citation_marks("Yes [1-3].", POSSIBLE, CITED)
    assert (mark.start, mark.opens, mark.end, mark.numbers) == (3, 4, 9, "1-3")
    assert numbers_of("2, 1-3") == (2, 1, 3)
    assert without_citation_marks("Yes [1].", POSSIBLE, CITED, lambda numbers: f"<{numbers}>") == "Yes <1>."
