"""From records to the scorecard: denominators, bounds and intervals."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_runs import Count, Quality, column_of, scorecard_of, scored

from evals.metrics.base import BaseMetric
from evals.metrics.performance import LatencyP50
from evals.metrics.registry import select
from evals.schemas import (
    Citation,
    EvalQuestion,
    EvalRecord,
    EvalResponse,
    GoldPassage,
    JudgeVerdict,
    MetricGroup,
    MetricInterval,
    MetricResult,
    MetricSummary,
    ResponseError,
    RetrievedChunk,
)
from evals.schemas.dataset import CalculationCheck, Check, Fact, FactsCheck, ListCheck, ListItem
from evals.scoring.results import Results, rows_by_value
from evals.scoring.saved import slice_value
from evals.scoring.scorecard import make_scorecard
from evals.scoring.scorecard import summarise as summarise_column
from evals.scoring.settings import ScoreSettings
from evals.scoring.stats import mean_interval

WORST = ScoreSettings(worst_on_error=True)
MISSING = ("not_applicable", "transport", "judge")
Outcome = float | str


def summarise(metric: BaseMetric, results: Sequence[MetricResult], settings: ScoreSettings) -> MetricSummary:
    """The summary of these results, each of a question of its own."""
    return summarise_column(metric, column_of(metric, results), settings, None)


class Harm(Quality):
    """The same, where less is better."""

    name = "harm"
    higher_is_better: ClassVar[bool | None] = False


@pytest.fixture
def results() -> Callable[..., list[MetricResult]]:
    """Results of a metric: a number is a value, a word the kind of missing."""

    def make(metric: BaseMetric, outcomes: Sequence[Outcome]) -> list[MetricResult]:
        return [
            metric.undefined(f"because of {outcome}", missing=outcome)
            if isinstance(outcome, str)
            else metric.result(outcome)
            for outcome in outcomes
        ]

    return make


@pytest.fixture
def summary(results: Callable[..., list[MetricResult]]) -> Callable[..., MetricSummary]:
    """Summarise such results."""

    def make(metric: BaseMetric, *outcomes: Outcome, settings: ScoreSettings | None = None) -> MetricSummary:
        return summarise(metric, results(metric, outcomes), settings or ScoreSettings())

    return make


outcome_lists = st.lists(st.one_of(st.floats(0, 1), st.sampled_from(MISSING)), max_size=25)


@settings(derandomize=True, max_examples=80)
@given(outcomes=outcome_lists, worst=st.booleans(), metric=st.sampled_from([Quality(), Harm()]))
def test_every_result_is_counted_once_and_the_value_lies_within_its_bounds(
    outcomes: list[Outcome], worst: bool, metric: BaseMetric
) -> None:
    """Counts add up to the questions; bounds, value and interval are in the metric's range; no value has a reason."""
    made = [metric.undefined("x", missing=o) if isinstance(o, str) else metric.result(o) for o in outcomes]
    found = summarise(metric, made, ScoreSettings(worst_on_error=worst))
    counts = found.counts
    assert counts.scored + counts.not_applicable + counts.transport + counts.judge == len(outcomes)
    assert found.sample_size == counts.scored + (counts.transport if worst else 0)
    assert (found.value is None) == (found.sample_size == 0) == (found.reason is not None)
    assert (found.bounds is None) == (counts.transport + counts.judge == 0)
    if found.bounds and found.value is not None:
        low, high = sorted(found.bounds)
        assert -1e-9 <= low <= found.value + 1e-9
        assert found.value - 1e-9 <= high <= 1 + 1e-9
    if found.ci:
        assert 0 <= found.ci[0] <= found.ci[1] <= 1


@settings(derandomize=True, max_examples=30)
@given(kinds=st.lists(st.sampled_from(["gold", "no gold", "error", "timeout", "not asked"]), max_size=12))
def test_every_metric_counts_every_question_that_was_asked(kinds: list[str]) -> None:
    """From records to the scorecard nothing is lost and nothing counted twice, in any metric of the suite."""
    records = [record_of(kind, number) for number, kind in enumerate(kinds)]
    metrics = select(["core"], [])
    card = scorecard_of(metrics, records, ScoreSettings())
    asked = sum(kind != "not asked" for kind in kinds)
    assert {metric.name for metric in card.metrics} == {metric.name for metric in metrics}
    for found in card.metrics:
        assert sum(found.counts.model_dump().values()) == asked, found.name


