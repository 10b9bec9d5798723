"""Detect retracted statements: "it might be X, but it is actually Y", "X, or rather Y".

A hedge alone takes nothing back, nor does "but". It takes a word such as "actually" said of the same subject, and
another fact of the same kind behind it: a number for a number, a name for a name. Else "I think it is 30 days, but it
is actually counted from receipt" would deny the 30 days.
"""

import re
from collections.abc import Sequence

from evals.text.folding import ENGLISH

# Words of English that look like misspellings of each other and are none.


CONFUSED = frozenset(frozenset(pair.split()) for pair in ENGLISH["confused"].split(","))
"""Each pair as a set of two words, in lower case."""

Following = Sequence[tuple[str, Sequence[str]]]


_FAR = 40
"""Words before a fact among which a hedge is looked for."""


_HEDGES = frozenset(ENGLISH["hedges"].split())

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


# Whether two words are one that is misspelt, decided by letters, for there is no dictionary at hand.


_SHORTEST = 5
"""Letters from which a word may be misspelt."""


_LONG = 8
"""Letters from which one may be missing inside, or be another vowel."""


_LONG_STEM = 7
"""The same without an ending: shipping is not shopping."""

_VOWELS = frozenset("aeiouy")

_ENDING = re.compile(r"(?:ings?|ed|e?s)$")


_NUMBER_WORDS = frozenset(ENGLISH["number_words"].split())

_FORMS = frozenset({"ed", "ee", "en", "er", "es"})
"""Endings by whose last letter words differ that are no misspellings of each other: employer, employee, employed."""


def is_misspelt(one: str, other: str) -> bool:
    """Whether two different words in lower case are one, but for a misspelling that seldom makes another word.

    They have at least five letters and begin with the same one; number words are never misspelt.
    """
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST or short[0] != long[0] or len(long) - len(short) > 1:
        return False
    if not (short.isalpha() and long.isalpha()) or _NUMBER_WORDS & {one, other} or {one, other} in CONFUSED:
        return False
    if short[:-1] == long[:-1] and {short[-2:], long[-2:]} <= _FORMS:
        return False
    at = next((place for place, letter in enumerate(short) if letter != long[place]), len(short))
    return _has_letter_more(short, long, at) if len(long) > len(short) else _has_other_letter(short, long, at)


def _has_letter_more(short: str, long: str, at: int) -> bool:
    """Whether the longer word has one letter more, at the place from where the two differ."""
    if short[at:] != long[at + 1 :]:
        return False
    if long[at] == long[at - 1] or long[at : at + 2] == "ck":
        return True
    return at < len(short) and _is_long(short, long)


def _has_other_letter(one: str, other: str, at: int) -> bool:
    """Whether words of one length differ by neighbours that have changed places, or by a letter that sounds alike."""
    if one[at + 2 :] == other[at + 2 :] and one[at : at + 2] == other[at : at + 2][::-1]:
        return True
    if one[at + 1 :] != other[at + 1 :]:
        return False
    letters = {one[at], other[at]}
    if letters == {"s", "z"}:
        return True
    return letters <= _VOWELS and at < len(one) - 1 and _is_long(one, other)


def _is_long(one: str, other: str) -> bool:
    """Whether both words are so long that few others differ from them by a letter."""
    shortest = min(len(one), len(other))
    return shortest >= _LONG and min(len(_ENDING.sub("", word)) for word in (one, other)) >= _LONG_STEM
