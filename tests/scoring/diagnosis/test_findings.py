"""The questions of a run that ended wrong: in which order, with which words, and how many."""

from typing import Any

import pytest
from whole_runs import wrong_by

from evals.schemas import (
    Citation,
    EvalQuestion,
    EvalRecord,
    EvalResponse,
    EvalRun,
    GoldPassage,
    MetricGroup,
    MetricResult,
    ResponseError,
    RetrievedChunk,
    ServerRecord,
)
from evals.scoring.diagnosis import count_links, diagnose, facts_of
from evals.scoring.diagnosis.outcome import remarks_on
from evals.scoring.diagnosis.stages import DEFAULT_K, Link, RunFacts
from evals.scoring.digest import BrokenLink, in_turn
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.scoring.stats.intervals import wilson

REFUSAL = "I don't have enough information to answer that."
RIGHT = "Kings ruled."


def record(
    found: str = "", golds: str = "g", answer: str | None = RIGHT, cited: list[int] | None = None, **parts: Any
) -> EvalRecord:
    """A record: letters are ids, of the chunks retrieved in their order and of the golds wanted."""
    question = EvalQuestion(
        id=parts.pop("id", "q"),
        question="Who ruled?",
        expected_answer="Kings" if golds else None,
        gold_passages=[GoldPassage(text=f"gold {name}", chunk_id=name) for name in golds],
        is_unanswerable=not golds,
    )
    response = EvalResponse(
        answer=answer,
        chunks=[RetrievedChunk(chunk_id=name, text=f"chunk {name}") for name in found],
        citations=[Citation(index=index) for index in cited or []],
    )
    return EvalRecord(question=question, response=response.model_copy(update=parts))


def found(*records: EvalRecord, **facts: Any) -> list[Any]:
    return diagnose(records, ScoringContext(ScoreSettings()), RunFacts(**facts))


LOST = record(error=ResponseError(kind="timeout", message="120 s"), answer=None, attempts=3)
CASES = {
    Link.TRANSPORT: (LOST, "no answer after 3 attempts: timeout, 120 s"),
    Link.SHOULD_HAVE_ABSTAINED: (record("a", golds=""), "answered an unanswerable question"),
    Link.NOT_RETRIEVED: (record("ab", answer="Queens."), "the reference passage is not among 2 chunks"),
    Link.PART_RETRIEVED: (record("g", golds="gh", answer="Queens."), "1 of 2 reference passages retrieved"),
    Link.BELOW_K: (record("abcdefhijkg", answer="Queens."), "reference passage at rank 11, and 10 chunks are sent on"),
    Link.WRONG_ABSTENTION: (record("ag", answer=REFUSAL), "declined, with a reference passage at rank 2"),
    Link.CONTRADICTS_REFERENCE: (
        record("g", answer="Queens ruled."),
        "says something else than the reference, by its words",
    ),
    Link.UNUSED: (
        record("g", answer="That depends on the country."),
        "the reference passage was retrieved, and the answer does not say it, by its words",
    ),
    Link.WRONG_CITATION: (record("ga", cited=[2, 9]), "none of 2 citations holds a reference passage, 1 invalid"),
    Link.RIGHT_WITHOUT_GOLD: (record("ab"), "right, though the reference passage is not among 2 chunks"),
}


@pytest.mark.parametrize("link", CASES)
def test_a_broken_link_is_explained(link: Link) -> None:
    """Each has a sentence of explanation and a label."""
    broken, explanation = CASES[link]
    (finding,) = found(broken)
    assert (finding.link, finding.explanation, finding.record) == (link, explanation, broken)
    assert link.label


@pytest.mark.parametrize(
    "good",
    [
        record("g"),
        record("abcdg"),
        record("ga", cited=[1]),
        record("ga", cited=[1, 2]),
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
        "cited with another",
        "rightly abstained",
        "no chunks said",
        "retrieved only",
        "none to find",
        "not asked",
    ],
)
def test_what_is_right_or_unknown_is_no_finding(good: EvalRecord) -> None:
    """A record that ended right, or of which nothing is known, is passed over."""
    assert found(good) == []


def test_a_server_that_only_retrieves_is_judged_by_what_it_retrieves() -> None:
    """It answers nowhere, so a missing answer is no failure; where others are answered it is one."""
    assert [finding.link for finding in found(record("a", answer=None))] == [Link.NOT_RETRIEVED]
    assert [finding.link for finding in found(record("g", answer=None), answers=True)] == [Link.TRANSPORT]


