"""Citations: what they point to, and how many of them are right."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.metrics import CitationPrecision, CitationRecall, Sample, SectionAccuracy
from evals.schemas import Citation, GoldPassage, MetricResult, RetrievedChunk

Measure = Callable[..., MetricResult]
GOLDS = [GoldPassage(text="gold a", chunk_id="a"), GoldPassage(text="gold b", chunk_id="b")]
SECTIONED = [
    GoldPassage(text="gold a", chunk_id="a", document_id="guide", section="Water"),
    GoldPassage(text="gold b", chunk_id="b", document_id="manual", section="Theft"),
]
CHUNKS = [
    RetrievedChunk(chunk_id="a", document_id="guide.md", section="Water"),
    RetrievedChunk(chunk_id="x", document_id="guide.md", section="Fire"),
    RetrievedChunk(chunk_id="b", document_id="manual.md", section="Theft"),
    RetrievedChunk(chunk_id="a", document_id="guide.md", section="Water"),
]


def _by_index(*indices: int) -> list[Citation]:
    return [Citation(index=index) for index in indices]


def _by_id(*ids: str) -> list[Citation]:
    return [Citation(chunk_id=chunk_id) for chunk_id in ids]


@pytest.mark.parametrize(
    ("citations", "base", "places"),
    [
        pytest.param(_by_index(1, 3), 1, [0, 2], id="counted from 1"),
        pytest.param(_by_index(0, 2), 0, [0, 2], id="counted from 0"),
        pytest.param(_by_index(0), 1, [None], id="0 where the first is 1"),
        pytest.param(_by_index(5), 1, [None], id="beyond the end"),
        pytest.param(_by_index(4), 0, [None], id="beyond the end from 0"),
        pytest.param(_by_index(-1), 0, [None], id="negative"),
        pytest.param(_by_id("b", "x"), 1, [2, 1], id="by id"),
        pytest.param(_by_id("zz"), 1, [None], id="an id that was not retrieved"),
        pytest.param([Citation(chunk_id="b", index=1)], 1, [2], id="the id before the index"),
        pytest.param([Citation(document_id="manual")], 1, [2], id="by document"),
        pytest.param([Citation(document_id="guide", section="Fire")], 1, [1], id="by document and section"),
        pytest.param([Citation(document_id="guide", section="Hail")], 1, [None], id="by a section not retrieved"),
        pytest.param([Citation(section="Fire")], 1, [None], id="a section alone"),
        pytest.param(_by_index(1, 1, 2, 1), 1, [0, 1], id="cited twice"),
        pytest.param([*_by_index(3), *_by_id("b")], 1, [2], id="cited in two ways"),
        pytest.param(_by_index(9, 9, 8), 1, [None, None], id="the same nothing twice"),
        pytest.param(_by_index(4), 1, [0], id="a repeated chunk"),
        pytest.param(_by_index(1, 4), 1, [0], id="a chunk and its repetition"),
        pytest.param([], 1, [], id="none"),
    ],
)
def test_citations_resolve_to_distinct_chunks(
    make_case: Callable[..., Sample], citations: list[Citation], base: int, places: list[int | None]
) -> None:
    """An id, an index or a document names a retrieved chunk; each counts once, at its first rank."""
    case = make_case(GOLDS, chunks=CHUNKS, citations=citations, base=base)
    assert [source.place for source in case.cited] == places


@pytest.mark.parametrize(
    ("citations", "precision", "recall", "invalid"),
    [
        pytest.param(_by_index(1, 3), 1, 1, 0, id="both golds"),
        pytest.param(_by_index(1), 1, 0.5, 0, id="one gold"),
        pytest.param(_by_index(1, 2), 0.5, 0.5, 0, id="one right one wrong"),
        pytest.param(_by_index(2), 0, 0, 0, id="one wrong"),
        pytest.param(_by_index(1, 9), 0.5, 0.5, 1, id="one that points to nothing"),
        pytest.param(_by_index(7, 8, 9), 0, 0, 3, id="only such that point to nothing"),
        pytest.param(_by_index(1, 1, 1, 2), 0.5, 0.5, 0, id="repeated citations"),
        pytest.param(_by_index(1, 4), 1, 0.5, 0, id="a gold and its repetition"),
        pytest.param(_by_index(4), 1, 0.5, 0, id="the repetition alone"),
    ],
)
def test_citations_inherit_the_match_of_their_chunk(
    measure: Measure, citations: list[Citation], precision: float, recall: float, invalid: int
) -> None:
    """Precision is over distinct citations, recall over golds; what points to nothing is wrong and counted."""
    record: dict[str, Any] = {"chunks": CHUNKS, "citations": citations}
    results = [measure(metric, GOLDS, **record) for metric in (CitationPrecision(), CitationRecall())]
    assert [result.value for result in results] == pytest.approx([precision, recall])
    assert {result.details["invalid"] for result in results} == {invalid}


def test_citing_nothing_has_no_precision_and_a_recall_of_0(measure: Measure) -> None:
    """An empty list says that nothing is cited: the golds are missed, and there is no citation to be right."""
    precision = measure(CitationPrecision(), GOLDS, chunks=CHUNKS, citations=[])
    assert (precision.value, precision.reason) == (None, "the answer cites nothing")
    assert measure(CitationRecall(), GOLDS, chunks=CHUNKS, citations=[]).value == 0


def test_a_gold_in_two_cited_chunks_counts_once(measure: Measure) -> None:
    """Recall never exceeds 1."""
    gold = GoldPassage(text="burst pipes are covered up to ten thousand euros")
    chunks = [RetrievedChunk(text=f"{lead} {gold.text}") for lead in ("first", "second")]
    record: dict[str, Any] = {"chunks": chunks, "citations": _by_index(1, 2)}
    assert measure(CitationRecall(), [gold], **record).value == 1
    assert measure(CitationPrecision(), [gold], **record).value == 1


MISS = RetrievedChunk(chunk_id="x", document_id="guide.md", section="Fire", text="of fire")
HIT = RetrievedChunk(chunk_id="a", document_id="guide.md", section="Water", text="gold a")
ALSO = RetrievedChunk(chunk_id="c", document_id="guide.md", section="Hail", text="gold c")


@pytest.mark.parametrize("chunks", [[MISS, HIT, ALSO], [HIT, ALSO, MISS], [ALSO, MISS, HIT]])
def test_a_cited_document_is_right_wherever_its_gold_chunk_stands(
    make_case: Callable[..., Sample], chunks: list[RetrievedChunk]
) -> None:
    """It stands for all retrieved chunks of the document: one citation, right by any, that covers all their golds."""
    golds = [*SECTIONED, GoldPassage(text="gold c", chunk_id="c", document_id="guide", section="Hail")]
    case = make_case(golds, chunks=chunks, citations=[Citation(document_id="guide"), Citation(document_id="guide.md")])
    values = [metric.score(case).value for metric in (CitationPrecision(), CitationRecall(), SectionAccuracy())]
    assert values == pytest.approx([1, 2 / 3, 1])
    (source,) = case.cited
    assert source.place is not None
    assert case.matches.hits[source.place]


def test_a_cited_document_without_a_gold_chunk_is_wrong(measure: Measure) -> None:
    """Naming the right document is not enough where nothing of it that was retrieved holds gold."""
    record: dict[str, Any] = {"chunks": [MISS, CHUNKS[2]], "citations": [Citation(document_id="guide")]}
    assert [measure(metric, GOLDS, **record).value for metric in (CitationPrecision(), CitationRecall())] == [0, 0]


@pytest.mark.parametrize(
    ("citation", "place"),
    [
        (Citation(chunk_id="0"), 0),
        (Citation(chunk_id="0", document_id="manual"), 1),
        (Citation(chunk_id="0", document_id="other"), 0),
        (Citation(chunk_id="0", index=3), 2),
        (Citation(chunk_id="0", index=9), 0),
    ],
)
def test_a_citation_of_an_id_that_several_chunks_have_is_told_by_index_or_document(
    make_case: Callable[..., Sample], citation: Citation, place: int
) -> None:
    """Where ids count from 0 in each document."""
    chunks = [
        RetrievedChunk(chunk_id="0", document_id=name, text=name) for name in ("guide.md", "manual.md", "policy.md")
    ]
    assert [source.place for source in make_case(GOLDS, chunks=chunks, citations=[citation]).cited] == [place]


@pytest.mark.parametrize(
    ("name", "value"), [("uploads/guide.pdf", 1), ("guide_v2.md", 1), ("kb-guide.md", 1), ("manual.md", 0)]
)
def test_a_section_is_of_a_document_whose_name_gained_something(measure: Measure, name: str, value: float) -> None:
    """Folders, endings, versions and prefixes are what pipelines add."""
    chunk = RetrievedChunk(chunk_id="a", document_id=name, section="Water", text="of water")
    assert measure(SectionAccuracy(), SECTIONED, chunks=[chunk], citations=_by_index(1)).value == value


@pytest.mark.parametrize(("section", "value"), [("12", 1), ("p. 12", 1), ("page 13", 0), ("Water", None)])
def test_a_page_is_compared_where_the_server_names_pages(measure: Measure, section: str, value: float | None) -> None:
    """Headings say nothing of pages."""
    gold = GoldPassage(text="of water", document_id="guide", section="page 12")
    chunk = RetrievedChunk(document_id="guide.md", section=section, text="of water")
    assert measure(SectionAccuracy(), [gold], chunks=[chunk], citations=_by_index(1)).value == value
