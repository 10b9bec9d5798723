"""The page of 5,000 questions in Chromium: the list holds them all, and makes elements of those in sight alone."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from browser.opened import OpenedPage
from servers import HOME

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTIONS = 5000


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, write_page: Callable[..., Path]) -> Path:
    """A page of so many questions, of records that are shorter than usual."""
    folder = tmp_path_factory.mktemp("many")
    benchmark = HOME / "benchmarks" / "report_page.py"
    sizes = ["--questions", str(QUESTIONS), "--characters", "300"]
    subprocess.run([sys.executable, str(benchmark), "--make", "--folder", str(folder), *sizes], cwd=HOME, check=True)
    return write_page(folder / str(QUESTIONS), "a")


@pytest.mark.timeout(600)  # a page of so many takes most of a minute to make, and longer beside other tests
def test_all_questions_are_searched_scrolled_and_opened(page: Path, open_page: Callable[..., OpenedPage]) -> None:
    """A search looks at each of them; at the end of the list stands the last; few rows are elements at any time."""
    opened = open_page(page, "#/questions/a")
    rows, said = opened.page.locator(".virtual .row"), opened.page.locator(".counted")
    said.filter(has_text=f"{QUESTIONS} of {QUESTIONS} questions").wait_for()
    assert 5 < rows.count() < 60
    opened.page.get_by_label("Search").fill("q4321")
    said.filter(has_text=f"1 of {QUESTIONS} questions").wait_for()
    opened.page.get_by_label("Search").fill("")
    said.filter(has_text=f"{QUESTIONS} of").wait_for()
    opened.page.evaluate("document.querySelector('.virtual').scrollTop = 1e9")
    last = opened.page.get_by_text(f"q{QUESTIONS - 1}", exact=True)
    last.wait_for()
    assert rows.count() < 60
    last.click()
    opened.page.wait_for_selector('#page[data-ready="question"]')
    assert opened.page.inner_text("#page h2") == f"q{QUESTIONS - 1}"
    opened.check()
