"""Servers for the tests: in a thread of this process, or as a process of their own."""

import ssl
from collections.abc import Callable, Iterator

import httpx
import pytest
from servers import PATIENCE_S, ServerProcess, reference_server, wait_until

from evals.reference_server import Settings

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # spares each client the loading of certificates

ATLAS = b"""# Atlas Backup Guide

Atlas copies folders to a vault every night.

## Retention

Daily snapshots are kept for 30 days. Weekly snapshots are kept for twelve weeks.

## Supported formats

Atlas reads these formats:

- PDF files
- Word documents
- Plain text

## Plans

| Plan | Maximum size |
|------|--------------|
| Free | 5 GB |
| Pro  | 500 GB |
"""
BOREAS = b"""# Boreas Wind Station

The Boreas station measures wind speed with two sensors. Its vault of old readings is small.

## Calibration

The drift factor of a sensor is 0.305 after one year.
"""


@pytest.fixture
def corpus() -> dict[str, bytes]:
    """Two small documents by file name."""
    return {"atlas-guide.md": ATLAS, "boreas.md": BOREAS, "notes.txt": b"Lunch is served at noon."}


@pytest.fixture
def serve(corpus: dict[str, bytes], serve_files: Callable[..., str]) -> Iterator[Callable[..., httpx.Client]]:
    """Start servers in threads; each call gives a client of a new one."""
    clients: list[httpx.Client] = []

    def start(*misbehave: str, files: dict[str, bytes] | None = None, settings: Settings | None = None) -> httpx.Client:
        url = serve_files(corpus if files is None else files, *misbehave, settings=settings)
        clients.append(httpx.Client(base_url=url, timeout=PATIENCE_S, verify=NO_TLS))
        return clients[-1]

    yield start
    for client in clients:
        client.close()


@pytest.fixture
def spawn() -> Iterator[Callable[..., ServerProcess]]:
    """Start server processes; whatever is left of them is killed afterwards."""
    servers: list[ServerProcess] = []

    def start(*arguments: str, **environment: str) -> ServerProcess:
        servers.append(reference_server(*arguments, **environment))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


@pytest.fixture
def upload() -> Callable[[httpx.Client, dict[str, bytes]], dict[str, dict[str, object]]]:
    """Upload files as one batch, wait until it is done and return its tasks by file name."""

    def send(client: httpx.Client, files: dict[str, bytes]) -> dict[str, dict[str, object]]:
        parts = [("files", (name, data)) for name, data in files.items()]
        answer = client.post("/upload", files=parts)
        assert answer.status_code == 200, answer.text
        path = f"/tasks/{answer.json()['batch_id']}/status"

        def done() -> bool:
            tasks = client.get(path).json()["tasks"]
            return all(task["status"] in ("completed", "error") for task in tasks.values())

        wait_until(done, "the batch to be done")
        return {task["filename"]: task for task in client.get(path).json()["tasks"].values()}

    return send