def record_of(kind: str, number: int = 0, **metadata: object) -> EvalRecord:
    """A record of a question that was answered well, has no gold, was lost or was not asked."""
    golds = [] if kind == "no gold" else [GoldPassage(text="gold", chunk_id="c")]
    question = EvalQuestion(
        id=f"q{number}", question="Who?", gold_passages=golds, is_unanswerable=False, dataset="d", metadata=metadata
    )
    response = EvalResponse(answer="Kings.", chunks=[RetrievedChunk(chunk_id="c", text="t")], latency_ms=100.0)
    if kind in ("error", "timeout"):
        error = ResponseError(kind="timeout" if kind == "timeout" else "connect", message="gone")
        response = EvalResponse(error=error, latency_ms=5_000.0)
    return EvalRecord(question=question, response=None if kind == "not asked" else response)


def test_what_no_judge_looked_at_has_no_value_even_where_lost_questions_count_as_worst() -> None:
    """A question without an answer is the server's fault; that there was no judge is not."""
    lost = EvalResponse(error=ResponseError(kind="timeout", message="120 s"))
    question = EvalQuestion(question="Who?", expected_answer="Kings.")
    records = [EvalRecord(question=question, response=response) for response in (lost, EvalResponse(answer="Kings."))]
    metrics = select(["core", "qa"], [])
    card = scorecard_of(metrics, records, WORST)
    for name in ("faithfulness", "answer_correctness", "answer_relevancy", "gptscore", "sentence_coverage"):
        summary = card.get(name)
        assert (summary.value, summary.counts.transport) == (None, 0), name


def test_a_question_that_a_metric_never_applies_to_is_not_lost_to_a_failure() -> None:
    """What only answerable questions are measured by has no worst value on an unanswerable one."""
    lost = EvalResponse(error=ResponseError(kind="timeout", message="120 s"))
    record = EvalRecord(question=EvalQuestion(question="Who?", is_unanswerable=True), response=lost)
    settings = replace(WORST, judged=True)
    metrics = select(["claims", "graphrag", "answer"], [])
    card = scorecard_of(metrics, [record], settings)
    for name in ("context_recall", "ragas_context_recall", "claim_recall", "hallucination", "claim_f1"):
        summary = card.get(name)
        assert (summary.value, summary.counts.transport, summary.counts.not_applicable) == (None, 0, 1), name


def test_a_failure_is_no_wrong_citation_of_a_server_that_never_cites() -> None:
    """Even where lost questions count as worst; of a server that cites it is one."""
    answered = EvalResponse(answer="Kings.", chunks=[RetrievedChunk(chunk_id="c", text="t")])
    citing = answered.model_copy(update={"citations": [Citation(index=1)]})
    lost = EvalResponse(error=ResponseError(kind="timeout", message="120 s"))
    question = EvalQuestion(question="Who?", gold_passages=[GoldPassage(text="t", chunk_id="c")])
    values = []
    for response in (answered, citing):
        records = [EvalRecord(question=question, response=each) for each in (response, lost)]
        values.append(scorecard_of(select([], ["citation_precision"]), records, WORST).metrics[0].value)
    assert values == [None, 0.5]


def test_hits_alone_do_not_make_a_factual_match() -> None:
    """Without a judge the misses of fuzzy match are undecided, and a mean over the hits is always 1."""
    question = EvalQuestion(question="Who?", expected_answer="Kings ruled.")
    records = [
        EvalRecord(question=question, response=EvalResponse(answer=answer))
        for answer in ("Kings ruled.", "Monarchs were in charge.")
    ]
    metrics = select([], ["factual_match", "fuzzy_match"])
    factual, fuzzy = scorecard_of(metrics, records, ScoreSettings()).metrics
    assert (factual.value, factual.ci, factual.bounds) == (None, None, None)
    assert factual.reason == "no judge was used"
    assert fuzzy.value == 0.5


