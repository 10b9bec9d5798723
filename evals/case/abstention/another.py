"""A refusal of the whole question, and then a fact about something else of the same kind: that answers nothing.

"The documents do not mention when the Graz branch was opened. The Vienna branch was opened in 1987."
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING

from evals.case.abstention.clauses import Kind
from evals.case.abstention.roles import without_accents
from evals.case.abstention.topic import shared
from evals.text.folding import fold

if TYPE_CHECKING:
    from evals.case.abstention.evidence import Answer

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[^\W_]+")
_ALIKE = 4
"""Letters that a word at the end of a compound has more of: "Tarif" in "Basistarif"."""
Pair = tuple[str, str]


def tells_of_another(answer: "Answer") -> bool:
    """Whether it declines all that was asked at first, and then tells it of what bears another name."""
    sentences = [sentence for sentence in _SENTENCE.split(answer.written.strip()) if sentence]
    kinds = [clause.kind for clause in answer.clauses]
    if len(sentences) != len(kinds) or not _is_declined_then_told(kinds) or not _declines_all(answer):
        return False
    told = " ".join(sentences[1:])
    return _of_another(_pairs(answer.question, answer), _pairs(told, answer), _folded(told), _folded(answer.question))


def _is_declined_then_told(kinds: Sequence[Kind]) -> bool:
    return kinds[:1] == [Kind.DECLINES] and set(kinds[1:]) == {Kind.ANSWERS}


def _declines_all(answer: "Answer") -> bool:
    """Whether the first clause takes up every word of the question, or most and a noun for what it asks ("price")."""
    topic, words = answer.context.topic, answer.words(answer.clauses[0])
    if answer.clauses[0].more or not topic.words:
        return False
    missing = len(topic.words) - len(topic.covered(words))
    return not missing or (2 * missing <= len(topic.words) and any(map(topic.is_kind, words)))


def _folded(text: str) -> list[str]:
    return _WORD.findall(without_accents(fold(text)))


def _pairs(text: str, answer: "Answer") -> Iterator[Pair]:
    """Words with a meaning that stand next to each other, as written; those between do not count."""
    told = [word for word in _WORD.findall(text) if answer.lexicon.content(_folded(word))]
    return pairwise(told)


def _of_another(asked: Iterator[Pair], told: Iterator[Pair], said: Sequence[str], question: Sequence[str]) -> bool:
    """Whether a thing that was asked about is told of with another name beside it, and with its own nowhere."""
    both_ways = [
        each for wanted, found in product(asked, told) for each in ((*wanted, *found), (*wanted[::-1], *found[::-1]))
    ]
    return any(
        _is_other(name, other, said, question) and (_is_same(thing, same) or _is_compound(thing, other))
        for name, thing, other, same in both_ways
    )


def _is_same(thing: str, other: str) -> bool:
    return bool(shared(_folded(thing), _folded(other)))


def _is_compound(thing: str, other: str) -> bool:
    """Whether the other name has the thing in it: "Basistarif"."""
    return len(thing) > _ALIKE and other.casefold().endswith(thing.casefold()) and len(other) > len(thing)


def _is_other(name: str, other: str, said: Sequence[str], question: Sequence[str]) -> bool:
    """Whether both are names or numbers, and neither text holds that of the other."""
    if not (_is_name(name) and _is_name(other)):
        return False
    return not _stands(name, said) and not _stands(other, question)


def _stands(name: str, words: Sequence[str]) -> bool:
    """Whether a name, in some form, or a number is among the words."""
    return name in words if name.isdecimal() else bool(shared(_folded(name), words))


def _is_name(word: str) -> bool:
    return word[0].isupper() or word[0].isdecimal()
