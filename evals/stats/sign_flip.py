"""The sign-flip test of paired differences (Fisher 1935): were the two runs swapped in some pairs, what would be seen?

Where two servers are equal, the difference of each unit is as likely with the one sign as with the other. So p is the
share of all assignments of signs under which the sum of the differences lies as far from 0 as it does. It supposes
nothing of how great differences are, nor that they have one spread, and is exact however few there are.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import erfc, sqrt
from sys import float_info
from typing import TYPE_CHECKING, Any

from evals.stats.intervals import mcnemar_p

if TYPE_CHECKING:
    import numpy as np

    Sizes = np.ndarray[Any, np.dtype[np.float64]]
    Steps = np.ndarray[Any, np.dtype[np.int64]]

_ENUMERATED = 16
"""With so many units that differ, all assignments of signs are looked at one by one."""
_GRID = 1 << 15
"""So many steps the sum of all changes has at most."""
_MANY = 1 << 11
"""Of more units such steps are too coarse for values on no grid, and the normal limit is near enough."""
_WHOLE = 1e-6
"""So near to a whole number of steps is one."""
_NOTHING = 1e-12
"""Relative to the greatest: a difference that is smaller comes from rounding."""
DRAWS = 10_000
_SEED = 20260115
_AT_ONCE = 2_000_000
"""Signs drawn in one step: large runs need no more memory than small ones."""


def sign_flip_p(sums: Sequence[float]) -> float:
    """Two-sided p that each of these differences could as well have the other sign.

    Formula: p = min(1, 2·P(X <= m)), where X is the sum of those |d| that a fair coin picks and m the smaller of what
    rose and what fell in sum: |T*| >= |T| for the sum T of all d, as T* = sum|d| - 2X. Where all |d| that are not 0 are
    alike it is McNemar's exact test. Up to 16 of them, all sums X are enumerated. Of more, X is counted in steps:
    exactly where all |d| are multiples of a step of which the sum of |d| has no more than 32768; else |d| is rounded to
    such steps, which leaves a test that is exact where the two are equal, of nearly the same statistic. Beyond 2048
    that are multiples of none, p is that of the normal limit, T / sqrt(sum of d²).

    Args:
        sums: The difference of each unit: of a question, or the sum over a cluster.

    Returns:
        In (0, 1]; 1 where nothing differs.
    """
    import numpy as np  # noqa: PLC0415 - only who compares pays for the import

    found = np.array(sums, dtype=float)
    found = found[np.abs(found) > _NOTHING * np.abs(found).max(initial=0.0)]
    if not len(found):
        return 1.0
    sizes = np.sort(np.abs(found))
    if sizes[-1] - sizes[0] <= _NOTHING * sizes[-1]:
        return max(mcnemar_p(int((found < 0).sum()), int((found > 0).sum())), float_info.min)
    flipped, share = _flips(found, sizes)
    smaller = min(flipped[flipped > 0].sum(), -flipped[flipped < 0].sum())
    return min(1.0, max(2 * float(share(np.array([smaller]))[0]), float_info.min))


def drawn_p(columns: Sequence[Mapping[str, float]], draws: int = DRAWS, *, seed: int = _SEED) -> "Sizes":
    """The sign-flip p of several metrics under the same draws of signs: a row a draw, a column a metric.

    Each unit has one sign for all metrics, as the two runs are swapped in all that was measured of it. A unit of which
    a metric has no value adds nothing to the sum of that metric.

    Args:
        columns: The difference of each unit, of which some are not 0, by the name of the unit.
        draws: How many.
        seed: The same seed gives the same draws.
    """
    import numpy as np  # noqa: PLC0415

    rows = {unit: row for row, unit in enumerate(dict.fromkeys(unit for column in columns for unit in column))}
    table = np.zeros((len(rows), len(columns)))
    shares = []
    for place, column in enumerate(columns):
        found = np.array(list(column.values()), dtype=float)
        found[np.abs(found) <= _NOTHING * np.abs(found).max()] = 0.0
        own = [rows[unit] for unit, there in zip(column, found != 0, strict=True) if there]
        table[own, place], share = _flips(found[found != 0], np.sort(np.abs(found[found != 0])))
        shares.append(share)
    rng, batch, totals = np.random.default_rng(seed), max(1, _AT_ONCE // max(1, len(rows))), []
    for start in range(0, draws, batch):
        signs = 2.0 * rng.integers(0, 2, (min(batch, draws - start), len(rows)), dtype=np.int8) - 1
        totals.append(signs @ table)
    smaller = (np.abs(table).sum(axis=0) - np.abs(np.concatenate(totals))) / 2
    return np.minimum(1.0, 2 * np.column_stack([share(smaller[:, place]) for place, share in enumerate(shares)]))


def _flips(found: "Sizes", sizes: "Sizes") -> "tuple[Sizes, Callable[[Sizes], Sizes]]":
    """The differences as they are added up, and what gives P(X <= m) of several m, by the way their number allows."""
    import numpy as np  # noqa: PLC0415

    if len(found) <= _ENUMERATED:
        return found, partial(_enumerated, sizes)
    step = _step(sizes)
    if step is None and len(found) > _MANY:
        return found, partial(_normal, sizes)
    steps = np.rint(found / (step or sizes.sum() / _GRID))
    return steps, partial(_counted, np.sort(np.abs(steps)).astype(np.int64))


def _normal(sizes: "Sizes", most: "Sizes") -> "Sizes":
    """The limit of these shares for many sizes."""
    import numpy as np  # noqa: PLC0415

    reach = (sizes.sum() - 2 * most) / sqrt(2 * (sizes * sizes).sum())
    return np.array([erfc(each) / 2 for each in reach])


def _enumerated(sizes: "Sizes", most: "Sizes") -> "Sizes":
    """For each of these, the share of all subsets whose sum is at most that."""
    import numpy as np  # noqa: PLC0415

    subsets = np.zeros(1)
    for size in sizes:
        subsets = np.concatenate([subsets, subsets + size])
    found: Sizes = np.searchsorted(np.sort(subsets), most + 1e-9 * sizes.sum(), side="right") / len(subsets)
    return found


def _step(sizes: "Sizes") -> float | None:
    """The greatest step of which all sizes are multiples; None where their sum would have more than 32768 of them."""
    import numpy as np  # noqa: PLC0415

    least = sizes[0]
    parts = np.arange(1, int(_GRID * least / sizes.sum()) + 1)
    for size in np.unique(sizes):
        counts = size / least * parts
        parts = parts[np.abs(counts - np.rint(counts)) <= _WHOLE]
    return float(least / parts[0]) if len(parts) else None


def _counted(steps: "Steps", sums: "Sizes") -> "Sizes":
    """For each of these, the share of all subsets whose sum is at most that, of whole numbers in ascending order."""
    import numpy as np  # noqa: PLC0415

    wanted = np.rint(sums).astype(np.int64)
    most = int(wanted.max())
    shares = np.zeros(most + 1)
    shares[0] = 1.0
    reached = 0
    for step in map(int, steps[steps > 0]):
        end = min(most, reached + step) + 1
        shares[:end] *= 0.5
        if step <= most:
            shares[step:end] += shares[: end - step].copy()
        reached = min(most, reached + step)
    found: Sizes = shares.cumsum()[wanted]
    return found
