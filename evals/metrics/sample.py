"""One question with its response, and what several metrics derive from the two."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from evals.metrics.embedders import Semantics
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import Citation, EvalResponse, RetrievedChunk
from evals.schemas.verdicts import JudgeVerdict, Prompt
from evals.text.documents import same_document
from evals.text.markup import plain, without_citation_marks, without_thoughts
from evals.text.matching import Matches, MatchSettings, match
from evals.text.tokens import UNSPACED_SIGN, framed

if TYPE_CHECKING:
    from evals.text.refusals import Refusal

ABSTENTION = "abstention"
"""The inquiry that asks whether an answer declines, and nothing else: the name of its prompt, and of its verdicts."""
CORRECTNESS = "answer_correctness"
"""The inquiry that asks whether an answer is correct; that it declines is one of the labels."""
DECIDING = (ABSTENTION, CORRECTNESS)
FEW_WORDS = 5
"""An answer of this many words at most needs no judge: "I cannot answer this question." has no room for an answer."""

_DECLINES = "declines"
_ANSWERS = ("answers", "correct", "partly_correct", "incorrect")
_YEARS = 1000
"""From here on a number in brackets is a year or the like, also where it was read from the answer as a citation."""


class Lack(NamedTuple):
    """Why a metric has no value, as a `MetricResult` says it."""

    reason: str
    missing: str = "not_applicable"


class Decision(NamedTuple):
    """Whether an answer declines to answer, and who decided it.

    Attributes:
        inquiry: The name of the judge's inquiry that decides, where a judge does.
        declines: By the server's own flag, else by the judge's word, else by the refusal model.
        by_judge: Whether it is the judge's to decide, as the model is in doubt: never where the server flags the
            answer, or of a few words.
        word: Whether it declines, says the judge; None where it did not say it (yet), or is not to be asked.
        lost: Why the judge's word is not there (yet), though it has it; then no value may follow from `declines`.
        is_disputed: Whether one of model and judge takes the answer for a refusal, and the other does not.
    """

    inquiry: str
    declines: bool
    by_judge: bool = False
    word: bool | None = None
    lost: Lack | None = None
    is_disputed: bool = False


class CitedSource(NamedTuple):
    """A cited source.

    Attributes:
        place: Place of the chunk in the response; None where the citation resolves to no retrieved chunk. Of a source
            that is a document, the first of its chunks that holds gold, else the first.
        places: Places of all distinct chunks that it stands for, those with gold first: several only where it is a
            document or a section.
        sections: The section that the citation names, else those of its chunks.
    """

    place: int | None
    places: tuple[int, ...] = ()
    sections: tuple[str, ...] = ()


@dataclass
class Sample:
    """A record as metrics see it. What more than one metric needs is derived once, here.

    Args:
        question: What was asked, with its gold; citation marks are taken off its reference as off the answer.
        response: What the server said.
        verdicts: What the judge said about it, if anything; put a new list in its place to add some.
        settings: How chunks are recognised as gold.
        citation_base: Number of the first chunk in the server's citation indices.
        judged: Whether a judge takes part in the run.
        semantics: What texts are compared with, if any metric wants that.
        asks_correctness: Whether the run asks a judge if answers are correct, which says of them if they decline too.
        keeps_flagged: Whether verdicts count of which the judge says that the data tells it what to decide.
        prompt_for: What the run asks by in place of a prompt; the prompt itself where it changes none.
    """

    question: EvalQuestion
    response: EvalResponse
    verdicts: Sequence[JudgeVerdict] = field(default_factory=tuple)
    settings: MatchSettings = field(default_factory=MatchSettings)
    citation_base: int = 1
    judged: bool = False
    semantics: Semantics | None = None
    asks_correctness: bool = False
    keeps_flagged: bool = False
    prompt_for: Callable[[str | Prompt], str | Prompt] = field(default=lambda prompt: prompt, repr=False, compare=False)
    derived: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What metrics derive of question and response, and share, by keys of their own."""
    _decided: tuple[object, Decision] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        texts = [self.question.expected_answer or "", *self.question.answers]
        if all(text.isascii() and not any(sign in text for sign in "[<&") for text in texts):
            return
        expected, *answers = map(self._to_compare, texts)
        self.question = self.question.model_copy(update={"expected_answer": expected or None, "answers": answers})

    # The question and the answer.

    @property
    def asked(self) -> str:
        """The question as somebody reads it who was not there: of a conversation, with what was said before."""
        if not self.question.turns:
            return self.question.question
        answers = [turn.answer or "" for turn in self.response.turns]
        before = zip_longest(self.question.turns[:-1], answers, fillvalue="")
        turns = "\n".join(f"User: {message}\nAssistant: {answer}" for message, answer in before)
        return f"Said before:\n{turns}\n\nThe question:\n{self.question.question}" if turns else self.question.question

    @cached_property
    def answer(self) -> str | None:
        """The answer as its text is compared: without citation marks; None where the server sent none.

        A mark such as [1] counts where its number can be that of a chunk or a citation of the response.
        """
        answer = self.response.answer
        return None if answer is None else self._to_compare(answer)

    @cached_property
    def words(self) -> str:
        """The tokens of the answer, framed by blanks."""
        return framed(self.answer or "")

    def _to_compare(self, text: str) -> str:
        """The text without thoughts, HTML and citation marks, which are no part of what it says."""
        return plain(without_citation_marks(without_thoughts(text)[0], *self.citation_numbers))

    # Whether the answer declines, and whether the judge's verdicts count.

    @property
    def abstained(self) -> bool:
        """Whether the answer declines to answer; while the judge's word on it is lost, no value may follow from it."""
        return self.decision.declines

    @property
    def decision(self) -> Decision:
        """Whether the answer declines to answer, and who decided it."""
        if self._decided is None or self._decided[0] is not self.verdicts:
            self._decided = self.verdicts, self._decide()
        return self._decided[1]

    def _decide(self) -> Decision:
        comparable = self.question.expected_answer is not None and not self.question.is_unanswerable
        inquiry = CORRECTNESS if self.asks_correctness and comparable else ABSTENTION
        reads = self.response.refused or self.reads_as_refusal
        is_unasked = self.response.refused or self.response.extractive or not (self.judged or self.verdicts)
        if is_unasked or not self._is_long:
            return Decision(inquiry, reads)
        heard = [verdict for verdict in self.verdicts if verdict.request == inquiry]
        labels = Counter(str(verdict.reply.get("verdict")) for verdict in heard if verdict.reply is not None)
        declines, answers = labels[_DECLINES], sum(labels[label] for label in _ANSWERS)
        word = None if declines == answers else declines > answers
        by_judge = self.judged and (self._reading.doubtful or word is not None)
        if word is not None:
            return Decision(inquiry, word, by_judge, word, is_disputed=word != reads)
        if not by_judge:
            return Decision(inquiry, reads)
        reason = "the judge could not tell whether the answer abstains"
        if not heard:
            reason = "the judge was not asked whether the answer abstains"
        elif failed := next((verdict for verdict in heard if verdict.failure is not None), None):
            reason = f"judge {failed.failure}, asked whether the answer abstains: {failed.message}"
        return Decision(inquiry, reads, by_judge, lost=Lack(reason, "judge"))

    @cached_property
    def _is_long(self) -> bool:
        """Whether the answer has more than a few words; a sign of Chinese, Japanese or Thai is a word."""
        words = UNSPACED_SIGN.sub(r" \g<0> ", self.answer or "").split()
        return sum(any(map(str.isalnum, word)) for word in words) > FEW_WORDS

    @property
    def reads_as_refusal(self) -> bool:
        """Whether the refusal model takes the answer for one that declines."""
        return self._reading.declines

    @cached_property
    def _reading(self) -> "Refusal":
        """What the refusal model says; an answer that is or holds what is expected never declines.

        Of an extractive system only the empty answer declines: a span of a passage is what it says.
        """
        from evals.text.refusals import Refusal, gives_expected, reading  # noqa: PLC0415 - a saved run needs none

        if self.response.extractive:
            return Refusal(declines=not (self.response.answer or "").strip(), doubtful=False, score=0.0)
        question, answer = self.question, self.answer or ""
        read = reading(self.response.answer or "", question.question)
        if not read.declines:
            return read
        accepted = filter(None, map(_bare, (question.expected_answer or "", *question.answers)))
        is_expected = question.is_unanswerable is False and _bare(answer) in accepted
        gives = is_expected or gives_expected(answer, question)
        return Refusal(declines=False, doubtful=read.doubtful, score=read.score) if gives else read

    def is_injected(self, inquiries: Collection[str]) -> bool:
        """Whether the judge flags a verdict by one of these inquiries, and such verdicts do not count."""
        if self.keeps_flagged or not inquiries:
            return False
        return any(verdict.is_flagged and verdict.request in inquiries for verdict in self.verdicts)

    # What was retrieved, and which of it is gold.

    @cached_property
    def matches(self) -> Matches:
        """Which retrieved chunk is which gold passage; empty where the server sent no chunks."""
        return match(self.question.gold_passages, self.response.chunks or [], self.settings)

    @cached_property
    def chunks_tell(self) -> set[str]:
        """What any of the chunks is known by: text, chunk_id, document_id."""
        return _told_by(self.response.chunks or [])

    @cached_property
    def golds_tell(self) -> set[str]:
        """The same of the golds."""
        return _told_by(self.question.gold_passages)

    @cached_property
    def passages(self) -> list[tuple[int, str]]:
        """The chunks with text: their rank, from 1, and the text, in an order that the rank has no part in.

        A judge looks at what stands first with other eyes than at what stands last; by rank, that would be taken for
        the work of the retriever. The order is that of a hash over question and text, the same in every call.
        """
        texts = [(rank, chunk.text) for rank, chunk in enumerate(self.response.chunks or [], start=1) if chunk.text]
        seed = f"{self.question.question}\0"
        return sorted(texts, key=lambda text: sha256((seed + text[1]).encode("utf-8", "surrogatepass")).digest())

    # What the answer cites: the retrieved chunks behind ids, indices and documents.

    @cached_property
    def citation_numbers(self) -> tuple[frozenset[int], frozenset[int]]:
        """The numbers that a chunk or a citation of the response can have, and those that its citations hold."""
        citations = self.response.citations or []
        sources = max(len(self.response.chunks or []), len(citations))
        cited = frozenset(item.index for item in citations if item.index is not None and item.index < _YEARS)
        return cited.union(range(self.citation_base, self.citation_base + sources)), cited

    @cached_property
    def cited(self) -> list[CitedSource]:
        """The distinct cited sources, each with the chunks that it resolves to, in order of first citation.

        A document, or a section of one, stands for all its retrieved chunks, in whatever order they were retrieved.
        """
        sources: dict[object, CitedSource] = {}
        chunks, matches = self.response.chunks or [], self.matches
        for citation in self.response.citations or []:
            distinct = dict.fromkeys(matches.original[place] for place in self._places_of(citation))
            places = tuple(sorted(distinct, key=lambda place: not matches.hits[place]))
            key = places or (citation.chunk_id, citation.index, citation.document_id, citation.section)
            if key not in sources:
                sections = [citation.section] if citation.section else [chunks[place].section for place in places]
                first = next(iter(places), None)
                sources[key] = CitedSource(first, places, tuple(dict.fromkeys(filter(None, sections))))
        return list(sources.values())

    @cached_property
    def cited_golds(self) -> Mapping[int, Mapping[int, str]]:
        """For the place of each cited chunk, the golds that it holds.

        A piece of a gold that chunk borders have cut counts where the cited chunks complete the gold.
        """
        return self.matches.among({place for source in self.cited for place in source.places})

    def place_of(self, citation: Citation) -> int | None:
        """The place of the first retrieved chunk that a citation points to; None where it points to none.

        By chunk id, else by index, else by document and section.
        """
        return next(iter(self._places_of(citation)), None)

    def rank_of(self, citation: Citation) -> int | None:
        """The rank, from 1, of the chunk that `place_of` finds; None where there is none, or it has no text."""
        place = self.place_of(citation)
        return place + 1 if place is not None and (self.response.chunks or [])[place].text else None

    def _places_of(self, citation: Citation) -> list[int]:
        """The places of the chunks that a citation points to: one, or all those of the document that it names.

        Many servers count ids from 0 in each document: of several chunks with the id it is that of the index, else the
        first of the document, else the first.
        """
        chunks, at = self.response.chunks or [], (citation.index or 0) - self.citation_base
        document, section = citation.document_id, citation.section
        if citation.chunk_id is not None:
            named = [place for place, chunk in enumerate(chunks) if chunk.chunk_id == citation.chunk_id]
            if citation.index is not None and at in named:
                return [at]
            return [place for place in named if same_document(chunks[place], document)][:1] or named[:1]
        if citation.index is not None:
            return [at] if 0 <= at < len(chunks) else []
        named = [place for place, chunk in enumerate(chunks) if same_document(chunk, document)]
        return [place for place in named if section in {None, chunks[place].section}]


def _told_by(passages: Sequence[GoldPassage] | Sequence[RetrievedChunk]) -> set[str]:
    named = {
        "text": any(passage.text for passage in passages),
        "chunk_id": any(passage.chunk_id for passage in passages),
        "document_id": any(passage.document_id or getattr(passage, "document_name", None) for passage in passages),
    }
    return {name for name, is_told in named.items() if is_told}


def _bare(text: str) -> str:
    return text.strip(" .!\n\t").casefold()


Case = Sample
"""The former name of `Sample`, for plug-ins; goes with the next release."""
