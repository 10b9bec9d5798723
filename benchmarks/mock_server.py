"""A RAG server that answers every query at once with the same body: what is measured is the client's cost."""

import argparse
import asyncio
import json

WORDS = [
    "the",
    "of",
    "cover",
    "premium",
    "territory",
    "claim",
    "member",
    "policy",
    "within",
    "days",
    "rate",
    "factor",
    "sensor",
]


def body(chunks: int = 5, words: int = 100) -> bytes:
    """An answer with a usual number of chunks of a usual size."""
    texts = [" ".join(WORDS[(n * 7 + k * 3) % len(WORDS)] + str(k % 17) for k in range(words)) for n in range(chunks)]
    sources = [
        {
            "document_id": f"d{n}",
            "document_name": f"document-{n}.md",
            "excerpt": text[:200],
            "full_text": text,
            "path": None,
            "score": 10.0 - n,
            "section": f"Section {n}",
            "chunk_id": f"c{n}",
            "chunk_index": n,
        }
        for n, text in enumerate(texts)
    ]
    answer = {
        "answer": f"{texts[0][:200]} [1]",
        "sources": sources,
        "session_id": "s",
        "citations": [{"source_index": 1, "document_id": "d0", "chunk_id": "c0", "chunk_index": 0}],
        "metrics": {"latency_ms": 1.0, "token_usage": {"prompt_tokens": 700, "completion_tokens": 60}},
    }
    return json.dumps(answer).encode()


class Mock(asyncio.Protocol):
    """Answers each request of a kept-alive connection."""

    def __init__(self, query: bytes, health: bytes, delay_s: float) -> None:
        self._query, self._health, self._delay_s = query, health, delay_s
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            found = head.find(b"content-length:")
            length = int(head[found + 15 :].split(b"\r\n", 1)[0]) if found >= 0 else 0
            if len(self._buffer) < end + 4 + length:
                return
            self._buffer = self._buffer[end + 4 + length :]
            reply = self._query if head.startswith(b"post") else self._health
            if self._delay_s and head.startswith(b"post"):
                asyncio.get_running_loop().call_later(self._delay_s, self._transport.write, reply)  # type: ignore[attr-defined]
            else:
                self._transport.write(reply)  # type: ignore[attr-defined]


def _http(content: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content


async def serve(delay_s: float) -> None:
    """Listen on a free loopback port, print it, and serve until killed."""
    query, health = _http(body()), _http(b'{"status":"healthy"}')
    server = await asyncio.get_running_loop().create_server(lambda: Mock(query, health, delay_s), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    asyncio.run(serve(parser.parse_args().delay))