@pytest.mark.parametrize(
    ("metric", "bounds", "worst_value"),
    [(Quality(), (0.3, 0.8), 2 / 8), (Harm(), (0.8, 0.3), 5 / 8)],
    ids=["higher is better", "lower is better"],
)
def test_bounds_are_the_worst_and_the_best_that_lost_questions_could_make(
    summary: Callable[..., MetricSummary], metric: BaseMetric, bounds: tuple[float, float], worst_value: float
) -> None:
    """Worst comes first, whichever end of the scale that is; what does not apply is in neither."""
    outcomes: list[Outcome] = [0.5, 0.5, 1.0, 0.5, 0.5, *["transport"] * 3, *["judge"] * 2, "not_applicable"]
    found = summary(metric, *outcomes)
    assert found.bounds == pytest.approx(bounds)
    assert found.value == pytest.approx(0.6)
    assert summary(metric, *outcomes, settings=WORST).bounds == pytest.approx(bounds)
    worst = summary(metric, 0.5, 0.5, 0.5, 0.5, 0.0, *["transport"] * 3, "judge", settings=WORST)
    assert worst.value == pytest.approx(worst_value)
    assert worst.sample_size == 8


@pytest.mark.parametrize(
    ("metric", "outcomes", "settings", "value", "bounds"),
    [
        pytest.param(Quality(), [0.5, "not_applicable"], None, 0.5, None, id="nothing is lost"),
        pytest.param(Quality(), ["transport", "judge"], None, None, (0.0, 1.0), id="all is lost"),
        pytest.param(Count(), [1.0, 1.0, "transport"], None, 2.0, (2.0, 3.0), id="a sum"),
        pytest.param(LatencyP50(), [100.0, "transport"], WORST, 100.0, None, id="no worst value"),
        pytest.param(Quality(), [1.0, "judge"], WORST, 1.0, (0.5, 1.0), id="what we cannot tell is not its fault"),
        pytest.param(LatencyP50(), [400.0, 100.0, 300.0, 200.0], None, 200.0, None, id="a latency that did occur"),
    ],
)
def test_values_and_what_bounds_them(
    summary: Callable[..., MetricSummary],
    metric: BaseMetric,
    outcomes: list[Outcome],
    settings: ScoreSettings | None,
    value: float | None,
    bounds: tuple[float, float] | None,
) -> None:
    """What was lost leaves as much open as the range does."""
    found = summary(metric, *outcomes, settings=settings)
    assert (found.value, found.bounds, found.ci is None or found.value is not None) == (value, bounds, True)


def interval_of(values: Sequence[float], high: float = 1.0, **options: Any) -> tuple[float, float]:
    """What the statistics say of a mean in this range."""
    found = mean_interval(np.array(values), low=0.0, high=high, **options)
    assert found.interval is not None
    return found.interval


@pytest.mark.parametrize("values", [[0.0], [0.5], [1.0] * 20, [0.0, 1.0, 1.0], [0.2] * 5, [0.4, 0.5, 0.6]])
def test_a_mean_has_an_interval_with_width(summary: Callable[..., MetricSummary], values: list[float]) -> None:
    """Twenty hits out of twenty are no certainty, nor are five times 0.2."""
    found = summary(Quality(), *values)
    assert found.ci == interval_of(values)
    assert found.ci[0] < found.ci[1]
    method = "t with two pseudo-values"
    assert found.interval == MetricInterval(method=method, n=len(values), clusters=len(values))
    narrow = summary(Quality(), *values, settings=ScoreSettings(confidence=0.8))
    assert narrow.ci == interval_of(values, confidence=0.8)


def test_a_timeout_counts_in_the_latency_and_another_failure_does_not() -> None:
    """A server is not made faster by the questions on which it hung."""
    metric = LatencyP50()
    (found,) = scorecard_of([metric], [record_of(kind) for kind in ("timeout", "error")]).metrics
    assert (found.value, found.counts.scored, found.counts.transport) == (5_000.0, 1, 1)


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        ([], "no question was asked"),
        (["judge"], "because of judge"),
        (["judge", "transport", "judge"], "because of judge (2); because of transport (1)"),
    ],
    ids=["nothing", "one", "several"],
)
def test_no_value_has_a_reason(summary: Callable[..., MetricSummary], outcomes: list[str], reason: str) -> None:
    """Where nothing could be computed the value is None, never zero, and the reasons are counted."""
    found = summary(Quality(), *outcomes)
    assert (found.value, found.ci, found.reason) == (None, None, reason)


def test_the_scorecard_is_in_the_order_of_the_groups() -> None:
    """Retrieval first, performance last, and by_group lists every metric once."""
    metrics = list(reversed(select(["core"], [])))
    card = make_scorecard(metrics, Results(), ScoreSettings())
    assert list(card.by_group) == [group.value for group in MetricGroup]
    assert sorted(name for names in card.by_group.values() for name in names) == sorted(m.name for m in metrics)


