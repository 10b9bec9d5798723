"""The RAGAS metrics of claims and contexts: arithmetic over scripted verdicts, edges, and what the judge fails on."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.records import judged, lack, texts, values

from evals.metrics import parse_metric
from evals.metrics.ragas import RagasFaithfulness, RagasScore
from evals.schemas import RetrievedChunk

LABEL = {"s": "supported", "u": "not_said", "?": "cannot_tell", "r": "relevant", "i": "irrelevant"}
PRECISIONS = ("context_precision", "ragas_context_precision", "ragas_context_precision_ordered")
RECALLS = ("context_recall", "ragas_context_recall")
EVERY = [
    ("ragas_faithfulness", "answer_in_contexts"),
    *((name, "context_relevance") for name in PRECISIONS),
    *((name, "reference_in_contexts") for name in RECALLS),
]
every_metric = pytest.mark.parametrize(("name", "inquiry"), EVERY)


def found(count: int) -> dict[str, Any]:
    return {"claims": [{"claim": f"claim {n}", "importance": "vital"} for n in range(count)]}


def said(inquiry: str, verdicts: str) -> dict[str, Any]:
    """The judge's replies, with those that come before."""
    items = [{"id": n, "verdict": LABEL[verdict]} for n, verdict in enumerate(verdicts, start=1)]
    if inquiry == "context_relevance":
        return {inquiry: {"contexts": items}}
    return {inquiry.replace("in_contexts", "claims"): found(len(verdicts)), inquiry: {"claims": items}}


@every_metric
@pytest.mark.parametrize(
    ("verdicts", "share"), [("yy", 1.0), ("nn", 0.0), ("yn", 0.5), ("ynnn", 0.25), ("yy?", 1.0), ("y?n?", 0.5)]
)
def test_the_value_is_a_share_of_what_the_judge_could_tell(
    name: str, inquiry: str, verdicts: str, share: float
) -> None:
    """Yes counts, no does not, and what the judge could not tell is in neither number; the scale is the metric's."""
    metric, (yes, no) = parse_metric(name), "ri" if inquiry == "context_relevance" else "su"
    case = judged(said(inquiry, verdicts.replace("y", yes).replace("n", no)), chunks=texts(len(verdicts)))
    if name == "ragas_context_precision_ordered":
        share = 1.0 if "y" in verdicts else 0.0  # the relevant one stands first
    assert metric.score(case).value == pytest.approx(share * (metric.high or 1.0))


@every_metric
def test_without_verdicts_or_chunks_a_value_is_told_from_none(name: str, inquiry: str) -> None:
    """That nothing was retrieved is an edge with a value, which a judge that cannot tell is not, nor mere names."""
    metric, known = parse_metric(name), {key: reply for key, reply in said(inquiry, "ss").items() if key != inquiry}
    untold = metric.score(judged(said(inquiry, "??"), chunks=texts(2)))
    assert lack(untold) == (None, "judge", "the judge could not tell")
    empty = metric.score(judged(known, chunks=[]))
    assert (empty.value, empty.details["edge"]) == (0.0, "no contexts")
    assert lack(metric.score(judged(known, chunks=None))) == (None, "not_applicable", "the server sent no chunks")
    named = judged(chunks=[RetrievedChunk(chunk_id="c1", document_id="guide")])
    assert lack(metric.score(named)) == (None, "not_applicable", "the chunks carry no text")
    assert metric.requests(named) == []


@pytest.mark.parametrize("answer", ["I don't know.", "", "  "])
def test_an_answer_that_states_nothing_is_wholly_faithful(answer: str) -> None:
    """Nothing unsupported is said: 100, without a call; also where nothing was retrieved."""
    for retrieved in (texts(2), []):
        case = judged(answer=answer, chunks=retrieved)
        assert RagasFaithfulness().requests(case) == []
        result = RagasFaithfulness().score(case)
        assert (result.value, result.details) == (100.0, {"edge": "no claims"})


@pytest.mark.parametrize("name", RECALLS)
def test_an_expected_answer_without_claims_is_wholly_recalled(name: str) -> None:
    """Nothing is asked for, so nothing is missing; an empty expected answer needs no judge."""
    metric = parse_metric(name)
    for case in (judged({"reference_claims": found(0)}), judged(expected_answer=" ")):
        result = metric.score(case)
        assert (result.value, result.details) == (metric.high, {"edge": "no claims"})


@pytest.mark.parametrize("name", RECALLS)
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"is_unanswerable": True, "expected_answer": None}, "the question is unanswerable"),
        ({"is_unanswerable": True}, "the question is unanswerable"),
        ({"expected_answer": None}, "the question has no expected answer"),
    ],
)
def test_without_something_to_recall_there_is_no_recall(name: str, asked: dict[str, Any], reason: str) -> None:
    """An unanswerable question has no claims that could be retrieved."""
    case = judged(**asked)
    assert lack(parse_metric(name).score(case)) == (None, "not_applicable", reason)
    assert parse_metric(name).requests(case) == []


@pytest.mark.parametrize("name", PRECISIONS)
def test_precision_needs_no_expected_answer(name: str) -> None:
    """What helps can be judged by the question alone; the judge is told that there is no reference."""
    (request,) = parse_metric(name).requests(judged(expected_answer=None))
    assert request.data["expected_answer"] is None


