"""A server that sends more than one answer to a question."""

import asyncio
import json
from pathlib import Path

from raw_server import answering

from evals.config import EvalConfig
from evals.runner import EvaluationRunner


def _http(text: str) -> bytes:
    body = json.dumps({"answer": text}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def test_a_surplus_answer_is_said_and_reaches_no_question(tmp_path: Path) -> None:
    """The run has a note, and each question its own answer."""
    questions = tmp_path / "q.jsonl"
    questions.write_text("\n".join(json.dumps({"id": f"q{n}", "question": f"{n}?"}) for n in range(3)))
    server = {
        "profile": None,
        "health": None,
        "info": [],
        "documents": None,
        "ask": {"path": "/query", "json": {"query": "{{question}}"}},
        "map": {"answer": "answer", "chunks": None, "citations": None, "usage": None},
    }
    with answering(lambda n: [_http(f"answer {n}") + _http("of nobody")]) as raw:
        config = EvalConfig.build(
            {
                "dataset_file": str(questions),
                "judge": False,
                "preflight": False,
                "warmup": 0,
                "concurrency": 1,
                "runs_dir": str(tmp_path / "runs"),
                "server": {key: value for key, value in server.items() if key != "profile"} | {"url": raw.url},
            }
        )
        done = asyncio.run(EvaluationRunner(config).evaluate())
    answers = [record.response.answer for record in done.records() if record.response]
    assert answers == ["answer 0", "answer 1", "answer 2"]
    assert any(note.startswith("3 answers of the server: they were followed by bytes") for note in done.run.notes)
