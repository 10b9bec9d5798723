"""Citations: what they point to, how many of them are right, what is a mark of one, and words that name a source."""

from typing import Any

import pytest
from metrics.records import golds, lack, record, score, values

from evals.metrics import Sample
from evals.schemas import Citation, GoldPassage, MetricGroup, ResponseError, RetrievedChunk
from evals.schemas.dataset import CalculationCheck, Check, Fact, FactsCheck, ListCheck, ListItem

RIGHT = ("citation_precision", "citation_recall")
GOLDS = golds("a", "b")
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
        pytest.param(_by_index(1, 4), 1, [0], id="a chunk and its repetition"),
        pytest.param([], 1, [], id="none"),
    ],
)
def test_citations_resolve_to_distinct_chunks(citations: list[Citation], base: int, places: list[int | None]) -> None:
    """An id, an index or a document names a retrieved chunk; each counts once, at its first rank."""
    sample = record(gold_passages=GOLDS, chunks=CHUNKS, citations=citations, citation_base=base)
    assert [source.place for source in sample.cited] == places


@pytest.mark.parametrize(
    ("citations", "precision", "recall", "invalid"),
    [
        pytest.param(_by_index(1, 3), 1, 1, 0, id="both golds"),
        pytest.param(_by_index(1, 1, 1, 2), 0.5, 0.5, 0, id="one right one wrong, repeated"),
        pytest.param(_by_index(2), 0, 0, 0, id="one wrong"),
        pytest.param(_by_index(1, 9), 0.5, 0.5, 1, id="one that points to nothing"),
        pytest.param(_by_index(7, 8, 9), 0, 0, 3, id="only such that point to nothing"),
        pytest.param(_by_index(1, 4), 1, 0.5, 0, id="a gold and its repetition"),
        pytest.param(_by_index(4), 1, 0.5, 0, id="the repetition alone"),
    ],
)
def test_citations_inherit_the_match_of_their_chunk(
    citations: list[Citation], precision: float, recall: float, invalid: int
) -> None:
    """Precision is over distinct citations, recall over golds; what points to nothing is wrong and counted."""
    results = [score(name, gold_passages=GOLDS, chunks=CHUNKS, citations=citations) for name in RIGHT]
    assert [result.value for result in results] == pytest.approx([precision, recall])
    assert {result.details["invalid"] for result in results} == {invalid}


def test_citing_nothing_has_no_precision_and_a_recall_of_0() -> None:
    """An empty list says that nothing is cited: the golds are missed, and there is no citation to be right."""
    assert values(RIGHT, record(gold_passages=GOLDS, chunks=CHUNKS, citations=[])) == [None, 0]


def test_a_gold_in_two_cited_chunks_counts_once() -> None:
    """Recall never exceeds 1."""
    gold = GoldPassage(text="burst pipes are covered up to ten thousand euros")
    chunks = [RetrievedChunk(text=f"{lead} {gold.text}") for lead in ("first", "second")]
    assert values(RIGHT, record(gold_passages=[gold], chunks=chunks, citations=_by_index(1, 2))) == [1, 1]


MISS = RetrievedChunk(chunk_id="x", document_id="guide.md", section="Fire", text="of fire")
HIT = RetrievedChunk(chunk_id="a", document_id="guide.md", section="Water", text="gold a")
ALSO = RetrievedChunk(chunk_id="c", document_id="guide.md", section="Hail", text="gold c")


@pytest.mark.parametrize("chunks", [[MISS, HIT, ALSO], [HIT, ALSO, MISS], [ALSO, MISS, HIT]])
def test_a_cited_document_is_right_wherever_its_gold_chunk_stands(chunks: list[RetrievedChunk]) -> None:
    """It stands for all retrieved chunks of the document: one citation, right by any, that covers all their golds."""
    where = [("a", "guide", "Water"), ("b", "manual", "Theft"), ("c", "guide", "Hail")]
    wanted = [
        GoldPassage(text=f"gold {name}", chunk_id=name, document_id=doc, section=part) for name, doc, part in where
    ]
    citations = [Citation(document_id="guide"), Citation(document_id="guide.md")]
    sample = record(gold_passages=wanted, chunks=chunks, citations=citations)
    assert values((*RIGHT, "section_accuracy"), sample) == pytest.approx([1, 2 / 3, 1])
    (source,) = sample.cited
    assert source.place is not None
    assert sample.matches.hits[source.place]


def test_a_cited_document_without_a_gold_chunk_is_wrong() -> None:
    """Naming the right document is not enough where nothing of it that was retrieved holds gold."""
    sample = record(gold_passages=GOLDS, chunks=[MISS, CHUNKS[2]], citations=[Citation(document_id="guide")])
    assert values(RIGHT, sample) == [0, 0]


