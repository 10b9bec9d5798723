"""The metrics of claims and nuggets: arithmetic over scripted verdicts, and what they are worth without some."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import Sample, parse_metric
from evals.schemas import MetricResult, RetrievedChunk

MakeCase = Callable[..., Sample]
Replies = Callable[..., dict[str, Any]]
OF_ANSWER = ["claim_precision", "hallucination", "self_knowledge"]
NOISE = ["noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant"]
ALL = [*OF_ANSWER, *NOISE, "claim_recall", "context_utilization"]
OF_CHUNKS = [name for name in ALL if name != "claim_precision"]
CHUNKS = [RetrievedChunk(text=f"text {n}") for n in (1, 2, 3)]
ABSTENTION = "I don't know."
NUGGETS = ["nugget_all", "nugget_all_strict", "nugget_vital", "nugget_vital_strict"]

RIGHT = [("correct", {1}), ("correct", {1, 2})]
WRONG = [("not_stated", set()), ("contradicted", set())]
MIXED = [("correct", {1}), ("not_stated", {2}), ("contradicted", {1, 2}), ("correct", set()), ("not_stated", set())]
CONVEYED = [("conveyed", {1}, "vital"), ("conveyed", {3}, "okay")]
MISSING = [("missing", set(), "vital"), ("missing", set(), "okay")]
PARTLY = [
    ("conveyed", {1}, "vital"),
    ("partly", {1}, "vital"),
    ("missing", set(), "okay"),
    ("conveyed", set(), "okay"),
]


@pytest.fixture(scope="module")
def case_of(judged_case: MakeCase, claim_replies: Replies) -> MakeCase:
    """Build a record of three chunks with these verdicts on its claims."""

    def make(answer: Sequence[Any], reference: Sequence[Any], /, **fields: Any) -> Sample:
        return judged_case(claim_replies(answer, reference), **({"chunks": CHUNKS} | fields))

    return make


@pytest.fixture(scope="module")
def nuggets_of(judged_case: MakeCase, claim_replies: Replies) -> MakeCase:
    """Build a record whose nuggets are given as (assignment, importance)."""

    def make(*nuggets: tuple[str, str], **fields: Any) -> Sample:
        claims = [(said, (), importance) for said, importance in nuggets]
        return judged_case(claim_replies([("correct", ())], claims), **fields)

    return make


def score(name: str, case: Sample) -> MetricResult:
    return parse_metric(name).score(case)


def values(case: Sample, names: Sequence[str] = ALL) -> dict[str, float | None]:
    return {name: score(name, case).value for name in names}


def asked_for(case: Sample, names: Sequence[str] = ALL) -> set[str]:
    return {request.name for name in names for request in parse_metric(name).requests(case)}


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        pytest.param(RIGHT, CONVEYED, [1, 0, 0, 0, 0, 0, 1, 1], id="all right"),
        pytest.param(WRONG, MISSING, [0, 1, 0, 0, 0, 0, 0, None], id="all wrong"),
        pytest.param(MIXED, PARTLY, [2 / 5, 1 / 5, 1 / 5, 2 / 5, 1 / 5, 1 / 5, 2 / 4, 1 / 2], id="mixed"),
        pytest.param(
            [*MIXED, ("cannot_tell", {1}), ("correct", None)],
            [*PARTLY, ("cannot_tell", {3}, "okay"), ("conveyed", None, "okay")],
            [3 / 6, 1 / 5, 1 / 5, 2 / 5, 1 / 5, 1 / 5, 3 / 5, 1 / 2],
            id="the judge could not tell on some",
        ),
    ],
)
def test_each_metric_is_a_share_of_the_claims_on_which_the_judge_could_tell(
    case_of: MakeCase, answer: Sequence[Any], reference: Sequence[Any], expected: list[float | None]
) -> None:
    """A chunk is relevant if it supports an expected claim; partly conveyed is not conveyed."""
    assert values(case_of(answer, reference)) == pytest.approx(dict(zip(ALL, expected, strict=True)))


@pytest.mark.parametrize("name", ALL)
def test_a_judge_that_could_not_tell_on_any_claim_gives_no_value(case_of: MakeCase, name: str) -> None:
    """It is the judge that failed, not the server."""
    result = score(name, case_of([("cannot_tell", None)], [("cannot_tell", None, "vital")]))
    assert (result.value, result.missing, result.reason) == (None, "judge", "the judge could not tell")


def test_a_claim_whose_support_is_unknown_may_still_be_correct(case_of: MakeCase) -> None:
    """Each metric leaves out only the claims on whose verdicts it rests."""
    case = case_of([("correct", None), ("not_stated", set())], CONVEYED)
    assert values(case, ["claim_precision", "hallucination"]) == {"claim_precision": 0.5, "hallucination": 1.0}


def test_the_items_of_a_reply_may_stand_in_any_order(judged_case: MakeCase, claim_replies: Replies) -> None:
    """They are told apart by their ids."""
    replies = claim_replies(MIXED, PARTLY)
    compared = {name: items[1:] + items[:1] for name, items in replies["claims_compared"].items()}
    contexts = {"claims": replies["answer_in_contexts"]["claims"][2:] + replies["answer_in_contexts"]["claims"][:2]}
    turned = replies | {"claims_compared": compared, "answer_in_contexts": contexts}
    assert values(judged_case(turned, chunks=CHUNKS)) == values(judged_case(replies, chunks=CHUNKS))


def test_passages_named_beside_another_verdict_do_not_support(judged_case: MakeCase, claim_replies: Replies) -> None:
    """The verdict decides; a passage may stand in the reply as what comes nearest."""
    replies = claim_replies([("not_stated", {1})], CONVEYED)
    replies["answer_in_contexts"]["claims"][0]["verdict"] = "contradicted"
    case = judged_case(replies, chunks=CHUNKS)
    assert values(case, ["hallucination", "noise_sensitivity"]) == {"hallucination": 1.0, "noise_sensitivity": 0.0}


@pytest.mark.parametrize("answer", [ABSTENTION, "", "  ", "[1]"])
def test_an_abstention_makes_no_claims_but_may_leave_facts_unused(case_of: MakeCase, answer: str) -> None:
    """What the retriever found is still measured; only the expected answer is asked about."""
    case = case_of((), [("conveyed", {1}, "vital"), ("conveyed", set(), "vital")], answer=answer)
    given = {"claim_recall": 0.5, "context_utilization": 0.0}
    assert values(case) == dict.fromkeys([*OF_ANSWER, *NOISE]) | given
    assert {score(name, case).reason for name in [*OF_ANSWER, *NOISE]} == {"the answer abstains"}
    assert asked_for(case) == {"reference_claims", "reference_in_contexts"}


def test_an_abstention_without_support_in_the_chunks_left_nothing_unused(case_of: MakeCase) -> None:
    """There was nothing to make use of."""
    result = score("context_utilization", case_of((), MISSING, answer=ABSTENTION))
    assert (result.value, result.missing) == (None, "not_applicable")
    assert result.reason == "no chunk supports a claim of the expected answer"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("answer", [ABSTENTION, "It lasts 96 hours."])
@pytest.mark.parametrize("expected", [None, "Nobody knows."])
def test_an_unanswerable_question_has_no_claims_to_compare_with(
    case_of: MakeCase, name: str, answer: str, expected: str | None
) -> None:
    """Whatever was answered; nothing is asked for it."""
    case = case_of(RIGHT, CONVEYED, asked={"is_unanswerable": True, "expected_answer": expected}, answer=answer)
    result = score(name, case)
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", "the question is unanswerable")
    assert asked_for(case, [name]) == set()


def test_where_nothing_was_retrieved_nothing_is_supported(case_of: MakeCase) -> None:
    """The retriever made nothing possible, and what the answer says comes from the model; no judge looks at chunks."""
    case = case_of(MIXED, PARTLY, chunks=[])
    wanted = [2 / 5, 3 / 5, 2 / 5, 0, 0, 0, 0, None]
    assert values(case) == pytest.approx(dict(zip(ALL, wanted, strict=True)))
    assert asked_for(case) == {"answer_claims", "reference_claims", "claims_compared"}


@pytest.mark.parametrize("name", OF_CHUNKS)
@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        (None, "the server sent no chunks"),
        ([RetrievedChunk(chunk_id="c1"), RetrievedChunk(document_name="a.md", text="")], "the chunks carry no text"),
    ],
)
def test_what_cannot_be_read_is_neither_supporting_nor_not(
    case_of: MakeCase, name: str, chunks: Any, reason: str
) -> None:
    """Names alone say nothing; the comparison of the answers goes without chunks."""
    case = case_of(MIXED, PARTLY, chunks=chunks)
    result = score(name, case)
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", reason)
    assert asked_for(case, [name]) == set()
    assert score("claim_precision", case).value == 0.4


@pytest.mark.parametrize("expected", ["", " ", "As you like it!"])
def test_an_expected_answer_without_facts_cannot_be_recalled(case_of: MakeCase, expected: str) -> None:
    """And says none of the answer's claims; where it is empty, nobody is asked what it states."""
    case = case_of([("not_stated", {1})], (), asked={"expected_answer": expected})
    assert score("claim_recall", case).reason == "the expected answer states no facts"
    wanted = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, None, None]
    assert values(case) == dict(zip(ALL, wanted, strict=True))
    assert ("reference_claims" in asked_for(case)) is bool(expected.strip())


