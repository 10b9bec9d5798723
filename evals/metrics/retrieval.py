"""Retrieval: were the right chunks found, and how high do they stand?"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from math import log2
from typing import ClassVar

from evals.metrics.base import Aggregation, AtK, BaseMetric, Need
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.markup import plain
from evals.text.sentences import word_set

# The formulas.


def recall_at(newly_found: Sequence[int], total: int, k: int) -> float:
    """Return the share of the `total` relevant items first found within the top k.

    Args:
        newly_found: `newly_found[i]` is how many relevant items rank i + 1 finds that no earlier rank found.
        total: Number of relevant items; must be positive.
        k: Cut-off rank.
    """
    return sum(newly_found[:k]) / total


def precision_at(hits: Sequence[bool], k: int) -> float:
    """Return the share of the top k that is relevant; missing results count as misses.

    Results count, not relevant items: several that hold one item are as many relevant results.
    """
    return sum(hits[:k]) / k


def reciprocal_rank(hits: Sequence[object]) -> float:
    """Return 1 / rank of the first relevant result, 0 where there is none. No cut-off.

    Args:
        hits: For each rank whether its result is relevant, or the relevant items that it finds.
    """
    return next((1.0 / rank for rank, hit in enumerate(hits, start=1) if hit), 0.0)


def dcg_at(gains: Sequence[float], k: int) -> float:
    """Return the discounted cumulative gain of the top k: sum of gain / log2(rank + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains[:k], start=1) if gain)


def ndcg_at(gains: Sequence[float], ideal: Iterable[float], k: int) -> float:
    """Return DCG@k divided by the DCG@k of the ideal order (Järvelin & Kekäläinen 2002).

    Args:
        gains: Gain of each rank.
        ideal: The gains of all relevant items, found or not; at least one must be positive.
        k: Cut-off rank.
    """
    best = dcg_at(sorted(ideal, reverse=True), k)
    return min(1.0, dcg_at(gains, k) / best)  # equal sums in another order may differ in the last digit


def adapted_ndcg(hits: Sequence[bool], relevant: int) -> float:
    """Return sum of 1 / (i + 1) over the hits at i (from 0), divided by that of `relevant` hits in the first places.

    Args:
        hits: `hits[i]` is whether the result at place i is relevant; at most `relevant` of them may be.
        relevant: Number of relevant items, found or not; must be positive.
    """
    gain = sum(1.0 / (place + 1) for place, hit in enumerate(hits) if hit)
    return gain / sum(1.0 / (place + 1) for place in range(relevant))


def unit_ndcg_at(newly_found: Sequence[set[int]], grades: Sequence[float], k: int) -> float:
    """Return nDCG@k where one result may cover several relevant items.

    A result gains the highest grade among the items that it is first to cover. Items covered together form one unit
    of the ideal order, so that the value never exceeds 1.

    Args:
        newly_found: For each rank, the items (by index) that it covers and no earlier rank does.
        grades: Grade of each item; at least one must be positive.
        k: Cut-off rank.
    """
    units = newly_found[:k]
    gains = [max([grades[index] for index in items]) if items else 0.0 for items in units]
    covered = set().union(*units)
    missed = [grade for index, grade in enumerate(grades) if index not in covered]
    return ndcg_at(gains, [gain for gain in gains if gain] + missed, k)


class _Retrieval(BaseMetric):
    """What all retrieval metrics share: they need gold passages, and chunks in the server's order."""

    group = MetricGroup.RETRIEVAL
    suites: ClassVar[frozenset[str]] = frozenset({"core"})
    needs = frozenset({Need.GOLD, Need.CHUNKS})

    def measure(self, sample: Sample) -> MetricResult:
        return self.result(self.value(sample), **sample.matches.evidence)

    @abstractmethod
    def value(self, sample: Sample) -> float:
        """The metric's number."""


