"""The formulas of the ranking metrics, over what was found at each rank of the server's own order.

The functions take *gains*: `gains[i]` is what the result at rank i + 1 is worth (0 for a miss). Conventions are
those of trec_eval: ranks count from 1, precision divides by k however few results there are, the gain is linear in
the grade and the discount is log2(rank + 1).

Written here though pytrec-eval computes them (tests compare the two): it takes ids of documents, and here a result may
find several golds, or one that an earlier result has found.
"""

from collections.abc import Iterable, Sequence
from math import log2


def recall_at(newly_found: Sequence[int], total: int, k: int) -> float:
    """Return the share of the `total` relevant items first found within the top k.

    Args:
        newly_found: `newly_found[i]` is how many relevant items rank i + 1 finds that no earlier rank found.
        total: Number of relevant items; must be positive.
        k: Cut-off rank.
    """
    return sum(newly_found[:k]) / total


def precision_at(hits: Sequence[bool], k: int) -> float:
    """Return the share of the top k that is relevant; missing results count as misses.

    Results count, not relevant items: several that hold one item are as many relevant results.
    """
    return sum(hits[:k]) / k


def reciprocal_rank(hits: Sequence[object]) -> float:
    """Return 1 / rank of the first relevant result, 0 where there is none. No cut-off.

    Args:
        hits: For each rank whether its result is relevant, or the relevant items that it finds.
    """
    return next((1.0 / rank for rank, hit in enumerate(hits, start=1) if hit), 0.0)


def dcg_at(gains: Sequence[float], k: int) -> float:
    """Return the discounted cumulative gain of the top k: sum of gain / log2(rank + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains[:k], start=1) if gain)


def ndcg_at(gains: Sequence[float], ideal: Iterable[float], k: int) -> float:
    """Return DCG@k divided by the DCG@k of the ideal order (Järvelin & Kekäläinen 2002).

    Args:
        gains: Gain of each rank.
        ideal: The gains of all relevant items, found or not; at least one must be positive.
        k: Cut-off rank.
    """
    best = dcg_at(sorted(ideal, reverse=True), k)
    return min(1.0, dcg_at(gains, k) / best)  # equal sums in another order may differ in the last digit


def adapted_ndcg(hits: Sequence[bool], relevant: int) -> float:
    """Return sum of 1 / (i + 1) over the hits at i (from 0), divided by that of `relevant` hits in the first places.

    Args:
        hits: `hits[i]` is whether the result at place i is relevant; at most `relevant` of them may be.
        relevant: Number of relevant items, found or not; must be positive.
    """
    gain = sum(1.0 / (place + 1) for place, hit in enumerate(hits) if hit)
    return gain / sum(1.0 / (place + 1) for place in range(relevant))


def unit_ndcg_at(newly_found: Sequence[set[int]], grades: Sequence[float], k: int) -> float:
    """Return nDCG@k where one result may cover several relevant items.

    A result gains the highest grade among the items that it is first to cover. Items covered together form one unit
    of the ideal order, so that the value never exceeds 1.

    Args:
        newly_found: For each rank, the items (by index) that it covers and no earlier rank does.
        grades: Grade of each item; at least one must be positive.
        k: Cut-off rank.
    """
    units = newly_found[:k]
    gains = [max([grades[index] for index in items]) if items else 0.0 for items in units]
    covered = set().union(*units)
    missed = [grade for index, grade in enumerate(grades) if index not in covered]
    return ndcg_at(gains, [gain for gain in gains if gain] + missed, k)
