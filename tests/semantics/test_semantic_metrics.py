"""The metrics that compare texts, with models that need no weights: alone, and over the records of a run."""

from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.records import lack, record, score
from semantics.models import BagOfWords, WordOverlap
from whole_runs import scored

from evals.metrics import BaseMetric
from evals.metrics.embedders import Semantics
from evals.metrics.semantic import BertScoreF1, SemanticSimilarityPercentage, SentenceCoverage
from evals.metrics.squad import SquadEM
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, ResponseError, RetrievedChunk
from evals.schemas.dataset import KeySentence
from evals.scoring.settings import ScoreSettings

EXPECTED = "Burst pipes are covered."
SIMILARITY, BERT_SCORE, COVERAGE = ALL = [SemanticSimilarityPercentage(), BertScoreF1(), SentenceCoverage()]
each = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
texts = st.text(st.sampled_from("ab c.\n"), max_size=12)


def keys(*names: str) -> list[KeySentence]:
    return [KeySentence(text=text, source="test") for text in names]


@pytest.mark.parametrize("metric", ALL[:2], ids=lambda metric: metric.name)
@pytest.mark.parametrize(
    ("answer", "expected", "value", "details"),
    [
        (EXPECTED, EXPECTED, 100.0, {}),
        ("completely different words", EXPECTED, 0.0, {}),
        *[(nothing, EXPECTED, 0.0, {"empty": "answer"}) for nothing in ("", " \n ")],
        *[(EXPECTED, nothing, 0.0, {"empty": "expected answer"}) for nothing in ("", "  ")],
        ("", "", 0.0, {"empty": "answer"}),
    ],
)
def test_an_answer_is_compared_with_the_expected_answer(
    semantics: Semantics, metric: BaseMetric, answer: str, expected: str, value: float, details: dict[str, Any]
) -> None:
    """In percent; an empty text is worth 0 and the details say which it was."""
    result = score(metric, answer, expected_answer=expected, semantics=semantics)
    assert (result.value, result.details) == (pytest.approx(value), details)


@pytest.mark.parametrize(
    ("number", "value", "details"),
    [(0.5, 50.0, {}), (-0.2, 0.0, {"uncut": -20.0}), (1.5, 100.0, {"uncut": 150.0}), (0.0, 0.0, {}), (1.0, 100.0, {})],
)
def test_a_score_outside_the_range_is_cut_and_told(
    scorer: Any, number: float, value: float, details: dict[str, Any]
) -> None:
    """Rescaled scores can fall below 0: the value stays in its range, the details keep the score."""
    scorer.script = {("a", "b"): number}
    result = score(BERT_SCORE, "a", expected_answer="b", semantics=Semantics(scorer=scorer))
    assert (result.value, result.details) == (value, details)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_none_gives_no_value(semantics: Semantics, scorer: Any, number: float) -> None:
    """A broken model is a reason, never a number."""
    scorer.script = {("5 euros", "b"): number}
    for metric in (BERT_SCORE, COVERAGE):
        result = score(metric, "5 euros", expected_answer="b", key_sentences=keys("b"), semantics=semantics)
        assert lack(result) == (None, "not_applicable", "BERTScore gave a number that is not finite")


def test_coverage_is_that_of_the_worst_key_sentence(semantics: Semantics, scorer: Any) -> None:
    """The minimum over key sentences of the best sentence of the answer, with what each one got."""
    first, second = "First is said.", "Second is said."
    scorer.script = {(first, "k1"): 0.9, (second, "k1"): 0.95, (first, "k2"): 0.6, (second, "k2"): 0.5}
    result = score(COVERAGE, f"{first} {second}", key_sentences=keys("k1", "k2"), semantics=semantics)
    best = [{"text": "k1", "score": 0.95, "best": second}, {"text": "k2", "score": 0.6, "best": first}]
    assert result.value == 0.6
    verdict = {"adequate": False, "label": "not adequate", "failed": ["k2"]}
    assert result.details == verdict | {"key_sentences": best, "threshold": 0.85, "scorer": "word overlap"}


@pytest.mark.parametrize(
    ("number", "threshold", "adequate"),
    [(0.85, 0.85, True), (0.8499, 0.85, False), (1.0, 0.85, True), (0.6, 0.85, False), (0.6, 0.5, True)],
)
def test_coverage_is_adequate_from_the_threshold_on(
    scorer: Any, number: float, threshold: float, adequate: bool
) -> None:
    """A score of exactly the threshold is enough; another threshold changes what is adequate, not the value."""
    scorer.script = {("5 euros", "k"): number}
    semantics = Semantics(scorer=scorer, coverage_threshold=threshold)
    result = score(COVERAGE, "5 euros", key_sentences=keys("k"), semantics=semantics)
    assert (result.value, result.details["adequate"]) == (number, adequate)