def test_f1_is_of_the_claims_on_which_the_judge_could_tell(case_of: MakeCase) -> None:
    """Precision over the answer's claims and recall over the reference's; part of a claim is not the claim."""
    answer = [*MIXED, ("cannot_tell", {1}), ("correct", None)]
    result = score("claim_f1", case_of(answer, [*PARTLY, ("cannot_tell", {3}, "okay"), ("conveyed", None, "okay")]))
    assert result.value == pytest.approx(2 * (3 / 6) * (3 / 5) / (3 / 6 + 3 / 5))
    assert result.details == {"precision": 3 / 6, "recall": 3 / 5}


@pytest.mark.parametrize(
    ("answer", "reference", "fields", "wanted"),
    [
        pytest.param(RIGHT, (), {}, (None, "not_applicable"), id="a reference without facts"),
        pytest.param((), MISSING, {"answer": "What a good question!"}, (0.0, None), id="an answer without claims"),
        pytest.param((), MISSING, {"answer": ABSTENTION}, (0.0, None), id="an abstention"),
        pytest.param([("cannot_tell", set())], CONVEYED, {}, (None, "judge"), id="claims that nobody can judge"),
        pytest.param(RIGHT, [("cannot_tell", set(), "vital")], {}, (None, "judge"), id="facts that nobody can judge"),
        pytest.param(RIGHT, CONVEYED, {"asked": {"is_unanswerable": True}}, (None, "not_applicable"), id="no answer"),
    ],
)
def test_f1_of_nothing(
    case_of: MakeCase, answer: Any, reference: Any, fields: dict[str, Any], wanted: tuple[float | None, str | None]
) -> None:
    """Who says nothing conveys nothing, else to abstain would raise the mean; what the judge lost is no zero."""
    result = score("claim_f1", case_of(answer, reference, **fields))
    assert (result.value, result.missing) == wanted


