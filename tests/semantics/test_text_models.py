"""Records of a run scored with models that compare texts."""

from typing import Any

import pytest
from whole_runs import scored

from evals.metrics.embedders import Semantics
from evals.metrics.semantic import BertScoreF1, SemanticSimilarityPercentage, SentenceCoverage
from evals.metrics.squad import SquadEM
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, ResponseError
from evals.scoring.settings import ScoreSettings

QUESTION = EvalQuestion(question="Why?", expected_answer="It is 1 then.", is_unanswerable=False)
ANSWERED = EvalRecord(question=QUESTION, response=EvalResponse(answer="It is 1 then."))


def test_a_failed_question_is_not_compared(embedder: Any, scorer: Any) -> None:
    """A model is asked about answers alone."""
    failed = EvalResponse(error=ResponseError(kind="timeout", message="slow"))
    records = [EvalRecord(question=QUESTION, response=failed), EvalRecord(question=QUESTION), ANSWERED]
    metrics = [SemanticSimilarityPercentage(), BertScoreF1()]
    *_, last = scored(metrics, records, ScoreSettings(semantics=Semantics(embedder, scorer)))
    assert (len(embedder.calls), len(scorer.calls)) == (1, 1)
    assert [score.value for score in last.scores] == [pytest.approx(100.0)] * 2


@pytest.mark.parametrize("error", [RuntimeError("out of memory\ndetails"), MemoryError(), OSError("gone")], ids=repr)
def test_a_model_that_fails_costs_only_its_metrics(
    embedder: Any, scorer: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Everything is answered and paid for by then: its metrics say what failed, and the others are measured."""

    def fail(_pairs: object) -> list[float]:
        raise error

    monkeypatch.setattr(scorer, "f1", fail)
    metrics = [SentenceCoverage(), SemanticSimilarityPercentage(), SquadEM()]
    (record,) = scored(metrics, [ANSWERED], ScoreSettings(semantics=Semantics(embedder, scorer)))
    lost, compared, exact = record.scores
    assert (lost.value, lost.missing) == (None, "fault")
    assert type(error).__name__ in (lost.reason or "")
    assert (compared.value, exact.value) == (pytest.approx(100.0), 1.0)
