"""A gold that chunk borders have cut is recognised in its pieces, and in nothing else."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from evals.metrics import MRR, BaseMetric, CitationPrecision, CitationRecall, PrecisionAtK, RecallAtK
from evals.metrics.retrieval import MRRAtK
from evals.schemas import Citation, GoldPassage, MetricResult, RetrievedChunk
from evals.text.matching import Matches

Recognised = Callable[..., Matches]
Measure = Callable[..., MetricResult]
WORDS = [f"g{number}" for number in range(20)]
GOLD = " ".join(WORDS)


def _piece(start: int, end: int, *, before: str = "", after: str = "") -> str:
    return f"{before} {' '.join(WORDS[start:end])} {after}".strip()


@pytest.mark.parametrize(
    ("chunks", "place"),
    [
        pytest.param([_piece(0, 10, before="so it goes"), _piece(10, 20, after="and on")], 1, id="in order"),
        pytest.param([_piece(10, 20, after="and on"), _piece(0, 10, before="so it goes")], 1, id="in reverse"),
        pytest.param([_piece(0, 10), "something else", _piece(10, 20)], 2, id="with another between"),
        pytest.param([_piece(0, 7), _piece(7, 14), _piece(14, 20)], 1, id="0.7 of it is enough"),
        pytest.param([_piece(0, 6), _piece(6, 12), _piece(12, 20)], 2, id="three pieces"),
        pytest.param([_piece(0, 12), _piece(8, 20)], 1, id="overlapping pieces"),
        pytest.param([_piece(0, 4), _piece(4, 8), _piece(8, 14)], 2, id="just 14 of 20"),
        pytest.param(["A **note**:\n" + _piece(0, 10).upper(), _piece(10, 20)], 1, id="case and markdown"),
    ],
)
def test_a_gold_cut_at_chunk_borders_is_found_where_enough_of_it_was_seen(
    recognised: Recognised, chunks: list[str], place: int
) -> None:
    """The rank that completes 0.7 of the gold is the rank at which it is found."""
    assert recognised(GOLD, *chunks).found == {0: (place, "overlap")}


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([_piece(0, 6), _piece(6, 13)], id="13 of 20"),
        pytest.param([_piece(0, 13), _piece(2, 13)], id="the same part twice"),
        pytest.param([_piece(0, 10, after="and"), _piece(10, 20, before="or")], id="pieces not at a border"),
        pytest.param([" so ".join(WORDS[:10]), " so ".join(WORDS[10:])], id="loose words"),
        pytest.param([_piece(start, start + 3) for start in range(0, 20, 3)], id="runs of three"),
        pytest.param([], id="no chunk"),
    ],
)
def test_what_does_not_continue_through_the_gold_never_adds_up(recognised: Recognised, chunks: list[str]) -> None:
    """Too little of it, repeated parts and loose words are no gold."""
    assert recognised(GOLD, *chunks).found == {}


def test_loose_words_of_many_chunks_never_are_the_gold(recognised: Recognised) -> None:
    """A hundred chunks that hold all its words, a few each and out of order, do not hold the gold."""
    rng = random.Random(4)  # noqa: S311 - test data
    chunks = [" ".join([*rng.sample(WORDS, 9), "end"]) for _ in range(100)]
    assert recognised(GOLD, *chunks).found == {}


@pytest.mark.parametrize(
    ("documents", "found"),
    [
        (("guide", "guide.md"), True),
        (("guide", None), True),
        ((None, None), True),
        (("guide", "manual"), False),
        (("manual", "manual"), False),
    ],
)
def test_pieces_of_another_document_never_count(
    recognised: Recognised, documents: tuple[str | None, str | None], found: bool
) -> None:
    """Where chunk and gold both name a document, it is the same one."""
    chunks = [
        RetrievedChunk(text=text, document_id=document)
        for text, document in zip((_piece(0, 10), _piece(10, 20)), documents, strict=True)
    ]
    assert bool(recognised(GoldPassage(text=GOLD, document_id="guide"), *chunks).found) is found


def test_a_short_gold_is_never_put_together(recognised: Recognised) -> None:
    """Under 8 tokens two halves are chance."""
    assert recognised("one two three four five six seven", "so one two three four", "five six seven").found == {}


@pytest.mark.parametrize("rule", ["chunk_id", "text", "inside", "document"])
def test_pieces_count_only_under_the_overlap_rule(recognised: Recognised, rule: str) -> None:
    """Another rule that is named decides alone."""
    assert recognised(GOLD, _piece(0, 10), _piece(10, 20), rule=rule).found == {}


def test_a_piece_inside_the_gold_counts_whole_even_where_it_ends_as_the_gold_begins(recognised: Recognised) -> None:
    """A phrase that the gold repeats does not hide how much of it the chunk holds."""
    phrase = "in the event of"
    gold = f"{phrase} fire call the brigade at once and {phrase} theft call the police on the same day please"
    middle = f"fire call the brigade at once and {phrase}"
    assert recognised(gold, middle, "theft call the police on the same day please").found == {0: (1, "overlap")}


def test_a_repeated_piece_gains_nothing(recognised: Recognised) -> None:
    """Only chunks that add to the gold are part of it."""
    matches = recognised(GOLD, _piece(0, 10), "else", _piece(0, 10), _piece(10, 20))
    assert matches.hits == [True, False, False, True]


def test_pieces_that_complete_a_gold_before_it_stands_whole_in_a_chunk_find_it(recognised: Recognised) -> None:
    """A later chunk that holds all of it does not push the gold down."""
    matches = recognised(GOLD, _piece(0, 10), _piece(10, 20), GOLD)
    assert matches.found == {0: (1, "overlap")}
    assert matches.hits == [True, True, True]


@pytest.mark.parametrize(("k", "recall", "precision"), [(1, 0, 0), (2, 1, 1), (4, 1, 0.5)])
def test_a_piece_is_a_hit_only_where_the_top_k_complete_the_gold(
    measure: Measure, k: int, recall: float, precision: float
) -> None:
    """Half a gold in the top 1 is neither found nor relevant there."""
    chunks = [RetrievedChunk(text=text) for text in (_piece(0, 10), _piece(10, 20), "something else")]
    gold = [GoldPassage(text=GOLD)]
    assert measure(RecallAtK(k), gold, chunks=chunks).value == recall
    assert measure(PrecisionAtK(k), gold, chunks=chunks).value == precision


@pytest.mark.parametrize(("metric", "value"), [(MRR(), 0.5), (MRRAtK(1), 0), (MRRAtK(2), 0.5), (MRRAtK(10), 0.5)])
def test_a_gold_in_pieces_has_the_rank_that_completes_it(measure: Measure, metric: BaseMetric, value: float) -> None:
    """The first half alone is no gold, so rank 1 is not where a reader has it; recall and nDCG count it there too."""
    chunks = [RetrievedChunk(text=text) for text in (_piece(0, 10), _piece(10, 20), "something else")]
    assert measure(metric, [GoldPassage(text=GOLD)], chunks=chunks).value == value


@pytest.mark.parametrize(
    ("cited", "precision", "recall"),
    [
        pytest.param([1], 0, 0, id="the first piece"),
        pytest.param([3], 0, 0, id="the last piece"),
        pytest.param([1, 2], 0, 0, id="a piece and another chunk"),
        pytest.param([1, 3], 1, 1, id="both pieces"),
        pytest.param([3, 1], 1, 1, id="both pieces in reverse"),
        pytest.param([1, 2, 3], 2 / 3, 1, id="all chunks"),
    ],
)
def test_a_gold_is_cited_where_the_cited_pieces_complete_it(
    measure: Measure, cited: list[int], precision: float, recall: float
) -> None:
    """Half a gold is under the share that counts as the gold, in a citation as in the top K."""
    chunks = [RetrievedChunk(text=text) for text in (_piece(0, 10), "something else", _piece(10, 20))]
    citations = [Citation(index=index) for index in cited]
    record: dict[str, Any] = {"chunks": chunks, "citations": citations}
    assert measure(CitationPrecision(), [GoldPassage(text=GOLD)], **record).value == pytest.approx(precision)
    assert measure(CitationRecall(), [GoldPassage(text=GOLD)], **record).value == recall


def test_pieces_are_cited_also_where_an_earlier_chunk_holds_the_gold_whole(measure: Measure) -> None:
    """What was retrieved beside the cited chunks makes no difference to them."""
    chunks = [RetrievedChunk(text=text) for text in (GOLD, _piece(0, 10), _piece(10, 20))]
    record: dict[str, Any] = {"chunks": chunks, "citations": [Citation(index=2), Citation(index=3)]}
    assert measure(CitationRecall(), [GoldPassage(text=GOLD)], **record).value == 1


LONG = [f"l{number}" for number in range(60)]


@pytest.mark.parametrize(
    ("spans", "precision"),
    [
        pytest.param([(0, 45), (45, 60)], 1, id="the first inside"),
        pytest.param([(45, 60), (0, 45)], 1, id="the second inside"),
        pytest.param([(0, 30), (30, 60)], 1, id="both inside"),
        pytest.param([(0, 50), (45, 60)], 1, id="overlapping"),
        pytest.param([(0, 45), (45, 55), (55, 60)], 1, id="what is added after 0.7"),
        pytest.param([(0, 60), (45, 60)], 0.5, id="nothing new"),
        pytest.param([(0, 25), (50, 60)], 0.5, id="not complete"),
    ],
)
def test_a_piece_beside_one_that_is_inside_is_relevant_where_they_complete_the_gold(
    measure: Measure, spans: list[tuple[int, int]], precision: float
) -> None:
    """A chunk inside the gold is a hit by itself, and does not make misses of the other pieces."""
    chunks = [RetrievedChunk(text=" ".join(LONG[start:end])) for start, end in spans]
    record: dict[str, Any] = {"chunks": chunks, "citations": [Citation(index=n + 1) for n in range(len(chunks))]}
    gold = [GoldPassage(text=" ".join(LONG))]
    assert measure(PrecisionAtK(len(chunks)), gold, **record).value == precision
    assert measure(CitationPrecision(), gold, **record).value == precision
    assert measure(RecallAtK(len(chunks)), gold, **record).value == 1


def test_a_piece_is_no_hit_above_the_rank_that_completes_the_gold(measure: Measure) -> None:
    """The first piece of ten tokens waits for the second, which is inside the gold by itself."""
    chunks = [RetrievedChunk(text=" ".join(LONG[start:end])) for start, end in ((50, 60), (0, 50))]
    gold = [GoldPassage(text=" ".join(LONG))]
    assert measure(PrecisionAtK(1), gold, chunks=chunks).value == 0
    assert measure(PrecisionAtK(2), gold, chunks=chunks).value == 1
    assert measure(MRR(), gold, chunks=chunks).value == 0.5


def test_pieces_too_small_for_a_long_gold_count_where_together_they_hold_enough(recognised: Recognised) -> None:
    """Twenty tokens are under a tenth of 400, and twenty such chunks are all of it."""
    words = [f"w{number}" for number in range(400)]
    chunks = [" ".join(words[start : start + 20]) for start in range(0, 400, 20)]
    assert recognised(" ".join(words), *chunks[:13]).found == {}
    assert recognised(" ".join(words), *chunks).found == {0: (13, "overlap")}


def test_a_chunk_that_holds_most_of_a_gold_loosely_leaves_no_pieces(measure: Measure) -> None:
    """Only running text of it is known to be missing: a misspelt word is not."""
    whole = f"so {' '.join(LONG[:30])} lxx {' '.join(LONG[31:])}"
    chunks = [RetrievedChunk(text=text) for text in (whole, " ".join([*LONG[50:], "and on"]))]
    assert measure(PrecisionAtK(2), [GoldPassage(text=" ".join(LONG))], chunks=chunks, rule="overlap").value == 0.5
    chunks[0] = RetrievedChunk(text=f"so {' '.join(LONG[:50])}")
    assert measure(PrecisionAtK(2), [GoldPassage(text=" ".join(LONG))], chunks=chunks, rule="overlap").value == 1


@pytest.mark.parametrize("line", ["Acme Ltd", "Source: handbook.pdf | page 7 of 9", "internal use only, do not copy"])
@pytest.mark.parametrize("where", ["{line}\n{text}", "{text}\n{line}", "{line}\n{text}\n{line}"])
def test_a_line_on_each_chunk_hides_no_border(recognised: Recognised, line: str, where: str) -> None:
    """Pieces of ten tokens are not at the border of their chunk where every chunk has a header or a footer."""
    parts = ["so it goes", _piece(0, 10), "else and something", _piece(10, 20), "and so on"]
    chunks = [where.format(line=line.replace("7", str(page)), text=text) for page, text in enumerate(parts, start=10)]
    assert recognised(GOLD, *chunks).found == {0: (3, "overlap")}


@pytest.mark.parametrize("cut", range(1, 6))
def test_a_piece_may_end_in_a_fragment(recognised: Recognised, cut: int) -> None:
    """Borders that count characters cut a word, of which each chunk has a part."""
    gold = "burst pipes are covered up to ninety thousand euros for every single household"
    at = gold.index("thousand") + cut
    assert recognised(gold, f"so then {gold[:at]}", f"{gold[at:]} and so on").found == {0: (1, "overlap")}


def test_a_piece_in_the_middle_may_begin_and_end_in_fragments(recognised: Recognised) -> None:
    """Ten tokens of the gold's twenty, of which the borders have cut the first and the last."""
    gold = f"{_piece(0, 5)} insurance {_piece(6, 13)} household {_piece(14, 20)}"
    middle = f"rance {_piece(6, 13)} house"
    assert recognised(gold, f"so {_piece(0, 5)}", middle).found == {0: (1, "overlap")}
    assert recognised(gold, f"so {_piece(0, 5)}", middle.replace("rance", "trade")).found == {}
