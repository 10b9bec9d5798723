"""Citation support by sentence: do the passages that a sentence cites say what it says?

After ALCE (Gao et al. 2023), with the judge in the place of its entailment model. Sentences are our splitter's; a
citation belongs to the sentences that it covers, or to the one that it follows. Where the server does not say where its
citations stand, the marks in the answer do: [1], [1, 3], [2-4]. A number from 1000 on is a year, and a mark glued to a
word counts where its numbers are those of citations or chunks ("a[0]" is code, "96 hours[1]" cites).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from evals.metrics.base import Need
from evals.metrics.judge_tasks import JudgeTask, ReplyData, numbered_contexts, passage_ids
from evals.metrics.judged import JudgedMetric
from evals.metrics.sample import Sample
from evals.schemas.response import Citation
from evals.schemas.results import MetricGroup, MetricResult
from evals.text.markup import citation_marks, numbers_of, without_citation_marks
from evals.text.sentences import sentence_spans

_NUMBERS = frozenset(range(1000))
"""What a mark may name that names nothing retrieved; from 1000 on it is a year."""


Placed = tuple[int, int, tuple[int | None, ...]]
"""Start and end of a citation, and the numbers of its chunks; None for one that resolves to no chunk with text."""


@dataclass(frozen=True, slots=True)
class Statement:
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


def statements(case: Sample) -> list[Statement] | None:
    """The sentences of the answer with what they cite; None where nothing says which sentence a citation stands in."""
    found = placed_statements(case)
    return None if found is None else [statement for _, statement in found]


def placed_statements(case: Sample) -> list[tuple[tuple[int, int], Statement]] | None:
    """The same, each with where it stands in the answer: its first and one-past-last character."""
    possible, cited = case.citation_numbers
    # Glued to a word, as in "array[1]", a mark counts where the response cites its number, or numbers no citation.
    known = _NUMBERS if possible <= _NUMBERS else _NUMBERS | possible  # what is remembered holds one set, not one each
    text = _read(case.response.answer or "", known, cited or possible)
    placed = _placed(case, text)
    return None if placed is None else list(zip(text.spans, _with_citations(text, placed), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """An answer cut into sentences: asked for again with every verdict that arrives, and so made once.

    Attributes:
        spans: Where the sentences stand that are more than citation marks.
        sentences: They themselves, without marks.
        marks: Start, end and numbers of each citation mark.
    """

    spans: tuple[tuple[int, int], ...]
    sentences: tuple[str, ...]
    marks: tuple[tuple[int, int, tuple[int, ...]], ...]


@lru_cache(maxsize=256)
def _read(answer: str, possible: frozenset[int], glued: frozenset[int]) -> _Text:
    spans = sentence_spans(answer)
    found = [(span, without_citation_marks(answer[slice(*span)], possible, glued).strip()) for span in spans]
    said = [(span, sentence) for span, sentence in found if sentence]
    marks = [(mark.opens, mark.end, numbers_of(mark.numbers)) for mark in citation_marks(answer, possible, glued)]
    return _Text(tuple(span for span, _ in said), tuple(sentence for _, sentence in said), tuple(marks))


def _placed(case: Sample, text: _Text) -> tuple[Placed, ...] | None:
    """The citations that say where they stand, else those of the marks; None where neither say it of any."""
    citations, readable = case.response.citations or [], {rank for rank, _ in case.passages}

    def number_of(citation: Citation) -> int | None:
        place = case.place_of(citation)
        return place + 1 if place is not None and place + 1 in readable else None

    found: list[Placed] = [
        (one.start, one.end, (number_of(one),)) for one in citations if one.start is not None and one.end is not None
    ]
    if not found:
        named = {numbers for *_, numbers in text.marks}
        known = {number: number_of(Citation(index=number)) for number in set().union(*named)}
        resolved = {numbers: tuple(known[number] for number in numbers) for numbers in named}
        found = [(start, end, resolved[numbers]) for start, end, numbers in text.marks]
    return None if citations and not found else tuple(dict.fromkeys(found))


@lru_cache(maxsize=256)
def _with_citations(text: _Text, placed: tuple[Placed, ...]) -> tuple[Statement, ...]:
    """The sentences, each with the citations that cover it, or follow it and cover none."""
    firsts, lasts = [first for first, _ in text.spans], [last for _, last in text.spans]
    cited: list[list[int | None]] = [[] for _ in text.spans]
    for start, end, chunks in placed:
        covered = range(bisect_right(lasts, start), bisect_left(firsts, end))
        before = bisect_left(firsts, start)
        for place in covered or range(max(0, before - 1), before):
            cited[place].extend(chunks)
    return tuple(
        Statement(sentence, tuple(dict.fromkeys(filter(None, found))), None in found)
        for sentence, found in zip(text.sentences, cited, strict=True)
    )


def _data(case: Sample) -> dict[str, Any]:
    found = list(enumerate(statements(case) or [], start=1))
    shown = passage_ids(case)
    cited = {shown[chunk] for _, statement in found if statement.examined for chunk in statement.cited}
    return {
        "passages": [context for context in numbered_contexts(case) if context["id"] in cited],
        "question": case.asked,
        "statements": [
            {"id": n, "text": statement.text, "citations": [shown[chunk] for chunk in statement.cited]}
            for n, statement in found
            if statement.examined
        ],
    }


def _given(case: Sample) -> ReplyData | None:
    return None if any(statement.examined for statement in statements(case) or []) else {"statements": []}


CITATION_SUPPORT = JudgeTask("citation_support", "citation_support", _data, given=_given)
"""Which cited statements their citations support."""


class _CitationSupport(JudgedMetric):
    """What the three metrics share."""

    group = MetricGroup.CITATION
    suites: ClassVar = frozenset({"claims", "production"})
    needs = frozenset({Need.JUDGE, Need.CHUNKS, Need.CITATIONS})
    inquiries = (CITATION_SUPPORT,)

    def hangs_on_abstention(self, case: Sample) -> bool:
        return self._not_to_examine(case) is None

    def settled(self, case: Sample) -> MetricResult | None:
        return self.undefined("the answer abstains") if case.abstained else self._not_to_examine(case)

    def _not_to_examine(self, case: Sample) -> MetricResult | None:
        """Why no sentence of an answer could be examined; None where some can be."""
        without_text = super().settled(case)
        if without_text is not None:
            return without_text
        found = statements(case)
        if found is None:
            return self.undefined("the citations do not say which sentence they stand in")
        return None if found else self.undefined("the answer holds no sentence")


def _verdicts(replies: Mapping[str, ReplyData]) -> dict[int, ReplyData]:
    return {item["id"]: item for item in replies[CITATION_SUPPORT.name]["statements"]}


def _needless(item: ReplyData) -> int:
    """How many of several citations a supported sentence needs not: they fail alone, and the others suffice."""
    citations = item["citations"]
    return sum(not one["alone"] and one["without"] for one in citations) if len(citations) > 1 else 0


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

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
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

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        verdicts = _verdicts(replies)
        counted = [
            verdicts[n]["verdict"] if statement.examined else "unsupported"
            for n, statement in enumerate(statements(case) or [], start=1)
        ]
        known = [verdict == "supported" for verdict in counted if verdict != "cannot_tell"]
        if not known:
            return self.undecided()
        return self.result(sum(known) / len(known), sentences=len(known), supported=sum(known))


class OverCitationRate(_CitationSupport):
    """Share of the citations of supported sentences that these could do without.

    Formula: citations that do not support their sentence alone while the others do without them / all citations of
    supported sentences. Range 0 to 1, lower is better. None for an abstention, without a supported sentence,
    where the chunks carry no text, and where the server does not say which sentence a citation stands in.
    Reference: Gao et al. 2023 (the citations that ALCE's precision calls irrelevant).
    """

    name = "over_citation_rate"
    higher_is_better = False

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        items = list(_verdicts(replies).values())
        supported = [item for item in items if item["verdict"] == "supported"]
        if not supported:
            if any(item["verdict"] == "cannot_tell" for item in items):
                return self.undecided()
            return self.undefined("no sentence is supported by what it cites")
        total = sum(len(item["citations"]) for item in supported)
        return self.result(sum(map(_needless, supported)) / total, citations=total)
