"""`markdown`: a comment for a pull request that foreign text cannot break."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whole_runs import kept_run

from evals.report.markdown import to_markdown
from evals.report.wording import remarks_of
from evals.schemas import RetrievedChunk

Build = Callable[..., Any]
HOSTILE = (
    "| a | `b` | </details><script>alert(1)</script> @octocat #1 [x](http://evil.example) ![i](x) **bold** ~~s~~"
    "\n\n# head\n| x |\r\n- [ ] \x1b[31mred \u202egpj &#64;octocat GH-7 \\| &lt; <!-- "
)
_ESCAPE = re.compile(r"\\[!-/:-@\[-`{-~]")
"""A backslash before punctuation (CommonMark 0.31, section 2.4)."""


def markdown(folder: Path, run: Any, records: Any) -> str:
    return "".join(to_markdown(kept_run(folder, run, records)))


def test_the_scorecard_the_score_and_the_notes_are_there(build_run: Build, tmp_path: Path) -> None:
    """Each metric has value, interval and n, under its group."""
    values = {f"q{n}": {"mrr": 0.5 + n / 10, "faithfulness": None} for n in range(3)}
    plain = ["Plain text, with 3 numbers: 4.5 % (yes).", "Wo ist Zürich?", "recall_at_5 a@ b"]
    run, records = build_run("abc1", values, notes=plain)
    document = markdown(tmp_path, run, records)
    assert document.startswith("### score –: only 15 % of the weight is measured: retrieval\n\nabc1 complete: ")
    assert "| **retrieval** |" in document
    assert re.search(r"\n\| mrr ↑ \|.* 0\.600 \| [\d.]+ … 1\.000 \| 3 \|", document)
    assert "faithfulness (it does not apply)" in document
    counts = run.scorecard.get("mrr").counts.model_copy(update={"transport": 2, "injection": 1})
    flagged = run.scorecard.get("mrr").model_copy(update={"counts": counts})
    assert remarks_of(flagged)[0] == "2 lost, 1 flagged as injection"
    assert "\n**Notes**\n\n" + "".join(f"- {note}\n" for note in plain) in document
    assert "<details>" not in document


def test_questions_that_went_wrong_are_counted_and_the_first_are_shown(build_run: Build, tmp_path: Path) -> None:
    """With how they ended."""
    known = {f"q{n}": {"is_unanswerable": n < 12} for n in range(14)}
    document = markdown(tmp_path, *build_run("a", {f"q{n}": {"mrr": 1.0} for n in range(14)}, questions=known))
    assert "<summary>the first 10 questions that went wrong</summary>" in document
    assert document.count("(answered_unanswerable)") == 10
    assert document.endswith("</details>\n")


def hostile_run(build_run: Build) -> Any:
    question = {
        "question": HOSTILE * 20,
        "expected_answer": HOSTILE,
        "is_unanswerable": True,
        "gold_passages": [{"text": "Gold."}],
    }
    ids = [f"{HOSTILE}{n}" for n in range(40)]
    run, records = build_run(
        "a",
        {key: {"mrr": 0.0} for key in ids},
        questions=dict.fromkeys(ids, question),
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


def test_hostile_text_leaves_table_and_fold_intact(build_run: Build, tmp_path: Path) -> None:
    """Every row has its cells, the fold opens and closes once, and no person or issue is mentioned."""
    document = markdown(tmp_path, *hostile_run(build_run))
    bare = _ESCAPE.sub("", document)
    for table in re.findall(r"(?:^\|.*\n)+", bare, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1
    assert set(re.findall(r"<[^>]*>", bare)) == {"<details>", "</details>", "<summary>", "</summary>"}
    assert bare.count("<details>") == bare.count("</details>") == 1
    assert not re.search(r"[`~]|\*\*bold|\]\(|&|[\x00-\x08\x0b-\x1f\u202e]", bare)
    assert not re.search(r"@\w|#\d|GH-\d", document.replace("\\", ""))
    assert [line for line in bare.splitlines() if line.startswith("#")] == [bare.splitlines()[0]]
    assert len(document) < 65_536, "what a comment on GitHub holds"
