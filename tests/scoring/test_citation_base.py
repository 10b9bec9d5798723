"""Signs of a wrong `citations.base`: seen in the indices alone, or by the gold that the neighbouring chunk holds."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_runs import notes_on_answers

from evals.schemas import Citation, EvalQuestion, EvalRecord, EvalResponse, GoldPassage, ResponseError, RetrievedChunk
from evals.scoring.settings import ScoreSettings, ScoringContext

GOLD = "Daily snapshots are kept for thirty days and weekly ones for twelve weeks."


def _record(cited: Sequence[Citation | int], *, gold_at: int | None = None, chunks: int = 5) -> EvalRecord:
    """An answer that cites; the chunk at the place `gold_at`, from 0, holds the gold."""
    texts = [GOLD if place == gold_at else f"Nothing of it, number {place}." for place in range(chunks)]
    response = EvalResponse(
        answer="Thirty days.",
        chunks=[RetrievedChunk(text=text, chunk_id=f"c-{place}") for place, text in enumerate(texts)],
        citations=[Citation(index=one) if isinstance(one, int) else one for one in cited],
    )
    return EvalRecord(
        question=EvalQuestion(question="How long?", gold_passages=[GoldPassage(text=GOLD)]), response=response
    )


def _note(records: Sequence[EvalRecord], base: int = 1) -> str | None:
    """The one note on citations, where there is one."""
    found = notes_on_answers(records, ScoringContext(ScoreSettings(citation_base=base)))
    assert len(found) < 2
    return found[0] if found else None


@pytest.mark.parametrize(
    ("base", "indices", "said"),
    [
        (1, [[0], [0]], "none of the 2 cited indices is .* citations.base: 1: citations.base: 0 fits all"),
        (0, [[5], [5]], "citations.base: 0: citations.base: 1 fits all"),
        (1, [[100, 101], [102]], "citations.base: 100 fits all"),
        (1, [[100]], "no citations.base fits"),
        (1, [[100, 900], [2]], None),
        (1, [[7000], [8123], [9999]], "no citations.base fits"),
    ],
)
def test_indices_of_which_none_is_that_of_a_chunk(base: int, indices: list[list[int]], said: str | None) -> None:
    """The base that fits is named; one index alone shows none but 0 and 1."""
    note = _note([_record(cited) for cited in indices], base)
    if said is None:
        assert note is None
    else:
        assert note is not None
        assert re.search(said, note)


@pytest.mark.parametrize(("base", "other"), [(1, 0), (0, 1)])
def test_a_base_by_which_no_index_lies_outside_is_named(base: int, other: int) -> None:
    """The first chunk is cited as 0 where 1 was expected, or the last of n as n where counting was to begin at 0."""
    records = [_record([other + place], gold_at=None) for place in (0, 1, 2, 3, 4)]
    note = _note(records, base)
    assert note is not None
    assert f"1 of 5 cited indices are those of no retrieved chunk with citations.base: {base}" in note
    assert f"citations.base: {other}, which" in note


def test_one_index_outside_among_many_is_a_slip_of_the_model() -> None:
    """A base is not named for less than a tenth of them."""
    assert _note([_record([0]), *[_record([2])] * 10]) is None


@pytest.mark.parametrize(("base", "other"), [(1, 0), (0, 1)])
def test_citations_that_miss_the_gold_by_one_name_the_other_base(base: int, other: int) -> None:
    """Each index is that of a chunk, and the gold stands in its neighbour."""
    note = _note([_record([other + place], gold_at=place) for place in (1, 2, 3)], base)
    assert note is not None
    assert f"3 of 3 citations miss the gold by exactly one chunk with citations.base: {base}" in note
    assert f"citations.base: {other} seems" in note


def test_two_misses_by_one_show_nothing() -> None:
    """Nor do many of which half are right."""
    assert _note([_record([2], gold_at=2)] * 2) is None
    assert _note([*[_record([2], gold_at=2)] * 3, *[_record([3], gold_at=2)] * 3]) is None


def test_the_base_of_a_server_that_cites_its_last_chunk_is_not_doubted() -> None:
    """By the other base that index would lie outside, so a model that likes the first chunk is just that."""
    assert _note([*[_record([1], gold_at=1)] * 5, _record([5], gold_at=4)]) is None


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.sampled_from([0, 1]), st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_a_server_that_cites_gold_by_its_base_is_never_doubted(base: int, places: list[int]) -> None:
    """Wherever gold is retrieved."""
    assert _note([_record([base + place], gold_at=place) for place in places], base) is None


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.sampled_from([0, 1]), st.lists(st.integers(0, 4), min_size=3, max_size=8))
def test_a_server_that_cites_gold_by_the_other_base_is_always_seen(base: int, places: list[int]) -> None:
    """Whichever of the signs it shows."""
    note = _note([_record([base + place], gold_at=place) for place in places], 1 - base)
    assert note is not None
    assert f"citations.base: {base}" in note


def test_a_year_in_brackets_is_no_index() -> None:
    """Where it was read from the answer's text."""
    assert _note([_record([Citation(index=1998, start=3, end=9)])] * 3) is None


def test_ids_of_which_none_is_that_of_a_chunk_are_noted() -> None:
    """One that resolves is enough to say that the mapping is right."""
    lost = _record([Citation(chunk_id="guide.md")])
    note = _note([lost, lost])
    assert note.startswith("none of the 2 cited sources is a retrieved chunk: server.map.citations")
    assert _note([lost, _record([Citation(chunk_id="c-1")])]) is None


def test_nothing_is_said_without_chunks_or_citations() -> None:
    """Nobody knows then what a citation points to."""
    question = EvalQuestion(question="How long?")
    for response in (
        EvalResponse(answer="a", citations=[Citation(index=0)]),
        EvalResponse(answer="a", chunks=[RetrievedChunk(text="t", chunk_id="c")], citations=[]),
        EvalResponse(error=ResponseError(kind="connect", message="gone")),
        None,
    ):
        assert _note([EvalRecord(question=question, response=response)]) is None
