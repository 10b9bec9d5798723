"""Citation: does the answer name the passages that it should rest on?

A citation inherits the match of the chunk that it resolves to. One that names only a document, or a section of it,
stands for all its retrieved chunks: it is right where any of them is, whatever their order. One that resolves to no
retrieved chunk is wrong and counted as `invalid`; a source cited twice counts once. An answer that abstains has nothing
to cite.
"""

import re
from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from evals.metrics.base import BaseMetric, Need
from evals.metrics.judge_tasks import JudgeTask, ReplyData, numbered_contexts, passage_ids
from evals.metrics.judged import JudgedMetric, Replies, marks
from evals.metrics.sample import CitedSource, Lack, Sample
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import Citation, RetrievedChunk
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.documents import kinship, names_of
from evals.text.markup import citation_marks, numbers_of, without_citation_marks
from evals.text.sentences import sentence_spans
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
        without = None if _with_section(question) else "the gold passages do not name both document and section"
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


# Support by sentence: do the passages that a sentence cites say what it says.


_NUMBERS = frozenset(range(1000))
"""What a mark may name that names nothing retrieved; from 1000 on it is a year."""


class Statement(NamedTuple):
    """A sentence of an answer.

    Attributes:
        text: Without citation marks.
        cited: Numbers of the chunks that it cites, from 1, each once.
        invalid: Whether it cites something that was not retrieved.
    """

    text: str
    cited: tuple[int, ...]
    invalid: bool

    @property
    def examined(self) -> bool:
        """Whether a judge must look at it: without a citation, or with an invalid one, it is not supported anyway."""
        return bool(self.cited) and not self.invalid


def statements(sample: Sample) -> list[Statement] | None:
    """The sentences of the answer with what they cite; None where nothing says which sentence a citation stands in."""
    if "statements" not in sample.derived:  # asked for again with every verdict that arrives
        sample.derived["statements"] = _read(sample)
    read: list[Statement] | None = sample.derived["statements"]
    return read


def _read(sample: Sample) -> list[Statement] | None:
    answer, (possible, indices) = sample.response.answer or "", sample.citation_numbers
    # Glued to a word, as in "array[1]", a mark counts where the response cites its number, or numbers no citation.
    numbers = _NUMBERS | possible, indices or possible
    citations = list(_citations(sample, *numbers))
    if sample.response.citations and not citations:
        return None
    spans = sentence_spans(answer)
    texts = [without_citation_marks(answer[first:last], *numbers).strip() for first, last in spans]
    spans = [span for span, text in zip(spans, texts, strict=True) if text]
    firsts, lasts = [first for first, _ in spans], [last for _, last in spans]
    ranks: list[list[int | None]] = [[] for _ in spans]
    for start, end, cited in citations:
        covered = range(bisect_right(lasts, start), bisect_left(firsts, end))
        before = bisect_left(firsts, start)
        for sentence in covered or range(max(0, before - 1), before):
            ranks[sentence] += cited
    rows = zip(filter(None, texts), ranks, strict=True)
    return [Statement(text, tuple(dict.fromkeys(filter(None, cited))), None in cited) for text, cited in rows]


def _citations(sample: Sample, *numbers: frozenset[int]) -> Iterator[tuple[int, int, list[int | None]]]:
    """Where the citations stand that say it, else the marks, each with the ranks of its chunks.

    The rank is None of one that resolves to no chunk with text.

    Args:
        sample: The record.
        numbers: That a mark may name, and those that one may name which is glued to a word.
    """
    citations = sample.response.citations or []
    placed = [citation for citation in citations if citation.start is not None and citation.end is not None]
    for citation in placed:
        yield citation.start or 0, citation.end or 0, [sample.rank_of(citation)]
    for mark in [] if placed else citation_marks(sample.response.answer or "", *numbers):
        yield mark.opens, mark.end, [sample.rank_of(Citation(index=number)) for number in numbers_of(mark.numbers)]


def _examined(sample: Sample) -> list[tuple[int, Statement]]:
    """The statements that a judge must look at, with their numbers among all."""
    return [pair for pair in enumerate(statements(sample) or [], start=1) if pair[1].examined]


def _data(sample: Sample) -> dict[str, Any]:
    ids = passage_ids(sample)
    shown: list[dict[str, Any]] = [
        {"id": number, "text": statement.text, "citations": [ids[rank] for rank in statement.cited]}
        for number, statement in _examined(sample)
    ]
    cited = {number for item in shown for number in item["citations"]}
    passages = [context for context in numbered_contexts(sample) if context["id"] in cited]
    return {"passages": passages, "question": sample.asked, "statements": shown}


