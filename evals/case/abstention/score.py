"""Does an answer decline as a whole? All evidence for and against it is weighed, and the weights are summed."""

import re
from functools import lru_cache
from itertools import combinations

from evals.case.abstention.clauses import Kind
from evals.case.abstention.evidence import SETTLES, Answer, Circumstances, circumstances, signs
from evals.case.abstention.weights import BIAS, CIRCUMSTANCES, SIGNS, TOGETHER

_SPAN = 9
"""Words of an answer below which it may be a span of a document ("a pharmacist"), whatever its words are signs of."""
_UNSAID = 1.25
"""What must speak for such a span that declines where no clause does, and where the question is not known."""
_CITED = 1.75
"""And for what cites a passage: sentences taken out of a document have words that are signs, too."""
_CITES = re.compile(r"\[\d{1,3}\]|【[^】\n]{1,40}】")


def declines(answer: Answer) -> bool:
    """Whether more speaks for an answer that declines than against it; an answer to one of two questions does not."""
    found = circumstances(answer)
    return not found.get(SETTLES) and _sum(answer, found) > _least(answer)


def _least(answer: Answer) -> float:
    """What must speak for it."""
    if not answer.question:
        return _UNSAID
    if any(clause.kind is Kind.DECLINES for clause in answer.clauses):
        return 0.0
    if _CITES.search(answer.written):
        return _CITED
    return _UNSAID if len(answer.text.split()) < _SPAN else 0.0


def score(answer: Answer) -> float:
    """The sum of the weights of all evidence; above 0 where an answer rather declines."""
    return _sum(answer, circumstances(answer))


def _sum(answer: Answer, found: Circumstances) -> float:
    there = {name: value for name, value in found.items() if value}
    told = sum(CIRCUMSTANCES.get(name, 0.0) * value for name, value in there.items())
    return BIAS + told + _together(there) + _shown(answer)


def _together(there: Circumstances) -> float:
    """The weights of two circumstances that are there."""
    total = 0.0
    for first, value in there.items():
        weights = TOGETHER.get(first)
        if weights:
            total += value * sum(weights[other] * there[other] for other in weights.keys() & there.keys())
    return total


def _shown(answer: Answer) -> float:
    """The weights of the signs that are there, each once in a place."""
    shown: dict[str, set[int]] = {}
    for place, bits in signs(answer):
        shown.setdefault(place, set()).update(_singly_and_in_pairs(bits))
    return sum(SIGNS[place].get(bits, 0.0) for place, found in shown.items() if place in SIGNS for bits in found)


@lru_cache(maxsize=1024)
def _singly_and_in_pairs(shown: int) -> tuple[int, ...]:
    """Each bit, and each two."""
    bits = [1 << place for place in range(shown.bit_length()) if shown >> place & 1]
    return (*bits, *map(sum, combinations(bits, 2)))
