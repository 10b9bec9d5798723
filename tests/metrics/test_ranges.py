"""No metric ever leaves the range that it declares: intervals rely on it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import select
from evals.metrics.embedders import Semantics
from evals.metrics.sample import Sample
from evals.schemas import Citation, EvalQuestion, EvalResponse, GoldPassage, KeySentence, RetrievedChunk, TokenUsage
from evals.schemas.dataset import Fact, FactsCheck, ListCheck, ListItem

WORDS = ("pipes", "burst", "10,000", "euros", "not", "covered", "I don't know", "[1]", "Paris", "3 days", ".", "the")
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
ids = st.sampled_from(["a", "b", "c", None])
chunks = st.builds(RetrievedChunk, chunk_id=ids, document_id=ids, section=ids, text=st.one_of(texts, st.none()))
golds = st.builds(
    GoldPassage,
    text=texts,
    chunk_id=ids,
    document_id=st.sampled_from(["a", "b"]),
    section=ids,
    relevance=st.sampled_from([0.5, 1.0, 3.0]),
)
questions = st.builds(
    EvalQuestion,
    id=st.just("q"),
    question=st.just("Which pipes are covered?"),
    expected_answer=st.one_of(texts.filter(bool), st.none()),
    answers=st.lists(texts.filter(bool), max_size=2),
    gold_passages=st.lists(golds, max_size=4),
    key_sentences=st.lists(st.builds(KeySentence, text=texts.filter(bool), source=st.just("gold")), max_size=2),
    is_unanswerable=st.sampled_from([True, False, None]),
    checks=st.just(
        [
            ListCheck(kind="list", name="causes", items=[ListItem(name="pipes", any=["pipes"])]),
            FactsCheck(kind="facts", facts=[Fact(name="limit", numbers=["10,000"])]),
        ]
    ),
)
responses = st.builds(
    EvalResponse,
    answer=st.one_of(texts, st.none()),
    chunks=st.one_of(st.lists(chunks, max_size=8), st.none()),
    citations=st.one_of(st.lists(st.builds(Citation, index=st.integers(0, 9)), max_size=4), st.none()),
    usage=st.builds(TokenUsage, prompt_tokens=st.integers(0, 99), completion_tokens=st.integers(0, 99)),
    latency_ms=st.floats(0, 1e6),
)


class Opposed:
    """Compares texts by directions that may be opposed to each other."""

    name = "opposed"

    def embed(self, given: list[str]) -> list[list[float]]:
        return [[1.0 if len(text) % 2 else -1.0, len(text) % 7 / 10] for text in given]

    def f1(self, pairs: list[tuple[str, str]]) -> list[float]:
        return [len(candidate) % 11 / 10 for candidate, _ in pairs]


METRICS = select(["all"], [])


@pytest.mark.slow
@settings(derandomize=True, max_examples=80)
@given(question=questions, response=responses)
def test_every_value_lies_in_the_range_of_its_metric(question: EvalQuestion, response: EvalResponse) -> None:
    """Whatever is asked and answered; what only a judge can tell has no value here."""
    case = Sample(question, response, semantics=Semantics(Opposed(), Opposed()))  # type: ignore[arg-type]
    for metric in METRICS:
        value = metric.score(case).value
        if value is not None:
            assert metric.low is None or value >= metric.low, metric.name
            assert metric.high is None or value <= metric.high, metric.name
