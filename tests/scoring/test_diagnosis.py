"""What went wrong, question by question."""

from typing import Any

import pytest

from evals.schemas import (
    Citation,
    EvalQuestion,
    EvalRecord,
    EvalResponse,
    GoldPassage,
    MetricGroup,
    MetricResult,
    ResponseError,
    RetrievedChunk,
)
from evals.scoring.diagnosis import Fault, diagnose, in_turn
from evals.scoring.settings import Cases, ScoreSettings

REFUSAL = "I don't have enough information to answer that."


def record(
    found: str = "", golds: str = "g", answer: str = "Kings ruled.", cited: list[int] | None = None, **parts: Any
) -> EvalRecord:
    """A record: letters are ids, of the chunks retrieved in their order and of the golds wanted."""
    question = EvalQuestion(
        id=parts.pop("id", "q"),
        question="Who ruled?",
        gold_passages=[GoldPassage(text=f"gold {name}", chunk_id=name) for name in golds],
        is_unanswerable=not golds,
    )
    response = EvalResponse(
        answer=answer,
        chunks=[RetrievedChunk(chunk_id=name, text=f"chunk {name}") for name in found],
        citations=[Citation(index=index) for index in cited or []],
    )
    return EvalRecord(question=question, response=response.model_copy(update=parts))


def scored(name: str, value: float, **details: Any) -> EvalRecord:
    """A record with everything in place but what a judge said of the answer."""
    score = MetricResult(name=name, group=MetricGroup.GENERATION, value=value, details=details)
    return record("g", golds="g").model_copy(update={"scores": [score]})


LOST = record(error=ResponseError(kind="timeout", message="120 s"), answer=None, attempts=3)
CASES = {
    Fault.NO_ANSWER: (LOST, "no answer after 3 attempts: timeout, 120 s"),
    Fault.ANSWERED_UNANSWERABLE: (record("a", golds=""), "answered, though it cannot be answered"),
    Fault.NOT_RETRIEVED: (record("ab"), "none of 1 gold passage among 2 chunks"),
    Fault.ABSTAINED: (record("ag", answer=REFUSAL), "abstained, though gold was retrieved at rank 2"),
    Fault.INCORRECT: (
        scored("answer_correctness", 0.0, verdict="incorrect", justification="other king"),
        "incorrect, says the judge: other king",
    ),
    Fault.UNSUPPORTED: (
        scored("faithfulness", 0.5, claims=2, unsupported=["Queens ruled."]),
        "1 of 2 claims unsupported: Queens ruled.",
    ),
    Fault.NEEDS_VERIFICATION: (
        scored("factual_match", 1.0, fuzzy_match=0.0, gptscore=1.0, needs_verification=True),
        "verify: fuzzy match says 0, the judge 1",
    ),
    Fault.PART_NOT_RETRIEVED: (record("g", golds="gh"), "1 of 2 gold passages retrieved"),
    Fault.WRONG_CITATION: (record("ga", cited=[1, 2, 9]), "2 of 3 citations without gold, 1 of them invalid"),
    Fault.LOW_RANK: (record("abcdeg"), "gold first found at rank 6"),
}


@pytest.mark.parametrize("fault", Fault)
def test_every_kind_of_fault_is_found_and_explained(fault: Fault) -> None:
    """Each kind has a record that shows it, a sentence of explanation and a label."""
    faulty, explanation = CASES[fault]
    (finding,) = diagnose([faulty], Cases(ScoreSettings()))
    assert (finding.fault, finding.explanation, finding.record) == (fault, explanation, faulty)
    assert fault.label


@pytest.mark.parametrize(
    "good",
    [
        record("g"),
        record("abcdg"),
        record("ga", cited=[1]),
        record("a", golds="", answer=REFUSAL),
        record(chunks=None),
        record("g", answer=None),
        record("a", golds="", answer=None),
        EvalRecord(question=EvalQuestion(question="Who?")),
    ],
    ids=[
        "found",
        "found at rank 5",
        "cited",
        "rightly abstained",
        "no chunks said",
        "retrieved only",
        "none to find",
        "not asked",
    ],
)
def test_what_is_right_or_unknown_is_no_finding(good: EvalRecord) -> None:
    """A record without fault, or of which nothing is known, is passed over."""
    assert diagnose([good], Cases(ScoreSettings())) == []


def test_an_abstention_without_gold_blames_the_retriever() -> None:
    """Who was given nothing abstains rightly: the fault lies before."""
    (finding,) = diagnose([record("a", answer=REFUSAL)], Cases(ScoreSettings()))
    assert finding.fault is Fault.NOT_RETRIEVED
    assert finding.explanation.startswith("abstained: ")


def test_a_server_that_only_retrieves_did_not_abstain() -> None:
    """What it did not retrieve it did not retrieve."""
    (finding,) = diagnose([record("a", answer=None)], Cases(ScoreSettings()))
    assert finding.explanation.startswith("none of ")


@pytest.mark.parametrize("answer", [REFUSAL, ""])
def test_an_abstention_on_what_can_be_answered_is_a_fault_whatever_was_retrieved(answer: str) -> None:
    """Nobody knows what was retrieved, but there is an expected answer, and none was given."""
    question = EvalQuestion(id="q", question="What is the excess?", expected_answer="$604")
    (finding,) = diagnose([EvalRecord(question=question, response=EvalResponse(answer=answer))], Cases(ScoreSettings()))
    assert (finding.fault, finding.explanation) == (Fault.ABSTAINED, "abstained, though it can be answered")


def test_the_ranks_of_the_gold_are_told() -> None:
    """A finding says at which ranks the gold stands."""
    assert [finding.hit_ranks for finding in diagnose([record("agbh", golds="ghi")], Cases(ScoreSettings()))] == [
        (2, 4)
    ]


@pytest.mark.parametrize(("base", "faults"), [(0, []), (1, [Fault.WRONG_CITATION])])
def test_citations_are_counted_from_the_servers_base(base: int, faults: list[Fault]) -> None:
    """Index 0 is the first chunk where the server counts from zero, and points nowhere where it counts from one."""
    findings = diagnose([record("ga", cited=[0])], Cases(ScoreSettings(citation_base=base)))
    assert [finding.fault for finding in findings] == faults


def test_the_gravest_come_first_then_the_order_of_the_questions() -> None:
    """Findings are ordered by kind; within a kind they stay as the questions were."""
    first, second = record("ab", id="one"), record("cd", id="two")
    findings = diagnose([CASES[Fault.LOW_RANK][0], first, second, LOST], Cases(ScoreSettings()))
    assert [finding.fault for finding in findings] == [
        Fault.NO_ANSWER, Fault.NOT_RETRIEVED, Fault.NOT_RETRIEVED, Fault.LOW_RANK,
    ]  # fmt: skip
    assert [finding.record.question.id for finding in findings[1:3]] == ["one", "two"]


def test_in_turn_shows_every_kind_before_any_a_second_time() -> None:
    """A short list is not filled by one kind of fault."""
    faults = [Fault.NO_ANSWER, Fault.NOT_RETRIEVED, Fault.LOW_RANK]
    records = [CASES[fault][0] for fault in faults for _ in range(2)] + [LOST]
    assert [finding.fault for finding in in_turn(diagnose(records, Cases(ScoreSettings())))] == [
        *faults,
        *faults,
        Fault.NO_ANSWER,
    ]
