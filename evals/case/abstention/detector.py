"""Does an answer decline to answer? Decided by words and their position, not by bare substrings.

The answer is cut into clauses; text in quotation marks does not count. Each clause *declines* ("the sources do not
say"), is *courtesy* ("please contact support"), *describes the sources* ("the guide covers installation") or
*answers*. An answer abstains when it declines and nothing in it answers; where both occur, hedges and order decide,
and an answer in the sentence that declined counts ("I see no rule against it: dogs are welcome").
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from evals.case.abstention.facts import Sense, sense_of, without_facts
from evals.case.abstention.phrases import (
    BARE,
    COURTESY,
    DECLINES,
    DENIES,
    DESCRIBES,
    HEDGES,
    NO_NUMBER,
    REPORTED,
    UNKNOWN,
)
from evals.case.abstention.question import Asked, read_question
from evals.text.folding import fold

_QUOTED = re.compile(r"\"[^\"]*\"|«[^«»]*»|(?<!\w)'[^']{3,}'(?!\w)")
_MARKS = re.compile(r"[*_#`>|~]+|^\s*(?:[-+•]|\d+[.)])\s+", re.MULTILINE)
_NUMBERS = r"\[\^?{0}(?:\s?[,;–-]\s?{0}){{0,20}}\]"
_NAMED = (
    r"【[^】\n]{1,40}】|\[(?:sources?|docs?|documents?|passages?|chunks?|contexts?|refs?|pages?|p\.?)[ :.#]{0,2}"
    r"\d{1,4}(?:[,\s-]{1,2}\d{1,4}){0,20}\]"
)
_CITATION = re.compile(_NUMBERS.format(r"\d{1,4}") + "|" + _NAMED)
# Few servers hand more than twenty passages to a model: alone, "[42]" is an answer and "[1]" a mark.
_LOW = re.compile(_NUMBERS.format(r"(?:[1-9]|1\d|20)") + "|" + _NAMED)
_SENTENCE = re.compile(r"(?<=[.!?。!?])\s+|\n+|(?<=[。!?])")
_CLAUSE = re.compile(
    r"(;|:\s|\(|\)|\s[–—-]\s|,?\s+\b(?:but|yet|however|although|though|whereas|so|aber|pero|mais|maar)\b,?\s*)"
)
_GOES_ON = re.compile(r"[;:–—-]|\b(?:but|yet|however|aber|pero|mais|maar)\b")
"""Between a clause that declines and one that answers all the same: "no clause forbids it: refunds are granted"."""
_NO_ANSWER = re.compile(
    r"\b(?:i|we|my|our|me|us|contexts?|documents?|documentation|passages?|sources?|texts?|information|knowledge|"
    r"questions?|requests?|topics?|data)\b|\?$|^(?:ask|call|email|look|open|read|search|see|send|upload|visit|write)\b"
)
"""Marks of what gives a reason for declining, or advice, and no answer."""
_REFUSES = re.compile(r"\b(?:help|assist|provide|share|discuss|comment|speculate)\b")
_YES_NO = re.compile(r"^(?:yes|no|nope|yeah|ja|nein|oui|non|sí|si|sim|não|nee)\s*(?:[,.;:!]|[–—-]\s|$)")
_NO_APOSTROPHE = re.compile(r"\b(do|does|did|is|are|was|were|could|have|has|ca)nt\b")
_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our)\b")
_LABEL = re.compile(
    r"^(?:(?:no|not enough|insufficient) "
    r"(?!\w* ?(?:information|info|answer|context|relevant|match|documents?|evidence)\b)"
    r"[\w ]{1,30}|not (?:found|available))\.?$"
)


def is_abstention(answer: str, question: str = "") -> bool:
    """Whether the answer declines to answer.

    Args:
        answer: The text of the answer; an empty one counts as declining.
        question: Helps where the same words answer one question and decline another. An answer that states one thing
            and declines another is a partial answer to "weight and price?" and none to "price?"; "insufficient data"
            answers "what does error E4 mean?", "none" how many there are, "it does not cover dents" what a warranty
            excludes, and "it is not included" a question of yes or no.
    """
    return _is_abstention(answer, read_question(question))


@lru_cache(maxsize=4096)
def _is_abstention(answer: str, asked: Asked) -> bool:
    text = _MARKS.sub(" ", _without_citations(fold(_squeezed(answer.replace("`", ""))))).strip()
    text = _NO_APOSTROPHE.sub(r"\1n't", text)
    if asked.counts and NO_NUMBER.match(text):
        return False
    if not _has_words(text) or BARE.match(text):
        return True
    if _YES_NO.match(text) or (asked.sign and _LABEL.match(text)):
        return False
    if asked.mentioned and not _FIRST_PERSON.search(text):
        return False
    sentences = _SENTENCE.split(_QUOTED.sub(" QUOTE ", text))
    sense = sense_of(text, asked)
    return _decide([clause for sentence in sentences for clause in _clauses(sentence, asked, sense)], asked)


def _without_citations(text: str) -> str:
    """The folded text without citation marks and brackets; alone, marks stay where one may be the answer."""
    rest = _CITATION.sub(" ", text)
    if not _has_words(rest) and _has_words(_LOW.sub(" ", text)):
        rest = text
    return rest.replace("[", " ").replace("]", " ")


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _squeezed(text: str) -> str:
    """The text without runs of blanks and empty lines, over which the patterns would go again and again."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


