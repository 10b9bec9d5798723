"""A server that sends more than one answer to a question."""

import asyncio
import json
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from raw_server import Say, answering

from evals.config import EvalConfig
from evals.runner import EvaluationRunner


def _http(text: str) -> bytes:
    body = json.dumps({"answer": text}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


SERVER = {
    "health": None,
    "info": [],
    "documents": None,
    "ask": {"path": "/query", "json": {"query": "{{question}}"}},
    "map": {"answer": "answer", "chunks": None, "citations": None, "usage": None},
}


def _run(say: Say, folder: Path, questions: int, **keys: object) -> tuple[list[str | None], list[str], list[int]]:
    """Ask so many questions one after the other; their answers, the notes, and the connection of each request."""
    file = folder / "q.jsonl"
    file.write_text("\n".join(json.dumps({"id": f"q{n}", "question": f"{n}?"}) for n in range(questions)))
    with answering(say) as raw:
        config = EvalConfig.build(
            {
                "dataset_file": str(file),
                "judge": False,
                "preflight": False,
                "warmup": 0,
                "concurrency": 1,
                "runs_dir": str(folder / "runs"),
                "server": SERVER | {"url": raw.url, "transport": keys.pop("transport", "aiohttp")},
                **keys,
            }
        )
        done = asyncio.run(EvaluationRunner(config).evaluate())
    answers = [record.response.answer for record in done.records() if record.response]
    return answers, list(done.run.notes), [connection for connection, _ in raw.asked]


def test_a_surplus_answer_is_said_and_reaches_no_question(tmp_path: Path) -> None:
    """The run has a note, and each question its own answer."""
    answers, notes, _ = _run(lambda n: [_http(f"answer {n}") + _http("of nobody")], tmp_path, 3)
    assert answers == ["answer 0", "answer 1", "answer 2"]
    (note,) = [note for note in notes if note.startswith("3 answers of the server: they were followed by bytes")]
    assert note.endswith("each connection served one request")


@pytest.mark.parametrize("library", ["aiohttp", "httpx"])
def test_questions_that_a_late_answer_may_have_reached_are_named(library: str, tmp_path: Path) -> None:
    """A second answer to the first question comes when the second one is asked; then no connection is shared."""

    def say(number: int) -> Iterable[bytes]:
        yield _http(f"answer {number}")
        if number == 0:
            time.sleep(0.3)
            yield _http("of nobody")

    answers, notes, connections = _run(say, tmp_path, 5, rps=5, transport=library)
    assert answers == ["answer 0", "of nobody", "answer 2", "answer 3", "answer 4"]
    assert connections == [1, 1, 2, 3, 4]
    (note,) = [note for note in notes if note.startswith("1 answer of the server: it was followed by bytes")]
    assert note.endswith(
        "1 question was asked before on a connection that had served another, and may have a late answer to it: q1"
    )
