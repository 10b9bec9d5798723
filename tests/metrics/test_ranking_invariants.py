"""What holds of the ranking metrics however chunks and golds match: many to many, repeated, nested, cut."""

from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evals.metrics import MRR, NDCG, PrecisionAtK, RecallAtK, Sample
from evals.schemas import GoldPassage, RetrievedChunk
from evals.text.matching import Rule

WORDS = [f"word{number}" for number in range(48)]
KS = (1, 2, 3, 5, 10)
FAMILIES = (RecallAtK, PrecisionAtK, NDCG)
MakeCase = Callable[..., Sample]

documents = st.sampled_from([None, "guide", "docs/Guide.md", "manual"])
ids = st.sampled_from([None, None, "c1", "c2", "c3"])


@st.composite
def passages(draw: st.DrawFn) -> str:
    """A stretch of the one text that all golds and chunks are cut from, so that they nest, overlap and join."""
    start = draw(st.integers(0, len(WORDS) - 1))
    return " ".join(WORDS[start : start + draw(st.integers(1, 30))])


golds = st.builds(
    GoldPassage,
    text=passages(),
    chunk_id=ids,
    document_id=documents,
    relevance=st.sampled_from([1.0, 1.0, 0.5, 2.0, 3.0]),
)
texts = st.one_of(passages(), passages(), st.lists(passages(), min_size=2, max_size=3).map(" and ".join), st.none())
chunks = st.builds(RetrievedChunk, text=texts, chunk_id=ids, document_id=documents)
gold_lists = st.lists(golds, min_size=1, max_size=6)
chunk_lists = st.lists(chunks, max_size=8)
repeated = chunk_lists.flatmap(lambda some: st.permutations(some + some[:3]))
rules = st.sampled_from(get_args(Rule))
example_count = settings(derandomize=True, max_examples=150)


@example_count
@given(wanted=gold_lists, found=repeated, more=chunks, rule=rules)
def test_a_chunk_at_the_end_changes_no_metric_with_a_smaller_k(
    make_case: MakeCase, wanted: list[GoldPassage], found: list[RetrievedChunk], more: RetrievedChunk, rule: str
) -> None:
    """What stands below the cut is not seen by a metric at k, where the chunks above it say anything at all."""
    before = make_case(wanted, chunks=found, rule=rule)
    assume(not found or MRR().score(before).value is not None)
    after = make_case(wanted, chunks=[*found, more], rule=rule)
    for metric in (family(k) for family in FAMILIES for k in range(1, len(found) + 1)):
        assert metric.score(before).value == metric.score(after).value, metric.name


@example_count
@given(wanted=gold_lists, found=chunk_lists.filter(bool), data=st.data())
def test_a_repeated_chunk_gains_nothing(
    make_case: MakeCase, wanted: list[GoldPassage], found: list[RetrievedChunk], data: st.DataObject
) -> None:
    """Repeating a chunk at the end finds no gold and is no further hit."""
    again = data.draw(st.sampled_from(found))
    once, twice = (make_case(wanted, chunks=some).matches for some in (found, [*found, again]))
    assert twice.found == once.found
    assert twice.hits == (*once.hits, False)


@pytest.mark.parametrize("k", KS)
def test_the_first_k_chunks_decide_even_where_a_gold_is_cut(make_case: MakeCase, k: int) -> None:
    """Every metric at k over a gold in five pieces is what it is over the first k chunks alone."""
    gold = GoldPassage(text=" ".join(WORDS[:40]))
    found = [RetrievedChunk(text=" ".join(WORDS[start : start + 8])) for start in range(0, 40, 8)]
    found.append(RetrievedChunk(text=gold.text))
    for family in FAMILIES:
        metric = family(k)
        whole, cut = (metric.score(make_case([gold], chunks=some)) for some in (found, found[:k]))
        assert whole.value == cut.value, metric.name
