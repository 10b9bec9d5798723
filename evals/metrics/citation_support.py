"""Citation support by sentence: do the passages that a sentence cites say what it says?

After ALCE (Gao et al. 2023), with the judge in the place of its entailment model. Sentences are our splitter's; a
citation belongs to the sentences that it covers, or to the one that it follows.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from evals.metrics.base import Need
from evals.metrics.case import Case
from evals.metrics.cited import place_of
from evals.metrics.inquiries import numbered_contexts
from evals.metrics.judged import Inquiry, JudgedMetric, Reply
from evals.metrics.sentences import sentence_spans
from evals.schemas import Citation, MetricGroup, MetricResult

_RANGE = r"\d{1,9}(?:\s*+[–-]\s*+\d{1,9})?"
# From the first blank on and without a way back, so that a long run of them is gone over once.
_MARKER = re.compile(rf"(?<!\s)\s*+\[({_RANGE}(?:\s*+[,;]\s*+{_RANGE})*)\]")


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


def statements(case: Case) -> list[Statement] | None:
    """The sentences of the answer with what they cite; None where nothing says which sentence a citation stands in."""
    answer = case.response.answer or ""
    placed = _placed(case, answer)
    if placed is None:
        return None
    spans = _sentences(answer)
    cited: list[list[int | None]] = [[] for _ in spans]
    for start, end, chunk in placed:
        for place in _covered(spans, start, end):
            cited[place].append(chunk)
    return [
        Statement(
            _MARKER.sub("", answer[slice(*span)]).strip(), tuple(dict.fromkeys(filter(None, found))), None in found
        )
        for span, found in zip(spans, cited, strict=True)
    ]


@lru_cache(maxsize=256)
def _sentences(answer: str) -> list[tuple[int, int]]:
    """Where sentences stand that are more than citation marks; asked for again with every verdict that arrives."""
    return [span for span in sentence_spans(answer) if _MARKER.sub("", answer[slice(*span)]).strip()]


def _placed(case: Case, answer: str) -> list[tuple[int, int, int | None]] | None:
    """Start, end and chunk number of each citation; the number is None where it resolves to no chunk with text."""
    known = {context["id"] for context in numbered_contexts(case)}
    found = [c for c in case.response.citations or [] if c.start is not None and c.end is not None]
    if not found:
        found = list(_marked(answer))
    if not found and case.response.citations:
        return None
    placed = []
    for citation in found:
        place = place_of(citation, case.response.chunks or [], case.citation_base)
        number = place + 1 if place is not None and place + 1 in known else None
        placed.append((citation.start or 0, citation.end or 0, number))
    return placed


def _marked(answer: str) -> list[Citation]:
    """The citations of marks such as [1], [1, 3] and [2-4]."""
    return [
        Citation(index=number, start=marker.start(1) - 1, end=marker.end())
        for marker in _MARKER.finditer(answer)
        for part in re.split(r"[,;]", marker.group(1))
        for number in _numbers(part)
    ]


def _numbers(part: str) -> Sequence[int]:
    low, *high = map(int, re.split("[–-]", part))
    return range(low, min(high[0], low + 100) + 1) if high else [low]


def _covered(spans: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """The places of the sentences that a citation covers, else of the one before it."""
    covered = [place for place, (first, last) in enumerate(spans) if first < end and start < last]
    before = [place for place, (first, _) in enumerate(spans) if first < start]
    return covered or before[-1:]


def _data(case: Case) -> dict[str, Any]:
    found = list(enumerate(statements(case) or [], start=1))
    cited = {chunk for _, statement in found if statement.examined for chunk in statement.cited}
    return {
        "question": case.question.question,
        "passages": [context for context in numbered_contexts(case) if context["id"] in cited],
        "statements": [
            {"id": n, "text": statement.text, "citations": list(statement.cited)}
            for n, statement in found
            if statement.examined
        ],
    }


def _given(case: Case) -> Reply | None:
    return None if any(statement.examined for statement in statements(case) or []) else {"statements": []}


CITATION_SUPPORT = Inquiry("citation_support", "citation_support", _data, given=_given)
"""Which cited statements their citations support."""


class _CitationSupport(JudgedMetric):
    """What the three metrics share."""

    group = MetricGroup.CITATION
    suites: ClassVar = frozenset({"claims"})
    needs = frozenset({Need.JUDGE, Need.CHUNKS, Need.CITATIONS})
    inquiries = (CITATION_SUPPORT,)

    def settled(self, case: Case) -> MetricResult | None:
        if case.abstained:
            return self.undefined("the answer abstains")
        if case.response.chunks and not numbered_contexts(case):
            return self.undefined("the chunks carry no text")
        found = statements(case)
        if found is None:
            return self.undefined("the citations do not say which sentence they stand in")
        return None if found else self.undefined("the answer holds no sentence")


class CitationSupportRecall(_CitationSupport):
    """Share of the answer's sentences that the passages they cite support.

    Formula: supported sentences / all sentences on which the judge could tell; a sentence is supported if all its
    cited chunks together support it. A sentence without citation, or with one that was not retrieved, is not. Range 0
    to 1, higher is better. None for an abstention, where the chunks carry no text, and where the server does not say
    which sentence a citation stands in.
    Reference: Gao et al. 2023 (ALCE citation recall), with a judge instead of T5 entailment.
    """

    name = "citation_support_recall"

    def grade(self, case: Case, replies: Mapping[str, Reply]) -> MetricResult:
        verdicts = _verdicts(replies)
        counted = [
            verdicts[n]["verdict"] if statement.examined else "unsupported"
            for n, statement in enumerate(statements(case) or [], start=1)
        ]
        known = [verdict == "supported" for verdict in counted if verdict != "cannot_tell"]
        if not known:
            return self.undefined("the judge could not tell", missing="judge")
        return self.result(sum(known) / len(known), sentences=len(known), supported=sum(known))


def _verdicts(replies: Mapping[str, Reply]) -> dict[int, Reply]:
    return {item["id"]: item for item in replies[CITATION_SUPPORT.name]["statements"]}


def _needless(item: Reply) -> int:
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

    def grade(self, case: Case, replies: Mapping[str, Reply]) -> MetricResult:
        items = [item for item in _verdicts(replies).values() if item["verdict"] != "cannot_tell"]
        if not items:
            return _nothing_cited(self, replies)
        total = sum(len(item["citations"]) for item in items)
        supported = [item for item in items if item["verdict"] == "supported"]
        good = sum(len(item["citations"]) - _needless(item) for item in supported)
        return self.result(good / total, citations=total, counting=good)


def _nothing_cited(metric: _CitationSupport, replies: Mapping[str, Reply]) -> MetricResult:
    if _verdicts(replies):
        return metric.undefined("the judge could not tell", missing="judge")
    return metric.undefined("no sentence cites a retrieved chunk")


class OverCitationRate(_CitationSupport):
    """Share of the citations of supported sentences that these could do without.

    Formula: citations that do not support their sentence alone while the others do without them / all citations of
    supported sentences. Range 0 to 1, lower is better. None for an abstention, without a supported sentence,
    where the chunks carry no text, and where the server does not say which sentence a citation stands in.
    Reference: Gao et al. 2023 (the citations that ALCE's precision calls irrelevant).
    """

    name = "over_citation_rate"
    higher_is_better = False

    def grade(self, case: Case, replies: Mapping[str, Reply]) -> MetricResult:
        items = list(_verdicts(replies).values())
        supported = [item for item in items if item["verdict"] == "supported"]
        if not supported:
            if any(item["verdict"] == "cannot_tell" for item in items):
                return self.undefined("the judge could not tell", missing="judge")
            return self.undefined("no sentence is supported by what it cites")
        total = sum(len(item["citations"]) for item in supported)
        return self.result(sum(map(_needless, supported)) / total, citations=total)
