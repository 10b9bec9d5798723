"""The metrics of claims: arithmetic over scripted verdicts, and what they are worth without some."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evals.metrics import Sample, parse_metric
from evals.schemas import RetrievedChunk

MakeCase = Callable[..., Sample]
CHUNKS = [RetrievedChunk(text=f"text {n}") for n in (1, 2, 3)]
ALL = ["claim_precision", "claim_recall", "claim_f1", "context_utilization", "hallucination"]
OF_CHUNKS = ["claim_recall", "context_utilization", "hallucination"]
MIXED = [("correct", {1}), ("not_stated", {2}), ("contradicted", {1, 2}), ("correct", set()), ("not_stated", set())]
PARTLY = [("conveyed", {1}, "vital"), ("partly", {1}, "vital"), ("missing", set(), "okay"), ("conveyed", set(), "okay")]


@pytest.fixture(scope="module")
def case_of(judged_case: MakeCase, claim_replies: Callable[..., dict[str, Any]]) -> MakeCase:
    """Build a record of three chunks with these verdicts on its claims."""

    def make(answer: Sequence[Any], reference: Sequence[Any], /, **fields: Any) -> Sample:
        return judged_case(claim_replies(answer, reference), **({"chunks": CHUNKS} | fields))

    return make


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ([("correct", {1})], [("conveyed", {1}, "vital")], (1, 1, 1, 1, 0)),
        ([("not_stated", set())], [("missing", set(), "vital")], (0, 0, 0, None, 1)),
        (MIXED, PARTLY, (0.4, 0.5, 4 / 9, 0.5, 0.2)),
        ([*MIXED, ("cannot_tell", {1}), ("correct", None)], PARTLY, (3 / 6, 0.5, 0.5, 0.5, 0.2)),
        ([("cannot_tell", None)], [("cannot_tell", None, "okay")], (None,) * 5),
    ],
)
def test_each_metric_is_a_share_of_the_claims_on_which_the_judge_could_tell(
    case_of: MakeCase, answer: Any, reference: Any, expected: tuple[float | None, ...]
) -> None:
    """Precision and hallucination over the answer's claims, the others over those of the reference."""
    found = [parse_metric(name).score(case_of(answer, reference)).value for name in ALL]
    assert found == [None if value is None else pytest.approx(value) for value in expected]


@pytest.mark.parametrize("answer", ["I don't know.", "", "[1]"])
def test_an_abstention_makes_no_claims_but_may_leave_facts_unused(case_of: MakeCase, answer: str) -> None:
    """Recall of the retriever does not depend on the answer."""
    case = case_of([], [("missing", {1}, "vital")], answer=answer)
    found = [parse_metric(name).score(case).value for name in ALL]
    assert found == [None, 1, 0, 0, None]


@pytest.mark.parametrize("name", ALL)
def test_an_unanswerable_question_has_no_claims_to_compare_with(case_of: MakeCase, name: str) -> None:
    """Whatever was answered."""
    case = case_of(MIXED, PARTLY, asked={"is_unanswerable": True})
    assert parse_metric(name).score(case).reason == "the question is unanswerable"


@pytest.mark.parametrize("name", OF_CHUNKS)
@pytest.mark.parametrize(
    ("chunks", "reason"),
    [(None, "the server sent no chunks"), ([RetrievedChunk(chunk_id="c")], "the chunks carry no text")],
)
def test_what_cannot_be_read_is_neither_supporting_nor_not(
    case_of: MakeCase, name: str, chunks: Any, reason: str
) -> None:
    """None, with the reason."""
    assert parse_metric(name).score(case_of(MIXED, PARTLY, chunks=chunks)).reason == reason


def test_where_nothing_was_retrieved_nothing_is_supported(case_of: MakeCase) -> None:
    """0 for the recall of the retriever, and nothing that could have been used."""
    case = case_of(MIXED, PARTLY, chunks=[])
    assert parse_metric("claim_recall").score(case).value == 0
    assert parse_metric("context_utilization").score(case).value is None


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_repeat_that_finds_no_claims_does_not_decide_for_the_others(
    judged_case: MakeCase, claim_replies: Callable[..., dict[str, Any]], name: str, empty: int
) -> None:
    """Whichever it is, the value is that of the repeats that have one."""
    full = claim_replies([("correct", {1})], [("conveyed", {1}, "vital")])
    repeats = [claim_replies() if number == empty else full for number in range(3)]
    case = judged_case({task: [repeat[task] for repeat in repeats] for task in full}, chunks=CHUNKS)
    assert parse_metric(name).score(case).value == (0 if name == "hallucination" else 1)


def test_details_tell_contradicted_claims_from_made_up_ones(case_of: MakeCase) -> None:
    """Of two hallucinations the chunks contradict none here."""
    found = parse_metric("hallucination").score(case_of([("not_stated", set()), ("not_stated", set())], PARTLY))
    assert (found.value, found.details["contradicted"]) == (1, 0)


@pytest.mark.parametrize("name", ["nugget_vital", "noise_sensitivity", "self_knowledge", "latency_total_p95"])
def test_a_metric_that_is_withdrawn_says_what_is_instead(name: str) -> None:
    """Nothing is accepted and ignored."""
    with pytest.raises(Exception, match=f"metric {name} is withdrawn"):
        parse_metric(name)
