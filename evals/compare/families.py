"""How a comparison of many metrics keeps its chance of a false verdict: which metric is tested at which level.

A comparison has 0.05 to spend. The groups of quality share it equally. In a group that has a primary metric, this one
has nine tenths of the group's level and the others share the rest; they get all of it once the primary is decided, and
the primary once they are. What a wholly decided group had goes to the others. Each hypothesis thus has a weight that
depends on which others are undecided and never falls as these become fewer, and the weights never exceed 1 in sum: to
reject whatever has p <= 0.05·weight, and to begin anew with the rest, keeps the chance of any false rejection at 0.05
(Hommel, Bretz & Maurer 2007; Bretz et al. 2009).

The others of a group share their level by the step-down procedure of Westfall & Young (1993), as their differences move
together: the signs of the units are flipped at random, for all metrics alike, and the adjusted p of a metric is the
share of draws in which some undecided metric of them is as extreme as it is. Metrics have different missing questions
and steps, so each statistic is on the scale of its own sign-flip p: max-T with T = -p. What is drawn lies between p
and p times the number of metrics, Holm's, and is held there, so no verdict of Holm's procedure is lost.

Metrics with the same differences are one hypothesis: it is rejected for all of them where it is for one.

A metric on which fewer than six questions differ takes part in nothing: whatever their signs, its p is above 0.05, so
that it can get no verdict and needs no level (Tarone 1990).
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Drawn = np.ndarray[Any, np.dtype[np.float64]]

ALPHA = 0.05
"""The chance of any false verdict in a family where nothing differs."""
PRIMARY_SHARE = 0.9
"""Of the level of a group that has a primary metric and others."""
FEWEST = 6
"""So many pairs must differ for a verdict: of five that all differ the same way, p is 0.0625."""
_ROUNDING = 1e-9
"""Relative: p of the same differences are that near to each other."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """That a metric does not differ.

    Attributes:
        group: The group of which it shares the level.
        p: Two-sided.
        primary: Whether it is the primary one of its group, which has at most one.
        same: What it shares with others that are the same hypothesis; None for one by itself.
    """

    group: str
    p: float
    primary: bool = False
    same: Hashable = None


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


@dataclass(frozen=True)
class _Test:
    """Hypotheses that are tested together at one level.

    Attributes:
        places: Of the hypotheses in the family.
        count: How many different ones these are.
        share: Of the level of the family.
        drawn: The p of each hypothesis of the family under each draw; None where nothing is drawn.
    """

    places: Sequence[int]
    count: int
    share: float
    drawn: "Drawn | None" = None

    def adjusted(self, p: float) -> float:
        """The level of the family at which a hypothesis with this p is rejected."""
        within = self.count * p
        if self._lowest is not None:
            seen = 1 + int(self._lowest.searchsorted(p, side="right"))
            within = min(within, max(p, seen / (len(self._lowest) + 1)))
        return min(1.0, within / self.share)

    def level(self, alpha: float) -> float:
        """Below which p a hypothesis is rejected, where the family has this level."""
        least = alpha * self.share / self.count
        rank = -1 if self._lowest is None else ceil(alpha * self.share * (len(self._lowest) + 1)) - 2
        if self._lowest is None or rank < 0:
            return least
        return max(least, min(alpha * self.share, float(self._lowest[rank])))

    @cached_property
    def _lowest(self) -> "Drawn | None":
        """The lowest p of each draw, in ascending order; a little less, as rounding must not tell equal ones apart."""
        if self.drawn is None or self.count == 1:
            return None
        lowest: Drawn = self.drawn[:, list(self.places)].min(axis=1) * (1 - _ROUNDING)
        lowest.sort()
        return lowest


def decide(
    family: Sequence[Hypothesis], alpha: float = ALPHA, draw: "Callable[[], Drawn] | None" = None
) -> list[Ruling]:
    """Test a family of hypotheses, one after the other, at the levels that their weights give them.

    Args:
        family: In any order.
        alpha: The chance of any false rejection.
        draw: Gives the p of each hypothesis, a column, under each draw of signs, a row. It is called where that may
            reject more than Holm's procedure. None where nothing is known of how they move together.

    Returns:
        A ruling a hypothesis, in the same order.
    """
    rulings = _step_down(family, alpha)
    if draw is not None and _may_gain(family, rulings, alpha):
        return _step_down(family, alpha, draw())
    return rulings


def _step_down(family: Sequence[Hypothesis], alpha: float, drawn: "Drawn | None" = None) -> list[Ruling]:
    left = set(range(len(family)))
    rulings = [Ruling(alpha, 1.0)] * len(family)
    reached = 0.0
    while left:
        tests = _tests(family, left, drawn)
        place, ratio = _first(family, tests)
        if reached < alpha:
            levels = {i: test.level(alpha) for test in tests for i in test.places}
            rulings = [replace(one, level=levels.get(i, one.level)) for i, one in enumerate(rulings)]
        reached = max(reached, ratio)
        for i in [i for i in left if _key(family, i) == _key(family, place)]:
            rulings[i] = Ruling(rulings[place].level, reached)
            left.remove(i)
    return rulings


def _first(family: Sequence[Hypothesis], tests: Sequence[_Test]) -> tuple[int, float]:
    """The hypothesis that is decided next, and its adjusted p."""
    ratio, place = min((test.adjusted(family[i].p), i) for test in tests for i in test.places)
    return place, ratio


def _may_gain(family: Sequence[Hypothesis], rulings: Sequence[Ruling], alpha: float) -> bool:
    """Whether, of those undecided that are tested together, one would be rejected if all were the same."""
    tests = _tests(family, {i for i, ruling in enumerate(rulings) if ruling.adjusted >= alpha})
    return any(test.count > 1 and min(family[i].p for i in test.places) < alpha * test.share for test in tests)


def _key(family: Sequence[Hypothesis], place: int) -> Hashable:
    """What is the same of hypotheses that are one."""
    return place if family[place].same is None else family[place].same


def _tests(family: Sequence[Hypothesis], left: set[int], drawn: "Drawn | None" = None) -> list[_Test]:
    """The tests of the undecided hypotheses, each with its share of the level."""
    groups: dict[str, list[int]] = {}
    for i in sorted(left):
        groups.setdefault(family[i].group, []).append(i)
    return [
        _Test(places, len({_key(family, i) for i in places}), share / len(groups), drawn)
        for members in groups.values()
        for places, share in _parts(family, members)
    ]


def _parts(family: Sequence[Hypothesis], members: Sequence[int]) -> list[tuple[list[int], float]]:
    """The primary metric of a group with what is the same, and the others, each with its share of the group's level."""
    primary = {_key(family, i) for i in members if family[i].primary}
    first = [i for i in members if _key(family, i) in primary]
    others = [i for i in members if _key(family, i) not in primary]
    if first and others:
        return [(first, PRIMARY_SHARE), (others, 1 - PRIMARY_SHARE)]
    return [(first or others, 1.0)]
