"""What a whole run says about matching reaches every number, and a reader hears of it."""

from collections.abc import Callable, Sequence

import pytest
from whole_runs import run_to_conclude

from evals.config import EvalConfig
from evals.metrics.registry import select
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, GoldPassage, RetrievedChunk
from evals.scoring.conclusion import Scorer
from evals.scoring.diagnosis import diagnose
from evals.scoring.diagnosis.stages import RunFacts
from evals.scoring.scorecard import by_threshold
from evals.scoring.settings import ScoreSettings, ScoringContext

METRICS = select([], ["precision_at_2", "recall_at_2"])
IGNORED = (
    "matching: document names are ignored: of the golds found by text, less than 50% are in a document with "
    "the gold's name"
)
Conclude = Callable[..., tuple[EvalRun, list[EvalRecord]]]


def clause(number: int) -> str:
    return f"clause {number}: " + " ".join(f"c{number}w{word}" for word in range(30))


def records(gold: str | None, *documents: str) -> list[EvalRecord]:
    """Four questions about clauses of one document, which stand in the documents retrieved."""
    return [
        EvalRecord(
            question=EvalQuestion(
                id=f"q{number}",
                question=f"What says {number}?",
                gold_passages=[GoldPassage(text=clause(number), document_id=gold)],
            ),
            response=EvalResponse(
                answer="It is so.",
                chunks=[RetrievedChunk(document_id=name, text=f"{clause(number)} {name}") for name in documents],
            ),
        )
        for number in range(4)
    ]


@pytest.fixture
def concluded() -> Conclude:
    """Score records, as at the end of a run."""

    def make(
        asked: Sequence[EvalRecord], *, notes: Sequence[str] = (), **match: object
    ) -> tuple[EvalRun, list[EvalRecord]]:
        run = run_to_conclude(len(asked)).model_copy(update={"notes": list(notes)})
        config = EvalConfig.build({"match": match})
        conclusion = Scorer(run, METRICS, ScoringContext(ScoreSettings(match=config.match)).within(asked), config)
        scored = list(conclusion.scored(asked))
        return conclusion.concluded(scored), scored

    return make


def values(run: EvalRun) -> list[float | None]:
    return [summary.value for summary in run.scorecard.metrics]


def test_hits_in_other_documents_are_not_counted_and_the_run_says_so(concluded: Conclude) -> None:
    """With how many they were."""
    run, scored = concluded(records("policy-2024", "policy-2023.pdf", "policy-2024.pdf"))
    assert values(run) == [0.5, 1.0]
    assert run.notes == [
        "matching: documents of chunks and gold are comparable: hits in other documents are not counted (4)"
    ]
    assert {score.details["other_documents"] for record in scored for score in record.scores} == {1}
    counted, _ = concluded(records("policy-2024", "policy-2023.pdf", "policy-2024.pdf"), count_other_documents=True)
    assert (values(counted), counted.notes) == ([1.0, 1.0], [])


def test_names_of_another_kind_are_ignored_and_the_run_says_so(concluded: Conclude) -> None:
    """The server's own ids say nothing of the documents that the questions name."""
    run, _ = concluded(records("policy-2024", "5f1c", "a9d3"))
    assert (values(run), run.notes) == ([1.0, 1.0], [IGNORED])


@pytest.mark.parametrize("asked", [records("policy-2024", "policy-2024.pdf"), records(None, "5f1c")])
def test_nothing_is_said_where_names_make_no_difference(concluded: Conclude, asked: list[EvalRecord]) -> None:
    """All hits in their own documents, or golds that name none."""
    assert concluded(asked)[0].notes == []


def test_a_note_of_before_gives_way_and_others_stay(concluded: Conclude) -> None:
    """A run that is resumed, or measured again, holds what is true of it now."""
    run, _ = concluded(records("policy-2024", "5f1c"), notes=["the server's configuration changed", "matching: old"])
    assert run.notes == ["the server's configuration changed", IGNORED]


def test_what_is_shown_of_a_run_is_matched_as_it_was_scored(concluded: Conclude) -> None:
    """Failures and the dependence on thresholds look at all the records too."""
    asked = [*records("policy-2024", "policy-2024.pdf"), *records("policy-2024", "policy-2023.pdf")[:1]]
    wrong = {"id": "wrong", "expected_answer": "It is otherwise."}
    asked[-1] = asked[-1].model_copy(update={"question": asked[-1].question.model_copy(update=wrong)})
    run, scored = concluded(asked)
    assert values(run) == pytest.approx([0.4, 0.8])
    cases = ScoringContext(ScoreSettings()).within(scored)
    (finding,) = diagnose(scored, cases, RunFacts())
    assert (finding.record.question.id, finding.hit_ranks) == ("wrong", ())
    (row,) = by_threshold(scored, METRICS, cases.settings, [0.7])
    assert [summary.value for summary in row.summaries] == values(run)
