"""One question with its response, and what several metrics derive from the two."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import zip_longest
from typing import NamedTuple

from evals.metrics.embedders import Semantics
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import Citation, EvalResponse, RetrievedChunk
from evals.schemas.verdicts import JudgeVerdict, Prompt
from evals.text.documents import same_document
from evals.text.markup import plain, without_citation_marks, without_thoughts
from evals.text.matching import Matches, MatchSettings, match
from evals.text.refusals import Refusal, reading
from evals.text.tokens import STOP_WORDS, framed, tokens

# What a citation points to: the retrieved chunk behind an id or an index.


@dataclass(frozen=True, slots=True)
class CitedSource:
    """One cited source.

    Attributes:
        place: Place of the chunk in the response; None where the citation resolves to no retrieved chunk. Of a source
            that is a document, the first of its chunks that holds gold, else the first.
        places: Places of all distinct chunks that it stands for: several only where it is a document or a section.
        sections: The section that the citation names, else those of its chunks.
    """

    place: int | None
    places: tuple[int, ...] = ()
    sections: tuple[str, ...] = ()


def _names(citation: Citation, chunk: RetrievedChunk) -> bool:
    return bool(same_document(chunk, citation.document_id)) and citation.section in {None, chunk.section}


def _named(sections: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(section for section in sections if section))


# Who decides whether an answer declines: the model of refusals, or where it is in doubt a judge.


ABSTENTION = "abstention"
"""The inquiry that asks whether an answer declines, and nothing else: the name of its prompt, and of its verdicts."""


CORRECTNESS = "answer_correctness"
"""The inquiry that asks whether an answer is correct; that it declines is one of the labels."""

DECIDING = (ABSTENTION, CORRECTNESS)


_DECLINES = "declines"

_ANSWERS = ("answers", "correct", "partly_correct", "incorrect")


@dataclass(frozen=True, slots=True)
class JudgedAbstention:
    """By which request the judge of a run decides on a doubtful answer.

    Attributes:
        by_correctness: Whether the run asks if answers are correct: where there is an expected answer, that decides.
    """

    by_correctness: bool = False

    def inquiry(self, question: EvalQuestion) -> str:
        """The name of the inquiry that decides on answers to a question."""
        comparable = question.expected_answer is not None and not question.is_unanswerable
        return CORRECTNESS if self.by_correctness and comparable else ABSTENTION


def judges_word(verdicts: Collection[JudgeVerdict], inquiry: str) -> bool | None:
    """Whether an answer declines by most of the judge's repeats.

    Args:
        verdicts: On the answer.
        inquiry: The name of the one that decides.

    Returns:
        None where it was not asked, gave no usable verdict, could not tell, or its repeats are divided.
    """
    if not verdicts:
        return None
    there = (verdict for verdict in verdicts if verdict.request == inquiry and verdict.reply is not None)
    labels = Counter(str((verdict.reply or {}).get("verdict")) for verdict in there)
    declines, answers = labels[_DECLINES], sum(labels[label] for label in _ANSWERS)
    return None if declines == answers else declines > answers


def why_open(verdicts: Iterable[JudgeVerdict], inquiry: str) -> str:
    """Why the word of the inquiry that decides is not there."""
    found = [verdict for verdict in verdicts if verdict.request == inquiry]
    if not found:
        return "the judge was not asked whether the answer abstains"
    failed = next((verdict for verdict in found if verdict.failure is not None), None)
    if failed is not None:
        return f"judge {failed.failure}, asked whether the answer abstains: {failed.message}"
    return "the judge could not tell whether the answer abstains"


_YEARS = 1000
"""From here on a number in brackets is a year or the like, also where it was read from the answer as a citation."""


def _as_it_is(prompt: str | Prompt) -> str | Prompt:
    return prompt


class Lack(NamedTuple):
    """Why there is nothing to measure, as a `MetricResult` says it."""

    reason: str
    missing: str = "not_applicable"


@dataclass
class Sample:
    """A record as metrics see it. What more than one metric needs is derived once, here.

    Args:
        question: What was asked, with its gold; citation marks are taken off its reference as off the answer.
        response: What the server said.
        verdicts: What the judge said about it, if anything.
        settings: How chunks are recognised as gold.
        citation_base: Number of the first chunk in the server's citation indices.
        judged: Whether a judge takes part in the run.
        semantics: What texts are compared with, if any metric wants that.
        declining: By which request a judge decides on doubtful answers.
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
    declining: JudgedAbstention = field(default_factory=JudgedAbstention)
    keeps_flagged: bool = False
    prompt_for: Callable[[str | Prompt], str | Prompt] = field(default=_as_it_is, repr=False, compare=False)
    lacks: dict[object, Lack | None] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By kind of metric, what is lacking where it has nothing to measure; kept by the metrics."""

    def __post_init__(self) -> None:
        texts = [self.question.expected_answer or "", *self.question.answers]
        if all(text.isascii() and not any(sign in text for sign in "[<&") for text in texts):
            return
        expected, *answers = map(self._to_compare, texts)
        self.question = self.question.model_copy(update={"expected_answer": expected or None, "answers": answers})

    @cached_property
    def matches(self) -> Matches:
        """Which retrieved chunk is which gold passage; empty where the server sent no chunks."""
        return match(self.question.gold_passages, self.response.chunks or [], self.settings)

    @property
    def asked(self) -> str:
        """The question as somebody reads it who was not there: of a conversation, with what was said before."""
        if not self.question.turns:
            return self.question.question
        answers = [turn.answer or "" for turn in self.response.turns]
        before = zip_longest(self.question.turns[:-1], answers, fillvalue="")
        said = "\n".join(f"User: {message}\nAssistant: {answer}" for message, answer in before)
        return f"Said before:\n{said}\n\nThe question:\n{self.question.question}" if said else self.question.question

    @property
    def abstained(self) -> bool:
        """Whether the answer declines to answer.

        By the server's own flag; else by the judge's word where there is one, else by the text. Where that is open
        (`abstention_open`), no value may follow from it.
        """
        said = self.judges_word
        return self.is_flagged or self.reads_as_refusal if said is None else said

    @property
    def is_flagged(self) -> bool:
        """Whether the server itself says that it declined: that settles it, whatever the text is."""
        return self.response.refused is True

    @property
    def judges_word(self) -> bool | None:
        """Whether the answer declines by the judge; None where it has not decided, or is not to be asked."""
        return judges_word(self.verdicts, self.decided_by) if self.verdicts and self._is_doubtful else None

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
        """Whether a judge decides if the answer declines: a doubtful one, which the server does not call a refusal."""
        return self.judged and self._is_doubtful

    @property
    def abstention_disputed(self) -> bool:
        """Whether either the model or the judge takes the answer for a refusal, and the other does not."""
        said = self.judges_word
        return said is not None and said != self.reads_as_refusal

    def is_injected(self, inquiries: Collection[str]) -> bool:
        """Whether the judge flags a verdict by one of these inquiries, and such verdicts do not count."""
        if self.keeps_flagged or not inquiries:
            return False
        return any(each.is_flagged and each.request in inquiries for each in self.verdicts)

    @cached_property
    def _is_doubtful(self) -> bool:
        if self.is_flagged or self.response.extractive or not (self.answer or "").strip():
            return False
        return self._reading.doubtful and not self.gives_expected

    @cached_property
    def _reading(self) -> Refusal:
        return reading(self.response.answer or "", self.question.question)

    @cached_property
    def reads_as_refusal(self) -> bool:
        """Whether the answer declines by its text; never one that is or holds what is expected.

        Of an extractive system only the empty answer declines: a span of a passage is what it says.
        """
        if self.response.extractive:
            return not (self.response.answer or "").strip()
        return self._reading.declines and not self.gives_expected

    @cached_property
    def gives_expected(self) -> bool:
        """Whether an accepted answer stands in the answer, or reads like a refusal itself and says the same.

        "The audit found no weaknesses" may be a finding, and what is expected.
        """
        question, answer = self.question, self.answer or ""
        accepted = [text for text in (question.expected_answer, *question.answers) if text]
        if question.is_unanswerable or not accepted:
            return False
        if self._is_expected() or any(holds(answer, text, question.question) for text in accepted):
            return True
        words = set(tokens(answer)) - STOP_WORDS
        findings = (set(tokens(text)) - STOP_WORDS for text in accepted if reading(text, question.question).declines)
        return any(words and len(words & each) >= _NEARLY * len(words | each) for each in findings)

    def _is_expected(self) -> bool:
        """Whether the answer is an accepted one, but for case and closing marks, to what is known to be answerable."""
        answer = _bare(self.answer or "")
        question = self.question
        if question.is_unanswerable is not False or not answer:
            return False
        return any(answer == _bare(text) for text in (question.expected_answer or "", *question.answers))

    @cached_property
    def answer(self) -> str | None:
        """The answer as its text is compared: without citation marks; None where the server sent none.

        A mark such as [1] counts where its number can be that of a chunk or a citation of the response.
        """
        answer = self.response.answer
        return None if answer is None else self._to_compare(answer)

    def _to_compare(self, text: str) -> str:
        """The text without thoughts, HTML and citation marks, which are no part of what it says."""
        return plain(without_citation_marks(without_thoughts(text)[0], *self.citation_numbers))

    @cached_property
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

    @cached_property
    def citation_numbers(self) -> tuple[frozenset[int], frozenset[int]]:
        """The numbers that a chunk or a citation of the response can have, and those that its citations hold."""
        citations = self.response.citations or []
        sources = max(len(self.response.chunks or []), len(citations))
        cited = frozenset(one.index for one in citations if one.index is not None and one.index < _YEARS)
        return cited.union(range(self.citation_base, self.citation_base + sources)), cited

    @cached_property
    def cited(self) -> list[CitedSource]:
        """The distinct cited sources, each with the chunks that it resolves to, in order of first citation.

        A document, or a section of one, stands for all its retrieved chunks, in whatever order they were retrieved.
        """
        sources: dict[object, CitedSource] = {}
        for citation in self.response.citations or []:
            places = tuple(dict.fromkeys(self.matches.original[place] for place in self._places_of(citation)))
            key = places or (citation.chunk_id, citation.index, citation.document_id, citation.section)
            if key not in sources:
                chunks = self.response.chunks or []
                sections = _named([citation.section]) or _named([chunks[place].section for place in places])
                sources[key] = CitedSource(self._first_with_gold(places), places, sections)
        return list(sources.values())

    def _first_with_gold(self, places: Sequence[int]) -> int | None:
        if len(places) < 2:
            return next(iter(places), None)
        return next((place for place in places if self.matches.hits[place]), places[0])

    def place_of(self, citation: Citation) -> int | None:
        """The place of the first retrieved chunk that a citation points to; None where it points to none.

        By chunk id, else by index, else by document and section.
        """
        return next(iter(self._places_of(citation)), None)

    def _places_of(self, citation: Citation) -> list[int]:
        """The places of the chunks that a citation points to: one, or all those of the document that it names."""
        chunks, at = (self.response.chunks or []), (citation.index or 0) - self.citation_base
        if citation.chunk_id is not None:
            named = [place for place, chunk in enumerate(chunks) if chunk.chunk_id == citation.chunk_id]
            return named if len(named) < 2 else [self._the_one(citation, at, named)]
        if citation.index is not None:
            return [at] if 0 <= at < len(chunks) else []
        return [place for place, chunk in enumerate(chunks) if _names(citation, chunk)]

    def _the_one(self, citation: Citation, at: int, named: Sequence[int]) -> int:
        """Of several chunks with one id that of the index, else the first of the document, else the first.

        Many servers count from 0 in each document.
        """
        if citation.index is not None and at in named:
            return at
        chunks = self.response.chunks or []
        return next((place for place in named if same_document(chunks[place], citation.document_id)), named[0])

    @cached_property
    def cited_golds(self) -> Mapping[int, Mapping[int, str]]:
        """For the place of each cited chunk, the golds that it holds.

        A piece of a gold that chunk borders have cut counts where the cited chunks complete the gold.
        """
        return self.matches.among({place for source in self.cited for place in source.places})


_NEARLY = 0.6
_TELLS_NOTHING = STOP_WORDS.union(
    *(["yes", "no", "true", "false", "ja", "nein", "oui", "non", "si", "sí", "sim", "não", "nao", "none"],),
    *(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "unanswerable"],),
)
_NO_ANSWER = re.compile(r"\W*(?:no answer(?: present)?|not answerable|\d(?:\.0+)?)\W*", re.IGNORECASE)


def holds(answer: str, expected: str, question: str) -> bool:
    """Whether an expected answer stands in an answer, as whole words, where it would not in a refusal.

    Yes and no, numbers below ten, words that say nothing ("it"), parts of the question and labels for no answer would.
    """
    words = framed(expected)
    if _TELLS_NOTHING.issuperset(words.split()) or _NO_ANSWER.fullmatch(words) or words in framed(question):
        return False
    return words in framed(answer)


def _bare(text: str) -> str:
    return text.strip(" .!\n\t").casefold()


Case = Sample
"""The former name of `Sample`, for plug-ins; goes with the next release."""
