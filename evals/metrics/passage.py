"""Passage: are the retrieved passages the gold ones, by their text alone?

A passage holds a gold where one of the two texts stands in the other, lower-cased and stripped (the either-way
substring rule); an empty text holds nothing and stands nowhere. No ids, documents or thresholds are compared.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from evals.metrics.base import Aggregation, AtK, BaseMetric, Need
from evals.metrics.retrieval import ndcg_at
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.markup import plain
from evals.text.sentences import word_set


def exact_match(passages: Sequence[str], golds: Sequence[str]) -> float:
    """Return 1 where the first passage is one of the golds, lower-cased and stripped; else 0."""
    return float(any(first and first == _normal(gold) for first in map(_normal, passages[:1]) for gold in golds))


def span_f1(passages: Sequence[str], golds: Sequence[str]) -> float:
    """Return the best F1 of the first passage's token set with that of a gold; 0 where they share no token."""
    first = word_set(passages[0]) if passages else frozenset[str]()
    sizes = [(len(first & words), len(first) + len(words)) for words in map(word_set, golds)]
    return max((2 * shared / size for shared, size in sizes if shared), default=0.0)


def newly_held(passages: Sequence[str], golds: Sequence[str]) -> list[set[int]]:
    """For each passage the golds, by index, that it holds by the substring rule and no earlier one does."""
    wanted = {index: _normal(gold) for index, gold in enumerate(golds)}
    held: list[set[int]] = []
    for passage in map(_normal, passages):
        held.append({n for n, gold in wanted.items() if gold and passage and (gold in passage or passage in gold)})
        wanted = {n: gold for n, gold in wanted.items() if n not in held[-1]}
    return held


def _normal(text: str) -> str:
    return plain(text).lower().strip()


class _Passage(BaseMetric):
    """What all passage metrics share: texts of chunks in the server's order, and texts of golds."""

    group = MetricGroup.RETRIEVAL
    suites = frozenset({"passage"})
    needs = frozenset({Need.GOLD, Need.CHUNKS})

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        without = None if all(gold.text for gold in question.gold_passages) else "a gold passage carries no text"
        return super().not_applicable_to(question) or without

    def measure(self, sample: Sample) -> MetricResult:
        chunks = sample.response.chunks or []
        if chunks and all(chunk.text is None for chunk in chunks):
            return self.undefined("the chunks carry no text")
        golds = [gold.text for gold in sample.question.gold_passages]
        return self.measure_texts([chunk.text or "" for chunk in chunks], golds)

    @abstractmethod
    def measure_texts(self, passages: list[str], golds: list[str]) -> MetricResult:
        """Measure the retrieved texts against the texts of the golds."""


class PassageExactMatch(_Passage):
    """Whether the first retrieved passage is a gold passage, word for word.

    Formula: 1 where the top passage equals any gold, both lower-cased and stripped of white space at their ends, else
    0; 0 where nothing was retrieved. Range 0 to 1, higher is better. None without gold passages, and where a gold or
    the chunks carry no text.
    Reference: as the specification writes it, after Rajpurkar et al. 2016 (SQuAD).
    """

    name = "passage_exact_match"
    aggregation = Aggregation.RATE

    def measure_texts(self, passages: list[str], golds: list[str]) -> MetricResult:
        return self.result(exact_match(passages, golds))


class SpanF1(_Passage):
    """Overlap of the words of the first retrieved passage with those of the nearest gold passage.

    Formula: max over golds of 2·|P ∩ G| / (|P| + |G|), the harmonic mean of precision |P ∩ G| / |P| and recall
    |P ∩ G| / |G|; P and G are the sets of tokens of the top passage and of the gold, so a repeated word counts once.
    Tokens: NLTK's word tokens of each sentence, lower-cased, kept where all characters are letters or digits ("3.5"
    and "non-profit" are none); stop words stay; each character in Chinese, Japanese, Thai. 0 where no token is shared
    or nothing was retrieved. Range 0 to 1, higher is better. None without gold passages, and where a gold or the
    chunks carry no text.
    Reference: as the specification writes it, after Rajpurkar et al. 2016 (SQuAD), whose F1 counts repeated words.
    """

    name = "span_f1"

    def measure_texts(self, passages: list[str], golds: list[str]) -> MetricResult:
        return self.result(span_f1([plain(text) for text in passages[:1]], list(map(plain, golds))))


class _Ranked(AtK, _Passage):
    """What the passage metrics with a cut-off share."""

    default_ks: ClassVar = (10,)

    def measure_texts(self, passages: list[str], golds: list[str]) -> MetricResult:
        held = newly_held(passages[: self.k], golds)
        ranks = [rank for rank, golds_held in enumerate(held, 1) if golds_held]
        return self.result(self.value(held, len(golds)), hit_ranks=ranks, found=sum(map(len, held)))

    @abstractmethod
    def value(self, held: list[set[int]], golds: int) -> float:
        """The metric's number, given which golds each of the top K passages is first to hold."""


class PassageRecallAtK(_Ranked):
    """Share of the gold passages found among the top K passages, by the either-way substring rule.

    Formula: |golds that stand in, or hold, one of the top K passages| / |gold|, texts lower-cased and stripped; an
    empty text matches nothing. Each gold counts once, however many passages hold it. Range 0 to 1, higher is better.
    None without gold passages, and where a gold or the chunks carry no text. Unlike recall_at_K it knows no documents
    and no thresholds, so a short passage is found in every gold that holds it.
    Reference: as the specification writes it, after Manning et al. 2008.
    """

    family = "passage_recall_at"

    def value(self, held: list[set[int]], golds: int) -> float:
        return sum(map(len, held)) / golds


class PassageNDCGAtK(_Ranked):
    """Normalised discounted cumulative gain of the top K passages, by the either-way substring rule.

    Formula: DCG@K / IDCG@K, DCG = sum of rel / log2(rank + 1), IDCG = sum of 1 / log2(rank + 1) over the first
    min(number of golds, K) ranks. rel is 1 where the passage holds a gold that no earlier one holds,
    else 0: the specification lets each passage gain, whose sum can exceed 1. A passage that holds two golds gains once,
    and the ideal has two. Range 0 to 1, higher is better. None without gold passages,
    and where a gold or the chunks carry no text.
    Reference: the formula of the specification, after Järvelin & Kekäläinen 2002; trec_eval's ndcg_cut_K where
    passages and golds match one to one.
    """

    family = "passage_ndcg_at"

    def value(self, held: list[set[int]], golds: int) -> float:
        return ndcg_at([float(bool(golds_held)) for golds_held in held], [1.0] * golds, self.k)