class _Clause(NamedTuple):
    """A clause, what it does (None: courtesy, which decides nothing) and what parts it from the one before."""

    text: str
    kind: str | None
    mark: str


def _decide(clauses: list[_Clause], asked: Asked) -> bool:
    """Decide by the kinds of the clauses, in their order."""
    kinds = [clause.kind for clause in clauses if clause.kind]
    if "declines" not in kinds or "hedges" in kinds:
        return False
    if any(_answers_after(before, clause) for before, clause in pairwise(clauses)):
        return False
    if "answers" not in kinds[: kinds.index("declines")]:
        return True
    return not asked.compound and kinds[-1] != "answers"


def _answers_after(declined: _Clause, clause: _Clause) -> bool:
    """Whether a clause answers in the sentence in which the one before declined."""
    return (
        (declined.kind, clause.kind) == ("declines", "answers")
        and bool(_GOES_ON.search(clause.mark))
        and not _NO_ANSWER.search(clause.text)
        and not _REFUSES.search(declined.text)
    )


def _clauses(sentence: str, asked: Asked, sense: Sense) -> Iterator[_Clause]:
    parts = ["", *_CLAUSE.split(sentence)]
    for mark, part in zip(parts[::2], parts[1::2], strict=True):
        text = " ".join(part.split())
        if _has_words(text):
            yield _Clause(text, _kind(text, asked, sense), mark)


def _kind(clause: str, asked: Asked, sense: Sense) -> str | None:
    """What a clause does; None for courtesy, which decides nothing."""
    unknown = UNKNOWN.match(clause)
    if unknown and not REPORTED.search(unknown["subject"] or ""):
        return "declines"
    if asked.whether and DENIES.search(clause):
        return "answers"
    rest = without_facts(clause, asked, sense)
    declined = DECLINES.search(rest)
    if declined and not REPORTED.search(rest[: declined.start()]):
        _, comma, after = rest[declined.end() :].partition(",")
        return "hedges" if comma and HEDGES.search(after) else "declines"
    return "answers" if rest != clause else _kind_of_other(clause)


def _kind_of_other(clause: str) -> str | None:
    """What a clause does that neither declines nor denies."""
    if COURTESY.search(clause):
        return None
    if HEDGES.search(clause):
        return "hedges"
    return "describes" if DESCRIBES.search(clause) else "answers"