@pytest.mark.parametrize(
    ("answer", "is_unanswerable", "value"),
    [
        *[("I don't know.", False, 0.0), ("I don't know.", None, 0.0), ("I don't know.", True, None)],
        *[("", False, 0.0), ("...", False, 0.0), ("", True, None)],
    ],
)
def test_an_answer_that_says_nothing_covers_nothing(
    semantics: Semantics, scorer: Any, answer: str, is_unanswerable: bool | None, value: float | None
) -> None:
    """An abstention or an empty answer is 0 without a model; a right abstention is no answer to measure."""
    asked = {"key_sentences": keys(EXPECTED, "Leaks are not."), "is_unanswerable": is_unanswerable}
    result = score(COVERAGE, answer, semantics=semantics, **asked)
    assert (result.value, scorer.calls) == (value, [])
    if value is not None:
        assert (result.details["adequate"], result.details["failed"]) == (False, [EXPECTED, "Leaks are not."])


@each
@pytest.mark.parametrize("is_unanswerable", [True, False, None])
def test_without_something_to_compare_with_there_is_no_value(
    semantics: Semantics, metric: BaseMetric, is_unanswerable: bool | None
) -> None:
    """Also where the question is unanswerable, and known before anything is asked."""
    case = record(key_sentences=keys(" "), is_unanswerable=is_unanswerable, semantics=semantics)
    reason = f"the question has no {'key sentences' if metric is COVERAGE else 'expected answer'}"
    assert metric.not_applicable_to(case.question) == reason
    assert lack(metric.score(case)) == (None, "not_applicable", reason)


@each
@pytest.mark.parametrize("reason", ["bert-score is not installed", None])
@pytest.mark.parametrize("answer", ["x", ""])
def test_without_a_model_there_is_no_value_and_the_way_out(metric: BaseMetric, reason: str | None, answer: str) -> None:
    """Not even an empty answer's 0: a mean over those alone would say something wrong."""
    asked = {"expected_answer": EXPECTED, "key_sentences": keys(EXPECTED)}
    for semantics in [Semantics(reason=reason), *([] if reason else [None])]:
        result = score(metric, answer, semantics=semantics, **asked)
        assert lack(result) == (None, "not_applicable", reason or "no model that compares texts is loaded")


@each
def test_a_metric_can_be_computed_by_itself(semantics: Semantics, metric: BaseMetric) -> None:
    """With what it compares by as an argument, outside a run."""
    question = EvalQuestion(question="What?", expected_answer="x", key_sentences=keys("x"))
    alone = type(metric)(semantics)  # type: ignore[call-arg]
    assert alone.compute(question, EvalResponse(answer="x")).value == metric.high


@settings(derandomize=True, max_examples=60)
@given(answer=texts, expected=texts, named=st.lists(texts.filter(bool), max_size=3))
def test_no_model_is_asked_about_an_empty_text(answer: str, expected: str, named: list[str]) -> None:
    """And every value is in its range."""
    embedder, scorer = BagOfWords(), WordOverlap()
    semantics = Semantics(embedder, scorer)
    case = record(answer, expected_answer=expected, key_sentences=keys(*named), semantics=semantics)
    for metric in ALL:
        result = metric.score(case)
        assert result.value is None or 0.0 <= result.value <= (metric.high or 0.0)
    compared = [text for call in embedder.calls for text in call]
    compared += [text for call in scorer.calls for pair in call for text in pair]
    assert all(text.strip() for text in compared)


def test_citation_marks_are_no_part_of_a_sentence(semantics: Semantics, scorer: Any) -> None:
    """A sentence is compared without the numbers of its sources."""
    found = {"chunks": [RetrievedChunk(text="of pipes")], "key_sentences": keys(EXPECTED)}
    assert score(COVERAGE, "Burst pipes are covered [1].", semantics=semantics, **found).value == 1
    assert scorer.calls == [[(EXPECTED, EXPECTED)]]


QUESTION = EvalQuestion(question="Why?", expected_answer="It is 1 then.", is_unanswerable=False)
ANSWERED = EvalRecord(question=QUESTION, response=EvalResponse(answer="It is 1 then."))


def test_a_failed_question_is_not_compared(semantics: Semantics, embedder: Any, scorer: Any) -> None:
    """A model is asked about answers alone."""
    failed = EvalResponse(error=ResponseError(kind="timeout", message="slow"))
    records = [EvalRecord(question=QUESTION, response=failed), EvalRecord(question=QUESTION), ANSWERED]
    *_, last = scored(ALL[:2], records, ScoreSettings(semantics=semantics))
    assert (len(embedder.calls), len(scorer.calls)) == (1, 1)
    assert [one.value for one in last.scores] == [pytest.approx(100.0)] * 2


@pytest.mark.parametrize("error", [RuntimeError("out of memory\ndetails"), MemoryError(), OSError("gone")], ids=repr)
def test_a_model_that_fails_costs_only_its_metrics(
    semantics: Semantics, scorer: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Everything is answered and paid for by then: its metrics say what failed, and the others are measured."""
    monkeypatch.setattr(scorer, "f1", Mock(side_effect=error))
    (scores,) = scored([COVERAGE, SIMILARITY, SquadEM()], [ANSWERED], ScoreSettings(semantics=semantics))
    lost, compared, exact = scores.scores
    assert (lost.value, lost.missing) == (None, "fault")
    assert type(error).__name__ in (lost.reason or "")
    assert (compared.value, exact.value) == (pytest.approx(100.0), 1.0)
