"""Runs over conversations: their order, what is kept of them, and what a run that goes on asks again."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from raw_server import answering

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.metrics.judge_tasks import ANSWER_CLAIMS
from evals.metrics.sample import Sample
from evals.runner import EvaluationRunner
from evals.schemas import EvalRecord, EvalRun
from evals.store.runs import RunStore

SESSION = {
    "ask": {"json": {"query": "{{question}}", "session_id": "{{session_id}}"}},
    "session": {"id": "session_id"},
    "map": {"chunks": None},
    "health": None,
    "info": [],
    "documents": None,
    "patience_s": 0,
}


def config_of(tmp_path: Path, url: str, rows: list[Any], **over: Any) -> EvalConfig:
    """A run over these rows."""
    path = tmp_path / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    server = {**SESSION, "url": url, **over.pop("server", {})}
    return EvalConfig.build(
        {"dataset_file": str(path), "runs_dir": str(tmp_path / "runs"), "judge": False, "preflight": False}
        | {"server": server, "warmup": 0, "metrics": ["latency_p50"], "suite": []}
        | over
    )


def records_of(config: EvalConfig, run: EvalRun) -> dict[str, EvalRecord]:
    """The saved records by question."""
    return {record.question.id: record for record in RunStore(config.runs_dir).log(run)}


class Talking:
    """A server that gives each conversation an id, and answers with it and what was asked."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.lock = threading.Lock()
        self.asked: list[tuple[str, str]] = []
        self.fails_at = fails_at
        self.server: Any = None

    @contextmanager
    def serving(self) -> Iterator[tuple["Talking", str]]:
        """Itself, and its URL."""
        with answering(self) as self.server:
            yield self, self.server.url

    def __call__(self, number: int) -> list[bytes]:
        sent = json.loads(self.server.asked[number][1].partition(b"\r\n\r\n")[2])
        with self.lock:
            session = sent["session_id"] or f"s{sum(1 for _ in self.asked)}"
            self.asked.append((session, sent["query"]))
        if number == self.fails_at:
            return [b"HTTP/1.1 422 No\r\nContent-Length: 0\r\n\r\n"]
        content = json.dumps({"answer": f"{session}: {sent['query']}", "session_id": session}).encode()
        return [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content]


ROWS = [{"id": f"c{n}", "turns": [f"{n} first", f"{n} second", f"{n} last"]} for n in range(6)]


def test_turns_go_in_order_and_conversations_at_once(tmp_path: Path) -> None:
    """Each session hears the turns of one conversation, in their order."""
    with Talking().serving() as (talking, url):
        config = config_of(tmp_path, url, ROWS, concurrency=3)
        run = asyncio.run(EvaluationRunner(config).run())
    assert run.status == "complete"
    by_session: dict[str, list[str]] = {}
    for session, query in talking.asked:
        by_session.setdefault(session, []).append(query)
    assert sorted(by_session.values()) == [[f"{n} first", f"{n} second", f"{n} last"] for n in range(6)]
    record = records_of(config, run)["c2"]
    assert record.response is not None
    assert (record.response.answer or "").endswith(": 2 last")
    assert [(turn.answer or "").partition(": ")[2] for turn in record.response.turns] == ["2 first", "2 second"]


def test_a_server_that_carries_no_conversation_is_not_asked_one(tmp_path: Path) -> None:
    """It would see three questions that have nothing to do with each other."""
    with Talking().serving() as (talking, url):
        over = {"server": {"session": None, "ask": {"json": {"query": "{{question}}"}}}}
        config = config_of(tmp_path, url, ROWS, **over)
        with pytest.raises(ConfigError, match=r"question c0 has turns, and server\.ask carries no conversation"):
            asyncio.run(EvaluationRunner(config).run())
    assert talking.asked == []


def test_a_judge_is_shown_what_was_said_before(tmp_path: Path) -> None:
    """Alone, the last question may be about anything; a single question is shown as ever."""
    with Talking().serving() as (_, url):
        config = config_of(tmp_path, url, [ROWS[0], {"id": "single", "question": "Why?"}], concurrency=1)
        run = asyncio.run(EvaluationRunner(config).run())
    records = records_of(config, run)
    cases = [Sample(record.question, record.response) for record in records.values() if record.response is not None]
    shown = {case.question.id: ANSWER_CLAIMS.data(case)["question"] for case in cases}
    assert shown["single"] == "Why?"
    assert shown["c0"] == (
        "Said before:\nUser: 0 first\nAssistant: s0: 0 first\nUser: 0 second\nAssistant: s0: 0 second\n\n"
        "The question:\n0 last"
    )


def test_a_failed_turn_is_a_failure_of_the_question_which_a_run_that_goes_on_asks_from_its_first_turn(
    tmp_path: Path,
) -> None:
    """Nobody knows what the server still holds of it; whole conversations are not asked again."""
    with Talking(fails_at=1).serving() as (talking, url):
        config = config_of(tmp_path, url, ROWS[:2], concurrency=1, max_error_rate=0.01)
        run = asyncio.run(EvaluationRunner(config).run())
        assert (run.status, run.outcomes.transport) == ("partial", {"status": 1})
        failed = records_of(config, run)["c0"].response
        assert failed is not None
        assert failed.error is not None
        assert failed.error.message.startswith("turn 2 of 3: HTTP 422")
        assert len(failed.turns) == 1
        before = len(talking.asked)
        whole = asyncio.run(EvaluationRunner(config, resume=run.id).run())
    assert whole.status == "complete"
    assert [query for _, query in talking.asked[before:]] == ["0 first", "0 second", "0 last"]
    response = records_of(config, whole)["c0"].response
    assert response is not None
    assert len(response.turns) == 2
