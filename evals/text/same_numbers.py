"""Which numbers of one text are in another: equal in value, with units that do not contradict each other.

A unit that one side does not name is no contradiction, so 604 is $604, and 30 hours are not 30 days. What the answer
writes in words counts too, and so do the two numbers of a fraction, which may be a date.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from evals.text.notation import shifted
from evals.text.number_words import ORDINAL_WORD, spelt_out
from evals.text.numbers import Quantity, quantities
from evals.text.units import ORDINAL, contradict, is_part_of

_ASKS_FOR_SHARE = re.compile(
    r"\b(?:fraction|proportion|probability|ratio|(?:what|which|market|percentage) share|(?<!per )share of)\b",
    re.IGNORECASE,
)
_SLASHED = re.compile(r"(?<![\w/.,])(\d{1,3})/(\d{1,3})(?![\w/.,])")
_DECIMAL = re.compile(r"(-?)(\d+(?:\.\d+)?)(%?)")


def asks_for_share(question: str) -> bool:
    """Whether a question asks for a fraction, a share, a ratio or the like, so that 0.05 and 5% say the same."""
    return bool(_ASKS_FOR_SHARE.search(question))


@lru_cache(maxsize=512)
def distinct(text: str) -> frozenset[Quantity]:
    """The numbers of a text, each once: not 604 where it says 604 dollars too."""
    found = quantities(text)
    if len({value for value, _ in found}) == len(found):
        return found
    return frozenset(one for one in found if not any(_says_more(other, one) for other in found))


def _says_more(other: Quantity, one: Quantity) -> bool:
    return other.value == one.value and other.unit != one.unit and is_part_of(other.unit, one.unit)


def missing(wanted: Iterable[Quantity], answer: str, question: str = "") -> set[Quantity]:
    """The wanted numbers that an answer does not hold.

    Args:
        wanted: What is expected, as `distinct` gives it.
        answer: The text as given.
        question: What was asked; where it asks for a share, 0.05 is 5%.
    """
    left = set(wanted) - quantities(answer)
    as_share = bool(left) and asks_for_share(question)
    for read in (quantities, spelt_out, _slashed):
        if not left:
            break
        given = list(read(answer))
        left = {one for one in left if not any(_is_same(one, other, as_share=as_share) for other in given)}
    return left


def in_other_units(wanted: str, answer: str) -> bool:
    """Whether a number of one text stands in the other with a unit that contradicts its own: €50 and $50."""
    lost = [one for one in missing(distinct(wanted), answer) if one.unit]
    given = [other for other in quantities(answer) if other.unit] if lost else []
    return any(one.value == other.value and contradict(one.unit, other.unit) for one in lost for other in given)


def _is_same(wanted: Quantity, given: Quantity, *, as_share: bool) -> bool:
    if given.unit == ORDINAL_WORD and wanted.unit != ORDINAL:
        return False
    if wanted.value == given.value:
        return not contradict(wanted.unit, given.unit)
    return as_share and not (wanted.unit or given.unit) and _as_share(wanted.value) == given.value


def _as_share(value: str) -> str | None:
    """5% as 0.05, and 0.05 as 5%; None for a fraction that has no end."""
    found = _DECIMAL.fullmatch(value)
    if found is None:
        return None
    sign, number, percent = found.groups()
    return f"{sign}{shifted(number, -2)}" if percent else f"{sign}{shifted(number, 2)}%"


def _slashed(text: str) -> Iterator[Quantity]:
    for found in _SLASHED.finditer(text):
        yield from (Quantity(str(int(number))) for number in found.groups())
