"""The cosine of two vectors."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics.embedders import cosine

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
pairs = st.integers(1, 8).flatmap(lambda n: st.tuples(*[st.lists(numbers, min_size=n, max_size=n)] * 2))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 0], [1, 0], 1.0),
        ([1, 0], [0, 2], 0.0),
        ([1, 0], [-3, 0], -1.0),
        ([1, 1], [1, 0], math.sqrt(0.5)),
        ([0, 0], [1, 0], 0.0),
        ([0, 0], [0, 0], 0.0),
        ([], [], 0.0),
    ],
)
def test_known_angles_have_their_cosine(a: Sequence[float], b: Sequence[float], expected: float) -> None:
    """Same, right-angled, opposite, half-way; a vector without length is near to nothing."""
    assert cosine(a, b) == pytest.approx(expected)


def test_vectors_of_two_models_are_not_compared() -> None:
    """Different lengths are a mistake, not a number."""
    with pytest.raises(ValueError, match="2 and 3 numbers"):
        cosine([1, 2], [1, 2, 3])


@settings(derandomize=True, max_examples=200)
@given(pairs)
def test_the_cosine_is_that_of_numpy_and_never_over_one(pair: tuple[list[float], list[float]]) -> None:
    """The value of the usual formula, in its range whatever the rounding."""
    a, b = pair
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    assert -1.0 <= cosine(a, b) <= 1.0
    assert cosine(a, b) == pytest.approx(float(np.dot(a, b) / lengths) if lengths else 0.0, abs=1e-9)
    assert cosine(a, b) == cosine(b, a)
