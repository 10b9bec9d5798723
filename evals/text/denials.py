"""How English takes back what it says: words that negate, and phrases that set a fact aside or call it false."""

import re
from collections.abc import Sequence

_NEGATIONS = frozenset(
    (
        *("no", "nor", "not", "never", "none", "nobody", "nothing", "nowhere", "neither", "hardly", "barely"),
        *("falsely", "wrongly", "mistakenly", "erroneously", "incorrectly"),
    )
)
"""Words that turn a claim round; "without" limits it only ('in 15 minutes without confirmation')."""
_SET_ASIDE = frozenset({("rather", "than"), ("instead", "of"), ("opposed", "to"), ("place", "of")})
_BEFORE_A_FACT = frozenset(
    ("a", "an", "the", "is", "are", "was", "were", "be", "in", "at", "on", "by", "for", "from", "to", "of", "with")
)
_FALSE = r"(?:false|wrong|untrue|incorrect|mistaken|a myth|a misconception)"
_FALSE_WORDS = frozenset({"false", "wrong", "untrue", "incorrect", "mistaken", "myth", "misconception"})
_IS_FALSE = re.compile(rf"\b(?:is|are|was|were|be) (?:\w+ )?{_FALSE}(?= that\b|$)")
_CALLED_FALSE = re.compile(
    r"(?:(?:and|but|yet|however|though|although) )?(?:which|this|that) (?:is|are|was|were) "
    rf"(?:(?:\w+ ){{0,2}}{_FALSE}(?: (?:because|since|as|according)\b.*)?|"
    r"(?:\w+ )?not (?:\w+ )?(?:true|correct|right|so))"
)


def denials(words: Sequence[str]) -> int:
    """How often the words of a clause deny something: "not", "nobody", "it is false that", "wrongly"."""
    return sum(word in _NEGATIONS for word in words) + len(_IS_FALSE.findall(" ".join(words)))


def may_deny(words: Sequence[str]) -> bool:
    """Whether some part of the words may deny something: where this is not so, `denials` finds nothing in any."""
    return not (_NEGATIONS.isdisjoint(words) and _FALSE_WORDS.isdisjoint(words))


def is_set_aside(before: Sequence[str]) -> bool:
    """Whether the words before a fact set it aside: "London rather than", "instead of in"."""
    end = len(before)
    while end > 1:
        if tuple(before[end - 2 : end]) in _SET_ASIDE:
            return True
        if before[end - 1] not in _BEFORE_A_FACT:
            return False
        end -= 1
    return False


def is_called_false(following: Sequence[str]) -> bool:
    """Whether the clause behind a fact calls it false: "which is wrong", "but that is not true"."""
    return bool(_CALLED_FALSE.fullmatch(" ".join(following)))


def is_undecided(words: Sequence[str], clauses: Sequence[int]) -> bool:
    """Whether an answer says "yes and no" or the like, at the end of a clause."""
    for at in range(len(words) - 2):
        one, between, other = words[at : at + 3]
        ends = at + 3 == len(words) or clauses[at + 3] != clauses[at + 2]
        if ends and between in {"and", "or"} and {one, other} == {"yes", "no"}:
            return True
    return False
