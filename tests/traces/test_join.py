"""One exchange of the spans of a trace."""

import pytest

from evals.answers.spans import Documents, Span, SpanKind, join
from evals.schemas.response import RetrievedChunk, TokenUsage


def span(name: str, parent: str | None = "root", kind: SpanKind = SpanKind.OTHER, **about: object) -> Span:
    """A span of the trace t, whose id is its name."""
    return Span("t", name, parent, kind, name, **about)  # type: ignore[arg-type]


def texts(*words: str, unreadable: int = 0) -> Documents:
    """Documents of these texts."""
    return Documents(tuple(RetrievedChunk(text=word) for word in words), unreadable)


ROOT = span("root", None, input="How long?", output="96 hours", start=10.0, end=12.5)


def test_root_is_question_and_answer() -> None:
    """Its time is the latency."""
    exchange = join([ROOT])
    assert exchange is not None
    assert (exchange.id, exchange.question, exchange.response.answer) == ("t", "How long?", "96 hours")
    assert (exchange.response.latency_ms, exchange.response.chunks, exchange.time) == (2500.0, None, 10.0)


@pytest.mark.parametrize(
    ("steps", "chunks"),
    [
        ([("r", "root", SpanKind.RETRIEVER, ["a", "b"])], ["a", "b"]),
        ([("r", "root", SpanKind.RETRIEVER, ["a", "b"]), ("k", "root", SpanKind.RERANKER, ["b"])], ["b"]),
        ([("r", "root", SpanKind.RETRIEVER, ["a"]), ("q", "root", SpanKind.RETRIEVER, ["b", "a"])], ["a", "b"]),
        ([("r", "root", SpanKind.RETRIEVER, ["a"]), ("q", "r", SpanKind.RETRIEVER, ["a", "b", "c"])], ["a"]),
        ([("r", "root", SpanKind.RETRIEVER, [])], []),
    ],
    ids=["retriever", "reranker", "two retrievers", "nested retrievers", "nothing found"],
)
def test_chunks_are_of_the_last_reranker_or_the_topmost_retrievers(
    steps: list[tuple[str, str, SpanKind, list[str]]], chunks: list[str]
) -> None:
    """Each chunk once, in the order of time."""
    spans = [
        span(name, parent, kind, documents=texts(*found), start=10.0 + place, end=10.2 + place)
        for place, (name, parent, kind, found) in enumerate(steps)
    ]
    exchange = join([*reversed(spans), ROOT])
    assert exchange is not None
    assert [chunk.text for chunk in exchange.response.chunks or []] == chunks
    assert exchange.response.chunks is not None


def test_three_retrievals_are_three_stages() -> None:
    """With what each found and how long it took."""
    spans = [
        span(f"search {n}", "root", SpanKind.RETRIEVER, documents=texts(f"text {n}"), start=10.0 + n, end=10.25 + n)
        for n in range(3)
    ]
    response = join([ROOT, *spans]).response  # type: ignore[union-attr]
    assert response.stages == [{"name": f"search {n}", "items": [{"text": f"text {n}"}], "ms": 250.0} for n in range(3)]
    assert response.retrieval_latency_ms == 750.0


def test_a_document_that_cannot_be_read_leaves_the_chunks_unknown() -> None:
    """It may hold what the answer rests on: without it nothing is said of the chunks."""
    response = join([ROOT, span("r", "root", SpanKind.RETRIEVER, documents=texts("a", unreadable=1))]).response  # type: ignore[union-attr]
    assert response.chunks is None
    assert response.notes == ["server.map.chunks could not be read: 1 document without text and id"]
    assert response.could_not_read("chunks")


def test_retrievals_side_by_side_take_the_time_of_the_longest() -> None:
    """Together they are not twice as slow."""
    spans = [
        span(name, "root", SpanKind.RETRIEVER, documents=texts(name), start=10.0 + begin, end=10.2 + begin)
        for name, begin in (("one", 0.0), ("two", 0.1))
    ]
    response = join([ROOT, *spans]).response  # type: ignore[union-attr]
    assert response.retrieval_latency_ms == pytest.approx(300)


