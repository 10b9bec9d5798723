"""The metrics that compare texts, with models that need no weights."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.metrics import BaseMetric, Sample
from evals.metrics.embedders import Semantics
from evals.metrics.semantic import BertScoreF1, SemanticSimilarityPercentage, SentenceCoverage
from evals.schemas import EvalQuestion, EvalResponse, RetrievedChunk

MakeCase = Callable[..., Sample]
EXPECTED = "Burst pipes are covered."
KEYS = ("Burst pipes are covered.", "Slow leaks are not.")
AGAINST_EXPECTED = [SemanticSimilarityPercentage(), BertScoreF1()]
ALL = [*AGAINST_EXPECTED, SentenceCoverage()]
each = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
against_expected = pytest.mark.parametrize("metric", AGAINST_EXPECTED, ids=lambda metric: metric.name)
moderate = settings(derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
texts = st.text(st.sampled_from("ab c.\n"), max_size=12)


@against_expected
@pytest.mark.parametrize(
    ("answer", "expected", "value", "details"),
    [
        (EXPECTED, EXPECTED, 100.0, {}),
        ("completely different words", EXPECTED, 0.0, {}),
        ("", EXPECTED, 0.0, {"empty": "answer"}),
        (" \n ", EXPECTED, 0.0, {"empty": "answer"}),
        (EXPECTED, "", 0.0, {"empty": "expected answer"}),
        (EXPECTED, "  ", 0.0, {"empty": "expected answer"}),
        ("", "", 0.0, {"empty": "answer"}),
    ],
)
def test_an_answer_is_compared_with_the_expected_answer(
    make_case: MakeCase, metric: BaseMetric, answer: str, expected: str, value: float, details: dict[str, Any]
) -> None:
    """In percent; an empty text is worth 0 and the details say which it was."""
    result = metric.score(make_case(answer, expected_answer=expected))
    assert result.value == pytest.approx(value)
    assert result.details == details


@pytest.mark.parametrize(
    ("score", "value", "details"),
    [(0.5, 50.0, {}), (-0.2, 0.0, {"uncut": -20.0}), (1.5, 100.0, {"uncut": 150.0}), (0.0, 0.0, {}), (1.0, 100.0, {})],
)
def test_a_score_outside_the_range_is_cut_and_told(
    make_case: MakeCase, scorer: Any, score: float, value: float, details: dict[str, Any]
) -> None:
    """Rescaled scores can fall below 0: the value stays in its range, the details keep the score."""
    scorer.script = {("a", "b"): score}
    result = BertScoreF1().score(make_case("a", expected_answer="b"))
    assert (result.value, result.details) == (value, details)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_number_that_is_none_gives_no_value(make_case: MakeCase, scorer: Any, score: float) -> None:
    """A broken model is a reason, never a number."""
    scorer.script = {("5 euros", "b"): score}
    assert "not finite" in str(BertScoreF1().score(make_case("5 euros", expected_answer="b")).reason)
    assert "not finite" in str(SentenceCoverage().score(make_case("5 euros", keys=["b"])).reason)


def test_coverage_is_that_of_the_worst_key_sentence(make_case: MakeCase, scorer: Any) -> None:
    """The minimum over key sentences of the best sentence of the answer, with what each one got."""
    scorer.script = {
        ("First is said.", "k1"): 0.9, ("Second is said.", "k1"): 0.95,
        ("First is said.", "k2"): 0.6, ("Second is said.", "k2"): 0.5,
    }  # fmt: skip
    result = SentenceCoverage().score(make_case("First is said. Second is said.", keys=["k1", "k2"]))
    assert result.value == 0.6
    assert result.details == {
        "adequate": False,
        "label": "not adequate",
        "failed": ["k2"],
        "key_sentences": [
            {"text": "k1", "score": 0.95, "best": "Second is said."},
            {"text": "k2", "score": 0.6, "best": "First is said."},
        ],
        "threshold": 0.85,
        "scorer": "word overlap",
    }


@pytest.mark.parametrize(("score", "adequate"), [(0.85, True), (0.8499, False), (1.0, True)])
def test_coverage_is_adequate_from_the_threshold_on(
    make_case: MakeCase, scorer: Any, score: float, adequate: bool
) -> None:
    """A score of exactly the threshold is enough."""
    scorer.script = {("5 euros", "k"): score}
    assert SentenceCoverage().score(make_case("5 euros", keys=["k"])).details["adequate"] is adequate


def test_the_threshold_is_configuration(make_case: MakeCase, scorer: Any) -> None:
    """What is adequate changes, the value does not."""
    scorer.script = {("5 euros", "k"): 0.6}
    strict, lax = (Semantics(scorer=scorer, coverage_threshold=one) for one in (0.85, 0.5))
    results = [SentenceCoverage().score(make_case("5 euros", keys=["k"], semantics=one)) for one in (strict, lax)]
    assert [(result.value, result.details["adequate"]) for result in results] == [(0.6, False), (0.6, True)]


@pytest.mark.parametrize(
    ("answer", "is_unanswerable", "value"),
    [
        ("I don't know.", False, 0.0),
        ("I don't know.", None, 0.0),
        ("I don't know.", True, None),
        ("", False, 0.0),
        ("...", False, 0.0),
        ("", True, None),
    ],
)
def test_an_answer_that_says_nothing_covers_nothing(
    make_case: MakeCase, scorer: Any, answer: str, is_unanswerable: bool | None, value: float | None
) -> None:
    """An abstention or an empty answer is 0 without a model; a right abstention is no answer to measure."""
    case = make_case(answer, keys=KEYS, is_unanswerable=is_unanswerable)
    result = SentenceCoverage().score(case)
    assert result.value == value
    assert scorer.calls == []
    if value is not None:
        assert (result.details["adequate"], result.details["failed"]) == (False, list(KEYS))


@pytest.mark.parametrize(
    ("metric", "reason"),
    [(metric, "no expected answer") for metric in AGAINST_EXPECTED] + [(SentenceCoverage(), "no key sentences")],
)
@pytest.mark.parametrize("is_unanswerable", [True, False, None])
def test_without_something_to_compare_with_there_is_no_value(
    make_case: MakeCase, metric: BaseMetric, reason: str, is_unanswerable: bool | None
) -> None:
    """Also where the question is unanswerable, and known before anything is asked."""
    case = make_case(keys=[" "], is_unanswerable=is_unanswerable)
    assert reason in str(metric.not_applicable_to(case.question))
    assert metric.score(case).missing == "not_applicable"


@each
@pytest.mark.parametrize(
    ("given_semantics", "reason"),
    [
        (Semantics(reason="bert-score is not installed"), "bert-score is not installed"),
        (Semantics(), "no model that compares texts is loaded"),
        (None, "no model that compares texts is loaded"),
    ],
)
@pytest.mark.parametrize("answer", ["x", ""])
def test_without_a_model_there_is_no_value_and_the_way_out(
    make_case: MakeCase, metric: BaseMetric, given_semantics: Semantics | None, reason: str, answer: str
) -> None:
    """Not even an empty answer's 0: a mean over those alone would say something wrong."""
    result = metric.score(make_case(answer, expected_answer=EXPECTED, keys=KEYS, semantics=given_semantics))
    assert (result.value, result.reason, result.missing) == (None, reason, "not_applicable")


