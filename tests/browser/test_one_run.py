"""The page of one run in Chromium: nothing breaks, nothing leaves, questions are found, and everybody can read it."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.opened import OpenedPage
from browser.saved import evaluate, policy_records, save_run

from evals.report.tables import cell
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
    return opened.page.locator(".spread .row .id").all_inner_texts()


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
    opened.page.get_by_label("Outcome").select_option("failed")
    counted(opened, "4 of 30 questions")
    assert shown(opened) == ["policy-4", "policy-7", "policy-11", "policy-29"]
    again = open_page(page, opened.page.evaluate("location.hash"))
    counted(again, "4 of 30 questions")
    opened.check()


def test_questions_are_filtered_by_slice_and_by_the_value_of_a_metric(page: Path, open_page: OpenPage) -> None:
    """A range of a metric, its order, and one value of the metadata."""
    opened = open_page(page, "#/questions/policies")
    opened.page.get_by_label("Metric between").select_option("mrr")
    opened.page.get_by_label("max", exact=True).fill("0.2")
    counted(opened, "3 of 30 questions")
    assert shown(opened) == ["policy-4", "policy-7", "policy-11"]
    opened.page.get_by_label("Slice").select_option("subject=storm")
    counted(opened, "1 of 30 questions")
    assert shown(opened) == ["policy-11"]
    opened.check()


def test_a_click_on_a_title_sorts_and_the_table_is_saved_as_it_is_listed(page: Path, open_page: OpenPage) -> None:
    """A metric's worst values first, then its best, then as asked; the file has all metrics and no formula."""
    opened = open_page(page, "#/questions/policies")
    title = opened.page.get_by_role("columnheader", name="mrr")
    opened.page.get_by_text("Columns", exact=True).click()
    opened.page.locator(".columns").get_by_label("mrr").check()
    click = title.get_by_role("button").click
    click()
    assert title.get_attribute("aria-sort") == "ascending"
    assert shown(opened)[:3] == ["policy-4", "policy-7", "policy-11"]
    again = open_page(page, opened.page.evaluate("location.hash"))
    assert shown(again) == shown(opened)
    click()
    assert title.get_attribute("aria-sort") == "descending"
    assert shown(opened)[:2] == ["policy-1", "policy-2"]
    with opened.page.expect_download() as download:
        opened.page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines()))
    assert [row["id"] for row in rows][:2] == ["policy-1", "policy-2"]
    assert (len(rows), rows[0]["outcome"], rows[0]["subject"], float(rows[0]["mrr"])) == (
        30,
        "no failure found",
        "flood",
        1.0,
    )
    assert rows[0]["answer"].startswith("The deductible for flood is 4 days")
    click()
    assert shown(opened)[0] == "policy-0"
    opened.check()


def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(page: Path, open_page: OpenPage) -> None:
    """As in the files that `evals export` writes; numbers stay numbers."""
    texts = ["=1+1", " @x", "\t=1", "-1.5e3", "-x", "plain", 'say "a", b']
    opened = open_page(page)
    with opened.page.expect_download() as download:
        opened.page.evaluate("texts => evalsReport.dom.saveCsv('x.csv', [texts])", texts)
    (row,) = csv.reader([download.value.path().read_text(encoding="utf-8-sig")])
    assert row == [cell(text) for text in texts]
    opened.check()


def test_each_interval_is_drawn_in_the_row_of_its_metric(page: Path, open_page: OpenPage) -> None:
    """Where there is a value; the plain words of a metric stand next to its name."""
    opened = open_page(page)
    drawn = opened.page.locator("#page .scorecard tbody tr", has=opened.page.locator("svg.strip circle"))
    names = [text.split()[0] for text in drawn.locator("th").all_inner_texts()]
    assert {"mrr", "recall_at_5", "latency_p50"} <= set(names)
    assert "first relevant: 1 / rank" in opened.text("#page .scorecard")
    opened.check()


def test_the_funnel_counts_the_questions_with_gold(
    tmp_path: Path, write_page: Callable[..., Path], open_page: OpenPage
) -> None:
    """A question that no document answers is not lost on the way to its gold."""
    records = policy_records(20, worse=(4,))
    bare = {"gold_passages": [], "is_unanswerable": True, "expected_answer": None}
    without = [one.model_copy(update={"question": one.question.model_copy(update=bare)}) for one in records[:5]]
    save_run(tmp_path, "some", [*without, *records[5:]])
    opened = open_page(write_page(tmp_path, "some"))
    said = opened.page.locator(".funnel svg.plot").get_attribute("aria-label") or ""
    assert said.startswith("Funnel: questions with gold 15, answered 15, gold retrieved 15, ")
    assert "5 questions without gold passages are not in this chart." in opened.text(".funnel")
    opened.check()


def test_any_metric_is_a_histogram_and_any_two_a_scatter_plot(page: Path, open_page: OpenPage) -> None:
    """With units on the axes; every question with a value is in one of the bars."""
    opened = open_page(page)
    chart = opened.page.locator(".distributions svg.plot")
    opened.page.get_by_label("Metric (x)").select_option("latency_p50")
    assert "latency_p50 (milliseconds)" in chart.locator("text").all_text_contents()
    opened.page.get_by_label("Metric (x)").select_option("mrr")
    assert {"mrr (score, 0 to 1)", "questions"} <= set(chart.locator("text").all_text_contents())
    assert "29 questions, from 0.000 to 1.000" in opened.text(".distributions")
    opened.page.get_by_label("Second metric (y)").select_option("latency_p50")
    assert chart.locator("circle").count() == 29
    assert "latency_p50 (milliseconds)" in chart.locator("text").all_text_contents()
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
    assert legend == ["with a citation", "cites a chunk that was not retrieved", "without a citation"]
    titles = [each.get_attribute("title") for each in opened.page.locator(".text .sentence").all()]
    assert titles == ["cites 1", "cites a chunk that was not retrieved", "cites nothing"]
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
    for _ in range(30):  # filters, columns, and the titles that sort
        keyboard.press("Tab")
        if opened.page.evaluate("document.activeElement.closest('.spread .row') !== null"):
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
    assert "next question" in dialog.inner_text()
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
