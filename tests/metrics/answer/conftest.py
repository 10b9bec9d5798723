"""What the tests of the answer metrics share: a question, an answer, and the metric by its name."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.golden import GoldenLoader
from evals.metrics import parse_metric
from evals.schemas import EvalQuestion, EvalResponse, MetricResult

Score = Callable[..., MetricResult]


@pytest.fixture(scope="session")
def score() -> Score:
    """Measure an answer by a metric's name; keywords are fields of the question."""

    def result(name: str, answer: str | None, **question: Any) -> MetricResult:
        asked = EvalQuestion(**({"question": "What is it?"} | question))
        return parse_metric(name).compute(asked, EvalResponse(answer=answer))

    return result


@pytest.fixture(scope="session")
def golden() -> dict[str, EvalQuestion]:
    """The questions of the golden set, by id."""
    return {question.id: question for question in GoldenLoader().load(LoadOptions(samples=None)).questions}


@pytest.fixture(scope="session")
def score_golden(golden: dict[str, EvalQuestion]) -> Score:
    """Measure an answer to a question of the golden set."""

    def result(name: str, question_id: str, answer: str) -> MetricResult:
        return parse_metric(name).compute(golden[question_id], EvalResponse(answer=answer))

    return result
