"""The RAGAS metrics of claims and contexts: arithmetic over scripted verdicts, edges, and what the judge fails on."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import Sample, parse_metric
from evals.metrics.judged import JudgedMetric
from evals.metrics.ragas import (
    ContextPrecision,
    ContextRecall,
    RagasContextPrecision,
    RagasContextPrecisionOrdered,
    RagasContextRecall,
    RagasFaithfulness,
    RagasScore,
)
from evals.schemas import RetrievedChunk

MakeCase = Callable[..., Sample]
ABSTENTION = "I don't know."
LABEL = {"s": "supported", "u": "not_said", "?": "cannot_tell", "r": "relevant", "i": "irrelevant"}
EVERY: list[tuple[type[JudgedMetric], str]] = [
    (RagasFaithfulness, "answer_in_contexts"),
    (ContextPrecision, "context_relevance"),
    (RagasContextPrecision, "context_relevance"),
    (RagasContextPrecisionOrdered, "context_relevance"),
    (ContextRecall, "reference_in_contexts"),
    (RagasContextRecall, "reference_in_contexts"),
]
every_metric = pytest.mark.parametrize(("metric", "inquiry"), EVERY, ids=lambda part: getattr(part, "name", ""))


def claims(verdicts: str) -> dict[str, Any]:
    return {"claims": [{"id": n, "passages": [], "verdict": LABEL[v]} for n, v in enumerate(verdicts, start=1)]}


def contexts(verdicts: str) -> dict[str, Any]:
    return {"contexts": [{"id": n, "verdict": LABEL[v]} for n, v in enumerate(verdicts, start=1)]}


def found(count: int) -> dict[str, Any]:
    return {"claims": [{"claim": f"claim {n}", "importance": "vital"} for n in range(count)]}


def said(inquiry: str, verdicts: str) -> dict[str, Any]:
    """The judge's replies, with those that come before."""
    if inquiry == "context_relevance":
        return {inquiry: contexts(verdicts)}
    first = inquiry.replace("in_contexts", "claims")
    return {first: found(len(verdicts)), inquiry: claims(verdicts)}


def chunks(count: int) -> list[RetrievedChunk]:
    return [RetrievedChunk(text=f"text {n}") for n in range(count)]


@every_metric
@pytest.mark.parametrize(
    ("verdicts", "share"), [("yy", 1.0), ("nn", 0.0), ("yn", 0.5), ("ynnn", 0.25), ("yy?", 1.0), ("y?n?", 0.5)]
)
def test_the_value_is_a_share_of_what_the_judge_could_tell(
    judged_case: MakeCase, metric: type[JudgedMetric], inquiry: str, verdicts: str, share: float
) -> None:
    """Yes counts, no does not, and what the judge could not tell is in neither number; the scale is the metric's."""
    yes, no = ("r", "i") if inquiry == "context_relevance" else ("s", "u")
    case = judged_case(said(inquiry, verdicts.replace("y", yes).replace("n", no)), chunks=chunks(len(verdicts)))
    value = metric().score(case).value
    if metric is RagasContextPrecisionOrdered:
        assert value == pytest.approx(100.0 if "y" in verdicts else 0.0)  # the relevant one stands first
    else:
        assert value == pytest.approx(share * (metric.high or 1.0))


@every_metric
def test_a_judge_that_cannot_tell_anything_gives_no_value(
    judged_case: MakeCase, metric: type[JudgedMetric], inquiry: str
) -> None:
    """It is a failure of the judge, not of the server."""
    result = metric().score(judged_case(said(inquiry, "??"), chunks=chunks(2)))
    assert (result.value, result.missing, result.reason) == (None, "judge", "the judge could not tell")


@every_metric
def test_nothing_retrieved_is_worth_0_and_the_details_say_so(
    judged_case: MakeCase, metric: type[JudgedMetric], inquiry: str
) -> None:
    """An empty list of chunks is an edge with a value; a server that does not say what it retrieved has none."""
    known = {name: reply for name, reply in said(inquiry, "ss").items() if name != inquiry}
    empty = metric().score(judged_case(known, chunks=[]))
    assert (empty.value, empty.details["edge"]) == (0.0, "no contexts")
    unsaid = metric().score(judged_case(known, chunks=None))
    assert (unsaid.value, unsaid.missing) == (None, "not_applicable")


