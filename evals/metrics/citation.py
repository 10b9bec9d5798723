"""Citation: does the answer name the passages that it should rest on?

A citation inherits the match of the chunk that it resolves to. One that names only a document, or a section of it,
stands for all its retrieved chunks: it is right where any of them is, whatever their order. One that resolves to no
retrieved chunk is wrong and counted as `invalid`; a source cited twice counts once. An answer that abstains has nothing
to cite.
"""

import re
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from evals.metrics.base import BaseMetric, Need
from evals.metrics.sample import CitedSource, Lack, Sample
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.documents import kinship, names_of
from evals.text.tokens import fold, tokens

_NUMBERED = frozenset({"section", "sec", "page", "p"})
"""Words before the number of a section that may be there or not, as the sign § may."""


class _Citation(BaseMetric):
    """What all citation metrics share: a share over the distinct cited sources."""

    group = MetricGroup.CITATION
    suites = frozenset({"core"})
    needs = frozenset({Need.GOLD, Need.CHUNKS, Need.CITATIONS})
    of_answer = True
    needs_sources: ClassVar[bool] = True
    """Whether there is nothing to measure where the answer cites nothing."""

    def hangs_on_abstention(self, sample: Sample) -> bool:
        return bool(sample.response.citations) or not self.needs_sources

    def measure(self, sample: Sample) -> MetricResult:
        if sample.abstained:
            return self.undefined("the answer abstains")
        sources = sample.cited
        if self.needs_sources and not sources:
            return self.undefined("the answer cites nothing")
        share = self.share(sample, sources)
        if isinstance(share, Lack):
            return self.undefined(share.reason)
        return self.result(share, cited=len(sources), invalid=sum(source.place is None for source in sources))

    @abstractmethod
    def share(self, sample: Sample, sources: list[CitedSource]) -> float | Lack:
        """The value of an answer that does not abstain, or why it has none."""


class CitationPrecision(_Citation):
    """Share of the cited sources that hold a gold passage.

    Formula: |distinct cited chunks that match a gold| / |distinct citations|, those that point to nothing retrieved
    counting as wrong; a citation of a document is one, and right where any retrieved chunk of it matches. A piece of a
    gold that chunk borders have cut is right where the cited chunks complete the gold. Range 0 to 1, higher is better.
    None without gold, without citations or for an abstention.
    Reference: as the specification writes it; after Gao et al. 2023 (ALCE), with gold passages in the place of
    entailment.
    """

    name = "citation_precision"

    def share(self, sample: Sample, sources: list[CitedSource]) -> float | Lack:
        return sum(any(sample.cited_golds[place] for place in source.places) for source in sources) / len(sources)


class CitationRecall(_Citation):
    """Share of the gold passages that are cited.

    Formula: |golds held by cited chunks| / |gold|; 0 where the answer cites nothing. A citation of a document cites all
    its retrieved chunks; one of a piece of a gold that chunk borders have cut counts where the others complete it.
    Range 0 to 1, higher is better. None without gold, for an abstention, or where the server sends no citations.
    Reference: as the specification writes it; after Gao et al. 2023 (ALCE), with gold passages in the place of
    entailed sentences.
    """

    name = "citation_recall"

    needs_sources = False

    def share(self, sample: Sample, sources: list[CitedSource]) -> float | Lack:
        held = {gold for golds in sample.cited_golds.values() for gold in golds}
        return len(held) / len(sample.question.gold_passages)


class SectionAccuracy(_Citation):
    """Share of the cited sources that stand in the right document and the right section.

    Formula: |distinct citations whose document and section are those of a gold| / |distinct citations|. The section is
    the one that the citation names, also where its chunk names another; else that of its chunk, or of any retrieved
    chunk of the document that it cites. "3. Fees", "§ 3 Fees" and "Section 3: Fees" are one section.
    Range 0 to 1, higher is better. None where golds name no document and section, no section was read of the chunks, or
    golds name pages and the server none.
    Reference: as the specification writes it; the share over citations is ours.
    """

    name = "section_accuracy"
    needs = _Citation.needs | {Need.SECTIONS}

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        without = None if _with_section(question) else "the gold passages name no document and section"
        return super().not_applicable_to(question) or without

    def share(self, sample: Sample, sources: list[CitedSource]) -> float | Lack:
        chunks, golds = sample.response.chunks or [], _with_section(sample.question)
        named = [*(chunk.section for chunk in chunks), *(name for source in sources for name in source.sections)]
        if not any(named):
            return Lack("no section was read of the chunks")
        if all(_is_number(gold.section) for gold in golds) and not any(map(_is_number, named)):
            return Lack("the gold passages name pages, and the server names none")
        return sum(any(_stands_in(source, gold, chunks) for gold in golds) for source in sources) / len(sources)


def _with_section(question: EvalQuestion) -> list[GoldPassage]:
    """The golds that say in which section of which document they stand."""
    return [gold for gold in question.gold_passages if gold.document_id and gold.section]


def _is_number(section: str | None) -> bool:
    """Whether it is the number of a page or section alone."""
    words = _section_key(section or "")
    return len(words) == 1 and words[0].isdigit()


def _stands_in(source: CitedSource, gold: GoldPassage, chunks: Sequence[RetrievedChunk]) -> bool:
    """Whether a cited source is of the gold's document, and names its section."""
    is_of_section = _section_key(gold.section or "") in map(_section_key, source.sections)
    names = (name for place in source.places for name in names_of(chunks[place]))
    return is_of_section and any(kinship(name, gold.document_id or "") for name in names)


@lru_cache(maxsize=2048)
def _section_key(section: str) -> tuple[str, ...]:
    """The words of a section's title, without what only says that a number follows; the text where it has no words."""
    words = tokens(section)
    if len(words) > 1 and words[0] in _NUMBERED and words[1][0].isdigit():
        words = words[1:]
    return words or (section.strip(),)


INDICATORS = ("source:", "table:", "page", "document", "pdf", "according to", "based on", "from")
"""What names a source, at the start of a word."""

_INDICATOR = re.compile(rf"\b(?:{'|'.join(INDICATORS)})")
_ENOUGH = 3


class SourceCitationQuality(BaseMetric):
    """How plainly the answer's own words say where it comes from.

    Formula: min(indicators found / 3, 1). The eight indicators: "source:", "table:", "page", "document", "pdf",
    "according to", "based on", "from"; each counts once however often it stands there, in any case, at the start of a
    word. Range 0 to 1, higher is better. It looks at words alone: whether what is cited is right is what
    `citation_precision` measures. None for an abstention, which has nothing to cite.
    Reference: the formula here, as the specification writes it; "page" is not found in "homepage".
    """

    name = "source_citation_quality"
    group = MetricGroup.CITATION
    suites = frozenset({"answer"})
    heeds_abstention = True
    of_answer = True

    def measure(self, sample: Sample) -> MetricResult:
        if sample.abstained:
            return self.undefined("the answer abstains")
        named = set(_INDICATOR.findall(" ".join(fold(sample.response.answer or "").split())))
        indicators = [indicator for indicator in INDICATORS if indicator in named]
        return self.result(min(len(indicators) / _ENOUGH, 1.0), indicators=indicators)
