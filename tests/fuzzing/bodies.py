"""What servers send: bodies of a server that is asked, and replies of a judge."""

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from fuzzing.damage import ODD, damaged_bytes, damaged_json
from fuzzing.files import QUESTIONS, Attempt
from fuzzing.limits import run_within_limits

Body = Callable[[random.Random], bytes]
"""What is sent to one request."""
_ANSWER: dict[str, Any] = {
    "answer": "It runs for 96 hours [1]. [2, 3]",
    "sources": [
        {"document_name": "x.md", "full_text": "The battery lasts 96 hours.", "score": 0.9, "chunk_index": 0},
        {"document_name": "y.md", "full_text": "Another text.", "score": 0.1, "chunk_index": 3},
    ],
    "citations": [{"source_index": 1, "text": "96 hours"}],
    "session_id": "s",
    "metrics": {"latency_ms": 12.5, "token_usage": {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}},
}
_REPLIES: tuple[dict[str, Any], ...] = (
    {"claims": [{"claim": "It runs for 96 hours."}], "injection_suspected": False},
    {"claims": [{"claim": "96 hours", "importance": "vital"}], "injection_suspected": False},
    {
        "contexts": [{"context_id": 1, "claims": [{"id": 1, "verdict": "supported", "quote": "96 hours"}]}],
        "injection_suspected": False,
    },
    {"verdict": "answers", "justification": "It does.", "injection_suspected": False},
)


def server_bodies(folder: Path) -> Attempt:
    """Bodies of answers; one run has three of them."""
    return _answered(folder, lambda rng: damaged_json(rng, _ANSWER))


def server_frames(folder: Path) -> Attempt:
    """Bodies that are damaged as bytes."""
    whole = json.dumps(_ANSWER).encode()
    return _answered(folder, lambda rng: damaged_bytes(rng, whole))


def judge_replies(folder: Path) -> Attempt:
    """Replies of a judge: what it says, and what is around that."""
    import_module("anthropic")  # takes seconds, which are none of the first reply's
    path, answers = _questions(folder), folder / "answers.jsonl"
    answers.write_text(
        "".join(
            json.dumps({"question_id": each["id"], "answer": "It runs for 96 hours.", "chunks": ["It runs 96 hours."]})
            + "\n"
            for each in QUESTIONS
        )
    )

    def attempt(rng: random.Random) -> list[str]:
        with _serving(rng, _reply) as url:
            command = ["score", str(answers), "--dataset-file", str(path), "--judge-base-url", url, "--no-judge-cache"]
            return _measured(folder, command)

    return attempt


def _answered(folder: Path, body: Body) -> Attempt:
    """Runs over a server that answers so."""
    path = _questions(folder)

    def attempt(rng: random.Random) -> list[str]:
        with _serving(rng, body) as url:
            command = ["eval", "--rag-url", url, "--dataset-file", str(path), "--no-judge", "--no-preflight"]
            return _measured(folder, [*command, "--warmup", "0"])

    return attempt


def _measured(folder: Path, command: list[str]) -> list[str]:
    """What is wrong with a run and with showing what it saved; earlier runs, which a judged run reads, are gone."""
    runs = folder / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    made = run_within_limits([*command, "--runs-dir", str(runs)])
    for path in runs.glob("*.json"):
        shown = run_within_limits(["show", str(path), "--runs-dir", str(runs)])
        made.problems.extend(shown.problems or ([f"show: {shown.err}"] if shown.code else []))
    return made.problems


def _reply(rng: random.Random) -> bytes:
    """A message; its frame stays JSON with a known type, as other bodies are asked for again, after a pause."""
    said = damaged_json(rng, rng.choice(_REPLIES)).decode("utf-8", "replace")
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": said}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    if rng.random() < 0.4:
        key = rng.choice(("model", "content", "stop_reason", "usage", "id"))
        message[key] = rng.choice([odd for odd in ODD if odd == odd])  # noqa: PLR0124 - NaN is none of JSON
    return json.dumps(message).encode()


def _questions(folder: Path) -> Path:
    path = folder / "questions.json"
    path.write_text(json.dumps(QUESTIONS))
    return path


@contextmanager
def _serving(rng: random.Random, body: Body) -> Iterator[str]:
    """A server that is healthy, and damages each answer by what was asked: requests come in no certain order."""
    seed, asked = rng.getrandbits(64), Counter[bytes]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each answer waits 40 ms for the other side

        def do_GET(self) -> None:
            self._send(b'{"status": "ok", "models": {}}' if self.path == "/health" else b"{}")

        def do_POST(self) -> None:
            request = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked[request] += 1
            self._send(body(random.Random(f"{seed} {asked[request]} {request!r}")))  # noqa: S311 - no secret

        def _send(self, data: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
