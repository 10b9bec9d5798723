"""Passage: are the retrieved passages the gold ones, by their text alone?

A passage holds a gold where one of the two texts stands in the other, lower-cased and stripped (the either-way
substring rule); an empty text holds nothing and stands nowhere. Only texts are compared: no ids, no documents, no
thresholds. A passage gains only where it is the first to hold a gold.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from evals.metrics.base import Aggregation, AtK, BaseMetric, Need
from evals.metrics.ranking import ndcg_at, recall_at
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.matching.recognise import Matches
from evals.text.sentences import word_set


def exact_match(passages: Sequence[str], golds: Sequence[str]) -> float:
    """Return 1 where the first passage is one of the golds, lower-cased and stripped; else 0."""
    first = _normal(passages[0]) if passages else ""
    return float(bool(first) and any(first == _normal(gold) for gold in golds))


def span_f1(passages: Sequence[str], golds: Sequence[str]) -> float:
    """Return the best F1 of the first passage's token set with that of a gold; 0 where they share no token."""
    first = word_set(passages[0]) if passages else frozenset()
    return max((_set_f1(first, word_set(gold)) for gold in golds), default=0.0)


def passage_ndcg(matches: Matches, golds: int, k: int) -> float:
    """Return nDCG@k of passages that gain 1 each where they newly hold a gold; the ideal has one gain for each gold.

    Args:
        matches: Which passage holds which gold.
        golds: Number of gold passages; must be positive.
        k: Cut-off rank.
    """
    return ndcg_at([float(bool(found)) for found in matches.newly_found], [1.0] * golds, k)


def substring_matches(passages: Sequence[str], golds: Sequence[str]) -> Matches:
    """Compare every passage with every gold by the either-way substring rule."""
    held, wanted = [_normal(passage) for passage in passages], [_normal(gold) for gold in golds]
    result = Matches(len(passages), original=range(len(passages)))
    for index, gold in enumerate(wanted):
        for place, passage in enumerate(held):
            if gold and passage and (gold in passage or passage in gold):
                result.add(place, index, "substring")
                result.found.setdefault(index, (place, "substring"))
    return result


def _normal(text: str) -> str:
    return text.lower().strip()


def _set_f1(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return 2 * shared / (len(one) + len(other)) if shared else 0.0


class _Passage(BaseMetric):
    """What all passage metrics share: texts of chunks in the server's order, and texts of golds."""

    group = MetricGroup.RETRIEVAL
    suites = frozenset({"passage"})
    needs = frozenset({Need.GOLD, Need.CHUNKS})

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        reason = super().not_applicable_to(question)
        if reason is None and not all(gold.text for gold in question.gold_passages):
            return "a gold passage carries no text"
        return reason

    def measure(self, case: Sample) -> MetricResult:
        chunks = case.response.chunks or []
        if chunks and all(chunk.text is None for chunk in chunks):
            return self.undefined("the chunks carry no text")
        return self.measure_texts([chunk.text or "" for chunk in chunks], [g.text for g in case.question.gold_passages])

    @abstractmethod
    def measure_texts(self, passages: list[str], golds: list[str]) -> MetricResult:
        """Measure the retrieved texts against the texts of the golds."""


class PassageExactMatch(_Passage):
    """Whether the first retrieved passage is a gold passage, word for word.

    Formula: 1 where the top passage equals any gold, both lower-cased and stripped of white space at their ends, else
    0; 0 where nothing was retrieved. Range 0 to 1, higher is better. None without gold passages, and where a gold or
    the chunks carry no text. Reference: Rajpurkar et al. 2016 (SQuAD), whose exact match this applies to passages.
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
    and "non-profit" are none); stop words stay. 0 where no token is shared or nothing was retrieved.
    Range 0 to 1, higher is better. None without gold passages, and where a gold or the chunks carry no text.
    Reference: Rajpurkar et al. 2016 (SQuAD), whose F1 counts repeated words; this one does not.
    """

    name = "span_f1"

    def measure_texts(self, passages: list[str], golds: list[str]) -> MetricResult:
        return self.result(span_f1(passages, golds))


class _Ranked(AtK, _Passage):
    """What the passage metrics with a cut-off share."""

    default_ks: ClassVar = (10,)

    def measure_texts(self, passages: list[str], golds: list[str]) -> MetricResult:
        matches = substring_matches(passages[: self.k], golds)
        evidence: dict[str, Any] = matches.evidence
        return self.result(self.value(matches, len(golds)), **evidence)

    @abstractmethod
    def value(self, matches: Matches, golds: int) -> float:
        """The metric's number, given which of the top K passages holds which gold."""


class PassageRecallAtK(_Ranked):
    """Share of the gold passages found among the top K passages, by the either-way substring rule.

    Formula: |golds that stand in, or hold, one of the top K passages| / |gold|, texts lower-cased and stripped; an
    empty text matches nothing. Each gold counts once, however many passages hold it.
    Range 0 to 1, higher is better. None without gold passages, and where a gold or the chunks carry no text.
    Unlike recall_at_K it knows no documents and no thresholds, so a short passage is found in every gold that holds
    it. Reference: Manning et al. 2008; equal to trec_eval's recall_K where passages and golds match one to one.
    """

    family = "passage_recall_at"

    def value(self, matches: Matches, golds: int) -> float:
        return recall_at(matches.found_counts, golds, self.k)


class PassageNDCGAtK(_Ranked):
    """Normalised discounted cumulative gain of the top K passages, by the either-way substring rule.

    Formula: DCG@K / IDCG@K, DCG = sum of rel / log2(rank + 1), IDCG = sum of 1 / log2(rank + 1) over the first
    min(number of golds, K) ranks. rel is 1 where the passage holds a gold that no earlier one holds, else 0: repeating
    a gold gains nothing, so the value never exceeds 1. A passage that holds two golds gains once, and the ideal has
    two: 1 cannot be reached then. Equal to trec_eval's ndcg_cut_K where passages and golds match one to one. Range 0 to
    1, higher is better. None without gold passages, and where a gold or the chunks carry no text. Unlike ndcg_at_K it
    takes golds that stand together in one passage for as many relevant passages.
    Reference: Järvelin & Kekäläinen 2002.
    """

    family = "passage_ndcg_at"

    def value(self, matches: Matches, golds: int) -> float:
        return passage_ndcg(matches, golds, self.k)
