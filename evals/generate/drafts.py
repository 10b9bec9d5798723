"""What a model is asked for: passages are put to it one by one or in pairs, and its replies become drafts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from evals.datasets.base import short_hash
from evals.generate.checks import NEAR_MISS, PAIR, QuestionDraft
from evals.generate.passages import PassageSet
from evals.schemas.verdicts import Prompt, VerdictRequest

SINGLE = "single"
STREAMS = (SINGLE, PAIR, NEAR_MISS)
"""How questions are made: from one passage, from two, and about what a passage leaves out."""

_KINDS = ("fact", "number", "list", "yes_no", "comparison")
PROMPTS = {SINGLE: "write", PAIR: "pair", NEAR_MISS: "near_miss"}
"""By stream, the prompt of its drafts."""

_RARE, _FEWEST_LETTERS, _PARTNERS = 0.03, 4, 5
"""Share of the passages that a rare term stands in at most, its shortest length, and partners that are looked at."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a question is to be made from.

    Attributes:
        stream: Of `STREAMS`.
        places: Of its passages.
        wish: The kind that is wanted; of a pair, the term that both passages have.
    """

    stream: str
    places: tuple[int, ...]
    wish: str = ""

    def key(self, passages: PassageSet) -> str:
        """What it is known by in the journal, in every run over the same passages."""
        return short_hash(self.stream, self.wish, *(passages.passages[place].hash for place in self.places))


def candidates(passages: PassageSet, stream: str, seed: int) -> Iterator[Candidate]:
    """All that questions of a stream can be made from, in the order in which they are drawn."""
    order = passages.drawn(f"{seed} {stream}")
    if stream == NEAR_MISS:
        yield from (Candidate(stream, (place,)) for place in order)
    elif stream == PAIR:
        yield from _pairs(passages, order)
    else:
        for turn in range(len(_KINDS)):
            for number, place in enumerate(order):
                yield Candidate(stream, (place,), _KINDS[(number + turn) % len(_KINDS)])


def _pairs(passages: PassageSet, order: list[int]) -> Iterator[Candidate]:
    """Each passage with the best other one, by BM25, that has one of its rare terms; each pair once."""
    index, made = passages.index, set[frozenset[int]]()
    most = max(3, round(_RARE * len(order)))
    for place in order:
        long = (word for word in index.words[place] if len(word) >= _FEWEST_LETTERS and word.isalpha())
        terms = sorted((index.frequency[word], word) for word in long if 1 < index.frequency[word] <= most)
        for partner in index.best(" ".join(term for _, term in terms[:_PARTNERS]), _PARTNERS):
            shared = next((term for _, term in terms if term in index.words[partner]), None)
            pair = frozenset({place, partner})
            if shared and len(pair) == 2 and pair not in made and partner not in passages.repeats:
                made.add(pair)
                yield Candidate(PAIR, (place, partner), shared)
                break


# Prompts, and what is sent by them.


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a run.

    Attributes:
        notes: Facts of the subject that a writer must know.
        language: In which questions and answers are written; that of the passage where empty.
        closed_book: Whether the solver is asked without any passage too.
    """

    notes: str = ""
    language: str = ""
    closed_book: bool = False

    def load(self, name: str) -> Prompt:
        """A prompt of ours, with notes and language."""
        return _prompt(name, self.notes.strip(), self.language.strip())

    def request(self, name: str, prompt: str, **data: Any) -> VerdictRequest:
        """What a model is asked for."""
        return VerdictRequest(name=name, prompt=self.load(prompt), data=data, once=True)

    def draft(self, candidate: Candidate, passages: PassageSet) -> VerdictRequest:
        """The request for a draft."""
        part, *rest = [passages.passages[place] for place in candidate.places]
        form = PROMPTS[candidate.stream]
        if rest:
            return self.request("draft", form, passage_a=part.text, passage_b=rest[0].text, shared=candidate.wish)
        kind = {"kind": candidate.wish} if candidate.wish else {}
        told = {"document": part.document, "section": part.section or "", "passage": part.text}
        return self.request("draft", form, **told, **kind)

    def solution(self, name: str, question: str, texts: Sequence[str]) -> VerdictRequest:
        """The request for an answer from these passages."""
        numbered = [{"id": number, "text": text} for number, text in enumerate(texts, start=1)]
        return self.request(name, "solve", passages=numbered, question=question)


_NOTES = "\n\nThe people who own the documents say of their subject, and it changes no rule above:\n"
_LANGUAGE = "\n\nQuestions and answers are in this language, quotations and names as they stand: "


@cache
def _prompt(name: str, notes: str, language: str) -> Prompt:
    path = Path(__file__).parent / "prompts" / f"{name}.yml"
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    added = (f"{_NOTES}{notes}" if notes else "") + (f"{_LANGUAGE}{language}." if language else "")
    return Prompt.of({**data, "system": data["system"].rstrip() + added})


def draft_of(candidate: Candidate, reply: Mapping[str, Any]) -> QuestionDraft:
    """What a reply says."""
    (first, *rest), question = candidate.places, reply["question"].strip()
    if candidate.stream == PAIR:
        quotations = [(first, reply["quotation_a"]), (rest[0], reply["quotation_b"])]
        return QuestionDraft(PAIR, question, reply["answer"].strip(), quotations, reply["bridge"])
    if candidate.stream == NEAR_MISS:
        return QuestionDraft(NEAR_MISS, question, "", [(first, reply["quotation"])], reply["attribute"])
    quotations = [(first, quotation) for quotation in reply["quotations"] if quotation.strip()]
    return QuestionDraft(reply["kind"], question, reply["answer"].strip(), quotations)
