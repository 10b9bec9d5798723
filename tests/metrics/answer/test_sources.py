"""How plainly an answer says where it comes from."""

from collections.abc import Callable

import pytest

from evals.schemas import MetricGroup, MetricResult

Score = Callable[..., MetricResult]


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ("It costs 5 euros.", []),
        ("The figure is taken from the manual, from page 3 and from page 4.", ["page", "from"]),
        ("**Source:** rate-manual.pdf, Table 3", ["source:", "pdf"]),
        ("It costs 5 euros. Sources: [1], [2]", []),
        ("According\nto the document it is 5.", ["document", "according to"]),
        (
            "According to the Document on PAGE 3, based on table: rates, it is 5",
            ["table:", "page", "document", "according to"],
        ),
        ("The source of the leak is the kitchen table.", []),
        ("It costs 5 euros; the homepage is documented, something fromage.", ["document", "from"]),
    ],
)
def test_kinds_of_indicators_are_counted_by_words(score: Score, answer: str, kinds: list[str]) -> None:
    """Each kind counts once, parts of words do not, and three kinds are enough."""
    result = score("source_citation_quality", answer)
    found = result.details["indicators"]
    assert set(kinds) <= set(found)
    assert len(found) == len(kinds) + ("based on" in answer)
    assert result.value == pytest.approx(min(len(found) / 3, 1))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "the server sent no answer"),
        ("I could not find this in the documents on page 3.", "the answer abstains"),
        ("", "the answer abstains"),
    ],
)
def test_what_says_nothing_has_no_sources(score: Score, answer: str | None, reason: str) -> None:
    """An abstention rests on nothing; it is not badly cited."""
    result = score("source_citation_quality", answer)
    assert (result.value, result.reason, result.group) == (None, reason, MetricGroup.CITATION)
