"""What holds of every metric: failures give no value, every value has its place, and what it lacks is its reason."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.records import record, score, verdicts_on

from evals.judges.llm_judge import repeats_of
from evals.judges.prompts import load_prompt, typical_reply
from evals.metrics import Aggregation, BaseMetric, Need, Sample, parse_metric, select
from evals.metrics.embedders import Semantics
from evals.metrics.judged import rounds
from evals.schemas import (
    Citation,
    EvalQuestion,
    EvalResponse,
    GoldPassage,
    JudgeVerdict,
    KeySentence,
    MetricGroup,
    ResponseError,
    RetrievedChunk,
    TokenUsage,
)
from evals.schemas.dataset import CalculationCheck, Fact, FactsCheck, ListCheck, ListItem
from evals.schemas.response import ErrorKind

ALL = select(["all"], [])
GOLD = GoldPassage(text="burst pipes are covered", chunk_id="c1", document_id="guide", section="Water")
FULL: dict[str, Any] = {
    "chunks": [RetrievedChunk(chunk_id="c1", document_id="guide", section="Water", text=GOLD.text)],
    "citations": [Citation(index=1)],
    "usage": TokenUsage(prompt_tokens=10, completion_tokens=5),
    "model": "m1",
    "latency_ms": 20.0,
    "time_to_first_token_ms": 8.0,
    "time_to_last_token_ms": 18.0,
}
LIMIT = Fact(name="limit", numbers=["10,000"])
CHECKS = [
    ListCheck(kind="list", name="causes", items=[ListItem(name="pipes", any=["burst pipes"])]),
    FactsCheck(kind="facts", facts=[Fact(name="pipes", any=["pipes"]), LIMIT]),
    CalculationCheck(kind="calculation", facts=[LIMIT], answer="limit"),
]
QUESTION: dict[str, Any] = {
    "expected_answer": "Burst pipes are covered up to 10,000 euros.",
    "gold_passages": [GOLD],
    "key_sentences": [KeySentence(text="Burst pipes are covered.", source="gold")],
    "is_unanswerable": False,
    "rubric": ["names what is covered"],
    "checks": CHECKS,
}
ANSWER = '"Burst pipes are covered" [1]. The limit is 9,000 euros.'
WITHOUT_VALUE = {"abstention_false_negative_rate", "cost_per_query"}
"""Of an answerable question, of a model that nobody has a price for."""
MADE_OF_OTHERS = {"ragas_score"}
"""A mean over those of its parts that have a value."""
TOOLS = {Need.JUDGE, Need.EMBEDDER, Need.TEXT_SCORER}
every_metric = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)


class _Lengths:
    """Compares texts without a model: by directions that may be opposed to each other, and numbers up to 1."""

    name = "lengths"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0 if len(text) % 2 else -1.0, len(text) % 7 / 10] for text in texts]

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [len(candidate) % 11 / 10 for candidate, _ in pairs]


SEMANTICS = Semantics(_Lengths(), _Lengths())


def _stand_ins() -> list[JudgeVerdict]:
    """A verdict of the right form for all that the metrics ask about the full record."""
    case = record(ANSWER, judged=True, semantics=SEMANTICS, **QUESTION, **FULL)
    for requests in rounds(ALL, case):
        for one in requests:
            reply = typical_reply(load_prompt(one.prompt), one.data)
            case.verdicts = [*case.verdicts, *verdicts_on(one.name, [reply for _ in repeats_of(one, 1)])]
    return list(case.verdicts)


VERDICTS = _stand_ins()


def _with_all(answer: str | None = ANSWER, **fields: Any) -> Sample:
    """A record that lacks nothing but what is said: question, response, judge's verdicts, and what compares texts."""
    usual = {"verdicts": VERDICTS, "judged": True, "semantics": SEMANTICS}
    return record(answer, **(usual | QUESTION | FULL | fields))


@every_metric
@pytest.mark.parametrize("kind", get_args(ErrorKind))
@pytest.mark.parametrize("is_unanswerable", [True, False])
def test_a_failure_of_transport_is_never_a_value(metric: BaseMetric, kind: str, is_unanswerable: bool) -> None:
    """Whatever else the response holds, an error leaves the question out, but for timeouts in the latency.

    The first token that came before the time was up keeps its time. What the run has no judge or model for is not lost
    to the failure.
    """
    error = ResponseError(kind=kind, message="failed")
    case = record(gold_passages=[GOLD], is_unanswerable=is_unanswerable, error=error, **FULL)
    result = metric.score(case)
    if metric.aggregation is Aggregation.PERCENTILE and kind == "timeout":
        assert result.value == FULL["latency_ms" if metric.name.startswith("latency") else "time_to_first_token_ms"]
    else:
        assert result.value is None
        lacks = metric.needs & TOOLS or metric.not_applicable_to(case.question) is not None
        assert result.missing == ("not_applicable" if lacks else "transport")


