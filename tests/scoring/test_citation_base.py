"""Signs of a wrong `citations.base`: seen in the indices alone, or by the gold that the neighbouring chunk holds."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_runs import notes_on_answers

from evals.schemas import Citation, EvalQuestion, EvalRecord, EvalResponse, GoldPassage, ResponseError, RetrievedChunk
from evals.scoring.settings import ScoreSettings

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
    found = notes_on_answers(records, ScoreSettings(citation_base=base))
    assert len(found) < 2
    return found[0] if found else None


@pytest.mark.parametrize(
    ("base", "answers", "said"),
    [
        (1, [[0], [0]], "none of the 2 cited indices is .* citations.base: 1: citations.base: 0 fits all"),
        (0, [[5], [5]], "citations.base: 0: citations.base: 1 fits all"),
        (1, [[100, 101], [102]], "citations.base: 100 fits all"),
        (1, [[100]], "no citations.base fits"),
        (1, [[100, 900], [2]], None),
        (1, [[7000], [8123], [9999]], "no citations.base fits"),
        (1, [[0], [1], [2], [3], [4]], "1 of 5 cited indices are .* citations.base: 1, .* citations.base: 0, which"),
        (0, [[1], [2], [3], [4], [5]], "1 of 5 cited indices are .* citations.base: 0, .* citations.base: 1, which"),
        pytest.param(1, [[0], *[[2]] * 10], None, id="one outside among many is a slip"),
        (1, [([1], 1), ([2], 2), ([3], 3)], "3 of 3 citations miss the gold by exactly one .*base: 1: .*base: 0 seems"),
        (0, [([2], 1), ([3], 2), ([4], 3)], "3 of 3 citations miss the gold by exactly one .*base: 0: .*base: 1 seems"),
        pytest.param(1, [([2], 2)] * 2, None, id="two misses show nothing"),
        pytest.param(1, [([2], 2)] * 3 + [([3], 2)] * 3, None, id="half are right"),
        pytest.param(1, [([1], 1)] * 5 + [([5], 4)], None, id="by the other base the last would lie outside"),
    ],
)
def test_a_base_that_fits_better_is_named(base: int, answers: list[Any], said: str | None) -> None:
    """By indices that no chunk has, or that miss the gold beside them by one; each with the place of the gold."""
    pairs = [one if isinstance(one, tuple) else (one, None) for one in answers]
    note = _note([_record(cited, gold_at=gold_at) for cited, gold_at in pairs], base)
    assert note is None if said is None else re.search(said, note or "")


@settings(derandomize=True, max_examples=50)
@given(st.sampled_from([0, 1]), st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_a_server_that_cites_gold_by_its_base_is_never_doubted(base: int, places: list[int]) -> None:
    """Wherever gold is retrieved."""
    assert _note([_record([base + place], gold_at=place) for place in places], base) is None


@settings(derandomize=True, max_examples=50)
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
