"""`rag_judge`: one answer by one metric."""

from pathlib import Path
from typing import Any

import pytest

from evals import EvalConfig
from evals.errors import UnknownNameError
from evals.schemas import EvalQuestion, EvalResponse
from evals.testing import RagJudge

QUESTION = EvalQuestion(id="q", question="How long does it run?", expected_answer="It runs for 96 hours.")


@pytest.fixture
def config(messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvalConfig:
    """A judge that is an imitation of the Messages API."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script({"then": {"python": "judge"}})
    return EvalConfig(embedded=True, runs_dir=tmp_path, judge={"base_url": messages_api.url, "cache": False})


def test_an_answer_is_measured(config: EvalConfig) -> None:
    """By as many decisions as the metric needs, one after the other."""
    with RagJudge(config) as judge:
        result = judge.score("answer_correctness", QUESTION, EvalResponse(answer="It runs for 96 hours."))
        assert result.value == 1.0, result.reason
        assert result.judged_by


def test_an_answer_that_is_missing_has_a_reason(config: EvalConfig) -> None:
    """And asks nothing of the judge."""
    with RagJudge(config) as judge:
        result = judge.score(
            "answer_correctness", QUESTION.model_copy(update={"expected_answer": None}), EvalResponse()
        )
        assert result.value is None
        assert result.reason


def test_an_unknown_metric_is_answered_with_the_nearest(config: EvalConfig) -> None:
    """Before anything is asked."""
    with RagJudge(config) as judge, pytest.raises(UnknownNameError) as caught:
        judge.score("answer_corectness", QUESTION, EvalResponse(answer="96"))
    assert "did you mean 'answer_correctness'" in (caught.value.hint or "")


def test_a_judge_is_entered_before_it_judges(config: EvalConfig) -> None:
    """Else it would leave connections open."""
    judge = RagJudge(config)
    try:
        with pytest.raises(RuntimeError, match="enter the judge first"):
            judge.score("answer_correctness", QUESTION, EvalResponse(answer="96"))
    finally:
        with judge:
            pass