def test_the_judge_of_grounding_sees_neither_reference_nor_the_whole_answer(case_of: MakeCase) -> None:
    """The claims alone, with the chunks that have text, numbered in their order."""
    chunks = [RetrievedChunk(text="one"), RetrievedChunk(chunk_id="c2"), RetrievedChunk(text="three")]
    case = case_of(RIGHT, CONVEYED, chunks=chunks)
    requests = {one.name: one for name in ALL for one in parse_metric(name).requests(case)}
    contexts = [{"id": 1, "text": "one"}, {"id": 2, "text": "three"}]
    for whose, texts in (("answer", ["a0", "a1"]), ("reference", ["r0", "r1"])):
        numbered = [{"id": n, "text": text} for n, text in enumerate(texts, start=1)]
        asked = requests[f"{whose}_in_contexts"].data
        assert asked == {"contexts": contexts, "question": "How long?", "claims": numbered}
        assert requests["claims_compared"].data[f"{whose}_claims"] == numbered
    assert set(requests["answer_claims"].data) == {"question", "answer"}
    assert set(requests["reference_claims"].data) == {"question", "expected_answer"}


chunk_sets = st.frozensets(st.sampled_from([1, 2, 3]))
answer_claims = st.tuples(st.sampled_from(["correct", "contradicted", "not_stated"]), chunk_sets)
reference_claims = st.tuples(st.sampled_from(["conveyed", "partly", "missing"]), chunk_sets, st.just("vital"))
example_count = settings(derandomize=True, deadline=None, max_examples=150)


def ragchecker(answer: Sequence[Any], reference: Sequence[Any]) -> dict[str, float | None]:
    """RAGChecker's measures by its matrices of entailment, claims by chunks; an empty denominator gives None."""

    def mean(flags: Sequence[bool]) -> float | None:
        return sum(flags) / len(flags) if flags else None

    def f1(precision: float | None, recall: float | None) -> float | None:
        return 2 * (precision or 0) * recall / ((precision or 0) + recall) if recall else recall

    correct = [verdict == "correct" for verdict, _ in answer]
    retrieved2response = [[n in chunks for n in (1, 2, 3)] for _, chunks in answer]
    retrieved2answer = [[n in chunks for n in (1, 2, 3)] for _, chunks, _ in reference]
    relevant = [any(row[n] for row in retrieved2answer) for n in range(3)]
    from_relevant = [any(row[n] and relevant[n] for n in range(3)) for row in retrieved2response]
    from_irrelevant = [any(row[n] and not relevant[n] for n in range(3)) for row in retrieved2response]
    from_any = [any(row) for row in retrieved2response]
    recalled = [any(row) for row in retrieved2answer]
    conveyed = [verdict == "conveyed" for verdict, _, _ in reference]
    claims = range(len(answer))
    return {
        "claim_precision": mean(correct),
        "claim_f1": f1(mean(correct), mean(conveyed)),
        "claim_recall": mean(recalled),
        "context_utilization": mean([said for said, found in zip(conveyed, recalled, strict=True) if found]),
        "noise_sensitivity_relevant": mean([not correct[n] and from_relevant[n] for n in claims]),
        "noise_sensitivity_irrelevant": mean(
            [not correct[n] and from_irrelevant[n] and not from_relevant[n] for n in claims]
        ),
        "hallucination": mean([not correct[n] and not from_any[n] for n in claims]),
        "self_knowledge": mean([correct[n] and not from_any[n] for n in claims]),
    }


