"""Bodies that take long to read hold up no other answer."""

import asyncio
import json
import threading
from typing import Any

import pytest
from raw_server import answering

from evals.client import RAGClient
from evals.client.mapping import ResponseReader
from evals.client.profile import resolve_spec


@pytest.fixture
def read_in(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each body that is read, whether that was in the thread of the event loop."""
    seen: list[bool] = []
    read = ResponseReader.read

    def noted(self: ResponseReader, *bodies: Any) -> dict[str, Any]:
        seen.append(threading.current_thread() is threading.main_thread())
        return read(self, *bodies)

    monkeypatch.setattr(ResponseReader, "read", noted)
    return seen


@pytest.mark.parametrize(("chunks", "in_the_loop"), [(3, True), (9_000, False)])
def test_a_large_body_is_read_beside_the_event_loop(chunks: int, in_the_loop: bool, read_in: list[bool]) -> None:
    """A small one in it, as a thread takes longer than reading."""
    listed = [{"chunk_id": str(number), "text": "words of a chunk"} for number in range(chunks)]
    content = json.dumps({"answer": "a", "chunks": listed}).encode()

    async def ask(url: str) -> Any:
        async with RAGClient(resolve_spec({"url": url, "map": {"chunks": "chunks"}})) as client:
            return await client.ask("Why?")

    with answering(lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content]) as server:
        response = asyncio.run(ask(server.url))
    assert (response.error, len(response.chunks)) == (None, chunks)
    assert read_in == [in_the_loop]