@every_metric
def test_chunks_without_text_cannot_be_judged(judged_case: MakeCase, metric: type[JudgedMetric], inquiry: str) -> None:
    """That the server sends names only is no fault of what it retrieved; nobody is asked."""
    case = judged_case({}, chunks=[RetrievedChunk(chunk_id="c1", document_id="guide")])
    result = metric().score(case)
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", "the chunks carry no text")
    assert metric().requests(case) == []


@pytest.mark.parametrize("answer", [ABSTENTION, "", "  "])
def test_an_answer_that_states_nothing_is_wholly_faithful(judged_case: MakeCase, answer: str) -> None:
    """Nothing unsupported is said: 100, without a call; also where nothing was retrieved."""
    for retrieved in (chunks(2), []):
        case = judged_case({}, answer=answer, chunks=retrieved)
        assert RagasFaithfulness().requests(case) == []
        result = RagasFaithfulness().score(case)
        assert (result.value, result.details) == (100.0, {"edge": "no claims"})


@pytest.mark.parametrize(("metric", "whole"), [(ContextRecall, 1.0), (RagasContextRecall, 100.0)])
def test_an_expected_answer_without_claims_is_wholly_recalled(
    judged_case: MakeCase, metric: type[JudgedMetric], whole: float
) -> None:
    """Nothing is asked for, so nothing is missing; an empty expected answer needs no judge."""
    for case in (judged_case({"reference_claims": found(0)}), judged_case({}, asked={"expected_answer": " "})):
        result = metric().score(case)
        assert (result.value, result.details) == (whole, {"edge": "no claims"})


@pytest.mark.parametrize("metric", [ContextRecall, RagasContextRecall])
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"is_unanswerable": True, "expected_answer": None}, "the question is unanswerable"),
        ({"is_unanswerable": True}, "the question is unanswerable"),
        ({"expected_answer": None}, "the question has no expected answer"),
    ],
)
def test_without_something_to_recall_there_is_no_recall(
    judged_case: MakeCase, metric: type[JudgedMetric], asked: dict[str, Any], reason: str
) -> None:
    """An unanswerable question has no claims that could be retrieved."""
    case = judged_case({}, asked=asked)
    result = metric().score(case)
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", reason)
    assert metric().requests(case) == []


@pytest.mark.parametrize("metric", [ContextPrecision, RagasContextPrecision])
def test_precision_needs_no_expected_answer(judged_case: MakeCase, metric: type[JudgedMetric]) -> None:
    """What helps can be judged by the question alone; the judge is told that there is no reference."""
    case = judged_case({}, asked={"expected_answer": None})
    (request,) = metric().requests(case)
    assert request.data["expected_answer"] is None


@pytest.mark.parametrize(("metric", "inquiry"), EVERY[1:], ids=lambda part: getattr(part, "name", ""))
def test_what_was_retrieved_can_be_judged_without_an_answer(
    judged_case: MakeCase, metric: type[JudgedMetric], inquiry: str
) -> None:
    """A server that only retrieves has precision and recall; it has no faithfulness, rather than 100."""
    reply = said(inquiry, "r" if inquiry == "context_relevance" else "s")
    assert metric().score(judged_case(reply, answer=None)).value == metric.high
    faithfulness = RagasFaithfulness().score(judged_case({}, answer=None))
    assert (faithfulness.value, faithfulness.reason) == (None, "this server only retrieves")


def test_claims_are_found_first_and_then_checked(judged_case: MakeCase) -> None:
    """The second inquiry holds the claims of the first, numbered; contexts by their places among those shown."""
    retrieved = [RetrievedChunk(text="one"), RetrievedChunk(chunk_id="no text"), RetrievedChunk(text="three")]
    (first,) = RagasFaithfulness().requests(judged_case({}, chunks=retrieved))
    assert (first.name, set(first.data)) == ("answer_claims", {"question", "answer"})
    pending = RagasFaithfulness().requests(judged_case({"answer_claims": found(2)}, chunks=retrieved))
    second = next(request for request in pending if request.name == "answer_in_contexts")
    assert second.data["claims"] == [{"id": 1, "text": "claim 0"}, {"id": 2, "text": "claim 1"}]
    assert [context["id"] for context in second.data["contexts"]] == [1, 2]
    assert sorted(second.passages) == [1, 3]
    assert "expected_answer" not in second.data


