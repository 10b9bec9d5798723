"""Whether one group has more than its share of something: Fisher's exact test, one-sided."""

from math import exp, fsum, lgamma


def too_many_p(marked: int, size: int, all_marked: int, total: int) -> float:
    """How likely so many marked ones, or more, fall into a group by chance.

    P(X >= marked) of the hypergeometric distribution (Fisher 1935).

    Args:
        marked: In the group.
        size: Of the group.
        all_marked: In the group and elsewhere.
        total: Of all groups.
    """
    most = min(size, all_marked)
    whole = _log_choose(total, size)
    outside = total - all_marked
    terms = (
        exp(_log_choose(all_marked, k) + _log_choose(outside, size - k) - whole)
        for k in range(max(marked, size - outside), most + 1)
    )
    return min(1.0, fsum(terms))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
