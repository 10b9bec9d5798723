"""What a clause of an answer is, and by what clauses are read."""

from enum import Enum
from typing import NamedTuple

from evals.case.abstention.facts import Sense
from evals.case.abstention.question import Asked
from evals.case.abstention.roles import Lexicon
from evals.case.abstention.topic import Topic


class Kind(Enum):
    """What a clause does."""

    DECLINES = "declines"
    ANSWERS = "answers"
    GUESSES = "guesses"
    DESCRIBES = "describes"
    ALLOWS = "allows"
    NOTHING = "nothing"


class Clause(NamedTuple):
    """A clause.

    Attributes:
        text: Folded, without accents.
        kind: What it does.
        mark: What parts it from the one before, in the same sentence.
        declined: Of one that declines: the content words of what it declines.
        more: Whether it declines only more than is said: "no further details", "no exact date".
        refers: Whether it declines something about what was said: "the reason for this".
        asks: Of one that declines: the beginnings of nouns for what its question word asks for ("who": name, person).
        whether: Of one that declines: that it leaves open whether something is so.
        concedes: Whether it is a concession: "although the documents do not say so, …".
    """

    text: str
    kind: Kind
    mark: str = ""
    declined: tuple[str, ...] = ()
    more: bool = False
    refers: bool = False
    concedes: bool = False
    asks: tuple[str, ...] = ()
    whether: bool = False


class Context(NamedTuple):
    """What clauses are read by: the question, what it is about, what "it" stands for, and languages of the answer."""

    asked: Asked
    topic: Topic
    sense: Sense
    lexicons: tuple[Lexicon, ...]
