"""Which link of the chain broke first: cases written from the definitions, before the code."""

from typing import Any

import pytest

from evals.schemas import (
    Citation,
    EvalQuestion,
    EvalRecord,
    EvalResponse,
    GoldPassage,
    JudgeVerdict,
    MetricGroup,
    MetricResult,
    ResponseError,
    RetrievedChunk,
)
from evals.scoring.diagnosis import first_link
from evals.scoring.diagnosis.outcome import find_failure
from evals.scoring.diagnosis.stages import Link, RunFacts
from evals.scoring.settings import ScoreSettings, ScoringContext

RIGHT = "The notice period is 14 days."
OTHER = "The notice period is 30 days."
EVASIVE = "The notice period is laid down in the contract."
REFUSAL = "I don't have enough information to answer that."


def record(
    answer: str | None = RIGHT,
    found: str | None = "g",
    *,
    golds: str = "g",
    cited: list[int] | None = None,
    judge: str | None = None,
    expected: str | None = "14 days",
    question: str = "How long is the notice period?",
    answers: tuple[str, ...] = (),
    unanswerable: bool | None = False,
    documents: bool = False,
    contradicted: bool | None = None,
    error: ResponseError | None = None,
) -> EvalRecord:
    """A record: letters are ids, of the chunks retrieved in their order and of the golds wanted."""
    verdicts = []
    if judge is not None:
        reply = {"verdict": judge, "justification": "so it is", "quote": "", "injection_suspected": False}
        verdicts.append(JudgeVerdict(request="answer_correctness", reply=reply))
    if contradicted is not None:
        claim = {"id": 1, "verdict": "contradicted" if contradicted else "not_stated", "justification": "", "quote": ""}
        reply = {"answer_claims": [claim], "reference_claims": [], "injection_suspected": False}
        verdicts.append(JudgeVerdict(request="claims_compared", reply=reply))
    return EvalRecord(
        question=EvalQuestion(
            id="q",
            question=question,
            expected_answer=None if unanswerable else expected,
            answers=[] if unanswerable else list(answers),
            gold_passages=[
                GoldPassage(
                    text=f"The passage {name} says what is to be known here.",
                    chunk_id=name,
                    document_id=f"doc-{name}.md" if documents else None,
                )
                for name in golds
            ],
            is_unanswerable=unanswerable,
        ),
        response=EvalResponse(
            answer=answer,
            chunks=None
            if found is None
            else [RetrievedChunk(chunk_id=name, text=f"chunk {name} of the server") for name in found],
            citations=None if cited is None else [Citation(index=index) for index in cited],
            error=error,
        ),
        verdicts=verdicts,
    )


def link_of(one: EvalRecord, **facts: Any) -> Link | None:
    return first_link(one, ScoringContext(ScoreSettings(judged=bool(one.verdicts))), **facts)


