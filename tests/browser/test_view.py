"""The pages of `evals view` in Chromium: runs are chosen and compared, labelled, and fill in while they go on."""

import csv
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from browser.hostile import SIGN, TEXTS
from browser.opened import OpenedPage
from viewer.shown import Shown, answer_to, begin_run, covered, save_run, showing

from evals.run.calibrating import read_label_set
from evals.schemas import EvalQuestion, EvalRecord, EvalRun, RetrievedChunk
from evals.store.runs import RunStore

pytestmark = pytest.mark.browser

OpenPage = Callable[..., OpenedPage]
Save = Callable[..., EvalRun]
_MOVED_ON = """
id => document.querySelector('.label-answer').dataset.id !== id || /Answer (\\d+) of \\1 /.test(document.body.innerText)
"""
WORDS = {key: text for key, text in TEXTS.items() if len(text) < 1000}


@pytest.fixture
def save(build_run: Callable[..., Any]) -> Save:
    """Save a finished run in a store."""
    return partial(save_run, build_run)


@pytest.fixture
def shown(tmp_path: Path, save: Save) -> Iterator[Shown]:
    """Three runs of the same questions; labels can be given."""
    with showing(tmp_path / "runs", labels=True) as found:
        for number, value in enumerate((0.5, 0.7, 0.9)):
            created = datetime(2026, 3, 2, 9, number, tzinfo=UTC)
            save(found.store, f"run{number}", {"q1": {"mrr": value}, "q2": {"mrr": 0.5}}, created_at=created)
        yield found


def save_hostile(store: RunStore, save: Save) -> None:
    """A run whose name, questions, answers and passages are all texts that do harm where they are markup."""
    run = save(store, "hostile1", {"q1": {"mrr": 0.5}}, name=WORDS["image"])
    records = []
    for key, text in WORDS.items():
        question = EvalQuestion(id=f"{key} {text}", question=text, dataset="golden", expected_answer=text)
        response = answer_to(covered(1)[0]).model_copy(
            update={"answer": text, "chunks": [RetrievedChunk(text=text, document_name=text)]}
        )
        records.append(EvalRecord(question=question, response=response))
    store.save(run.model_copy(update={"record_sum": store.compact(run, records), "question_count": len(records)}))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_the_list_and_the_desk_open_without_a_complaint_and_can_be_read(
    width: int, scheme: str, shown: Shown, open_page: OpenPage, axe: str
) -> None:
    """Nothing is asked of anybody but the server, nothing is wider than the page."""
    for fragment, text in (("", "run2"), ("#/label/run0", "Is the answer right?")):
        opened = open_page(shown.url, fragment, width=width, scheme=scheme)
        assert text in opened.text("main")
        assert opened.violations(axe) == []
        assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.check()


def test_two_runs_are_chosen_and_compared_by_keyboard(shown: Shown, open_page: OpenPage) -> None:
    """The newest stands first; trends and a filter stand above the list."""
    opened = open_page(shown.url)
    assert opened.page.locator(".run-list tr.run th a code").all_inner_texts() == ["run2", "run1", "run0"]
    assert opened.page.locator(".trend svg").count() >= 1
    for key in "jxjjxc":
        opened.page.keyboard.press(key)
    opened.page.wait_for_url("**/runs/run2,run0/")
    opened.page.wait_for_selector("#page[data-ready=compare]", state="attached")
    opened.page.locator("#page", has_text="mrr").wait_for()
    opened.check()
    opened.page.goto(shown.url)
    opened.page.get_by_label("Filter the list").fill("run1")
    assert opened.page.locator(".run-list tr.run th a code").all_inner_texts() == ["run1"]
    opened.page.get_by_role("link", name="run1", exact=True).click()
    opened.page.wait_for_url("**/runs/run1/")
    opened.page.locator("#page h2", has_text="run run1").wait_for()
    opened.check()


