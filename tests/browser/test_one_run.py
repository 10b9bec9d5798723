"""The page of one run in Chromium: nothing breaks, nothing leaves, questions are found, and everybody can read it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.opened import OpenedPage
from browser.saved import evaluate, policy_records, save_run

from evals.schemas import EvalResponse, ResponseError
from evals.store.runs import RunStore

pytestmark = pytest.mark.browser

OpenPage = Callable[..., OpenedPage]
WRONG = (4, 7, 11)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of thirty questions three went wrong, and one was never answered."""
    path = tmp_path_factory.mktemp("runs")
    records = policy_records(30, worse=WRONG)
    late = EvalResponse(error=ResponseError(kind="timeout", message="no answer within 120 s"))
    save_run(path, "policies", [*records[:29], records[29].model_copy(update={"response": late})], name="Policies")
    return path


@pytest.fixture(scope="module")
def page(folder: Path, write_page: Callable[..., Path]) -> Path:
    """The page of this run."""
    return write_page(folder, "policies")


def shown(opened: OpenedPage) -> list[str]:
    """The ids of the questions in the list."""
    return opened.page.locator(".virtual .row .id").all_inner_texts()


def counted(opened: OpenedPage, text: str) -> None:
    """Wait until the list says how many questions it has."""
    opened.page.locator(".counted", has_text=text).wait_for()


@pytest.mark.parametrize("width", [1280, 360])
def test_every_page_opens_without_a_complaint_and_can_be_read(
    width: int, page: Path, open_page: OpenPage, axe: str
) -> None:
    """Overview, list, and questions that ended wrong and without an answer, light and dark; nothing is too wide."""
    opened = open_page(page, width=width)
    grave, fits = list[str](), "document.documentElement.scrollWidth <= innerWidth"
    for fragment, name in (
        ("#/overview/policies", "overview"),
        ("#/questions/policies", "questions"),
        ("#/question/policies/5", "question"),
        ("#/question/policies/30", "question"),
    ):
        opened.go(fragment, name)
        for scheme in ("light", "dark"):
            opened.page.emulate_media(color_scheme=scheme)
            grave += opened.violations(axe)
        assert opened.page.evaluate(fits)
    assert grave == []
    opened.check()


@pytest.mark.slow
def test_questions_are_found_by_words_and_by_how_they_ended(page: Path, open_page: OpenPage) -> None:
    """Search and filters leave what they say; the address holds them, so that a link leads there."""
    opened = open_page(page, "#/questions/policies")
    counted(opened, "30 of 30 questions")
    opened.page.get_by_label("Search").fill("policy-7")
    counted(opened, "1 of 30 questions")
    assert shown(opened) == ["policy-7"]
    opened.page.get_by_label("Search").fill("")
    counted(opened, "30 of 30")
    opened.page.get_by_label("Failure").select_option("ended wrong")
    counted(opened, "4 of 30 questions")
    assert shown(opened) == ["policy-4", "policy-7", "policy-11", "policy-29"]
    again = open_page(page, opened.page.evaluate("location.hash"))
    counted(again, "4 of 30 questions")
    opened.check()


def test_questions_are_filtered_by_slice_and_by_the_value_of_a_metric(page: Path, open_page: OpenPage) -> None:
    """A range of a metric, its order, and one value of the metadata."""
    opened = open_page(page, "#/questions/policies")
    opened.page.get_by_label("Metric").select_option("mrr")
    opened.page.get_by_label("to", exact=True).fill("0.2")
    counted(opened, "3 of 30 questions")
    assert shown(opened) == ["policy-4", "policy-7", "policy-11"]
    opened.page.get_by_label("Slice").select_option("subject=storm")
    counted(opened, "1 of 30 questions")
    assert shown(opened) == ["policy-11"]
    opened.check()


def test_each_way_of_underlining_a_sentence_stands_in_the_legend(
    tmp_path: Path, write_page: Callable[..., Path], open_page: OpenPage
) -> None:
    """A sentence with a citation, one that cites what was not retrieved, and one without."""
    (record,) = policy_records(1)
    assert record.response is not None
    told = {
        "answer": "The fee is 5 euros [1]. The limit is 9 days [7]. It is new.",
        "citations": [{"index": 1}, {"index": 7}],
    }
    response = EvalResponse.model_validate(record.response.model_dump() | told)
    save_run(tmp_path, "cited", [record.model_copy(update={"response": response})])
    opened = open_page(write_page(tmp_path, "cited"), "#/question/cited/1")
    legend = opened.page.locator(".legend .sentence").all_inner_texts()
    assert legend == ["with a citation", "cites what was not retrieved", "without a citation"]
    titles = [each.get_attribute("title") for each in opened.page.locator(".text .sentence").all()]
    assert titles == ["cites 1", "cites what was not retrieved", "cites nothing"]
    opened.check()


