"""Questions after they are generated: found again in changed documents, looked through by people, and counted."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from generate.conftest import FERRY, GOOD, YARD, drafted, solved, write_files

from evals.datasets.file import read_file
from evals.schemas import EvalQuestion

Cli = Callable[..., Any]
GOLD = "Dogs travel free of charge"


@pytest.fixture
def questions(tmp_path: Path, docs: Path) -> Path:
    """A file with a question on the ferry, one on both documents, and one without an answer."""
    dogs = {
        "question": "What do dogs pay?",
        "expected_answer": "nothing",
        "gold_passages": [gold(GOLD)],
        "metadata": {"kind": "fact", "checks": ["rules", "solved", "copied"]},
    }
    both = {
        "question": "Who sells tickets, and when was the boat built?",
        "expected_answer": "Mara Quill, 1998",
        "gold_passages": [gold("sold on board by Mara Quill"), gold("built the Heron in 1998", "yard.md", YARD)],
        "metadata": {"kind": "pair"},
    }
    none = {
        "question": "Who paints the hulls?",
        "is_unanswerable": True,
        "metadata": {"kind": "near_miss", "near": "yard.md"},
    }
    rows = [{"id": name, **row} for name, row in (("dogs", dogs), ("both", both), ("none", none))]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def gold(text: str, name: str = "ferry.md", document: str = FERRY) -> dict[str, Any]:
    start = document.index(text)
    return {"text": text, "document_id": name, "span": [start, start + len(text)]}


# --check.


@pytest.mark.parametrize(
    ("ferry", "states", "code"),
    [
        (FERRY, {"same": 3}, 0),
        (f"---\ntitle: x\n---\n{FERRY}", {"moved": 2, "same": 1}, 0),
        (FERRY.replace("free of charge", "for $2"), {"same": 2, "gone": 1}, 1),
        (f"{FERRY}\n## Again\n\nDogs  travel\nfree of charge.\n", {"same": 2, "in two places": 1}, 1),
    ],
)
def test_gold_is_found_again_without_a_model(
    ferry: str, states: dict[str, int], code: int, generate: Cli, questions: Path, docs: Path, messages_api: Any
) -> None:
    """Line breaks make no difference; what is gone or ambiguous is listed."""
    write_files(docs, {"ferry.md": ferry})
    done = generate(docs, "--check", questions, "--json")
    assert (done.code, done.json["states"]) == (code, states)
    assert done.json["lost"] == ([] if code == 0 else [{"state": [*states][-1], "id": "dogs", "text": GOLD}])
    assert messages_api.stats()["requests"] == 0
    told = generate(docs, "--check", questions)
    assert told.out.startswith("3 gold passages: ")
    assert ("dogs" in told.out) == bool(code)


def test_a_file_that_exists_is_not_overwritten_by_a_check(generate: Cli, questions: Path, docs: Path) -> None:
    """It may be the reviewed one."""
    before = questions.read_bytes()
    done = generate(docs, "--check", questions, "-o", questions)
    assert (done.code, questions.read_bytes()) == (2, before)
    assert "exists" in done.err


def test_moved_gold_is_written_anew_and_lost_questions_are_left_out(generate: Cli, questions: Path, docs: Path) -> None:
    """A passage that moved into another document has its name, section and span."""
    (docs / "ferry.md").unlink()
    moved = FERRY.replace("Dogs travel free of charge, and so do", "Free are")
    write_files(docs, {"boats/heron.md": f"Preface.\n\n{moved}"})
    done = generate(docs, "--check", questions, "-o", "updated.jsonl")
    assert done.code == 1
    assert "wrote 2 questions to updated.jsonl" in done.out
    both, none = read_file(Path("updated.jsonl")).questions
    quill = both.gold_passages[0]
    assert (quill.document_id, quill.section) == ("boats/heron.md", "Ferry")
    assert quill.span is not None
    assert (docs / "boats/heron.md").read_text()[slice(*quill.span)] == quill.text
    assert (none.id, none.gold_passages) == ("none", [])


# evals review.


def sheet_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, verdicts: Sequence[str], delimiter: str = ",", **edits: str) -> None:
    """Write verdicts into a sheet, and texts into its first row."""
    rows = sheet_rows(path)
    for row, verdict in zip(rows, verdicts, strict=True):
        row["verdict"] = verdict
    rows[0] |= edits
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def test_a_sheet_shows_each_question_with_its_quotations(evals_cli: Cli, questions: Path) -> None:
    """Without a journal there are no paragraphs."""
    done = evals_cli("review", questions)
    assert done.code == 0, done.err
    sheet = questions.with_name("questions-review.csv")
    assert f"then: evals review {questions} --apply {sheet}" in done.out
    dogs, both, none = sheet_rows(sheet)
    assert (dogs["paragraph"], dogs["document"], dogs["verdict"]) == (f"[[{GOLD}]]", "ferry.md", "")
    assert (both["kind"], both["document"]) == ("pair", "ferry.md, yard.md")
    assert (none["expected_answer"], none["document"]) == ("(not answerable)", "yard.md")
    again = evals_cli("review", questions)
    assert (again.code, "is there already" in again.err) == (2, True)


def test_the_journal_gives_the_paragraph_with_the_quotation_marked(
    generate: Cli, evals_cli: Cli, docs: Path, messages_api: Any
) -> None:
    """So nobody needs the document to judge a question."""
    messages_api.script(drafted(**GOOD), solved("$14.50", 1, 2))
    assert generate(docs / "ferry.md", "-n", 1, "--mix", "1/0/0").code == 0
    assert evals_cli("review", "questions.jsonl").code == 0
    (row,) = sheet_rows(Path("questions-review.csv"))
    marked = FERRY.strip().replace("A day ticket costs $14.50\nunder tariff code HX-7.", "[[{}]]")
    assert row["paragraph"].replace("[[A day ticket costs $14.50\nunder tariff code HX-7.]]", "[[{}]]") == marked


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_filled_sheet_keeps_edits_and_drops(delimiter: str, evals_cli: Cli, questions: Path) -> None:
    """Ids and gold stay; edited texts are those of the sheet, also as a spreadsheet of another country saves it."""
    evals_cli("review", questions)
    sheet = questions.with_name("questions-review.csv")
    fill(sheet, ["Edit", "drop", "keep"], delimiter, question="What does a dog pay?", expected_answer="'-nothing-")
    done = evals_cli("review", questions, "--apply", sheet)
    assert "wrote 2 questions" in done.out
    assert ": 1 edited, 1 dropped" in done.out
    dogs, none = read_file(questions.with_name("questions-reviewed.jsonl")).questions
    assert (dogs.id, dogs.question, dogs.expected_answer) == ("dogs", "What does a dog pay?", "-nothing-")
    assert dogs.gold_passages[0].text == GOLD
    assert [question.metadata["reviewed"] for question in (dogs, none)] == ["edit", "keep"]


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        (["kep", "", ""], "questions-review.csv, row 1 (line 2): no verdict 'kep'"),
        (["", "", ""], "keeps no question"),
        (["edit", "", ""], "row 1 (line 2): an edited question needs its text and its answer"),
    ],
)
def test_a_sheet_that_cannot_be_used_is_refused(
    verdicts: list[str], message: str, evals_cli: Cli, questions: Path
) -> None:
    """Nothing is written then."""
    evals_cli("review", questions)
    sheet = questions.with_name("questions-review.csv")
    fill(sheet, verdicts, question=" ")
    done = evals_cli("review", questions, "--apply", sheet)
    assert (done.code, message in done.err) == (2, True)
    assert not questions.with_name("questions-reviewed.jsonl").exists()


def test_a_sheet_without_its_columns_and_a_run_that_has_none_are_refused(evals_cli: Cli, questions: Path) -> None:
    """Each by its own message."""
    other = questions.with_name("other.csv")
    other.write_text("id;question\n1;a\n")
    assert "other.csv has no column 'expected_answer'" in evals_cli("review", questions, "--apply", other).err
    assert "--apply is for a file of questions" in evals_cli("review", "last", "--apply", other).err


def test_rows_without_a_verdict_are_left_out_and_counted(evals_cli: Cli, questions: Path) -> None:
    """A reviewed set holds what somebody looked at."""
    evals_cli("review", questions)
    sheet = questions.with_name("questions-review.csv")
    fill(sheet, ["keep", "", ""])
    mine = questions.with_name("mine.jsonl")
    assert "2 without a verdict left out" in evals_cli("review", questions, "--apply", sheet, "-o", mine).out
    assert [question.id for question in read_file(mine).questions] == ["dogs"]


# evals stats.


def test_stats_say_kinds_documents_and_shared_words(evals_cli: Cli, questions: Path) -> None:
    """A file may be named without its flag."""
    done = evals_cli("stats", questions)
    assert done.code == 0, done.err
    assert "kinds: 1 fact, 1 pair, 1 near_miss" in done.out
    assert "gold in 2 documents; most in ferry.md: 2 questions" in done.out
    assert "1 of 3 questions has six words in a row of the passage" in done.out


def test_stats_of_questions_without_gold_say_nothing_of_it(evals_cli: Cli, tmp_path: Path) -> None:
    """Nor of kinds where there are none."""
    path = tmp_path / "plain.jsonl"
    path.write_text(EvalQuestion(question="Why?").model_dump_json(include={"question"}))
    done = evals_cli("stats", path)
    assert (done.code, "kinds:" in done.out, "gold in" in done.out) == (0, False, False)


# evals init --documents.


def test_init_leads_from_a_folder_and_a_url_to_the_commands_of_a_first_scorecard(
    evals_cli: Cli, golden_server: str, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is asked about the first heading; no template is written."""
    monkeypatch.chdir(docs.parent)
    done = evals_cli("init", "--rag-url", golden_server, "--documents", "docs")
    assert done.code == 0, done.err
    assert "dataset_file: questions.jsonl" in Path("eval_config.yml").read_text()
    assert not Path("questions.jsonl").exists()
    lines = [line.split("    #")[0].strip() for line in done.out.splitlines()]
    commands = [line for line in lines if line.startswith("evals ")]
    names = ["ingest", "generate", "generate", "review", "review", "doctor", "eval"]
    assert [command.split()[1] for command in commands] == names
    assert commands[2] == "evals generate docs -n 20 -o drafts.jsonl --config eval_config.yml"
    assert commands[4] == "evals review drafts.jsonl --apply drafts-review.csv -o questions.jsonl"
    assert evals_cli("init", "--rag-url", golden_server, "--documents", "nowhere", "--force").code == 2
