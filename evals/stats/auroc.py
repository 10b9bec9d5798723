"""The interval of an AUROC whose items come in clusters."""

from collections import defaultdict
from collections.abc import Sequence
from math import fsum, sqrt
from typing import TypeVar

from evals.stats.clusters import FEWEST, units_of
from evals.stats.correlation import auroc, placements
from evals.stats.distributions import t_quantile
from evals.stats.intervals import Interval
from evals.stats.means import pseudo_weight

T = TypeVar("T")


def auroc_interval(
    scores: Sequence[float],
    positive: Sequence[bool],
    clusters: Sequence[str] | None = None,
    *,
    confidence: float = 0.95,
) -> Interval | None:
    """The interval by placements, over clusters that may hold both kinds (DeLong et al. 1988, Obuchowski 1997).

    As with the means of this package, one positive that is above all negatives and one that is below all are counted
    beside the items, and as many negatives: so a judge that never erred in twenty cases has an interval too.

    Args:
        scores: Of all items.
        positive: Of each, whether it is positive.
        clusters: What each belongs to; None where all are independent.
        confidence: In (0.5, 1).

    Returns:
        None where there are fewer than two of either kind.
    """
    above, below = halves(scores, positive)
    area = auroc(above, below)
    if area is None or min(len(above), len(below)) < 2:
        return None
    placed = _placed(above, below, positive)
    units, weight = units_of(clusters, len(scores)), pseudo_weight(confidence)
    kinds = [_Kind(places, placed, units, weight) for places in halves(range(len(scores)), positive)]
    residuals = _added(*(kind.by_unit() for kind in kinds))
    fewest = min(kind.units for kind in kinds)
    squares = fsum(value * value for value in residuals) + fsum(kind.pseudo_squares() for kind in kinds)
    error = sqrt(squares * (fewest + 2) / (fewest + 1))
    centre = (kinds[0].centre + kinds[1].centre) / 2
    half = t_quantile(0.5 + confidence / 2, max(fewest + 1, FEWEST - 1)) * error
    return max(0.0, min(area, centre - half)), min(1.0, max(area, centre + half))


def halves(scores: Sequence[T], positive: Sequence[bool]) -> tuple[list[T], list[T]]:
    """The scores, or places, of the positives, and those of the negatives."""
    pairs = list(zip(scores, positive, strict=True))
    return [score for score, yes in pairs if yes], [score for score, yes in pairs if not yes]


def _added(*parts: dict[int, float]) -> list[float]:
    """The values of several mappings, added up by key."""
    total: defaultdict[int, float] = defaultdict(float)
    for part in parts:
        for key, value in part.items():
            total[key] += value
    return list(total.values())


def _placed(above: Sequence[float], below: Sequence[float], positive: Sequence[bool]) -> list[float]:
    """Of each item the share of the other kind that it stands on the right side of."""
    mine, theirs = iter(placements(above, below)), iter(placements(below, above))
    return [next(mine) if yes else 1 - next(theirs) for yes in positive]


class _Kind:
    """The positives, or the negatives, with one item at either end beside them."""

    def __init__(self, places: Sequence[int], placed: Sequence[float], units: Sequence[int], weight: float) -> None:
        self._places, self._placed, self._units, self._weight = places, placed, units, weight
        self._total = len(places) + 2 * weight
        self.centre = (fsum(placed[at] for at in places) + weight) / self._total
        self.units = len({units[at] for at in places})

    def by_unit(self) -> dict[int, float]:
        """What each unit adds to the error of the mean."""
        added: dict[int, float] = {}
        for at in self._places:
            added[self._units[at]] = added.get(self._units[at], 0.0) + (self._placed[at] - self.centre) / self._total
        return added

    def pseudo_squares(self) -> float:
        """What the two items at the ends add to its square."""
        return fsum((self._weight * (end - self.centre) / self._total) ** 2 for end in (0.0, 1.0))
