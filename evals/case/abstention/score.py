"""Does an answer decline as a whole? All evidence for and against it is weighed, and the weights are summed."""

from collections.abc import Iterator

from evals.case.abstention.clauses import Kind
from evals.case.abstention.evidence import SETTLES, Answer, Circumstances, circumstances, signs
from evals.case.abstention.roles import BITS
from evals.case.abstention.weights import BIAS, CIRCUMSTANCES, SIGNS

_UNSAID = 1.75
"""What must speak for it where no clause declines by rule: sentences taken out of a document, as some servers answer
with, have words that are signs too, and a right answer that is taken for a refusal is worth nothing."""


def declines(answer: Answer) -> bool:
    """Whether more speaks for an answer that declines than against it; an answer to one of two questions does not."""
    found = circumstances(answer)
    least = 0.0 if any(clause.kind is Kind.DECLINES for clause in answer.clauses) else _UNSAID
    return not found.get(SETTLES) and _sum(answer, found) > least


def score(answer: Answer) -> float:
    """The sum of the weights of all evidence; above 0 where an answer rather declines."""
    return _sum(answer, circumstances(answer))


def _sum(answer: Answer, found: Circumstances) -> float:
    told = sum(CIRCUMSTANCES.get(name, 0.0) * value for name, value in found.items())
    return BIAS + told + sum(dict(_weighed(answer)).values())


def _weighed(answer: Answer) -> Iterator[tuple[tuple[str, int], float]]:
    """The weights of the signs that are there, each once, by place and bits."""
    for place, shown in signs(answer):
        for first, entries in _TABLE.get(place, {}).items():
            if shown & first:
                yield from (((place, bits), weight) for bits, weight in entries if shown & bits == bits)


def _table(written: str) -> dict[int, list[tuple[int, float]]]:
    """Bits and weight of each entry of a table such as "not source 0.31; none 0.2", by the bit of its first name."""
    table: dict[int, list[tuple[int, float]]] = {}
    for *names, weight in map(str.split, written.split(";")):
        table.setdefault(BITS[names[0]], []).append((sum(BITS[name] for name in names), float(weight)))
    return table


_TABLE = {place: _table(weights) for place, weights in SIGNS.items()}
