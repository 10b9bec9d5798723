"""How a comparison of many metrics keeps its chance of a false verdict: which metric is tested at which level.

A comparison has 0.05 to spend. The groups of quality share it equally. In a group that has a primary metric, this one
has nine tenths of the group's level and the others share the rest; they get all of it once the primary is decided, and
the primary once they are. What a wholly decided group had goes to the others. Each hypothesis thus has a weight that
depends on which others are undecided and never falls as these become fewer, and the weights never exceed 1 in sum: to
reject whatever has p <= 0.05·weight, and to begin anew with the rest, keeps the chance of any false rejection at 0.05
(Hommel, Bretz & Maurer 2007; Bretz et al. 2009). Within the others of a group this is Holm's procedure.

A metric on which fewer than six questions differ takes part in nothing: whatever their signs, its p is above 0.05, so
that it can get no verdict and needs no level (Tarone 1990).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

ALPHA = 0.05
"""The chance of any false verdict in a family where nothing differs."""
PRIMARY_SHARE = 0.9
"""Of the level of a group that has a primary metric and others."""
FEWEST = 6
"""So many pairs must differ for a verdict: of five that all differ the same way, p is 0.0625."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """That a metric does not differ.

    Attributes:
        group: The group of which it shares the level.
        p: Two-sided.
        primary: Whether it is the primary one of its group, which has at most one.
    """

    group: str
    p: float
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """How a hypothesis was tested.

    Attributes:
        level: It is rejected where p is below.
        adjusted: The level of the whole family at which it would be rejected; below alpha exactly where p < level.
    """

    level: float
    adjusted: float


def least_p(differing: int) -> float:
    """The least two-sided p that a test over so many pairs that differ can have, whatever it supposes: 2^(1-k)."""
    return min(1.0, 2.0 ** (1 - differing))


def decide(family: Sequence[Hypothesis], alpha: float = ALPHA) -> list[Ruling]:
    """Test a family of hypotheses, one after the other, at the levels that their weights give them.

    Args:
        family: In any order.
        alpha: The chance of any false rejection.

    Returns:
        A ruling a hypothesis, in the same order.
    """
    left = set(range(len(family)))
    adjusted = [1.0] * len(family)
    levels = [alpha] * len(family)
    reached, is_open = 0.0, True
    while left:
        weights = _weights(family, left)
        place = min(left, key=lambda i: (family[i].p / weights[i], i))
        reached = max(reached, min(1.0, family[place].p / weights[place]))
        if is_open:
            levels = [alpha * weights[i] if i in left else levels[i] for i in range(len(family))]
        is_open = is_open and reached < alpha
        adjusted[place] = reached
        left.remove(place)
    return [Ruling(level, value) for level, value in zip(levels, adjusted, strict=True)]


def _weights(family: Sequence[Hypothesis], left: set[int]) -> dict[int, float]:
    """The share of the level that each of the undecided hypotheses has."""
    sizes = Counter(family[i].group for i in left)
    with_primary = {family[i].group for i in left if family[i].primary}
    weights = {}
    for i in left:
        one = family[i]
        others = sizes[one.group] - (one.group in with_primary)
        share = 1.0
        if one.group in with_primary and others:
            share = PRIMARY_SHARE if one.primary else (1 - PRIMARY_SHARE) / others
        elif not one.primary:
            share = 1.0 / others
        weights[i] = share / len(sizes)
    return weights