TIMEOUT = ResponseError(kind="timeout", message="120 s")
LOST = record(None, None, error=TIMEOUT)
MISSING = {"missing": ["doc-g"]}
TEN_OTHERS = "abcdefijkl"
CASES: dict[str, tuple[EvalRecord, dict[str, Any], Link | None]] = {
    "no answer came": (LOST, {}, Link.TRANSPORT),
    "no answer came, and the corpus lacks the gold": (
        record(None, None, documents=True, error=TIMEOUT),
        MISSING,
        Link.TRANSPORT,
    ),
    "the corpus lacks the gold": (record(OTHER, "ab", documents=True), MISSING, Link.CORPUS),
    "abstained where the corpus lacks the gold": (record(REFUSAL, "ab", documents=True), MISSING, Link.CORPUS),
    "one of two golds is not in the corpus": (record(OTHER, "h", golds="gh", documents=True), MISSING, Link.CORPUS),
    "a document is missing, but its gold was found": (
        record(OTHER, "g", documents=True),
        MISSING,
        Link.CONTRADICTS_REFERENCE,
    ),
    "no gold among the chunks": (record(OTHER, "abc"), {}, Link.NOT_RETRIEVED),
    "none found at all": (record(OTHER, ""), {}, Link.NOT_RETRIEVED),
    "abstained without gold": (record(REFUSAL, "ab"), {}, Link.NOT_RETRIEVED),
    "partly correct without gold": (record("In days.", "ab", judge="partly_correct"), {}, Link.NOT_RETRIEVED),
    "the judge cannot tell, without gold": (record(OTHER, "ab", judge="cannot_tell"), {}, Link.NOT_RETRIEVED),
    "one of two golds, wrong": (record(OTHER, "ga", golds="gh"), {}, Link.PART_RETRIEVED),
    "one of two golds, right": (record(RIGHT, "ga", golds="gh"), {}, None),
    "one of two golds, abstained": (record(REFUSAL, "ga", golds="gh"), {}, Link.PART_RETRIEVED),
    "one gold missing, the other too low": (record(OTHER, "abg", golds="gh"), {"k": 2}, Link.PART_RETRIEVED),
    "gold at rank 11": (record(OTHER, f"{TEN_OTHERS}g"), {}, Link.BELOW_K),
    "gold at rank 10": (record(OTHER, f"{TEN_OTHERS[1:]}g"), {}, Link.CONTRADICTS_REFERENCE),
    "gold at rank 4 of 3 that are sent on": (record(REFUSAL, "abcg"), {"k": 3}, Link.BELOW_K),
    "gold at rank 11, and right all the same": (record(RIGHT, f"{TEN_OTHERS}g"), {}, None),
    "an unanswerable question answered": (
        record(RIGHT, "", golds="", unanswerable=True),
        {},
        Link.SHOULD_HAVE_ABSTAINED,
    ),
    "an unanswerable question with a passage": (
        record(RIGHT, "a", golds="g", unanswerable=True),
        {},
        Link.SHOULD_HAVE_ABSTAINED,
    ),
    "an unanswerable question declined": (record(REFUSAL, "", golds="", unanswerable=True), {"cites": True}, None),
    "abstained beside the gold": (record(REFUSAL, "ag"), {}, Link.WRONG_ABSTENTION),
    "abstained, and no chunks were sent": (record(REFUSAL, None), {}, Link.WRONG_ABSTENTION),
    "another value, says the judge": (record(OTHER, judge="incorrect"), {}, Link.CONTRADICTS_REFERENCE),
    "another value, without a judge": (record(OTHER), {}, Link.CONTRADICTS_REFERENCE),
    "another value, and no chunks were sent": (record(OTHER, None), {}, Link.CONTRADICTS_REFERENCE),
    "other words, without a judge": (record("It lasts a fortnight."), {}, Link.NO_MATCH_BY_WORDS),
    "other words in the place of it, without a judge": (
        record("The colour is green.", expected="blue", question="What colour is it?"),
        {},
        Link.NO_MATCH_BY_WORDS,
    ),
    "other words in the place of it, says the judge": (
        record("The colour is green.", expected="blue", question="What colour is it?", judge="incorrect"),
        {},
        Link.CONTRADICTS_REFERENCE,
    ),
    "another unit, without a judge": (record("It is 14 euros.", expected="14 dollars"), {}, Link.NO_MATCH_BY_WORDS),
    "a part of it, without a judge": (record("Anna Berg", expected="Anna Berg, Tom Hill"), {}, Link.NO_MATCH_BY_WORDS),
    "a part of it, says the judge": (
        record("Anna Berg", expected="Anna Berg, Tom Hill", judge="partly_correct"),
        {},
        Link.UNUSED,
    ),
    "another negation, without a judge": (
        record("The limit is 50.", expected="no limit", question="How many calls may I make?"),
        {},
        Link.NO_MATCH_BY_WORDS,
    ),
    "the other of yes and no, without a judge": (
        record("No.", expected="Yes", question="Is there a limit?"),
        {},
        Link.CONTRADICTS_REFERENCE,
    ),
    "evasive, says the judge": (record(EVASIVE, judge="incorrect"), {}, Link.UNUSED),
    "evasive, without a judge": (record(EVASIVE), {}, Link.UNUSED),
    "evasive, with a wrong citation": (record(EVASIVE, "ga", cited=[2]), {}, Link.UNUSED),
    "a claim that the judge finds contradicted": (
        record(EVASIVE, judge="incorrect", contradicted=True),
        {},
        Link.CONTRADICTS_REFERENCE,
    ),
    "incomplete beside the gold": (record("It is counted in days.", judge="partly_correct"), {}, Link.UNUSED),
    "right, and cites another chunk": (record(RIGHT, "ga", cited=[2]), {}, Link.WRONG_CITATION),
    "right, and cites what is not there": (record(RIGHT, "ga", cited=[7]), {}, Link.WRONG_CITATION),
    "right, and cites nothing where the server cites": (
        record(RIGHT, "ga", cited=[]),
        {"cites": True},
        Link.WRONG_CITATION,
    ),
    "right, and says nothing of citations where the server cites": (
        record(RIGHT, "ga"),
        {"cites": True},
        Link.WRONG_CITATION,
    ),
    "right, and the server never cites": (record(RIGHT, "ga"), {}, None),
    "wrong by its words, cites nothing, and no chunks were sent": (
        record("Bananas are yellow.", None),
        {"cites": True},
        Link.NO_MATCH_BY_WORDS,
    ),
    "cites wrongly, and the judge cannot tell whether it is right": (
        record(OTHER, "ga", cited=[2], judge="cannot_tell"),
        {},
        Link.JUDGE_COULD_NOT_TELL,
    ),
    "right, cites, and no chunks were sent": (record(RIGHT, None, cited=[2]), {"cites": True}, None),
    "right, cites the gold": (record(RIGHT, "ga", cited=[1]), {"cites": True}, None),
    "partly correct, and no chunks were sent": (
        record("It is counted in days.", None, judge="partly_correct"),
        {},
        Link.PARTLY_CORRECT,
    ),
    "the judge cannot tell": (record(OTHER, judge="cannot_tell"), {}, Link.JUDGE_COULD_NOT_TELL),
    "right, without gold": (record(RIGHT, "ab"), {}, Link.RIGHT_WITHOUT_GOLD),
    "right, and nothing was retrieved": (record(RIGHT, ""), {"cites": True}, Link.RIGHT_WITHOUT_GOLD),
    "right, says the judge, in other words": (record("Two weeks.", judge="correct"), {}, None),
    "nothing is known of it": (
        record(RIGHT, "ab", golds="", expected=None, unanswerable=None),
        {},
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_broken_link_is_named(name: str) -> None:
    """What went wrong first, and nothing where nothing did."""
    one, facts, link = CASES[name]
    assert link_of(one, **facts) is link


def test_without_a_judge_the_label_and_the_sentence_say_that_words_were_compared() -> None:
    """Nothing is known but that the words do not match."""
    one = record("Bananas are yellow.", None)
    failure = find_failure(one, ScoringContext(ScoreSettings()), RunFacts())
    assert failure == (Link.NO_MATCH_BY_WORDS, "does not match the reference, by its words")
    assert failure[0].label == "has too few words of the reference"


def test_a_question_that_was_not_asked_has_no_link() -> None:
    """Nobody knows how it would have ended."""
    assert first_link(EvalRecord(question=EvalQuestion(question="Who?")), ScoringContext(ScoreSettings())) is None


def test_the_verdict_may_stand_in_the_scores_alone() -> None:
    """A run whose records hold the judge's label, and not its reply, reads the same."""
    score = MetricResult(
        name="answer_correctness",
        group=MetricGroup.GENERATION,
        value=0.0,
        details={"verdict": "incorrect", "justification": "it evades"},
    )
    assert link_of(record(EVASIVE).model_copy(update={"scores": [score]})) is Link.UNUSED


def test_gold_is_found_by_its_text_in_a_document_of_another_name() -> None:
    """What counts is what the run's matching recognises, not the name of the document."""
    text = "Either side may end the contract in writing with a notice period of 14 days to the end of a month."
    one = record(OTHER)
    question = one.question.model_copy(update={"gold_passages": [GoldPassage(text=text, document_id="contract.md")]})
    response = one.response.model_copy(update={"chunks": [RetrievedChunk(text=text, document_id="0b1c")]})  # type: ignore[union-attr]
    changed = one.model_copy(update={"question": question, "response": response})
    assert link_of(changed, missing=["contract.md"]) is Link.CONTRADICTS_REFERENCE


def test_chunks_that_cannot_be_recognised_blame_nobody() -> None:
    """Where chunks carry neither text nor a name, nobody knows what was retrieved."""
    one = record(OTHER)
    blind = one.response.model_copy(update={"chunks": [RetrievedChunk(score=1.0)]})  # type: ignore[union-attr]
    assert link_of(one.model_copy(update={"response": blind})) is Link.CONTRADICTS_REFERENCE