class RecallAtK(AtK, _Retrieval):
    """Share of the gold passages found in the top K chunks.

    Formula: |gold found in top K| / |gold|. Each gold counts once, however many chunks hold it.
    Range 0 to 1, higher is better. None without gold passages.
    Reference: as the specification writes it; trec_eval recall_K.
    """

    family = "recall_at"
    default_ks: ClassVar = (1, 3, 5, 10)

    def value(self, sample: Sample) -> float:
        counts = [len(golds) for golds in sample.matches.newly_found]
        return recall_at(counts, len(sample.question.gold_passages), self.k)


class PrecisionAtK(AtK, _Retrieval):
    """Share of the top K chunks that hold any gold passage.

    Formula: |distinct relevant chunks in top K| / K; missing chunks count as misses, a repeated chunk gains nothing. A
    piece of a gold that chunk borders have cut is relevant where the top K complete the gold, also next to a chunk that
    is a hit by itself. Range 0 to 1, higher is better. None without gold passages.
    Reference: as the specification writes it; trec_eval P_K, which it equals where chunks and golds match one to
    one. Where several chunks hold one gold, or pieces of it, each of them is relevant here, whereas trec_eval, over
    golds, would count one. A chunk that is sent twice holds its rank, whereas trec_eval drops the second.
    """

    family = "precision_at"
    default_ks: ClassVar = (1, 3, 5)

    def value(self, sample: Sample) -> float:
        return precision_at(sample.matches.hits_within(self.k), self.k)


class SetPrecision(_Retrieval):
    """Share of all chunks returned that hold any gold passage, however many those are.

    Formula: |distinct relevant chunks| / |chunks|, 0 where none is returned. Other than `precision_at_K` it falls as a
    server returns more chunks of which no more are relevant.
    Range 0 to 1, higher is better. None without gold passages. In no suite: named alone, or a part of `core` where
    variants are compared. Reference: trec_eval set_P, with the limits that `precision_at_K` has too.
    """

    name = "set_precision"
    suites: ClassVar = frozenset()

    def value(self, sample: Sample) -> float:
        size = len(sample.matches.hits)
        return precision_at(sample.matches.hits_within(size), size) if size else 0.0


class MRR(_Retrieval):
    """Reciprocal rank of the first relevant chunk; its mean over questions is the MRR.

    Formula: 1 / rank of the first chunk that holds any gold passage, 0 where none does; no cut-off. A gold that chunk
    borders have cut counts at the rank that completes it.
    Range 0 to 1, higher is better. None without gold passages.
    Reference: as the specification writes it; trec_eval recip_rank.
    """

    name = "mrr"

    def value(self, sample: Sample) -> float:
        return reciprocal_rank(sample.matches.newly_found)


class MRRAtK(AtK, _Retrieval):
    """Reciprocal rank of the first relevant chunk within the top K; `mrr_at_10` is MS MARCO's measure.

    Formula: 1 / rank of the first chunk that holds any gold passage, 0 where none of the top K does. A gold that chunk
    borders have cut counts at the rank that completes it.
    Range 0 to 1, higher is better. None without gold passages. In no suite: named alone.
    Reference: Bajaj et al. 2016 (MS MARCO), ir_measures RR@K.
    """

    family = "mrr_at"
    suites: ClassVar = frozenset()
    default_ks: ClassVar = ()

    def value(self, sample: Sample) -> float:
        return reciprocal_rank(sample.matches.newly_found[: self.k])


class NDCG(AtK, _Retrieval):
    """Normalised discounted cumulative gain of the top K chunks.

    Formula: DCG@K / ideal DCG@K, gain = relevance grade (linear), discount log2(rank + 1). A chunk gains the highest
    grade among the golds that it is first to cover; golds covered together by one chunk form one ideal unit, so the
    value never exceeds 1, and equals trec_eval's ndcg_cut wherever chunks and golds match one to one.
    Range 0 to 1, higher is better. None without gold passages.
    Reference: as the specification writes it (DCG/IDCG), after Järvelin & Kekäläinen 2002 and trec_eval; that golds
    of one chunk are one unit is ours.
    """

    family = "ndcg_at"
    default_ks: ClassVar = (10,)

    def value(self, sample: Sample) -> float:
        grades = [gold.relevance for gold in sample.question.gold_passages]
        return unit_ndcg_at(sample.matches.newly_found, grades, self.k)


# Passages against gold passages by their text.


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
