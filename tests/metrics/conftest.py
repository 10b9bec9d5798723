"""What the tests of the metrics share: rows of real datasets."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real rows."""
    folder = os.environ.get("EVALS_REAL_DATA")
    if not folder:
        pytest.skip("EVALS_REAL_DATA names no folder")
    return Path(folder)
