"""The HTML page of runs: what it says, and that nothing in it runs or is loaded."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from whole_runs import saved_run, valued_run

from evals.report.page import marked, page_of, write_report
from evals.schemas import Citation, EvalQuestion, EvalRecord, EvalResponse, GoldPassage, ResponseError, RetrievedChunk

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> & \x1b[31m \u202e"
GOLD = "Deliveries arrive on Tuesday before noon."


def record(number: int, answer: str | None = "On Tuesday.", chunk: str = GOLD, **about: object) -> EvalRecord:
    question = EvalQuestion(
        id=f"q{number}", question=f"When do deliveries arrive? ({number})", expected_answer="On Tuesday",
        gold_passages=[GoldPassage(text=GOLD)], is_unanswerable=False,
    )  # fmt: skip
    chunks = [RetrievedChunk(chunk_id="a", document_name="plan.md", text=f"Before. {chunk} After.")]
    response = EvalResponse(answer=answer, chunks=chunks, citations=[Citation(chunk_id="a")], latency_ms=10.0 + number)
    return EvalRecord(question=question, response=response).model_copy(update=about)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text without scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._silent = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self._silent else data


def page(*runs: object) -> str:
    return "".join(page_of(runs))  # type: ignore[arg-type]


def test_a_page_says_score_what_went_wrong_scorecard_and_every_question(tmp_path: Path) -> None:
    """Readable without a script: each question with expected answer, answer, marked gold and metrics is in its text."""
    records = [record(number) for number in range(12)]
    records[3] = record(3, "I do not know.", chunk="Nothing of it.")
    records[4] = record(4, response=EvalResponse(error=ResponseError(kind="timeout", message="60 s passed")))
    run = saved_run(tmp_path, records)
    html = page(run)
    text = Elements(html).text
    for said in (
        "score 0.",
        "2 of 12 questions went wrong",
        "recall_at_5",
        "When do deliveries arrive? (7)",
        "timeout, 60 s passed",
    ):
        assert said in text, said
    assert "failed: no answer came" in text
    assert f"<mark>{GOLD}</mark>" in html
    assert 'aria-label="distribution of latency"' in html
    assert "Gold that no chunk holds" in text


@pytest.mark.parametrize(("count", "is_drawn"), [(9, False), (10, True)])
def test_latencies_are_drawn_from_ten_on(tmp_path: Path, count: int, is_drawn: bool) -> None:
    """Of fewer, a picture shows nothing."""
    assert ("distribution of latency" in page(saved_run(tmp_path, [record(n) for n in range(count)]))) is is_drawn


def test_hostile_texts_stay_texts_and_nothing_is_loaded(tmp_path: Path) -> None:
    """From questions, answers, chunks, names and errors; control and direction signs are taken out."""
    records = [
        record(0, HOSTILE, chunk=HOSTILE),
        record(1, response=EvalResponse(error=ResponseError(kind="connect", message=HOSTILE))),
        EvalRecord(question=EvalQuestion(id=HOSTILE, question=HOSTILE), response=EvalResponse(answer=HOSTILE)),
    ]
    html = page(saved_run(tmp_path, records, name=HOSTILE))
    elements = Elements(html)
    scripts = [attributes for tag, attributes in elements.found if tag == "script"]
    assert scripts == [{}]
    assert not [tag for tag, _ in elements.found if tag in ("img", "iframe", "link", "object")]
    assert not [key for _, attributes in elements.found for key in attributes if key.startswith("on") or key == "src"]
    assert not [
        value for _, attributes in elements.found if (value := attributes.get("href")) and not value.startswith("#")
    ]
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "alert(1)" in elements.text


def test_every_link_leads_to_a_question_of_the_page(tmp_path: Path) -> None:
    """Also where several runs have questions of the same ids."""
    runs = [
        saved_run(tmp_path, [record(n, "I do not know.") for n in range(3)], id=key) for key in ("aaaa1111", "bbbb2222")
    ]
    elements = Elements(page(*runs)).found
    anchors = [attributes["id"] for _, attributes in elements if attributes.get("id")]
    links = [str(attributes["href"]) for tag, attributes in elements if tag == "a"]
    assert len(set(anchors)) == len(anchors) == 6
    assert links
    assert {link.removeprefix("#") for link in links} <= set(anchors)


def test_a_hundred_questions_of_ten_chunks_stay_below_a_quarter_of_a_megabyte(tmp_path: Path) -> None:
    """A page is mailed and attached; chunks that hold no gold are shortened."""

    def full(number: int) -> EvalRecord:
        chunks = [
            RetrievedChunk(
                chunk_id=f"{number}-{n}", document_name=f"handbook-{n}.md", text=f"{number} {n} " + "word " * 90
            )
            for n in range(10)
        ]
        chunks[2] = RetrievedChunk(chunk_id="a", document_name="plan.md", text=f"{GOLD} {'more ' * 60}")
        one = record(number)
        assert one.response is not None
        return one.model_copy(update={"response": one.response.model_copy(update={"chunks": chunks})})

    path = tmp_path / "page.html"
    write_report(path, [saved_run(tmp_path, [full(number) for number in range(100)])])
    assert path.stat().st_size < 250_000
    html = path.read_text(encoding="utf-8")
    assert (html.count('<li value="5">'), html.count('<li value="6">')) == (100, 0)
    assert html.count('<p class="soft">5 more: evals show') == 100


def test_two_runs_are_compared_at_the_top_of_their_page(tmp_path: Path) -> None:
    """Verdict, table and the questions that changed; each run follows by itself."""
    runs = [
        valued_run(tmp_path, key, {"mrr": values, "citation_recall": values, "unanswerable_accuracy": values})
        for key, values in (("aaaa1111", [1.0] * 40), ("bbbb2222", [1.0] * 20 + [0.0] * 20))
    ]
    text = Elements(page(*runs)).text
    assert "bbbb2222 is worse than aaaa1111, over 40 common questions; worse in mrr" in text
    assert "20 of 40 questions scored worse: q20" in text
    assert len(re.findall(r"What went wrong", text)) == 2


def test_three_runs_have_a_front_with_its_picture(tmp_path: Path) -> None:
    """Side by side, with the Pareto front."""
    runs = [
        valued_run(tmp_path, key, {"mrr": [m] * 10, "citation_recall": [m] * 10, "latency_p50": [ms] * 10})
        for key, m, ms in (("aaaa1111", 0.5, 100.0), ("bbbb2222", 0.9, 300.0), ("cccc3333", 0.3, 400.0))
    ]
    html = page(*runs)
    assert "Side by side" in html
    assert 'aria-label="quality and latency of each run"' in html
    assert "at least as good as cccc3333 on all: aaaa1111, bbbb2222" in Elements(html).text


def test_runs_without_a_common_question_are_shown_without_a_comparison(tmp_path: Path) -> None:
    """And the page says why."""
    runs = [saved_run(tmp_path, [record(number)], id=f"run{number}") for number in (1, 2)]
    assert "The runs are not compared: runs run1 and run2 have no question in common" in Elements(page(*runs)).text


@pytest.mark.parametrize(
    ("text", "golds", "shown"),
    [
        ("a <b> gold c", ["gold"], "a &lt;b&gt; <mark>gold</mark> c"),
        ("nothing here", ["gold"], "nothing here"),
        ("gold and golden", ["gold", "golden"], "gold and <mark>golden</mark>"),
        ("text", [""], "text"),
    ],
)
def test_gold_is_marked_where_it_stands_letter_by_letter(text: str, golds: list[str], shown: str) -> None:
    """The longest of several; all else is escaped."""
    assert str(marked(text, golds)) == shown