@every_metric
def test_a_value_lies_in_the_range_and_has_name_and_group(metric: BaseMetric) -> None:
    """A record that lacks nothing gives all metrics but two a value, which lies in the metric's range."""
    result = metric.score(_with_all())
    assert (result.name, result.group) == (metric.name, metric.group)
    assert (result.value is None) == (metric.name in WITHOUT_VALUE), result.reason
    assert _is_within(result.value, metric)


def _is_within(value: float | None, metric: BaseMetric) -> bool:
    low, high = metric.low, metric.high
    return value is None or ((low is None or value >= low) and (high is None or value <= high))


@every_metric
def test_a_metric_says_what_it_is(metric: BaseMetric) -> None:
    """Every metric is documented with formula, range and reference, and only percentiles have a percentile."""
    page = " ".join((type(metric).__doc__ or "").split())
    assert all(part in page for part in ("Formula: ", "Range ", "Reference: "))
    assert (metric.aggregation is Aggregation.PERCENTILE) == (metric.percentile is not None)
    assert bool(metric.judge_calls) == (Need.JUDGE in metric.needs)


@pytest.mark.parametrize(
    ("need", "golds", "applies"),
    [(Need.GOLD, [GOLD], True), *((need, [], False) for need in (Need.GOLD, Need.ANSWERABILITY, Need.RUBRIC))],
)
def test_a_question_without_what_a_metric_needs_is_known_before_it_is_asked(
    need: Need, golds: list[GoldPassage], applies: bool
) -> None:
    """Whether a metric applies follows from the question alone."""
    concerned = [metric for metric in ALL if need in metric.needs]
    assert concerned
    question = EvalQuestion(question="q", gold_passages=golds)
    assert {metric.not_applicable_to(question) is None for metric in concerned} == {applies}


@every_metric
@pytest.mark.parametrize(
    ("need", "lacking"), [(Need.CHUNKS, "chunks"), (Need.CITATIONS, "citations"), (Need.USAGE, "usage")]
)
def test_a_response_without_what_a_metric_needs_gives_no_value(metric: BaseMetric, need: Need, lacking: str) -> None:
    """What the server did not say is a reason for None in the metrics that need it, and for no other."""
    lacks = _with_all(**{lacking: None})
    full, result = metric.score(_with_all()), metric.score(lacks)
    if need in metric.needs:
        assert (result.value, result.missing, metric.requests(lacks)) == (None, "not_applicable", [])
    elif metric.name not in MADE_OF_OTHERS:
        assert result.value == full.value


@every_metric
@pytest.mark.parametrize("is_unanswerable", [False, True])
def test_of_a_server_that_only_retrieves_retrieval_is_measured(metric: BaseMetric, is_unanswerable: bool) -> None:
    """Nothing was said, so nothing was cited, and nobody declined or is asked; the judge still looks at the chunks."""
    case = _with_all(None, is_unanswerable=is_unanswerable)
    result, unfit = metric.score(case), metric.not_applicable_to(case.question)
    if metric.of_answer:
        reason = unfit or "this server only retrieves"
        assert (result.value, result.missing, result.reason) == (None, "not_applicable", reason)
        assert metric.requests(case) == []
    elif metric.group is MetricGroup.RETRIEVAL and unfit is None:
        assert bool(metric.requests(case)) == (Need.JUDGE in metric.needs)
        assert result.value == metric.best or metric.name.startswith("precision_at") or Need.JUDGE in metric.needs


def test_every_metric_of_what_is_said_is_of_the_answer_but_one_that_mixes() -> None:
    """A new metric says which it is."""
    without = {MetricGroup.RETRIEVAL, MetricGroup.PERFORMANCE}
    assert {metric.name for metric in ALL if not metric.of_answer and metric.group not in without} == MADE_OF_OTHERS


@every_metric
def test_a_batch_is_measured_question_by_question_in_order(metric: BaseMetric) -> None:
    """A batch gives what its questions give alone to a metric that has measured nothing else, in any order."""
    cases = [record(gold_passages=[GOLD], is_unanswerable=False, **FULL), record("I don't know.")]
    pairs = [(case.question, case.response) for case in cases]
    (fresh,) = select([], [metric.name])
    alone = [fresh.score(case) for case in cases]
    assert metric.compute_batch(pairs) == alone
    assert metric.compute_batch(pairs[::-1]) == alone[::-1]


