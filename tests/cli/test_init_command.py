"""`evals init`: from nothing to a configuration that `evals eval` takes, at a terminal and without one."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from other_servers import corpus, unknown

from evals.text.yaml_files import load_yaml

SECRET = "s3cret-Value-90210"
NOWHERE = "http://127.0.0.1:9"
TRANSCRIPT = '{"transcript": [{"speaker": "visitor", "said": "{{question}}"}]}'
Cli = Callable[..., Any]
Start = Callable[[Any], str]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("RAG_SERVER_URL", "ANTHROPIC_API_KEY", "RAG_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def evaluated(evals_cli: Cli) -> Callable[[], dict[str, Any]]:
    """Run the command that init ends with; returns the values of the metrics."""

    def run() -> dict[str, Any]:
        done = evals_cli("eval", "--config", "eval_config.yml", "--json")
        assert done.code == 0, done.err
        return {each["name"]: each["value"] for each in done.json["scorecard"]["metrics"]}

    return run


@pytest.fixture
def own_questions(tmp_path: Path) -> Path:
    """Questions on the corpus of the servers that nobody knows."""
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, corpus.questions())), encoding="utf-8")
    return path


@pytest.fixture
def inquiry(start: Start) -> str:
    """The URL of a server that no profile knows."""
    return f"{start(unknown.inquiry())}/knowledge/inquire"


def check(figures: dict[str, Any], known: dict[str, float]) -> None:
    """The figures are those that the corpus is known to give."""
    expected = {name: value for name, value in known.items() if name != "recall_at_3"}
    assert {name: figures.get(name) for name in expected} == pytest.approx(expected)


def test_the_reference_server_is_evaluated(golden_server: str, evals_cli: Cli, evaluated: Cli) -> None:
    """By flags alone; the last lines are the commands, with that which uploads what golden questions need."""
    made = evals_cli("init", "--rag-url", golden_server, "--questions", "golden")
    assert made.code == 0, made.err
    assert re.findall(r"evals (\w+) --config eval_config.yml", made.out) == ["ingest", "doctor", "eval"]
    assert load_yaml(Path("eval_config.yml").read_text())["server"] == {"profile": "rag-server", "url": golden_server}
    assert evaluated()["recall_at_5"] > 0.5


@pytest.mark.parametrize(
    ("kind", "path", "more"),
    [("inquiry", "/knowledge/inquire", ()), ("dialogue", "/v7/exchange", ("--body", TRANSCRIPT))],
)
def test_a_server_that_no_profile_knows_is_evaluated(
    kind: str, path: str, more: tuple[str, ...], start: Start, evals_cli: Cli, own_questions: Path, evaluated: Cli
) -> None:
    """The server is asked the first question of the file, so that its answer shows chunks."""
    url = f"{start(getattr(unknown, kind)())}{path}"
    made = evals_cli("init", "--rag-url", url, "--questions", own_questions.name, *more)
    assert made.code == 0, made.err
    check(evaluated(), corpus.RETRIEVAL | corpus.CITATION | corpus.ABSTENTION)


def test_columns_of_ones_own_are_written_too(inquiry: str, evals_cli: Cli, evaluated: Cli) -> None:
    """The file is read by them for the first question already."""
    names = {"question": "User question", "is_unanswerable": "Missing?", "gold_passages": "Where it says so"}
    rows = [{title: row[name] for name, title in names.items()} for row in corpus.questions()]
    Path("sheet.json").write_text(json.dumps(rows), encoding="utf-8")
    columns = ",".join(f"{name}={title}" for name, title in names.items())
    made = evals_cli("init", "--rag-url", inquiry, "--questions", "sheet.json", "--columns", columns)
    assert made.code == 0, made.err
    assert load_yaml(Path("eval_config.yml").read_text())["columns"] == names
    check(evaluated(), corpus.RETRIEVAL | corpus.ABSTENTION)


def test_a_template_is_no_question_until_it_is_filled_in(inquiry: str, evals_cli: Cli) -> None:
    """A run of it ends before anything is asked, and a second init knows it for a template."""
    made = evals_cli("init", "--rag-url", inquiry)
    assert "questions.jsonl: fill in its three rows first" in made.out
    refused = evals_cli("eval", "--config", "eval_config.yml")
    assert (refused.code, "questions.jsonl, line 1, column question" in refused.err) == (2, True)
    assert "delete the row" in refused.err
    assert evals_cli("init", "--rag-url", inquiry, "--force").code == 0


def test_questions_that_are_there_are_taken_and_kept(inquiry: str, evals_cli: Cli) -> None:
    """--force writes over the configuration, never over questions."""
    rows = '{"question": "How long are daily snapshots kept?"}\n'
    Path("questions.jsonl").write_text(rows)
    made = evals_cli("init", "--rag-url", inquiry, "--force")
    assert (made.code, "using the questions in questions.jsonl" in made.err) == (0, True)
    assert "answer: 'For thirty days.'" in made.err
    assert Path("questions.jsonl").read_text() == rows


def test_a_first_question_that_is_declined_is_followed_by_another(start: Start, evals_cli: Cli) -> None:
    """An answer that declines shows neither chunks nor citations; at most three questions are asked."""
    asked: list[str] = []

    def answer(request: Any) -> dict[str, Any]:
        asked.append(request.body["question"])
        if "moon" in asked[-1]:
            return {"answer": "I could not find anything about that.", "passages": []}
        text = "The lower sensor of the mast hangs at three metres."
        return {"answer": "It hangs at three metres [1].", "passages": [{"file": "mast.md", "text": text}]}

    gold = [{"text": "The lower sensor of the mast hangs at three metres."}]
    rows = [{"question": question, "gold_passages": gold} for question in ("To the moon?", "How high?", "Why?")]
    Path("q.json").write_text(json.dumps(rows), encoding="utf-8")
    url = f"{start({('POST', '/say'): answer})}/say"
    made = evals_cli("init", "--rag-url", url, "--questions", "q.json")
    assert made.code == 0, made.err
    assert "trying the next question" in made.err
    assert list(dict.fromkeys(asked)) == ["To the moon?", "How high?"]
    server = load_yaml(Path("eval_config.yml").read_text())["server"]
    assert server["map"]["chunks"] == "passages[].{text: text, document_name: file}"


def test_a_configuration_that_is_there_is_not_written_over(evals_cli: Cli) -> None:
    """Without --force it stays, and nothing else is written."""
    Path("eval_config.yml").write_text("name: mine\n")
    refused = evals_cli("init", "--rag-url", NOWHERE, "--profile", "r2r")
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert os.listdir() == ["eval_config.yml"]
    assert evals_cli("init", "--rag-url", NOWHERE, "--profile", "r2r", "--force").code == 0
    assert "profile: r2r" in Path("eval_config.yml").read_text()


def test_no_secret_is_written(inquiry: str, evals_cli: Cli) -> None:
    """A header stands as ${NAME}, and what is to be exported is said; so is what a profile or a judge needs."""
    made = evals_cli("init", "--rag-url", inquiry, "--header", f"Authorization: Bearer {SECRET}")
    assert made.code == 0, made.err
    assert "Bearer ${RAG_TOKEN}" in Path("eval_config.yml").read_text()
    assert SECRET not in made.out + made.err + Path("eval_config.yml").read_text()
    assert "export RAG_TOKEN=" in made.out
    made = evals_cli("init", "--rag-url", NOWHERE, "--profile", "openwebui", "--judge", "-o", "other.yml")
    assert re.findall(r"export (\w+)=", made.out) == ["OPENWEBUI_API_KEY", "OPENWEBUI_COLLECTION", "ANTHROPIC_API_KEY"]
    assert load_yaml(Path("other.yml").read_text())["judge"] is True


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ((), 2, "--rag-url"),
        (("--rag-url", "nowhere"), 2, "not a URL of a server"),
        (("--rag-url", "http://me:pw@localhost"), 2, "the URL holds a login"),
        (("--rag-url", NOWHERE), 3, "no server answers"),
        (("--rag-url", NOWHERE, "--profile", "nope"), 2, "nope"),
        (("--rag-url", NOWHERE, "--profile", "r2r", "--body", "{}"), 2, "exclude each other"),
        (("--rag-url", NOWHERE, "--questions", "missing.jsonl"), 2, "missing.jsonl"),
        (("--rag-url", NOWHERE, "--output", "missing/eval.yml"), 2, "there is no folder"),
        (("--rag-url", NOWHERE, "--columns", "question=Q"), 2, "none is named"),
        (("--rag-url", NOWHERE, "--questions", "golden", "--columns", "question=Q"), 2, "none is named"),
    ],
)
def test_what_is_missing_or_wrong_is_one_message(flags: tuple[str, ...], code: int, said: str, evals_cli: Cli) -> None:
    """It names the flag, and nothing is written."""
    refused = evals_cli("init", *flags)
    assert (refused.code, said in refused.err, refused.err.count("error: ")) == (code, True, 1), refused.err
    assert os.listdir() == []


def test_somebody_at_a_terminal_is_asked_nothing(evals_cli: Cli, type_lines: Callable[..., None]) -> None:
    """What is missing is named with its flag; only a login that a server refuses is asked for."""
    type_lines(NOWHERE)
    refused = evals_cli("init")
    assert (refused.code, "--rag-url" in refused.err, os.listdir()) == (2, True, [])
    refused = evals_cli("init", "--rag-url", NOWHERE, "--yes")
    assert (refused.code, "leave it out: `init` asks nothing" in refused.err) == (2, True)
