"""How far two readers agree on labels, beyond what chance gives them.

    agreement = po                          kappa = (po - pe) / (1 - pe), pe of the readers' own shares (Cohen 1960)
    AC1 = (po - pe) / (1 - pe), pe = sum over labels of q(1 - q) / (labels - 1), q the mean share (Gwet 2008)

Kappa falls where nearly all labels are the same, however well readers agree (Feinstein & Cicchetti 1990); AC1 does not.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from math import erfc, fsum, sqrt
from typing import TypeVar

from evals.scoring.stats.intervals import FEWEST, Interval, t_quantile, units_of
from evals.scoring.stats.means import pseudo_weight

# How far one order of items follows another.


Numbers = Sequence[float]


def auroc(positives: Numbers, negatives: Numbers) -> float | None:
    """The chance that a positive scores above a negative, ties counted half; None without one of either.

    Formula: Mann & Whitney's U / (positives x negatives), the area under the ROC curve (Hanley & McNeil 1982).
    """
    if not positives or not negatives:
        return None
    return fsum(placements(positives, negatives)) / len(positives)


def placements(values: Numbers, others: Numbers) -> list[float]:
    """For each value the share of the others, of which there is at least one, that it is above; ties count half."""
    ordered = sorted(others)
    twice = 2 * len(ordered)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value)) / twice for value in values]


def pearson(first: Numbers, second: Numbers) -> float | None:
    """Pearson's correlation, -1 to 1; None where one of both does not vary."""
    n = len(first)
    if n < 2 or min(map(_spread, (first, second))) == 0:
        return None
    mean, other_mean = fsum(first) / n, fsum(second) / n
    one = [value - mean for value in first]
    other = [value - other_mean for value in second]
    scale = sqrt(fsum(value * value for value in one)) * sqrt(fsum(value * value for value in other))
    if scale == 0:
        return None
    return max(-1.0, min(1.0, fsum(a * b for a, b in zip(one, other, strict=True)) / scale))


def spearman(first: Numbers, second: Numbers) -> float | None:
    """Spearman's rank correlation: Pearson's of the ranks, tied values sharing the mean of theirs."""
    return pearson(ranks(first), ranks(second))


def ranks(values: Numbers) -> list[float]:
    """The ranks from 1 on; tied values share the mean of theirs."""
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value) + 1) / 2 for value in values]


def kendall(first: Numbers, second: Numbers) -> float | None:
    """Kendall's tau-b, -1 to 1: pairs in the same order less pairs in the other, with regard to ties.

    Formula: (P - Q) / sqrt((n0 - ties of first) (n0 - ties of second)), n0 all pairs (Kendall 1945). Pairs in the
    other order are counted by inserting into a sorted list. None where one of both does not vary.
    """
    pairs = sorted(zip(first, second, strict=True))
    every, tied, other_tied = _pairs(len(pairs)), _tied(first), _tied(second)
    if every in (tied, other_tied):
        return None
    discordant, seen = 0, list[float]()
    for place, (_, value) in enumerate(pairs):
        at = bisect_right(seen, value)
        discordant += place - at
        seen.insert(at, value)
    concordant = every - tied - other_tied + _tied(pairs) - discordant
    return (concordant - discordant) / sqrt((every - tied) * (every - other_tied))


def _pairs(n: int) -> int:
    return n * (n - 1) // 2


def _tied(values: Sequence[object]) -> int:
    return sum(map(_pairs, Counter(values).values()))


def _spread(values: Numbers) -> float:
    return max(values) - min(values)


# The interval of an AUROC whose items come in clusters.


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


# Whether the values of one sample tend to be greater than those of another.


def mann_whitney_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p of the test that neither sample tends to be greater (Mann & Whitney 1947).

    Formula: z = (|U - m·n/2| - 1/2) / sd by the normal approximation with the continuity correction, sd² =
    m·n/12 · (N + 1 - Σ(t³ - t)/(N(N - 1))) over the sizes t of ties, N = m + n. U counts the pairs in which the first
    is greater, ties by half.

    Args:
        first: m values, in any order.
        second: n values.

    Returns:
        1 where a sample is empty or all values are the same.
    """
    m, n = len(first), len(second)
    counts = Counter([*first, *second])
    whole, ties = m + n, sum(size**3 - size for size in counts.values())
    if not m or not n or len(counts) == 1:
        return 1.0
    spread = sqrt(m * n / 12 * (whole + 1 - ties / (whole * (whole - 1))))
    excess = abs(_wins(first, second) - m * n / 2) - 0.5
    return min(1.0, erfc(max(0.0, excess) / spread / sqrt(2)))


def _wins(first: Sequence[float], second: Sequence[float]) -> float:
    """In how many pairs the first is greater, ties by half."""
    theirs, below, wins = Counter(second), 0, 0.0
    own = Counter(first)
    for value in sorted({*own, *theirs}):
        wins += own[value] * (below + theirs[value] / 2)
        below += theirs[value]
    return wins


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
