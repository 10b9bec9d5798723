"""The browser and the checker of accessibility that the tests of pages need, and what happens without them."""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


def chromium_path() -> str:
    """Where Debian's Chromium is; without it a test is skipped, and fails where CI is set."""
    found = shutil.which("chromium")
    return found or lacking("chromium is not installed: apt-get install chromium")


def axe_script() -> str:
    """axe-core as package-lock.json pins it; without it a test is skipped, and fails where CI is set."""
    if not AXE.is_file():
        lacking("axe-core is not installed: npm ci --prefix tests/browser")
    return AXE.read_text(encoding="utf-8")


def lacking(reason: str) -> NoReturn:
    """Skip the test, or fail it where CI is set: what is skipped there is never run."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
