"""A RAG server that answers at once, so that what is measured is the client's cost.

No two questions get the same answer, chunks or citations: their sizes are those of RAGBench, their sentences are drawn
by the question's number from the built-in corpus, and a tenth of the answers decline. With `--short`, every question
gets the same short body: the floor, where caches of texts may answer for the work.
"""

import argparse
import asyncio
import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

CORPUS = Path(__file__).resolve().parent.parent / "evals" / "data" / "golden_corpus"
REFUSALS = (
    "I could not find this in the documents.",
    "The provided context does not contain that information.",
    "I'm sorry, but the documents do not say.",
    "There is no information about this in the sources.",
)
SHORT: dict[str, Any] = {"answer": "Nine months [1].", "sources": [{"document_id": "d0", "full_text": "Nine months."}]}


@cache
def sentences() -> list[str]:
    """The sentences of the built-in corpus that are between 5 and 40 words long."""
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.md")))
    found = (" ".join(one.split()) for one in re.split(r"(?<=[.!?])\s+|\n\n", text) if not re.search(r"[|#]", one))
    return [one for one in found if 5 <= len(one.split()) <= 40]


def drawn(random: Random, least: int) -> str:
    """Drawn sentences of at least so many characters together."""
    taken: list[str] = []
    while least > 0:
        taken.append(random.choice(sentences()))
        least -= len(taken[-1]) + 1
    return " ".join(taken)


def compose(number: int) -> dict[str, Any]:
    """The response to a question: an answer of 5 to 150 words, and five chunks of 600 to about 1,200 characters."""
    random = Random(number)  # noqa: S311 - a seed, so that a question always gets the same answer
    texts = [drawn(random, random.randrange(600, 1050)) for _ in range(5)]
    cited = random.sample(range(5), 2)
    words = drawn(random, 1100).split()[: random.randrange(5, 150)]
    answer = random.choice(REFUSALS) if number % 10 == 9 else f"{' '.join(words)} [{cited[0] + 1}][{cited[1] + 1}]"
    names = [f"{number}-{place}" for place in range(5)]
    sources = [
        {
            "document_id": f"d{name}",
            "document_name": f"document-{name}.md",
            "excerpt": text[:200],
            "full_text": text,
            "path": None,
            "score": 10.0 - place,
            "section": f"Section {name}",
            "chunk_id": f"c{name}",
            "chunk_index": place,
        }
        for place, (name, text) in enumerate(zip(names, texts, strict=True))
    ]
    citations = [
        {"source_index": n + 1, "document_id": f"d{names[n]}", "chunk_id": f"c{names[n]}", "chunk_index": n}
        for n in cited
    ]
    usage = {"prompt_tokens": random.randrange(600, 1600), "completion_tokens": len(words)}
    metrics = {"latency_ms": 1.0, "token_usage": usage}
    return {"answer": answer, "sources": sources, "session_id": "s", "citations": citations, "metrics": metrics}


class Mock(asyncio.Protocol):
    """Answers each request of a kept-alive connection."""

    def __init__(self, answer: Callable[[bytes], bytes], health: bytes, delay_s: float) -> None:
        self._answer, self._health, self._delay_s = answer, health, delay_s
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
            content, self._buffer = self._buffer[end + 4 : end + 4 + length], self._buffer[end + 4 + length :]
            is_question = head.startswith(b"post")
            reply = self._answer(content) if is_question else self._health
            if self._delay_s and is_question:
                asyncio.get_running_loop().call_later(self._delay_s, self._transport.write, reply)  # type: ignore[attr-defined]
            else:
                self._transport.write(reply)  # type: ignore[attr-defined]


def _http(content: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content


def answers(short: bool) -> Callable[[bytes], bytes]:
    """The response to the body of a request; by its question's number, or by the order of requests without one."""
    if short:
        same = _http(json.dumps(SHORT).encode())
        return lambda _: same
    others = count(10**9)

    @lru_cache(maxsize=8192)  # the next round asks the same questions, and the server shall not be what is measured
    def composed(number: int) -> bytes:
        return _http(json.dumps(compose(number)).encode())

    def answer(content: bytes) -> bytes:
        asked = re.search(rb"Question (\d+)", content)
        return composed(int(asked[1]) if asked else next(others))

    return answer


async def serve(delay_s: float, short: bool) -> None:
    """Listen on a free loopback port, print it, and serve until killed."""
    answer, health = answers(short), _http(b'{"status":"healthy"}')
    sentences()
    server = await asyncio.get_running_loop().create_server(lambda: Mock(answer, health, delay_s), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--short", action="store_true", help="one short body for every question")
    given = parser.parse_args()
    asyncio.run(serve(given.delay, given.short))