@pytest.mark.parametrize(
    ("citation", "place"),
    [({}, 0), ({"document_id": "manual"}, 1), ({"document_id": "other"}, 0), ({"index": 3}, 2), ({"index": 9}, 0)],
)
def test_a_citation_of_an_id_that_several_chunks_have_is_told_by_index_or_document(
    citation: dict[str, Any], place: int
) -> None:
    """Where ids count from 0 in each document."""
    chunks = [RetrievedChunk(chunk_id="0", document_id=f"{name}.md") for name in ("guide", "manual", "policy")]
    sample = record(gold_passages=GOLDS, chunks=chunks, citations=[Citation(chunk_id="0", **citation)])
    assert [source.place for source in sample.cited] == [place]


# Whether a citation stands in the right document and the right section.

WATER = GoldPassage(text="burst pipes are covered", document_id="guide", section="Water damage")


def _chunk(document: str | None, section: str | None) -> RetrievedChunk:
    return RetrievedChunk(text=f"the text of {section}", document_id=document, section=section)


RIGHT_ONE = _chunk("guide.md", "Water damage")


@pytest.mark.parametrize(
    ("chunks", "citations", "value"),
    [
        pytest.param([RIGHT_ONE], _by_index(1), 1, id="right"),
        pytest.param([_chunk("guide.md", "## **water**  Damage")], _by_index(1), 1, id="right but for its form"),
        pytest.param([_chunk("uploads/guide.pdf", "Water damage")], _by_index(1), 1, id="a folder and an ending"),
        pytest.param([_chunk("guide_v2.md", "Water damage")], _by_index(1), 1, id="a version"),
        pytest.param([_chunk("kb-guide.md", "Water damage")], _by_index(1), 1, id="a prefix"),
        pytest.param([_chunk("guide.md", "Fire")], _by_index(1), 0, id="another section"),
        pytest.param([_chunk("manual.md", "Water damage")], _by_index(1), 0, id="another document"),
        pytest.param([_chunk(None, "Water damage")], _by_index(1), 0, id="no document"),
        pytest.param([RIGHT_ONE, _chunk("guide.md", "Fire")], _by_index(1, 2), 0.5, id="one of two"),
        pytest.param([RIGHT_ONE, _chunk("guide.md", None)], _by_index(1, 2), 0.5, id="one without"),
        pytest.param([RIGHT_ONE], _by_index(1, 1), 1, id="cited twice"),
        pytest.param([RIGHT_ONE], _by_index(1, 7), 0.5, id="one that points to nothing"),
        pytest.param([RIGHT_ONE] * 2, _by_index(1, 2), 1, id="a chunk and its repetition"),
        pytest.param([_chunk("guide.md", None)], [Citation(index=1, section="Water damage")], 1, id="cited alone"),
        pytest.param([_chunk("guide.md", None)], [Citation(index=1, section="Fire")], 0, id="cited alone, another"),
        pytest.param([RIGHT_ONE], [Citation(index=1, section="Fire")], 0, id="cited under another section"),
        pytest.param([_chunk("guide.md", "Fire")], [Citation(index=1, section="Water damage")], 1, id="the reverse"),
    ],
)
def test_a_citation_is_right_in_the_section_and_document_of_a_gold(
    chunks: list[RetrievedChunk], citations: list[Citation], value: float
) -> None:
    """Both count, over distinct citations; of a section, the one that the citation names: a reader is sent to it."""
    assert score("section_accuracy", gold_passages=[WATER], chunks=chunks, citations=citations).value == value


@pytest.mark.parametrize(
    ("gold", "section", "value"),
    [
        *[("3 Fees", name, 1) for name in ("3. Fees", "§ 3 Fees", "Section 3: Fees", "Sec. 3 Fees")],
        *[("3 Fees", name, 0) for name in ("Section Fees", "3.1 Fees", "4 Fees", "Fees")],
        *[("page 12", name, 1) for name in ("12", "p. 12")],
        *[("page 12", "page 13", 0), ("page 12", "Water", None)],
    ],
)
def test_how_a_section_is_numbered_does_not_matter_but_its_number_does(
    gold: str, section: str, value: float | None
) -> None:
    """Points, § and the word before a number may be there or not; headings say nothing of pages."""
    wanted = GoldPassage(text="the fee is 5", document_id="guide", section=gold)
    chunks = [_chunk("guide", section)]
    result = score("section_accuracy", gold_passages=[wanted], chunks=chunks, citations=_by_index(1))
    assert result.value == value


def test_a_question_whose_gold_names_no_section_is_not_lost_to_a_failure() -> None:
    """Whatever the server says there is no value, so a failure does not widen the bounds."""
    gold, error = GoldPassage(text="gold", document_id="guide"), ResponseError(kind="timeout", message="late")
    assert score("section_accuracy", gold_passages=[gold], error=error).missing == "not_applicable"
    assert score("section_accuracy", gold_passages=[WATER], error=error).missing == "transport"


