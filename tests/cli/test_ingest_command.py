"""`evals ingest`: documents given to a server, and a question that shows that they are found."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evals
from evals.store.runs import RunStore

Cli = Callable[..., Any]
CORPUS = Path(evals.__file__).parent / "data" / "golden_corpus"


@pytest.fixture
def fresh_server(serve_files: Cli) -> Cli:
    """Start a server that holds nothing yet."""
    return lambda: serve_files({})


def test_a_folder_is_given_once_and_found(evals_cli: Cli, fresh_server: Cli, tmp_path: Path) -> None:
    """A second time there is nothing to do; a sentence of the first document is the question that checks it."""
    url = fresh_server()
    first = evals_cli("ingest", CORPUS, "--rag-url", url, "--runs-dir", tmp_path)
    count = len(list(CORPUS.iterdir()))
    assert first.code == 0, first.err
    assert f"uploaded {count} of {count} documents" in first.out
    assert "are of these documents" in first.out
    again = evals_cli("ingest", CORPUS, "--rag-url", url, "--runs-dir", tmp_path, "--json")
    told = json.loads(again.out)
    assert (told["uploaded"], told["already_there"]) == (0, count)
    assert told["check"]["of_these"] > 0


def test_the_documents_of_a_dataset_are_given(evals_cli: Cli, fresh_server: Cli, tmp_path: Path) -> None:
    """Its first question checks them; then it is evaluated without another upload."""
    url = fresh_server()
    given = evals_cli("ingest", "--datasets", "golden", "--rag-url", url, "--runs-dir", tmp_path)
    assert given.code == 0, given.err
    options = ("--datasets", "golden", "--samples", 3, "--no-judge", "--rag-url", url, "--runs-dir", tmp_path)
    done = evals_cli("eval", *options, "--ingest")
    assert done.code == 0, done.err
    (run,) = RunStore(tmp_path).runs()
    assert any("on the server already" in note for note in run.notes)
    assert run.server.missing_documents == []


def test_what_is_not_found_afterwards_is_an_error(evals_cli: Cli, fresh_server: Cli, tmp_path: Path) -> None:
    """A question about something else retrieves nothing of it."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "one.md").write_text("# Whales\n\nA whale sings under water for hours.\n", encoding="utf-8")
    flags = ("--rag-url", fresh_server(), "--runs-dir", tmp_path / "runs", "--check", "zzz qqq?")
    result = evals_cli("ingest", folder, *flags)
    assert (result.code, "what was uploaded is not found" in result.err) == (3, True)


def test_what_cannot_be_ingested_is_said(evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """A folder that is none, questions without documents, an empty check."""
    assert evals_cli("ingest", tmp_path / "nothing", "--rag-url", golden_server).code == 2
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"question": "Why?", "answer": "So."}\n', encoding="utf-8")
    none = evals_cli("ingest", "--dataset-file", questions, "--rag-url", golden_server)
    assert (none.code, "come without a corpus" in none.err) == (2, True)
    both = evals_cli("ingest", CORPUS, "--check", "Why?", "--no-check", "--rag-url", golden_server)
    assert (both.code, "exclude each other" in both.err) == (2, True)


def test_the_last_line_is_a_next_step_that_works(
    evals_cli: Cli, fresh_server: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the server that was given; a folder has no questions, so that a file of them comes first."""
    monkeypatch.chdir(tmp_path)
    url = fresh_server()

    def steps(*flags: object) -> list[list[str]]:
        done = evals_cli("ingest", *flags, "--rag-url", url)
        assert done.code == 0, done.err
        return [shlex.split(found, comments=True) for found in re.findall(r"(?m)evals ((?:init|eval) .*)$", done.out)]

    (init, evaluate) = steps(CORPUS)
    assert evals_cli(*init).code == 0
    assert Path("questions.jsonl").exists()
    assert evaluate == ["eval", "--rag-url", url, "--dataset-file", "questions.jsonl", "--no-judge"]
    Path("questions.jsonl").write_text('{"question": "How long are snapshots kept?"}\n', encoding="utf-8")
    assert evals_cli(*evaluate).code == 0
    (evaluate,) = steps("--datasets", "golden", "--samples", 3, "--runs-dir", "elsewhere")
    assert evaluate[-2:] == ["--runs-dir", "elsewhere"]
    assert evals_cli(*evaluate).code == 0