def test_a_question_that_was_not_asked_is_not_scored() -> None:
    """It keeps its record and is in no denominator."""
    records = [record_of("not asked")]
    assert scored(select(["core"], []), records, ScoreSettings()) == records


def test_scoring_again_replaces_the_scores() -> None:
    """Records are measured anew, their verdicts and responses untouched."""
    record = record_of("gold").model_copy(update={"verdicts": [JudgeVerdict(request="x", reply={})]})
    metrics = select([], ["mrr"])
    (once,) = scored(metrics, [record], ScoreSettings())
    (twice,) = scored(metrics, [once], ScoreSettings())
    assert once == twice
    assert [(score.name, score.value) for score in once.scores] == [("mrr", 1.0)]
    assert (once.response, once.verdicts) == (record.response, record.verdicts)


@pytest.mark.parametrize(
    ("key", "groups"),
    [("dataset", {"d": 4}), ("type", {"list": 2, "yes_no": 1}), ("hard", {"False": 1, "True": 1}), ("none", {})],
)
def test_a_slice_is_of_the_records_that_have_the_key(key: str, groups: dict[str, int]) -> None:
    """Slices go by dataset or metadata; a record without the key is in none."""
    metadata: list[dict[str, object]] = [
        {"type": "yes_no", "hard": True},
        {"type": "list", "hard": False},
        {"type": "list"},
        {"type": ""},
    ]
    records = [record_of("gold", number, **extra) for number, extra in enumerate(metadata)]
    values = [slice_value(record, key) for record in records]
    assert {name: len(rows) for name, rows in rows_by_value(values).items()} == groups


def test_labels_are_counted_over_the_run() -> None:
    """A scorecard shows how the labels of a metric are distributed."""
    metric = Quality()
    results = [metric.result(1.0, label=label) for label in ("B", "A", "A")] + [metric.result(0.0)]
    assert summarise(metric, results, ScoreSettings()).labels == {"A": 2, "B": 1}


class Percent(Quality):
    """A metric on the scale of 0 to 100."""

    high: ClassVar = 100.0


def test_all_or_nothing_in_percent_is_no_certainty_either() -> None:
    """Twenty times 100 percent have the interval of twenty ones, a hundred times as great."""
    results = [Percent().result(value) for value in (100.0,) * 20]
    low, high = interval_of([1.0] * 20)
    assert summarise(Percent(), results, ScoreSettings()).ci == pytest.approx((100 * low, 100 * high))


def test_a_count_has_the_interval_of_its_rate_times_the_questions() -> None:
    """How many answers of so many are correct is uncertain as the share is."""
    results = [Count().result(value) for value in (1.0, 0.0, 1.0, 1.0)]
    found = summarise(Count(), results, ScoreSettings())
    low, high = interval_of([1.0, 0.0, 1.0, 1.0])
    assert (found.value, found.ci) == (3.0, (4 * low, 4 * high))


@pytest.mark.parametrize("name", ["rules", "label", "needs_verification", "hit_ranks", "facts", "cannot_calculate"])
def test_a_fact_may_have_any_name(name: str) -> None:
    """What a dataset calls its facts means nothing to the scorecard or the diagnosis."""
    fact = Fact(name=name, any=["yes"])
    checks: list[Check] = [
        FactsCheck(kind="facts", facts=[fact]),
        CalculationCheck(kind="calculation", facts=[fact], answer=name),
        ListCheck(kind="list", name=name, items=[ListItem(name=name, any=["yes"])]),
    ]
    metrics = select([], ["fact_score", "is_correct", "rules_coverage"])
    record = EvalRecord(question=EvalQuestion(question="q", checks=checks), response=EvalResponse(answer="Yes."))
    records = scored(metrics, [record], ScoreSettings())
    card = scorecard_of(metrics, [record])
    assert [(summary.value, summary.rules, summary.labels) for summary in card.metrics] == [(1.0, {}, {})] * 3
    assert records[0].scores[0].details["facts"] == {name: True}


def test_a_metric_of_ones_own_may_say_rules_and_label_in_its_details() -> None:
    """A plug-in that means something else by these words does not end the run."""
    result = Quality().result(1.0, rules=["a"], label={"b": 1})
    found = summarise(Quality(), [result, Quality().result(1.0, rules={"text": 2}, label="A")], ScoreSettings())
    assert (found.rules, found.labels) == ({"text": 2}, {"A": 1})
