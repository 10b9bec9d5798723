"""Values that belong together: how they are grouped, and the error of their mean, against other programs."""

import numpy as np
import pytest

from evals.scoring.stats.intervals import group, standard_error, units_of


def in_clusters(sizes: list[int], seed: int = 1) -> tuple[list[float], list[str]]:
    """Values that share something within a cluster, and their labels."""
    rng = np.random.default_rng(seed)
    values = [float(v) for size in sizes for v in rng.normal() + rng.normal(size=size)]
    return values, [f"d{number}" for number, size in enumerate(sizes) for _ in range(size)]


def test_values_without_labels_stand_for_themselves() -> None:
    """Each is a unit, with or without labels that are all different."""
    for labels in (None, ["a", "b", "c"]):
        found = group([1.0, 2.0, 4.0], labels)
        assert (found.sums, found.sizes, found.clusters, found.few, found.plain) == ([1, 2, 4], [1] * 3, 3, False, True)


def test_values_of_one_label_are_one_unit() -> None:
    """In the order in which labels come."""
    found = group([1.0] * 12, ["a", "b", "c", "d", "e", "f"] * 2)
    assert (found.sums, found.sizes, found.clusters, found.few) == ([2.0] * 6, [2] * 6, 6, False)


def test_too_few_clusters_are_no_units() -> None:
    """Five documents have a spread that nobody can tell: their questions are the units, and that is said."""
    found = group([1.0] * 10, list("abcde") * 2)
    assert (found.sizes, found.clusters, found.few) == ([1] * 10, 5, True)
    assert units_of(list("abcde") * 2, 10) == list(range(10))
    assert units_of(list("abcdef") * 2, 12) == [0, 1, 2, 3, 4, 5] * 2


@pytest.mark.parametrize("sizes", [[1] * 30, [5] * 12, [1, 2, 3, 4, 5, 6, 7], [40, 1, 1, 1, 1, 1, 1]])
def test_the_error_is_that_of_the_matrix_formula(sizes: list[int]) -> None:
    """CR2 and Satterthwaite's degrees of freedom, as Imbens and Kolesár write them for any regression."""
    values, labels = in_clusters(sizes)
    n, ones, residuals = len(values), np.ones(len(values)), np.array(values) - np.mean(values)
    hat = np.eye(n) - np.ones((n, n)) / n
    variance, columns = 0.0, []
    for label in dict.fromkeys(labels):
        member = np.array(labels) == label
        eigenvalues, vectors = np.linalg.eigh(hat[np.ix_(member, member)])
        root = vectors @ np.diag(1 / np.sqrt(eigenvalues)) @ vectors.T
        scaled = root @ ones[member] / n
        variance += float(scaled @ residuals[member]) ** 2
        columns.append(hat[:, member] @ scaled)
    across = np.array(columns) @ np.array(columns).T
    grouped = group(values, labels)
    mean, error, df = standard_error(grouped.sums, grouped.sizes)
    assert mean == pytest.approx(np.mean(values))
    assert error == pytest.approx(variance**0.5)
    assert df == pytest.approx(np.trace(across) ** 2 / np.sum(across**2))
