"""Fifty questions over the built-in corpus, from the estimate to a run with them."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generate.conftest import RULES

from evals.datasets.file import read_file
from evals.datasets.golden import CORPUS
from evals.generate.journal import journal_path
from evals.schemas import EvalQuestion

COMMAND = ("-n", 50, "-o", "golden.jsonl", "--json")
FEW = ("-n", 6, "--mix", "1/0/0", "-o", "few.jsonl", "--json")


def questions_in(path: Path) -> list[EvalQuestion]:
    return list(read_file(path).questions)


def test_fifty_questions_of_all_kinds_stand_on_quotations_and_are_paid_for_once(
    generate: Callable[..., Any], messages_api: Any, tmp_path: Path
) -> None:
    """Each gold is a slice of its document; what is paid is within the estimate, and nothing is paid again.

    The same command, a larger number and another file with the same documents go on from what is there.
    """
    path = tmp_path / "golden.jsonl"
    estimate = generate(CORPUS, *COMMAND, "--dry-run").json
    assert (messages_api.stats()["requests"], path.exists()) == (0, False)
    done = generate(CORPUS, *COMMAND)
    assert done.code == 0, done.err
    printed, calls = done.json, messages_api.stats()["requests"]
    assert printed["accepted"] == printed["wanted"] == {"single": 30, "pair": 10, "near_miss": 10}
    assert (printed["spent"]["calls"], printed["spent"]["unpriced"]) == (calls, 0)
    assert estimate["cost_low_usd"] <= printed["spent"]["cost_usd"] <= estimate["cost_high_usd"]
    check(questions_in(path))
    before = path.read_bytes()
    assert generate(CORPUS, *COMMAND).json["spent"] == printed["spent"]
    assert generate(CORPUS, "-n", 50, "-o", "again.jsonl", "--json").json["spent"]["cost_usd"] == 0
    assert (path.read_bytes(), messages_api.stats()["requests"]) == (before, calls)
    ids = [{question.id for question in questions_in(tmp_path / name)} for name in (path.name, "again.jsonl")]
    assert len(ids[0] & ids[1]) >= 45  # which of two alike is first depends on who answers first
    assert generate(CORPUS, "-n", 60, *COMMAND[2:]).json["questions"] == 60
    assert path.read_bytes().startswith(before)


def check(questions: list[EvalQuestion]) -> None:
    """Each gold is a slice of its document, each question has its own id, and most documents have one."""
    assert Counter(question.metadata["kind"] for question in questions) == {"number": 30, "pair": 10, "near_miss": 10}
    golds = [gold for question in questions for gold in question.gold_passages]
    for gold in golds:
        assert gold.span is not None
        with (CORPUS / str(gold.document_id)).open(encoding="utf-8", newline="") as file:
            assert file.read()[slice(*gold.span)] == gold.text
        assert gold.section
    assert len({question.id for question in questions}) == 50
    assert len({gold.document_id for gold in golds}) >= 25
    for question in questions:
        assert question.is_unanswerable == (question.metadata["kind"] == "near_miss")
        assert bool(question.gold_passages) == bool(question.expected_answer) == (not question.is_unanswerable)
        assert question.metadata["generator"] == question.metadata["solver"] == "claude-sonnet-5-5"


def test_a_torn_line_is_written_anew_and_a_deleted_question_does_not_come_back(
    generate: Callable[..., Any], messages_api: Any, tmp_path: Path
) -> None:
    """A kill tears the last line, between file and journal; of what somebody deleted another takes the place."""
    path = tmp_path / "few.jsonl"
    assert generate(CORPUS, *FEW).code == 0
    whole, calls = path.read_bytes(), messages_api.stats()["requests"]
    path.write_bytes(whole[:-30])
    last = json.loads(whole.splitlines()[-1])["id"]
    lines = journal_path(path).read_bytes().splitlines(keepends=True)
    journal_path(path).write_bytes(b"".join(line for line in lines if json.loads(line).get("accepted") != last))
    assert generate(CORPUS, *FEW).code == 0
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())
    assert messages_api.stats()["requests"] == calls
    first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(rest))
    assert generate(CORPUS, *FEW).code == 0
    assert len(questions_in(path)) == 6
    assert json.loads(first)["id"] not in {question.id for question in questions_in(path)}


def test_a_run_asks_them_and_notes_that_the_judge_wrote_them(
    generate: Callable[..., Any],
    evals_cli: Callable[..., Any],
    messages_api: Any,
    golden_server: str,
    tmp_path: Path,
) -> None:
    """Most of the quotations are retrieved; another judge has no such note."""
    path = tmp_path / "golden.jsonl"
    assert generate(CORPUS, "-n", 16, *COMMAND[2:]).code == 0
    messages_api.script(RULES)
    command = ("eval", "--dataset-file", path, "--rag-url", golden_server, "--runs-dir", tmp_path / "runs", "--json")
    judged = (*command, "--samples", 12, "--judge-base-url", messages_api.url)
    note = "model also wrote questions of this run"
    run = evals_cli(*judged).json
    recall = next(metric for metric in run["scorecard"]["metrics"] if metric["name"] == "recall_at_5")
    assert recall["value"] > 0.7
    assert any(note in line for line in run["notes"])
    assert not any(note in line for line in evals_cli(*judged, "--judge-model", "claude-haiku-5-5").json["notes"])


def test_the_documents_may_be_those_of_a_dataset(generate: Callable[..., Any], tmp_path: Path) -> None:
    """Their gold bears the ids that the dataset's questions use."""
    config = tmp_path / "mine.yml"
    config.write_text("datasets: [golden]\n")
    done = generate("--config", config, "-n", 10, "--mix", "1/0/0", "-o", "ten.jsonl")
    assert done.code == 0, done.err
    assert "164 passages of 32 documents" in generate("--datasets", "golden", "--dry-run", "--config", config).err
    assert "passages of 1 document" in generate(CORPUS / "privacy-notice.md", "--dry-run", "--config", config).err
    names = {gold.document_id for question in questions_in(tmp_path / "ten.jsonl") for gold in question.gold_passages}
    assert names <= {path.stem for path in CORPUS.glob("*.md")}