def test_an_abstention_without_gold_blames_the_retriever() -> None:
    """Who was given nothing abstains rightly: the link that broke stands before."""
    (finding,) = found(record("a", answer=REFUSAL))
    assert finding.link is Link.NOT_RETRIEVED
    assert finding.explanation.startswith("declined: ")


@pytest.mark.parametrize("answer", [REFUSAL, ""])
def test_an_abstention_on_what_can_be_answered_is_wrong_whatever_was_retrieved(answer: str) -> None:
    """Nobody knows what was retrieved, but there is an expected answer, and none was given."""
    question = EvalQuestion(id="q", question="What is the excess?", expected_answer="$604")
    (finding,) = found(EvalRecord(question=question, response=EvalResponse(answer=answer)))
    assert (finding.link, finding.explanation) == (Link.WRONG_ABSTENTION, "declined an answerable question")


def test_the_ranks_of_the_gold_are_told() -> None:
    """A finding says at which ranks the gold stands."""
    (finding,) = found(record("agbh", golds="ghi", answer="Queens."))
    assert finding.hit_ranks == (2, 4)


@pytest.mark.parametrize(("base", "links"), [(0, []), (1, [Link.WRONG_CITATION])])
def test_citations_are_counted_from_the_servers_base(base: int, links: list[Link]) -> None:
    """Index 0 is the first chunk where the server counts from zero, and points nowhere where it counts from one."""
    findings = diagnose([record("ga", cited=[0])], ScoringContext(ScoreSettings(citation_base=base)), RunFacts())
    assert [finding.link for finding in findings] == links


def test_findings_stand_in_the_order_of_the_chain_then_of_the_questions() -> None:
    """Within a link they stay as the questions were."""
    first, second = record("ab", id="one", answer="Queens."), record("cd", id="two", answer="Queens.")
    findings = found(CASES[Link.UNUSED][0], first, second, LOST)
    assert [finding.link for finding in findings] == [
        Link.TRANSPORT, Link.NOT_RETRIEVED, Link.NOT_RETRIEVED, Link.UNUSED,
    ]  # fmt: skip
    assert [finding.record.question.id for finding in findings[1:3]] == ["one", "two"]


def test_in_turn_shows_every_link_before_any_a_second_time() -> None:
    """A short list is not filled by one link."""
    links = [Link.TRANSPORT, Link.NOT_RETRIEVED, Link.UNUSED]
    broken = [BrokenLink(number, link, "so") for number, link in enumerate([*links, *sorted(links), Link.TRANSPORT])]
    every = in_turn(broken)
    assert [one.link for one in every] == [*links, *links, Link.TRANSPORT]
    assert [in_turn(broken, most) for most in range(9)] == [every[:most] for most in range(9)]


def test_links_are_counted_with_intervals_over_the_questions_asked() -> None:
    """What was not asked is in no count, and what is right without gold is counted apart."""
    asked = [record("ab", id=f"q{n}", answer="Queens.") for n in range(3)] + [record("ab", id="lucky"), record("g")]
    records = [*asked, EvalRecord(question=EvalQuestion(id="later", question="Who?"))]
    cases = ScoringContext(ScoreSettings())
    diagnosis = count_links(diagnose(records, cases, RunFacts()), records, cases, 0.9)
    assert (diagnosis.asked, diagnosis.wrong) == (5, 3)
    (one,) = diagnosis.links
    assert (one.link, one.count, one.share, one.questions) == (Link.NOT_RETRIEVED, 3, 0.6, ["q0", "q1", "q2"])
    assert one.interval == wilson(3, 5, 0.9)
    assert diagnosis.right_without_gold.questions == ["lucky"]


@pytest.mark.parametrize(
    ("name", "details", "text"),
    [
        ("faithfulness", {"claims": 2, "unsupported": ["Queens."]}, "1 of 2 claims unsupported: Queens."),
        (
            "factual_match",
            {"fuzzy_match": 0.0, "gptscore": 1.0, "needs_verification": True},
            "verify: fuzzy match says 0, the judge 1",
        ),
    ],
)
def test_what_is_worth_a_look_is_a_remark_and_no_link(name: str, details: dict[str, Any], text: str) -> None:
    """A right answer with unsupported claims, or on which judge and letters disagree, ended right."""
    score = MetricResult(name=name, group=MetricGroup.GENERATION, value=0.5, details=details)
    good, bad = record("g", id="good"), record("ab", id="bad", answer="Queens.")
    records = [one.model_copy(update={"scores": [score]}) for one in (good, bad)]
    cases = ScoringContext(ScoreSettings())
    findings = diagnose(records, cases, RunFacts())
    assert [(finding.link, finding.remarks) for finding in findings] == [(Link.NOT_RETRIEVED, (text,))]
    assert [remark.text for remark in remarks_on(records[0], cases.of(records[0]))] == [text]
    assert list(count_links(findings, records, cases).remarks.values()) == [["good", "bad"]]


