"""Agreement of two annotators, beyond chance.

    agreement = po                          kappa = (po - pe) / (1 - pe), pe of the readers' own shares (Cohen 1960)
    AC1 = (po - pe) / (1 - pe), pe = sum over labels of q(1 - q) / (labels - 1), q the mean share (Gwet 2008)

Kappa falls where nearly all labels are the same, however well readers agree (Feinstein & Cicchetti 1990); AC1 does not.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import repeat
from math import comb, erfc, fsum, sqrt
from statistics import StatisticsError, correlation, fmean
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
    if len(set(first)) < 2 or len(set(second)) < 2:
        return None
    try:
        return max(-1.0, min(1.0, correlation(first, second)))
    except StatisticsError:  # the spread is lost in rounding
        return None


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
    every, tied, other_tied, both_tied = map(_tied, ([0] * len(pairs), first, second, pairs))
    if every in (tied, other_tied):
        return None
    discordant, seen = 0, list[float]()
    for place, (_, value) in enumerate(pairs):
        at = bisect_right(seen, value)
        discordant += place - at
        seen.insert(at, value)
    concordant = every - tied - other_tied + both_tied - discordant
    return (concordant - discordant) / sqrt((every - tied) * (every - other_tied))


def _tied(values: Sequence[object]) -> int:
    """How many pairs of them are the same."""
    return sum(map(comb, Counter(values).values(), repeat(2)))


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
    in addition to the items, and as many negatives: so a judge that never erred in twenty cases has an interval too.

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
    residuals: defaultdict[int, float] = defaultdict(float)
    centres, fewest, ends = list[float](), len(scores), list[float]()
    for places in halves(range(len(scores)), positive):
        total = len(places) + 2 * weight
        centre = (fsum(placed[at] for at in places) + weight) / total
        for at in places:
            residuals[units[at]] += (placed[at] - centre) / total
        ends += [weight * (end - centre) / total for end in (0.0, 1.0)]
        centres.append(centre)
        fewest = min(fewest, len({units[at] for at in places}))
    squares = fsum(value * value for value in (*residuals.values(), *ends))
    error = sqrt(squares * (fewest + 2) / (fewest + 1))
    half = t_quantile(0.5 + confidence / 2, max(fewest + 1, FEWEST - 1)) * error
    return max(0.0, min(area, fmean(centres) - half)), min(1.0, max(area, fmean(centres) + half))


def _placed(above: Sequence[float], below: Sequence[float], positive: Sequence[bool]) -> list[float]:
    """Of each item the share of the other kind on whose right side it is."""
    mine, theirs = iter(placements(above, below)), iter(placements(below, above))
    return [next(mine) if yes else 1 - next(theirs) for yes in positive]


def halves(scores: Sequence[T], positive: Sequence[bool]) -> tuple[list[T], list[T]]:
    """The scores, or places, of the positives, and those of the negatives."""
    pairs = list(zip(scores, positive, strict=True))
    return [score for score, yes in pairs if yes], [score for score, yes in pairs if not yes]


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
    wins = n * fsum(placements(first, second))
    excess = abs(wins - m * n / 2) - 0.5
    return min(1.0, erfc(max(0.0, excess) / spread / sqrt(2)))


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
