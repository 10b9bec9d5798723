"""Which values are independent of each other: questions about one document are not.

A server that has misread a document fails on most questions about it, so fifty questions about five documents say less
than fifty about fifty. A cluster is what belongs together; its label may be any text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

FEWEST = 6
"""With fewer clusters than these, their spread cannot be told: the questions themselves are the units then."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """Values by the units that are independent of each other.

    Attributes:
        sums: The sum of each unit's values.
        sizes: How many values each unit has, or stands for.
        n: How many values there are.
        clusters: How many labels there are.
        few: Whether there are clusters, but too few to serve as units: values are the units, and what is found holds
            for these clusters alone.
    """

    sums: list[float]
    sizes: Sequence[float]
    n: int
    clusters: int
    few: bool

    @property
    def plain(self) -> bool:
        """Whether each value is a unit of its own."""
        return len(self.sums) == self.n

    @property
    def typical_size(self) -> float:
        """The mean size of a unit, as a value sees it: sum of squared sizes / n."""
        return sum(size * size for size in self.sizes) / self.n


def group(values: Sequence[float], labels: Sequence[str] | None) -> Grouped:
    """Group values by their labels; None where each value stands for itself.

    Args:
        values: In any order.
        labels: As many, in the same order.
    """
    members: dict[str, list[float]] = {}
    for label, value in zip(labels, values, strict=True) if labels is not None else ():
        members.setdefault(label, []).append(value)
    n, clusters = len(values), len(members) if labels is not None else len(values)
    few = clusters < min(n, FEWEST)
    if few or clusters == n:
        return Grouped(list(values), [1] * n, n, clusters, few)
    return Grouped(
        [fsum(each) for each in members.values()], [len(each) for each in members.values()], n, clusters, few
    )


def units_of(labels: Sequence[str] | None, n: int) -> list[int]:
    """The number of the unit that each of n values belongs to, from 0 on."""
    if labels is None or len(set(labels)) < min(n, FEWEST):
        return list(range(n))
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return [numbers[label] for label in labels]


def standard_error(sums: Sequence[float], sizes: Sequence[float]) -> tuple[float, float, float]:
    """The mean over all values, its cluster-robust standard error, and the error's degrees of freedom.

    Formula: with N the sum of sizes and e_g = sum_g - size_g·mean,
    SE² = sum over g of e_g² / (1 - size_g/N) / N²; this is CR2 of a model with a mean alone, and equals s/sqrt(n) where
    all sizes are 1 (Bell & McCaffrey 2002; Imbens & Kolesár 2016). The degrees of freedom are Satterthwaite's for
    independent values: one less than the number of units where all have one size, fewer where sizes differ.

    Args:
        sums: The sum of each unit, of which there are at least two.
        sizes: The number of values of each, or a weight.
    """
    total = fsum(sizes)
    mean = fsum(sums) / total
    squares, second, third, fourth = [], [], [], []
    for unit, size in zip(sums, sizes, strict=True):
        residual, scale = unit - size * mean, 1 / (1 - size / total)
        squares.append(residual * residual * scale)
        square = size * size
        second.append(square)
        third.append(square * scale)
        fourth.append(square * scale * square * scale)
    trace = fsum(second) + (fsum(third) ** 2 - fsum(fourth)) / total**2
    return mean, fsum(squares) ** 0.5 / total, total * total / trace
