"""Whatever a server answers is text on a page: it runs nothing, loads nothing, opens nothing, and halts nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.hostile import TEXTS
from browser.opened import OpenedPage
from browser.saved import save_run

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, ResponseError, RetrievedChunk

pytestmark = pytest.mark.browser

OpenPage = Callable[..., OpenedPage]
SHORT = {name: text for name, text in TEXTS.items() if len(text) < 20_000}


def hostile(name: str, changed: bool) -> EvalRecord:
    """A question in which everything is this text; changed, its answer has another end and its chunk is gone."""
    text, short = TEXTS[name], SHORT.get(name, name)
    question = EvalQuestion(
        id=f"{name} {short}"[:200],
        question=f"{name}: {short}",
        expected_answer=text[:2000],
        gold_passages=[GoldPassage(text=text[:2000], document_id=short, section=short)],
        dataset=short[:100],
        metadata={short[:100]: short[:100], "kind": name},
    )
    if name == "comment" and changed:
        return EvalRecord(question=question, response=EvalResponse(error=ResponseError(kind="malformed", message=text)))
    chunk = RetrievedChunk(chunk_id=short, document_id=short, document_name=short, section=short, text=text[:200_000])
    other = RetrievedChunk(text="another text", document_id=short)
    response = EvalResponse(
        answer=f"{text} changed" if changed else text,
        chunks=[other] if changed else [chunk, other],
        citations=[],
        model=short,
        stages=[{"name": short}],
        notes=[short],
        latency_ms=10.0,
    )
    return EvalRecord(question=question, response=response)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, write_page: Callable[..., Path]) -> Path:
    """A page of two runs whose names, settings and answers are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    said: dict[str, Any] = {"config": SHORT, "eval_config": {"ask": SHORT}, "notes": list(SHORT.values())}
    for run_id, changed in (("aaaa", False), ("bbbb", True)):
        records = [hostile(name, changed) for name in TEXTS]
        save_run(folder, run_id, records, name=TEXTS["closing"], datasets=list(SHORT.values())[:5], **said)
    return write_page(folder, "aaaa", "bbbb")


def unharmed(opened: OpenedPage) -> None:
    """Nothing ran, nothing was loaded, and no element came into being but those that the page makes."""
    assert opened.page.evaluate("window.harmed") is None
    made = "iframe, object, embed, form[action], base, link[rel=stylesheet], img, animate, [onload], [onerror]"
    assert opened.page.locator(made).count() == 0
    hrefs = opened.page.eval_on_selector_all("a", "all => all.map(one => one.getAttribute('href'))")
    assert [href for href in hrefs if not href.startswith("#")] == []
    opened.check()


@pytest.mark.slow
@pytest.mark.parametrize(
    "fragment", ["", "#/overview/aaaa", "#/questions/aaaa", "#/compare/aaaa/bbbb", "#/<script>", "#/question/aaaa/%ff"]
)
def test_no_page_takes_what_a_server_says_for_more_than_text(fragment: str, page: Path, open_page: OpenPage) -> None:
    """Names, notes, settings, datasets and questions; nor what somebody puts into an address."""
    opened = open_page(page, fragment)
    problems = [each for each in opened.problems if "there is no question" not in each]
    opened.problems[:] = problems
    unharmed(opened)


@pytest.mark.slow
def test_no_question_takes_its_texts_for_more(page: Path, open_page: OpenPage) -> None:
    """Each is shown whole, alone and side by side, and the browser goes on."""
    opened = open_page(page, "#/questions/aaaa")
    for number, (name, text) in enumerate(TEXTS.items(), 1):
        opened.go(f"#/question/aaaa/{number}", "question")
        assert opened.page.inner_text("#page h2").startswith(name)
        if name in {"script", "closing", "svg", "template", "form"}:
            assert text in opened.page.inner_text(".answer")
        unharmed(opened)


@pytest.mark.slow
def test_no_difference_takes_them_for_more(page: Path, open_page: OpenPage) -> None:
    """The questions that changed, with what differs word by word; of what is too long to compare, both texts."""
    opened = open_page(page, "#/compare/aaaa/bbbb")
    count = opened.page.evaluate("evalsReport.blocks.get('compared/aaaa/bbbb').then(it => it.questions.ids.length)")
    assert count > 0
    for number in range(1, count + 1):
        opened.go(f"#/beside/aaaa/bbbb/{number}", "beside")
        unharmed(opened)


def test_without_javascript_no_text_becomes_markup(page: Path, open_page: OpenPage) -> None:
    """The headline and the scorecard are made by the program that wrote the page."""
    opened = open_page(page, javascript=False, ready=None)
    assert opened.page.locator("img, iframe, svg, form, object").count() == 0
    assert "<script>window.harmed" in opened.text()
    opened.check()
