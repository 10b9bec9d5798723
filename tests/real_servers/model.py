"""A model for LightRAG, without weights: embeddings are counts of words, an answer is the best line of its context.

OpenAI's API in the parts that LightRAG uses: POST /v1/embeddings and POST /v1/chat/completions. It says in one line of
JSON where it listens, and ends with its standard input.
"""

import base64
import json
import re
import struct
import sys
import threading
import time
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 256
PAUSE_S = 0.02
"""Between the words of an answer that is streamed."""
_FEW = frozenset(("a", "an", "and", "are", "be", "does", "for", "how", "in", "is", "it", "its", "of", "the", "what"))
_UNKNOWN = "The documents do not say."


def _words(text: str) -> set[str]:
    """Words that tell something, in the singular."""
    return {word.removesuffix("s") for word in set(re.findall(r"[a-z0-9]+", text.lower())) - _FEW}


def _embedding(text: str) -> list[float]:
    counts = Counter(zlib.crc32(word.encode()) % DIMENSIONS for word in _words(text))
    length = sum(count * count for count in counts.values()) ** 0.5 or 1.0
    return [counts[place] / length for place in range(DIMENSIONS)]


def _reply(messages: list[dict[str, Any]]) -> str:
    said = "\n".join(str(message.get("content")) for message in messages)
    question = str(messages[-1].get("content"))
    if "high_level_keywords" in said:
        asked = re.findall(r"(?im)^.*query\s*:\s*(.+)$", said)
        words = sorted(_words(asked[-1] if asked else question))
        return json.dumps({"high_level_keywords": words, "low_level_keywords": words})
    if "<|COMPLETE|>" in said:
        return "<|COMPLETE|>"
    return _best(said.replace(question, " "), _words(question.splitlines()[-1]))


def _best(context: str, wanted: set[str]) -> str:
    """The line with most words of the question, and the marker of its document."""
    best, most, marker = _UNKNOWN, 1, ""
    for line in context.splitlines():
        numbered = re.search(r'(?:<source id="|"reference_id":\s*")(\d+)"', line)
        found = re.search(r'"content":\s*"([^"]+)"', line)
        text = found[1] if found else re.sub(r"<[^<>]*>", " ", line).strip()
        shared = len(wanted & _words(text))
        if numbered and shared > most:
            best, most, marker = text, shared, f" [{numbered[1]}]"
    return f"{best}{marker}"


class Handler(BaseHTTPRequestHandler):
    """Answers both paths."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Nobody reads it."""

    def do_POST(self) -> None:
        """Answer a request."""
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if sent.get("stream"):
            self._stream(sent)
            return
        body = json.dumps(self._embedded(sent) if "input" in sent else self._completed(sent)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, sent: dict[str, Any]) -> None:
        """Answer word by word; the end of the connection is that of the stream."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for word in re.findall(r"\S+\s*", _reply(sent["messages"])):
            self._send_piece({"role": "assistant", "content": word}, None)
            time.sleep(PAUSE_S)
        self._send_piece({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _send_piece(self, delta: dict[str, Any], reason: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        piece = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "lines", "choices": [choice]}
        self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
        self.wfile.flush()

    def _embedded(self, sent: dict[str, Any]) -> dict[str, Any]:
        texts = sent["input"] if isinstance(sent["input"], list) else [sent["input"]]
        vectors = [_embedding(text) for text in texts]
        if sent.get("encoding_format") == "base64":
            found: list[Any] = [base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *each)).decode() for each in vectors]
        else:
            found = list(vectors)
        data = [{"object": "embedding", "index": place, "embedding": each} for place, each in enumerate(found)]
        return {"object": "list", "model": "words", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    def _completed(self, sent: dict[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", "content": _reply(sent["messages"])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "lines",
            "choices": [choice],
            "usage": usage,
        }


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(json.dumps({"port": server.server_address[1]}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
