"""What the tests of the metrics share: a question with gold, a response, and a metric between them."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evals.metrics import BaseMetric, Case, MatchSettings
from evals.metrics.matching import Matches, Rule, match
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, MetricResult, RetrievedChunk

MakeCase = Callable[..., Case]
Measure = Callable[..., MetricResult]


@pytest.fixture(scope="session")
def make_case() -> MakeCase:
    """Build a record; whatever is not one of the named arguments is a field of the response."""

    def make(
        golds: Sequence[GoldPassage] = (),
        *,
        question: str = "What is covered?",
        is_unanswerable: bool | None = None,
        rule: Rule = "auto",
        base: int = 1,
        **response: Any,
    ) -> Case:
        return Case(
            EvalQuestion(question=question, gold_passages=list(golds), is_unanswerable=is_unanswerable),
            EvalResponse(**({"answer": "Burst pipes are covered."} | response)),
            settings=MatchSettings(rule=rule),
            citation_base=base,
        )

    return make


@pytest.fixture(scope="session")
def measure(make_case: MakeCase) -> Measure:
    """Measure one record that `make_case` builds."""

    def result(metric: BaseMetric, golds: Sequence[GoldPassage] = (), **record: Any) -> MetricResult:
        return metric.score(make_case(golds, **record))

    return result


@pytest.fixture(scope="session")
def recognised() -> Callable[..., Matches]:
    """Match one gold with chunks, each given as its text or whole."""

    def matches(gold: GoldPassage | str, *chunks: RetrievedChunk | str, **settings: Any) -> Matches:
        return match(
            [RetrievedChunk(text=chunk) if isinstance(chunk, str) else chunk for chunk in chunks],
            [GoldPassage(text=gold) if isinstance(gold, str) else gold],
            MatchSettings(**settings),
        )

    return matches


@pytest.fixture(scope="session")
def rule_of(recognised: Callable[..., Matches]) -> Callable[..., str | None]:
    """The rule by which one chunk is recognised as the gold; None where it is not."""

    def rule(gold: GoldPassage | str, chunk: RetrievedChunk | str, **settings: Any) -> str | None:
        return recognised(gold, chunk, **settings).found.get(0, (0, None))[1]

    return rule