@each
def test_a_metric_can_be_computed_by_itself(semantics: Semantics, metric: BaseMetric) -> None:
    """With what it compares by as an argument, outside a run."""
    question = EvalQuestion(
        question="What?",
        expected_answer="x",
        key_sentences=[{"text": "x", "source": "test"}],  # type: ignore[list-item]
    )
    alone = type(metric)(semantics)  # type: ignore[call-arg]
    assert alone.compute(question, EvalResponse(answer="x")).value in (1.0, 100.0)


@moderate
@given(answer=texts, expected=texts, keys=st.lists(texts.filter(bool), max_size=3))
def test_no_model_is_asked_about_an_empty_text(
    make_case: MakeCase, embedder: Any, scorer: Any, answer: str, expected: str, keys: list[str]
) -> None:
    """And every value is in its range."""
    case = make_case(answer, expected_answer=expected, keys=keys)
    for metric in ALL:
        result = metric.score(case)
        assert result.value is None or 0.0 <= result.value <= (metric.high or 0.0)
    compared = [text for call in embedder.calls for text in call]
    compared += [text for call in scorer.calls for pair in call for text in pair]
    assert all(text.strip() for text in compared)


def test_citation_marks_are_no_part_of_a_sentence(make_case: MakeCase, scorer: Any) -> None:
    """A sentence is compared without the numbers of its sources."""
    case = make_case("Burst pipes are covered [1].", keys=["Burst pipes are covered."])
    case.response = case.response.model_copy(update={"chunks": [RetrievedChunk(text="of pipes")]})
    assert SentenceCoverage().score(case).value == 1
    assert scorer.calls == [[("Burst pipes are covered.", "Burst pipes are covered.")]]
