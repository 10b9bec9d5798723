"""`markdown`: a comment for a pull request that foreign text cannot break."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.export import export_run
from evals.report.markdown import LIMIT
from evals.report.templates import escape
from evals.schemas import RetrievedChunk, ServerRecord

Build = Callable[..., Any]
deterministic = settings(derandomize=True, deadline=None, max_examples=300)
HOSTILE = (
    "| a | `b` | </details><script>alert(1)</script> @octocat #1 [x](http://evil.example) ![i](x) **bold** ~~s~~"
    "\n\n# head\n| x |\r\n- [ ] \x1b[31mred \u202egpj www.evil.example GH-7 $x$ \\| &lt; <!-- "
)


def test_the_scorecard_the_score_and_the_notes_are_there(build_run: Build) -> None:
    """Each metric has value, interval, n and bounds, under its group."""
    run, records = build_run("abc1", {f"q{n}": {"mrr": 0.5 + n / 10, "faithfulness": None} for n in range(3)})
    run = run.model_copy(update={"notes": ["the server changed"]})
    document = export_run(run, records, "markdown")
    assert "### Evaluation: run abc1" in document
    assert "`abc1` · complete · 3 questions" in document
    assert "|---|---|---:|---:|---:|\n| **retrieval** |  |  |  |  |\n" in document
    assert "\n| `mrr ↑` | first relevant: 1 / rank | 0.600 | 0.103 … 1.000 | 3 |\n" in document
    assert "- no value: faithfulness (it does not apply)" in document
    assert "**Weighted score: –** (only 15 % of the weight is measured: retrieval)" in document
    assert "- the server changed" in document
    assert "<details>" not in document


def test_the_score_says_of_what_it_is_the_score(build_run: Build) -> None:
    """Of how much of the weight, and which metric of few questions is not in it."""
    answers: dict[str, Any] = {f"q{n}": {"answer_correctness": 0.5, "citation_recall": 1.0} for n in range(12)}
    answers["q0"] = {**answers["q0"], "section_accuracy": 0.0}
    run, records = build_run("abc1", {**answers, "lost": "timeout"})
    document = export_run(run, records, "markdown")
    assert "**Weighted score: 0.700** (50 % of it not measured)" in document
    assert "section&#95;accuracy (1 question, where citation&#95;recall has 12)" in document


def test_it_says_who_declined_what_and_where_questions_went_wrong(build_run: Build) -> None:
    """A table of two by two with its rates, and the links that broke with their intervals."""
    known = {f"q{n}": {"is_unanswerable": n < 1} for n in range(4)}
    run, records = build_run("a", {f"q{n}": {"mrr": 1.0} for n in range(4)}, questions=known)
    document = export_run(run, records, "markdown")
    assert "| answerable | 3 | 0 |\n| unanswerable | 1 | 0 |" in document
    assert "| right to answer or decline, by always answering | 0.750 &#91;0.301 … 0.954&#93; (3 of 4) |" in document
    assert "1 of 4 questions went wrong, by the first step that failed" in document
    assert "- 1 × answered, though unanswerable (25%, 5–70%): should_have_abstained" in document


def test_bounds_are_shown_where_failures_left_questions_out(build_run: Build) -> None:
    """What the lost questions could have made of a metric stands beside it."""
    run, records = build_run("a", {"q1": {"mrr": 1.0}, "q2": {"mrr": None}})
    lost = run.scorecard.metrics[0].model_copy(update={"bounds": (0.5, 1.0)})
    run = run.model_copy(update={"scorecard": run.scorecard.model_copy(update={"metrics": [lost]}), "error_count": 1})
    document = export_run(run, records, "markdown")
    assert "with lost questions 0.500 … 1.000 |" in document
    assert "1 without an answer" in document


def hostile_run(build_run: Build) -> Any:
    run, records = build_run(
        "a",
        {f"{HOSTILE}{n}": {"mrr": 0.0} for n in range(40)},
        questions={
            f"{HOSTILE}{n}": {
                "question": HOSTILE * 20,
                "expected_answer": HOSTILE,
                "is_unanswerable": True,
                "gold_passages": [{"text": "Gold."}],
            }
            for n in range(40)
        },
        name=HOSTILE,
        datasets=[HOSTILE],
        config={"llm_model": HOSTILE},
        notes=[HOSTILE * 50] * 60,
    )
    chunks = [RetrievedChunk(text=HOSTILE * 9, document_name=HOSTILE)] * 5
    responses = [record.response.model_copy(update={"answer": HOSTILE * 9, "chunks": chunks}) for record in records]
    hurt = run.scorecard.metrics[0].model_copy(update={"value": None, "reason": HOSTILE})
    run = run.model_copy(update={"scorecard": run.scorecard.model_copy(update={"metrics": [hurt]})})
    pairs = zip(records, responses, strict=True)
    return run, [record.model_copy(update={"response": response}) for record, response in pairs]


def test_hostile_text_leaves_table_and_fold_intact(build_run: Build) -> None:
    """Every row has its cells, the fold opens and closes once, and nobody is mentioned."""
    document = export_run(*hostile_run(build_run), "markdown")
    tables = [line for line in document.splitlines() if line.startswith("|")]
    assert [line.count("|") for line in tables] == [6] * 2 + [4] * 4 + [3] * 5
    assert document.count("<details>") == document.count("</details>") == 1
    assert set(re.findall(r"<[^>]*>", document)) == {"<details>", "</details>", "<summary>", "</summary>", "<br>"}
    outside = re.sub(r"`[^`\n]*`", "", document)  # in a code span nothing is a link
    assert not re.search(r"@\w|#\d+\b(?!;)|://|\bwww\.|\bGH-\d|[\x00-\x08\x0b-\x1f\u202e]", outside)
    assert [line for line in document.splitlines() if line.startswith("#")] == [document.splitlines()[0]]


def test_it_fits_into_a_comment(build_run: Build) -> None:
    """However many failures and notes there are, and the fold is closed all the same."""
    document = export_run(*hostile_run(build_run), "markdown")
    assert len(document) < LIMIT
    assert document.endswith("</details>\n")
    assert "`evals show` lists them all" in document


def test_a_scorecard_of_very_many_metrics_is_cut_at_a_row(build_run: Build) -> None:
    """A table that has no room ends with a row that says so."""
    names = {f"recall_at_{k}": 0.5 for k in range(1, 900)}
    document = export_run(*build_run("a", {"q1": names, "q2": names}), "markdown")
    assert len(document) < LIMIT
    assert "\n| … |\n" in document


@deterministic
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_text_is_one_line_of_text(text: str) -> None:
    """Nothing that Markdown, HTML or a mention begins with is left."""
    escaped = escape(text)
    assert "\n" not in escaped
    assert "\r" not in escaped
    assert not re.search(r"[<>|`*\[\]\\~_$]|@(?!&#8203;)|&(?!#\d+;)", escaped)


@pytest.mark.parametrize("text", ["Plain text, with 3 numbers: 4.5 % (yes).", "Wo ist Zürich?", "C# and F#"])
def test_plain_text_stays_readable(text: str) -> None:
    """What needs no escaping is not escaped."""
    assert escape(text) == text


@pytest.mark.parametrize(
    "url", ["http://localhost:8001", "https://rag.example.org/v1_beta/a*b?x=[1]", "http://h/`; <b>@someone</b> #12"]
)
def test_the_server_can_be_copied_and_does_nothing(build_run: Build, url: str) -> None:
    """It stands in a code span, where nothing is a link or a mention; a backtick would end it."""
    run, records = build_run("a", {"q1": {"mrr": 1.0}}, server=ServerRecord(url=url, profile="rag-server"))
    copied = url.replace("`", "\N{MODIFIER LETTER GRAVE ACCENT}")
    assert f" · `{copied}` · " in export_run(run, records, "markdown")
