"""The page of a run in headless Chromium: sorting, filtering, what is read without a script, and who may read it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from extras import full
from whole_runs import saved_run

from evals.report.page import write_report
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, RetrievedChunk

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


def lacking(reason: str) -> NoReturn:
    """Skip the test, or fail it where CI is set: what is skipped there is never run."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run of thirty questions, every third of which was declined; one answer is hostile."""
    folder = tmp_path_factory.mktemp("page")
    records = []
    for number in range(30):
        gold = f"Room {number} is on floor {number % 7}."
        question = EvalQuestion(
            id=f"q{number:02}",
            question=f"On which floor is room {number}?",
            expected_answer=f"floor {number % 7}",
            gold_passages=[GoldPassage(text=gold)],
            is_unanswerable=False,
        )
        answer = "I could not find this in the documents." if number % 3 == 0 else f"It is on floor {number % 7}."
        chunks = [RetrievedChunk(chunk_id="a", document_name="plan.md", text=f"First. {gold} Last.")]
        response = EvalResponse(answer=HOSTILE if number == 1 else answer, chunks=chunks, latency_ms=100.0 - number)
        records.append(EvalRecord(question=question, response=response))
    write_report(folder / "page.html", [saved_run(folder, records)])
    return folder / "page.html"


@pytest.fixture(scope="module")
def chromium(page_file: Path) -> Iterator[Any]:
    """A headless Chromium, as Debian installs it; while it is open, this thread can run no other event loop."""
    path = shutil.which("chromium") or lacking("chromium is not installed: apt-get install chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
    with full("playwright.sync_api").sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, page_file: Path) -> Iterator[Any]:
    """The page, opened; what its console says is an error."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.goto(page_file.as_uri())
    yield opened
    context.close()
    assert problems == []


def rows(page: Any) -> list[str]:
    """The ids of the questions that are shown, in their order."""
    return [text.partition(":")[0] for text in page.locator("table.questions summary").all_inner_texts()]


def test_a_word_and_an_outcome_filter_the_questions(page: Any) -> None:
    """Both together; how many are left is said."""
    page.get_by_label("outcome").select_option("declined")
    assert rows(page) == [f"q{number:02}" for number in range(0, 30, 3)]
    page.get_by_label("search").fill("room 27")
    assert rows(page) == ["q27"]
    assert "1 of 30" in page.locator("[data-shown]").inner_text()


def test_a_click_on_a_title_sorts_by_it_and_another_turns_the_order(page: Any) -> None:
    """Numbers by their value."""
    title = page.get_by_role("button", name="latency p50")
    title.click()
    assert rows(page)[:2] == ["q29", "q28"]
    title.click()
    assert rows(page)[:2] == ["q00", "q01"]


def test_a_link_opens_the_question_that_it_names(page: Any) -> None:
    """With its answer, its marked gold and its metrics."""
    page.locator("a[href^='#']", has_text="q03").first.click()
    detail = page.locator("tr", has_text="q03").locator("details")
    assert detail.get_attribute("open") is not None
    assert detail.locator("mark").inner_text() == "Room 3 is on floor 3."


def test_an_answer_is_text_whatever_it_holds(page: Any) -> None:
    """Nothing of it runs."""
    page.locator("tr", has_text="q01:").locator("summary").click()
    assert HOSTILE in page.locator("tr", has_text="q01:").inner_text()
    assert "run" not in page.title().split()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 380])
def test_a_page_is_accessible_and_no_wider_than_the_window(
    chromium: Any, page_file: Path, scheme: str, width: int
) -> None:
    """By the rules of axe-core; without a script everything can be read too."""
    if not AXE.is_file():
        lacking("axe-core is not installed: npm ci --prefix tests/browser")
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened = context.new_page()
    opened.goto(page_file.as_uri())
    opened.evaluate(AXE.read_text(encoding="utf-8"))
    found = opened.evaluate("axe.run().then(found => found.violations.map(one => `${one.id}: ${one.nodes[0].html}`))")
    assert found == []
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    tables = "[...document.querySelectorAll('.wide')]"  # each may scroll, and none has to
    assert opened.evaluate(f"{tables}.map(table => table.scrollWidth - table.clientWidth)") == [0, 0]
    context.close()
    bare = chromium.new_context(java_script_enabled=False)
    plain = bare.new_page()
    plain.goto(page_file.as_uri())
    assert plain.locator("table.questions summary").count() == 30
    assert not plain.locator(".controls").first.is_visible()
    bare.close()
