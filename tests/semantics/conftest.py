"""What the tests of comparing texts share: an embedder and a scorer that need no model."""

import pytest
from semantics.models import BagOfWords, WordOverlap

from evals.metrics.embedders import Semantics


@pytest.fixture
def embedder() -> BagOfWords:
    """An embedder without a model."""
    return BagOfWords()


@pytest.fixture
def scorer() -> WordOverlap:
    """A scorer without a model."""
    return WordOverlap()


@pytest.fixture
def semantics(embedder: BagOfWords, scorer: WordOverlap) -> Semantics:
    """Both, as metrics take them."""
    return Semantics(embedder, scorer)