def _given(sample: Sample) -> ReplyData | None:
    return None if _examined(sample) else {"statements": []}


CITATION_SUPPORT = JudgeTask("citation_support", "citation_support", _data, given=_given)
"""Which cited statements their citations support."""


class _CitationSupport(JudgedMetric):
    """What the three metrics share."""

    group = MetricGroup.CITATION
    suites: ClassVar = frozenset({"claims", "production"})
    needs = frozenset({Need.JUDGE, Need.CHUNKS, Need.CITATIONS})
    inquiries = (CITATION_SUPPORT,)

    def hangs_on_abstention(self, sample: Sample) -> bool:
        return self._not_to_examine(sample) is None

    def settled(self, sample: Sample) -> MetricResult | None:
        return self.undefined("the answer abstains") if sample.abstained else self._not_to_examine(sample)

    def _not_to_examine(self, sample: Sample) -> MetricResult | None:
        """Why no sentence of an answer could be examined; None where some can be."""
        if (without_text := super().settled(sample)) is not None:
            return without_text
        if (sentences := statements(sample)) is None:
            return self.undefined("the citations do not say which sentence they stand in")
        return None if sentences else self.undefined("the answer holds no sentence")


def _verdicts(replies: Replies) -> dict[int, ReplyData]:
    return {item["id"]: item for item in replies[CITATION_SUPPORT.name]["statements"]}


def _needless(item: ReplyData) -> int:
    """How many of several citations a supported sentence needs not: they fail alone, and the others suffice."""
    citations = item["citations"]
    return sum(not citation["alone"] and citation["without"] for citation in citations) if len(citations) > 1 else 0


class CitationSupportPrecision(_CitationSupport):
    """Share of the citations that help to support their sentence.

    Formula: citations of supported sentences that count / all citations. The only citation of a supported sentence
    counts; of several, each counts unless it does not support the sentence alone and the others do without it. A
    sentence that cites something that was not retrieved is left out, as in ALCE. Range 0 to 1, higher is better. None
    for an abstention, without citations (ALCE: 0), where the chunks carry no text, and where the server does not say
    which sentence a citation stands in.
    Reference: Gao et al. 2023 (ALCE citation precision), with a judge instead of T5 entailment.
    """

    name = "citation_support_precision"

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        items = [item for item in _verdicts(replies).values() if item["verdict"] != "cannot_tell"]
        if not items:
            return self.undecided() if _verdicts(replies) else self.undefined("no sentence cites a retrieved chunk")
        total = sum(len(item["citations"]) for item in items)
        supported = [item for item in items if item["verdict"] == "supported"]
        good = sum(len(item["citations"]) - _needless(item) for item in supported)
        return self.result(good / total, citations=total, counting=good)


class CitationSupportRecall(_CitationSupport):
    """Share of the answer's sentences that the passages they cite support.

    Formula: supported sentences / all sentences on which the judge could tell; a sentence is supported if all its
    cited chunks together support it. A sentence without citation, or with one that was not retrieved, is not. Range 0
    to 1, higher is better. None for an abstention, where the chunks carry no text, and where the server does not say
    which sentence a citation stands in.
    Reference: Gao et al. 2023 (ALCE citation recall), with a judge instead of T5 entailment.
    """

    name = "citation_support_recall"

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        verdicts, unsupported = _verdicts(replies), {"verdict": "unsupported"}
        numbered = enumerate(statements(sample) or [], start=1)
        items = [verdicts[number] if sentence.examined else unsupported for number, sentence in numbered]
        counted = marks(items, "supported")
        return self.share(counted, "sentences", supported=counted.count(True))


class OverCitationRate(_CitationSupport):
    """Share of the citations of supported sentences that these could do without.

    Formula: citations that do not support their sentence alone while the others do without them / all citations of
    supported sentences. Range 0 to 1, lower is better. None for an abstention, without a supported sentence,
    where the chunks carry no text, and where the server does not say which sentence a citation stands in.
    Reference: Gao et al. 2023 (the citations that ALCE's precision calls irrelevant).
    """

    name = "over_citation_rate"
    higher_is_better = False

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        items = list(_verdicts(replies).values())
        supported = [item for item in items if item["verdict"] == "supported"]
        if not supported:
            none = "no sentence is supported by what it cites"
            return self.undecided() if None in marks(items, "supported") else self.undefined(none)
        total = sum(len(item["citations"]) for item in supported)
        return self.result(sum(map(_needless, supported)) / total, citations=total)
