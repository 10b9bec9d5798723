"""Section accuracy: does a citation stand in the right document and the right section?"""

from collections.abc import Callable

import pytest

from evals.metrics import SectionAccuracy
from evals.schemas import Citation, GoldPassage, MetricResult, ResponseError, RetrievedChunk

Measure = Callable[..., MetricResult]
GOLD = GoldPassage(text="burst pipes are covered", document_id="guide", section="Water damage")


def _chunk(document: str | None, section: str | None) -> RetrievedChunk:
    return RetrievedChunk(text=f"the text of {section}", document_id=document, section=section)


@pytest.mark.parametrize(
    ("chunks", "indices", "expected"),
    [
        pytest.param([_chunk("guide.md", "Water damage")], [1], 1, id="right"),
        pytest.param([_chunk("guide.md", "## **water**  Damage")], [1], 1, id="right but for case and markdown"),
        pytest.param([_chunk("guide.md", "Fire")], [1], 0, id="another section"),
        pytest.param([_chunk("manual.md", "Water damage")], [1], 0, id="another document"),
        pytest.param([_chunk(None, "Water damage")], [1], 0, id="no document"),
        pytest.param([_chunk("guide.md", "Water damage"), _chunk("guide.md", "Fire")], [1, 2], 0.5, id="one of two"),
        pytest.param([_chunk("guide.md", "Water damage"), _chunk("guide.md", None)], [1, 2], 0.5, id="one without"),
        pytest.param([_chunk("guide.md", "Water damage")], [1, 1], 1, id="cited twice"),
        pytest.param([_chunk("guide.md", "Water damage")], [1, 7], 0.5, id="one that points to nothing"),
        pytest.param([_chunk("guide.md", "Water damage")] * 2, [1, 2], 1, id="a chunk and its repetition"),
    ],
)
def test_a_citation_is_right_in_the_section_and_document_of_a_gold(
    measure: Measure, chunks: list[RetrievedChunk], indices: list[int], expected: float
) -> None:
    """Both the document and the section count, over distinct citations."""
    citations = [Citation(index=index) for index in indices]
    assert measure(SectionAccuracy(), [GOLD], chunks=chunks, citations=citations).value == expected


@pytest.mark.parametrize(("section", "expected"), [("Water damage", 1), ("Fire", 0)])
def test_the_section_of_the_citation_counts_where_the_chunk_names_none(
    measure: Measure, section: str, expected: float
) -> None:
    """Some servers name the section in the citation alone."""
    citations = [Citation(index=1, section=section)]
    result = measure(SectionAccuracy(), [GOLD], chunks=[_chunk("guide.md", None)], citations=citations)
    assert result.value == expected


def test_the_section_that_a_citation_names_is_the_one_that_counts(measure: Measure) -> None:
    """A reader is sent to it: the right chunk under another section's name is a wrong citation, and the reverse."""
    for chunk, said, expected in (("Water damage", "Fire", 0), ("Fire", "Water damage", 1)):
        citations = [Citation(index=1, section=said)]
        result = measure(SectionAccuracy(), [GOLD], chunks=[_chunk("guide.md", chunk)], citations=citations)
        assert result.value == expected


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("3. Fees", 1),
        ("§ 3 Fees", 1),
        ("Section 3: Fees", 1),
        ("Sec. 3 Fees", 1),
        ("Section Fees", 0),
        ("3.1 Fees", 0),
        ("4 Fees", 0),
        ("Fees", 0),
    ],
)
def test_how_a_section_is_numbered_does_not_matter_but_its_number_does(
    measure: Measure, section: str, expected: float
) -> None:
    """Points, the sign § and the word "section" before a number may be there or not."""
    gold = GoldPassage(text="the fee is 5", document_id="guide", section="3 Fees")
    result = measure(SectionAccuracy(), [gold], chunks=[_chunk("guide", section)], citations=[Citation(index=1)])
    assert result.value == expected


def test_a_question_whose_gold_names_no_section_is_not_lost_to_a_failure(measure: Measure) -> None:
    """Whatever the server says there is no value, so a failure does not widen the bounds."""
    gold, error = GoldPassage(text="gold", document_id="guide"), ResponseError(kind="timeout", message="late")
    assert measure(SectionAccuracy(), [gold], error=error).missing == "not_applicable"
    assert measure(SectionAccuracy(), [GOLD], error=error).missing == "transport"


@pytest.mark.parametrize(
    ("gold", "chunk", "citations", "reason"),
    [
        pytest.param(
            GoldPassage(text="gold", document_id="guide"),
            _chunk("guide", "Fire"),
            [Citation(index=1)],
            "the gold passages do not name both document and section",
            id="gold without section",
        ),
        pytest.param(
            GoldPassage(text="gold", section="Fire"),
            _chunk("guide", "Fire"),
            [Citation(index=1)],
            "the gold passages do not name both document and section",
            id="gold without document",
        ),
        pytest.param(
            GOLD, _chunk("guide", None), [Citation(index=1)], "no section was read of the chunks", id="no sections"
        ),
        pytest.param(GOLD, _chunk("guide", "Fire"), [], "the answer cites nothing", id="no citation"),
    ],
)
def test_without_sections_on_both_sides_there_is_no_value(
    measure: Measure, gold: GoldPassage, chunk: RetrievedChunk, citations: list[Citation], reason: str
) -> None:
    """A section that nobody names is never wrong: None with the reason."""
    result = measure(SectionAccuracy(), [gold], chunks=[chunk], citations=citations)
    assert (result.value, result.reason) == (None, reason)