@pytest.mark.parametrize(("name", "inquiry"), EVERY[1:])
def test_what_was_retrieved_can_be_judged_without_an_answer(name: str, inquiry: str) -> None:
    """A server that only retrieves has precision and recall; it has no faithfulness, rather than 100."""
    case = judged(said(inquiry, "r" if inquiry == "context_relevance" else "s"), answer=None)
    assert parse_metric(name).score(case).value == parse_metric(name).high
    assert RagasFaithfulness().score(case).reason == "this server only retrieves"


def test_claims_are_found_first_and_then_checked() -> None:
    """The second inquiry holds the claims of the first, numbered; contexts by their places among those shown."""
    retrieved = [RetrievedChunk(text="one"), RetrievedChunk(chunk_id="no text"), RetrievedChunk(text="three")]
    (first,) = RagasFaithfulness().requests(judged(chunks=retrieved))
    assert (first.name, set(first.data)) == ("answer_claims", {"question", "answer"})
    _, second = RagasFaithfulness().requests(judged({"answer_claims": found(2)}, chunks=retrieved))
    assert second.data["claims"] == [{"id": 1, "text": "claim 0"}, {"id": 2, "text": "claim 1"}]
    assert [context["id"] for context in second.data["contexts"]] == [1, 2]
    assert (second.name, sorted(second.passages)) == ("answer_in_contexts", [1, 3])
    assert "expected_answer" not in second.data


def ordered(relevant: list[bool]) -> float:
    """Precision@K as the definition writes it: sum of relevance × precision at its rank, by the relevant ones."""
    total = sum(relevant[k - 1] * sum(relevant[:k]) / k for k in range(1, len(relevant) + 1))
    return 100 * total / sum(relevant) if sum(relevant) else 0.0


@given(relevant=st.lists(st.booleans(), min_size=1, max_size=12), shuffle=st.randoms(use_true_random=False))
@settings(derandomize=True, max_examples=80)
def test_both_precisions_are_their_formulas_whatever_the_order_of_the_verdicts(
    relevant: list[bool], shuffle: Any
) -> None:
    """Ranks are those of the chunks: a judge that replies in another order changes nothing."""
    replies = said("context_relevance", "".join("r" if one else "i" for one in relevant))
    shuffle.shuffle(replies["context_relevance"]["contexts"])
    plain, weighed = values(PRECISIONS[1:], judged(replies, chunks=texts(len(relevant))))
    assert plain == pytest.approx(100 * sum(relevant) / len(relevant))
    assert weighed == pytest.approx(ordered(relevant))


@pytest.mark.parametrize(
    ("verdicts", "plain", "weighed"),
    [("ri", 50, 100), ("ir", 50, 50), ("rir", 200 / 3, 250 / 3), ("iir", 100 / 3, 100 / 3), ("i?r", 50, 50)],
)
def test_order_matters_to_one_of_the_precisions_only(verdicts: str, plain: float, weighed: float) -> None:
    """By hand; a chunk on which the judge could not tell leaves the ranks."""
    case = judged(said("context_relevance", verdicts), chunks=texts(len(verdicts)))
    assert values(PRECISIONS[1:], case) == pytest.approx([plain, weighed])


@given(relevant=st.text("ri?", min_size=1, max_size=8), supported=st.text("su?", min_size=1, max_size=8))
@settings(derandomize=True, max_examples=60)
def test_the_answer_suite_says_the_same_on_a_scale_of_one(relevant: str, supported: str) -> None:
    """The same verdicts give context_precision and context_recall, divided by 100; nothing more is asked."""
    replies = said("context_relevance", relevant) | said("reference_in_contexts", supported)
    case = judged(replies, chunks=texts(len(relevant)))
    for name in ("context_precision", "context_recall"):
        small, large = parse_metric(name), parse_metric(f"ragas_{name}")
        one, hundred = small.score(case), large.score(case)
        assert small.requests(case) == large.requests(case)
        assert (one.missing, one.reason) == (hundred.missing, hundred.reason)
        assert one.value == (None if hundred.value is None else pytest.approx(hundred.value / 100))


@pytest.mark.parametrize(("weight", "value"), [(0.0, 50.0), (0.3, None)])
def test_a_lost_part_that_weighs_nothing_costs_nothing(weight: float, value: float | None) -> None:
    """One that weighs something takes the score with it."""
    others = {"ragas_context_recall": 0.0, "ragas_answer_relevance": 0.0}
    case = judged(said("context_relevance", "ri") | {"answer_claims": "refused"}, chunks=texts(2))
    result = RagasScore(weights={"ragas_faithfulness": weight, **others}).score(case)
    assert (result.value, result.missing) == (value, None if weight == 0 else "judge")


def test_metrics_of_like_needs_differ_in_which_questions_they_apply_to() -> None:
    """Of an unanswerable question, whichever is measured first: what the one lacks is no lack of the other."""
    names = ["context_sufficiency", "context_precision"]
    for order in (names, names[::-1]):
        case = judged(is_unanswerable=True)
        lacks = {name: parse_metric(name).applies(case) for name in order}
        assert lacks["context_sufficiency"] is None
        assert "unanswerable" in str(lacks["context_precision"])
