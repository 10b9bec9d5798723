"""Comparing some of the chunks alone: what is known of a pair of chunk and gold is known among fewer chunks too."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from evals.schemas import GoldPassage, RetrievedChunk
from evals.text.matching import ChunkComparison, MatchSettings, RunEvidence, chunk_list, match
from evals.text.matching.documents import DocumentNames

TEXT = "a warranty covers parts and labour for 24 months from the day of purchase"
WORDS = TEXT.split()
HEADER = " ".join(f"h{n}" for n in range(30))
GOLD = " ".join(f"w{n}" for n in range(60))
PAGES = [f"{HEADER} {' '.join(GOLD.split()[10:32])}", f"{HEADER} one more page", f"{HEADER} and another"]


def _part() -> st.SearchStrategy[str]:
    """A run of the words, some of them after words of another text."""
    ends = st.tuples(st.integers(0, len(WORDS)), st.integers(0, len(WORDS)))
    runs = ends.map(lambda both: " ".join(WORDS[min(both) : max(both)]))
    return st.one_of(runs, runs.map(lambda run: f"another text before it {run}"), st.just("war-\nranty covers"))


DOCUMENTS = st.sampled_from([None, "one", "other"])
CHUNKS = st.lists(
    st.builds(RetrievedChunk, chunk_id=st.sampled_from("abcdefgh"), document_id=DOCUMENTS, text=_part()), max_size=5
)
GOLDS = st.lists(
    st.builds(
        GoldPassage, chunk_id=st.sampled_from([None, "a", "b"]), document_id=DOCUMENTS, text=_part().filter(bool)
    ),
    max_size=3,
)
EVIDENCE = st.one_of(
    st.none(),
    st.builds(
        RunEvidence,
        names=st.builds(DocumentNames, comparable=st.sampled_from([None, True, False])),
        repeated_ids=st.booleans(),
    ),
)


def _chunks(*texts: str) -> list[RetrievedChunk]:
    return [RetrievedChunk(chunk_id=f"{n}", text=text) for n, text in enumerate(texts)]


@settings(max_examples=150, deadline=None)
@example(_chunks(*PAGES), [GoldPassage(text=GOLD)], None, {0}, True)
@example(_chunks("the insurance", "insur ance"), [GoldPassage(text="insur- ance")], RunEvidence(), {1}, True)
@example(_chunks("a copy", "a copy"), [GoldPassage(chunk_id="1", text="its id")], RunEvidence(), {0}, True)
@given(CHUNKS, GOLDS, EVIDENCE, st.sets(st.integers(0, 4)), st.booleans())
def test_the_golds_of_some_chunks_are_those_of_a_response_with_no_others(
    chunks: list[RetrievedChunk],
    golds: list[GoldPassage],
    evidence: RunEvidence | None,
    wanted: set[int],
    is_compared: bool,
) -> None:
    """Also where a header is common to all chunks, a word was cut, or a chunk is the copy of one with another id."""
    listed = chunk_list(chunks)
    places = sorted(place for place in wanted if place < len(chunks) and listed.original[place] == place)
    comparison = ChunkComparison(golds, MatchSettings(), evidence, listed)
    if is_compared:
        assert comparison.matches == match(chunks, golds, MatchSettings(), evidence)
    alone = match([chunks[place] for place in places], golds, MatchSettings(), evidence)
    assert comparison.held_among(places) == dict(zip(places, alone.by_chunk, strict=True))