def ordered(relevant: list[bool]) -> float:
    """Precision@K as the definition writes it: sum of relevance × precision at its rank, by the relevant ones."""
    total = 0.0
    for k in range(1, len(relevant) + 1):
        precision_at_k = sum(relevant[:k]) / k
        total += relevant[k - 1] * precision_at_k
    return 100 * total / sum(relevant) if sum(relevant) else 0.0


@given(relevant=st.lists(st.booleans(), min_size=1, max_size=12), shuffle=st.randoms(use_true_random=False))
@settings(derandomize=True, max_examples=80)
def test_both_precisions_are_their_formulas_whatever_the_order_of_the_verdicts(
    judged_case: MakeCase, relevant: list[bool], shuffle: Any
) -> None:
    """Ranks are those of the chunks: a judge that replies in another order changes nothing."""
    reply = contexts("".join("r" if one else "i" for one in relevant))
    shuffle.shuffle(reply["contexts"])
    case = judged_case({"context_relevance": reply}, chunks=chunks(len(relevant)))
    plain, weighed = RagasContextPrecision().score(case).value, RagasContextPrecisionOrdered().score(case).value
    assert plain == pytest.approx(100 * sum(relevant) / len(relevant))
    assert weighed == pytest.approx(ordered(relevant))
    assert plain is not None
    assert weighed is not None
    assert 0 <= weighed <= 100


@pytest.mark.parametrize(
    ("verdicts", "plain", "weighed"),
    [
        ("ri", 50.0, 100.0),
        ("ir", 50.0, 50.0),
        ("rir", 200 / 3, 250 / 3),
        ("iir", 100 / 3, 100 / 3),
        ("i?r", 50.0, 50.0),
    ],
)
def test_order_matters_to_one_of_the_precisions_only(
    judged_case: MakeCase, verdicts: str, plain: float, weighed: float
) -> None:
    """By hand; a chunk on which the judge could not tell leaves the ranks."""
    case = judged_case({"context_relevance": contexts(verdicts)}, chunks=chunks(len(verdicts)))
    assert RagasContextPrecision().score(case).value == pytest.approx(plain)
    assert RagasContextPrecisionOrdered().score(case).value == pytest.approx(weighed)


@given(relevant=st.text("ri?", min_size=1, max_size=8), supported=st.text("su?", min_size=1, max_size=8))
@settings(derandomize=True, max_examples=60)
def test_the_answer_suite_says_the_same_on_a_scale_of_one(judged_case: MakeCase, relevant: str, supported: str) -> None:
    """The same verdicts give context_precision and context_recall, divided by 100; nothing more is asked."""
    replies = said("context_relevance", relevant) | said("reference_in_contexts", supported)
    case = judged_case(replies, chunks=chunks(len(relevant)))
    for small, large in ((ContextPrecision(), RagasContextPrecision()), (ContextRecall(), RagasContextRecall())):
        one, hundred = small.score(case), large.score(case)
        assert small.inquiries == large.inquiries
        assert (one.missing, one.reason) == (hundred.missing, hundred.reason)
        assert one.value == (None if hundred.value is None else pytest.approx(hundred.value / 100))


@pytest.mark.parametrize(("weight", "value"), [(0.0, 50.0), (0.3, None)])
def test_a_lost_part_that_weighs_nothing_costs_nothing(
    judged_case: MakeCase, weight: float, value: float | None
) -> None:
    """One that weighs something takes the score with it."""
    others = {"ragas_context_recall": 0.0, "ragas_answer_relevance": 0.0}
    case = judged_case(said("context_relevance", "ri") | {"answer_claims": "refused"}, chunks=chunks(2))
    result = RagasScore(weights={"ragas_faithfulness": weight, **others}).score(case)
    assert (result.value, result.missing) == (value, None if weight == 0 else "judge")


def test_metrics_of_like_needs_differ_in_which_questions_they_apply_to(judged_case: MakeCase) -> None:
    """Of an unanswerable question, whichever is measured first: what the one lacks is no lack of the other."""
    sufficiency = parse_metric("context_sufficiency")
    for metrics in ([sufficiency, ContextPrecision()], [ContextPrecision(), sufficiency]):
        case = judged_case(chunks=chunks(1), asked={"is_unanswerable": True})
        lacks = {metric.name: metric.applies(case) for metric in metrics}
        assert lacks["context_sufficiency"] is None
        assert "unanswerable" in str(lacks["context_precision"])
