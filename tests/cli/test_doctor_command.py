"""`evals doctor`: each part of a run looked at, and the exit code of the first by which it would end."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from raw_server import answering

from evals import EvalConfig
from evals.run.doctor import examine
from evals.run.observer import Observer

Cli = Callable[..., Any]
Doctor = Callable[..., tuple[int, dict[str, dict[str, Any]]]]


@pytest.fixture
def examined(evals_cli: Cli, tmp_path: Path) -> Doctor:
    """Run the command; gives its exit code and the findings by part."""

    def run(*arguments: object) -> tuple[int, dict[str, dict[str, Any]]]:
        result = evals_cli("doctor", *arguments, "--runs-dir", tmp_path / "runs", "--json")
        return result.code, {finding["part"]: finding for finding in json.loads(result.out)}

    return run


def test_all_is_well(examined: Doctor, golden_server: str) -> None:
    """A server that holds the corpus; no judge is wanted."""
    code, found = examined("--datasets", "golden", "--rag-url", golden_server, "--no-judge")
    assert code == 0
    assert {finding["health"] for finding in found.values()} == {"well", "unseen"}
    assert "can be computed" in found["answer"]["said"]
    assert found["corpus"]["said"] == "the server lists every gold document"


def test_each_line_says_what_to_do(evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """For people: a mark, the part, what was seen, and the way out below."""
    result = evals_cli("doctor", "--datasets", "golden", "--rag-url", golden_server, "--runs-dir", tmp_path)
    lines = result.out.splitlines()
    assert result.code == 2
    assert lines[0].startswith("✓ configuration ")
    (judge,) = (number for number, line in enumerate(lines) if line.startswith("✗ judge"))
    assert "ANTHROPIC_API_KEY is not set" in lines[judge]
    assert "--no-judge" in "".join(lines[judge + 1 :])


def test_a_dead_server_has_its_exit_code_and_what_hangs_on_it_is_not_looked_at(
    examined: Doctor, tmp_path: Path
) -> None:
    """The other parts are looked at all the same; of several that are broken, the first has the exit code."""
    code, found = examined("--datasets", "golden", "--rag-url", "http://127.0.0.1:9", "--no-judge")
    assert (code, found["server"]["health"], found["datasets"]["health"]) == (3, "broken", "well")
    assert [found[part]["health"] for part in ("answer", "corpus")] == ["unseen"] * 2
    without_rows = ("--datasets", "squad_v2", "--data-dir", tmp_path, "--rag-url", "http://127.0.0.1:9", "--no-judge")
    code, found = examined(*without_rows)
    assert (code, found["datasets"]["health"], found["server"]["health"]) == (2, "broken", "broken")


def test_a_server_without_a_health_check_is_not_said_to_be_well(examined: Doctor, tmp_path: Path) -> None:
    """The question shows that it is dead."""
    config = tmp_path / "config.yml"
    server = {"profile": "none", "url": "http://127.0.0.1:9", "map": {"answer": "a"}}
    asked = {"path": "/ask", "json": {"q": "{{question}}"}}
    config.write_text(json.dumps({"server": {**server, "ask": asked}}), encoding="utf-8")
    code, found = examined("--datasets", "golden", "--config", config, "--no-judge")
    assert (code, found["server"]["health"], found["answer"]["health"]) == (3, "unseen", "broken")
    assert found["answer"]["hint"].startswith("look at server.url, server.ask")
    assert found["configuration"]["said"].startswith(f"{config}: 21 metrics of core")


def test_the_first_broken_part_gives_the_exit_code(examined: Doctor, golden_server: str, tmp_path: Path) -> None:
    """Questions that are not there, before a judge without a key."""
    code, found = examined("--dataset-file", tmp_path / "none.jsonl", "--rag-url", golden_server)
    assert code == found["datasets"]["exit_code"] != 0
    assert found["judge"]["health"] == "broken"
    code, found = examined("--profile", "no-such-kind")
    assert (code, found["configuration"]["exit_code"], found["judge"]["health"]) == (2, 2, "unseen")


def test_a_gate_that_would_stop_the_run_is_found(
    examined: Doctor, evals_cli: Cli, golden_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One on a judge that was never calibrated: the run, its plan and `doctor` say the same."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    asked = ("--datasets", "golden", "--samples", 2, "--rag-url", golden_server, "--gate", "faithfulness>=0.5")
    asked += ("--judge-base-url", "http://127.0.0.1:9")
    code, found = examined(*asked)
    said = found["configuration"]["said"]
    assert (code, found["configuration"]["health"], "never calibrated" in said) == (2, "broken", True)
    plan = evals_cli("eval", *asked, "--runs-dir", tmp_path, "--dry-run", "--json")
    assert (plan.code, plan.json["refusal"]["message"]) == (0, said)
    assert evals_cli("eval", *asked, "--runs-dir", tmp_path).code == 2
    _, allowed = examined(*asked, "--allow-uncalibrated")
    assert allowed["configuration"]["health"] == "well"


def test_a_column_that_is_not_read_is_named(examined: Doctor, golden_server: str, tmp_path: Path) -> None:
    """Before a run: gold under another name is why metrics of retrieval have no value."""
    file = tmp_path / "questions.csv"
    file.write_text("question,gold\nHow long?,96 hours\n", encoding="utf-8")
    _, found = examined("--dataset-file", file, "--rag-url", golden_server, "--no-judge")
    assert "column `gold` is kept as metadata (did you mean gold_passages?)" in found["datasets"]["hint"]


def test_a_mapping_that_finds_no_chunks_costs_metrics(examined: Doctor, golden_server: str, tmp_path: Path) -> None:
    """They are named, by the reason."""
    config = tmp_path / "config.yml"
    config.write_text("server: {map: {chunks: nowhere}}\n", encoding="utf-8")
    code, found = examined("--datasets", "golden", "--rag-url", golden_server, "--no-judge", "--config", config)
    assert (code, found["answer"]["health"]) == (0, "doubtful")
    assert all(words in found["answer"]["hint"] for words in (": the server sent no chunks", "recall_at_5"))


def test_a_corpus_that_is_not_there_is_seen(examined: Doctor, golden_server: str, tmp_path: Path) -> None:
    """By a list that lacks gold documents, or by an answer that holds no gold."""
    questions = tmp_path / "questions.json"
    gold = {"text": "A whale sings for hours.", "document_id": "whales.md"}
    known = {"text": "Remote work abroad is limited.", "document_id": "remote-work-policy.md"}
    questions.write_text(
        json.dumps([{"question": "What does a whale do?", "answer": "It sings.", "gold_passages": [gold, known]}])
    )
    code, found = examined("--dataset-file", questions, "--rag-url", golden_server, "--no-judge")
    assert (code, found["corpus"]["health"]) == (0, "doubtful")


@pytest.mark.parametrize(
    ("status", "health"), [(200, "well"), (401, "broken"), (404, "well")], ids=["known", "refused", "does not say"]
)
def test_a_model_is_looked_for_without_a_call(
    examined: Doctor, golden_server: str, monkeypatch: pytest.MonkeyPatch, status: int, health: str
) -> None:
    """Another server of the kind may have no list of models; one that refuses the key is broken."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-doctor")
    body = b'{"type": "model", "id": "claude-sonnet-5-5", "display_name": "S", "created_at": "2026-01-01T00:00:00Z"}'
    answer = f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with answering(lambda _: [answer.encode() + body]) as server:
        code, found = examined("--datasets", "golden", "--rag-url", golden_server, "--judge-base-url", server.url)
        asked = server.asked[0][1]
    assert found["judge"]["health"] == health
    assert (code == 0) == (health == "well")
    assert asked.startswith(b"GET /v1/models/claude-sonnet-5-5 ")


