"""One question with its response, and what several metrics derive from the two."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import zip_longest
from typing import NamedTuple

from evals.case.abstention.expected import holds_expected
from evals.case.citation_marks import MARKS_OPEN, without_citation_marks
from evals.case.cited import CitedSource, cited_sources
from evals.case.derived import derived
from evals.case.matching import ChunkComparison, ChunkList, Matches, MatchSettings, RunEvidence, chunk_list
from evals.case.refusal import JudgedAbstention, is_long, judges_word
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict
from evals.semantics.base import Semantics

_YEARS = 1000
"""From here on a number in brackets is a year or the like, also where it was read from the answer as a citation."""


class Lack(NamedTuple):
    """Why there is nothing to measure, as a `MetricResult` says it."""

    reason: str
    missing: str = "not_applicable"


@dataclass
class Case:
    """A record as metrics see it. What more than one metric needs is derived once, here.

    Args:
        question: What was asked, with its gold; citation marks are taken off its reference as off the answer.
        response: What the server said.
        verdicts: What the judge said about it, if anything.
        settings: How chunks are recognised as gold.
        citation_base: Number of the first chunk in the server's citation indices.
        judged: Whether a judge takes part in the run.
        semantics: What texts are compared with, if any metric wants that.
        evidence: What the run of the record says about matching; where None, the response speaks for itself.
        declining: Of which answers a judge that takes part has the word on whether they decline.
        keeps_flagged: Whether verdicts count of which the judge says that the data tells it what to decide.
    """

    question: EvalQuestion
    response: EvalResponse
    verdicts: Sequence[JudgeVerdict] = field(default_factory=tuple)
    settings: MatchSettings = field(default_factory=MatchSettings)
    citation_base: int = 1
    judged: bool = False
    semantics: Semantics | None = None
    evidence: RunEvidence | None = None
    declining: JudgedAbstention = field(default_factory=JudgedAbstention)
    keeps_flagged: bool = False
    lacks: dict[int, Lack | None] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By kind of metric, what is lacking where it has nothing to measure; kept by the metrics."""

    def __post_init__(self) -> None:
        texts = [self.question.expected_answer or "", *self.question.answers]
        if not any(sign in text for text in texts for sign in MARKS_OPEN):
            return
        expected, *answers = (without_citation_marks(text, *self.citation_numbers) for text in texts)
        self.question = self.question.model_copy(update={"expected_answer": expected or None, "answers": answers})

    @derived
    def matches(self) -> Matches:
        """Which retrieved chunk is which gold passage; empty where the server sent no chunks."""
        return self._comparison.matches

    @derived
    def _comparison(self) -> ChunkComparison:
        return ChunkComparison(self.question.gold_passages, self.settings, self.evidence, self.listed)

    @property
    def asked(self) -> str:
        """The question as somebody reads it who was not there: of a conversation, with what was said before."""
        if not self.question.turns:
            return self.question.question
        answers = [turn.answer or "" for turn in self.response.turns]
        before = zip_longest(self.question.turns[:-1], answers, fillvalue="")
        said = "\n".join(f"User: {message}\nAssistant: {answer}" for message, answer in before)
        return f"Said before:\n{said}\n\nThe question:\n{self.question.question}" if said else self.question.question

    @derived
    def listed(self) -> ChunkList:
        """The chunks, and which of them repeat others."""
        return chunk_list(self.response.chunks or [])

    @property
    def abstained(self) -> bool:
        """Whether the answer declines to answer.

        By the server's own flag; else by the judge's word where it is there, else by the text rules. Where that is open
        (`abstention_open`), no value may follow from it.
        """
        if not self.verdicts:
            return self._declines_by_itself
        said = self.judges_word
        return self._declines_by_itself if self.is_flagged or said is None else said

    @derived
    def _declines_by_itself(self) -> bool:
        """Whether it declines by the server's own flag, or by the text rules."""
        return self.is_flagged or self.reads_as_refusal

    @property
    def is_flagged(self) -> bool:
        """Whether the server itself says that it declined: that settles it, whatever the text is."""
        return self.response.refused is True

    @property
    def judges_word(self) -> bool | None:
        """Whether the answer declines, says the judge; None where it did not say it (yet), or is not to be asked.

        It is not about an answer of a few words, or one that the server calls a refusal itself.
        """
        return judges_word(self.verdicts, self.decided_by) if self.verdicts and self._is_for_judge else None

    @property
    def decided_by(self) -> str:
        """The name of the inquiry that decides whether the answer declines."""
        return self.declining.inquiry(self.question)

    @property
    def abstention_open(self) -> bool:
        """Whether a judge should say if the answer declines, and its word is not there (yet)."""
        return self.abstention_judged and self.judges_word is None

    @property
    def abstention_judged(self) -> bool:
        """Whether a judge has the word on whether the answer declines: never of few words, or flagged."""
        if not self.judged or not self._is_for_judge:
            return False
        return self.declining.concerns(self.question, reads_as_refusal=self.reads_as_refusal)

    @property
    def abstention_disputed(self) -> bool:
        """Whether one of text rules and judge takes the answer for a refusal, and the other does not."""
        said = self.judges_word
        return said is not None and said != self.reads_as_refusal

    def is_injected(self, inquiries: Collection[str]) -> bool:
        """Whether the judge flags a verdict by one of these inquiries, and such verdicts do not count."""
        if self.keeps_flagged or not inquiries:
            return False
        return any(each.is_flagged and each.inquiry in inquiries for each in self.verdicts)

    @derived
    def _is_for_judge(self) -> bool:
        return not (self.is_flagged or self.response.extractive) and is_long(self.answer or "")

    @derived
    def reads_as_refusal(self) -> bool:
        """Whether the text rules take the answer for one that declines; never one that is or holds what is expected.

        Of an extractive system only the empty answer declines: a span of a passage is what it says.
        """
        if self.response.extractive:
            return not (self.response.answer or "").strip()
        # The rules' patterns take a tenth of a second to compile, and a saved run is shown without them.
        from evals.case.abstention.clear import says_expected  # noqa: PLC0415
        from evals.case.abstention.detector import is_abstention  # noqa: PLC0415

        if not is_abstention(self.response.answer or "", self.question.question):
            return False
        if self._is_expected() or holds_expected(self.answer or "", self.question):
            return False
        return not says_expected(self.answer or "", self.question)

    def _is_expected(self) -> bool:
        """Whether the answer is an accepted one, but for case and closing marks, to what is known to be answerable."""
        answer = _bare(self.answer or "")
        question = self.question
        if question.is_unanswerable is not False or not answer:
            return False
        return any(answer == _bare(text) for text in (question.expected_answer or "", *question.answers))

    @derived
    def answer(self) -> str | None:
        """The answer as its text is compared: without citation marks; None where the server sent none.

        A mark such as [1] counts where its number can be that of a chunk or a citation of the response.
        """
        answer = self.response.answer
        return None if answer is None else without_citation_marks(answer, *self.citation_numbers)

    @derived
    def passages(self) -> list[tuple[int, str]]:
        """The chunks with text: their rank, from 1, and the text, in an order that the rank has no part in.

        A judge looks at what stands first with other eyes than at what stands last; by rank, that would be taken for
        the work of the retriever. The order is that of a hash over question and text, the same in every call.
        """
        texts = [(n, chunk.text) for n, chunk in enumerate(self.response.chunks or [], start=1) if chunk.text]
        return sorted(
            texts,
            key=lambda text: sha256(f"{self.question.question}\0{text[1]}".encode("utf-8", "surrogatepass")).digest(),
        )

    @derived
    def citation_numbers(self) -> tuple[frozenset[int], frozenset[int]]:
        """The numbers that a chunk or a citation of the response can have, and those that its citations hold."""
        citations = self.response.citations or []
        sources = max(len(self.response.chunks or []), len(citations))
        cited = frozenset(one.index for one in citations if one.index is not None and one.index < _YEARS)
        return cited.union(range(self.citation_base, self.citation_base + sources)), cited

    @derived
    def cited(self) -> list[CitedSource]:
        """The distinct cited sources, each with the chunks that it resolves to."""
        listed, citations = self.listed, self.response.citations or []
        return cited_sources(citations, listed.chunks, listed.original, self.citation_base, lambda: self.matches.hits)

    @derived
    def cited_golds(self) -> Mapping[int, Mapping[int, str]]:
        """For the place of each cited chunk, the golds that it holds.

        A piece of a gold that chunk borders have cut counts where the cited chunks complete the gold.
        """
        return self._comparison.held_among(sorted({place for source in self.cited for place in source.places}))


def _bare(text: str) -> str:
    return text.strip(" .!\n\t").casefold()