def test_a_label_that_is_given_by_keyboard_is_in_the_sheet(shown: Shown, open_page: OpenPage) -> None:
    """With its note, at once; the next answer comes when all is said of one, and calibrate reads what was given."""
    opened = open_page(shown.url, "#/label/run0")
    first = opened.page.locator(".label-answer[data-id]").get_attribute("data-id")
    opened.page.keyboard.press("t")
    opened.page.keyboard.type("nearly: cypress")
    opened.page.keyboard.press("Enter")
    opened.page.keyboard.press("c")
    opened.page.locator("[aria-pressed=true]", has_text="correct").wait_for()
    opened.page.keyboard.press("n")
    opened.page.locator(f".label-answer[data-id]:not([data-id='{first}'])").wait_for()
    sheet = shown.store.folder / "reviews" / "run0.csv"
    with sheet.open(newline="", encoding="utf-8-sig") as file:
        rows = [(row["id"], row["metric"], row["verdict"], row["comment"]) for row in csv.DictReader(file)]
    assert rows == [
        (first, "answer_correctness", "correct", "nearly: cypress"),
        (first, "faithfulness", "no", "nearly: cypress"),
    ]
    (read,) = read_label_set([sheet], shown.store, metric="faithfulness").answers
    assert read.question_id == first
    opened.page.keyboard.press("ArrowLeft")
    opened.page.locator("[aria-pressed=true]", has_text="no").wait_for()
    opened.page.keyboard.press("u")
    opened.page.wait_for_function("() => !document.querySelector('[aria-pressed=true]')")
    assert len(sheet.read_text(encoding="utf-8-sig").splitlines()) == 1
    opened.check()


def test_a_label_that_was_changed_meanwhile_is_shown_and_stays(shown: Shown, open_page: OpenPage) -> None:
    """The page says so, and shows what is there now."""
    opened = open_page(shown.url, "#/label/run0")
    first = opened.page.locator(".label-answer[data-id]").get_attribute("data-id")
    given = {"question": first, "metric": "answer_correctness", "verdict": "incorrect", "comment": "", "before": None}
    assert shown.post("api/runs/run0/labels", given).status_code == 200
    opened.page.keyboard.press("c")
    opened.page.locator(".label-said", has_text="was labelled 'incorrect' meanwhile").wait_for()
    opened.page.locator("[aria-pressed=true]", has_text="incorrect").wait_for()
    assert ",incorrect," in (shown.store.folder / "reviews" / "run0.csv").read_text(encoding="utf-8-sig")


@pytest.mark.slow
def test_a_run_that_goes_on_fills_in_and_becomes_a_report(shown: Shown, save: Save, open_page: OpenPage) -> None:
    """In the list and on its own page, without a hand; at the end its page is that of a finished run."""
    run, questions = begin_run(shown.store), covered()
    with shown.store.journal(run) as journal:
        journal.questions(questions)
        listed = open_page(shown.url)
        opened = open_page(f"{shown.url}runs/{run.id}/", within=shown.url)
        opened.page.locator(".live", has_text="0 of 4").wait_for()
        for question in questions[:3]:
            journal.answer(question.id, answer_to(question))
        opened.page.locator(".live", has_text="3 of 4").wait_for()
        assert "recall_at_5 so far" in opened.text(".live")
        listed.page.locator("tr.run", has_text="3 of 4 asked").wait_for()
    save(shown.store, run.id, created_at=run.created_at)
    opened.page.locator("#page .scorecard").first.wait_for()
    listed.page.locator(f"tr[data-run={run.id}] span.complete").wait_for()
    assert opened.page.locator(".live").count() == 0
    opened.check()
    listed.check()


@pytest.mark.slow
def test_hostile_texts_do_nothing_in_the_list_and_at_the_desk(shown: Shown, save: Save, open_page: OpenPage) -> None:
    """Names, ids, questions, answers and passages are shown as the text that they are."""
    save_hostile(shown.store, save)
    opened = open_page(shown.url)
    assert WORDS["image"] in opened.text(".run-list")
    desk = open_page(shown.url, "#/label/hostile1", within=shown.url)
    seen = set()
    for _ in WORDS:
        desk.page.locator(".label-answer[data-id]").wait_for()
        seen.add(desk.page.locator(".label-answer .given .text").inner_text())
        before = desk.page.locator(".label-answer").get_attribute("data-id")
        desk.page.keyboard.press("ArrowRight")
        desk.page.wait_for_function(_MOVED_ON, arg=before)
    assert WORDS["script"] in seen
    for page in (opened, desk):
        assert page.page.evaluate(SIGN.split(" =")[0]) is None
        page.check()
