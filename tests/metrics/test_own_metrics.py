"""A metric of one's own: the two ways to write one."""

from collections.abc import Callable

import pytest

from evals.metrics import BaseMetric, Sample
from evals.schemas import EvalQuestion, EvalResponse, MetricGroup, MetricResult, ResponseError


class Brevity(BaseMetric):
    """Whether the answer is short; written against question and response alone."""

    name = "brevity"
    group = MetricGroup.GENERATION

    def compute(self, question: EvalQuestion, response: EvalResponse) -> MetricResult:  # type: ignore[override]
        return self.result(len(response.answer or "") < 2 * len(question.question))


def test_it_is_enough_to_implement_compute(make_case: Callable[..., Sample]) -> None:
    """A run measures it as any other metric, and a failure of transport is no value."""
    assert Brevity().score(make_case(answer="Yes.")).value == 1
    assert Brevity().score(make_case(answer="Yes. " * 99)).value == 0
    error = ResponseError(kind="timeout", message="late")
    assert Brevity().score(make_case(error=error)).missing == "transport"
    pairs = [(EvalQuestion(question="Is it?"), EvalResponse(answer="Yes."))]
    assert [result.value for result in Brevity().compute_batch(pairs)] == [1]


def test_a_metric_that_implements_neither_cannot_be_made() -> None:
    """The mistake shows where it is made, and names what is missing."""
    nothing = type("Nothing", (BaseMetric,), {"name": "nothing", "group": MetricGroup.GENERATION})
    with pytest.raises(TypeError, match="measure"):
        nothing()
