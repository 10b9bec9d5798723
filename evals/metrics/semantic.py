"""Semantic: does the answer mean what it should, whatever its words?

Texts are compared by models that run here (extra `semantic`; docs/semantic.md). Where they are not installed the
metrics have no value and say what to install. No judge takes part, and no value moves between runs with one model.
"""

from abc import abstractmethod
from math import isfinite
from typing import Any

from evals.metrics.base import BaseMetric, Need
from evals.metrics.embedders import Embedder, Semantics, TextScorer, cosine
from evals.metrics.sample import Lack, Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricResult
from evals.text.sentences import sentences

EMBEDDING_NOT_FINITE = "the embedder gave numbers that are not finite"
"""Why a metric of embeddings has no value where it cannot be computed from them."""
_NOT_FINITE = "BERTScore gave a number that is not finite"


class _Semantic(BaseMetric):
    """What the semantic metrics share: they compare by the embedder or the scorer, whichever they need."""

    of_answer = True

    def __init__(self, semantics: Semantics | None = None) -> None:
        self.semantics = semantics

    def tool(self, sample: Sample) -> Any:
        """What the metric compares by; None where it is not loaded."""
        models = self.compares_by(sample)
        return models.embedder if Need.EMBEDDER in self.needs else models.scorer

    def applies(self, sample: Sample) -> Lack | None:
        if self.tool(sample) is None:
            return Lack(self.compares_by(sample).reason or "no model that compares texts is loaded")
        return super().applies(sample)


class _AgainstExpected(_Semantic):
    """The answer compared with the expected answer, in percent; an empty text is worth 0."""

    suites = frozenset({"graphrag"})
    unit = "percent"
    high = 100.0

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        return "the question has no expected answer" if question.expected_answer is None else None

    def measure(self, sample: Sample) -> MetricResult:
        answer, expected = sample.answer or "", sample.question.expected_answer or ""
        if not answer.strip() or not expected.strip():
            return self.result(0.0, empty="expected answer" if answer.strip() else "answer")
        return self.compare(answer, expected, self.tool(sample))

    @abstractmethod
    def compare(self, answer: str, expected: str, tool: Any) -> MetricResult:
        """Compare the two texts by the embedder or the scorer."""


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

    def compare(self, answer: str, expected: str, tool: Embedder) -> MetricResult:
        value = cosine(*tool.embed([answer, expected]))
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

    def compare(self, answer: str, expected: str, tool: TextScorer) -> MetricResult:
        (score,) = tool.f1([(answer, expected)])
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

    def measure(self, sample: Sample) -> MetricResult:
        keys, stated = _key_sentences(sample.question), list(dict.fromkeys(sentences(sample.answer or "")))
        if sample.abstained and sample.question.is_unanswerable:
            return self.undefined("the question is unanswerable and the answer abstains")
        if sample.abstained or not stated:
            why = {"abstained": True} if sample.abstained else {"empty": "answer"}
            return self.result(0.0, **why, **_adequacy(adequate=False), failed=keys)
        scorer, threshold = self.tool(sample), self.compares_by(sample).coverage_threshold
        scores = scorer.f1([(sentence, key) for key in keys for sentence in stated])
        if not all(map(isfinite, scores)):
            return self.undefined(_NOT_FINITE)
        best: list[dict[str, Any]] = []
        for place, key in enumerate(keys):
            row = list(map(_within_one, scores[place * len(stated) : (place + 1) * len(stated)]))
            best.append({"text": key, "score": max(row), "best": stated[row.index(max(row))]})
        failed = [item["text"] for item in best if item["score"] < threshold]
        details = {"failed": failed, "key_sentences": best, "threshold": threshold, "scorer": scorer.name}
        return self.result(min(item["score"] for item in best), **_adequacy(adequate=not failed), **details)


def _key_sentences(question: EvalQuestion) -> list[str]:
    """The distinct key sentences that say something, in order; those of the expected answer where none is named."""
    named = [key.text for key in question.key_sentences] or sentences(question.expected_answer or "")
    return [text for text in dict.fromkeys(named) if text.strip()]


def _adequacy(*, adequate: bool) -> dict[str, Any]:
    """The details that say whether an answer is adequate; the scorecard counts the labels."""
    return {"adequate": adequate, "label": "adequate" if adequate else "not adequate"}


def _within_one(score: float) -> float:
    return max(0.0, min(1.0, score))
