"""How a question ended, and what went wrong first."""

from typing import Any

import pytest
from whole_runs import scored

from evals.metrics.registry import select
from evals.schemas import Citation, EvalQuestion, EvalRecord, EvalResponse, GoldPassage, ResponseError, RetrievedChunk
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.outcomes import Outcome, count_outcomes, ending_of, right_by_words, wrong_headline
from evals.scoring.results import Results
from evals.scoring.settings import ScoreSettings

GOLD = "The standard deductible for water damage is $750 per claim."
OTHER = "Parking permits are sold on the second floor."
REFUSAL = "I could not find this in the documents."


def record(answer: str | None = None, *, chunks: list[str] | None = None, **about: Any) -> EvalRecord:
    """A question about the deductible, answered in some way."""
    citations = about.pop("citations", None)
    error = about.pop("error", None)
    question = EvalQuestion(
        id=about.pop("id", "q1"),
        question="What is the deductible for water damage?",
        expected_answer=about.pop("expected", "$750 per claim"),
        gold_passages=about.pop("golds", [GoldPassage(text=GOLD)]),
        is_unanswerable=about.pop("is_unanswerable", False),
    )
    response = EvalResponse(
        answer=answer,
        error=error,
        chunks=None
        if chunks is None
        else [RetrievedChunk(chunk_id=str(n), text=text) for n, text in enumerate(chunks, 1)],
        citations=None if citations is None else [Citation(chunk_id=str(one)) for one in citations],
        attempts=about.pop("attempts", 1),
    )
    return EvalRecord(question=question, response=response, **about)


def by_judge(label: str) -> list[JudgeVerdict]:
    """The judge's word on whether the answer is correct."""
    return [JudgeVerdict(request="answer_correctness", reply={"verdict": label, "justification": "so"})]


UNANSWERABLE: dict[str, Any] = {"is_unanswerable": True, "golds": [], "expected": None}


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (record("It is $750 per claim.", chunks=[GOLD]), "right"),
        (record("It is seven hundred.", chunks=[GOLD]), "differs"),
        (record("It is seven hundred.", chunks=[OTHER]), "not_retrieved"),
        (record(REFUSAL, chunks=[OTHER]), "not_retrieved"),
        (record(REFUSAL, chunks=[GOLD]), "declined"),
        (record(REFUSAL, chunks=[""]), "declined"),  # whether chunks without text hold gold is unknown
        (record(REFUSAL), "declined"),
        (record("It is $750 per claim.", chunks=[OTHER]), "right"),  # an answer that is right needs no gold
        (record("It is $750 per claim.", chunks=[OTHER, GOLD], citations=[1]), "cited_wrongly"),
        (record("It is $750 per claim.", chunks=[OTHER, GOLD], citations=[]), "cited_wrongly"),
        (record("It is $750 per claim.", chunks=[OTHER, GOLD], citations=[2]), "right"),
        (record(error=ResponseError(kind="timeout", message="60 s"), attempts=3), "failed"),
        (record(None), "failed"),
        (record(None, chunks=[GOLD]), "right"),  # a retriever alone
        (record(None, chunks=[OTHER]), "not_retrieved"),
        (record(REFUSAL, **UNANSWERABLE), "right"),
        (record("It is $750.", **UNANSWERABLE), "answered_unanswerable"),
        (record("It is blue.", golds=[], expected=None), "unknown"),
    ],
)
def test_a_question_ends_as_the_table_says_without_a_judge(given: EvalRecord, outcome: str) -> None:
    """The first that applies, in the order of the pipeline."""
    (done,) = scored(select(["core", "qa"], []), [given])
    assert ending_of(ScoreSettings().sample_of(done), done.scores).outcome == outcome


@pytest.mark.parametrize(
    ("label", "chunks", "outcome"),
    [
        ("incorrect", [GOLD], "not_used"),
        ("incorrect", [OTHER], "not_retrieved"),
        ("incorrect", None, "wrong"),
        ("partly_correct", [GOLD], "not_used"),
        ("correct", [OTHER], "right"),
        ("correct", [GOLD], "right"),
    ],
)
def test_with_a_judge_its_word_decides_and_not_the_words(label: str, chunks: list[str] | None, outcome: str) -> None:
    """An answer of other words that the judge calls correct is right."""
    settings = ScoreSettings(judged=True)
    given = record("As much as a bicycle.", chunks=chunks, verdicts=by_judge(label))
    (done,) = scored(select(["core"], []), [given], settings)
    assert ending_of(settings.sample_of(done), done.scores).outcome == outcome


def test_a_question_that_was_not_asked_is_no_failure() -> None:
    """It is left for a resumed run."""
    given = EvalRecord(question=EvalQuestion(question="?"))
    assert ending_of(ScoreSettings().sample_of(given), [], asked=False).outcome == "not_asked"


@pytest.mark.parametrize(
    ("answer", "expected", "is_right"),
    [
        ("Paid is $750 for each.", "$750 per claim", True),  # the numbers are in it
        ("Paid is $75 for each.", "$750 per claim", False),
        (
            "Frozen pipes are covered when the heating was on.",
            "Only if heating stayed on, frozen pipes are covered.",
            True,
        ),
        ("Everything is covered.", "Only if heating stayed on, frozen pipes are covered.", False),
        ("Whatever.", None, None),
        ("An egg.", "Ei", False),
    ],
)
def test_words_call_an_answer_right_by_its_reference_numbers_or_half_of_its_content(
    answer: str, expected: str | None, is_right: bool | None
) -> None:
    """Words of the question do not count; without a reference nothing is said."""
    assert right_by_words(ScoreSettings().sample_of(record(answer, expected=expected))) is is_right


def test_the_sentence_says_why_with_the_rank_of_the_gold() -> None:
    """What the detail of a question shows."""
    (done,) = scored(select(["core"], []), [record(REFUSAL, chunks=[OTHER, GOLD])])
    assert ending_of(ScoreSettings().sample_of(done), done.scores).why == "declined, with gold at rank 2"
    (done,) = scored(select(["core"], []), [record(REFUSAL, chunks=[OTHER])])
    assert (
        ending_of(ScoreSettings().sample_of(done), done.scores).why == "declined: the gold passage is not among 1 chunk"
    )


def test_the_headline_keeps_answers_that_differ_in_words_apart_from_failures() -> None:
    """Without a judge some of them are right."""
    results = Results()
    endings = [Outcome.RIGHT] * 5 + [Outcome.DIFFERS] * 2 + [Outcome.FAILED, Outcome.DECLINED, Outcome.NOT_ASKED]
    for number, outcome in enumerate(endings):
        results.add(EvalQuestion(id=f"q{number}", question="?"), [], list(Outcome).index(outcome))
    said = "2 of 9 questions went wrong, 2 more differ in words (no judge)"
    count = len(results.ids)
    assert wrong_headline(results, count) == said
    lost = f"; 2 of {count + 2} records were lost, and nothing is known of it"
    assert wrong_headline(results, count + 2) == said + lost
    assert [(count.outcome, count.rows) for count in count_outcomes(results)] == [
        (Outcome.FAILED, [7]),
        (Outcome.DECLINED, [8]),
        (Outcome.DIFFERS, [5, 6]),
    ]