@pytest.mark.parametrize(
    ("gold", "section", "cited", "reason"),
    [
        (
            GoldPassage(text="gold", document_id="guide"),
            "Fire",
            [1],
            "the gold passages do not name both document and section",
        ),
        (
            GoldPassage(text="gold", section="Fire"),
            "Fire",
            [1],
            "the gold passages do not name both document and section",
        ),
        (WATER, None, [1], "no section was read of the chunks"),
        (WATER, "Fire", [], "the answer cites nothing"),
    ],
)
def test_without_sections_on_both_sides_there_is_no_value(
    gold: GoldPassage, section: str | None, cited: list[int], reason: str
) -> None:
    """A section that nobody names is never wrong: None with the reason."""
    chunks = [_chunk("guide", section)]
    result = score("section_accuracy", gold_passages=[gold], chunks=chunks, citations=_by_index(*cited))
    assert lack(result) == (None, "not_applicable", reason)


# Marks of citations, which are no part of an answer's text.


def _marked(answer: str, *cited: int, chunks: int = 3, **fields: Any) -> Sample:
    retrieved = [RetrievedChunk(text=f"text {number}") for number in range(chunks)]
    return record(answer, chunks=retrieved, citations=_by_index(*cited) or None, **fields)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Paris [1].", "Paris."),
        ("Paris [1, 2] and [3]", "Paris and"),
        ("Paris [1][3].", "Paris."),
        ("Paris [1-3]; Rome [1; 2]", "Paris; Rome"),
        ("Paris [^1].", "Paris."),
        ("Paris【1†source】, Rome【4:0†b.pdf】.", "Paris, Rome."),
        ("Paris. [2]Rome", "Paris. Rome"),
        ("首都は東京[1]です", "首都は東京です"),
        ("96 hours [2]\n[1] Paris", "96 hours Paris"),
        # Years, code, and numbers that no chunk has are text.
        *[(text, text) for text in ("It was so [1998].", "Use array[1] or a[1][2].", "[4]", "[1, 4]", "[x]", "[0]")],
        ("Write `[1]` or\n```\nx = [1]\n```", "Write `[1]` or ``` x = [1] ```"),
    ],
)
def test_a_mark_whose_numbers_a_chunk_can_have_is_no_text(answer: str, text: str) -> None:
    """In whichever of the usual forms it is written."""
    assert " ".join((_marked(answer).answer or "").split()) == text


def test_what_the_response_cites_and_counts_decides_too() -> None:
    """A mark glued to a word is one where its number is cited, a year is none; numbers count from the server's base."""
    assert _marked("96 hours[1][2].", 1, 2).answer == "96 hours."
    assert _marked("96 hours[1].", 2).answer == "96 hours[1]."
    assert _marked("It was so [1998] [7].", 1998, 7).answer == "It was so [1998]."
    assert _marked("Paris [0] [3]", citation_base=0).answer == "Paris [3]"
    assert _marked("Paris [2]", 1, 1, chunks=0).answer == "Paris"
    assert record("Paris [1]").answer == _marked("Paris [1]", chunks=0).answer == "Paris [1]"


THREE = Fact(name="three", numbers=["3"], any=["3"])


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("fact_score", FactsCheck(kind="facts", facts=[THREE])),
        ("rules_coverage", ListCheck(kind="list", name="rules", items=[ListItem(name="three", any=["3"])])),
        ("is_correct", CalculationCheck(kind="calculation", answer="three", facts=[THREE])),
    ],
)
def test_a_check_does_not_hold_in_a_mark(name: str, check: Check) -> None:
    """The number of a source is no fact of the answer."""
    assert values([name], _marked("It takes twenty days [3].", checks=[check])) == [0]
    assert values([name], _marked("It takes 3 days [1].", checks=[check])) == [1]


# Words that name a source.


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ("The figure is taken from the manual, from page 3 and from page 4.", ["page", "from"]),
        ("**Source:** rate-manual.pdf, Table 3", ["source:", "pdf"]),
        ("It costs 5 euros. Sources: [1], [2]", []),
        ("According\nto the document it is 5.", ["document", "according to"]),
        ("According to PAGE 3, based on table: rates, it is 5", ["table:", "page", "according to", "based on"]),
        ("The source of the leak is the kitchen table.", []),
        ("It costs 5 euros; the homepage is documented, something fromage.", ["document", "from"]),
    ],
)
def test_kinds_of_indicators_are_counted_by_words(answer: str, kinds: list[str]) -> None:
    """Each kind counts once, parts of words do not, and three kinds are enough."""
    result = score("source_citation_quality", answer)
    assert result.details == {"indicators": kinds}
    assert result.value == pytest.approx(min(len(kinds) / 3, 1))


@pytest.mark.parametrize("answer", ["I could not find this in the documents on page 3.", ""])
def test_an_abstention_has_no_sources(answer: str) -> None:
    """It rests on nothing; it is not badly cited."""
    result = score("source_citation_quality", answer)
    assert (*lack(result), result.group) == (None, "not_applicable", "the answer abstains", MetricGroup.CITATION)
