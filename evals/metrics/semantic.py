"""Semantic: does the answer mean what it should, whatever its words?

Texts are compared by models that run here (extra `semantic`; docs/semantic.md). Where they are not installed the
metrics have no value and say what to install. No judge takes part, and no value moves between runs with one model.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import isfinite
from typing import Any

from evals.metrics.base import EMBEDDING_NOT_FINITE, BaseMetric, Comparing, Need
from evals.metrics.embedders import Embedder, Semantics, TextScorer, cosine
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.sentences import sentences


class _Semantic(Comparing, BaseMetric):
    """What the semantic metrics share: when they have a value without a model, and when none at all."""

    group = MetricGroup.GENERATION
    of_answer = True

    def __init__(self, semantics: Semantics | None = None) -> None:
        self.semantics = semantics

    @abstractmethod
    def settled(self, case: Sample) -> MetricResult | None:
        """The result where nothing needs to be compared to know it; None where something does."""

    @abstractmethod
    def compare(self, case: Sample, tool: Any) -> MetricResult:
        """Compare the texts of a case by the embedder or the scorer that the metric needs."""

    def tool(self, case: Sample) -> Embedder | TextScorer | None:
        """What the metric compares by; None where it is not there."""
        if Need.EMBEDDER in self.needs:
            return self.embedder(case)
        semantics = self.semantics_for(case)
        return semantics.scorer if semantics else None

    def measure(self, case: Sample) -> MetricResult:
        settled = self.settled(case)
        return self.compare(case, self.tool(case)) if settled is None else settled

    def unavailable(self, case: Sample) -> str | None:
        if self.tool(case) is not None:
            return None
        semantics = self.semantics_for(case)
        return (semantics.reason if semantics else None) or "no model that compares texts is loaded"

    def is_open(self, case: Sample) -> bool:
        """Whether something needs to be compared."""
        return self._applies(case) and self.settled(case) is None


class _AgainstExpected(_Semantic):
    """The answer compared with the expected answer, in percent; an empty text is worth 0."""

    suites = frozenset({"graphrag"})
    unit = "percent"
    high = 100.0

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return "the question has no expected answer" if question.expected_answer is None else None

    def settled(self, case: Sample) -> MetricResult | None:
        answer, expected = _pair(case)
        if not answer.strip():
            return self.result(0.0, empty="answer")
        return None if expected.strip() else self.result(0.0, empty="expected answer")


class SemanticSimilarityPercentage(_AgainstExpected):
    """How near the answer's embedding is to that of the expected answer, in percent.

    Formula: max(0, cosine(answer, expected answer)) × 100, rounded to 2 places. Range 0 to 100, higher is better;
    0 where the answer or the expected answer is empty (details say which). An abstention is compared like any answer.
    None without an expected answer, and without an embedder. Texts longer than the model's window are cut; values of
    two embedders do not compare.
    Reference: as the specification writes it; Reimers and Gurevych 2019 (Sentence-BERT).
    """

    name = "semantic_similarity_percentage"
    needs = frozenset({Need.EXPECTED_ANSWER, Need.EMBEDDER})

    def texts(self, case: Sample) -> Sequence[str]:
        return _pair(case) if self.is_open(case) else ()

    def compare(self, case: Sample, tool: Embedder) -> MetricResult:
        answer, expected = tool.embed(_pair(case))
        value = cosine(answer, expected)
        if not isfinite(value):
            return self.undefined(EMBEDDING_NOT_FINITE)
        return self.result(round(max(0.0, value) * 100, 2))


class BertScoreF1(_AgainstExpected):
    """How much the answer says token by token what the expected answer says, in percent.

    Formula: F1 × 100, where P is the mean over the answer's tokens of the best cosine with a token of the expected
    answer, R the same the other way, F1 = 2PR/(P+R); contextual vectors of one layer, no idf weights. Rescaled to
    (F1 − b)/(1 − b) where `semantic.bert_score_rescale` is set. Range 0 to 100, higher is better: a score outside is
    cut, and stands whole in the details. 0 where a text is empty. An abstention is compared like any answer. None
    without an expected answer, and without BERTScore.
    Reference: as the specification writes it; Zhang et al. 2020 (BERTScore).
    """

    name = "bert_score_f1"
    needs = frozenset({Need.EXPECTED_ANSWER, Need.TEXT_SCORER})

    def text_pairs(self, case: Sample) -> Sequence[tuple[str, str]]:
        return [_pair(case)] if self.is_open(case) else ()

    def compare(self, case: Sample, tool: TextScorer) -> MetricResult:
        (score,) = tool.f1([_pair(case)])
        if not isfinite(score):
            return self.undefined(_NOT_FINITE)
        value = _within_one(score)
        return self.result(value * 100, **({} if value == score else {"uncut": score * 100}))


class SentenceCoverage(_Semantic):
    """How well the answer says its worst key sentence.

    Formula: min over the key sentences of the max over the answer's sentences of BERTScore F1(answer sentence, key
    sentence); citation marks such as [1] are taken off before. Range 0 to 1, higher is better; a score outside is cut.
    Adequate from `sentence_coverage_threshold` (of the configuration's part `semantic`; 0.85), and the scorecard shows
    how many answers are. The details hold the best score of every key sentence, those that failed, the threshold and
    the scorer, for 0.85 means something else with another model or with rescaling. 0 where the answer is empty, or
    abstains on a question that is not marked as unanswerable; None for an abstention on one that is, without key
    sentences (those of the expected answer, where the dataset names none), and without BERTScore.
    Reference: as the specification writes it; Zhang et al. 2020 (BERTScore).
    """

    name = "sentence_coverage"
    suites = frozenset({"qa"})
    heeds_abstention = True
    needs = frozenset({Need.KEY_SENTENCES, Need.TEXT_SCORER})

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return None if _key_sentences(question) else "the question has no key sentences"

    def settled(self, case: Sample) -> MetricResult | None:
        failed: dict[str, Any] = {**_adequacy(adequate=False), "failed": _key_sentences(case.question)}
        if case.abstained:
            if case.question.is_unanswerable:
                return self.undefined("the question is unanswerable and the answer abstains")
            return self.result(0.0, abstained=True, **failed)
        return None if sentences(case.answer or "") else self.result(0.0, empty="answer", **failed)

    def text_pairs(self, case: Sample) -> Sequence[tuple[str, str]]:
        return _matrix(case) if self.is_open(case) else ()

    def compare(self, case: Sample, tool: TextScorer) -> MetricResult:
        pairs = _matrix(case)
        scores = tool.f1(pairs)
        if not all(map(isfinite, scores)):
            return self.undefined(_NOT_FINITE)
        best: dict[str, tuple[float, str]] = {}
        for (sentence, key), score in zip(pairs, map(_within_one, scores), strict=True):
            if key not in best or score > best[key][0]:
                best[key] = (score, sentence)
        threshold = (self.semantics_for(case) or Semantics()).coverage_threshold
        failed = [key for key, (score, _) in best.items() if score < threshold]
        return self.result(
            min(score for score, _ in best.values()),
            **_adequacy(adequate=not failed),
            failed=failed,
            key_sentences=[{"text": key, "score": score, "best": said} for key, (score, said) in best.items()],
            threshold=threshold,
            scorer=tool.name,
        )


_NOT_FINITE = "BERTScore gave a number that is not finite"


def _pair(case: Sample) -> tuple[str, str]:
    return case.answer or "", case.question.expected_answer or ""


def _key_sentences(question: EvalQuestion) -> list[str]:
    """The distinct key sentences that say something, in order; those of the expected answer where none is named."""
    named = [key.text for key in question.key_sentences] or sentences(question.expected_answer or "")
    return [text for text in dict.fromkeys(named) if text.strip()]


def _matrix(case: Sample) -> list[tuple[str, str]]:
    """Every sentence of the answer with every key sentence."""
    said = list(dict.fromkeys(sentences(case.answer or "")))
    return [(sentence, key) for key in _key_sentences(case.question) for sentence in said]


def _adequacy(*, adequate: bool) -> dict[str, Any]:
    """The details that say whether an answer is adequate; the scorecard counts the labels."""
    return {"adequate": adequate, "label": "adequate" if adequate else "not adequate"}


def _within_one(score: float) -> float:
    return max(0.0, min(1.0, score))
