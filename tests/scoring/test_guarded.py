"""A metric that raises, or gives no finite number, costs one value."""

from collections.abc import Callable
from typing import ClassVar

import pytest
from whole_runs import score_records

from evals.errors import ConfigError
from evals.metrics import BaseMetric
from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, MetricCounts, MetricGroup, MetricResult
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings, ScoringContext


class _Odd(BaseMetric):
    """Does with an answer what the test says."""

    name = "odd"
    group = MetricGroup.GENERATION
    higher_is_better = True
    ways: ClassVar[dict[str, Callable[[], float]]] = {
        "divide": lambda: 1 / 0,
        "overflow": lambda: 1e308 * 10,
        "nan": lambda: float("nan"),
        "recurse": lambda: _endless(0),
        "right": lambda: 1.0,
    }

    def measure(self, case: Sample) -> MetricResult:
        return self.result(self.ways[case.response.answer or ""]())


def _endless(depth: int) -> float:
    return _endless(depth + 1)


def _record(answer: str) -> EvalRecord:
    return EvalRecord(question=EvalQuestion(question=answer), response=EvalResponse(answer=answer))


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("divide", "ZeroDivisionError"),
        ("overflow", "ValidationError"),
        ("nan", "ValidationError"),
        ("recurse", "Recursion"),
    ],
)
def test_a_metric_that_raises_loses_that_record_alone(way: str, said: str) -> None:
    """The others have their values, and the counts say whose fault it was."""
    settings = ScoreSettings()
    first, second = score_records([_Odd()], [_record(way), _record("right")], ScoringContext(settings))
    assert (first.scores[0].value, first.scores[0].missing, second.scores[0].value) == (None, "fault", 1.0)
    assert first.scores[0].reason is not None
    assert first.scores[0].reason.startswith(f"a fault of the metric odd: {said}")
    (summary,) = make_scorecard([_Odd()], [first, second], settings).metrics
    assert (summary.value, summary.counts.scored, summary.counts.fault) == (1.0, 1, 1)


def test_what_a_user_can_mend_is_told_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error with a message of its own ends the scoring, as before."""

    def refuse() -> float:
        raise ConfigError("no such model")

    monkeypatch.setitem(_Odd.ways, "right", refuse)
    with pytest.raises(ConfigError, match="no such model"):
        score_records([_Odd()], [_record("right")], ScoringContext(ScoreSettings()))


def test_a_file_names_faults_only_where_there_are_some() -> None:
    """Runs without them are written as they were."""
    assert "fault" not in MetricCounts(scored=1).model_dump()
    assert MetricCounts(fault=2).model_dump()["fault"] == 2