def test_a_server_that_hangs_is_waited_for_in_public(
    evals_cli: Cli, start: Callable[[Any], str], tmp_path: Path
) -> None:
    """What is waited for, and for how long, is told before the time is up."""
    hangs = start({("POST", "/ask"): lambda _: time.sleep(1.5)})
    config = tmp_path / "config.yml"
    server = {"profile": "none", "url": hangs, "timeout_s": 1, "map": {"answer": "a"}}
    asked = {"path": "/ask", "json": {"q": "{{question}}"}}
    config.write_text(json.dumps({"server": {**server, "ask": asked}}), encoding="utf-8")
    result = evals_cli("doctor", "--datasets", "golden", "--config", config, "--no-judge", "--runs-dir", tmp_path)
    told = " ".join(result.err.split())
    assert (result.code, "for at most 1 s (server.timeout_s)" in told) == (3, True)


def test_an_answer_that_does_not_come_is_told_again_and_again(
    start: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the seconds that have passed."""
    monkeypatch.setattr("evals.run.doctor._LOOK_EVERY_S", 0.05)
    told: list[str] = []

    class Listening(Observer):
        def waiting(self, message: str) -> None:
            told.append(message)

    routes = {("POST", "/ask"): lambda _: time.sleep(0.4) or {"a": "Yes."}}
    server = {"profile": "none", "url": start(routes), "map": {"answer": "a"}}
    asked = {"path": "/ask", "json": {"q": "{{question}}"}}
    config = EvalConfig.build(
        {"server": {**server, "ask": asked}, "datasets": ["golden"], "judge": False, "runs_dir": tmp_path / "runs"}
    )
    findings = {finding.part: finding for finding in asyncio.run(examine(config, Listening(), "no file"))}
    assert findings["answer"].exit_code == 0
    assert len(told) >= 2
    assert told[0] == "no answer yet, after 0 s of 120 s (server.timeout_s)"