@example_count
@given(answer=st.lists(answer_claims, max_size=6), reference=st.lists(reference_claims, max_size=6))
def test_the_values_are_ragcheckers(case_of: MakeCase, answer: Any, reference: Any) -> None:
    """Whatever the verdicts are."""
    case = case_of(answer, reference)
    wanted = ragchecker(answer, reference)
    assert values(case, list(wanted)) == pytest.approx(wanted)


# Nuggets: how many of the facts that a good answer conveys does this one convey?


@pytest.mark.parametrize(
    ("nuggets", "expected"),
    [
        ([("conveyed", "vital"), ("partly", "vital"), ("missing", "okay")], [0.5, 1 / 3, 0.75, 0.5]),
        ([("conveyed", "vital"), ("cannot_tell", "vital"), ("partly", "okay")], [0.75, 0.5, 1, 1]),
        ([("conveyed", "okay")], [1, 1, None, None]),
    ],
)
def test_a_nugget_counts_by_how_far_it_is_conveyed(
    nuggets_of: MakeCase, nuggets: list[tuple[str, str]], expected: list[float | None]
) -> None:
    """Half where partly, nothing where strict; the vital ones apart; what the judge could not tell does not count."""
    assert list(values(nuggets_of(*nuggets), NUGGETS).values()) == pytest.approx(expected)


@pytest.mark.parametrize("name", NUGGETS[2:])
def test_without_a_vital_nugget_there_is_no_share_of_them(nuggets_of: MakeCase, name: str) -> None:
    """AutoNuggetizer gives 0 there, which would punish the answer for the reference."""
    result = score(name, nuggets_of(("conveyed", "okay")))
    assert (result.missing, result.reason) == ("not_applicable", "no fact of the expected answer is vital")


@pytest.mark.parametrize(("name", "could_not_tell"), [("nugget_vital", True), ("nugget_all", False)])
def test_a_judge_that_could_not_tell_on_the_vital_nuggets_gives_no_share_of_them(
    nuggets_of: MakeCase, name: str, could_not_tell: bool
) -> None:
    """The other nuggets still count among all."""
    result = score(name, nuggets_of(("cannot_tell", "vital"), ("conveyed", "okay")))
    assert (result.value is None, result.missing == "judge") == (could_not_tell, could_not_tell)


@pytest.mark.parametrize("answer", ["I don't know.", ""])
def test_an_abstention_on_an_answerable_question_conveys_nothing(nuggets_of: MakeCase, answer: str) -> None:
    """It is 0 and not left out; only the expected answer is asked about, whatever was said of the other."""
    case = nuggets_of(("conveyed", "vital"), ("conveyed", "okay"), answer=answer)
    assert list(values(case, NUGGETS).values()) == [0, 0, 0, 0]
    assert asked_for(case, NUGGETS) == {"reference_claims"}


def autonuggetizer(nuggets: Sequence[tuple[str, str]], *, strict: bool, vital: bool) -> float | None:
    """As the AutoNuggetizer scores an answer: support 1, partial support 0.5 or strictly 0, no support 0."""
    worth = {"conveyed": 1.0, "partly": 0.0 if strict else 0.5, "missing": 0.0}
    counted = [worth[said] for said, importance in nuggets if importance == "vital" or not vital]
    return sum(counted) / len(counted) if counted else None


assignments = st.tuples(st.sampled_from(["conveyed", "partly", "missing"]), st.sampled_from(["vital", "okay"]))


@example_count
@given(nuggets=st.lists(assignments, min_size=1, max_size=8))
def test_the_values_are_autonuggetizers(nuggets_of: MakeCase, nuggets: list[tuple[str, str]]) -> None:
    """All four, whatever is assigned."""
    wanted = [
        autonuggetizer(nuggets, strict=strict, vital=vital) for vital in (False, True) for strict in (False, True)
    ]
    assert list(values(nuggets_of(*nuggets), NUGGETS).values()) == pytest.approx(wanted)