def test_all_can_be_done_by_keyboard(page: Path, open_page: OpenPage) -> None:
    """From the address bar to a question and back: Tab, Enter and Escape; the first Tab offers to skip what repeats."""
    opened = open_page(page)
    keyboard = opened.page.keyboard
    keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.className") == "skip"
    opened.page.get_by_role("link", name="Questions", exact=True).focus()
    keyboard.press("Enter")
    opened.page.wait_for_selector('#page[data-ready="questions"]')
    opened.page.get_by_label("Search").focus()
    keyboard.type("policy-11")
    counted(opened, "1 of 30")
    for _ in range(12):
        keyboard.press("Tab")
        if opened.page.evaluate("document.activeElement.closest('.row') !== null"):
            break
    keyboard.press("Enter")
    opened.page.wait_for_selector('#page[data-ready="question"]')
    assert "policy-11" in opened.text("#page h2")
    keyboard.press("Escape")
    opened.page.wait_for_selector('#page[data-ready="questions"]')
    counted(opened, "1 of 30")
    opened.check()


def test_keys_lead_to_the_search_and_along_the_questions_and_say_what_they_do(page: Path, open_page: OpenPage) -> None:
    """In a field they are letters; while their list is open none of them leads away from it."""
    opened = open_page(page)
    keyboard, dialog = opened.page.keyboard, opened.page.get_by_role("dialog")
    keyboard.press("/")
    opened.page.wait_for_function("document.activeElement.type === 'search'")
    keyboard.type("why?/")
    assert opened.page.get_by_label("Search").input_value() == "why?/"
    opened.go("#/question/policies/5", "question")
    keyboard.press("ArrowRight")
    opened.page.get_by_role("heading", name="policy-5", exact=True).wait_for()
    keyboard.press("?")
    assert "the next question" in dialog.inner_text()
    keyboard.press("ArrowLeft")
    keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert opened.text("#page h2") == "policy-5"
    opened.check()


def test_the_colours_change_on_a_button(page: Path, open_page: OpenPage) -> None:
    """Whatever the system is set to."""
    opened = open_page(page, scheme="light")
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    before = opened.page.evaluate(colour)
    opened.page.get_by_role("button", name="Show in dark colours").click()
    assert opened.page.evaluate(colour) != before
    opened.check()


def test_without_javascript_the_headline_and_the_scorecard_are_read(page: Path, open_page: OpenPage) -> None:
    """They stand in the file as text."""
    opened = open_page(page, javascript=False, ready=None)
    text = opened.text()
    for said in ("Policies", "Weighted score", "recall_at_5", "95% interval", "Without JavaScript"):
        assert said in text
    opened.check()


def test_a_page_can_be_printed(page: Path, open_page: OpenPage) -> None:
    """What is drawn on the screen is on paper, without the navigation."""
    opened = open_page(page)
    opened.page.emulate_media(media="print")
    assert not opened.page.locator("#nav").is_visible()
    assert opened.page.locator("#page h2").first.is_visible()
    assert opened.page.pdf().startswith(b"%PDF")
    opened.check()


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, start_messages_api: Callable[..., Any]) -> Path:
    """A judged run of the embedded server, and one without a single answer."""
    path = tmp_path_factory.mktemp("evaluated")
    api = start_messages_api()
    api.script({"then": {"python": "judge"}})
    judge = {"ANTHROPIC_API_KEY": "sk-test-fine", "ANTHROPIC_BASE_URL": api.url}
    assert evaluate(path, "--embedded", "--samples", "6", **judge) == 0
    gone = EvalResponse(error=ResponseError(kind="connect", message="connection refused"))
    records = [record.model_copy(update={"response": gone}) for record in policy_records(6)]
    save_run(path, "failed", records, status="failed")
    return path


def test_runs_of_all_kinds_open_without_a_complaint(
    evaluated: Path, write_page: Callable[..., Path], open_page: OpenPage, axe: str
) -> None:
    """A judged one with all that the judge said, and one that failed."""
    runs = {run.status: run for run in RunStore(evaluated).runs()}
    assert set(runs) == {"complete", "failed"}
    assert runs["complete"].judge is not None
    for run in runs.values():
        opened = open_page(write_page(evaluated, run.id))
        grave = opened.violations(axe)
        opened.go(f"#/question/{run.id}/1", "question")
        assert grave + opened.violations(axe) == []
        opened.check()
