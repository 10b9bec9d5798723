"""Where the gold passages of questions stand after their documents have changed; no model takes part."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from evals.generate.checks import every_place
from evals.generate.passages import PassageSet
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.text.documents import document_key
from evals.text.numbers import counted


class State(StrEnum):
    """What became of a gold passage."""

    SAME = "same"
    MOVED = "moved"
    GONE = "gone"
    AMBIGUOUS = "in two places"


@dataclass(frozen=True, slots=True)
class Relocation:
    """A gold passage, looked for again.

    Attributes:
        before: As the file has it.
        state: What became of it.
        now: Where it stands; None unless it stands in one place.
    """

    before: GoldPassage
    state: State
    now: GoldPassage | None


def relocate(question: EvalQuestion, passages: PassageSet) -> Iterator[Relocation]:
    """Look for the text of each gold passage of a question in all documents."""
    golds = [gold for gold in question.gold_passages if gold.text]
    for gold in golds:
        places = list(_places(gold.text, passages))
        own = [place for place in places if document_key(place[0]) == document_key(gold.document_id or place[0])]
        kept = _stands_in_place(gold, passages)
        strange = [place for place in places if not any(_covers(known, place) for known in golds)]
        if not places and not kept:
            yield Relocation(gold, State.GONE, None)
        elif kept and not strange:
            yield Relocation(gold, State.SAME, gold)
        elif len(strange) > (0 if kept else 1):
            yield Relocation(gold, State.AMBIGUOUS, None)
        else:
            name, start, end = (own or places)[0]
            text, section = passages.documents[name].text[start:end], passages.section_at(name, start)
            now = GoldPassage(text=text, document_id=name, section=section, span=(start, end))
            yield Relocation(gold, State.MOVED, now)


def _stands_in_place(gold: GoldPassage, passages: PassageSet) -> bool:
    """Whether a gold is where it was, letter by letter."""
    names = (name for name in passages.documents if document_key(name) == document_key(gold.document_id or ""))
    texts = (passages.documents[name].text for name in names)
    return gold.span is not None and any(text[slice(*gold.span)] == gold.text for text in texts)


def _covers(gold: GoldPassage, place: tuple[str, int, int]) -> bool:
    """Whether a gold is at a place."""
    is_there = document_key(gold.document_id or "") == document_key(place[0])
    return is_there and gold.span is not None and gold.span[0] < place[2] and place[1] < gold.span[1]


def _places(text: str, passages: PassageSet) -> Iterator[tuple[str, int, int]]:
    """Documents in which a text stands, with its first and one-past-last character."""
    for name, document in passages.documents.items():
        yield from ((name, *span) for span in every_place(text, document.text))


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """The gold of a file of questions, looked for again.

    Attributes:
        golds: Each question with its relocations.
    """

    golds: list[tuple[EvalQuestion, list[Relocation]]]

    @classmethod
    def of(cls, questions: Iterable[EvalQuestion], passages: PassageSet) -> Self:
        """Look for all gold of these questions."""
        return cls([(question, list(relocate(question, passages))) for question in questions])

    @property
    def states(self) -> Counter[str]:
        """How many golds became what."""
        return Counter(gold.state.value for _, golds in self.golds for gold in golds)

    @property
    def lost(self) -> list[dict[str, str]]:
        """The golds that are gone or ambiguous: state, id of the question, text."""
        return [
            {"state": gold.state.value, "id": question.id, "text": gold.before.text}
            for question, golds in self.golds
            for gold in golds
            if gold.now is None
        ]

    def facts(self) -> dict[str, Any]:
        """All of it as data for a program."""
        return {"states": self.states, "lost": self.lost}

    def lines(self) -> list[str]:
        """The same in words."""
        states = self.states
        counts = ", ".join(f"{count} {state}" for state, count in states.most_common()) or "none with a text"
        return [f"{counted(states.total(), 'gold passage')}: {counts}", *("  ".join(row.values()) for row in self.lost)]

    def kept(self) -> list[EvalQuestion]:
        """The questions with their gold where it stands now, without those of which a gold is lost."""
        kept = []
        for question, golds in self.golds:
            places = {id(gold.before): gold.now for gold in golds}
            moved = [places.get(id(gold), gold) for gold in question.gold_passages]
            if None not in moved:
                kept.append(question.model_copy(update={"gold_passages": moved}))
        return kept
