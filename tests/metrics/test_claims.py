"""The metrics of claims: arithmetic over scripted verdicts, and what they are worth without some."""

from typing import Any

import pytest
from metrics.records import claim_replies, judged, texts, values

from evals.metrics import Sample, parse_metric
from evals.schemas import RetrievedChunk

ALL = ["claim_precision", "claim_recall", "claim_f1", "context_utilization", "hallucination"]
MIXED = [("correct", {1}), ("not_stated", {2}), ("contradicted", {1, 2}), ("correct", set()), ("not_stated", set())]
PARTLY = [("conveyed", {1}), ("partly", {1}), ("missing", set()), ("conveyed", set())]


def case_of(answer: Any, reference: Any, /, **fields: Any) -> Sample:
    """A record of three chunks with these verdicts on its claims."""
    return judged(claim_replies(answer, reference), **({"chunks": texts(3)} | fields))


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ([("correct", {1})], [("conveyed", {1})], (1, 1, 1, 1, 0)),
        ([("not_stated", set())], [("missing", set())], (0, 0, 0, None, 1)),
        (MIXED, PARTLY, (0.4, 0.5, 4 / 9, 0.5, 0.2)),
        ([*MIXED, ("cannot_tell", {1}), ("correct", None)], PARTLY, (3 / 6, 0.5, 0.5, 0.5, 0.2)),
        ([("cannot_tell", None)], [("cannot_tell", None)], (None,) * 5),
    ],
)
def test_each_metric_is_a_share_of_the_claims_on_which_the_judge_could_tell(
    answer: Any, reference: Any, expected: tuple[float | None, ...]
) -> None:
    """Precision and hallucination over the answer's claims, the others over those of the reference."""
    assert values(ALL, case_of(answer, reference)) == pytest.approx(expected)


@pytest.mark.parametrize("answer", ["I don't know.", "", "[1]"])
def test_an_abstention_makes_no_claims_but_may_leave_facts_unused(answer: str) -> None:
    """Recall of the retriever does not depend on the answer."""
    assert values(ALL, case_of([], [("missing", {1})], answer=answer)) == [None, 1, 0, 0, None]


@pytest.mark.parametrize(
    ("names", "fields", "reason"),
    [
        (ALL, {"is_unanswerable": True}, "the question is unanswerable"),
        (("claim_recall", *ALL[3:]), {"chunks": None}, "the server sent no chunks"),
        (("claim_recall", *ALL[3:]), {"chunks": [RetrievedChunk(chunk_id="c")]}, "the chunks carry no text"),
    ],
)
def test_where_nothing_can_be_compared_there_is_no_value(names: Any, fields: dict[str, Any], reason: str) -> None:
    """What cannot be read is neither supporting nor not."""
    case = case_of(MIXED, PARTLY, **fields)
    assert {parse_metric(name).score(case).reason for name in names} == {reason}


def test_where_nothing_was_retrieved_nothing_is_supported() -> None:
    """0 for the recall of the retriever, and nothing that could have been used."""
    assert values(["claim_recall", "context_utilization"], case_of(MIXED, PARTLY, chunks=[])) == [0, None]


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_repeat_that_finds_no_claims_does_not_decide_for_the_others(empty: int) -> None:
    """Whichever it is, the value is that of the repeats that have one."""
    full = claim_replies([("correct", {1})], [("conveyed", {1})])
    repeats = [claim_replies() if number == empty else full for number in range(3)]
    case = judged({task: [repeat[task] for repeat in repeats] for task in full}, chunks=texts(3))
    assert values(ALL, case) == [1, 1, 1, 1, 0]


def test_details_tell_contradicted_claims_from_made_up_ones() -> None:
    """Of two hallucinations the chunks contradict none here."""
    found = parse_metric("hallucination").score(case_of([("not_stated", set()), ("not_stated", set())], PARTLY))
    assert (found.value, found.details["contradicted"]) == (1, 0)
