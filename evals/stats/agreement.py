"""How far two readers agree on labels, beyond what chance gives them.

    agreement = po                          kappa = (po - pe) / (1 - pe), pe of the readers' own shares (Cohen 1960)
    AC1 = (po - pe) / (1 - pe), pe = sum over labels of q(1 - q) / (labels - 1), q the mean share (Gwet 2008)

Kappa falls where nearly all labels are the same, however well readers agree (Feinstein & Cicchetti 1990); AC1 does not.
"""

from collections import Counter
from collections.abc import Hashable, Sequence


def observed_agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """The share of items on which both give the same label; None for no items."""
    if not first:
        return None
    return sum(one == other for one, other in zip(first, second, strict=True)) / len(first)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa, -1 to 1; None for no items, and where both give one and the same label to all."""
    agreed = observed_agreement(first, second)
    if agreed is None:
        return None
    one, other, n = Counter(first), Counter(second), len(first)
    by_chance = sum(count * other[label] for label, count in one.items()) / n**2
    return None if by_chance >= 1 else (agreed - by_chance) / (1 - by_chance)


def gwet_ac1(first: Sequence[Hashable], second: Sequence[Hashable], labels: int | None = None) -> float | None:
    """Gwet's AC1, -1 to 1; None for no items.

    Args:
        first: The labels of one reader.
        second: Those of the other.
        labels: How many different labels can be given; as many as were, and at least two, where None.
    """
    agreed = observed_agreement(first, second)
    if agreed is None:
        return None
    given = Counter([*first, *second])
    shares = [count / given.total() for count in given.values()]
    by_chance = sum(q * (1 - q) for q in shares) / (max(labels or 0, len(given), 2) - 1)
    return (agreed - by_chance) / (1 - by_chance)
