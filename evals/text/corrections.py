"""How English takes back what it has just said: "it might be X, but it is actually Y", "X, or rather Y".

A hedge alone takes nothing back, nor does "but". It takes a word such as "actually" said of the same subject, and
another fact of the same kind behind it: a number for a number, a name for a name. Else "I think it is 30 days, but it
is actually counted from receipt" would deny the 30 days.
"""

import re
from collections.abc import Sequence

Following = Sequence[tuple[str, Sequence[str]]]

_FAR = 40
"""Words before a fact among which a hedge is looked for."""
_HEDGES = frozenset(
    (
        *("might", "may", "could", "maybe", "perhaps", "possibly", "probably", "presumably", "supposedly", "seem"),
        *("seems", "seemed", "appears", "appeared", "think", "thought", "believe", "believed", "guess", "guessed"),
        *("assume", "assumed", "suspect", "suspected", "expected"),
    )
)
_SAID_BY_OTHERS = re.compile(
    r"\b(?:many|most|some|people|often|commonly|popularly|widely|frequently|sometimes)\b.*"
    r"\b(?:believed?|think|thought|says?|said|assumed?|considered|mistaken|called)\b"
)
_CONCEDES = frozenset({"while", "whilst", "although", "though"})
_TURN = r"(?:(?:but|yet|however|though|although) )+"
_ADVERB = r"(?:actually|really|in (?:actual )?fact|in reality|in truth|instead)"
_BE = r"(?:is|was|are|were|be|s)"
_SAME = r"(?:it|that|this|he|she|they|the answer)"
_TRUE = r"the (?:correct|right|real|true|actual|official) (?:\w+ ){1,2}?(?:is|was|are|were)"
_OF_THE_SAME = rf"(?:(?:{_SAME} )?(?:{_BE} )?{_ADVERB}|{_TRUE})\b"
_OF_ANOTHER = rf"the (?:\w+ ){{1,3}}?{_BE} {_ADVERB}\b"
_BUT = re.compile(f"{_TURN}{_OF_THE_SAME}")
_BUT_OTHERS = re.compile(f"{_TURN}(?:{_OF_THE_SAME}|{_OF_ANOTHER})")
_AFTER_CONCESSION = re.compile(f"(?:{_TURN})?(?:{_OF_THE_SAME}|{_OF_ANOTHER})")
_SLIP = re.compile(
    r"(?:or rather|no wait|wait no|actually no|no actually|no sorry|sorry no|sorry i mean|scratch that|correction"
    r"|i stand corrected|i meant)\b(?= \w)"
)
_I_MEAN = re.compile(r"i mean\b(?= \w)")
_GOES_ON = frozenset(",;-–—(")
"""Marks behind which "I mean" corrects and explains nothing."""
_NAME = re.compile(
    rf"\b(?i:{_ADVERB}|(?:correct|right|real|true|actual|official) \w+(?: \w+)? (?:is|was|are|were)),?\s++"
    r"(?:(?:in|at|on|the|a|an|it|is|was|it's|called|named|by|to)\s++)*+\W{0,3}[A-Z](?!\b|')"
)
_DIGIT = re.compile(r"\d")


def is_taken_back(fact: str, answer: str, before: Sequence[str], following: Following) -> bool:
    """Whether an answer takes a fact back behind the place where it states it.

    Args:
        fact: As it is expected.
        answer: The whole answer, as given.
        before: The words of its clause before the fact, in lower case.
        following: The clauses behind the fact, each with the mark before it and its words; first the rest of its own.
    """
    text = " ".join(word for _, words in following for word in words)
    return _is_slip(text, following) or _is_corrected(fact, answer, before[-_FAR:], text)


def _is_slip(text: str, following: Following) -> bool:
    """Whether the speaker corrects a slip: "or rather", "no, wait", "I mean", "no," and what is right."""
    mark, words = next(((mark, words) for mark, words in following if words), ("", ()))
    if _SLIP.match(text) or (mark in _GOES_ON and _I_MEAN.match(text)):
        return True
    return list(words) == ["no"] and mark in {*_GOES_ON, "?"} and text != "no"


def _is_corrected(fact: str, answer: str, before: Sequence[str], text: str) -> bool:
    """Whether the fact was a guess, or the opinion of others, and another one is said to be right."""
    by_others = bool(_SAID_BY_OTHERS.search(" ".join(before)))
    if not by_others and _HEDGES.isdisjoint(before):
        return False
    corrects = _AFTER_CONCESSION if _CONCEDES & set(before[:2]) else _BUT_OTHERS if by_others else _BUT
    found = corrects.match(text)
    return found is not None and _is_of_its_kind(fact, answer, text[found.end() :])


def _is_of_its_kind(fact: str, answer: str, instead: str) -> bool:
    """Whether what is said instead can stand for the fact, and is not the fact again."""
    if f" {' '.join(fact.lower().split())} " in f" {instead} ":
        return False
    if _DIGIT.search(fact):
        return bool(_DIGIT.search(instead))
    return not any(map(str.isupper, fact)) or bool(_NAME.search(answer))
