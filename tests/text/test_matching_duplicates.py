"""A chunk that repeats an earlier one keeps its rank and gains nothing."""

from collections.abc import Callable

import pytest

from evals.metrics import MRR, NDCG, PrecisionAtK, RecallAtK
from evals.schemas import GoldPassage, MetricResult, RetrievedChunk
from evals.text.matching import Matches

GOLD = "burst pipes are covered up to ten thousand euros"


@pytest.mark.parametrize(
    ("chunks", "original"),
    [
        pytest.param([RetrievedChunk(chunk_id="a", text="one"), RetrievedChunk(chunk_id="a")], [0, 0], id="same id"),
        pytest.param([RetrievedChunk(text="one"), RetrievedChunk(text="one")], [0, 0], id="same text"),
        pytest.param(
            [RetrievedChunk(text="one", document_id="x"), RetrievedChunk(text="one", document_id="y")],
            [0, 1],
            id="same text of two documents",
        ),
        pytest.param(
            [RetrievedChunk(text="one", document_name="x"), RetrievedChunk(text="one", document_name="x")],
            [0, 0],
            id="same text of one document by name",
        ),
        pytest.param(
            [RetrievedChunk(chunk_id=name, text="one", document_id="x") for name in "abc"],
            [0, 0, 0],
            id="same text of one document under other ids",
        ),
        pytest.param(
            [RetrievedChunk(chunk_id=name, text="one", document_id=name) for name in "ab"],
            [0, 1],
            id="same text of two documents under other ids",
        ),
        pytest.param(
            [RetrievedChunk(chunk_id=name, text=text) for name, text in ("a1", "b2", "b1", "c2")],
            [0, 1, 0, 1],
            id="by id or by text, the earlier",
        ),
        pytest.param([RetrievedChunk(chunk_id=name, document_id="x") for name in "ab"], [0, 1], id="ids without text"),
        pytest.param([RetrievedChunk(text="one"), RetrievedChunk(text="two")], [0, 1], id="two texts"),
        pytest.param([RetrievedChunk(chunk_id=name) for name in "abaab"], [0, 1, 0, 0, 1], id="many"),
        pytest.param(
            [RetrievedChunk(chunk_id="0", text=name, document_id=name) for name in "xyx"],
            [0, 1, 0],
            id="id of two documents",
        ),
        pytest.param(
            [RetrievedChunk(chunk_id="0", document_name=name) for name in "xyx"],
            [0, 1, 0],
            id="its name",
        ),
        pytest.param(
            [RetrievedChunk(chunk_id="0", text=text, document_id="x") for text in ("one", "on")],
            [0, 0],
            id="same place",
        ),
        pytest.param([RetrievedChunk(chunk_id="0", text=text) for text in ("1", "2", "1")], [0, 1, 0], id="texts"),
        pytest.param(
            [RetrievedChunk(chunk_id="0", text="one", document_id=name) for name in "xy"], [0, 0], id="id and text"
        ),
        pytest.param([RetrievedChunk(chunk_id="a"), RetrievedChunk(chunk_id="a", text="one")], [0, 0], id="bare first"),
    ],
)
def test_a_duplicate_points_to_the_first_chunk_that_it_repeats(
    recognised: Callable[..., Matches], chunks: list[RetrievedChunk], original: list[int]
) -> None:
    """A chunk repeats an earlier one with the same id, or the same text of the same document."""
    assert recognised("gold", *chunks).original == tuple(original)


def test_the_same_chunk_under_five_ids_is_one_hit(measure: Callable[..., MetricResult]) -> None:
    """A server that gives every copy an id of its own gains nothing by copies."""
    chunks = [RetrievedChunk(chunk_id=name, text=GOLD, document_id="guide") for name in "abcde"]
    assert measure(PrecisionAtK(5), [GoldPassage(text=GOLD)], chunks=chunks).value == pytest.approx(1 / 5)


@pytest.mark.parametrize("named", ["a", "b", "c", "z", None])
def test_a_gold_that_names_a_duplicate_is_found_where_this_stands_first(
    recognised: Callable[..., Matches], named: str | None
) -> None:
    """The id of a copy is as good as that of the chunk it repeats; no id is none of them."""
    chunks = [RetrievedChunk(text="else"), *(RetrievedChunk(chunk_id=name, text=GOLD) for name in "abc")]
    gold = GoldPassage(text="in other words", chunk_id=named)
    found = {0: (1, "chunk_id")} if named in {"a", "b", "c"} else {}
    assert recognised(gold, *chunks, RetrievedChunk(text=GOLD), rule="chunk_id").found == found


def test_a_duplicate_keeps_its_rank_and_gains_nothing(measure: Callable[..., MetricResult]) -> None:
    """After the same miss twice the gold stands at rank 3; the gold repeated is no second hit."""
    gold = [GoldPassage(text=GOLD)]
    miss, hit = RetrievedChunk(text="something else"), RetrievedChunk(text=f"So {GOLD}.")
    chunks = [miss, miss, hit, hit]
    assert measure(MRR(), gold, chunks=chunks).value == pytest.approx(1 / 3)
    assert measure(PrecisionAtK(4), gold, chunks=chunks).value == pytest.approx(1 / 4)
    assert measure(RecallAtK(2), gold, chunks=chunks).value == 0
    assert measure(RecallAtK(3), gold, chunks=chunks).value == 1
    assert measure(NDCG(10), gold, chunks=chunks).value == pytest.approx(0.5)


def test_a_gold_is_no_repeat_where_ids_count_from_0_in_each_document(measure: Callable[..., MetricResult]) -> None:
    """The first chunk of the second document has the id of the first chunk of the first one."""
    chunks = [
        RetrievedChunk(chunk_id="0", document_id="manual.pdf", text="fire is covered in full"),
        RetrievedChunk(chunk_id="0", document_id="guide.pdf", text=f"So {GOLD}."),
    ]
    assert measure(RecallAtK(5), [GoldPassage(text=GOLD, document_id="guide")], chunks=chunks).value == 1
