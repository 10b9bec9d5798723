"""The pages of two runs and of many in Chromium: the known regressions are listed, and everybody can read them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from browser.opened import OpenedPage
from browser.saved import policy_records, save_run, save_series

from evals.report.wording import number
from evals.schemas import EvalRecord

pytestmark = pytest.mark.browser

OpenPage = Callable[..., OpenedPage]
OUTSIDE = """
() => [...document.querySelectorAll("#page svg.plot")].flatMap((chart) => {
  const frame = chart.getBoundingClientRect();
  const cut = ({left, right}) => left < frame.left - 0.5 || right > frame.right + 0.5;
  const texts = [...chart.querySelectorAll("text")];
  return texts.filter((text) => cut(text.getBoundingClientRect())).map((text) => text.textContent);
})
"""
"""The texts of charts that their charts cut off."""
TOUCHING = """
() => {
  const texts = [...document.querySelectorAll(".pareto svg text")];
  const upon = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const both = (one, other) => upon(one.getBoundingClientRect(), other.getBoundingClientRect());
  const others = (one, place) => texts.slice(place + 1).filter((other) => both(one, other));
  return texts.flatMap((one, place) => others(one, place).map((other) => [one.textContent, other.textContent]));
}
"""
"""The pairs of texts of a plot that lie upon each other."""
WORSE = (4, 7, 11, 20, 26, 28, 31, 35)
BETTER = (0, 9)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, write_page: Callable[..., Path]) -> Path:
    """Two runs: of forty questions eight lost their gold, and of two it came to the first rank."""
    folder = tmp_path_factory.mktemp("two")
    save_run(folder, "before", policy_records(40), name="Before")
    save_run(folder, "after", policy_records(40, worse=WORSE, better=BETTER), name="After")
    return write_page(folder, "before", "after")


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory, write_page: Callable[..., Path]) -> Path:
    """Five runs, each of which lost more."""
    folder = tmp_path_factory.mktemp("five")
    return write_page(folder, *save_series(folder, 5, questions=24))


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory, write_page: Callable[..., Path]) -> Path:
    """Four runs whose answers take many seconds: three are the same, and the last is a little slower."""
    folder = tmp_path_factory.mktemp("slow")
    for place, run_id in enumerate(("one", "two", "three", "four")):
        save_run(folder, run_id, [slowed(record, 40 + place // 3) for record in policy_records(20)])
    return write_page(folder, "one", "two", "three", "four")


def slowed(record: EvalRecord, times: int) -> EvalRecord:
    """The record with an answer that took so many times as long."""
    assert record.response is not None
    assert record.response.latency_ms is not None
    return record.model_copy(
        update={"response": record.response.model_copy(update={"latency_ms": record.response.latency_ms * times})}
    )


def shown(opened: OpenedPage) -> list[str]:
    """The ids of the questions in the list."""
    return opened.page.locator(".spread .row .id").all_inner_texts()


def counted(opened: OpenedPage, text: str) -> None:
    """Wait until the list says how many questions it has."""
    opened.page.locator(".counted", has_text=text).wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_what_moved_opens_without_a_complaint_and_can_be_read(
    width: int, scheme: str, two: Path, open_page: OpenPage, axe: str
) -> None:
    """The comparison and a question side by side; nothing is wider than the page."""
    opened = open_page(two, width=width, scheme=scheme)
    grave = opened.violations(axe)
    opened.go("#/beside/before/after/1", "beside")
    assert grave + opened.violations(axe) == []
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.check()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_trends_open_without_a_complaint_and_can_be_read(
    width: int, scheme: str, five: Path, open_page: OpenPage, axe: str
) -> None:
    """Many runs open with them; a choice draws them over other questions, and the plot by other objectives."""
    opened = open_page(five, width=width, scheme=scheme)
    assert opened.page.locator("#page").get_attribute("data-ready") == "trend"
    assert opened.page.locator(".multiple svg").count() >= 10
    opened.page.get_by_label("Values over").select_option("own")
    opened.page.get_by_label("Objective (x)").select_option("retrieval")
    assert "retrieval" in (opened.page.locator(".pareto svg").get_attribute("aria-label") or "")
    assert opened.violations(axe) == []
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.check()


def test_any_of_five_runs_can_be_the_baseline(five: Path, open_page: OpenPage) -> None:
    """By name, on the page of all runs and on that of two; runs keep the order in which they were named."""
    opened = open_page(five)
    names = [f"Week {number}" for number in range(1, 6)]
    opened.page.locator("ol.runs").wait_for()
    assert opened.page.locator("ol.runs a").all_inner_texts() == names
    opened.page.get_by_label("Baseline").select_option("Week 3")
    opened.page.locator(".verdicts thead th:nth-child(2)", has_text="Week 3").wait_for()
    assert opened.page.locator(".verdicts thead th").all_inner_texts()[2:4] == ["Week 1", "Week 2"]
    opened.page.get_by_role("link", name="Compare", exact=True).click()
    opened.page.get_by_role("heading", name="Week 1 compared with Week 3").wait_for()
    assert opened.page.locator(".field.run select").locator("option").all_inner_texts() == names
    opened.page.locator(".field.run select").select_option("Week 3")
    opened.page.get_by_role("heading", name="Week 3 compared with Week 1").wait_for()
    opened.page.get_by_role("link", name="Questions", exact=True).click()
    opened.page.locator(".field.run select").select_option("Week 5")
    opened.page.wait_for_function("location.hash.startsWith('#/questions/week5')")
    opened.check()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_charts_have_room_for_their_texts(width: int, slow: Path, open_page: OpenPage) -> None:
    """Numbers of axes are neither cut nor upon each other, and runs that lie close have one label."""
    opened = open_page(slow, width=width)
    assert "20,000" in opened.page.locator(".trends svg text").all_text_contents()
    assert opened.page.evaluate(OUTSIDE) == []
    opened.page.get_by_label("Objective (x)").select_option("latency")
    assert opened.page.evaluate(OUTSIDE) == []
    assert opened.page.evaluate(TOUCHING) == []
    labels = opened.page.locator(".pareto svg text").all_text_contents()
    assert [label for label in labels if "run " in label] in (
        ["run one and 2 more", "run four"],
        ["run one and 3 more"],
    )
    opened.check()


def test_the_first_verdict_is_in_view_on_a_phone(five: Path, open_page: OpenPage) -> None:
    """With the value of the baseline beside it; other runs are further on."""
    opened = open_page(five, width=390)
    titles = opened.page.locator(".verdicts thead th")
    assert titles.all_inner_texts()[:3] == ["metric", "Week 1", "Week 2"]
    place = titles.nth(2).bounding_box()
    assert place is not None
    assert place["x"] + place["width"] <= 390
    without = open_page(five, width=390, javascript=False, ready=None)
    assert without.page.locator("table.moved thead th").all_inner_texts()[:3] == ["metric", "Week 1", "Week 2"]


def test_money_is_written_as_on_the_terminal(two: Path, open_page: OpenPage) -> None:
    """With as many digits, however little it is."""
    amounts = [0, 1e-17, 0.000000697, 0.00004608, 0.0004575, 0.00999, 0.0123, 0.25, 1.5]
    written = open_page(two).page.evaluate("all => all.map(each => evalsReport.format.number(each, 'USD'))", amounts)
    assert written == [number(each, "USD") for each in amounts]


def test_runs_without_a_common_question_open_without_a_complaint(
    tmp_path: Path, write_page: Callable[..., Path], open_page: OpenPage
) -> None:
    """What compares is compared; of the rest the page says why it is not."""
    records = policy_records(40)
    save_run(tmp_path, "first", records[:20])
    save_run(tmp_path, "other", records[20:])
    save_run(tmp_path, "again", records[:20])
    opened = open_page(write_page(tmp_path, "first", "other"))
    assert "no question in common" in opened.text("#page")
    three = open_page(write_page(tmp_path, "first", "other", "again"), "#/compare/first/other")
    assert "no question in common" in three.text("#page")
    three.go("#/compare/first/again", "compare")
    assert three.text("#page h2") == "run again compared with run first"
    opened.check()
    three.check()


def test_the_known_regressions_are_listed_before_the_known_improvements(two: Path, open_page: OpenPage) -> None:
    """Those that were made worse, all of them and no other; then those that were made better."""
    opened = open_page(two)
    counted(opened, "10 of 10 questions; lost: 8 of 40 questions, gained: 2 of 40 questions")
    listed = shown(opened)
    assert sorted(listed[:8]) == sorted(f"policy-{number}" for number in WORSE)
    assert sorted(listed[8:]) == sorted(f"policy-{number}" for number in BETTER)
    worse = opened.page.locator(".moved tr.bad").all_inner_texts()
    assert worse[0].startswith(("recall_at_3", "recall_at_5"))  # they lose the same questions, and share a test
    assert all("worse" in row for row in worse)
    opened.check()


def test_changes_are_filtered_and_searched(two: Path, open_page: OpenPage) -> None:
    """By the way they went, by the metric that moved, by the link that broke, and by words."""
    opened = open_page(two)
    counted(opened, "10 of 10")
    opened.page.locator(".field.way select").select_option("gained")
    counted(opened, "2 of 10")
    opened.page.locator(".field.way select").select_option("")
    opened.page.locator(".field.links select").select_option("right → not_retrieved")
    counted(opened, "8 of 10")
    opened.page.get_by_label("Search").fill("storm")
    counted(opened, f"{sum(number % 8 == 3 for number in WORSE)} of 10")
    again = open_page(two, opened.page.evaluate("location.hash"))
    assert shown(again) == shown(opened)
    opened.check()


def test_an_answer_is_compared_word_by_word_and_by_keyboard(two: Path, open_page: OpenPage) -> None:
    """What is gone is marked in the one answer and what is new in the other; arrows go on, Escape goes back."""
    opened = open_page(two, "#/beside/before/after/1")
    number = opened.text("#page h2").removeprefix("policy-")
    gone = " ".join(opened.page.locator("del").all_inner_texts())
    new = " ".join(opened.page.locator("ins").all_inner_texts())
    assert f"{3 + int(number)}" in gone
    assert f"{40 + int(number)} weeks" in new
    assert opened.page.locator(".side .tag.only", has_text="not in After").count() == 1
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_function("location.hash.endsWith('/2')")
    opened.page.wait_for_selector('#page[data-ready="beside"]')
    assert opened.text("#page h2") != f"policy-{number}"
    opened.page.keyboard.press("Escape")
    opened.page.wait_for_selector('#page[data-ready="compare"]')
    opened.check()


def test_without_javascript_what_moved_is_read(two: Path, open_page: OpenPage) -> None:
    """As a table in the file."""
    opened = open_page(two, javascript=False, ready=None)
    assert "Comparison of 2 runs" in opened.text()
    assert opened.page.locator("table.moved tr.bad").count() >= 3
    opened.check()