@pytest.mark.parametrize(
    ("name", "details"),
    [
        ("faithfulness", {"claims": 2, "unsupported": 0.5}),
        ("faithfulness", {"unsupported": {"a": 1}}),
        ("factual_match", {"fuzzy_match": [], "gptscore": 1.0, "needs_verification": True}),
        ("factual_match", {"needs_verification": True}),
        ("gptscore", {"criteria": [1]}),
        ("gptscore", {"criteria": {"no_contradiction": []}}),
    ],
)
def test_details_of_another_type_than_ours_say_nothing(name: str, details: dict[str, Any]) -> None:
    """A saved run that somebody changed is shown all the same."""
    score = MetricResult(name=name, group=MetricGroup.GENERATION, value=0.5, details=details)
    changed = record("ab", answer="Queens.").model_copy(update={"scores": [score]})
    cases = ScoringContext(ScoreSettings())
    assert remarks_on(changed, cases.of(changed)) == []
    assert len(diagnose([changed], cases, RunFacts())) == 1


def _of_kind(question: EvalQuestion, kind: str) -> EvalQuestion:
    return question.model_copy(update={"metadata": {"kind": kind}})


def test_slices_come_worst_first_and_are_called_worse_with_regard_to_their_number() -> None:
    """One bad question of one is no finding; twelve of twelve are, and more slices ask for more."""

    def asked(value: str, count: int, answer: str) -> list[EvalRecord]:
        made = [record("ab" if answer != RIGHT else "g", id=f"{value}{n}", answer=answer) for n in range(count)]
        return [one.model_copy(update={"question": _of_kind(one.question, value)}) for one in made]

    records = [*asked("bad", 12, "Queens."), *asked("good", 40, RIGHT), *asked("rare", 1, "Queens.")]
    slices = wrong_by(found(*records), records, "kind")
    alone = [one.model_copy(update={"question": _of_kind(one.question, one.question.id)}) for one in records]
    assert not any(one.is_worse for one in wrong_by(found(*alone), alone, "kind"))  # one of one is no sign of anything
    assert [(one.value, one.wrong, one.asked, one.is_worse) for one in slices] == [
        ("bad", 12, 12, True),
        ("rare", 1, 1, False),
        ("good", 0, 40, False),
    ]
    assert slices[0].interval == wilson(12, 12, 1 - 0.05 / 3)
    assert slices[0].links == {Link.NOT_RETRIEVED: 12}


def run(**parts: Any) -> EvalRun:
    server = ServerRecord(url="http://h", profile="p", **parts.pop("server", {}))
    facts = {"name": "r", "created_at": "2026-01-01T00:00:00Z", "datasets": ["d"], "question_count": 1}
    return EvalRun(id="a", seed=1, concurrency=1, server=server, **facts, **parts)


@pytest.mark.parametrize(
    ("parts", "k"),
    [
        ({}, DEFAULT_K),
        ({"config": {"retrieval_top_k": 20}}, 20),
        ({"config": {"retrieval_top_k": None}}, DEFAULT_K),
        ({"server": {"snapshot_start": {"/metrics": {"retrieval_top_k": 20, "final_top_n": 5}}}}, 5),
        ({"eval_config": {"server": {"ask": {"json": {"top_k": 3}}}}, "config": {"retrieval_top_k": 20}}, 20),
        ({"eval_config": {"server": {"ask": {"json": {"top_k": 3}}}}}, 3),
    ],
)
def test_how_many_chunks_are_sent_on_is_read_where_the_run_says_it(parts: dict[str, Any], k: int) -> None:
    """By the server's configuration, or by what it was asked for; 10 where nobody says."""
    assert facts_of(run(**parts), []).k == k


def test_whether_a_server_cites_is_known_from_all_its_answers() -> None:
    """One citation anywhere is enough; empty lists are none."""
    assert facts_of(run(), [record("g"), record("g", cited=[1])]).cites
    assert not facts_of(run(), [record("g")]).cites


def test_a_list_of_documents_that_leaves_out_what_was_retrieved_says_nothing() -> None:
    """It may be the first page of a longer one."""
    lacking = {"server": {"missing_documents": ["a.md", "b.md"]}}
    assert facts_of(run(**lacking), []).missing == {"a", "b"}
    there = record("g", chunks=[RetrievedChunk(text="x", document_name="a.md")])
    assert facts_of(run(**lacking), [there]).missing == frozenset()