class _Watched(Sample):
    """Remembers whether anybody asked if its answer declines."""

    read = False

    @property
    def abstained(self) -> bool:
        self.read = True
        return super().abstained


@every_metric
@pytest.mark.parametrize("is_unanswerable", [False, True])
def test_a_metric_that_looks_whether_an_answer_declines_says_so(metric: BaseMetric, is_unanswerable: bool) -> None:
    """Where that is doubtful and the judge has not said it, it has no value; no other metric is lost to that."""
    judged = _with_all("The insurer decides on that case by case [1].", is_unanswerable=is_unanswerable)
    case = _Watched(judged.question, judged.response, VERDICTS, semantics=SEMANTICS)
    if metric.applies(case) is not None:
        return
    metric.score(case)
    assert case.read == metric.hangs_on_abstention(case)
    result = metric.score(judged)
    assert (result.missing == "judge") == case.read, result.reason
    assert ("abstention" in [request.name for request in metric.requests(judged)]) == case.read


@pytest.mark.parametrize(
    ("name", "expected", "answer", "value"),
    [
        ("squad_em", "北京", "北京。", 1),
        ("squad_f1", "中国北部", "北京位于中国北部。", 2 / 3),
        ("squad_em", "مُحَمَّد", "محمد", 1),
        ("keyword_coverage", "東京", "「東京」です", 1),
        ("answer_completeness", "東京", "「東京」", 1),
        ("number_match", "96 hours", "<p>It lasts <b>96</b>&nbsp;hours.</p>", 1),
        ("fuzzy_match", "96 hours", "<p>It lasts <b>96</b>&nbsp;hours.</p>", 1),
        ("squad_em", "AT&T", "AT&amp;T", 1),
        ("squad_em", "96 hours", "<think>maybe 48 hours</think>96 hours", 1),
        ("exact_match", "There are 5 offices.", "There are 5 offices. [Document 1]", 1),
        ("number_match", "1", "There are 5. [[1]](https://example.org/a)", 0),
    ],
)
def test_what_is_no_part_of_an_answer_makes_no_difference(name: str, expected: str, answer: str, value: float) -> None:
    """HTML, thoughts, marks of citations; and scripts without blanks."""
    assert score(name, answer, expected_answer=expected).value == pytest.approx(value)


@pytest.mark.real_rows
def test_the_cases_of_real_inputs_hold(real_data: Path) -> None:
    """Each row is an answer with the values that a person gives."""
    for line in (real_data / "cases/texts.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        values, answer = row.pop("values"), row.pop("answer")
        question = EvalQuestion(id="q", **row)
        found = {name: parse_metric(name).compute(question, EvalResponse(answer=answer)).value for name in values}
        assert found == pytest.approx(values, abs=1e-4), row


# No metric ever leaves the range that it declares: intervals rely on it.

WORDS = ("pipes", "burst", "10,000", "euros", "not", "covered", "I don't know", "[1]", "Paris", "3 days", ".", "the")
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
ids = st.sampled_from(["a", "b", "c", None])
parts = {"chunk_id": ids, "section": ids}
grades, documents = st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from(["a", "b"])
chunks = st.builds(RetrievedChunk, document_id=ids, text=st.one_of(texts, st.none()), **parts)
golds = st.builds(GoldPassage, text=texts, document_id=documents, relevance=grades, **parts)
key_sentences = st.builds(KeySentence, text=texts.filter(bool), source=st.just("gold"))
counts = st.integers(0, 99)
some_fields = st.fixed_dictionaries(
    {
        "answer": st.one_of(texts, st.none()),
        "expected_answer": st.one_of(texts.filter(bool), st.none()),
        "answers": st.lists(texts.filter(bool), max_size=2),
        "gold_passages": st.lists(golds, max_size=4),
        "key_sentences": st.lists(key_sentences, max_size=2),
        "is_unanswerable": st.sampled_from([True, False, None]),
        "chunks": st.one_of(st.lists(chunks, max_size=8), st.none()),
        "citations": st.one_of(st.lists(st.builds(Citation, index=st.integers(0, 9)), max_size=4), st.none()),
        "usage": st.builds(TokenUsage, prompt_tokens=counts, completion_tokens=counts),
        "latency_ms": st.floats(0, 1e6),
    }
)


@pytest.mark.slow
@settings(derandomize=True, max_examples=80)
@given(fields=some_fields)
def test_every_value_lies_in_the_range_of_its_metric(fields: dict[str, Any]) -> None:
    """Whatever is asked and answered; what only a judge can tell has no value here."""
    case = record(id="q", question="Which pipes are covered?", checks=CHECKS, semantics=SEMANTICS, **fields)
    assert [metric.name for metric in ALL if not _is_within(metric.score(case).value, metric)] == []