@pytest.mark.parametrize("end", [0.0, 9.0, 1e9])
def test_a_span_that_never_ended_has_no_latency(end: float) -> None:
    """Nor one that ends before it begins, or years later."""
    response = join([span("root", None, input="How long?", output="a", start=10.0, end=end)]).response  # type: ignore[union-attr]
    assert response.latency_ms is None


def test_a_long_chain_of_spans_is_walked() -> None:
    """However deep an agent calls itself."""
    chain = [span("0", "root"), *(span(str(n), str(n - 1)) for n in range(1, 3000))]
    usage = TokenUsage(prompt_tokens=1, completion_tokens=1)
    exchange = join([ROOT, *chain, span("last", "2999", SpanKind.LLM, usage=usage)])
    assert exchange is not None
    assert exchange.response.usage == usage


def test_tokens_of_all_models_are_summed_once() -> None:
    """A span above them that counts the sum again does not double it; the model is that of the last one."""
    usage = [TokenUsage(prompt_tokens=n, completion_tokens=1) for n in (10, 20, 30)]
    spans = [
        span("agent", "root", usage=usage[2]),
        span("rewrite", "agent", SpanKind.LLM, usage=usage[0], model="small", start=10.1),
        span("write", "agent", SpanKind.LLM, usage=usage[1], model="large", start=11.0, first_token_s=0.5),
    ]
    response = join([ROOT, *spans]).response  # type: ignore[union-attr]
    assert response.usage == TokenUsage(prompt_tokens=30, completion_tokens=2)
    assert (response.model, response.time_to_first_token_ms) == ("large", 1500.0)


def test_a_root_without_texts_takes_those_of_the_next_span() -> None:
    """The span of a web framework knows neither question nor answer; what a retriever was asked is no answer."""
    spans = [
        span("POST /query", None, start=10.0, end=13.0),
        span("chain", "POST /query", input="How long?", output="96 hours", start=10.1, end=12.9),
        span("search", "chain", SpanKind.RETRIEVER, input="long hours", documents=texts("a")),
    ]
    exchange = join(spans)
    assert exchange is not None
    assert (exchange.question, exchange.response.answer, exchange.response.latency_ms) == (
        "How long?",
        "96 hours",
        3000.0,
    )


def test_the_root_of_a_trace_that_the_client_began_names_a_parent_outside() -> None:
    """It is the one span above all others."""
    exchange = join([span("root", "of the client", input="How long?", output="96 hours"), span("step", "root")])
    assert exchange is not None
    assert exchange.question == "How long?"


@pytest.mark.parametrize(
    "spans",
    [
        [span("search", "missing", SpanKind.RETRIEVER, input="How long?")],
        [span("one", "missing", input="How long?"), span("two", "other", input="How long?")],
        [span("one", None, output="96 hours")],
        [span("one", "two"), span("two", "one")],
        [span("one", None, input="a"), span("two", None, input="b")],
    ],
    ids=["a retriever alone", "two pieces", "no question", "a circle", "two roots"],
)
def test_spans_without_a_root_with_a_question_make_no_exchange(spans: list[Span]) -> None:
    """What is left of a trace is not taken for a question with its answer."""
    assert join(spans) is None


def test_a_root_that_failed_is_a_failed_question() -> None:
    """Whatever text it returned is no answer."""
    response = join([span("root", None, input="How long?", output="Traceback", error="timed out")]).response  # type: ignore[union-attr]
    assert response.answer is None
    assert response.error is not None
    assert (response.error.kind, response.error.message) == ("not_ok", "timed out")


def test_a_span_that_was_exported_twice_counts_once() -> None:
    """The later one is more complete."""
    exchange = join([span("root", None, input="How long?"), ROOT])
    assert exchange is not None
    assert exchange.response.answer == "96 hours"


def test_feedback_is_collected_wherever_it_stands() -> None:
    """A score of the trace is below no span."""
    exchange = join([ROOT, span("score", "of t", feedback={"thumb": 1}), span("step", feedback={"stars": 4})])
    assert exchange is not None
    assert exchange.feedback == {"thumb": 1, "stars": 4}
