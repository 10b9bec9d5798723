"""Packages of the extra `dev-full`: without one a test that needs it is skipped, or fails where CI is set."""

import os
from importlib import import_module
from typing import Any

import pytest


def full(name: str) -> Any:
    """Import a package of `dev-full`.

    Args:
        name: Of the module.

    Raises:
        ImportError: Where CI is set and the package is not installed.
    """
    if os.environ.get("CI"):
        return import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed: pip install -e '.[dev-full]'")
