"""Addresses at which no scheduler of Dask listens."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from raw_server import answering

from evals.errors import EngineError
from evals.run import cluster
from evals.run.cluster import open_cluster
from evals.schemas.run_parts import EngineConfig

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")  # Dask's own
HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


@contextmanager
def greeting(words: bytes) -> Iterator[int]:
    """The port of a server that speaks first."""
    listening = socket.create_server(("127.0.0.1", 0))

    def greet() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection:
                    connection.sendall(words)
                    connection.recv(1)

    thread = threading.Thread(target=greet, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def joined(address: str) -> None:
    async def join() -> None:
        async with open_cluster(EngineConfig(name="dask", scheduler=address)):
            pass

    asyncio.run(join())


def test_a_server_of_http_is_no_scheduler(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """It waits for the end of a head that never comes, as Dask waits for a greeting; nothing is left that complains."""
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.5)
    with answering(lambda _: [HTTP]) as server, pytest.raises(EngineError, match="what listens there is none"):
        joined(server.url.replace("http", "tcp"))
    assert "Traceback" not in capfd.readouterr().err


def test_the_first_bytes_of_another_protocol_are_no_size() -> None:
    """Dask would reserve as much memory as they say: exbibytes."""
    with greeting(HTTP) as port, pytest.raises(EngineError, match="what listens there is none"):
        joined(f"tcp://127.0.0.1:{port}")


def test_a_safe_address_wants_certificates() -> None:
    """They are Dask's own to configure."""
    with pytest.raises(EngineError, match="TLS expects"):
        joined("tls://127.0.0.1:9")


@pytest.mark.slow
def test_a_run_waits_20_seconds_for_a_scheduler_that_is_none(evals_cli: Callable[..., Any], tmp_path: Any) -> None:
    """Then it ends with one message, before anything is asked."""
    health = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    with answering(lambda _: [health]) as server:
        began = time.monotonic()
        result = evals_cli(
            *("eval", "--no-judge", "--datasets", "golden", "--samples", 2, "--runs-dir", tmp_path),
            *("--rag-url", server.url),
            *("--engine", "dask", "--scheduler", server.url.replace("http", "tcp")),
        )
    assert time.monotonic() - began < 40
    assert result.code == 2
    assert "no scheduler answers at" in result.err
    assert "Traceback" not in result.err
