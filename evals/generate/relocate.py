"""Where the gold passages of questions stand after their documents have changed; no model takes part."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from evals.generate.checks import every_place
from evals.generate.passages import PassageSet
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.text.documents import document_key


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


def updated(question: EvalQuestion, relocations: Iterable[Relocation]) -> EvalQuestion | None:
    """The question with its gold where it stands now; None where one of its golds is gone or ambiguous."""
    places = {id(relocation.before): relocation.now for relocation in relocations}
    golds = [places.get(id(gold), gold) for gold in question.gold_passages]
    return None if None in golds else question.model_copy(update={"gold_passages": golds})
