"""Citation: does the answer name the passages that it should rest on?

A citation inherits the match of the chunk that it resolves to. One that resolves to no retrieved chunk is wrong and
counted as `invalid`; a source cited twice counts once. An answer that abstains has nothing to cite.
"""

from abc import abstractmethod

from evals.metrics.base import BaseMetric, Need
from evals.metrics.case import Case
from evals.metrics.cited import CitedSource
from evals.metrics.matching import same_document
from evals.metrics.text import plain
from evals.schemas import MetricGroup, MetricResult


class _Citation(BaseMetric):
    """What all citation metrics share."""

    group = MetricGroup.CITATION
    needs = frozenset({Need.GOLD, Need.CHUNKS, Need.CITATIONS})

    def measure(self, case: Case) -> MetricResult:
        if case.abstained:
            return self.undefined("the answer abstains")
        return self.measure_sources(case, case.cited)

    @abstractmethod
    def measure_sources(self, case: Case, sources: list[CitedSource]) -> MetricResult:
        """Measure the distinct cited sources of an answer."""


class CitationPrecision(_Citation):
    """Share of the cited sources that hold a gold passage.

    Formula: |distinct cited chunks that match a gold| / |distinct citations|, those that point to nothing retrieved
    counting as wrong. Range 0 to 1, higher is better. None without gold, without citations or for an abstention.
    Reference: after Gao et al. 2023 (ALCE), with gold passages in the place of entailment.
    """

    name = "citation_precision"

    def measure_sources(self, case: Case, sources: list[CitedSource]) -> MetricResult:
        if not sources:
            return self.undefined("the answer cites nothing")
        right = sum(1 for source in sources if source.place is not None and case.matches.by_chunk[source.place])
        return self.result(right / len(sources), cited=len(sources), invalid=_invalid(sources))


class CitationRecall(_Citation):
    """Share of the gold passages that are cited.

    Formula: |golds held by cited chunks| / |gold|; 0 where the answer cites nothing.
    Range 0 to 1, higher is better. None without gold, for an abstention, or where the server sends no citations.
    Reference: after Gao et al. 2023 (ALCE), with gold passages in the place of entailed sentences.
    """

    name = "citation_recall"

    def measure_sources(self, case: Case, sources: list[CitedSource]) -> MetricResult:
        covered: set[int] = set()
        for source in sources:
            if source.place is not None:
                covered.update(case.matches.by_chunk[source.place])
        value = len(covered) / len(case.question.gold_passages)
        return self.result(value, cited=len(sources), invalid=_invalid(sources))


class SectionAccuracy(_Citation):
    """Share of the cited sources that stand in the right document and the right section.

    Formula: |distinct citations whose document and section are those of a gold| / |distinct citations|.
    Range 0 to 1, higher is better. None where golds name no document and section, or the server sends no sections.
    Reference: defined here.
    """

    name = "section_accuracy"
    needs = _Citation.needs | {Need.SECTIONS}

    def measure_sources(self, case: Case, sources: list[CitedSource]) -> MetricResult:
        golds = [gold for gold in case.question.gold_passages if gold.document_id and gold.section]
        if not golds:
            return self.undefined("the gold passages name no document and section")
        if not sources:
            return self.undefined("the answer cites nothing")
        chunks = case.response.chunks or []
        if not any(chunk.section for chunk in chunks) and not any(source.section for source in sources):
            return self.undefined("the server sends no sections")
        right = 0
        for source in sources:
            if source.place is None or not source.section:
                continue
            section = plain(source.section)
            right += any(
                plain(gold.section or "") == section and same_document(chunks[source.place], gold.document_id)
                for gold in golds
            )
        return self.result(right / len(sources), cited=len(sources), invalid=_invalid(sources))


def _invalid(sources: list[CitedSource]) -> int:
    return sum(1 for source in sources if source.place is None)
