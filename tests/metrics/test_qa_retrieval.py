"""The retrieval metrics of question answering: their formulas to the letter, and many-to-many matches."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import Sample, parse_metric
from evals.schemas import GoldPassage, MetricResult, RetrievedChunk

Measure = Callable[..., MetricResult]
ADAPTED, PRECISION = parse_metric("adapted_ndcg"), parse_metric("modified_precision")
every_metric = pytest.mark.parametrize("metric", [ADAPTED, PRECISION], ids=lambda metric: metric.name)
example_count = settings(derandomize=True, deadline=None, max_examples=150)

WORDS = [f"word{number}" for number in range(40)]
stretches = st.tuples(st.integers(0, 39), st.integers(1, 25)).map(lambda at: " ".join(WORDS[at[0] : sum(at)]))
gold_lists = st.lists(st.builds(GoldPassage, text=stretches, relevance=st.sampled_from([1.0, 2.0])), min_size=1)
chunk_lists = st.lists(st.builds(RetrievedChunk, text=stretches), max_size=8)


def _chunks(ids: str) -> list[RetrievedChunk]:
    return [RetrievedChunk(chunk_id=chunk_id) for chunk_id in ids]


def _golds(ids: str) -> list[GoldPassage]:
    return [GoldPassage(text=f"the passage {chunk_id}", chunk_id=chunk_id) for chunk_id in ids]


def _as_it_is_written(returned: str, relevant: str) -> float:
    n, m = len(returned), len(relevant)

    def f(d: str) -> int:
        return 1 if d in relevant else 0

    dcg = sum(f(returned[i]) / (i + 1) for i in range(n))
    idcg = sum(1 / (i + 1) for i in range(m))
    return dcg / idcg


@pytest.mark.parametrize(
    ("returned", "relevant", "ndcg", "precision"),
    [
        ("abc", "abc", 1.0, 1.0),
        ("cba", "abc", 1.0, 1.0),  # all are equally important
        ("axx", "a", 1.0, 1.0),
        ("xa", "a", 1 / 2, 1.0),
        ("xxa", "a", 1 / 3, 1.0),
        ("axb", "ab", (1 + 1 / 3) / (1 + 1 / 2), 1.0),
        ("xab", "ab", (1 / 2 + 1 / 3) / (1 + 1 / 2), 1.0),
        ("a", "abc", 1 / (1 + 1 / 2 + 1 / 3), 1 / 3),  # the ideal has all that is relevant, whatever is returned
        ("ab", "abcd", (1 + 1 / 2) / (1 + 1 / 2 + 1 / 3 + 1 / 4), 1 / 2),
        ("xyz", "a", 0.0, 0.0),
        ("", "a", 0.0, 0.0),
    ],
)
def test_worked_examples(measure: Measure, returned: str, relevant: str, ndcg: float, precision: float) -> None:
    """Each letter is a document: the values are those of the formulas by hand."""
    record = {"golds": _golds(relevant), "chunks": _chunks(returned)}
    assert measure(ADAPTED, **record).value == pytest.approx(ndcg, abs=1e-12)
    assert measure(PRECISION, **record).value == pytest.approx(precision, abs=1e-12)


@example_count
@given(returned=st.permutations("abcdefgh"), n=st.integers(0, 8), relevant=st.sets(st.sampled_from("abcdefghij")))
def test_one_to_one_matches_give_the_formula_to_the_letter(
    measure: Measure, returned: list[str], n: int, relevant: set[str]
) -> None:
    """Where each chunk is at most one gold, the values are those of the formula as it is written."""
    relevant |= {"a"}
    shown, wanted = "".join(returned[:n]), "".join(sorted(relevant))
    record = {"golds": _golds(wanted), "chunks": _chunks(shown)}
    assert measure(ADAPTED, **record).value == pytest.approx(_as_it_is_written(shown, wanted), abs=1e-12)
    assert measure(PRECISION, **record).value == pytest.approx(len(set(shown) & relevant) / len(relevant), abs=1e-12)


@example_count
@given(wanted=gold_lists, found=chunk_lists, data=st.data())
def test_the_values_stay_in_their_range_however_chunks_and_golds_match(
    make_case: Callable[..., Sample], wanted: list[GoldPassage], found: list[RetrievedChunk], data: st.DataObject
) -> None:
    """Nested, overlapping, cut and repeated passages: both values lie between 0 and 1, and are 0 together."""
    repeated = data.draw(st.permutations(found + found[:3]))
    case = make_case(wanted, chunks=repeated)
    ndcg, precision = ADAPTED.score(case).value, PRECISION.score(case).value
    assert ndcg is not None
    assert precision is not None
    assert 0 <= ndcg <= 1
    assert 0 <= precision <= 1
    assert (ndcg == 0) == (precision == 0)


@example_count
@given(wanted=gold_lists, found=chunk_lists)
def test_a_whole_list_has_the_recall_of_its_length(
    make_case: Callable[..., Sample], wanted: list[GoldPassage], found: list[RetrievedChunk]
) -> None:
    """The modified precision is the recall of all that is returned."""
    case = make_case(wanted, chunks=found)
    assert PRECISION.score(case).value == parse_metric(f"recall_at_{len(found) + 1}").score(case).value


def test_golds_in_one_chunk_form_one_ideal_unit(measure: Measure) -> None:
    """One chunk with all golds at the first place is a perfect ranking, not half of one."""
    golds = [
        GoldPassage(text="burst pipes are covered up to ten thousand euros", relevance=3),
        GoldPassage(text="the excess is two hundred euros for every single claim", relevance=1),
    ]
    chunks = [RetrievedChunk(text=" and ".join(gold.text for gold in golds))]
    assert measure(ADAPTED, golds, chunks=chunks).value == 1
    result = measure(ADAPTED, [*golds, *_golds("b")], chunks=[*chunks, *_chunks("xb")])
    assert result.value == pytest.approx((1 + 1 / 3) / (1 + 1 / 2))
    assert (result.details["returned"], result.details["relevant"]) == (3, 2)


def test_a_repeated_chunk_gains_nothing(measure: Measure) -> None:
    """The same chunk twice is one hit, and keeps its place from others."""
    assert measure(ADAPTED, _golds("ab"), chunks=_chunks("aab")).value == pytest.approx((1 + 1 / 3) / (1 + 1 / 2))
    assert measure(PRECISION, _golds("ab"), chunks=_chunks("aa")).value == pytest.approx(1 / 2)


@every_metric
@pytest.mark.parametrize(
    ("golds", "chunks", "reason"),
    [
        ("", "a", "the question has no gold passages"),
        ("a", None, "the server sent no chunks"),
    ],
)
def test_what_is_not_known_gives_no_value(
    measure: Measure, metric: type, golds: str, chunks: str | None, reason: str
) -> None:
    """Without gold, or where the server does not say what it retrieved: None with the reason."""
    result = measure(metric, _golds(golds), chunks=None if chunks is None else _chunks(chunks))
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", reason)


@every_metric
def test_an_abstention_does_not_change_what_was_retrieved(measure: Measure, metric: type) -> None:
    """The retrieval of a declined answer is measured like any other."""
    assert measure(metric, _golds("a"), chunks=_chunks("a"), answer="I don't know.").value == 1
