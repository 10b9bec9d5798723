"""Which values are independent of each other: questions about one document are not, nor is a question asked again.

A server that has misread a document fails on most questions about it, so fifty questions about five documents say less
than fifty about fifty. A cluster is what belongs together; its label may be any text. Where a question was asked
several times, the label names the question too (`asked_again`): its answers are one, whatever else is a unit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

FEWEST = 6
"""With fewer clusters than these, their spread cannot be told: the questions themselves are the units then."""
_OF = "\x1f"
"""Between the label of a cluster and that of a question in it."""


def asked_again(cluster: str, question: str) -> str:
    """The label of a value of a question that was asked several times.

    Args:
        cluster: What the question belongs to.
        question: Which it is.
    """
    return f"{cluster}{_OF}{question}"


def parts_of(label: str) -> tuple[str, str]:
    """The cluster of a label, and the question of it that was asked several times; "" where it was asked once."""
    cluster, _, question = label.partition(_OF)
    return cluster, question


def distinct(labels: Sequence[str] | None, n: int) -> Sequence[str]:
    """A label for each question that n values are of: values of one question have the same."""
    if labels is None or not any(_OF in label for label in labels):
        return [str(place) for place in range(n)]
    return [label if _OF in label else str(place) for place, label in enumerate(labels)]


def questions_among(places: Iterable[int], labels: Sequence[str] | None) -> int:
    """How many questions the values at some places are of."""
    chosen = list(places)
    return len(chosen) if labels is None else len(set(distinct([labels[place] for place in chosen], len(chosen))))


def units(labels: Sequence[str] | None, n: int) -> tuple[Sequence[str], int, bool]:
    """What n values are grouped by.

    Returns:
        A label for each value, of its cluster or of its question; how many clusters there are; and whether these are
        too few to serve as units.
    """
    questions = distinct(labels, n)
    if labels is None:
        return questions, n, False
    clusters = [parts_of(label)[0] for label in labels]
    count = len(set(clusters))
    few = count < min(len(set(questions)), FEWEST)
    return questions if few else clusters, count, few


@dataclass(frozen=True, slots=True)
class Grouped:
    """Values by the units that are independent of each other.

    Attributes:
        sums: The sum of each unit's values.
        sizes: How many values each unit has, or stands for.
        n: How many values there are.
        clusters: How many labels there are.
        few: Whether there are clusters, but too few to serve as units: questions are the units, and what is found
            holds for these clusters alone.
        questions: How many questions the values are of.
    """

    sums: list[float]
    sizes: Sequence[float]
    n: int
    clusters: int
    few: bool
    questions: int

    @property
    def times(self) -> float:
        """How often a question was asked, on average."""
        return self.n / self.questions

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
    n = len(values)
    if labels is None:
        return Grouped(list(values), [1] * n, n, n, few=False, questions=n)
    by, clusters, few = units(labels, n)
    questions = len(set(distinct(labels, n)))
    members: dict[str, list[float]] = {}
    for label, value in zip(by, values, strict=True):
        members.setdefault(label, []).append(value)
    if len(members) == n:
        return Grouped(list(values), [1] * n, n, clusters, few, questions)
    sums, sizes = [fsum(each) for each in members.values()], [len(each) for each in members.values()]
    return Grouped(sums, sizes, n, clusters, few, questions)


def units_of(labels: Sequence[str] | None, n: int) -> list[int]:
    """The number of the unit that each of n values belongs to, from 0 on."""
    by, _, _ = units(labels, n)
    numbers = {label: number for number, label in enumerate(dict.fromkeys(by))}
    return [numbers[label] for label in by]


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
